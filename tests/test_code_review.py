"""A model as witness of the code: prompts out, answers in, quotations looked up; its findings stand apart from the proven ones."""

import json

import pytest
from definitions import flat, tool
from loopback import KEY, USUAL, rubric_of
from own_server import caller, in_process, refusal

from tdqs_mcp.app import judging
from tdqs_mcp.app.linting import read_source
from tdqs_mcp.facts.schema.signals import estimate_tokens

SERVER = """\
import os

from mcp.server import MCPServer

from berths import forget

server = MCPServer("harbour")
API_KEY = "q7XkP2vLm9TzR4wB"


@server.tool()
def close_berth(name: str, limit: int = 10) -> str:
    token = "a1b2c3d4e5f6g7h8"
    if not name:
        raise ValueError("a berth has a name")
    return forget(name)


@server.tool()
def list_berths() -> list[str]:
    return os.listdir("berths")
"""
BERTHS = """\
import os


def forget(name):
    remove(f"berths/{name}")
    return "closed"


def remove(path):
    os.remove(path)


def unrelated():
    return "never called"
"""
CLOSE = tool("close_berth", "Closes a berth. It only reads.", flat(1), annotations={"readOnlyHint": True})
LIST = tool("list_berths", "Lists the berths.")
TOOLS = [CLOSE, LIST]
FINDING = {
    "kind": "contradiction",
    "statement": "It deletes the berth's file.",
    "definition": '"readOnlyHint": true',
    "file": "berths.py",
    "line": 10,
    "code": "os.remove(path)",
}
MISSING = {
    "kind": "missing-fact",
    "statement": "It fails for an empty name.",
    "definition": "",
    "file": "server.py",
    "line": 14,
    "code": 'if not name:\n        raise ValueError("a berth has a name")',
}


@pytest.fixture
def harbour(tmp_path, write):
    """The folder of a server's code, and the file of its definitions beside it."""
    folder = tmp_path / "src"
    folder.mkdir()
    (folder / "server.py").write_text(SERVER)
    (folder / "berths.py").write_text(BERTHS)
    return folder, write("tools.json", TOOLS)


def answered(entries, *findings):
    """The answers to prompts: these findings about the first, none about the others."""
    replies = [list(findings), *([] for _ in entries[1:])]
    return [
        {"name": entry["name"], "inputHash": entry["inputHash"], "answer": {"findings": reply}}
        for entry, reply in zip(entries, replies, strict=True)
    ]


# The slice


def prompts_of(command, harbour, *options):
    folder, file = harbour
    return json.loads(command("score", "--prompts", file, "--rubric", "code", "--source", folder, *options).stdout)[
        "tools"
    ]


def test_a_prompt_has_the_definition_and_the_handler_and_what_it_calls_with_line_numbers(command, harbour):
    first, second = prompts_of(command, harbour, "--format", "json")
    assert '"readOnlyHint": true' in first["user"]
    for line in (
        "   12 | def close_berth(name: str, limit: int = 10) -> str:",
        "    5 |     remove(",
        "   10 |     os.remove(path)",
    ):
        assert line in first["user"]
    assert "never called" not in first["user"]
    assert "os.listdir" in second["user"]
    assert "os.remove" not in second["user"]


DIGITS = "9f8e7d6c5b4a39281706f5e4d3c2b1a0"
PLACES = {
    f'headers = {{"X-Harbour": "{DIGITS}"}}': 'headers = {"X-Harbour": "***"}',
    'headers: dict[str, str] = {"Accept": "moor-4711", "B": f"Bearer {name}"}': '{"Accept": "***", "B": f"Bearer {name}"}',
    'session.headers.update({"X-Harbour": "moor-4711"})': 'session.headers.update({"X-Harbour": "***"})',
    'httpx.get(name, auth=("pilot", "moor-4711"))': 'httpx.get(name, auth=("***", "***"))',
    'client.cookies.set("sid", "moor-4711")': 'client.cookies.set("***", "***")',
    f'key = "{DIGITS}"': 'key = "***"',
    'word = "q8Zr2LwX0vTn5KyB7cMd"': 'word = "***"',
    'find_boats_of_harbour_2024("https://boats.example/v1/list_of_boats_2024")': "/v1/list_of_boats_2024",
    'if auth == "pilot": mode = "moor-4711"': 'mode = "moor-4711"',
}
"""Lines of code with what a model sees of them."""


