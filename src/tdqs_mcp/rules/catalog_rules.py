"""Rules between the tools of a catalog, and about the tokens that it costs."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from tdqs_mcp.facts.schema import signals
from tdqs_mcp.facts.schema.walk import free_objects, unused_definitions
from tdqs_mcp.facts.spelling import first_of, words_of
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.text.effects import MAX_QUOTE
from tdqs_mcp.facts.text.steering import mentioned_when_retired
from tdqs_mcp.facts.text.words import stem
from tdqs_mcp.facts.toolset import relations
from tdqs_mcp.facts.toolset.names import fold
from tdqs_mcp.facts.toolset.relations import OverlapKind
from tdqs_mcp.facts.toolset.unknown_names import stated_tool_count, unknown_parameters, unknown_tools, unknown_words
from tdqs_mcp.results.findings import Confidence, Persona, Severity
from tdqs_mcp.rules.linter_rules import duplicate_tools
from tdqs_mcp.rules.rule import MAX_NAMED, Hit, rule

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


MAX_NAMED_TOOLS = 3
"""Tools named in a finding about the catalog."""


@rule(
    "TDQ401",
    aliases=("T002",),
    severity=Severity.INFO,
    source="token budgets of public servers; arXiv:2602.14878, cost of descriptions",
)
def costly_tool(subject: Subject, *, limit: int = TOOL_BUDGET) -> Iterator[Hit]:
    """The definition alone takes more than 800 tokens of every conversation."""
    if subject.tokens > limit:
        parts = signals.field_shares(subject.tool, subject.tokens)
        is_prose = parts["description"] > parts["inputSchema"]
        yield Hit(
            "/description" if is_prose else "/inputSchema",
            f"the definition costs about {subject.tokens:,} tokens, more than {limit:,}: {_by_size(parts)}",
            "keep what decides the choice of the tool, and move the manual to a resource"
            if is_prose
            else "cut repetition, and move rarely used parameters to a separate tool",
            shared=f"cost more than {limit:,} tokens",
        )


@rule("TDQ402", aliases=("T001",), severity=Severity.INFO, source="PolicyLayer token census of 3,213 servers, p90")
def costly_catalog(measured: Measured, *, limit: int = CATALOG_BUDGET) -> Iterator[Hit]:
    """All tools of the server together take more than 8,000 tokens of every conversation."""
    total = sum(subject.tokens for subject in measured.subjects)
    if total > limit:
        dearest = sorted(measured.subjects, key=lambda subject: -subject.tokens)[:MAX_NAMED_TOOLS]
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
    persona=Persona.AUDITOR,
    confidence=Confidence.MEDIUM,
    source="JSON Schema 2020-12, $defs; a server of 741 tools that saved 25%",
    weighs=("/description", "/inputSchema"),
)
def repeated_subschema(measured: Measured, *, limit: int = SHARED_SAVING) -> Iterator[Hit]:
    """The input schema repeats a subschema, has definitions that nothing uses, or titles that only spell names."""
    for subject in measured.subjects if measured.tokens > TOOL_BUDGET else ():
        yield from _repeated_parts(subject, limit)
    pairs = ((subject.tool.name, unused_definitions(subject.input_shape)) for subject in measured.subjects)
    unused = {name: definitions for name, definitions in pairs if definitions}
    if unused:
        name, definitions = next(iter(unused.items()))
        tools = f"{len(unused)} of {_tools(len(measured.subjects))}"
        problem = f"nothing refers to some $defs of {tools}: {definitions[0]!r} of {name!r}"
        yield Hit("", problem, "leave unused definitions out: every tool carries them to the model")
    spelled = sum(signals.spelled_titles(subject.input_shape) for subject in measured.subjects)
    share = 100 * spelled // max(1, sum(len(subject.signals.sent_json) for subject in measured.subjects))
    if share >= TITLE_PERCENT:
        problem = (
            f"{share}% of the definitions are titles that only spell the names of parameters, as pydantic writes them"
        )
        yield Hit("", problem, "leave them out of the schemas; a GenerateJsonSchema without field titles does that")


TITLE_PERCENT = 5
"""Percent of the characters of all definitions."""


def _repeated_parts(subject: Subject, limit: int) -> Iterator[Hit]:
    least = max(limit, subject.tokens * SHARED_PERCENT // 100)
    if subject.tokens > TOOL_BUDGET:
        subschemas = [
            subschema for subschema in signals.repeated_subschemas(subject.input_shape) if subschema.saved > 0
        ]
        saved = sum(repetition.saved for repetition in subschemas)
        if saved >= least:
            worst = max(subschemas, key=lambda repetition: repetition.saved)
            yield Hit(
                worst.path,
                f"a subschema of about {worst.tokens:,} tokens occurs {worst.places} times; shared definitions would "
                f"save about {saved:,} of {subject.tokens:,} tokens",
                "define it once in $defs and refer to it, if your clients resolve $ref",
                part=subject.tool,
            )


@rule("TDQ410", severity=Severity.WARNING, source="Claude Code, MCP tool search: a tenth of the context window")
def costly_session(measured: Measured, *, limit: int = SESSION_BUDGET) -> Iterator[Hit]:
    """All servers that the agent sees take more than 20,000 tokens of every conversation."""
    neighbor_tokens = [neighbor.tokens for neighbor in measured.neighbors]
    total = measured.tokens + sum(neighbor_tokens)
    if neighbor_tokens and total > limit and measured.tokens > max(neighbor_tokens):
        yield Hit(
            "",
            f"{len(neighbor_tokens) + 1} servers cost about {total:,} tokens together, more than {limit:,}; "
            f"this one costs {measured.tokens:,}",
            "turn off the tools that are not needed, or use a client that searches for tools",
        )


INSTRUCTION_BYTES = 2_048
"""Bytes of the instructions that Claude Code shows beside names where it loads tools on demand."""

MAX_SUBJECTS = 8
"""Nouns of the tools' names that stand for what the server is about."""


