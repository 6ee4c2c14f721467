"""The rules of other systems under their own ids, in their own order, with their own severities: data alone."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from tdqs_mcp.results.findings import Severity


class System(StrEnum):
    """A published linter whose findings are told exactly."""

    MCPTEST = "mcptest"
    PLAYGROUND = "playground"


_ERROR, _WARNING, _INFO = Severity.ERROR, Severity.WARNING, Severity.INFO

MCPTEST: Mapping[str, Severity] = MappingProxyType(
    {
        "DESC-001": _ERROR,
        "DESC-002": _WARNING,
        "DESC-003": _ERROR,
        "DESC-004": _WARNING,
        "DESC-005": _WARNING,
        "DESC-006": _WARNING,
        "DESC-007": _WARNING,
        "DESC-008": _WARNING,
        "DESC-009": _WARNING,
        "DESC-010": _WARNING,
        "DESC-011": _WARNING,
        "DESC-012": _WARNING,
        "DESC-013": _WARNING,
    }
)
"""mcptest's lint (`doctor --lint-descriptions`); its Critical is our error.

Its page calls 001 and 003 critical and 009 to 013 warnings. Of the others it says nothing; by its own definition
(critical: an agent will likely struggle to use the tool reliably) they are warnings: each leaves the tool usable.
"""

PLAYGROUND: Mapping[str, Severity] = MappingProxyType(
    {
        "tool-no-description": _ERROR,
        "tool-short-description": _WARNING,
        "tool-long-description": _WARNING,
        "tool-description-is-name": _WARNING,
        "tool-no-schema": _WARNING,
        "tool-schema-not-object": _INFO,
        "prop-no-description": _WARNING,
        "prop-no-type": _WARNING,
        "tool-no-required": _INFO,
        "required-not-in-properties": _ERROR,
        "tool-empty-schema": _INFO,
        "tool-name-convention": _INFO,
        "resource-no-name": _WARNING,
        "resource-no-description": _WARNING,
        "resource-no-mimetype": _INFO,
        "prompt-no-description": _ERROR,
        "prompt-arg-no-description": _WARNING,
        "server-empty": _ERROR,
        "server-no-name": _WARNING,
        "server-no-version": _WARNING,
        "server-duplicate-tools": _ERROR,
    }
)
"""MCP Playground's grading methodology, all documented rules."""

SYSTEMS: Mapping[System, Mapping[str, Severity]] = MappingProxyType(
    {System.MCPTEST: MCPTEST, System.PLAYGROUND: PLAYGROUND}
)
