"""Statements that the catalog itself gives: one for each route from evidence; and what the old description says."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

from tdqs_mcp.canonical import canonical_json
from tdqs_mcp.facts.lexicon import MAX_TEXT, PatternTable, lazy_pattern, words_from
from tdqs_mcp.facts.schema import signals
from tdqs_mcp.facts.spelling import joined, name_parts, words_of
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.text.prose import cues_of, lead_in_length
from tdqs_mcp.facts.text.words import LEMMAS, Cue, add_article, content_stems, is_plural, plurals_in, stem
from tdqs_mcp.facts.toolset import names
from tdqs_mcp.facts.toolset.names import NameNeighbors, NameWords
from tdqs_mcp.json_text import TextEdit
from tdqs_mcp.results.improvements import Route
from tdqs_mcp.rewriting.proposals import Proposal, Statement, add_sentence
from tdqs_mcp.rewriting.value_sources import (
    ValueSource,
    ValueSources,
    is_identifier,
    singular,
)

_PATTERNS = PatternTable("wording")
_words = partial(words_from, "wording")

Span = tuple[int, int]
"""Start and end inside the description as it came."""

MAX_BORROWED = 12
"""Words of a first sentence that another description may carry; longer ones are no longer plain."""
MIN_WORDS = 5
"""Words from which a repeated sentence is a mistake; shorter lines may well recur."""


_PLAIN_WORD = lazy_pattern(r"[A-Za-z0-9'/&-]{1,40}")
_PROSE = lazy_pattern(r"[A-Z][^\n:|`]*[.!?]")


def purpose(subject: Subject, label: NameWords) -> str:
    """The first sentence's plain opening, in the imperative: "Lists open issues, newest first." -> list open issues.

    Empty unless it opens with the name's kind of verb, has the name's resource, tells no limit or extent and says
    nothing to an agent: another tool's text is hostile input, and nothing beyond its purpose may get into other
    descriptions. An enumeration is not cut in two.
    """
    first = " ".join(subject.prose.sentences[0].split()) if subject.prose.sentences else ""
    clause, *_ = _PATTERNS.purpose_end.split(first[lead_in_length(first) :], maxsplit=1)
    words = clause.split()
    spoken = [word.lower() for word in words]
    verb = LEMMAS.get(spoken[0]) if words else None
    is_short = 1 < len(words) <= MAX_BORROWED and all(map(_PLAIN_WORD.fullmatch, words))
    is_scoped = Cue.LIMIT in cues_of(spoken) or ("all" in spoken and verb not in _words("listing_verbs"))
    is_harmless = is_short and not is_scoped and _words("orders").isdisjoint(spoken)
    is_plain = subject.prose.opens_with_verb and not is_in_other_language(subject)
    is_purpose = is_plain and subject.prose.verb == verb and subject.prose.effect == label.effect
    is_about = bool(label.resource) and label.resource[-1] in set(map(stem, spoken))
    if not (verb and is_harmless and is_purpose and is_about):
        return ""
    # lists, fetches, copies
    is_told = spoken[0] in (verb, f"{verb}s", f"{verb}es", f"{verb[:-1]}ies")
    return " ".join((verb, *words[1:])) if is_told else ""


def is_in_other_language(subject: Subject) -> bool:
    """The description is known to be in another language than English."""
    return subject.prose.language not in ("en", None)


def can_continue_in_english(subject: Subject) -> bool:
    """Fit to be continued in English: known to be English, or a verb that we know, or no text at all.

    Hardly a letter of it is beyond ASCII.
    """
    text = subject.tool.description or ""
    foreign = 0 if text.isascii() else sum(char.isalpha() for char in text if not char.isascii())
    is_fit = subject.prose.verb is not None or subject.prose.language == "en" or subject.signals.is_missing_description
    return is_fit and not is_in_other_language(subject) and 20 * foreign <= len(text)


def repeated_spans(subject: Subject) -> list[Span]:
    """Running text that stands there once more right behind itself.

    What comes again anywhere else is said of another item, step or section, or of the sentence before it.
    """
    text = _text(subject)
    placed = list(_placed(text, subject.prose.sentences)) if "```" not in text else []
    sentences = [sentence for _, sentence in placed]
    latest: dict[str, int] = {}
    spans: list[Span] = []
    position = 0
    for place, (start, sentence) in enumerate(placed):
        first = latest.get(sentence, place)
        latest[sentence] = place
        block = sentences[place : 2 * place - first]
        is_long = len(" ".join(block).split()) >= MIN_WORDS
        if start >= position and block == sentences[first:place] and is_long and all(map(_PROSE.fullmatch, block)):
            last, words = placed[place + len(block) - 1]
            if text[placed[first][0] : start].split() == text[start : last + len(words)].split():
                position = last + len(words)
                spans.append((start, position))
    return spans


def copied_spans(subject: Subject) -> list[Span]:
    """Lists such as `path: The file to read` that say word for word what the schema says of those parameters.

    A list goes as a whole, with a heading such as "Args:"; half a list would tell that there is no more.
    """
    descriptions = {
        parameter.name: _bare(parameter.description)
        for parameter in subject.signals.parameters
        if parameter.description
    }
    lines = list(_lines(_text(subject))) if descriptions else []
    spans: list[Span] = []
    place = 0
    while place < len(lines):
        first = place
        is_headed = _PATTERNS.heading.fullmatch(lines[place][1].strip()) is not None
        place += is_headed
        block: list[tuple[int, str]] = []
        goes_on = False
        while place < len(lines):
            line = lines[place][1]
            if _PATTERNS.entry.fullmatch(line.strip()):
                block.append(lines[place])
            elif line.strip() and not (block and _indent(line) > _indent(block[-1][1])):
                break
            goes_on |= bool(line.strip()) and lines[place] not in block
            place += 1
        above = next((line for _, line in reversed(lines[:first]) if line.strip()), ".").rstrip()
        is_copy = bool(block) and not goes_on and all(_is_copy(line, descriptions) for _, line in block)
        if is_copy and (is_headed or above.endswith((".", "!", "?"))):
            start, (last, line) = lines[first] if is_headed else block[0], block[-1]
            spans.append((start[0], last + len(line)))
        place = max(place, first + 1)
    return spans


def _text(subject: Subject) -> str:
    """The description as it came; nothing of one that is longer than what is read of it."""
    text = subject.tool.description or ""
    return text if len(text) <= MAX_TEXT else ""


def _placed(text: str, sentences: Sequence[str]) -> Iterator[tuple[int, str]]:
    position = 0
    for sentence in sentences if text else ():
        position = text.index(sentence, position)
        yield position, sentence
        position += len(sentence)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    position = 0
    for line in text.split("\n"):
        yield position, line
        position += len(line) + 1


def _is_copy(line: str, descriptions: Mapping[str, str]) -> bool:
    entry = _PATTERNS.entry.fullmatch(line.strip())
    return (
        entry is not None
        and (entry[2] is None or _PATTERNS.types.fullmatch(entry[2].strip()) is not None)
        and descriptions.get(entry[1]) == _bare(entry[3])
    )


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _bare(text: str) -> str:
    return " ".join(text.split()).rstrip(".").lower()


MAX_RIVALS = 6
"""Siblings of similar names that are looked at."""

MAX_ALTERNATIVES = 2
"""Siblings that one description points to."""


def find_alternatives(
    subject: Subject, rivals: Sequence[Subject], context: "CatalogContext", passed_values: Mapping[str, str]
) -> Iterator[tuple[str, Statement]]:
    """Siblings whose own first sentence says what this tool is not for, each with a sentence, the nearest first.

    Not for a sibling that only has another verb, or whose text says no more than this one's. `passed_values` has, by
    sibling, the parameter whose values this tool returns.
    """
    own, clauses = context.labels[subject.tool.name], {}
    for rival in rivals:
        other = context.labels[rival.tool.name]
        is_same = own.verb == other.verb or {own.verb, other.verb} <= _FINDING or rival.tool.name in passed_values
        clause = _clause(rival, other, context.plurals) if is_same and _is_alike(own, other) else ""
        clauses[rival.tool.name] = _contrast(clause, subject, context.server) if clause else ""
    for name, parts in clauses.items():
        series = set(context.series(name)) - {subject.tool.name}
        if parts and Counter(clauses.values())[parts] == 1 and all(clauses.get(other) for other in series):
            sources = [f"tool {name}: its first sentence"]
            way = f"use `{name}` instead"
            if name in passed_values:
                sources.append(f"tool {name}: its parameter {passed_values[name]}")
                way = f"pass its `{passed_values[name]}` to `{name}`"
            yield name, add_sentence(f"To {parts}, {way}.", Route.ALTERNATIVE, sources)


_FINDING = frozenset({"list", "search", "find"})
"""Verbs of one request: what is searched is listed too."""


def _is_alike(own: NameWords, other: NameWords) -> bool:
    """Return whether a request could mean both: like actions, to one thing or to a kind, part or view of it."""
    own_words, other_words = (tuple(map(stem, label.thing.lower().split())) for label in (own, other))
    if not own_words or not other_words or not _is_same_action(own, other):
        return False
    if set(own_words) == set(other_words):
        return True
    is_kind = own_words[-1] == other_words[-1] and (
        set(own_words) < set(other_words) or set(other_words) < set(own_words)
    )
    is_view = other_words[:-1] == own_words and other.thing.lower().split()[-1] in words_from("names", "views")
    return (is_kind or is_view) and _is_many(own) == _is_many(other)


def _is_same_action(own: NameWords, other: NameWords) -> bool:
    """Return whether both read, or both change; to make and to change is not one request."""
    verbs = {own.verb, other.verb}
    ways = (words_from("names", "listing_verbs"), words_from("names", "changing_verbs"))
    return None not in verbs and (len(verbs) == 1 or any(verbs <= way for way in ways))


def _clause(subject: Subject, label: NameWords, plurals: AbstractSet[str]) -> str:
    """Return what a tool does as an order, with the article that was left out; empty where that is not certain.

    Only of a first sentence that is taken whole: what stands behind a comma may be what it is limited to.
    """
    first = subject.prose.sentences[0] if subject.prose.sentences else ""
    clause = purpose(subject, label) if not _PATTERNS.purpose_end.search(first.rstrip(" .!")) else ""
    verb, _, rest = clause.partition(" ")
    noun_phrase = add_article(rest, plurals) if rest else ""
    return f"{verb} {noun_phrase}" if noun_phrase else ""


def _contrast(clause: str, subject: Subject, server: AbstractSet[str]) -> str:
    """The clause where it tells the two tools apart: by a word that this one has not, or by many things for one.

    Not where this one is for many: that the sibling is for one thing is what its sentence does not say.
    """
    first = subject.prose.spoken[0] if subject.prose.spoken else ()
    own_words = [word for parameter in subject.signals.parameters for word in words_of(parameter.description)]
    own_words += [part for parameter in subject.signals.parameters for part in name_parts(parameter.name)]
    stems = content_stems((*first, *name_parts(subject.tool.name), *own_words)) | words_from("wording", "generic")
    _, *words = words_of(clause)
    many = words_from("names", "quantities")
    if not many.isdisjoint((*first, *name_parts(subject.tool.name))) and many.isdisjoint(words):
        return ""
    extra = {word for word in content_stems(words) if word not in stems | server and word not in LEMMAS}
    return clause if extra or not many.isdisjoint(words) else ""


def _is_many(label: NameWords) -> bool:
    """It lists or searches, or its thing is a plural."""
    return label.verb in ("list", "search") or is_plural((label.thing.lower().split() or [""])[-1])


MAX_LOOKUPS = 3
"""Parameters of which one description says where their values come from."""

MAX_TAKERS = 2
"""Tools that one description names as the use of its answer; more names would make a search find it for theirs."""

MAX_FIELDS = 10
"""Fields of an answer that one sentence names; the others are counted."""

MAX_ALIKE_POINTERS = 3
"""Tools of a server that get the same sentence: what more of them need belongs into its instructions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogContext:
    """Facts that the statements about one tool need to know about the others."""

    subjects: Mapping[str, Subject]
    """By name, without those that others must not point to: a name that two tools carry points nowhere, and a
    definition that tries to steer its reader gets no readers from here."""

    labels: Mapping[str, NameWords]
    neighbours: NameNeighbors
    sources: Mapping[str, Sequence[ValueSource]]
    """By tool: which siblings give the values of its parameters."""

    origins: Mapping[str, Sequence[ValueSource]]
    """The same, if they explain every identifier that a call needs."""

    takers: Mapping[str, Sequence[tuple[str, str]]]
    """By tool: the parameters whose values it gives, each with the tool that takes it."""

    holders: Mapping[str, Sequence[str]]
    """By parameter of two words: the tools that have it. An `id` may be that of anything."""

    shared: frozenset[str]
    """Parameters whose values more tools take than need them: some calls leave them out, or take one for many."""

    server: frozenset[str]
    """Stems of the server's name, which tell none of its tools apart."""

    plurals: frozenset[str]
    """Nouns of which the catalog's texts have the plural."""

    @classmethod
    def of(cls, measured: Measured) -> "CatalogContext":
        """The context of a catalog, read once for all its tools."""
        openings = {
            subject.tool.name: subject.prose.verb for subject in measured.subjects if subject.prose.opens_with_verb
        }
        labels = names.read_names((subject.tool.name for subject in measured.subjects), openings)
        usable = (subject for subject in measured.subjects if subject.is_quotable and subject.withdrawal is None)
        unique = {subject.tool.name: subject for subject in usable}
        sources = ValueSources(unique.values(), labels)
        listings = {name: sources.of(subject) for name, subject in unique.items()}
        takers: dict[str, list[tuple[str, str]]] = {}
        for name, tool_origins in listings.items():
            for origin in tool_origins:
                for tool in origin.tools:
                    takers.setdefault(tool, []).append((origin.parameter, name))
        words = (
            word for subject in measured.subjects for word in (*name_parts(subject.tool.name), *subject.prose.words)
        )
        parameters = [
            (parameter, name)
            for name, subject in unique.items()
            for parameter in subject.signals.parameters
            if len(name_parts(parameter.name)) > 1  # `board_id`, not `id`
        ]
        spellings: dict[str, set[str]] = {}
        holders: dict[str, list[str]] = {}
        for parameter, tool in parameters:
            spellings.setdefault(singular(parameter.name), set()).add(parameter.name)
            holders.setdefault(parameter.name, []).append(tool)
        return cls(
            subjects=unique,
            labels=labels,
            neighbours=NameNeighbors({name: labels[name] for name in unique}),
            sources=listings,
            origins={
                name: origins if sources.is_whole(unique[name], origins) else () for name, origins in listings.items()
            },
            takers=takers,
            holders=holders,
            shared=frozenset(
                parameter.name
                for parameter, _ in parameters
                if not parameter.is_required or len(spellings[singular(parameter.name)]) > 1
            ),
            server=frozenset(map(stem, name_parts(measured.catalog.server))),
            plurals=plurals_in(words),
        )

    def knows(self, subject: Subject) -> bool:
        """Return whether other definitions may point to this tool, and it to others."""
        return self.subjects.get(subject.tool.name) is subject

    def series(self, name: str) -> list[str]:
        """Return the tools whose names are one up to a word such as `with`: `get_plugins_with_updates` and so on."""
        parts = name_parts(name)
        end = next((place for place, part in enumerate(parts) if part in words_from("names", "scopes")), len(parts))
        return [other for other in self.subjects if name_parts(other)[: end + 1] == parts[: end + 1]]

    def near(self, subject: Subject, count: int) -> tuple[str, ...]:
        """The siblings of similar names, the nearest first."""
        return self.neighbours.nearest(subject.tool.name, count) if self.knows(subject) else ()