@rule(
    "TDQ411",
    severity=Severity.INFO,
    confidence=Confidence.MEDIUM,
    source="Claude Code, MCP tool search: names and the first 2 kB of instructions",
)
def unannounced_tools(measured: Measured) -> Iterator[Hit]:
    """The tools are too many to be loaded at once, and the instructions do not say what they are for.

    Clients that load tools on demand show an agent the names and the beginning of the instructions, nothing else.
    """
    is_greeted = measured.catalog.server_info is not None or measured.catalog.capabilities is not None
    if not is_greeted or measured.tokens <= CATALOG_BUDGET:
        return
    head = (measured.catalog.instructions or "").encode()[:INSTRUCTION_BYTES].decode(errors="ignore")
    labels = relations.read_labels([subject.tool.name for subject in measured.subjects])
    nouns = Counter(word for label in labels for word in label.resource)
    subjects = [word for word, _ in nouns.most_common(MAX_SUBJECTS)]
    fix = "say in the first sentence of the instructions which things the tools are about"
    if not head.strip():
        yield Hit("/instructions", "the tools are loaded on demand, and no instructions say what they are for", fix)
    elif {stem(word) for word in words_of(head)}.isdisjoint(map(stem, subjects)):
        named = first_of(subjects, MAX_NAMED)
        yield Hit(
            "/instructions", f"the first 2 kB of the instructions name none of what the tools are about: {named}", fix
        )


def _by_size(parts: Mapping[str, int]) -> str:
    """Names with their tokens, the most expensive first."""
    return ", ".join(f"{name} {count:,}" for name, count in sorted(parts.items(), key=lambda part: -part[1]) if count)


def _tools(count: int) -> str:
    return "1 tool" if count == 1 else f"{count} tools"


SHARED = {
    OverlapKind.DEFINITION: "has the same description and parameters as",
    OverlapKind.DESCRIPTION: "has the same description as",
    OverlapKind.PURPOSE: "says the same as",
}
"""How a message says what two tools have in common."""


@rule("TDQ202", severity=Severity.ERROR, source="MCP specification, Tool names", variants=(duplicate_tools,))
def duplicate_name(subject: Subject) -> Iterator[Hit]:
    """Another tool of the server has the same name; only one of them can be called."""
    if subject.is_duplicate:
        yield Hit("/name", f"more than one tool is called {subject.tool.name!r}", "rename or remove all but one")


@rule("TDQ226", severity=Severity.WARNING, source="MCP 2025-11-25, Tool names")
def colliding_names(measured: Measured) -> Iterator[Hit]:
    """Two names differ only in case, `-`, `_` or `.`; clients that rewrite names make them one."""
    spellings: dict[str, dict[str, None]] = defaultdict(dict)
    for name in measured.names:
        spellings[fold(name).replace(".", "")][name] = None
    for tool in measured.catalog.tools:
        collisions = [name for name in spellings.get(fold(tool.name).replace(".", ""), ()) if name != tool.name]
        if tool.name and collisions:
            yield Hit(
                "/name",
                f"{tool.name!r} and {collisions[0]!r} differ only in case or punctuation",
                "make the names differ in a word",
                part=tool,
            )


