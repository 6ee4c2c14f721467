"""What a project decides about its findings: the nearest file, the environment, flags, and suppressions."""

import json
import os
import re
from pathlib import Path

import pytest
from definitions import flat, tool

DOCUMENTED = Path(__file__).parents[1] / "docs" / "linting.md"
SILENT = tool("old_silent", None, flat(2))
POOR = tool("list_orders", "Lists orders.")


@pytest.fixture
def lint(command, write, tmp_path):
    """Lint the catalog of a project with a configuration; gives back the process and its JSON."""
    write("shop.json", [SILENT, POOR])

    def run(configuration=None, *flags, name="tdqs.toml", folder="", environ=None, locators=("shop.json",)):
        if configuration is not None:
            write(name, configuration)
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        paths = [tmp_path / locator for locator in locators]
        done = command(
            "lint", *paths, *flags, "--format", "json", cwd=tmp_path / folder, env=os.environ | (environ or {})
        )
        return done, json.loads(done.stdout) if done.stdout else None

    return run


def rules(document):
    return {each["rule"] for each in document["findings"]}


# Where it stands


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tdqs.toml", 'select = ["TDQ102"]'),
        ("pyproject.toml", '[project]\nname = "x"\n[tool.tdqs]\nselect = ["TDQ102"]'),
    ],
)
@pytest.mark.parametrize("folder", ["", "a/b"])
def test_the_nearest_file_upward_is_read(lint, name, text, folder):
    assert rules(lint(text, name=name, folder=folder)[1]) == {"TDQ102"}


def test_our_own_file_comes_before_pyproject_and_a_nearer_one_before_both(lint, write, tmp_path):
    write("pyproject.toml", '[tool.tdqs]\nselect = ["TDQ106"]')
    assert rules(lint('select = ["TDQ102"]')[1]) == {"TDQ102"}
    (tmp_path / "a").mkdir()
    write("a/pyproject.toml", '[tool.tdqs]\nselect = ["TDQ109"]')
    write("a/shop.json", (tmp_path / "shop.json").read_bytes())
    assert rules(lint(folder="a")[1]) == {"TDQ102"}
    assert rules(lint(locators=["a/shop.json"])[1]) == {"TDQ109"}
    write("a/pyproject.toml", "[tool.other]\nname = 'tdqs'")
    assert rules(lint(folder="a")[1]) == {"TDQ102"}


def test_flags_come_before_the_environment_before_the_file(lint):
    file = 'profile = "glama"\nselect = ["TDQ102"]\nfail-on = "never"'
    assert lint(file)[0].returncode == 0
    variable = {"TDQS_SELECT": "TDQ106, TDQ109", "TDQS_FAIL_ON": "warning"}
    run, document = lint(file, environ=variable)
    assert (run.returncode, rules(document)) == (1, {"TDQ106", "TDQ109"})
    run, document = lint(file, "--select", "TDQ109", "--fail-on", "error", environ=variable)
    assert (run.returncode, rules(document)) == (0, {"TDQ109"})
    assert "TDQ102" not in rules(lint(file, "--ignore", "TDQ102", "--select", "TDQ1")[1])
    assert "TDQ105" in rules(lint('profile = "glama"', environ={"TDQS_PROFILE": "strict"})[1])
    assert "TDQ105" not in rules(lint('profile = "glama"')[1])
    assert "TDQ106" not in rules(lint("", environ={"TDQS_IGNORE": "TDQ106"})[1])


def test_what_a_flag_selects_by_name_no_file_ignores(lint):
    assert rules(lint('ignore = ["TDQ102"]', "--select", "TDQ102")[1]) == {"TDQ102"}
    assert "TDQ102" not in rules(lint('ignore = ["TDQ102"]', "--select", "TDQ1")[1])


def test_a_severity_can_be_set_by_rule(lint):
    run, document = lint('[severity]\nno-output-schema = "error"\nTDQ102 = "info"')
    severities = {each["rule"]: each["severity"] for each in document["findings"]}
    assert (severities["TDQ109"], severities["TDQ102"], run.returncode) == ("error", "info", 1)


def test_a_rule_or_a_lane_can_be_turned_off_and_a_flag_that_names_it_turns_it_on(lint):
    off = '[severity]\nTDQ1 = "off"'
    assert not any(each.startswith("TDQ1") for each in rules(lint(off)[1]))
    assert rules(lint(off, "--select", "TDQ102")[1]) == {"TDQ102"}
    assert "TDQ102" in rules(lint(f'{off}\nTDQ102 = "warning"')[1])


def test_a_limit_can_be_set_by_rule(lint):
    assert "TDQ401" not in rules(lint("")[1])
    document = lint("[limits]\ncostly-tool = 5")[1]
    [message] = [each["message"] for each in document["findings"] if each["rule"] == "TDQ401"]
    assert message.startswith("2 of 2 tools cost more than 5 tokens: ")


