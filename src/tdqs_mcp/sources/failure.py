"""The one line that a person gets when a server was not captured: what happened, and what to change."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import httpx2

from tdqs_mcp.facts.text.prose import credential_variables
from tdqs_mcp.sources.locator import HIDDEN, InProcess, LiveOptions, Locator, Stdio, Url, secrets
from tdqs_mcp.sources.recording import INITIALIZE, Recording
from tdqs_mcp.sources.transports import Ending, Reply

_SHOWN = 300
"""Characters of a server's words that a message quotes."""

_SHORTEST_SECRET = 4
"""Shorter values ("1", "yes") keep nobody out, and cutting them out would garble the message."""

_SHORTEST_SECRET_PART = 8
"""So that "Bearer TOKEN" is also found where a server repeats the token alone."""

_ESCAPE_SEQUENCE = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)|.)", re.DOTALL)


@dataclass(slots=True, kw_only=True)
class Attempt:
    """A connection: what was recorded on it, and how it ended."""

    locator: Stdio | Url | InProcess
    options: LiveOptions
    recording: Recording
    ending: Ending = field(default_factory=Ending)
    """Of a process."""

    replies: list[Reply] = field(default_factory=list)
    """Over HTTP: the SDK turns 401, 429 and 500 into one and the same error."""

    protocol_version: str | None = None
    error: Exception | None = None
    timed_out: bool = False

    @property
    def errors(self) -> list[Exception]:
        """The errors that the SDK raised, taken out of their groups."""
        return list(_leaves(self.error))

    @property
    def ended_in_negotiation(self) -> bool:
        """Return whether the connection closed on the first questions, before one of them decided anything."""
        recording = self.recording
        return bool(recording.pending) and recording.handshake is None and INITIALIZE not in recording.errors

    @property
    def was_answered(self) -> bool:
        """Return whether there was a server at all at the other end."""
        return bool(self.recording.results or self.recording.errors)


def explain(attempt: Attempt) -> str:
    """Return what follows the server's name in one line: what happened, what to change, and the server's last words."""
    line = _reason(attempt)
    if stray := attempt.recording.stray_output:
        line += f". {stray.removesuffix('.')}"
    public_line = clean(line, attempt.locator, attempt.options)
    stderr = " | ".join(line for raw in attempt.ending.stderr.splitlines() if (line := raw.strip()))
    last_words = clean(stderr, attempt.locator, attempt.options)[-_SHOWN:].strip()
    return f"{public_line}. Its stderr ends: {last_words}" if last_words else public_line


def lacks_credential(attempt: Attempt) -> bool:
    """Return whether the server asks for a credential: by 401 or 403, or by the name of a missing or empty variable.

    The name counts only in the last words of a process that has ended by itself.
    """
    if attempt.replies and attempt.replies[-1].status in (httpx2.codes.UNAUTHORIZED, httpx2.codes.FORBIDDEN):
        return True
    if attempt.ending.exit_code is None:
        return False
    return any(not attempt.options.env.get(name) for name in credential_variables(attempt.ending.stderr))


def clean(text: str, locator: Locator, options: LiveOptions) -> str:
    """The text without terminal control codes and without anything that the user gave as a credential."""
    hidden = sorted(_credentials(locator, options), key=len, reverse=True)
    plain = _ESCAPE_SEQUENCE.sub("", text)
    printable = "".join(char if char.isprintable() else " " for char in _without(plain, hidden))
    return _without(printable, hidden)


def _leaves(error: BaseException | None) -> Iterator[Exception]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    elif isinstance(error, Exception):
        yield error


def _credentials(locator: Locator, options: LiveOptions) -> set[str]:
    values = [*options.env.values(), *options.headers.values(), *secrets(locator)]
    whole = {value for value in values if len(value) >= _SHORTEST_SECRET}
    parts = {part for value in values for part in value.split() if len(part) >= _SHORTEST_SECRET_PART}
    return whole | parts


def _without(text: str, hidden: Iterable[str]) -> str:
    for value in hidden:
        text = text.replace(value, HIDDEN)
    return text


def _reason(attempt: Attempt) -> str:
    if attempt.timed_out:
        # The SDK's SSE transport only logs a refused POST and goes on waiting.
        was_refused = bool(attempt.replies) and attempt.replies[-1].status >= httpx2.codes.BAD_REQUEST
        return (was_refused and _status(attempt)) or _silence(attempt)
    for find_reason in (_not_started, _status, _unreachable, _bad_handshake, _error_answer):
        if reason := find_reason(attempt):
            return reason
    return _closed(attempt)


def _silence(attempt: Attempt) -> str:
    seconds = f"{attempt.options.timeout:g} s"
    request = next(reversed(attempt.recording.pending.values()), None)
    symptom = f"did not answer {request!r}" if request else "did not get ready"
    return (
        f"{symptom} within {seconds}; raise --timeout if it needs longer, or start it by hand to see what it waits for"
    )


