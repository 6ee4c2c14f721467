"""Canonical JSON is what a JavaScript engine writes."""

import json
import shutil
import subprocess

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tdqs_mcp.canonical import MAX_NESTING, canonical_json, pretty_json, round_half_up, trim, utf16_length
from tdqs_mcp.errors import UnmeasurableError

NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**70), 2**70)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text() | st.integers(0, 2**33).map(str), children),
)


@pytest.fixture(scope="module")
def javascript():
    """Run an expression over a parsed JSON `value` in Node."""
    node = shutil.which("node")
    if not node:
        pytest.skip("Node is not on PATH")

    def evaluate(expression, value):
        program = f"const value = JSON.parse(require('fs').readFileSync(0, 'utf8')); process.stdout.write({expression})"
        run = subprocess.run([node, "-e", program], input=json.dumps(value).encode(), capture_output=True, check=True)
        return run.stdout.decode("utf-8")

    return evaluate


@settings(max_examples=25)
@given(VALUES)
@example(
    [
        1.0,
        1e21,
        1e-7,
        123e-20,
        5e-324,
        -0.0,
        2**53 + 1,
        2**60,
        10**400,
        1e20,
        0.1,
        "\ud800",
        "\u2028",
        {"10": 1, "9": 2, "b": 3, "a": 4},
    ]
)
@pytest.mark.process
def test_pretty_json_is_what_node_writes(javascript, value):
    assert pretty_json(value) == javascript("JSON.stringify(value, null, 2)", value)


@settings(max_examples=25)
@given(VALUES)
@example({"\ue000": 1, "😀": 2, "z": 3, "Z": 4, "": 5})
@pytest.mark.process
def test_canonical_json_sorts_keys_as_node_does(javascript, value):
    sorted_by_node = javascript(
        "(function write(v) { return Array.isArray(v) ? '[' + v.map(write).join(',') + ']'"
        " : v && typeof v === 'object' ? '{' + Object.keys(v).sort().map(k => JSON.stringify(k) + ':' + write(v[k])).join(',') + '}'"
        " : JSON.stringify(v) })(value)",
        value,
    )
    assert canonical_json(value) == sorted_by_node


def test_lengths_count_utf16_units_and_trim_removes_what_javascript_trims():
    assert utf16_length("a😀") == 3
    assert trim("\ufeff\u00a0 x\x1c ") == "x\x1c"


def test_ties_round_upward_and_a_denominator_must_be_positive():
    assert [round_half_up(285, 100), round_half_up(2849, 1000), round_half_up(0, 7)] == [29, 28, 0]
    with pytest.raises(ValueError, match="denominator 0"):
        round_half_up(1, 0)


def test_nesting_beyond_the_limit_is_refused_not_overflown():
    value = []
    for _ in range(MAX_NESTING + 1):
        value = [value]
    with pytest.raises(UnmeasurableError, match="nests deeper"):
        canonical_json(value)
