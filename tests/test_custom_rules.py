"""Rules of a project's own: what the documentation shows works, and nothing but the command line loads them."""

import json
import re
from pathlib import Path

import jsonschema
import pytest
from definitions import FINE, tool
from schemas import SCHEMAS

from tdqs_mcp.rules import registry

DOCUMENTED = Path(__file__).parents[1] / "docs" / "custom-rules.md"


@pytest.fixture
def rules(write):
    """The file of rules that the documentation shows."""
    [code] = re.findall(r"```python\n(.*?)```", DOCUMENTED.read_text(encoding="utf-8"), re.DOTALL)
    return write("house.py", code)


def found(run):
    return [(each["rule"], each["severity"], each["message"]) for each in json.loads(run.stdout)["findings"]]


def test_the_documented_rules_run_beside_ours(command, write, rules):
    file = write("x.json", [FINE, tool("shop_close", None)])
    run = command("lint", file, "--rules", rules, "--select", "ORG,TDQ102", "--format", "json")
    assert found(run) == [
        ("ORG001", "warning", f"{FINE['name']!r} does not begin with shop_"),
        ("TDQ102", "error", "the tool has no description, so every dimension scores 1"),
    ]
    assert "ORG001" in {rule for rule, _, _ in found(command("lint", file, "--rules", rules, "--format", "json"))}


def test_a_module_is_also_found_by_name(command, write, rules, tmp_path):
    write("x.json", [FINE])
    run = command("lint", "x.json", "--rules", "house", "--select", "unprefixed-name", "--format", "json", cwd=tmp_path)
    assert [rule for rule, _, _ in found(run)] == ["ORG001"]


def test_settings_treat_them_like_ours(command, write, rules, tmp_path):
    write("x.json", [FINE])
    write("tdqs.toml", 'select = ["ORG"]\n[severity]\nORG001 = "info"\n[limits]\ncrowded-server = 0')
    run = command("lint", "x.json", "--rules", rules, "--format", "json", cwd=tmp_path)
    assert [each[:2] for each in found(run)] == [("ORG002", "error"), ("ORG001", "info")]
    write("tdqs.toml", 'select = ["ORG"]\n[severity]\nORG002 = "off"\n[[suppress]]\nrule = "ORG"\nreason = "later"')
    document = json.loads(command("lint", "x.json", "--rules", rules, "--format", "json", cwd=tmp_path).stdout)
    assert (document["findings"], [each["finding"]["rule"] for each in document["suppressed"]]) == ([], ["ORG001"])
    run = command("lint", "x.json", cwd=tmp_path)
    assert (run.returncode, b"no rule and no lane 'ORG'" in run.stderr) == (2, True)


@pytest.mark.parametrize("form", ["text", "markdown", "sarif", "junit", "github"])
def test_every_format_takes_them(command, write, rules, form):
    run = command("lint", write("x.json", [FINE]), "--rules", rules, "--select", "ORG", "--format", form)
    assert (run.returncode, b"ORG001" in run.stdout, run.stderr) == (0, True, b"")


def test_the_list_of_rules_has_them(command, rules):
    document = json.loads(command("rules", "--rules", rules, "--format", "json").stdout)
    jsonschema.validate(document, SCHEMAS["rules"])
    own = [each for each in document["rules"] if each["id"].startswith("ORG")]
    assert [(each["id"], each["lane"], each["limit"]) for each in own] == [
        ("ORG001", "Custom rules", None),
        ("ORG002", "Custom rules", 30),
    ]
    assert own[0]["summary"] == "The tool's name does not begin with shop_."


def test_the_list_of_rules_is_complete(command):
    document = json.loads(command("rules", "--format", "json").stdout)
    assert [each["id"] for each in document["rules"]] == [rule.id for rule in registry.RULES]
    text = command("rules", "TDQ4", "costly-tool").stdout.decode()
    assert "costly-tool (info): The definition alone takes more than 800 tokens" in text
    assert "TDQ102" not in text
    assert command("rules", "TDQ9").returncode == 2


HEAD = "from tdqs_mcp.results.findings import Severity\nfrom tdqs_mcp.rules.rule import Hit, rule\n"
HEAD += "from tdqs_mcp.facts.subject import Subject\n"


def one(rule_id, name, body="yield Hit('', 'x')"):
    return f"{HEAD}@rule({rule_id!r}, severity=Severity.ERROR, source='x')\ndef {name}(subject: Subject):\n    {body}\n"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("1 / 0", "cannot be imported (ZeroDivisionError: division by zero)"),
        ("exit(3)", "cannot be imported (SystemExit: 3)"),
        ("x = 1", "has no rule; write @rule("),
        (one("TDQ999", "mine"), "the id 'TDQ999' must be capitals, not TDQ, and three digits"),
        (one("Org1", "mine"), "the id 'Org1' must be capitals"),
        (one("ORG001", "missing_description"), "'missing-description' of ORG001 means TDQ102 already"),
        (one("ORG001", "mine", "1 / 0"), "ORG001 of "),
        (one("ORG001", "mine", "1 / 0"), "failed (ZeroDivisionError: division by zero)"),
    ],
)
def test_a_mistake_in_a_module_is_said_in_one_line(command, write, code, said):
    run = command("lint", write("x.json", [FINE]), "--rules", write("mine.py", code))
    assert (run.returncode, run.stderr.count(b"\n"), said in run.stderr.decode()) == (2, 1, True), run.stderr


def test_only_the_command_line_loads_them(command, write, rules, tmp_path):
    write("x.json", [FINE])
    write("tdqs.toml", 'rules = "house.py"')
    run = command("lint", "x.json", cwd=tmp_path)
    assert (run.returncode, b"there is no key 'rules'" in run.stderr) == (2, True)
    assert command("serve", "--rules", rules).returncode == 2
