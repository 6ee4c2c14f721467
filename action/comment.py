"""Keeps one comment of a pull request up to date: comment.py FILE, whose text it is.

Nothing fails for a comment: without the permission, as for forks, the text is in the job summary alone.
"""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

MARKER = "<!-- tdqs-mcp comparison -->"
"""How the comment begins, by which a later run finds it."""

MAX_COMMENT = 65_000
"""Characters; GitHub takes 65,536."""

FORBIDDEN = 403
"""What GitHub answers to who may not change another's comment."""

PAGE = 100
"""Comments that GitHub lists at once."""


def call(method: str, path: str, content: object = None) -> object:
    """The answer of GitHub's API. Raises URLError."""
    request = Request(  # noqa: S310  # the runner's own address
        f"{os.environ['GITHUB_API_URL']}/repos/{os.environ['GITHUB_REPOSITORY']}/issues/{path}",
        data=None if content is None else json.dumps(content).encode(),
        method=method,
        headers={
            "Authorization": f"Bearer {os.environ['INPUT_TOKEN']}",
            "Accept": "application/vnd.github+json",
            "Content-Type": "application/json",
        },
    )
    with urlopen(request, timeout=30) as answer:  # noqa: S310
        return json.load(answer)


def find(number: int) -> Iterator[int]:
    """The ids of comments that earlier runs may have left; anybody can begin one in this way."""
    page = 1
    while True:
        comments = call("GET", f"{number}/comments?per_page={PAGE}&page={page}")
        for comment in comments:
            if comment["body"].startswith(MARKER):
                yield comment["id"]
        if len(comments) < PAGE:
            return
        page += 1


def keep(number: int, text: str) -> str:
    """Writes, updates or leaves the comment, and says which."""
    if len(text) > MAX_COMMENT:
        text = text[: text.rindex("\n", 0, MAX_COMMENT)] + "\n\nThe rest is in the job summary."
    body = f"{MARKER}\n{text or 'The tool definitions are those of the target branch.'}"
    for known in find(number):
        try:
            call("PATCH", f"comments/{known}", {"body": body})
        except HTTPError as error:
            if error.code != FORBIDDEN:
                raise
        else:
            return "updated the comment on the pull request"
    if not text:
        return "no definition has changed, so there is no comment"
    call("POST", f"{number}/comments", {"body": body})
    return "commented on the pull request"


def main() -> None:
    """Reads the pull request's number from the event."""
    event = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
    number = event.get("pull_request", {}).get("number")
    if number is None:
        print("not a pull request, so there is no comment")
        return
    try:
        print(keep(number, Path(sys.argv[1]).read_text(encoding="utf-8").strip()))
    except (URLError, TimeoutError) as error:
        is_refused = isinstance(error, HTTPError) and error.code in (401, 403, 404)
        reason = "the token may not write comments (pull-requests: write)" if is_refused else error
        print(f"no comment, the comparison is in the job summary: {reason}", file=sys.stderr)


main()