@rule(
    "TDQ301",
    aliases=("shadow-candidate",),
    severity=Severity.INFO,
    confidence=Confidence.LOW,
    source="TDQS 1.1, shadow prefilter",
)
def shadow_candidate(measured: Measured) -> Iterator[Hit]:
    """A sibling is much cheaper to call and may quietly take this tool's place."""
    subjects = {subject.tool.index: subject for subject in measured.subjects}
    for candidate in measured.shadow_candidates:
        subject = subjects.get(candidate.index)
        if subject and candidate.cheaper_sibling not in subject.mentions:
            yield Hit(
                "/inputSchema",
                f"a call costs {candidate.invocation_cost} points, one of {candidate.cheaper_sibling!r} "
                f"{candidate.cheaper_sibling_invocation_cost}: an agent may prefer the cheaper one",
                f"say when {candidate.cheaper_sibling!r} is not enough, or make fewer parameters required",
                part=subject.tool,
            )


@rule("TDQ302", severity=Severity.WARNING, dimension="usage_guidelines", source="TDQS, coherence: disambiguation")
def copied_description(measured: Measured) -> Iterator[Hit]:
    """The description, or what it says of when to use the tool, is a copy, so the agent cannot choose between them."""
    yield from _copies(measured, OverlapKind.DEFINITION, "remove one of them, or say when each is the right one")
    yield from _copies(measured, OverlapKind.DESCRIPTION, "describe what this tool does that the other does not")
    copied = {overlap.second for overlap in measured.copies}
    for subjects in measured.shared_usages:
        sentence = subjects[0].usage_sentences[0]
        quote = repr(sentence if len(sentence) <= MAX_QUOTE else f"{sentence[: MAX_QUOTE - 1]}…")
        for subject in (subject for subject in subjects if subject.tool.name not in copied):
            yield Hit(
                "/description",
                f"{len(subjects) - 1} other tools say in the same words when to use them: {quote}",
                "say what this tool is for and the others are not, or leave the sentence out",
                part=subject.tool,
                shared=f"say in the same words when to use them, {quote}",
            )


@rule(
    "TDQ303",
    severity=Severity.WARNING,
    confidence=Confidence.MEDIUM,
    dimension="usage_guidelines",
    source="TDQS, coherence: disambiguation",
    entails=("TDQ104",),
)
def confusable_tools(measured: Measured) -> Iterator[Hit]:
    """Another tool does the same to the same thing, by what both say and take, and no description tells them apart."""
    tools = {subject.tool.name: subject.tool for subject in measured.subjects}
    for pair in measured.pairs:
        is_near = pair.kind.is_near
        if pair.kind not in _CONFUSABLE or (is_near and pair.is_told_apart):
            continue
        words = f" ({pair.words})" if pair.words else ""
        yield Hit(
            "/description",
            f"the tool {_CONFUSABLE[pair.kind]} {pair.first!r}{words}",
            "say in both when to use the other" if is_near else "make them one tool, or say what sets each apart",
            Severity.INFO if is_near else None,
            part=tools[pair.second],
        )


_CONFUSABLE = {
    OverlapKind.PURPOSE: SHARED[OverlapKind.PURPOSE],
    OverlapKind.VARIANT: "says and takes nearly the same as",
    OverlapKind.WORDING: "has a name that says the same as",
    OverlapKind.NOTHING: "says as little of what it does as",
}
"""How a message says what makes an agent confuse two tools; TDQ302 reports copies, and TDQ202 equal names."""


@rule(
    "TDQ304",
    severity=Severity.WARNING,
    source="MCP specification, tools/list: what agents choose from",
    entails=("ALL",),
)
def retired_tool(subject: Subject) -> Iterator[Hit]:
    """A tool that says that nobody shall call it is still in the list; no other advice about it is given."""
    if subject.withdrawal:
        path, words = subject.withdrawal
        problem = f"the text says {words!r}, and the tool is still in the list"
        yield Hit(path, problem, "remove it from the list, or hide it from agents")


@rule(
    "TDQ310",
    aliases=("smell:repeated-display-name",),
    severity=Severity.WARNING,
    persona=Persona.AUDITOR,
    source="MCPBundles, server smells",
)
def repeated_display_name(measured: Measured) -> Iterator[Hit]:
    """Tools with different names are shown under one title."""
    for title, tools in relations.shared_display_names(measured.catalog.tools).items():
        first, second, *_ = dict.fromkeys(tool.name for tool in tools)
        for tool in tools:
            yield Hit(
                "/title" if tool.title else "/annotations/title",
                f"{second if tool.name == first else first!r} also has the title {title!r}",
                "give each tool a title of its own",
                part=tool,
            )


