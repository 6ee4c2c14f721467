"""Broken input: a finding or a one-line error, and everything that can be scored is scored."""

import json
import os
from pathlib import Path

import pytest
from definitions import flat, tool

from tdqs_mcp import sync
from tdqs_mcp.app import judging, linting
from tdqs_mcp.errors import InputError
from tdqs_mcp.facts.subject import measure
from tdqs_mcp.sources.files import read_catalog

GOOD = tool("good", "Lists the open orders of one customer, newest first.")


@pytest.mark.parametrize("kind", ["device", "pipe"])
def test_a_locator_without_an_end_is_refused(command, tmp_path, kind):
    path = Path("/dev/zero")
    if kind == "pipe":
        path = tmp_path / "pipe"
        os.mkfifo(path)
    run = command("score", path)
    assert (run.returncode, run.stdout) == (2, b"")
    assert b"is not a regular file; save it first, or pipe it in and give -" in run.stderr


def rules(report):
    return {finding.rule for finding in report.findings}


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ('{"tools": [{"name": "a"', "is not valid JSON: Expecting ',' delimiter at column 24"),
        ("", "is not valid JSON: Expecting value at column 1"),
        ("tools: []", "is not valid JSON"),
        ("42", "holds no object or array; give a tools/list result"),
        ("null", "holds no object or array"),
        ("[1, 2]", "is an array without a single tool definition"),
        ("{}", "holds no tool definitions"),
        ('{"tools": {}}', "is not an array"),
        ('{"jsonrpc": "2.0", "id": 1, "error": {"code": -1, "message": "no key"}}', "is an error answer: 'no key'"),
        ('{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}', "without a result"),
        ("[" * 100_000, "nests too deep"),
        (b'{"tools": "\xff"}', "is not UTF-8 text: byte 11"),
    ],
)
def test_what_is_no_catalog_is_a_one_line_error_and_exit_2(command, write, content, complaint):
    for name in ("score", "lint"):
        run = command(name, write("x.json", content))
        assert run.returncode == 2
        assert run.stdout == b""
        assert complaint in run.stderr.decode()
        assert run.stderr.startswith(b"error: ")
        assert run.stderr.count(b"\n") == 1


def test_a_missing_file_and_a_folder_without_catalogs_are_named(command, tmp_path):
    assert b"cannot be read: No such file" in command("lint", tmp_path / "none.json").stderr
    assert b"there is neither code nor a JSON file in the folder" in command("lint", tmp_path).stderr


MALFORMED = [
    ("just a string", "the definition is a string, not an object"),
    (None, "the definition is null, not an object"),
    ([], "the definition is an array, not an object"),
    ({"description": "nameless"}, "the definition has no name"),
    ({"name": "", "description": "x"}, "the definition has no name"),
    ({"name": 7}, "name is a number, not a string"),
    (tool("d", 5), "description is a number, not a string"),
    (tool("s", schema="object"), "inputSchema is a string, not an object"),
    (tool("s", schema=[1]), "inputSchema is an array, not an object"),
    (tool("a", annotations=[]), "annotations is an array, not an object"),
    (tool("o", outputSchema=True), "outputSchema is a boolean, not an object"),
    (tool("t", title={}), "title is an object, not a string"),
]


@pytest.mark.parametrize(("definition", "message"), MALFORMED)
def test_a_malformed_definition_is_a_finding_and_its_neighbours_are_scored(definition, message):
    catalog = read_catalog({"tools": [GOOD, definition]}, name="x")
    malformed = [finding for finding in linting.lint(catalog).findings if finding.rule == "TDQ201"]
    assert message in [finding.message.partition(", so")[0] for finding in malformed]
    score = sync.score(catalog)
    assert score.tools[0].name == "good"
    assert len(score.tools) + len(score.ungraded) == 2
    assert catalog.tools[1].raw == definition