def shared_lookup(measured: Measured, context: CatalogContext) -> str:
    """Return where values come from that more tools take than may say so, in a sentence for the server's instructions.

    Empty where there are none, or where the instructions name the tool already. A `note_id` is not always that of a
    `get_merge_request_notes`.
    """
    counts = Counter((item.tools, item.parameter) for sources in context.sources.values() for item in sources)
    instructions = words_of(measured.catalog.instructions or "")
    lookups = [
        f"`{parameter}` with {listed(tools, 'or')}"
        for (tools, parameter), count in counts.items()
        if count > MAX_ALIKE_POINTERS
        and not any(tool.lower() in instructions for tool in tools)
        and content_stems(context.labels[tools[0]].thing.lower().split()) <= content_stems(name_parts(parameter))
    ]
    return f"Find {joined(lookups)}." if lookups else ""


def propose(measured: Measured, *, growth: int) -> list[Proposal]:
    """A proposal for every measured tool, in catalog order; pure, and linear in the size of the catalog."""
    context = CatalogContext.of(measured)
    candidates = [list(_candidates(subject, context)) for subject in measured.subjects]
    counts: Counter[str] = Counter()
    proposals = []
    for subject, pairs in zip(measured.subjects, candidates, strict=True):
        present = {statement.sentence for statement, is_told in pairs if is_told}
        sentences = present | {statement.sentence for statement in within(pairs, growth=growth)}
        counts.update(sentences)
        common = {sentence for sentence in sentences if sentence and counts[sentence] > MAX_ALIKE_POINTERS}
        rare = [pair for pair in pairs if pair[0].sentence not in common]
        proposals.append(Proposal(subject=subject, parts=within(rare, growth=growth)))
    return proposals