# What it extends


def test_a_file_adds_to_the_files_that_it_extends_and_counts_before_them(lint, write, tmp_path):
    (tmp_path / "team").mkdir()
    write("company.toml", 'select = ["TDQ106"]\n[severity]\nTDQ102 = "info"\nTDQ106 = "error"')
    write("team/tdqs.toml", 'extend = "../company.toml"\n[[suppress]]\nrule = "TDQ106"\ntool = "old_*"\nreason = "x"')
    run, document = lint('extend = ["team/tdqs.toml"]\n[severity]\nTDQ106 = "warning"')
    assert (run.returncode, rules(document), len(document["suppressed"])) == (0, {"TDQ106"}, 1)
    assert {each["severity"] for each in document["findings"]} == {"warning"}
    assert rules(lint('extend = "team/tdqs.toml"\nselect = ["TDQ102"]')[1]) == {"TDQ102"}


def test_a_mistake_in_an_extended_file_is_named_with_that_file(lint, write, tmp_path):
    write("company.toml", "[severity]\nTDQ777 = 'info'")
    assert f"{tmp_path / 'company.toml'}: severity" in lint("extend = 'company.toml'")[0].stderr.decode()
    write("company.toml", "extend = 'tdqs.toml'")
    assert "`extend` leads back to" in lint("extend = 'company.toml'")[0].stderr.decode()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ignored = []", "there is no key 'ignored'; did you mean ignore?"),
        ("failon = 'never'", "there is no key 'failon'; did you mean fail-on?"),
        ("select = 'TDQ1'", '`select` must be a list of strings; write select = ["TDQ105"]'),
        ("select = [1]", '`select` must be a list of strings; write select = ["TDQ105"]'),
        ("select = ['TDQ77']", "no rule and no lane 'TDQ77'"),
        ("profile = 'glamma'", "no profile 'glamma'"),
        ("profile = 3", "`profile` must be a string"),
        ("fail-on = 'critical'", "fail-on cannot be 'critical'; give one of error, warning, info, never"),
        ("severity = 3", "`severity` must be a table"),
        ("[severity]\nTDQ101 = 'bad'", "'TDQ101' cannot be 'bad'; give one of error, warning, info, off"),
        ("[severity]\nTDQ777 = 'info'", "no rule and no lane 'TDQ777'"),
        ("suppress = 3", "`suppress` must be a list of tables; write each as [[suppress]]"),
        ("suppress = [3]", "`suppress` must be a list of tables"),
        ("[[suppress]]\nrule = 'TDQ102'", "suppress 1 needs a rule and a reason"),
        ("[[suppress]]\nrule = 'TDQ102'\nreason = ' '", "suppress 1 needs a rule and a reason"),
        ("[[suppress]]\nreason = 'x'", "suppress 1 needs a rule and a reason"),
        ("[[suppress]]\nrule = 'TDQ9'\nreason = 'x'", "suppress 1: there is no rule and no lane 'TDQ9'"),
        ("[[suppress]]\nrule = 'TDQ102'\nreason = 'x'\npath = 1", "suppress 1: `path` must be a string"),
        ("[limits]\nTDQ401 = 'many'", "limits of 'TDQ401' cannot be 'many'; give a whole number"),
        ("[limits]\nTDQ401 = -1", "limits of 'TDQ401' cannot be -1"),
        ("[limits]\nTDQ102 = 1", "limits: TDQ102 missing-description has no limit; these have one: TDQ"),
        ("[limits]\nTDQ1 = 1", "limits: there is no rule 'TDQ1'"),
        ("rules = 'checks.py'", "there is no key 'rules'"),
        ("extend = 1", "`extend` must be a path or a list of paths"),
        ("extend = 'none.toml'", "`extend` names 'none.toml', and there is no such file"),
        ("extend = 'https://example.org/tdqs.toml'", "there is no such file; give the path of a TOML file"),
        ("extend = 'tdqs.toml'", "`extend` leads back to"),
        ("[[suppress]]\nrule = 'TDQ102'\nreason = 'x'\ntools = 'y'", "no key 'tools'; did you mean tool?"),
        ("[[suppress]]\nrule = 'TDQ102'\nreason = 'x'\ntool = 1", "suppress 1: `tool` must be a string"),
        ("judges.a.model = 'm'", "`judges` is not for a project's file"),
        ("[[accept]]\npart = 'coherence'", "`accept` is not for a project's file"),
        ("select = [", "is not valid TOML"),
        (b"select = ['\xff']", "is not valid TOML"),
        ("select = ['TDQ102']\nignore = ['TDQ102']", "no rule is left to run"),
    ],
)
def test_a_mistake_in_the_file_is_named_with_its_place(lint, tmp_path, text, said):
    run, document = lint(text)
    error = run.stderr.decode()
    assert (run.returncode, document) == (2, None)
    assert said in error
    assert (str(tmp_path / "tdqs.toml") in error) == ("no rule is left" not in said)
    assert "Traceback" not in error