def test_only_what_nobody_can_call_or_measure_stays_ungraded():
    catalog = read_catalog({"tools": [GOOD, *(definition for definition, _ in MALFORMED)]}, name="x")
    assert [tool.index for tool in sync.score(catalog).ungraded] == [1, 2, 3, 4, 5, 6]


def nested(levels):
    return '{"a":' * levels + "1" + "}" * levels


ODD = [
    (f'"_meta": {nested(150)}', "/_meta", "_meta nests deeper than 100 levels"),
    (f'"_meta": {nested(940)}', "/_meta", "_meta nests deeper than 100 levels"),
    (f'"_meta": {nested(100_000)}', "/_meta", "_meta nests deeper than 100 levels"),
    (f'"outputSchema": {{"type": "object", "m": {nested(250)}}}', "", "cannot be measured: it nests deeper than 100"),
    ('"title": "A", "title": "B"', "/title", "'title' is given more than once"),
    ('"annotations": {"readOnlyHint": true, "readOnlyHint": false}', "/annotations/readOnlyHint", "more than once"),
    ('"_meta": {"m": [0, NaN]}', "/_meta/m/1", "NaN is not a number that JSON can hold"),
    ('"_meta": {"m": -Infinity}', "/_meta/m", "-Infinity is not a number that JSON can hold"),
    ('"_meta": {"m": 1e999}', "/_meta/m", "Infinity is not a number"),
    ('"_meta": {"m": 1' + 5000 * "0" + "}", "/_meta/m", "Infinity is not a number"),
]
"""Members that not every reader of JSON takes, and the finding on their tool."""


def odd_catalog(member):
    odd = f'{{"name": "odd", "description": "Deletes one order.", "inputSchema": {{"type": "object"}}, {member}}}'
    return f'{{"tools": [{json.dumps(GOOD)}, {odd}]}}'


@pytest.mark.parametrize(("member", "path", "message"), ODD, ids=[member[:20] for member, _, _ in ODD])
def test_json_that_not_everybody_reads_is_a_finding_on_its_tool_and_every_command_answers(
    command, write, tmp_path, member, path, message
):
    file = write("odd.json", odd_catalog(member))
    for args in (
        ("score", file, "--format", "json"),
        ("rewrite", file, "--format", "json"),
        ("capture", file, "-o", tmp_path / "captured.json"),
        ("compare", file, write("good.json", [GOOD]), "--format", "json"),
        ("lock", file, "--lock", tmp_path / "lock.json"),
        ("score", file, "--prompts", "--format", "json"),
    ):
        run = command(*args)
        assert run.returncode in (0, 1), run.stderr
        assert b"NaN" not in run.stdout.replace(b"NaN is not", b"")
    report = json.loads(command("lint", file, "--format", "json").stdout)
    found = [each for each in report["findings"] if each["rule"] == "TDQ201"]
    assert [(each["subject"]["name"], each["path"]) for each in found] == [("odd", path)]
    assert message in found[0]["message"]
    score = json.loads(command("score", file, "--format", "json").stdout)
    assert "good" in [each["name"] for each in score["tools"]]
    captured = json.loads((tmp_path / "captured.json").read_text(), parse_constant=pytest.fail)
    assert captured["tools"][0] == GOOD
    assert ("deeper" in message) != (message in str(captured.get("problems")))


def test_what_is_odd_beside_the_tools_is_a_problem_of_the_server(write):
    text = f'{{"tools": [], "tools": [{json.dumps(GOOD)}], "prompts": [{{"name": "p", "name": "q", "x": NaN}}]}}'
    catalog = sync.load(str(write("x.json", text)))
    assert catalog.problems == (
        "'tools' is given more than once in an answer; only the last value was read.",
        "/prompts/0/name: 'name' is given more than once, and only the last value counts for most clients.",
        "/prompts/0/x: NaN is not a number that JSON can hold.",
    )
    assert catalog.prompts[0].raw == {"name": "q", "x": None}


