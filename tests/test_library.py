"""The library's public names."""

import pytest

import tdqs_mcp


@pytest.mark.parametrize("name", tdqs_mcp.__all__)
def test_every_public_name_is_there(name):
    """They are looked up by the path of their module when they are first used, which no type checker sees."""
    assert getattr(tdqs_mcp, name)