_Candidates = Iterator[tuple[Statement, bool]]
"""Statements that hold, each with whether the definition makes it already."""


def tokens_added(subject: Subject, definition: Mapping[str, Any]) -> int:
    """Tokens that a definition has more than the tool's own."""
    return signals.definition_tokens(definition) - signals.definition_tokens(subject.tool.raw)


def listed(names: Sequence[str], joint: str = "and") -> str:
    """Backticked names: "`a`, `b` and `c`"."""
    return joined([f"`{name}`" for name in names], joint)


def _tokens(statement: Statement) -> int:
    return 0 if statement.splices else signals.estimate_tokens(canonical_json(statement.sentence or statement.value))


def within(
    candidates: Iterable[tuple[Statement, bool]], *, growth: int, weigh: Callable[[Statement], int] = _tokens
) -> tuple[Statement, ...]:
    """Return what the definition does not say, the most useful first, within a token budget.

    What it says already takes its part of the budget, so a second run finds no more than the first.
    """
    statements: list[Statement] = []
    for statement, is_told in candidates:
        weight = weigh(statement)
        if weight <= growth:
            growth -= weight
            statements += [] if is_told else [statement]
    return tuple(statements)


def _candidates(subject: Subject, context: CatalogContext) -> _Candidates:
    """Sentences are English, so a definition in another language gets none."""
    is_silent = subject.signals.is_missing_description
    is_fit = can_continue_in_english(subject) and not is_silent
    if is_fit:
        yield from _guidance(subject, context)
    if less := _cut(subject):
        yield less, False


