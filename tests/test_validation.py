"""Both libraries that validate JSON Schema say the same, so that a machine without a wheel of the fast one sees no other findings."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tdqs_mcp.facts.schema.conformance import check_schema, find_fault, is_expression

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from(["string", "object", "", "^a$", "#/$defs/a", "a b"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "type", "$ref"]), inner, max_size=2)
    ),
    max_leaves=4,
)
KEYWORDS = "type properties required items enum minimum maxLength pattern anyOf not $ref $defs additionalProperties default format"
SCHEMAS = st.dictionaries(st.sampled_from(KEYWORDS.split()), VALUES, max_size=4)


@pytest.fixture(scope="module")
def in_python():
    """Calls a function where jsonschema-rs is not installed."""

    def call(function, *args):
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(sys.modules, "jsonschema_rs", None)
            return outcome(function, *args)

    return call


def outcome(function, *args):
    try:
        return function(*args)
    except ValueError:
        return "refused"


@given(schema=SCHEMAS)
def test_a_schema_breaks_its_meta_schema_in_both_or_in_neither(in_python, schema):
    ours, fallback = outcome(check_schema, schema), in_python(check_schema, schema)
    assert (ours is None) == (fallback is None)
    if ours and len(schema) == 1:
        assert ours.path[:1] == fallback.path[:1]


@given(schema=SCHEMAS, value=VALUES)
def test_a_value_breaks_a_schema_in_both_or_in_neither(in_python, schema, value):
    """What refers to nothing is refused by one of them when it is read, by the other when it is needed."""
    ours, fallback = outcome(find_fault, schema, value), in_python(find_fault, schema, value)
    if "refused" not in (ours, fallback):
        assert (ours is None) == (fallback is None)
    elif "$ref" not in str(schema):
        assert ours == fallback


@pytest.mark.parametrize(
    ("schema", "value", "path"),
    [
        ({"type": "object", "properties": {"a": {"type": "integer"}}}, {"a": "1"}, ("a",)),
        ({"type": "array", "items": {"enum": ["open", "closed"]}}, ["open", "shut"], (1,)),
        ({"required": ["id"]}, {}, ()),
        ({"$defs": {"id": {"minimum": 1}}, "properties": {"id": {"$ref": "#/$defs/id"}}}, {"id": 0}, ("id",)),
        ({"properties": {"a": {"type": "integer"}}}, {"a": 1}, None),
    ],
)
def test_both_name_the_place(in_python, schema, value, path):
    for fault in (find_fault(schema, value), in_python(find_fault, schema, value)):
        assert (fault and fault.path) == path


@pytest.mark.parametrize("schema", [{"$ref": "https://example.com/s.json"}, {"type": "strnig"}])
def test_neither_reads_a_schema_that_lies_elsewhere_or_is_broken(in_python, schema):
    assert (outcome(find_fault, schema, {}), in_python(find_fault, schema, {})) == ("refused", "refused")


@pytest.mark.parametrize(
    ("pattern", "is_valid"),
    [
        ("^[a-z]+$", True),
        (r"^(?<year>\d{4})-\d\d$", True),
        (r"(?<!x)(?<=y)z", True),
        (r"\p{Lu}+", True),
        ("[a-", False),
        ("(", False),
        ("a{2,1}", False),
        ("*", False),
    ],
)
def test_both_know_what_an_expression_is(in_python, pattern, is_valid):
    assert (is_expression(pattern), in_python(is_expression, pattern)) == (is_valid, is_valid)
