"""What CI systems use: the steps of the GitHub Action, and the hooks of pre-commit."""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml
from definitions import FINE, flat, tool

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[1]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"] if "name" in step}
CHECK = STEPS["Check tool definitions"]

ALONE = FINE | {
    "description": "Finds the open orders of one customer, newest first. Use it when you know the customer; it does not "
    "find customers. Returns at most 50 orders; an unknown customer gives an empty list."
}
POOR = tool("process", "Process", flat(3))


# GitHub Action


@pytest.fixture
def action(tmp_path):
    """Run the action's check as the runner does: inputs put into the environment that the step declares."""
    scripts = tmp_path / "runner" / "tdqs-mcp" / "bin"
    scripts.mkdir(parents=True)
    command = scripts / "tdqs-mcp"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tdqs_mcp "$@"\n')
    command.chmod(0o755)
    (scripts / "python").symlink_to(sys.executable)

    def run(github=None, cwd=None, **inputs):
        given = {name: each.get("default", "") for name, each in ACTION["inputs"].items()} | inputs
        expression = re.compile(r"\$\{\{ inputs\.([a-z-]+) \}\}")
        env = {name: expression.sub(lambda found: given[found[1]], template) for name, template in CHECK["env"].items()}
        runner = {
            "GITHUB_ACTION_PATH": str(ROOT),
            "RUNNER_TEMP": str(tmp_path / "runner"),
            "GITHUB_OUTPUT": str(tmp_path / "output"),
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        }
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", CHECK["run"]],
            env={**os.environ, **env, **runner, **(github or {})},
            cwd=cwd or tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run


def test_no_input_is_ever_written_into_a_shell_line():
    shell = [step["run"] for step in ACTION["runs"]["steps"] if "run" in step]
    assert len(shell) == 2
    assert not any("${{" in line for line in shell)
    used = set(re.findall(r"inputs\.([a-z-]+)", json.dumps(ACTION["runs"])))
    assert used == set(ACTION["inputs"])


def test_every_variable_that_the_scripts_read_is_one_that_a_step_sets():
    read = {
        name
        for script in ("install.sh", "check.sh", "comment.py")
        for name in re.findall(r"INPUT_[A-Z_]+", (ROOT / "action" / script).read_text(encoding="utf-8"))
    }
    assert read == {name for step in STEPS.values() for name in step.get("env", {})}


def test_the_action_passes_lints_and_scores_and_writes_the_summary(action, write, tmp_path):
    done = action(**{"locator": f"{write('a b.json', [ALONE])}\n\n  {write('c.json', [ALONE])}  ", "fail-under": "B"})
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "output").read_text() == "exit-code=0\n"
    summary = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert summary.count("## a b: ") == summary.count("## c: ") == 2


@pytest.mark.parametrize(
    ("inputs", "code"),
    [
        ({}, 1),
        ({"fail-on": "never"}, 0),
        ({"fail-on": "never", "fail-under": "B"}, 1),
        ({"args": "--no-such-option"}, 2),
    ],
)
def test_the_action_fails_as_its_inputs_say(action, write, tmp_path, inputs, code):
    assert action(locator=str(write("poor.json", [POOR])), **inputs).returncode == code
    assert (tmp_path / "output").read_text() == f"exit-code={code}\n"


def test_what_could_not_run_stops_no_other_locator(action, write):
    done = action(locator=f"stdio:no-such-program-here\n{write('poor.json', [POOR])}")
    assert done.returncode == 2
    assert "TDQ101" in done.stdout
    assert "no-such-program-here" in done.stderr


def test_a_live_server_is_started_once(action, tmp_path):
    server = tmp_path / "server.py"
    server.write_text(
        "from mcp.server.mcpserver import MCPServer\n"
        f"open({str(tmp_path / 'starts')!r}, 'a').write('x')\n"
        "server = MCPServer('live')\n"
        "@server.tool()\ndef process(data: str) -> str:\n    'Process'\n"
        "server.run('stdio')\n"
    )
    done = action(**{"locator": f"stdio:{sys.executable} {server}", "fail-under": "B"})
    assert done.returncode == 1, done.stderr
    assert (tmp_path / "starts").read_text() == "x"
    assert "live · 1 tool" in done.stdout


CARELESS = ROOT / "examples" / "careless"


