"""A pattern is tried only on a text that has a word of it; nothing that the pattern matches lacks them all."""

import re

from definitions import tool
from hypothesis import given, strategies

from tdqs_mcp.app import linting
from tdqs_mcp.facts.lexicon import expand, read_table
from tdqs_mcp.facts.subject import measure
from tdqs_mcp.sources.files import read_catalog


def matches_of(table, key):
    pattern = re.compile(expand(table, read_table(table)["patterns"][key]))
    return strategies.from_regex(pattern, fullmatch=True, alphabet=strategies.characters(codec="ascii"))


def described(text):
    schema = {"type": "object", "properties": {"note": {"type": "string", "description": text}}, "required": ["note"]}
    return read_catalog([tool("convert", "Converts a note.", schema)], name="x")


@given(matches_of("parameters", "packed"))
def test_whatever_asks_for_json_or_a_list_inside_a_string_is_found(text):
    messages = [finding.message for finding in linting.lint(described(text)).findings if finding.rule == "TDQ135"]
    assert messages == [f"'note': the text asks for {text!r} inside a string"]


@given(matches_of("hints", "destination"))
def test_whatever_says_where_a_call_writes_to_is_a_claim_of_a_change(text):
    [subject] = measure(described(text)).subjects
    assert any(claim.evidence == "'note' is a place to write to" for claim in subject.effect_claims)