def _guidance(subject: Subject, context: CatalogContext) -> _Candidates:
    """Yield what comes first, what it is for, and what else to use."""
    origins = context.origins.get(subject.tool.name, ())[:MAX_LOOKUPS]
    named = {tool for origin in origins for tool in origin.tools}
    takers = context.takers.get(subject.tool.name, ())
    rivals = [context.subjects[name] for name in context.near(subject, MAX_RIVALS) if name not in named]
    parameters = {name: parameter for parameter, name in takers if not parameter.endswith("s")}
    alternatives = dict(islice(find_alternatives(subject, rivals, context, parameters), MAX_ALTERNATIVES))
    takers = [(name, tool) for name, tool in takers if is_identifier(name)]
    # "Use this tool" behind a sentence about another one would be about that
    is_last_own = not subject.prose.spoken or len(subject.prose.spoken) - 1 in subject.own_places
    if takers and alternatives.keys().isdisjoint(parameters):
        use = _use(subject, takers, context)
        is_told = _is_named(subject, {name for _, name in takers} | {use.sentence})
        if is_told or is_last_own:
            yield use, is_told
    if origins:
        yield _lookup(origins), _is_named(subject, named)
    for name, statement in alternatives.items():
        yield statement, _is_named(subject, {name})


def _is_named(subject: Subject, tools: set[str]) -> bool:
    """Return whether the tool's texts name one of these tools."""
    texts = [subject.tool.description or "", *(parameter.description for parameter in subject.signals.parameters)]
    own = " ".join(texts)
    return any(tool in subject.mentions or (not tool.isalpha() and tool in own) for tool in tools)


