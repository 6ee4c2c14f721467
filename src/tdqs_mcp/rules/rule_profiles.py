"""Profiles as data: the rules of a project, a directory or another linter, with its severities."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from tdqs_mcp.results.findings import Severity

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


class Profile(NamedTuple):
    """A named selection of rules."""

    summary: str
    rules: Mapping[str, Severity | None] | None = None
    """Ids, names, aliases and lanes with the source's severity, None where it states none; None for every rule.

    A word that no rule answers to asks for something that cannot be checked.
    """

    is_strict: bool = False
    """Also uncertain rules and rules for auditors."""

    is_foreign: bool = False
    """Findings count as in the source: rules that entail each other are all reported."""


DEFAULT = Profile(summary="every rule but the uncertain ones and those for auditors")

PROFILES: Mapping[str, Profile] = MappingProxyType(
    {
        "strict": Profile(summary="every rule, the uncertain ones and those for auditors too", is_strict=True),
        "glama": Profile(
            summary="the six lint rules of Glama's tdqs",
            rules={
                "no-description": _ERROR,
                "tautological-description": _ERROR,
                "missing-annotations": _WARNING,
                "undocumented-parameters": _WARNING,
                "no-output-schema": _INFO,
                "shadow-candidate": _WARNING,
            },
            is_foreign=True,
        ),
        "mcptest": Profile(
            summary="the DESC rules of mcptest; its Critical is an error", rules=MCPTEST, is_foreign=True
        ),
        "playground": Profile(summary="the rules of MCP Playground", rules=PLAYGROUND, is_foreign=True),
        "anthropic-directory": Profile(
            summary="what Anthropic's directory sends back: missing or false annotations, unfit names, instructions to "
            "the agent",
            rules={
                "missing-annotations": _ERROR,
                "non-boolean-hint": _ERROR,
                "contradictory-hints": _ERROR,
                "contradicted-annotation": _ERROR,
                "writing-read-only-tool": None,
                "missing-description": None,
                "unfit-name": None,
                "duplicate-name": None,
                "malformed-definition": None,
                "TDQ5": None,
            },
        ),
    }
)
"""Sources: tdqs 0.1.0 (Glama); mcptest's documentation of its description lint; MCP Playground's page of its rules;
Anthropic's directory guides (support articles 12922490 and 12922832).

A profile chooses rules, which answer in our own words and by our own facts: Glama's undocumented-parameters looks at
the schema alone, the rule under that alias at the description too.
"""