@rule(
    "TDQ320",
    severity=Severity.WARNING,
    dimension="usage_guidelines",
    source="TDQS, usage guidelines",
    weighs=("/inputSchema",),
)
def unknown_tool(measured: Measured) -> Iterator[Hit]:
    """A text, or the server's instructions, sends the agent to a tool that the server does not have, or has retired."""
    if len(measured.catalog.tools) < 2:
        return  # a single definition says nothing about the rest of its catalog
    words, fix = measured.vocabulary, "name a tool that exists, or say what to do without it"
    retired = {subject.tool.name for subject in measured.subjects if subject.withdrawal}
    for subject in measured.subjects:
        for mention in unknown_tools(subject.strangers, subject.texts, subject.part_names, words):
            problem = f"there is no tool {mention.name!r}: {mention.words!r}"
            shared = f"send the agent to {mention.name!r}, which is no tool"
            yield Hit(mention.path, problem, fix, part=subject.tool, shared=shared)
        for name in (name for name in subject.mentions if name in retired):
            yield Hit(
                "/description", f"the text names {name!r}, which is not to be called any more", fix, part=subject.tool
            )
    text = measured.catalog.instructions or ""
    for name in mentioned_when_retired(text, retired):
        yield Hit("/instructions", f"the instructions name {name!r}, which is not to be called any more", fix)
    texts = [("/instructions", text)] if text else []
    for mention in unknown_tools(unknown_words(texts, frozenset()), texts, frozenset(), words):
        yield Hit("/instructions", f"there is no tool {mention.name!r}: {mention.words!r}", fix)
    count = stated_tool_count(text)
    if count is not None and count != len(measured.catalog.tools):
        problem = f"the instructions speak of {count} tools, the server has {len(measured.catalog.tools)}"
        yield Hit("/instructions", problem, "correct the number, or leave it out")


@rule(
    "TDQ321",
    aliases=("described-not-in-schema",),
    severity=Severity.WARNING,
    dimension="parameter_semantics",
    source="TDQS, parameter semantics",
    weighs=("/inputSchema",),
)
def unknown_parameter(measured: Measured) -> Iterator[Hit]:
    """A text explains or asks for a parameter that the schema does not have."""
    words = measured.vocabulary
    for subject in measured.subjects:
        # "Use `body` for manual `retention`": the name is that of a member of an object that takes anything
        text = subject.tool.description or ""
        if "`" in text and any(f"`{name}`" in text for name in free_objects(subject.input_shape)):
            continue
        for mention in unknown_parameters(subject.strangers, subject.texts, subject.part_names, words):
            yield Hit(
                mention.path,
                f"there is no parameter {mention.name!r}: {mention.words!r}",
                "name a parameter of the schema, or add this one",
                Severity.INFO if mention.name == "ctx" else None,  # FastMCP passes it in; the text costs only tokens
                part=subject.tool,
                shared="explain 'ctx', which is no parameter" if mention.name == "ctx" else None,
            )


@rule("TDQ601", severity=Severity.WARNING, source="MCP specification, transports and pagination")
def faulty_listing(measured: Measured) -> Iterator[Hit]:
    """Something went wrong while the server listed what it offers."""
    for problem in measured.catalog.problems:
        is_cut = problem == measured.catalog.incomplete
        yield Hit("", problem, "correct it: a client may break off", None if is_cut else Severity.INFO)


def _copies(measured: Measured, kind: OverlapKind, fix: str) -> Iterator[Hit]:
    subjects = {subject.tool.name: subject for subject in measured.subjects}
    earlier: dict[str, dict[str, None]] = defaultdict(dict)
    for overlap in measured.copies:
        if overlap.kind is kind:
            earlier[overlap.second][overlap.first] = None
    for name, overlaps in earlier.items():
        claim = f"the tool {SHARED[kind]} {first_of(list(map(repr, overlaps)), MAX_NAMED)}"
        if kind is not OverlapKind.DEFINITION and len(overlaps) == 1:
            claim += _difference(subjects[name], subjects[next(iter(overlaps))])
        yield Hit("/description", claim, fix, part=subjects[name].tool)


def _difference(tool: Subject, earlier: Subject) -> str:
    """Return which parameters one of the two takes alone: that may be what tells them apart."""
    own, other = ({parameter.name: None for parameter in subject.signals.parameters} for subject in (tool, earlier))
    alone = [repr(name) for name in own if name not in other]
    missing = [repr(name) for name in other if name not in own]
    if alone:
        return f"; only this one takes {first_of(alone, MAX_NAMED)}"
    return f"; only {earlier.tool.name!r} takes {first_of(missing, MAX_NAMED)}" if missing else ""


@rule("TDQ340", severity=Severity.WARNING, source="MCP 2026-07-28, Tools, Tool Names")
def shared_names(measured: Measured) -> Iterator[Hit]:
    """Another server that the same agent sees has tools with the same names; without prefixes, one hides the other."""
    for neighbor in measured.neighbors:
        names = neighbor.shared_names
        if names:
            subject_words = "1 name is" if len(names) == 1 else f"{len(names)} names are"
            yield Hit(
                "",
                f"{subject_words} also used by {neighbor.server!r}: {first_of(names, MAX_NAMED)}",
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
