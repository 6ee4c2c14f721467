"""Hypothesis strategies: any JSON, and whatever a server may list as its tools."""

from hypothesis import strategies as st

from tdqs_mcp.model import TOOL_FIELDS

TEXT = st.text(st.characters(), max_size=12)  # surrogates and control characters included
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda children: (
        st.lists(children, max_size=3)
        | st.dictionaries(TEXT, children, max_size=3)
        | st.fixed_dictionaries(
            {},
            optional=dict.fromkeys(
                ("type", "properties", "required", "items", "anyOf", "$ref", "enum", "description"), children
            ),
        )
    ),
    max_leaves=12,
)
TOOLS = st.fixed_dictionaries({}, optional=dict.fromkeys((*TOOL_FIELDS, "_meta"), ANYTHING | TEXT)) | ANYTHING
