"""Which rules run: by word, lane and profile; and one defect is charged once."""

import json
from dataclasses import replace

import pytest
from definitions import flat, tool
from tdqs import lint_server
from tdqs.parse_tool_definitions import parse_tool_definitions

from tdqs_mcp.app import judging, linting
from tdqs_mcp.app.linting import Policy
from tdqs_mcp.errors import InputError, UnknownIdError
from tdqs_mcp.facts.subject import measure
from tdqs_mcp.results.findings import Confidence, Persona, Severity
from tdqs_mcp.rules import registry
from tdqs_mcp.rules.rule import PROFILES
from tdqs_mcp.sources.files import read_catalog

ALL = {rule.id for rule in registry.RULES}
UNCERTAIN = {rule.id for rule in registry.RULES if rule.confidence is Confidence.LOW or rule.persona is Persona.AUDITOR}
DEAR = tool("make", "Make.", flat(8))
CHEAP = tool("made", "Make it.", flat(1))
SILENT = tool("silent", None)

OF_DIRECTORIES = {rule.id for rule in registry.RULES if rule.persona == "reviewer"}


def rules(**words):
    return set(registry.select(**words).rules)


def findings(*definitions, **words):
    catalog = read_catalog({"tools": list(definitions)}, name="x")
    return linting.lint(catalog, Policy(selection=registry.select(**words)))


# Words


def test_by_default_every_certain_rule_runs_and_none_for_auditors():
    assert UNCERTAIN
    assert rules() == ALL - UNCERTAIN - OF_DIRECTORIES


@pytest.mark.parametrize("word", ["TDQ102", "tdq102", "missing-description", "no-description", "tool-no-description"])
def test_a_rule_is_selected_and_ignored_by_id_name_and_alias(word):
    assert rules(names=[word]) == {"TDQ102"}
    assert "TDQ102" in rules()
    assert "TDQ102" not in rules(ignored=[word])


@pytest.mark.parametrize("word", ["TDQ2", "tdq2", "TDQ20"])
def test_a_lane_is_every_rule_whose_id_begins_with_it(word):
    assert rules(names=[word], profile="strict") >= {"TDQ201", "TDQ202"}
    assert all(each.startswith("TDQ2") for each in rules(names=[word], profile="strict"))


def test_a_lane_of_aliases_is_every_rule_that_has_one():
    assert rules(names=["DESC"], profile="strict") == {
        rule.id for rule in registry.RULES if any(alias.startswith("DESC-") for alias in rule.all_aliases)
    }
    assert registry.find("DESC-003").id in rules(names=["DESC-0"], profile="strict")


def test_a_lane_runs_all_its_rules_and_of_a_named_profile_those_that_it_has():
    shadow = registry.find("shadow-candidate")
    assert shadow.id in UNCERTAIN
    assert rules(names=["TDQ3"]) == {each for each in ALL if each.startswith("TDQ3")} > {shadow.id}
    assert rules(names=["DESC"]) == rules(profile="mcptest")
    assert rules(names=["TDQ2"], profile="mcptest") == {registry.find("DESC-011").id}
    assert rules(names=[shadow.id]) == rules(names=[shadow.name], profile="mcptest") == {shadow.id}


CHECKS = [check for rule in registry.RULES for check in (rule, *rule.variants)]


def test_all_means_every_rule_in_every_list():
    assert rules(names=["ALL"]) == rules(names=["all"]) == ALL
    assert rules(names=["TDQ101"], ignored=["ALL"]) == {"TDQ101"}
    assert set(registry.select(severities={"ALL": Severity.INFO}).severities) == ALL
    assert rules(severities={"ALL": None, "TDQ101": Severity.ERROR}) == {"TDQ101"}


def test_a_severity_of_none_turns_rules_off_unless_they_are_named():
    assert not any(each.startswith("TDQ1") for each in rules(severities={"TDQ1": None}))
    assert "TDQ102" in rules(severities={"TDQ1": None, "missing-description": Severity.ERROR})
    assert rules(names=["TDQ102", "TDQ10"], severities={"TDQ1": None}) == {"TDQ102"}


def test_of_two_severities_the_narrower_one_counts():
    chosen = registry.select(severities={"TDQ102": Severity.WARNING, "TDQ10": Severity.ERROR, "TDQ1": Severity.INFO})
    assert [chosen.severities[each] for each in ("TDQ102", "TDQ104", "TDQ111")] == ["warning", "error", "info"]