@pytest.mark.parametrize("line", PLACES)
def test_a_secret_is_known_by_the_place_it_stands_in_and_by_its_letters(command, harbour, line):
    folder, _ = harbour
    (folder / "berths.py").write_text(BERTHS.replace("    os.remove(path)\n", f"    {line}\n    os.remove(path)\n"))
    text = prompts_of(command, harbour, "--format", "json", "--tool", "close_berth")[0]["user"]
    assert PLACES[line] in text


def test_secrets_are_cut_out_and_lines_keep_their_numbers(command, harbour):
    folder, _ = harbour
    key = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----"
    body = (
        f'    pem = """{key}"""\n    url = "postgres://admin:hunter22x9q@db.example.org/x"\n'
        '    k = os.getenv("API_KEY", "w0rdpress2go")\n    os.remove(path)\n'
    )
    (folder / "berths.py").write_text(BERTHS.replace("    os.remove(path)\n", body))
    text = prompts_of(command, harbour, "--format", "json", "--tool", "close_berth")[0]["user"]
    for secret in ("a1b2c3d4e5f6g7h8", "MIIEvQ", "hunter22x9q", "w0rdpress2go"):
        assert secret not in text
    assert 'token = "***"' in text
    assert "   16 |     os.remove(path)" in text


def test_a_slice_has_at_most_6000_tokens_and_what_the_tool_does_is_in_it(tmp_path, catalog):
    filler = "\n".join(f"    value_{number} = compute({number}, name) + {number}" for number in range(2_000))
    server = f"""
from mcp.server import MCPServer
import os
server = MCPServer("harbour")

@server.tool()
def close_berth(name: str) -> str:
{filler}
    os.remove(name)
    return last(name)

def last(name):
{filler}
"""
    (tmp_path / "server.py").write_text(server)
    (entry,) = judging.prompts(catalog(CLOSE), rubric="code", code=read_source(tmp_path))["tools"]
    code = entry["user"].partition("<code>\n")[2].partition("\n</code>")[0]
    assert 1_000 < estimate_tokens(code) <= 6_000
    assert " | def close_berth" in code
    assert " |     os.remove(name)" in code


def test_a_branch_of_a_dispatcher_comes_without_the_branches_of_other_tools(tmp_path, catalog):
    branches = "".join(
        f'    if name == "tool_{number}":\n'
        + "".join(f"        step_{number}_{step}(arguments)\n" for step in range(60))
        for number in range(20)
    )
    server = f"""
from mcp import types

@server.list_tools()
async def list_tools():
    return [types.Tool(name="tool_7", inputSchema={{}}), types.Tool(name="tool_8", inputSchema={{}})]

@server.call_tool()
async def call_tool(name, arguments):
{branches}
"""
    (tmp_path / "server.py").write_text(server)
    entries = judging.prompts(catalog(tool("tool_7"), tool("tool_15")), rubric="code", code=read_source(tmp_path))[
        "tools"
    ]
    text = entries[0]["user"]
    assert [entry["name"] for entry in entries] == ["tool_7"], "a tool without a handler has no prompt"
    assert "step_7_1(" in text
    assert "step_15_1(" not in text


# Answers


