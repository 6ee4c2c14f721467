"""Canonical JSON is what a JavaScript engine writes."""

import json
import shutil
import subprocess

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tdqs_mcp.canonical import (
    MAX_NESTING,
    canonical_json,
    canonical_members,
    is_well_formed,
    pretty_json,
    replace_surrogates,
    round_half_up,
    short_hash,
    trim,
    twice_median,
    utf16_length,
    utf16_order,
)
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


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *(
            (None, "null"),
            (True, "true"),
            (False, "false"),
            (0, "0"),
            (-0.0, "0"),
            (-7, "-7"),
            (1.0, "1"),
            (-12.5, "-12.5"),
        ),
        *(
            (0.1, "0.1"),
            (1e-6, "0.000001"),
            (1.5e-6, "0.0000015"),
            (1e-7, "1e-7"),
            (1.25e-7, "1.25e-7"),
            (5e-324, "5e-324"),
        ),
        *((1e20, "100000000000000000000"), (123456789012345680000.0, "123456789012345680000"), (1e21, "1e+21")),
        *((1.5e300, "1.5e+300"), (-1e21, "-1e+21"), (float("inf"), "null"), (float("nan"), "null"), (10**400, "null")),
        *((2**53, "9007199254740992"), (-(2**53), "-9007199254740992"), (2**53 + 1, "9007199254740992")),
        *((2**53 + 4, "9007199254740996"), (2**60, "1152921504606847000"), (123456.789, "123456.789")),
        *(('a"b\\c\n\x01\x7f\u2028é', '"a\\"b\\\\c\\n\\u0001\x7f\u2028é"'), ("x\ud800é", '"x\\ud800é"')),
        ([1, (2, "x"), [], {}], '[1,[2,"x"],[],{}]'),
        ({"b": 1, "a": {"d": 2, "c": 3}}, '{"a":{"c":3,"d":2},"b":1}'),
        ({"\ue000": 1, "😀": 2, "z": 3, "Z": 4, "": 5}, '{"":5,"Z":4,"z":3,"😀":2,"\ue000":1}'),
    ],
)
def test_a_value_has_one_text(value, text):
    """As Node writes it; the tests above compare with Node itself."""
    assert canonical_json(value) == text
    if isinstance(value, dict):
        assert "{" + ",".join(canonical_members(value).values()) + "}" == text
        assert list(canonical_members(value)) == sorted(value, key=utf16_order)


def test_a_pretty_text_keeps_the_author_s_order_behind_numbers():
    value = {"10": [], "b": [1, {"c": "\udfff"}], "9": {}, "4294967295": None, "4294967294": 0, "01": [[2]]}
    assert pretty_json(value) == (
        '{\n  "9": {},\n  "10": [],\n  "4294967294": 0,\n  "b": [\n    1,\n    {\n      "c": "\\udfff"\n    }\n  ],\n'
        '  "4294967295": null,\n  "01": [\n    [\n      2\n    ]\n  ]\n}'
    )


def test_what_is_no_json_has_no_text():
    with pytest.raises(TypeError, match="set is not a JSON value"):
        canonical_json([set()])


def test_halves_of_pairs_are_hashed_ordered_found_and_replaced():
    assert short_hash("") == "e3b0c44298fc1c14"
    assert len({short_hash("\ud800"), short_hash("\ud801"), short_hash("?")}) == 3
    assert utf16_order("😀") < utf16_order("\ue000")
    assert [is_well_formed(text) for text in ("a", "😀é", "é\udc00")] == [True, True, False]
    assert [replace_surrogates(text) for text in ("a", "😀", "é\udc00b")] == ["a", "😀", "é\ufffdb"]


def test_twice_the_median_is_an_integer():
    assert [twice_median(scores) for scores in ([3], [4, 1], [5, 1, 2], [4, 3, 1, 2])] == [6, 5, 4, 5]


def test_lengths_count_utf16_units_and_trim_removes_what_javascript_trims():
    assert utf16_length("a😀") == 3
    assert trim("\ufeff\u00a0 x\x1c ") == "x\x1c"


@pytest.mark.parametrize(
    ("numerator", "denominator", "tenths"), [(285, 100, 29), (2849, 1000, 28), (0, 7, 0), (5, 1, 50), (284, 100, 28)]
)
def test_ties_round_upward(numerator, denominator, tenths):
    assert round_half_up(numerator, denominator) == tenths


@pytest.mark.parametrize("denominator", [0, -1])
def test_a_denominator_must_be_positive(denominator):
    with pytest.raises(ValueError, match=f"denominator {denominator} is below 1"):
        round_half_up(1, denominator)


@pytest.mark.parametrize("write", [canonical_json, pretty_json, lambda value: canonical_members({"a": value[0]})])
def test_nesting_beyond_the_limit_is_refused_not_overflown(write):
    value = {"end": []}
    for _ in range(MAX_NESTING - 2):
        value = [value]
    write(value)
    with pytest.raises(UnmeasurableError, match=f"nests deeper than {MAX_NESTING} levels"):
        write([value])
    with pytest.raises(UnmeasurableError, match="nests deeper"):
        write([[[value]]])