def test_what_is_ignored_is_out_unless_only_its_lane_is():
    assert rules(names=["TDQ1"], ignored=["TDQ101"]) == {each for each in rules(names=["TDQ1"]) if each != "TDQ101"}
    assert rules(names=["TDQ101", "TDQ2"], ignored=["TDQ1"]) == {"TDQ101", *rules(names=["TDQ2"])}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"names": ["TDQ999"]}, "'TDQ999'; did you mean TDQ"),
        ({"ignored": ["missing-anotations"]}, "'missing-anotations'; did you mean missing-annotations"),
        ({"names": [""]}, "''"),
        ({"names": ["TDQ1 "]}, "'TDQ1 '"),
        ({"names": ["missing"]}, "'missing'"),
        ({"profile": "glamma"}, "'glamma'; did you mean glama?; there are strict, glama,"),
    ],
)
def test_an_unknown_word_is_refused_and_the_nearest_are_named(words, said):
    with pytest.raises(UnknownIdError) as caught:
        registry.select(**words)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "words",
    [
        {"names": ["TDQ101"], "ignored": ["TDQ101"]},
        {"names": ["TDQ6"], "profile": "glama"},
        {"severities": {"ALL": None}},
    ],
)
def test_a_choice_that_leaves_no_rule_is_refused(words):
    with pytest.raises(InputError, match="no rule is left"):
        registry.select(**words)


# Profiles


def test_strict_is_every_rule_but_those_that_only_a_directory_or_another_linter_asks_for():
    of_linters = {
        f"TDQ{number}"
        for number in "103 113 114 116 117 119 120 121 122 130 140 141 142 214 217 603 604 605 606 609".split()
    }
    others = (rules(profile=name) for name in ("glama", "mcptest", "playground", "smells"))
    assert of_linters <= set().union(*others)
    assert rules(profile="strict") == ALL - OF_DIRECTORIES - of_linters
    assert {"TDQ720", "TDQ721"} == OF_DIRECTORIES


def test_the_six_smells_are_a_profile():
    words = [alias for rule in registry.RULES for alias in rule.all_aliases if alias.startswith("smell:")]
    assert len(rules(profile="smells")) == 6
    assert rules(profile="smells") < {registry.find(word).id for word in words}


def test_glama_is_its_six_rules_with_its_severities():
    words = ["no-description", "tautological-description", "TDQ106", "undocumented-parameters"]
    words += ["TDQ145", "shadow-candidate"]
    assert rules(profile="glama") == {registry.find(word).id for word in words}
    assert registry.select(profile="glama").severities == dict(
        zip(
            [check.id for word in words for check in CHECKS if word in (check.id, *check.aliases)],
            [Severity(word) for word in ("error", "error", "warning", "warning", "info", "warning")],
            strict=True,
        )
    )


def test_glama_finds_all_but_parameters_and_shadows_where_the_oracle_does(catalog_files):
    exact = ["no-description", "tautological-description", "missing-annotations", "no-output-schema"]
    for path in catalog_files:
        content = json.loads(path.read_bytes())
        theirs = lint_server(server_name="x", tools=parse_tool_definitions(content).tools)
        ours = linting.lint(read_catalog(content, name="x"), Policy(selection=registry.select(profile="glama")))
        for word in exact:
            mine = [each for each in ours.findings if each.rule == registry.find(word).id]
            expected = [each for each in theirs.findings if each.rule == word]
            assert sorted(each.subject.name for each in mine) == sorted(each.tool for each in expected)
            assert {each.severity for each in mine} == {each.severity for each in expected}


@pytest.mark.parametrize("name", PROFILES)
def test_every_profile_runs_and_says_what_it_is(name):
    assert rules(profile=name) <= ALL
    assert PROFILES[name].summary


def test_a_foreign_profile_reports_at_the_severity_of_its_source():
    restated = tool("do_it", "tool-description-is-name")
    restated["description"] = "do it"
    own = findings(restated, names=["tool-description-is-name"]).findings
    foreign = findings(restated, profile="playground").findings
    word = "tool-description-is-name"
    [variant] = [variant for variant in registry.find(word).variants if word in variant.aliases]
    assert [finding.severity for finding in own if word in finding.aliases] == [variant.severity]
    assert [each.severity for each in foreign if word in each.aliases] == [Severity.WARNING]


@pytest.mark.parametrize("word", ["tool-short-description", "TDQ127", "terse-description"])
def test_a_word_of_a_variant_runs_the_variant_under_the_id_of_its_rule(word):
    terse, brief = tool("ring", "Rings."), tool("ring", "Rings one bell.")
    assert [finding.rule for finding in findings(terse, names=[word]).findings] == ["TDQ113"]
    assert findings(brief, names=[word]).findings == ()
    assert [finding.rule for finding in findings(brief, names=["TDQ113"]).findings] == ["TDQ113"]
    assert len(findings(terse, names=[word, "TDQ113"]).findings) == 1