def test_duplicate_names_are_found_and_both_scored():
    report = linting.lint(catalog := read_catalog([GOOD, GOOD | {"description": "Another."}], name="x"))
    assert [finding.subject.index for finding in report.findings if finding.rule == "TDQ202"] == [0, 1]
    assert len(sync.score(catalog).tools) == 2


def test_a_schema_that_multiplies_through_references_is_measured_in_linear_time():
    levels = 60
    definitions = {f"d{level}": {"allOf": [{"$ref": f"#/$defs/d{level + 1}"}] * 8} for level in range(levels)} | {
        f"d{levels}": flat(1)
    }
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "required": ["a"], "$defs": definitions}
    subject = sync.score(read_catalog([tool("bomb", schema=schema)], name="x")).tools[0]
    assert subject.signals["requiredFieldCount"] == 8**levels + 1


def test_a_schema_beyond_every_limit_leaves_its_tool_ungraded_alone():
    names = [f"d{number}" for number in range(40)]
    web = {name: {"allOf": [{"$ref": f"#/$defs/{other}"} for other in names]} for name in names}
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "required": ["a"], "$defs": web}
    deep = {"type": "object"}
    for _ in range(200):
        deep = {"type": "object", "properties": {"a": deep}}
    catalog = read_catalog([GOOD, tool("web", schema=schema), tool("deep", schema=deep)], name="x")
    score = sync.score(catalog)
    assert [tool.name for tool in score.tools] == ["good"]
    assert [tool.name for tool in score.ungraded] == ["web", "deep"]
    assert all(tool.ungraded.reason for tool in score.ungraded)
    assert sum(finding.rule == "TDQ201" for finding in score.findings) == 2


def wide(count):
    return {str(number): {} for number in range(count)}


def referring(count):
    """A schema whose required parameter leads through so many references, each one level deeper."""
    chain = {str(number): {"items": {"$ref": f"#/$defs/{number + 1}"}} for number in range(count)}
    return {"properties": {"a": {"$ref": "#/$defs/0"}}, "required": ["a"], "$defs": chain}


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"properties": wide(20_000), "required": list(wide(20_000))}, None),
        ({"properties": wide(20_001), "required": list(wide(20_001))}, "lead to more than 20,000 schemas"),
        (referring(98), None),
        (referring(99), "nest deeper than 100 schemas"),
    ],
    ids=["20,000 parameters", "20,001 parameters", "98 references", "99 references"],
)
def test_required_parameters_are_followed_up_to_a_limit(schema, message):
    [found] = measure(read_catalog([tool("t", schema=schema)], name="x")).unmeasured or [None]
    assert (found is None) if message is None else (message in found.reason)


@pytest.mark.parametrize("use", [sync.score, linting.lint, sync.rewrite])
def test_a_tool_with_very_many_parameters_takes_time_by_their_number(compare_work, use):
    few, many = (read_catalog([tool("wide", schema=described(number))], name="x") for number in (750, 3000))
    compare_work(lambda: use(many), lambda: use(few), at_most=5, rounds=2)


def described(count):
    texts = {f"parameter_{each}": f"The value number {each} of the order." for each in range(count)}
    return {"type": "object", "properties": {key: {"type": "string", "description": texts[key]} for key in texts}}


def test_references_in_a_circle_end():
    schema = flat(1) | {
        "properties": {"p0": {"$ref": "#/$defs/a"}},
        "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}},
    }
    assert (
        sync.score(read_catalog([tool("circle", schema=schema)], name="x")).tools[0].signals["requiredFieldCount"] == 1
    )


def test_a_description_of_10_megabytes_is_scored(command, write):
    path = write("big.json", [tool("big", "Lists things. " * 750_000), GOOD])
    run = command("score", path, "--format", "json")
    assert run.returncode == 0
    assert json.loads(run.stdout)["scoredToolCount"] == 2