def _lookup(origins: Sequence[ValueSource]) -> Statement:
    """Where the values of identifying parameters come from: "Find `board_id` with `list_boards`."."""
    names_by_tools: dict[tuple[str, ...], list[str]] = {}
    for origin in origins:
        names_by_tools.setdefault(origin.tools, []).append(origin.parameter)
    lookups = [f"{listed(names)} with {listed(tools, 'or')}" for tools, names in names_by_tools.items()]
    sources = [f"tool {tool}: its name" for origin in origins for tool in origin.tools]
    return add_sentence(f"Find {joined(lookups)}.", Route.LOOKUP, sources)


def _use(subject: Subject, takers: Sequence[tuple[str, str]], context: CatalogContext) -> Statement:
    """Say what a listing's answer is for: the parameter that most siblings take from it.

    A few of them by name, if no other tool may be given such a value.
    """
    by_parameter: dict[str, list[str]] = {}
    for parameter, name in takers:
        by_parameter.setdefault(parameter, []).append(name)
    parameter, tools = max(by_parameter.items(), key=lambda use: len(use[1]))
    tools = [name for name in context.holders.get(parameter, tools) if name != subject.tool.name]
    is_few = len(tools) <= MAX_TAKERS and parameter not in context.shared
    verb = "takes" if len(tools) == 1 else "take"
    subject_words = f"{listed(tools)} {verb}" if is_few else "other tools take"
    sources = ["name", *(f"tool {name}: its parameter {parameter}" for name in tools[:MAX_TAKERS])]
    return add_sentence(f"Use this tool to find the `{parameter}` that {subject_words}.", Route.LOOKUP, sources)


def _cut(subject: Subject) -> Statement | None:
    """Cuts what is said twice, or word for word in the schema."""
    spans = [(*span, "description: said twice") for span in repeated_spans(subject)]
    spans += [(*span, "/inputSchema/properties: said there") for span in copied_spans(subject)]
    if not spans:
        return None
    text, splices = subject.tool.description or "", []
    for start, end, _ in sorted(spans):
        before = text[:start].rstrip(" \t")
        is_line = before.endswith("\n") and text[end : end + 1] in ("", "\n")  # a whole line goes with its line break
        splices.append(TextEdit(start=len(before) - is_line, end=end, text=""))
    return replace(add_sentence("", Route.CUT, [source for _, _, source in spans]), splices=tuple(splices))