def test_what_ignores_a_variant_leaves_its_rule_and_what_ignores_the_rule_takes_both():
    assert "TDQ101" in rules(ignored=["DESC"])
    assert "TDQ101" in rules(ignored=["tool-description-is-name"])
    assert "TDQ101" in rules(severities={"DESC-003": None})
    assert "TDQ101" not in rules(profile="playground", ignored=["tool-description-is-name"])
    assert "TDQ101" not in rules(profile="playground", ignored=["TDQ101"])
    assert "TDQ101" not in rules(profile="playground", severities={"TDQ101": None})


def test_a_variant_keeps_the_limit_of_its_source():
    with pytest.raises(InputError, match="'TDQ127' keeps the limit of its source; set the limit of TDQ113"):
        registry.select(limits={"TDQ127": 5})


def test_a_milder_case_stays_milder_whatever_severity_is_set():
    schema = {"type": "object", "properties": {name: {"description": "Its name."} for name in "abc"} | {"d": {}}}
    mild = tool("list_orders", "Lists orders.", schema)
    for worst, said in (("error", "info"), ("info", "info")):
        severities = {"TDQ108": Severity(worst)}
        assert [each.severity for each in findings(mild, names=["TDQ108"], severities=severities).findings] == [said]
    bad = tool("list_orders", "Lists orders.", flat(2))
    severities = {"undocumented-parameters": Severity.ERROR}
    assert [each.severity for each in findings(bad, names=["TDQ108"], severities=severities).findings] == ["error"]


# Hidden


def test_hidden_findings_are_counted_and_strict_shows_them():
    default, strict = findings(DEAR, CHEAP), findings(DEAR, CHEAP, profile="strict")
    uncertain = [each for each in strict.findings if each.confidence is Confidence.LOW]
    assert default.hidden == len([each for each in uncertain if each.persona is Persona.AUTHOR]) > 0
    assert not any(each.confidence is Confidence.LOW for each in default.findings)
    assert strict.hidden == 0
    assert findings(DEAR, CHEAP, profile="glama").hidden == 0
    assert findings(DEAR, CHEAP, ignored=["shadow-candidate"]).hidden == default.hidden - 1
    assert findings(DEAR, CHEAP, names=["TDQ1", "TDQ3"]).hidden == 0


# One defect, charged once


def entailing(**entails):
    """The selection of a table in which rules entail others."""
    table = [replace(rule, entails=entails.get(rule.id, ())) for rule in registry.RULES]
    return registry.select(table=table, profile="strict")


def reported(measured, chosen):
    return {(each.subject.name, each.rule) for each in registry.check(measured, chosen)}


def test_a_finding_that_another_on_the_same_part_entails_is_left_out():
    measured = measure(read_catalog({"tools": [SILENT, DEAR]}, name="x"))
    before = reported(measured, entailing())
    assert {("silent", "TDQ102"), ("silent", "TDQ106")} <= before
    assert reported(measured, entailing(TDQ102=["TDQ106"])) == before - {("silent", "TDQ106")}


def test_what_several_tools_share_is_one_finding_unless_rules_are_named():
    catalog = read_catalog({"tools": [{"name": name, "description": "Lists."} for name in ("a", "b")]}, name="x")
    [finding] = [each for each in linting.lint(catalog).findings if each.rule == "TDQ106"]
    assert (finding.subject.kind, finding.message) == ("server", "2 of 2 tools declare no hint: a, b")
    for selection in (registry.select(names=["TDQ106"]), registry.select(profile="glama")):
        found = linting.lint(catalog, Policy(selection=selection)).findings
        assert [each.subject.name for each in found if each.rule == "TDQ106"] == ["a", "b"]
    assert [each.subject.name for each in judging.score_offline(catalog).findings if each.rule == "TDQ106"] == [
        "a",
        "b",
    ]


def test_entailment_reaches_through_rules_that_did_not_fire_and_ends_in_circles():
    measured = measure(read_catalog({"tools": [SILENT]}, name="x"))
    before = reported(measured, entailing())
    assert ("silent", "TDQ101") not in before
    assert reported(measured, entailing(TDQ102=["TDQ101"], TDQ101=["TDQ109", "TDQ102"])) == before - {
        ("silent", "TDQ109")
    }