def test_a_folder_of_code_is_linted_as_by_hand_with_its_code(action, tdqs_mcp, tmp_path):
    shutil.copytree(CARELESS, tmp_path / "careless")
    done = action(locator="careless")
    by_hand = tdqs_mcp("lint", "careless", "--fail-on", "error", cwd=tmp_path).stdout.decode()
    assert "TDQ801 read-only-changes in careless/server.ts:11:98" in " ".join(by_hand.split())
    assert " ".join(by_hand.split()) in " ".join(done.stdout.split())
    assert "tdqs-check" not in done.stdout


def test_no_report_of_a_live_server_names_a_file_that_will_be_gone(action, tmp_path):
    server = tmp_path / "server.py"
    server.write_text(
        "from mcp.server.mcpserver import MCPServer\nserver = MCPServer('live')\n"
        "@server.tool()\ndef process(data: str) -> str:\n    'Process'\nserver.run('stdio')\n"
    )
    done = action(**{"locator": f"stdio:{sys.executable} {server}", "fail-under": "B"})
    assert "Next: tdqs-mcp " in done.stdout
    assert "tdqs-check" not in done.stdout + (tmp_path / "summary.md").read_text(encoding="utf-8")


def test_the_action_runs_a_suite_alone(action, write, tmp_path):
    write("poor.json", [POOR])
    suite = write("suite.yml", "servers: {s: {locator: poor.json}}\ntool_quality: [{name: meets the bar, server: s}]\n")
    done = action(suite=str(suite))
    assert done.returncode == 1
    assert "| meets the bar | s |" in done.stdout
    assert "| meets the bar | s |" in (tmp_path / "summary.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("inputs", [{}, {"locator": "a\nb", "sarif": "out.sarif"}])
def test_inputs_that_say_nothing_or_too_much_are_refused(action, inputs):
    done = action(**inputs)
    assert done.returncode == 2
    assert done.stdout.startswith("::error title=tdqs-mcp::")


HOSTILE = ["$(touch pwned)\n`touch pwned`", '"; touch pwned; "', "--output=pwned"]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("name", ["locator", "suite", "fail-on", "fail-under", "profile", "args"])
def test_no_input_is_run_as_a_command(action, write, tmp_path, name, text):
    """In place of our program stands one that writes down its words: an input is one of them, or its first line is."""
    program = tmp_path / "runner" / "tdqs-mcp" / "bin" / "tdqs-mcp"
    program.write_text(f'#!/bin/sh\nprintf "%s\\0" "$@" >>"{tmp_path}/words"\n')
    action(**{"locator": str(write("fine.json", [ALONE])), name: text})
    assert "pwned" not in [path.name for path in tmp_path.iterdir()]
    parts = {"locator": text.splitlines()[:1], "args": text.splitlines()[0].split()}.get(name, [text])
    assert {*parts} <= {*(tmp_path / "words").read_text().split("\0")}


def test_a_definition_cannot_speak_to_the_runner(action, write):
    hostile = POOR | {"name": "::set-output name=x::y", "description": "::set-output name=x::y"}
    lines = action(locator=str(write("hostile.json", [hostile]))).stdout.splitlines()
    token = re.fullmatch(r"::stop-commands::([0-9a-f]{32})", lines[0])[1]
    assert lines[-1] == f"::{token}::"


def test_sarif_is_written_where_it_is_asked_for_once_lint_can(action, write, tmp_path, tdqs_mcp):
    done = action(locator=str(write("poor.json", [POOR])), sarif="out.sarif")
    if b"sarif" in tdqs_mcp("lint", "--help").stdout:
        assert json.loads((tmp_path / "out.sarif").read_text(encoding="utf-8"))["version"] == "2.1.0"
        assert done.returncode == 1
    else:
        assert done.returncode == 2


# The comment on a pull request


COMMENTED = {"locator": "tools.json", "comment": "true", "token": "secret", "fail-on": "never"}


class GitHub(ThreadingHTTPServer):
    """The comments of pull request 7, as GitHub's API keeps them."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Api)
        self.comments = [{"id": number, "body": f"comment {number}"} for number in range(120)]
        self.is_read_only = False
        self.strange = set()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def event(self, folder):
        """What the runner tells a job about the event."""
        event = folder / "event.json"
        event.write_text(json.dumps({"pull_request": {"number": 7}}))
        return {
            "GITHUB_API_URL": f"http://127.0.0.1:{self.server_port}",
            "GITHUB_REPOSITORY": "shop/server",
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_BASE_REF": "main",
        }


class _Api(BaseHTTPRequestHandler):
    def do_GET(self):
        found = re.fullmatch(r"/repos/shop/server/issues/7/comments\?per_page=(\d+)&page=(\d+)", self.path)
        size, page = map(int, found.groups())
        self._answer(200, self.server.comments[size * (page - 1) : size * page])

    def do_POST(self):
        assert self.path == "/repos/shop/server/issues/7/comments"
        self._write(lambda body: self.server.comments.append({"id": 1_000, "body": body}))

    def do_PATCH(self):
        number = int(self.path.removeprefix("/repos/shop/server/issues/comments/"))
        comment = next(each for each in self.server.comments if each["id"] == number)
        self._write(lambda body: comment.update(body=body), is_refused=number in self.server.strange)

    def _write(self, keep, *, is_refused=False):
        assert self.headers["Authorization"] == "Bearer secret"
        text = self.rfile.read(int(self.headers["Content-Length"]))
        if self.server.is_read_only or is_refused:
            self._answer(403, {"message": "Resource not accessible by integration"})
        else:
            keep(json.loads(text)["body"])
            self._answer(200, {})

    def _answer(self, status, content):
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@pytest.fixture
def github():
    server = GitHub()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def pull_request(tmp_path):
    """A clone whose target branch has a catalog `tools.json` in a folder; gives the folder."""
    origin, clone = tmp_path / "origin", tmp_path / "clone"
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    git = ["git", "-c", "user.name=Shop", "-c", "user.email=shop@example.org"]
    (origin / "api").mkdir(parents=True)
    (origin / "api" / "tools.json").write_text(json.dumps([ALONE]))
    for words in (
        ["init", "--quiet", "--initial-branch=main"],
        ["add", "--all"],
        ["commit", "--quiet", "--message=First"],
    ):
        subprocess.run([*git, *words], cwd=origin, env=env, check=True)
    subprocess.run([*git, "clone", "--quiet", origin.as_uri(), clone], env=env, check=True)
    return clone / "api"


def test_one_comment_follows_a_pull_request(action, github, pull_request, tmp_path):
    def run():
        done = action(github=github.event(tmp_path), cwd=pull_request, **COMMENTED)
        assert done.returncode == 0, done.stderr
        return [each["body"] for each in github.comments[120:]]

    assert run() == []
    (pull_request / "tools.json").write_text(json.dumps([ALONE, POOR]))
    (first,) = run()
    assert first.startswith("<!-- tdqs-mcp comparison -->\n## tools: overall ")
    assert "- process: the tool is new" in first
    assert first.partition("\n")[2] in (tmp_path / "summary.md").read_text(encoding="utf-8")
    (pull_request / "tools.json").write_text(json.dumps([POOR]))
    (second,) = run()
    assert "### Breaking (" in second
    (pull_request / "tools.json").write_text(json.dumps([ALONE]))
    assert run() == ["<!-- tdqs-mcp comparison -->\nThe tool definitions are those of the target branch."]


def test_a_folder_of_code_is_compared_with_the_target_branch(action, github, pull_request, tmp_path):
    """The folder is new in the target branch first, then changed by the pull request."""
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    origin = tmp_path / "origin"
    shutil.copytree(CARELESS, origin / "api" / "careless")
    shutil.copytree(CARELESS, pull_request / "careless")
    for words in (["add", "--all"], ["commit", "--quiet", "--message=Code"]):
        git = ["git", "-c", "user.name=Shop", "-c", "user.email=shop@example.org"]
        subprocess.run([*git, *words], cwd=origin, env=env, check=True)
    given = COMMENTED | {"locator": "careless"}
    assert action(github=github.event(tmp_path), cwd=pull_request, **given).returncode == 0
    assert len(github.comments) == 120
    code = pull_request / "careless" / "server.py"
    code.write_text(code.read_text("utf-8").replace("def read_note(", "def open_note("), "utf-8")
    assert action(github=github.event(tmp_path), cwd=pull_request, **given).returncode == 0
    assert "open\\_note" in github.comments[-1]["body"]


def test_a_stranger_s_comment_with_our_mark_is_left_alone(action, github, pull_request, tmp_path):
    github.comments[5]["body"] = stranger = "<!-- tdqs-mcp comparison -->\nAll is well."
    github.strange.add(5)
    for tools in ([ALONE, POOR], [POOR]):
        (pull_request / "tools.json").write_text(json.dumps(tools))
        assert action(github=github.event(tmp_path), cwd=pull_request, **COMMENTED).returncode == 0
    assert (github.comments[5]["body"], len(github.comments)) == (stranger, 121)
    assert "### Breaking (" in github.comments[-1]["body"]


def test_without_the_permission_the_comparison_is_in_the_summary(action, github, pull_request, tmp_path):
    github.is_read_only = True
    (pull_request / "tools.json").write_text(json.dumps([ALONE, POOR]))
    done = action(github=github.event(tmp_path), cwd=pull_request, **COMMENTED)
    assert done.returncode == 0
    assert len(github.comments) == 120
    assert "pull-requests: write" in done.stderr
    assert "- process: the tool is new" in (tmp_path / "summary.md").read_text(encoding="utf-8")


def test_a_catalog_is_compared_with_the_earlier_version_that_is_named(action, github, pull_request, write, tmp_path):
    before = write("before.json", [POOR])
    action(github=github.event(tmp_path), cwd=pull_request, **COMMENTED, base=str(before))
    assert "\n## before → tools: overall 2.3 C → 3.6 A, " in github.comments[-1]["body"]


def test_a_new_catalog_is_compared_with_nothing(action, github, pull_request, tmp_path):
    (pull_request / "more.json").write_text(json.dumps([ALONE]))
    done = action(github=github.event(tmp_path), cwd=pull_request, **COMMENTED | {"locator": "more.json"})
    assert done.returncode == 0
    assert "the target branch has no more.json" in done.stdout
    assert len(github.comments) == 120


# pre-commit


@pytest.fixture
def repository(tmp_path, request):
    """A git repository that uses our hooks, run with the program under test in place of an installation.

    A parameter has what the repository's configuration sets of a hook.
    """
    folder = tmp_path / "repository"
    folder.mkdir()
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    local = [
        hook
        | {"language": "system", "entry": hook["entry"].replace("tdqs-mcp", f"{sys.executable} -m tdqs_mcp")}
        | getattr(request, "param", {}).get(hook["id"], {})
        for hook in hooks
    ]  # fmt: skip
    (folder / ".pre-commit-config.yaml").write_text(yaml.safe_dump({"repos": [{"repo": "local", "hooks": local}]}))
    env = {**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "home"), "GIT_CONFIG_GLOBAL": os.devnull}
    subprocess.run(["git", "init", "--quiet", folder], check=True, env=env)

    def run(**files):
        for name, content in files.items():
            text = content if isinstance(content, str) else json.dumps(content)
            path = folder / name.replace("__", ".")
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        subprocess.run(["git", "add", "--all"], check=True, cwd=folder, env=env)
        command = [sys.executable, "-m", "pre_commit", "run", "--all-files", "--verbose"]
        return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=120, check=False)

    return run


def test_the_hooks_pass_good_catalogs_and_leave_other_json_alone(repository):
    done = repository(shop_tools__json=[ALONE], package__json={"name": "no catalog"})
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("Passed") == 2
    assert "no catalog" not in done.stdout


def test_the_hooks_fail_a_bad_catalog_and_say_why(repository):
    done = repository(tools__json=[POOR], catalog__json=[ALONE])
    assert done.returncode == 1
    assert "TDQ101" in done.stdout
    assert done.stdout.count("Failed") == 2


def test_the_hooks_take_nothing_where_there_is_no_catalog(repository):
    done = repository(package__json={"name": "x"})
    assert done.stdout.count("(no files to check)Skipped") == 4


def test_the_hooks_lint_and_score_a_server_in_code(repository):
    done = repository(server__py=(CARELESS / "server.py").read_text("utf-8"))
    assert done.returncode == 1
    assert "TDQ801" in done.stdout
    assert done.stdout.count("(no files to check)Skipped") == 2
    assert (done.stdout.count("Passed"), done.stdout.count("Failed")) == (1, 1)


@pytest.mark.parametrize("repository", [{"tdqs-score-code": {"args": ["src"]}}], indirect=True)
def test_a_folder_in_args_keeps_the_bar_of_the_hook(repository):
    server = "from fastmcp import FastMCP\n\nmcp = FastMCP('shop')\n\n\n@mcp.tool()\ndef process(data: str) -> str:\n"
    done = repository(**{"src/server__py": f'{server}    """Process."""\n    return data\n'})
    assert "FAIL: src: overall" in done.stdout
    assert "below B" in done.stdout