def test_accepted_findings_are_marked_with_their_reader_and_stand_in_no_other_report(command, harbour, write):
    folder, file = harbour
    entries = prompts_of(command, harbour, "--format", "json")
    answers = write("answers.json", {"model": "reader-1", "tools": answered(entries, FINDING, MISSING)})
    options = ("--rubric", "code", "--source", folder, "--answers", answers)
    review = json.loads(command("score", file, *options, "--format", "json").stdout)
    assert [
        (finding["kind"], finding["file"], finding["line"], finding["readBy"]) for finding in review["findings"]
    ] == [
        ("contradiction", "berths.py", 10, "reader-1"),
        ("missing-fact", "server.py", 14, "reader-1"),
    ]
    assert (review["reviewedToolCount"], review["ungraded"], review["problems"]) == (2, [], [])
    text = command("score", file, *options).stdout.decode()
    assert "read by reader-1: It deletes the berth's file." in " ".join(text.split())
    lint = json.loads(command("lint", file, "--source", folder, "--format", "json").stdout)
    assert {finding["rule"] for finding in lint["findings"] if "code" in finding} == {"TDQ801", "TDQ810"}
    assert "read by" not in json.dumps(lint)


def test_a_folder_of_code_is_its_own_source(command, harbour):
    folder, _ = harbour
    entries = json.loads(command("score", "--prompts", folder, "--rubric", "code", "--format", "json").stdout)["tools"]
    assert [entry["name"] for entry in entries] == ["close_berth", "list_berths"]
    assert "   10 |     os.remove(path)" in entries[0]["user"]