def test_what_does_not_run_entails_nothing():
    table = [replace(rule, entails=("TDQ106",) if rule.id == "TDQ102" else ()) for rule in registry.RULES]
    measured = measure(read_catalog({"tools": [SILENT]}, name="x"))
    chosen = registry.select(table=table, ignored=["TDQ102"])
    assert ("silent", "TDQ106") in reported(measured, chosen)


def test_a_foreign_profile_counts_as_its_source_counts():
    table = [replace(rule, entails=("TDQ106",) if rule.id == "TDQ102" else ()) for rule in registry.RULES]
    measured = measure(read_catalog({"tools": [SILENT]}, name="x"))
    assert ("silent", "TDQ106") in reported(measured, registry.select(table=table, profile="glama"))


def test_rules_entail_only_rules_that_exist_and_never_each_other():
    closure = registry.entailments(registry.RULES)
    assert {each for rule in registry.RULES for each in rule.entails} <= ALL | {registry.ALL}
    assert {reached for every in closure.values() for reached in every} <= ALL
    assert [each for each, reached in closure.items() if any(each in closure.get(other, ()) for other in reached)] == []


# The command line


def test_the_command_line_takes_several_words_and_commas(command, write):
    file = write("x.json", [SILENT])
    run = command("lint", file, "--select", "TDQ102,TDQ106", "--select", "TDQ109", "--format", "json")
    assert {each["rule"] for each in json.loads(run.stdout)["findings"]} == {"TDQ102", "TDQ106", "TDQ109"}
    run = command("lint", file, "--profile", "glama", "--ignore", "TDQ102", "--format", "json")
    assert {each["rule"] for each in json.loads(run.stdout)["findings"]} == {"TDQ106", "TDQ109"}
    assert run.returncode == 0


def test_an_unknown_word_on_the_command_line_is_exit_2(command, write):
    run = command("lint", write("x.json", [SILENT]), "--select", "missing-anotations")
    assert (run.returncode, run.stdout) == (2, b"")
    assert run.stderr.startswith(b"error: there is no rule and no lane 'missing-anotations'; did you mean ")


def test_text_says_how_many_findings_are_hidden(command, write):
    lines = command("lint", write("x.json", [DEAR, CHEAP])).stdout.decode().splitlines()
    hidden = findings(DEAR, CHEAP).hidden
    noun = "finding" if hidden == 1 else "findings"
    said = f"not counted: {hidden} low-confidence {noun}, and rules for auditors, which did not run"
    assert f"{said}; --profile strict shows all" in lines
    assert lines[-1].startswith("Next: ")


def test_a_suppressed_finding_is_not_counted_as_hidden(command, write, tmp_path):
    file = write("x.json", [DEAR, CHEAP])
    write("tdqs.toml", '[[suppress]]\nrule = "TDQ301"\nreason = "the cheap tool is the usual one"')
    assert findings(DEAR, CHEAP).hidden == 1
    assert b"not counted" not in command("lint", file, cwd=tmp_path).stdout


# Directories


@pytest.mark.parametrize(
    ("profile", "annotations", "paths"),
    [
        ("openai-apps", None, ["readOnlyHint", "destructiveHint", "openWorldHint"]),
        ("openai-apps", {"readOnlyHint": True, "openWorldHint": "no"}, ["destructiveHint", "openWorldHint"]),
        ("openai-apps", {"readOnlyHint": True, "destructiveHint": False, "openWorldHint": False}, []),
        ("anthropic-directory", None, ["title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"]),
        ("anthropic-directory", {"title": "List x", "readOnlyHint": True, "openWorldHint": True}, []),
        ("anthropic-directory", {"title": "List x", "readOnlyHint": False, "openWorldHint": True}, ["destructiveHint", "idempotentHint"]),
    ],
)  # fmt: skip
def test_a_directory_s_profile_asks_for_each_hint(profile, annotations, paths):
    listing = tool("list_x", "Lists x.")
    if annotations is not None:
        listing["annotations"] = annotations
    report = findings(listing, profile=profile)
    assert [each.path.rpartition("/")[2] for each in report.findings if "is not declared" in each.message or "has no title" in each.message] == paths  # fmt: skip
    assert {each.severity for each in report.findings if each.rule in ("TDQ720", "TDQ721")} <= {Severity.ERROR}


def test_a_server_without_a_tool_that_is_named_says_so(command, write):
    files = write("x.json", [SILENT]), write("y.json", [DEAR | {"name": "other"}])
    run = command("lint", *files, "--tool", "other")
    assert b"PASS: --tool names no tool of this server" in run.stdout