def test_our_part_of_pyproject_must_be_a_table(lint):
    run, _ = lint("[tool]\ntdqs = 1", name="pyproject.toml")
    assert (run.returncode, b"`tdqs` must be a table; write [tool.tdqs]" in run.stderr) == (2, True)


def test_a_mistake_in_the_environment_is_said_to_be_there(lint):
    run, _ = lint(environ={"TDQS_SELECT": "TDQ777"})
    assert (run.returncode, b"the environment: there is no rule and no lane 'TDQ777'" in run.stderr) == (2, True)


# Suppressions


def test_suppressed_findings_do_not_count_and_are_listed_with_their_reason(lint):
    run, document = lint('[[suppress]]\nrule = "no-description"\ntool = "old_*"\nreason = "goes in May"')
    assert (run.returncode, "TDQ102" in rules(document), document["unusedSuppressions"]) == (0, False, [])
    assert [(each["finding"]["rule"], each["finding"]["subject"]["name"], each["reason"]) for each in document["suppressed"]] == [("TDQ102", "old_silent", "goes in May")]  # fmt: skip


def test_without_a_pattern_the_whole_server_is_covered_and_with_another_server_nothing(lint):
    entry = '[[suppress]]\nrule = "TDQ106"\nreason = "later"\n'
    assert len(lint(entry)[1]["suppressed"]) == 2
    assert len(lint(f'{entry}server = "sh?p"')[1]["suppressed"]) == 2
    _, document = lint(f'{entry}server = "other"')
    assert (document["suppressed"], document["unusedSuppressions"]) == ([], [])


def test_a_suppression_may_name_a_lane_and_the_path_of_what_it_is_about(lint):
    entry = '[[suppress]]\nrule = "TDQ1"\nreason = "later"\npath = '
    for path, count in (("/annotations", 2), ("/outputSchema", 1), ("/input*", 1), ("/inputSchema/properties/a", 0)):
        _, document = lint(f'{entry}"{path}"')
        assert len(document["suppressed"]) == count
        assert [each["rule"] for each in document["unusedSuppressions"]] == ["TDQ1"] * (not count)


def test_a_suppression_that_matches_nothing_is_reported(lint, command, tmp_path):
    run, document = lint('[[suppress]]\nrule = "TDQ102"\ntool = "gone"\nreason = "x"')
    assert document["unusedSuppressions"] == [
        {"rule": "TDQ102", "tool": "gone", "path": None, "server": None, "reason": "x"}
    ]
    assert run.stderr == b"warning: the suppression of TDQ102 for gone matches nothing: remove it\n"
    text = command("lint", "shop.json", cwd=tmp_path)
    assert "the suppression of TDQ102 for gone matches nothing: remove it" in text.stdout.decode()


def test_a_suppression_of_a_rule_that_did_not_run_is_not_called_unused(lint):
    run, document = lint('[[suppress]]\nrule = "TDQ102"\ntool = "gone"\nreason = "x"', "--select", "TDQ106")
    assert (run.stderr, document["unusedSuppressions"]) == (b"", [])


def test_a_suppression_used_for_one_of_several_servers_is_used(lint, write):
    write("other.json", [POOR])
    entry = '[[suppress]]\nrule = "TDQ102"\nreason = "x"'
    run, documents = lint(entry, locators=("shop.json", "other.json"))
    assert (run.stderr, [each["unusedSuppressions"] for each in documents]) == (b"", [[], []])
    run, documents = lint(entry, locators=("other.json", "other.json"))
    assert run.stderr.count(b"warning: ") == 1
    assert [len(each["unusedSuppressions"]) for each in documents] == [1, 1]


def test_the_findings_of_a_score_obey_the_file_and_its_numbers_do_not(lint, command, write, tmp_path):
    def score():
        return json.loads(command("score", "shop.json", "--format", "json", cwd=tmp_path).stdout)

    write("shop.json", [SILENT, POOR])
    before = score()
    write("tdqs.toml", 'ignore = ["TDQ106"]\n[[suppress]]\nrule = "TDQ102"\nreason = "x"')
    after = score()
    assert rules(before) - rules(after) == {"TDQ102", "TDQ106"}
    assert {key: value for key, value in before.items() if key != "findings"} == {
        key: value for key, value in after.items() if key != "findings"
    }


def test_the_documented_settings_are_valid(lint, write):
    [text] = re.findall(r"```toml\n(.*?)```", DOCUMENTED.read_text(encoding="utf-8"), re.DOTALL)
    write("shared.toml", "")
    run, document = lint(text.replace("../tdqs-shared.toml", "shared.toml"))
    assert (run.returncode, bool(document["findings"])) == (1, True)
    assert not {"TDQ105", "TDQ110", "TDQ401"} & rules(document)
