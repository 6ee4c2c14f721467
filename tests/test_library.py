"""The library's public names."""

import pytest
from definitions import FINE, LOOKUP

import tdqs_mcp
from tdqs_mcp.pytest_plugin import assert_tool_quality


@pytest.mark.parametrize("name", tdqs_mcp.__all__)
def test_every_public_name_is_there(name):
    """They are looked up by the path of their module when they are first used, which no type checker sees."""
    assert getattr(tdqs_mcp, name)


def test_an_assertion_about_quality_fails_on_a_list_of_tools_that_was_not_read_to_its_end(write):
    whole, part = (
        write(f"{name}.json", {"tools": [FINE, LOOKUP], **more})
        for name, more in (("a", {}), ("b", {"nextCursor": "2"}))
    )
    assert assert_tool_quality(whole).rollup.overall
    with pytest.raises(AssertionError, match="the pages after it are missing"):
        assert_tool_quality(part)
