"""Lanes 3 and 4 between servers that one agent sees together: equal names, equal purposes, tokens of the whole."""

from collections.abc import Iterator

from tdqs_mcp.facts.subject import Measured
from tdqs_mcp.facts.text.words import first_of
from tdqs_mcp.results.findings import Confidence, Severity
from tdqs_mcp.rules.catalog_rules import MAX_NAMED, SHARED
from tdqs_mcp.rules.rule import Hit, rule

SESSION_BUDGET = 20_000
"""Tokens of all servers: a tenth of a window of 200,000, from which Claude Code's tool search (`auto`) defers them."""


@rule("TDQ340", severity=Severity.WARNING, source="MCP 2026-07-28, Tools, Tool Names")
def shared_names(measured: Measured) -> Iterator[Hit]:
    """Another server that the same agent sees has tools with the same names; without prefixes, one hides the other."""
    for neighbor in measured.neighbors:
        names = neighbor.shared_names
        if names:
            taken = "1 name is" if len(names) == 1 else f"{len(names)} names are"
            yield Hit(
                "",
                f"{taken} also used by {neighbor.server!r}: {first_of(names, MAX_NAMED)}",
                "use a client that prefixes names, or put the server's subject into each name",
            )


@rule("TDQ341", severity=Severity.INFO, confidence=Confidence.MEDIUM, source="TDQS, coherence: disambiguation")
def neighboring_purpose(measured: Measured) -> Iterator[Hit]:
    """A tool of another server that the same agent sees says the same, so the agent cannot choose between them."""
    tools = {subject.tool.name: subject.tool for subject in measured.subjects}
    for neighbor in measured.neighbors:
        for overlap in neighbor.overlaps:
            yield Hit(
                "/description",
                f"the tool {SHARED[overlap.kind]} {overlap.second!r} of {neighbor.server!r}",
                "name the product or system in the first sentence, and say when it is the right one",
                part=tools[overlap.first],
            )


@rule("TDQ410", severity=Severity.WARNING, source="Claude Code, MCP tool search: a tenth of the context window")
def costly_session(measured: Measured, *, limit: int = SESSION_BUDGET) -> Iterator[Hit]:
    """All servers that the agent sees take more than 20,000 tokens of every conversation."""
    others = [neighbor.tokens for neighbor in measured.neighbors]
    total = measured.tokens + sum(others)
    if others and total > limit and measured.tokens > max(others):
        yield Hit(
            "",
            f"{len(others) + 1} servers cost about {total:,} tokens together, more than {limit:,}; "
            f"this one costs {measured.tokens:,}",
            "turn off the tools that are not needed, or use a client that searches for tools",
        )