def _not_started(attempt: Attempt) -> str | None:
    error = next((error for error in attempt.errors if isinstance(error, OSError)), None)
    if error is None or not isinstance(attempt.locator, Stdio) or isinstance(error, ConnectionError):
        return None
    command = attempt.locator.command
    if attempt.options.cwd and error.filename == attempt.options.cwd:
        return f"was not started: the directory {error.filename!r} does not exist; change --cwd"
    if isinstance(error, FileNotFoundError):
        return f"was not started: the command {command!r} was not found; install it or give its full path"
    if isinstance(error, PermissionError):
        return f"was not started: {command!r} may not be executed; make it executable or name its interpreter first"
    return f"was not started ({error.strerror}); check the command"


def _status(attempt: Attempt) -> str | None:
    if not attempt.replies:
        return None
    reply = attempt.replies[-1]
    if reply.status < httpx2.codes.BAD_REQUEST:
        return _not_the_protocol(reply) if attempt.recording.handshake is None else None
    advice = _STATUS_ADVICE.get(reply.status)
    if reply.status == httpx2.codes.TOO_MANY_REQUESTS and reply.retry_after:
        advice = f"wait {reply.retry_after} s and try again" if reply.retry_after.isdecimal() else advice
    if advice is None and reply.status >= httpx2.codes.INTERNAL_SERVER_ERROR:
        advice = "the fault is the server's; read its log or try again later"
    refusal = _error_answer(attempt)
    reason = f" ({refusal})" if refusal and attempt.recording.handshake is not None else ""
    return f"answers {reply.status}{reason}: {advice or 'check the URL and the headers'}"


_STATUS_ADVICE = {
    400: "it is not an MCP endpoint, or it refuses this client; check the path of the URL",
    401: "give credentials with --header 'Authorization: Bearer …'",
    403: "these credentials may not; give others with --header 'Authorization: Bearer …'",
    404: "there is no MCP endpoint at this path; check the URL, most end in /mcp or /sse",
    405: "it takes neither streamable HTTP nor SSE at this path; check the URL, most end in /mcp or /sse",
    407: "the proxy wants credentials; set HTTPS_PROXY with them",
    421: "it does not serve this host name; use the name that it is configured for",
    429: "too many requests; wait and try again",
}


def _not_the_protocol(reply: Reply) -> str | None:
    if httpx2.codes.is_redirect(reply.status):
        return f"answers {reply.status}: it redirects to another address; give that address itself"
    if reply.content_type in ("application/json", "text/event-stream"):
        return None
    return f"answers with {reply.content_type or 'no content type'}, which is not MCP; check the path of the URL"


def _unreachable(attempt: Attempt) -> str | None:
    for error in attempt.errors:
        if isinstance(error, httpx2.TimeoutException):
            return _silence(attempt)
        if isinstance(error, httpx2.ConnectError):
            return f"cannot be reached ({error}); check host and port, and that the server is running"
        if isinstance(error, httpx2.ReadError | httpx2.DecodingError | httpx2.RemoteProtocolError):
            return f"broke off its answer ({error}); read the server's log"
        if isinstance(error, httpx2.HTTPError | httpx2.InvalidURL):
            return f"cannot be asked ({type(error).__name__}); check the URL and the headers"
    return None


def _bad_handshake(attempt: Attempt) -> str | None:
    answers = attempt.recording.results.get(INITIALIZE)
    if not answers or "tools/list" in attempt.recording.errors:
        return None
    version = answers[-1].get("protocolVersion")
    if not isinstance(version, str):
        return "answers 'initialize' without a protocolVersion, so no client can use it; fix the server's answer"
    if any("protocol version" in str(error) for error in attempt.errors):
        return f"answers 'initialize' with protocol version {version!r}, which does not exist; update the server"
    if attempt.recording.overflowed:
        limit = attempt.options.max_bytes
        return f"answers {attempt.recording.overflowed!r} with over {limit} bytes, the limit; shorten the definitions"
    return None


def _error_answer(attempt: Attempt) -> str | None:
    for method in ("tools/list", INITIALIZE):
        if error := attempt.recording.errors.get(method):
            words = error.message[:_SHOWN]
            return f"answers {method!r} with error {error.code}: {words}; read the server's log"
    return None


def _closed(attempt: Attempt) -> str:
    request = next(reversed(attempt.recording.pending.values()), None)
    before = f" before it answered {request!r}" if request else ""
    if isinstance(attempt.locator, InProcess):
        errors = "; ".join(f"{type(error).__name__}: {str(error)[:_SHOWN]}" for error in attempt.errors)
        return f"failed{before} ({errors}); run it by itself to see why"
    if attempt.ending.exit_code is not None:
        code = attempt.ending.exit_code
        how = f"exited with code {code}" if code >= 0 else f"died of signal {-code}"
        return f"{how}{before}; run the command by itself to see why, and give what it needs with --env NAME=VALUE"
    return f"closed the connection{before}; run it by itself to see why"
