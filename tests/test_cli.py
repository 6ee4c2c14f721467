"""The command line as a user meets it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import click
import jsonschema
import pytest
from definitions import CORNERS, FINE, LOOKUP, flat, tool
from schemas import SCHEMAS

import tdqs_mcp
from tdqs_mcp.cli import cli
from tdqs_mcp.judges.offline import versions

POOR = tool("process", "Process", flat(3))
KNOWN = {"parameters": {"process": {"p0": "the path of the file to process"}}}


@pytest.mark.parametrize("spec", ["1.0", "1.2"])
def test_json_of_a_score_fits_the_published_schema(command, write, spec):
    document = json.loads(command("score", write("c.json", CORNERS), "--format", "json", "--spec", spec).stdout)
    jsonschema.validate(document, SCHEMAS["score"])
    assert document["specVersion"] == spec
    assert document["toolCount"] == document["scoredToolCount"] == len(CORNERS)
    assert list(document["tools"][0]["scores"]) == list(document["tools"][0]["justifications"])
    assert ("invocationCost" in document["tools"][0]["contextSignals"]) == (spec == "1.2")
    newest = versions()[0]
    assert document["judge"] == {"id": "offline", "version": "3", "model": None, "calibration": newest, "prompt": None}


def test_json_of_a_lint_fits_the_published_schema_and_counts_right(command, write):
    document = json.loads(command("lint", write("c.json", CORNERS), "--format", "json").stdout)
    jsonschema.validate(document, SCHEMAS["lint"])
    severities = [finding["severity"] for finding in document["findings"]]
    counts = document["counts"]
    assert [counts[key] for key in ("error", "warning", "info")] == [
        severities.count(key) for key in ("error", "warning", "info")
    ]
    assert [each["name"] for each in counts["tools"]] == [definition["name"] for definition in CORNERS]
    assert sum(each["warning"] for each in counts["tools"]) == counts["warning"]


def test_several_locators_print_a_list_and_one_bad_one_stops_no_other(command, write):
    good = write("good.json", [FINE])
    run = command("score", good, write("bad.json", "{"), good, "--format", "json")
    assert run.returncode == 2
    assert [document["server"]["name"] for document in json.loads(run.stdout)] == ["good", "good"]
    assert run.stderr.decode().startswith("error: ")


def test_text_shows_the_lowest_tool_first_and_ends_in_what_to_do_next(command, write):
    lines = command("score", write("shop.json", [FINE, POOR])).stdout.decode().splitlines()
    assert lines[0] == f"shop · 2 tools · TDQS 1.2 by offline, calibration {versions()[0]}"
    table = lines[: lines.index("Fix first")]
    assert [line.split()[0] for line in table if line.startswith(("process ", "find_orders "))] == [
        "process",
        "find_orders",
    ]
    assert any(line.startswith(f"1. process ({poor_beside_fine()}): the description only restates") for line in lines)
    assert "--tool process" in " ".join(lines[-3:])


def poor_beside_fine():
    """The score of POOR as reports print it."""
    poor = tdqs_mcp.score(tdqs_mcp.read({"tools": [FINE, POOR]})).tools[1]
    return f"{poor.tdqs / 10} {poor.tier}"


def test_markdown_is_a_table_with_the_overall_tier(command, write):
    text = command("score", write("shop.json", [FINE, POOR]), "--format", "markdown").stdout.decode()
    assert text.startswith("## shop: ")
    assert f"| process | {poor_beside_fine()} |" in text
    assert "### Fix first" in text


def test_output_goes_to_a_file(command, write, tmp_path):
    run = command("lint", write("shop.json", [FINE]), "-o", tmp_path / "out.txt")
    assert (run.returncode, run.stdout) == (0, b"")
    assert (tmp_path / "out.txt").read_text(encoding="utf-8").startswith("shop · 1 tool\n")
    run = command("lint", write("shop.json", [FINE]), "-o", tmp_path / "none" / "out.txt")
    assert run.returncode != 0
    assert b"Traceback" not in run.stderr


@pytest.mark.parametrize(("tier", "code"), [("D", 0), ("C", 0), ("B", 0), ("A", 1)])
def test_fail_under_compares_the_overall_tier(command, write, tier, code):
    assert command("score", write("shop.json", [FINE, LOOKUP, POOR]), "--fail-under", tier).returncode == code


def test_fail_under_passes_a_server_whose_tools_are_all_fine(command, write):
    run = command("score", write("shop.json", [FINE, LOOKUP]), "--fail-under", "A")
    assert run.returncode == 0, run.stdout.decode()


def test_what_is_ungraded_makes_the_verdict_open_only_where_it_could_change_it(command, write):
    nameless = {"description": "No name."}
    fine = [FINE | {"name": f"find_orders_{number}"} for number in range(9)]
    assert command("score", write("a.json", [*fine, nameless]), "--fail-under", "D").returncode == 0
    run = command("score", write("b.json", [*fine, nameless]), "--fail-under", "B")
    assert (run.returncode, run.stderr) == (2, b"error: what is ungraded leaves the verdict open\n")
    assert command("score", write("c.json", [POOR, nameless]), "--fail-under", "B").returncode == 1
    assert command("score", write("d.json", []), "--fail-under", "D").returncode == 2


@pytest.mark.parametrize(("level", "code"), [("error", 0), ("warning", 1), ("info", 1), ("never", 0)])
def test_fail_on_names_the_mildest_finding_that_fails(command, write, level, code):
    described = tool("list_orders", "Lists the open orders of one customer.", flat(1))
    assert command("lint", write("x.json", [described]), "--fail-on", level).returncode == code
    assert command("lint", write("y.json", [POOR])).returncode == 1


SUITE = """
servers:
  part: {locator: part.json}
