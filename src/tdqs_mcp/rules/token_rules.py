"""Lane 4, what the definitions cost an agent in every conversation: budgets, and where tokens can be saved."""

from collections.abc import Iterator, Mapping

from tdqs_mcp.facts.schema import tokens
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.results.findings import Confidence, Persona, Severity
from tdqs_mcp.rules.rule import Hit, rule

TOOL_BUDGET = 800
"""Tokens of one tool: 9% of 1,649 real tools cost more, whose median is 189; mcp-toolgauge draws the line here,
mcpgrade at 1,200."""

CATALOG_BUDGET = 8_000
"""Tokens of one server: one in ten of 3,213 public servers costs more (PolicyLayer census: median 1,905, p90 7,952)."""

SESSION_BUDGET = 20_000
"""Tokens of all servers: a tenth of a window of 200,000, from which Claude Code's tool search (`auto`) defers them."""

SHARED_SAVING = 100
"""Tokens that `$defs` must save to be worth a hint, and at least SHARED_PERCENT of the definition."""

SHARED_PERCENT = 10

OUTPUT_FLOOR = 400
"""Tokens from which an output schema can be too much: half of what a whole tool may cost."""

MAX_NAMED = 3
"""Tools named in a finding about the catalog."""


@rule(
    "TDQ401",
    aliases=("T002",),
    severity=Severity.WARNING,
    source="token budgets of public servers; arXiv:2602.14878, cost of descriptions",
)
def costly_tool(subject: Subject, *, limit: int = TOOL_BUDGET) -> Iterator[Hit]:
    """The definition alone takes more than 800 tokens of every conversation."""
    if subject.tokens > limit:
        parts = tokens.field_shares(subject.tool, subject.tokens)
        is_prose = parts["description"] > parts["inputSchema"]
        yield Hit(
            "/description" if is_prose else "/inputSchema",
            f"the definition costs about {subject.tokens:,} tokens, more than {limit:,}: {_by_size(parts)}",
            "keep what decides the choice of the tool, and move the manual to a resource"
            if is_prose
            else "cut repetition, and move rarely used parameters to a separate tool",
        )


@rule("TDQ402", aliases=("T001",), severity=Severity.WARNING, source="PolicyLayer token census of 3,213 servers, p90")
def costly_catalog(measured: Measured, *, limit: int = CATALOG_BUDGET) -> Iterator[Hit]:
    """All tools of the server together take more than 8,000 tokens of every conversation."""
    total = sum(subject.tokens for subject in measured.subjects)
    if total > limit:
        dearest = sorted(measured.subjects, key=lambda subject: -subject.tokens)[:MAX_NAMED]
        share = 100 * sum(subject.tokens for subject in dearest) // total
        yield Hit(
            "",
            f"{_tools(len(measured.subjects))} cost about {total:,} tokens, more than {limit:,}; "
            f"the most expensive, {share}% together: "
            f"{_by_size({subject.tool.name: subject.tokens for subject in dearest})}",
            "shorten the most expensive tools first, or offer groups of tools that a client can leave out",
        )


@rule(
    "TDQ403",
    severity=Severity.INFO,
    confidence=Confidence.MEDIUM,
    source="JSON Schema 2020-12, $defs; a server of 741 tools that saved 25%",
)
def repeated_subschema(subject: Subject, *, limit: int = SHARED_SAVING) -> Iterator[Hit]:
    """The input schema repeats a subschema that `$defs` could define once."""
    least = max(limit, subject.tokens * SHARED_PERCENT // 100)
    if subject.tokens > TOOL_BUDGET:
        found = [each for each in tokens.repeated_subschemas(subject.input_shape) if each.saved > 0]
        saved = sum(each.saved for each in found)
        if saved >= least:
            worst = max(found, key=lambda each: each.saved)
            yield Hit(
                worst.path,
                f"a subschema of about {worst.tokens:,} tokens occurs {worst.places} times; shared definitions would "
                f"save about {saved:,} of {subject.tokens:,} tokens",
                "define it once in $defs and refer to it, if your clients resolve $ref",
            )


@rule(
    "TDQ404",
    severity=Severity.INFO,
    confidence=Confidence.MEDIUM,
    persona=Persona.AUDITOR,
    source="MCP specification, outputSchema; clients differ in whether a model gets it",
)
def heavy_output_schema(subject: Subject, *, limit: int = OUTPUT_FLOOR) -> Iterator[Hit]:
    """The output schema outweighs all that a model needs to call the tool."""
    cost = tokens.output_schema_tokens(subject.tool)
    if cost > max(limit, subject.tokens):
        yield Hit(
            "/outputSchema",
            f"the output schema costs about {cost:,} tokens, the rest of the definition {subject.tokens:,}",
            "declare the fields that an agent acts on, and leave the rest to additionalProperties",
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


def _by_size(parts: Mapping[str, int]) -> str:
    """Names with their tokens, the most expensive first."""
    return ", ".join(f"{name} {count:,}" for name, count in sorted(parts.items(), key=lambda part: -part[1]) if count)


def _tools(count: int) -> str:
    return "1 tool" if count == 1 else f"{count} tools"