def test_null_bytes_control_codes_and_lone_surrogates_survive_and_never_reach_the_terminal(command, write):
    name, text = "a\x1b[31mb", "Deletes \x00 all \x1b]0;owned\x07 \ud800 \u202e files \u200b."
    path = write("evil.json", [tool(name, text), tool("evil <script>|`x`", text)])
    for name in ("score", "lint"):
        for form in ("text", "markdown", "json"):
            run = command(name, path, "--format", form)
            assert run.returncode in (0, 1), run.stderr
            shown = run.stdout.decode("utf-8")
            assert "\x1b" not in shown
            assert form == "json" or not set("\x00\x07\u202e\u200b").intersection(shown)
            if form == "markdown":
                assert "<script>" not in shown
    assert judging.prompts(read_catalog([tool(name, text)], name="x"))["tools"][0]["user"].count("\x00") == 0


def test_2000_tools_are_all_scored_and_the_text_stays_short(command, write):
    path = write("many.json", [tool(f"get_item_{number}", f"Gets item {number}.") for number in range(2000)])
    assert len(json.loads(command("score", path, "--format", "json").stdout)["tools"]) == 2000
    for name in ("score", "lint"):
        assert len(command(name, path).stdout.splitlines()) < 120


@pytest.mark.parametrize(
    "shape",
    [
        {"tools": [GOOD]},
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [GOOD]}},
        {"result": {"tools": [GOOD]}},
        [{"tools": [GOOD], "nextCursor": "2"}, {"tools": []}],
        [{"jsonrpc": "2.0", "id": 1, "result": {"tools": [GOOD]}}, {"jsonrpc": "2.0", "id": 2, "result": {"tools": []}}],
        [GOOD],
        GOOD,
        {"server": "x", "version": "1", "source": "npm:x@1", "serverInfo": {"name": "x"}, "tools": [GOOD]},
        {"name": GOOD["name"], "description": GOOD["description"], "input_schema": GOOD["inputSchema"]},
        {"tools": [{"name": GOOD["name"], "description": GOOD["description"], "input_schema": GOOD["inputSchema"]}]},
        [{"type": "function", "function": {"name": GOOD["name"], "description": GOOD["description"], "parameters": GOOD["inputSchema"]}}],
        [{"type": "function", "name": GOOD["name"], "description": GOOD["description"], "parameters": GOOD["inputSchema"], "strict": True}],
    ],
)  # fmt: skip
def test_every_shape_in_which_definitions_travel_is_read(shape):
    only = sync.score(read_catalog(shape, name="x")).tools
    assert [tool.input_hash for tool in only] == [sync.score(read_catalog([GOOD], name="x")).tools[0].input_hash]


def test_a_file_whose_last_page_has_a_cursor_is_incomplete_and_has_no_overall_score(write):
    first, second = {"tools": [GOOD], "nextCursor": "2"}, {"tools": [tool("other")]}
    assert sync.load(str(write("pages.json", [first, second]))).incomplete is None
    catalog = sync.load(str(write("page.json", first)))
    assert "the pages after it are missing" in catalog.incomplete
    assert catalog.problems == (catalog.incomplete,)
    assert sync.score(catalog).rollup.overall is None
    with pytest.raises(InputError, match="the pages after it are missing"):
        sync.reach_target(catalog, [], target="A")


def test_a_file_is_called_like_its_stem_and_a_captured_catalog_by_its_server(write):
    assert sync.load(str(write("orders.json", [GOOD]))).server == "orders"
    captured = {
        "server": "shop",
        "version": "2",
        "serverInfo": {"name": "s"},
        "instructions": "Hi.",
        "tools": [GOOD],
        "prompts": [],
    }
    catalog = sync.load(str(write("orders.json", captured)))
    assert (catalog.server, catalog.version, catalog.instructions, catalog.prompts, catalog.resources) == (
        "shop",
        "2",
        "Hi.",
        (),
        None,
    )


def test_a_scheme_that_is_none_of_ours_is_refused_with_the_grammar():
    with pytest.raises(InputError):
        sync.load("ftp://example.org/tools.json")