tool_quality:
  - name: good
    server: part
    expect: [{target: min_score, matcher: {schema: {minimum: 0}}}]
"""


@pytest.mark.parametrize(
    "words",
    [
        "score part.json",
        "score part.json --fail-under D",
        "score part.json --rubric smells",
        "score part.json --rubric smells --fail-under acceptable",
        "lint part.json",
        "score --rubric playground part.json",
        "score --rubric playground part.json --fail-under F",
        "compare part.json part.json",
        "select part.json --fail-under 0",
        "score part.json --skill skill.md --fail-under acceptable",
        "score part.json --prompts --rubric bundles --skill skill.md",
        "portability part.json",
        "rewrite part.json --target A",
        "rewrite part.json",
        "gate suite.yml",
    ],
)
def test_no_verdict_is_given_on_a_list_of_tools_that_was_not_read_to_its_end(command, write, tmp_path, words):
    write("part.json", {"tools": [FINE, LOOKUP], "nextCursor": "2"})
    write("skill.md", "# Orders\n\nSet your password.")
    write("suite.yml", SUITE)
    run = command(*words.split(), cwd=tmp_path)
    said = " ".join((run.stdout + run.stderr).decode().split())
    assert (run.returncode, "the pages after it are missing" in said) == (2, True), said


@pytest.mark.parametrize("words", ["lint part.json --fail-on never", "capture part.json"])
def test_part_of_a_list_is_enough_where_nobody_asks_for_a_verdict(command, write, tmp_path, words):
    write("part.json", {"tools": [FINE, LOOKUP], "nextCursor": "2"})
    assert command(*words.split(), cwd=tmp_path).returncode == 0


def test_a_clean_server_passes(command, write):
    run = command("lint", write("shop.json", [FINE, LOOKUP]), "--fail-on", "info")
    assert (run.returncode, run.stdout.decode().splitlines()[-1].split(" ")[0]) == (0, "PASS:")
    counts = json.loads(command("lint", write("shop.json", [FINE, LOOKUP, POOR]), "--format", "json").stdout)["counts"]
    clean = [(each["name"], each["clean"]) for each in counts["tools"]]
    assert clean == [("find_orders", True), ("find_customer", True), ("process", False)]
    counts = json.loads(command("lint", write("shop.json", [FINE, LOOKUP]), "--format", "json").stdout)["counts"]
    assert [each["clean"] for each in (counts, *counts["tools"])] == [True, True, True]


def test_standard_input_is_a_locator(tdqs_mcp):
    run = tdqs_mcp("score", "-", "--format", "json", stdin=json.dumps([FINE]).encode())
    assert json.loads(run.stdout)["server"] == {"name": "stdin", "version": None, "source": None}


def test_prompts_and_answers_close_the_circle_through_files(command, write):
    file = write("shop.json", [FINE, POOR])
    document = json.loads(command("score", "--prompts", file, "--format", "json").stdout)
    assert list(document) == ["tools", "coherence"]
    assert list(document["tools"][0]) == ["name", "inputHash", "system", "user", "promptHash", "hardened"]
    keys = [
        "purpose_clarity",
        "usage_guidelines",
        "behavioral_transparency",
        "parameter_semantics",
        "conciseness_structure",
        "contextual_completeness",
    ]
    said = {
        "scores": {key: {"score": 4, "justification": "x"} for key in keys},
        "annotation_contradiction": False,
        "summary": "x",
    }
    parts = ["disambiguation", "naming_consistency", "tool_count_appropriateness", "completeness"]
    coherence = {"scores": {key: {"score": 5, "justification": "x"} for key in parts}, "summary": "x"}
    answers = {
        "tools": [
            {"name": entry["name"], "inputHash": entry["inputHash"], "answer": json.dumps(said)}
            for entry in document["tools"]
        ],
        "coherence": coherence,
    }
    run = command("score", file, "--answers", write("answers.json", answers), "--accept", "*", "--format", "json")
    score = json.loads(run.stdout)
    assert (score["overallScore"], score["judge"]["id"], score["tools"][1]["flags"]) == (
        4.1,
        "answers",
        ["Tautological Description"],
    )
    assert [each["tdqs"] for each in score["tools"]] == [4.0, 3.5]


def test_one_tool_s_prompt_is_printed_alone_and_a_wrong_name_lists_the_right_ones(command, write):
    file = write("shop.json", [FINE, POOR])
    text = command("score", "--prompts", file, "--tool", "process").stdout.decode()
    assert "TOOL NAME: process" in text
    assert "TOOL NAME: find_orders" not in text
    run = command("score", "--prompts", file, "--tool", "nope")
    assert (run.returncode, run.stderr) == (
        2,
        b"error: there is no tool 'nope'; the catalog has 'find_orders', 'process'\n",
    )


def test_captured_files_are_read_back_to_the_same_catalog(command, write, tmp_path):
    file = write("corners.json", CORNERS)
    run = command("capture", file, "-o", tmp_path / "captured.json")
    assert (
        run.stdout.decode()
        == f"{len(CORNERS)} tools in {tmp_path / 'captured.json'}. Next: tdqs-mcp score {tmp_path / 'captured.json'}\n"
    )
    assert json.loads((tmp_path / "captured.json").read_bytes())["tools"] == CORNERS
    scores = [
        json.loads(command("score", path, "--format", "json").stdout) for path in (file, tmp_path / "captured.json")
    ]
    assert scores[0]["tools"] == scores[1]["tools"]
    run = command("capture", file, "-o", "-", cwd=tmp_path)
    assert run.stdout == (tmp_path / "captured.json").read_bytes()
    assert not (tmp_path / "-").exists()


def test_what_cannot_be_explained_is_answered_with_what_can(command):
    run = command("rules", "TDQ999")
    assert run.returncode == 2
    assert b"did you mean TDQ" in run.stderr
    assert command("rules", "purpose_clarity").stdout.startswith(b"# purpose_clarity: Purpose Clarity")
    assert json.loads(command("rules", "A", "--format", "json").stdout)["id"] == "A"


@pytest.mark.parametrize(
    "arguments", [[], ["score"], ["score", "x.json", "--header", "nope"], ["score", "a", "b", "--answers", "c"]]
)
def test_wrong_words_are_a_usage_error_without_a_traceback(command, arguments):
    run = command(*arguments)
    assert run.returncode == 2
    assert b"Usage:" in run.stderr
    assert b"Traceback" not in run.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("lock x.json --key x.json", "--key belongs to --attest"),
        ("lock --check x.json --attest x.json", "--check --attest needs --key, the public key"),
        ("stats --server a --query b", "--server and --query are 2 questions"),
        ("score x.json --tool a --rubric smells", "--tool shows one tool under the tdqs rubric"),
        ("score x.json --tool a --fail-under B", "--tool shows one tool under the tdqs rubric"),
        ("score x.json --fail-under acceptable", "--fail-under Acceptable is no bar of the tdqs rubric; it takes A, B"),
        ("score x.json --rubric smells --fail-under B", "is no bar of the smells rubric; it takes Good, Acceptable"),
        ("score x.json --rubric code --fail-under B", "the code rubric has findings that nothing proves"),
        ("score x.json --rubric tdqs --skill x.csv", "--skill belongs to --rubric bundles or skill"),
        ("score x.json --rubric playground --judge openai:m", "the playground rubric asks no judge"),
        ("score x.json --prompts --fail-under B", "--prompts asks no judge and gives no score"),
        ("lock --check x.json --accept tool:a", "--check changes nothing"),
    ],
)
def test_options_that_exclude_each_other_are_refused_by_name(command, write, tmp_path, words, said):
    for name in ("x.json", "x.csv"):
        write(name, [])
    run = command(*words.split(), cwd=tmp_path)
    assert (run.returncode, run.stdout) == (2, b"")
    assert said in run.stderr.decode()


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("command", ["lint", "score"])
@pytest.mark.process
def test_files_are_read_without_the_sdk_or_any_http_client(write, command, form):
    program = (
        "import sys; sys.argv = ['tdqs-mcp', *sys.argv[1:]]\n"
        "from tdqs_mcp.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "loaded = {name.partition('.')[0] for name in sys.modules}\n"
        "sys.exit(', '.join(sorted(loaded & {'mcp', 'mcp_types', 'anthropic', 'openai', 'httpx2', 'pydantic', 'jinja2', 'numpy', 'scipy'})) or 0)"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, command, str(write("x.json", [FINE])), "--format", form],
        capture_output=True,
        check=False,
        env=os.environ,
    )
    assert run.returncode == 0, run.stderr.decode()


def test_a_judge_that_cannot_be_reached_leaves_tools_ungraded_and_exits_2(command, write):
    file = write("shop.json", [FINE, {"name": "silent", "inputSchema": {"type": "object"}}])
    run = command("score", file, "--judge", "openai:any", "--base-url", "http://127.0.0.1:9/v1", "--format", "json")
    assert run.returncode == 2
    score = json.loads(run.stdout)
    assert [tool["name"] for tool in score["tools"]] == ["silent"]
    assert "cannot be reached" in score["ungraded"][0]["reason"]
    assert score["overallScore"] is None


def test_a_judge_is_only_asked_when_it_is_named(command, write):
    environment = {**os.environ, "TDQS_API_KEY": "secret-key", "TDQS_BASE_URL": "http://127.0.0.1:9/v1"}
    run = command("score", write("shop.json", [FINE]), "--format", "json", env=environment)
    assert json.loads(run.stdout)["judge"]["id"] == "offline"
    run = command("score", write("shop.json", [FINE]), "--judge", "openai", env=environment)
    assert (run.returncode, b"TDQS_MODEL" in run.stderr, b"secret-key" in run.stderr) == (2, True, False)


def test_what_cannot_be_written_or_read_is_exit_2(tdqs_mcp, write, tmp_path):
    file = write("shop.json", [FINE])
    for arguments in (["-o", tmp_path / "no" / "x"], ["--answers", tmp_path / "no.json"]):
        run = tdqs_mcp("score", file, *arguments)
        assert (run.returncode, run.stderr.count(b"\n")) == (2, 1)
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "tdqs_mcp", "score", str(file)]
        run = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert (run.returncode, run.stderr) == (2, b"error: 'standard output' cannot be written: No space left on device\n")


@pytest.mark.process
@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["rewrite", "shop.json", "--material", "known.json", "--write", "shop.json"], "shop.json"),
        (["rewrite", "shop.json", "--material", "known.json", "--write", "old.patch"], "old.patch"),
        (["capture", "shop.json", "-o", "old.json"], "old.json"),
        (["score", "shop.json", "--output", "old.txt"], "old.txt"),
        (["lint", "shop.json", "--baseline", "shop.json", "--write-baseline"], None),
    ],
)
def test_a_file_that_cannot_be_written_to_its_end_stays_as_it_was(write, tmp_path, words, name):
    """A limit on the size of files fails like a full disk: after the first bytes."""
    before = write("shop.json", [POOR, FINE]).read_bytes()
    write("known.json", KNOWN)
    for old in ("old.patch", "old.json", "old.txt"):
        write(old, "as it was")
    program = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20)); sys.argv = ['tdqs-mcp', *sys.argv[1:]]\n"
        "from tdqs_mcp.cli import main; main()"
    )
    command = [sys.executable, "-B", "-c", program, *words]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert (run.returncode, b"Traceback" in run.stderr) == (2, False)
    if name:
        assert f"error: '{name}' cannot be written: File too large".encode() in run.stderr
    assert {file.name for file in tmp_path.iterdir() if file.is_file()} == {
        "shop.json",
        "known.json",
        "old.patch",
        "old.json",
        "old.txt",
    }
    assert (tmp_path / "shop.json").read_bytes() == before
    assert {(tmp_path / old).read_text() for old in ("old.patch", "old.json", "old.txt")} == {"as it was"}


def test_a_file_that_is_replaced_keeps_its_mode_and_a_link_stays_a_link(command, write, tmp_path):
    file, link = write("shop.json", [POOR]), tmp_path / "link.json"
    file.chmod(0o640)
    link.symlink_to("shop.json")
    assert command("rewrite", link, "--material", write("known.json", KNOWN), "--write", link).returncode == 0
    assert (link.is_symlink(), file.stat().st_mode & 0o777) == (True, 0o640)
    assert json.loads(file.read_bytes()) != [POOR]
    assert command("capture", link, "-o", tmp_path / "new.json").returncode == 0
    umask = os.umask(0)
    os.umask(umask)
    assert (tmp_path / "new.json").stat().st_mode & 0o777 == 0o666 & ~umask
    assert command("score", file, "-o", "/dev/null").returncode == 0


def test_output_is_utf_8_whatever_the_locale(tdqs_mcp, write):
    file = write("shop.json", [tool("读取", "读取订单 😀 and more.")])
    for form in ("text", "json", "markdown"):
        run = tdqs_mcp("score", file, "--format", form, env={**os.environ, "PYTHONIOENCODING": "cp1252"})
        assert run.returncode == 0, run.stderr
        assert "读取" in run.stdout.decode("utf-8")


def test_json_holds_no_character_that_a_terminal_obeys(command, write):
    name = "a\x9b31m\u202e\U000e0041b"
    for word in ("score", "capture"):
        arguments = ["--format", "json"] if word == "score" else []
        shown = command(word, write("x.json", [tool(name, "x\x7f")]), *arguments).stdout.decode()
        assert not set("\x9b\u202e\U000e0041\x7f").intersection(shown)
        assert json.loads(shown)["tools"][0]["name"] == name


def test_a_number_beyond_every_double_is_captured_as_null_and_read_back(command, write, tmp_path):
    file = write("x.json", '[{"name": "t", "description": "x", "inputSchema": {"type": "object", "maximum": 1e999}}]')
    command("capture", file, "-o", tmp_path / "y.json")
    hashes = [
        json.loads(command("score", path, "--format", "json").stdout)["tools"][0]["inputHash"]
        for path in (file, tmp_path / "y.json")
    ]
    assert hashes[0] == hashes[1]


def test_markdown_links_nothing_and_mentions_nobody(command, write):
    file = write(
        "x.json", [{"name": "see http://evil.example www.evil.example @user $x$", "description": "x"}, {"name": 7}]
    )
    for word in ("score", "lint"):
        text = command(word, file, "--format", "markdown").stdout.decode()
        assert not [word for word in ("://", "www.", "@user", " $x") if word in text]
    assert "tool 2, without a name" in text


def test_snake_case_definitions_keep_all_that_they_say(command, write):
    snake = {key: value for key, value in FINE.items() if key not in ("inputSchema", "outputSchema")}
    snake |= {"input_schema": FINE["inputSchema"], "output_schema": FINE["outputSchema"], "_meta": {"a": 1}}
    mine, theirs = (
        json.loads(command("score", write("s.json", [each]), "--format", "json").stdout)["tools"][0]
        for each in (FINE, snake)
    )
    assert mine == theirs


def test_somebody_s_answers_and_another_judge_exclude_each_other(command, write):
    run = command("score", write("x.json", [FINE]), "--answers", write("a.json", {}), "--judge", "openai:x")
    assert (run.returncode, b"leave --judge" in run.stderr) == (2, True)


@pytest.mark.parametrize("name", sorted(cli.commands))
def test_the_help_of_the_group_has_each_command_s_own_first_sentence(name):
    context = click.Context(cli)
    _, command, _ = cli.resolve_command(context, [name])
    assert cli.commands[name].get_short_help_str(200) == command.get_short_help_str(200)


@pytest.mark.process
@pytest.mark.parametrize("words", [["--help"], ["--version"]])
def test_the_group_s_help_and_version_import_no_command(words):
    program = "import sys; from tdqs_mcp.cli import cli; cli(sys.argv[1:], standalone_mode=False); print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=True)
    loaded = {name for name in run.stdout.splitlines()[-1].split() if name.startswith("tdqs_mcp")}
    assert loaded == {"tdqs_mcp", "tdqs_mcp.cli", "tdqs_mcp.errors"}


@pytest.mark.process
@pytest.mark.parametrize(
    "args", [("rules",), ("rules", "TDQ104"), ("lint",), ("score", "--format", "json"), ("--help",)]
)
def test_a_closed_standard_output_is_one_line_and_never_another_file(write, args):
    catalog = [str(write("tools.json", [tool("a")]))] if args[0] in ("lint", "score") else []
    words = ["sh", "-c", 'exec "$@" >&-', "sh", sys.executable, "-m", "tdqs_mcp", *args, *catalog]
    run = subprocess.run(words, capture_output=True, timeout=60, check=False, stdin=subprocess.DEVNULL)
    assert run.stderr == b"error: 'standard output' cannot be written: Bad file descriptor\n"
    assert run.returncode == 2


@pytest.mark.process
def test_who_writes_to_a_file_needs_no_standard_output(write, tmp_path):
    file, out = write("tools.json", [tool("a")]), tmp_path / "out.json"
    words = [
        "sh",
        "-c",
        'exec "$@" >&- 2>&-',
        "sh",
        sys.executable,
        "-m",
        "tdqs_mcp",
        "lint",
        file,
        "-o",
        out,
        "--format",
        "json",
    ]
    assert subprocess.run(words, timeout=60, check=False, stdin=subprocess.DEVNULL).returncode in (0, 1)
    assert json.loads(out.read_text())["findings"]


READERS = ["score", "lint", "rewrite", "rewrite --target A", "portability", "select", "score --prompts", "capture"]


@pytest.mark.parametrize("link", ["", "link", "hard"])
@pytest.mark.parametrize("name", READERS)
def test_no_command_writes_over_what_it_reads(command, write, tmp_path, name, link):
    file = write("v.json", [FINE])
    before, target = file.read_bytes(), file
    if link:
        target = tmp_path / "other.json"
        target.symlink_to(file) if link == "link" else target.hardlink_to(file)
    run = command(*name.split(), file, "-o", target)
    assert (run.returncode, run.stdout, file.read_bytes()) == (2, b"", before)
    assert b"is read by this command, so it is not written" in run.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        "compare old.json new.json -o old.json",
        "compare old.json new.json -o new.json",
        "score . -o old.json",
        "lint new.json --baseline old.json -o old.json",
        "score new.json --answers old.json -o old.json",
        "gate old.json -o old.json",
        "rewrite new.json --material old.json --write old.json",
    ],
)
def test_other_inputs_are_not_written_over_either(command, write, tmp_path, arguments):
    old = write("old.json", [FINE])
    write("new.json", [FINE])
    before = old.read_bytes()
    run = command(*arguments.split(), cwd=tmp_path)
    assert (run.returncode, old.read_bytes()) == (2, before)
    assert b"is read by this command" in run.stderr


def test_a_rewrite_may_be_written_to_its_own_file(command, write):
    file = write("v.json", [tool("list_orders", "List orders", flat(1), annotations={"title": None})])
    assert command("rewrite", file, "--write", file).returncode == 0
    assert json.loads(file.read_bytes())[0]["name"] == "list_orders"


@pytest.mark.parametrize(
    ("arguments", "beginning"),
    [
        ("score v.json -o r.json", b"{"),
        ("score v.json -o r.md", b"#"),
        ("score v.json -o r.HTML", b"<!DOCTYPE html>"),
        ("score v.json -o r.svg", b"<svg"),
        ("lint v.json -o r.json", b"{"),
        ("lint v.json --format sarif -o r.json", b"{"),
        ("lint v.json --format junit -o r.xml", b"<?xml"),
        ("score v.json -o r.txt", b"v "),
        ("score v.json --format text -o r", b"v "),
    ],
)
def test_a_file_has_the_format_of_its_name(command, write, tmp_path, arguments, beginning):
    write("v.json", [FINE])
    run = command(*arguments.split(), cwd=tmp_path)
    assert run.returncode in (0, 1), run.stderr
    written = next(path for path in tmp_path.iterdir() if path.stem == "r").read_bytes()
    assert written.lower().startswith(beginning.lower())


@pytest.mark.parametrize(
    "arguments",
    ["score v.json --format markdown -o r.json", "lint v.json -o r.html", "score v.json --format json -o r.svg"],
)
def test_a_name_that_says_another_format_is_refused(command, write, tmp_path, arguments):
    write("v.json", [FINE])
    run = command(*arguments.split(), cwd=tmp_path)
    assert run.returncode == 2
    assert b"is no name for --format" in run.stderr
    assert [path.name for path in tmp_path.iterdir() if path.stem == "r"] == []


@pytest.mark.parametrize("name", ["score", "rewrite", "rewrite --target A", "portability", "select", "score --prompts"])
def test_a_list_without_tools_is_not_done(command, write, name):
    run = command(*name.split(), write("none.json", []))
    assert run.returncode == 2
    assert b"no tool" in run.stderr
