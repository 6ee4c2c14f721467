"""Descriptions are read in their own language: which it is, what it says, and what it leaves open."""

import tomllib
from pathlib import Path

import pytest
from definitions import tool

import tdqs_mcp
from tdqs_mcp import app
from tdqs_mcp.facts.subject import measure

FOLDER = Path(__file__).parent / "languages"
LANGUAGES = {path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.toml"))}
WRITTEN = {code: entry for code, entry in LANGUAGES.items() if code != "short"}
CUE_RULES = {"TDQ103", "TDQ104", "TDQ107", "TDQ110"}

each_language = pytest.mark.parametrize("code", WRITTEN)


def prose(description, **fields):
    """The facts of one description's text."""
    [subject] = measure(app.read([tool("x", description, **fields)])).subjects
    return subject.prose


def fired(name, description, **fields):
    """The ids of the findings about one definition."""
    return {finding.rule for finding in app.lint(app.read([tool(name, description, **fields)])).findings}


def definitions(kind):
    return [
        pytest.param(*entry, id=f"{code}-{number}")
        for code, data in WRITTEN.items()
        for number, entry in enumerate(data.get(kind, ()))
    ]


@pytest.mark.parametrize(("name", "description"), definitions("good"))
def test_a_definition_that_says_all_gets_no_finding_about_its_words(name, description):
    assert fired(name, description) & CUE_RULES == set()


@pytest.mark.parametrize(("name", "description", "rules"), definitions("bad"))
def test_a_definition_that_says_little_gets_the_findings_that_an_english_one_gets(name, description, rules):
    assert fired(name, description) & CUE_RULES == set(rules.split())