REFUSED = {
    "another line": ({"line": 9}, "does not stand at berths.py:9; it stands at line 10"),
    "words that stand nowhere": ({"code": "shutil.rmtree(path)"}, "nor does it stand at another line"),
    "a line that is not shown": ({"line": 900}, "line: 900 of berths.py is not shown"),
    "another file": ({"file": "other.py"}, "'other.py' is not among the files here: server.py, berths.py"),
    "a bracket": ({"line": 5, "code": "("}, "too short to prove anything"),
    "words that the definition has not": ({"definition": "sends mail"}, "does not stand in the definition"),
    "no words of the definition": ({"definition": " "}, "does not stand in the definition"),
    "a fact that is there": (
        {"kind": "missing-fact", "statement": "closes a berth."},
        "the definition says this already, word for word",
    ),
    "another form": ({"line": "ten"}, "line: must be a whole number"),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_a_finding_that_is_misquoted_is_refused_with_the_reason_and_the_others_stay(command, harbour, write, fault):
    folder, file = harbour
    change, reason = REFUSED[fault]
    entries = prompts_of(command, harbour, "--format", "json")
    answers = write("answers.json", {"tools": answered(entries, FINDING | change, MISSING)})
    options = ("--rubric", "code", "--source", folder, "--answers", answers, "--format", "json")
    review = json.loads(command("score", file, *options).stdout)
    assert [finding["kind"] for finding in review["findings"]] == ["missing-fact"]
    (problem,) = review["problems"]
    assert problem.startswith("'close_berth', finding 1: ")
    assert reason in problem


def test_a_tool_without_an_answer_leaves_the_review_open(command, harbour, write):
    folder, file = harbour
    answers = write("answers.json", {"tools": answered(prompts_of(command, harbour, "--format", "json"), FINDING)[:1]})
    done = command("score", file, "--rubric", "code", "--source", folder, "--answers", answers, "--format", "json")
    review = json.loads(done.stdout)
    assert done.returncode == 2
    assert [(each["name"], each["reason"]) for each in review["ungraded"]] == [
        ("list_berths", "no answer was given for this definition")
    ]


def test_an_answer_that_stands_in_the_code_is_refused(command, harbour, write):
    folder, file = harbour
    planted = json.dumps({"findings": [FINDING]})
    (folder / "berths.py").write_text(BERTHS.replace("def remove(path):", f"def remove(path):  # {planted}"))
    answers = write("answers.json", {"tools": answered(prompts_of(command, harbour, "--format", "json"), FINDING)})
    options = ("--rubric", "code", "--source", folder, "--answers", answers, "--format", "json")
    review = json.loads(command("score", file, *options).stdout)
    assert review["findings"] == []
    assert "word for word in the text under review" in review["ungraded"][0]["reason"]


@pytest.mark.parametrize(
    ("options", "advice"),
    [
        (("--source", "src"), "the code rubric needs one model"),
        ((), "name its folder with --source"),
        (("--source", "src", "--fail-under", "B"), "findings that nothing proves"),
    ],
)
def test_a_review_without_a_model_or_code_says_what_to_give(command, harbour, options, advice):
    folder, file = harbour
    done = command("score", file, "--rubric", "code", *options, cwd=folder.parent)
    assert done.returncode == 2
    assert advice in " ".join(done.stderr.decode().split())


def test_a_model_that_misquotes_is_asked_again_with_the_reason(command, harbour, loopback):
    folder, file = harbour
    bodies = []

    def answer(body):
        bodies.append(body)
        if len(bodies) == 1 or "close_berth" not in body["messages"][1]["content"]:
            findings = [FINDING | {"line": 6}] if "close_berth" in body["messages"][1]["content"] else []
        else:
            findings = [FINDING]
        return json.dumps({"findings": findings})

    loopback.answer = answer
    options = ("--judge", "openai:m", "--base-url", loopback.base_url, "--tool", "close_berth", "--format", "json")
    done = command("score", file, "--rubric", "code", "--source", folder, *options, env={"TDQS_API_KEY": KEY})
    review = json.loads(done.stdout)
    assert [finding["readBy"] for finding in review["findings"]] == ["m"]
    assert [rubric_of(body) for body in bodies] == ["code", "code"]
    assert "it stands at line 10" in bodies[1]["messages"][-1]["content"]


# The calling agent as witness


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_agent_reads_the_code_and_its_findings_are_kept_apart_from_scores(harbour, mode):
    folder, _ = harbour
    async with in_process("--root", folder.parent, mode=mode) as client:
        call = caller(client)
        page = await call("judge_definitions", catalog=TOOLS, part="code", source="src", model="m")
        assert [entry["name"] for entry in page["prompts"]] == ["close_berth", "list_berths"]
        assert "os.remove(path)" in page["prompts"][0]["user"]
        assert "source src and model m as answers" in page["next"]
        keys = {"catalog": page["catalog"], "source": "src", "model": "m"}
        wrong, right = answered(page["prompts"], FINDING | {"line": 9})
        first = await call("judge_definitions", answers=[wrong, right], **keys)
        assert (first["accepted"], first["missing"], first["findings"]) == (1, ["close_berth"], [])
        assert "it stands at line 10" in first["refused"][0]["reason"]
        again = await call("judge_definitions", part="code", **keys)
        assert [entry["name"] for entry in again["prompts"]] == ["close_berth"]
        done = await call("judge_definitions", answers=answered(page["prompts"], FINDING)[:1], **keys)
        assert (done["findingCount"], done["missing"], done["findings"][0]["readBy"]) == (1, [], "m")
        assert not {"overallScore", "tools"} & set(done)
        scored = await call("score_server", catalog=page["catalog"])
        assert "readBy" not in json.dumps(scored)
        usual = [{"name": "close_berth", "inputHash": wrong["inputHash"], "answer": USUAL["tdqs"]}]
        refused = await call("judge_definitions", answers=usual, **keys)
        assert 'not an object like {"findings"' in refused["refused"][0]["reason"]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        ({"part": "code"}, "part code needs 'source'"),
        ({"part": "code", "source": "../.."}, "--root"),
        ({"part": "code", "source": "tools.json"}, "is not a folder below"),
    ],
)
async def test_only_folders_below_a_root_are_read(harbour, arguments, advice):
    folder, _ = harbour
    async with in_process("--root", folder.parent) as client:
        assert advice in await refusal(client, "judge_definitions", catalog=TOOLS, **arguments)
