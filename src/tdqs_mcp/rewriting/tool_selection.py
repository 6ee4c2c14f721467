"""Tests of how definitions get their tools found: ways to search, queries that withhold its name, ranks and figures."""

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import chain
from statistics import NormalDist, fmean
from typing import Any, Protocol

from tdqs_mcp.canonical import canonical_json, round_half_up, short_hash, trim, visible
from tdqs_mcp.errors import ContractError, InputError
from tdqs_mcp.facts.schema.conformance import find_fault
from tdqs_mcp.facts.spelling import first_of
from tdqs_mcp.facts.toolset import search
from tdqs_mcp.judges.asking import ask
from tdqs_mcp.judges.judge import Failure, Model, Request
from tdqs_mcp.model import Catalog, Tool
from tdqs_mcp.results.checks import (
    DEMANDS,
    UNUSABLE,
    Against,
    Confusion,
    Figures,
    KindShare,
    Paired,
    PlanChange,
    PlanCheck,
    PlannedCall,
    PlanShare,
    Query,
    QueryChoice,
    Selection,
)
from tdqs_mcp.results.contract import Own
from tdqs_mcp.rewriting.parting import MAX_NAMED, Codes, code_differences, differences, parting_sentence
from tdqs_mcp.rubrics.answer import object_schema, parse_json
from tdqs_mcp.rubrics.prompt import Prompt, delimiter, fenced
from tdqs_mcp.rubrics.rubric import system_prompt

K = 5
"""Places in which a tool counts as found."""

Ranking = Mapping[int, float]
"""Positions of the tools that were found, each with a number that is higher for a better one; equal numbers tie."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The calls with which an agent would meet a request, by the tools' positions."""

    calls: tuple[tuple[int, Mapping[str, Any]], ...]

    def ranking(self) -> Ranking:
        """The tools from the end to the start: the end is what the request asks for."""
        return {place: float(number) for number, (place, _) in enumerate(self.calls, start=1)}


class Selector(Protocol):
    """Finds the tools for each query."""

    @property
    def name(self) -> str:
        """Return what reports call it."""
        ...

    async def rank(self, tools: Sequence[Tool], queries: Sequence[str]) -> Sequence[Ranking | Plan | Failure]:
        """The tools, or calls, for each query, in the order of the queries."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexical:
    """BM25 over names, descriptions and parameters, as tool-search features rank; nothing leaves this machine."""

    name: str = "bm25"

    async def rank(self, tools: Sequence[Tool], queries: Sequence[str]) -> list[Ranking | Failure]:
        """Every tool that shares a word with the query; equal definitions get equal numbers."""
        weights = search.bm25_weights([search.search_terms(search.indexed_text(tool)) for tool in tools])
        return [search.bm25_scores(weights, search.search_terms(query)) for query in queries]


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptBatch:
    """Requests that are put to an agent with the same list of tools, in an order that follows from their content."""

    system: str
    queries: Sequence[tuple[str, str]]
    """Texts, each behind the id under which its answer comes back: two queries with one text share it."""


BATCH = 20
"""Requests for one order of the tools: an endpoint caches the list, and no place in it favors a tool for long."""


def batches(tools: Sequence[Tool], queries: Sequence[str]) -> list[PromptBatch]:
    """Return the prompts for the queries, in order; equal tools and queries give the same bytes."""
    labels = list(_places(tools))
    listed = []
    for start in range(0, len(queries), BATCH):
        texts = queries[start : start + BATCH]
        seed = short_hash("\n".join(texts))
        order = sorted(range(len(tools)), key=lambda place: (short_hash(f"{seed} {labels[place]}"), place))
        system = _system([(labels[place], tools[place]) for place in order])
        listed.append(PromptBatch(system=system, queries=[(short_hash(f"{system}\n{text}"), text) for text in texts]))
    return listed


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSelector:
    """A model that is shown every tool and plans its calls; one question for each query."""

    model: Model

    @property
    def name(self) -> str:
        """The model's name at its vendor."""
        return self.model.name

    async def rank(self, tools: Sequence[Tool], queries: Sequence[str]) -> list[Plan | Failure]:
        """The model's plans; a query whose answer fails, or stays out of form, is a Failure with the reason."""
        read = partial(_read_plan, places=_places(tools))
        requests = [
            Request(prompt=Prompt(system=batch.system, user=f"Request: {text}"), name="select", schema=PLAN_SCHEMA)
            for batch in batches(tools, queries)
            for _, text in batch.queries
        ]
        return await ask(self.model, [(request, read) for request in requests])


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSelector:
    """An agent elsewhere that got the same prompts from a file."""

    answers: Mapping[str, Mapping[str, Any] | str]
    """By id, as JSON or its text."""

    name: str = "answers"

    async def rank(self, tools: Sequence[Tool], queries: Sequence[str]) -> list[Plan | Failure]:
        """The plans in the answers; a query without an answer, or with one out of form, is a Failure."""
        places = _places(tools)
        return [self._plan(identity, places) for batch in batches(tools, queries) for identity, _ in batch.queries]

    def open_batches(self, tools: Sequence[Tool], queries: Sequence[str]) -> list[PromptBatch]:
        """Return the prompts with the queries that have no answer yet."""
        rest = [
            replace(
                batch, queries=[(key, text) for key, text in dict(batch.queries).items() if key not in self.answers]
            )
            for batch in batches(tools, queries)
        ]
        return [batch for batch in rest if batch.queries]

    def count_unused(self, versions: Iterable[Sequence[Tool]], queries: Sequence[str]) -> int:
        """Return how many answers no query has asked for: those of other requests, or of other definitions."""
        identities = {
            identity for tools in versions for batch in batches(tools, queries) for identity, _ in batch.queries
        }
        return len(self.answers.keys() - identities)

    def _plan(self, identity: str, places: Mapping[str, int]) -> Plan | Failure:
        if identity not in self.answers:
            return Failure(reason=f"no answer has the id {identity}")
        try:
            return _read_plan(self.answers[identity], places=places)
        except ContractError as error:
            return Failure(reason=f"the answer {identity} broke the output format: {error}")


_CALL = object_schema({"tool": {"type": "string"}, "arguments": {"type": "string"}})
"""Arguments are a text, as in function calls: strict modes take no object without fixed keys."""

PLAN_SCHEMA = object_schema({"calls": {"type": "array", "items": _CALL}})


def _distinct(names: Sequence[str]) -> list[str]:
    """Return the names so that none is twice: a second `search` is `search (2)`."""
    labels: dict[str, None] = {}
    for name in names:
        candidates = (f"{name} ({number})" if number else name for number in (0, *range(2, len(names) + 2)))
        labels[next(candidate for candidate in candidates if candidate not in labels)] = None
    return list(labels)


def _places(tools: Sequence[Tool]) -> dict[str, int]:
    """Return the positions of the tools by the names under which an agent calls them."""
    return {label: place for place, label in enumerate(_distinct([tool.name for tool in tools]))}


def _system(tools: Sequence[tuple[str, Tool]]) -> str:
    """Return the same bytes for every query of a batch, so that an endpoint can cache them."""
    listed = "\n".join(canonical_json({"name": trim(visible(label)), **_shown_parts(tool)}) for label, tool in tools)
    mark = delimiter(listed)
    is_deferred = any(isinstance(tool, search.DeferredTool) for _, tool in tools)
    head = system_prompt("select").replace("{mark}", mark).replace("{deferred}", _DEFERRED if is_deferred else "")
    return head.replace("{tools}", fenced(listed, mark=mark))


_DEFERRED = "The input schemas of the tools are loaded later, so leave all arguments empty. "


def _shown_parts(tool: Tool) -> dict[str, Any]:
    schema = json.loads(visible(json.dumps(tool.input_schema or {}, ensure_ascii=False)))
    parts = {"description": visible(tool.description or ""), "inputSchema": schema}
    return {key: part for key, part in parts.items() if part or not isinstance(tool, search.DeferredTool)}


def _read_plan(answer: object, *, places: Mapping[str, int]) -> Plan:
    """Raises ContractError for an answer, as JSON or its text, that is no plan, and for tools that are not there."""
    answer = parse_json(answer) if isinstance(answer, str) else answer
    calls = answer.get("calls") if isinstance(answer, Mapping) else None
    if not isinstance(calls, list):
        raise ContractError("calls must be a list")
    return Plan(calls=tuple(_read_call(call, places) for call in calls))


def _read_call(call: object, places: Mapping[str, int]) -> tuple[int, Mapping[str, Any]]:
    tool, arguments = (call.get("tool"), call.get("arguments", {})) if isinstance(call, Mapping) else (None, None)
    if not isinstance(tool, str) or tool not in places:
        raise ContractError(f"there is no tool {tool!r}")
    if isinstance(arguments, str):
        arguments = parse_json(arguments or "{}")
    if not isinstance(arguments, Mapping):
        raise ContractError(f"the arguments of {tool!r} must be an object")
    return places[tool], arguments


def _check_plan(query: Query, plan: Plan, right: AbstractSet[int], tools: Sequence[Tool]) -> PlanCheck:
    names = [tools[place].name for place, _ in plan.calls]
    lookups = [call.tool for call in query.calls[:-1]]
    harmless = {query.tool, *query.also, *query.optional}
    spare = Counter(name for name in names[:-1] if name not in harmless - {query.tool})
    spare.subtract(lookups)
    is_right = plan.calls[-1][0] in right if plan.calls and query.tool else not (plan.calls or query.tool)
    is_deferred = any(isinstance(tool, search.DeferredTool) for tool in tools)
    determined = [call for call in query.calls if call.arguments and not is_deferred]
    return PlanCheck(
        right_end=is_right,
        lookups=_is_subsequence(lookups, names[:-1]) if lookups else None,
        nothing_needless=not +spare if query.tool else not names,
        valid_arguments=all(_is_valid(tools[place], values) for place, values in plan.calls)
        if plan.calls and not is_deferred
        else None,
        right_arguments=all(_is_met(call, query, plan, names) for call in determined)
        if determined and is_right and names[-1] == query.tool
        else None,
    )


def _is_subsequence(expected: Sequence[str], names: Iterable[str]) -> bool:
    rest = iter(names)
    return all(name in rest for name in expected)


_REFERENCE = re.compile(r"\$(\d+)\b")


def refers(value: object) -> bool:
    """Return whether a value has to come from an earlier call."""
    if isinstance(value, Mapping):
        return any(map(refers, value.values()))
    return any(map(refers, value)) if isinstance(value, list) else bool(_REFERENCE.match(str(value)))


def _is_valid(tool: Tool, arguments: Mapping[str, Any]) -> bool:
    """Return whether arguments fit, but for the values that refer to earlier calls: those are unknown."""
    schema = tool.input_schema or {}
    open_names = {name for name, value in arguments.items() if refers(value)}
    properties, required = schema.get("properties"), schema.get("required")
    if schema.get("additionalProperties") is False and isinstance(properties, Mapping) and open_names - {*properties}:
        return False
    if isinstance(required, list):
        schema = {**schema, "required": [name for name in required if name not in open_names]}
    try:
        return find_fault(schema, {name: value for name, value in arguments.items() if name not in open_names}) is None
    except ValueError:
        return True  # a broken schema says nothing about arguments


def _is_met(expected: PlannedCall, query: Query, plan: Plan, names: Sequence[str]) -> bool:
    """Return whether a call of the tool has the values; a reference must lead to a call of the same tool."""

    def equals(value: object, other: object) -> bool:
        first, second = (_REFERENCE.match(text) if isinstance(text, str) else None for text in (value, other))
        if not (first and second):
            return first is None and value == other
        place, answered = int(first[1]) - 1, int(second[1]) - 1
        return (
            0 <= place < len(query.calls) and 0 <= answered < len(names) and query.calls[place].tool == names[answered]
        )

    return any(
        name == expected.tool
        and all(key in values and equals(value, values[key]) for key, value in expected.arguments.items())
        for name, (_, values) in zip(names, plan.calls, strict=True)
    )


def _plan_shares(choices: Sequence[QueryChoice]) -> Iterator[PlanShare]:
    for demand, read in DEMANDS.items():
        met = [is_met for choice in choices if choice.plan and (is_met := read(choice.plan)) is not None]
        if met:
            low, high = (int(1000 * end + 0.5) for end in wilson_interval(sum(met), len(met)))
            yield PlanShare(demand=Own(demand), met=sum(met), plans=len(met), low=low, high=high)


def _kind_shares(choices: Sequence[QueryChoice]) -> Iterator[KindShare]:
    for kind in dict.fromkeys(filter(None, (choice.query.kind for choice in choices))):
        own = [choice for choice in choices if choice.query.kind == kind]
        yield KindShare(kind=kind, figures=figures(own), plans=tuple(_plan_shares(own)))


def _plan_changes(pairs: Sequence[tuple[QueryChoice, QueryChoice]]) -> list[PlanChange]:
    """McNemar's test of every demand, with Holm's correction. Fewer than six changes can prove nothing."""
    changes = []
    for demand, read in DEMANDS.items():
        both = [(read(before.plan), read(after.plan)) for before, after in pairs if before.plan and after.plan]
        met = [pair for pair in both if None not in pair]
        if met:
            gained, lost = met.count((False, True)), met.count((True, False))
            changes.append((exact_p_value(gained, lost), demand, gained, lost))
    corrected, highest = [], 0.0
    for rank, (p_value, demand, gained, lost) in enumerate(sorted(changes)):
        highest = max(highest, min(1.0, p_value * (len(changes) - rank)))
        verdict = ("better" if gained > lost else "worse") if highest < ALPHA else "n too small to tell"
        corrected.append(
            PlanChange(demand=Own(demand), gained=gained, lost=lost, p_value=highest, verdict=Own(verdict))
        )
    return sorted(corrected, key=lambda change: list(DEMANDS).index(change.demand))


ALPHA = 0.05
"""Corrected probability below which a change counts as proven."""

Z = NormalDist().inv_cdf(0.975)
"""Standard deviations on either side that hold 95% of a normal distribution."""

_MISS = Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """All named tools of some catalogs, to be searched together."""

    servers: tuple[str, ...]
    """A name for each catalog that no other one has."""

    entries: tuple[tuple[str, Tool], ...]
    """Each tool behind its server's name."""

    @classmethod
    def of(cls, catalogs: Sequence[Catalog]) -> "Index":
        """The tools in order. Raises InputError where there are none."""
        return cls._named(_distinct([catalog.server for catalog in catalogs]), catalogs)

    def like(self, catalogs: Sequence[Catalog]) -> "Index":
        """Other catalogs in the places, and under the names, of these ones. Raises InputError."""
        if len(catalogs) != len(self.servers):
            raise InputError(
                f"{len(self.servers)} catalogs cannot be compared with {len(catalogs)}: give as many, in the same order"
            )
        return self._named(self.servers, catalogs)

    @classmethod
    def _named(cls, servers: Sequence[str], catalogs: Sequence[Catalog]) -> "Index":
        listed = zip(servers, catalogs, strict=True)
        entries = tuple((server, tool) for server, catalog in listed for tool in catalog.tools if tool.name)
        if not entries:
            raise InputError("there is no tool with a name, so there is nothing to select from")
        return cls(servers=tuple(servers), entries=entries)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools by their positions."""
        return tuple(tool for _, tool in self.entries)

    def label(self, position: int) -> str:
        """A tool's name, after its server's where there are several servers."""
        server, tool = self.entries[position]
        return f"{server}/{tool.name}" if len(self.servers) > 1 else tool.name

    def by_name(self) -> Mapping[str, Mapping[str, tuple[int, ...]]]:
        """The positions of every name, by server."""
        rankings: dict[str, dict[str, tuple[int, ...]]] = {}
        for position, (server, tool) in enumerate(self.entries):
            places = rankings.setdefault(tool.name, {})
            places[server] = (*places.get(server, ()), position)
        return rankings


def make_queries(index: Index) -> tuple[list[Query], tuple[str, ...]]:
    """A query for every tool, from its definition alone and without the words of its name, and for which there is none.

    A query holds words of the definition that it is made from, never of one that is written later: whoever rewrites the
    definition can lose by it and hardly win.
    """
    queries: list[Query] = []
    mute: list[str] = []
    for position in sorted(own[0] for servers in index.by_name().values() for own in servers.values()):
        server, tool = index.entries[position]
        need = search.describe_need(tool)
        if need.words:
            home = server if len(index.servers) > 1 else None
            queries.append(Query(text=" ".join(need.words), tool=tool.name, server=home, withheld=need.withheld))
        else:
            mute.append(repr(index.label(position)))
    named = first_of(mute, MAX_NAMED)
    return queries, (f"too few words beside the name to ask for {named}",) if mute else ()


def check_queries(queries: Sequence[Query], index: Index) -> tuple[list[Query], tuple[str, ...]]:
    """The queries that can be put to the index, each once, and what was dropped.

    Among several servers a query names the one that has its tool, as what is picked instead is named.

    Raises InputError for queries without words and for those with a tool that is on none of the servers that they name.
    """
    if not queries:
        raise InputError("there are no queries")
    if any(not query.text.strip() for query in queries):
        raise InputError("a query has no text")
    names = index.by_name()
    strangers = [
        [
            f"{query.server}/{tool}" if query.server else tool
            for tool in filter(None, (query.tool, *(call.tool for call in query.calls), *query.also, *query.optional))
            if not any(query.server in (None, server) for server in names.get(tool, {}))
        ]
        for query in queries
    ]
    if any(strangers):
        named = first_of([repr(tool) for tool in dict.fromkeys(chain.from_iterable(strangers))], MAX_NAMED)
        count = sum(map(bool, strangers))
        raise InputError(f"{count} of {len(queries)} queries ask for tools that are not there: {named}")
    homed = [_with_server(query, names) for query in queries] if len(index.servers) > 1 else queries
    once = list({(query.text, query.tool, query.server): query for query in homed}.values())
    again = len(queries) - len(once)
    return once, (f"{again} of {len(queries)} queries came twice and count once",) if again else ()


def _with_server(query: Query, names: Mapping[str, Mapping[str, Sequence[int]]]) -> Query:
    """The query with the server of its tool, if no other server has a tool that is right."""
    homes = {server for name in (query.tool, *query.also) for server in names.get(name, ())}
    return replace(query, server=homes.pop()) if query.server is None and len(homes) == 1 else query


def choose(
    queries: Sequence[Query], rankings: Sequence[Ranking | Plan | Failure], index: Index
) -> tuple[QueryChoice, ...]:
    """Return what a selector made of each query; a query whose tool is not in the index finds nothing."""
    names, pairs = index.by_name(), zip(queries, rankings, strict=True)
    return tuple(_choice(query, ranking, names, index) for query, ranking in pairs)


def report(
    index: Index, choices: tuple[QueryChoice, ...], *, selector: str, problems: tuple[str, ...], codes: Codes
) -> Selection:
    """The figures of the choices."""
    return Selection(
        selector=selector,
        k=K,
        servers=index.servers,
        tool_count=len(index.entries),
        choices=choices,
        figures=figures(choices),
        confusions=_confusions(choices, index, codes),
        plans=tuple(_plan_shares(choices)),
        kinds=tuple(_kind_shares(choices)),
        against=None,
        problems=problems + _unanswered(choices),
    )


def compare(before: Selection, after: tuple[QueryChoice, ...], index: Index, *, label: str, codes: Codes) -> Selection:
    """The report, with the same queries put to those of an index; the tests take in what both have answered."""
    both = zip(before.choices, after, strict=True)
    pairs = [(former, other) for former, other in both if former.failure is None and other.failure is None]
    against = Against(
        label=label,
        figures=figures(after),
        choices=after,
        top1=_paired([(former.first, other.first) for former, other in pairs]),
        recall=_paired([(former.found, other.found) for former, other in pairs]),
        plans=tuple(_plan_changes(pairs)),
        confusions=_confusions([other for former, other in pairs if other.first < former.first], index, codes),
    )
    return replace(before, against=against, problems=tuple(dict.fromkeys(before.problems + _unanswered(after))))


def figures(choices: Sequence[QueryChoice]) -> Figures:
    """Shares over the queries that were answered."""
    answered = [choice for choice in choices if choice.failure is None]
    if not answered:
        return Figures(queries=0, top1=None, recall=None, mrr=None)
    return Figures(
        queries=len(answered),
        top1=_share([choice.first for choice in answered]),
        recall=_share([choice.found for choice in answered]),
        mrr=int(1000 * fmean(1 / choice.rank if choice.rank else 0 for choice in answered) + 0.5),
    )


def _choice(
    query: Query,
    answer: Ranking | Plan | Failure,
    names: Mapping[str, Mapping[str, Sequence[int]]],
    index: Index,
) -> QueryChoice:
    if isinstance(answer, Failure):
        failure, is_unusable = answer.reason, bool(answer.fault)
        return QueryChoice(query=query, rank=None, first=_MISS, found=_MISS, failure=failure, is_unusable=is_unusable)
    right = {
        place
        for name in (query.tool, *query.also)
        for server, own in names.get(name, {}).items()
        if query.server in (None, server)
        for place in own
    }
    plan = _check_plan(query, answer, right, index.tools) if isinstance(answer, Plan) else None
    ranking = answer.ranking() if isinstance(answer, Plan) else answer
    best = max((ranking[place] for place in right if place in ranking), default=None)
    top = max(ranking.values(), default=0.0)
    floor = top if best is None else best
    rivals = [(place, score) for place, score in ranking.items() if score >= floor and place not in right]
    instead = tuple(dict.fromkeys(index.label(place) for place, score in sorted(rivals) if score == top))
    tied = sum(score == best for _, score in rivals)
    ahead = len(rivals) - tied
    is_hit = best is not None if query.tool else not ranking  # of a request for no tool nothing may be called
    return QueryChoice(
        query=query,
        rank=1 + ahead + Fraction(tied, 2) if is_hit else None,
        first=Fraction(ahead == 0, 1 + tied) if is_hit else _MISS,
        found=Fraction(min(max(0, K - ahead), 1 + tied), 1 + tied) if is_hit else _MISS,
        instead=instead,
        plan=plan,
        planned=tuple(PlannedCall(tool=index.label(place), arguments=values) for place, values in answer.calls)
        if isinstance(answer, Plan) and plan and plan.unmet
        else (),
    )


def _share(parts: Sequence[Fraction]) -> int:
    """Tenths of a percent."""
    whole = 100 * sum(parts, start=_MISS) / len(parts)
    return round_half_up(whole.numerator, whole.denominator)


def _confusions(choices: Sequence[QueryChoice], index: Index, codes: Codes) -> tuple[Confusion, ...]:
    texts: dict[tuple[str, str], list[str]] = {}
    for choice in choices:
        for other in choice.instead:
            texts.setdefault((choice.query.label(index.servers), other), []).append(choice.query.text)
    names = index.by_name()
    labels = {index.label(place): place for place in range(len(index.entries))}
    confusions = []
    for (label, picked), queries in sorted(texts.items(), key=lambda entry: -len(entry[1])):
        own = names.get(label, {})
        place = labels.get(label, next((places[0] for places in own.values()), None))
        right = None if place is None else index.tools[place]
        rival_tool = index.tools[labels[picked]]
        rival = _terms(rival_tool)
        own_terms = _terms(right) if right else set()
        clashing = [
            word
            for text in queries
            for word in search.strange_words(text, own_terms)
            if word not in search.strange_words(text, rival)
        ]
        parting = search.strange_words(right.description or "", rival) if right else []
        sentence = parting_sentence(right, rival, picked) if right else None
        by_schema = () if sentence or right is None else differences(right, rival_tool)
        confusions.append(
            Confusion(
                tool=label,
                picked=picked,
                count=len(queries),
                clashing=tuple(word for word, _ in Counter(clashing).most_common(MAX_NAMED)),
                parting=tuple(dict.fromkeys(parting))[:MAX_NAMED],
                sentence=sentence,
                differences=(*by_schema, *(code_differences(right, rival_tool, codes) if right else ())),
            )
        )
    return tuple(confusions)


def _terms(tool: Tool) -> set[str]:
    return set(search.search_terms(search.indexed_text(tool)))


def _paired(pairs: Sequence[tuple[Fraction, Fraction]]) -> Paired | None:
    """How many queries do better and worse, McNemar's exact test of that, and the interval of the difference.

    A tie that another definition breaks counts as a whole gain or loss. The interval is built from Wilson's intervals
    of both shares (the method of variance estimates recovery, Zou and Donner 2008), and holds without any change too.
    """
    if not pairs:
        return None
    gained = sum(after > before for before, after in pairs)
    lost = sum(after < before for before, after in pairs)
    (low_up, high_up), (low_down, high_down) = (wilson_interval(count, len(pairs)) for count in (gained, lost))
    up, down = gained / len(pairs), lost / len(pairs)
    return Paired(
        gained=gained,
        lost=lost,
        difference=100 * (up - down),
        low=100 * (up - down - math.hypot(up - low_up, high_down - down)),
        high=100 * (up - down + math.hypot(high_up - up, down - low_down)),
        p_value=exact_p_value(gained, lost),
    )


def exact_p_value(gained: int, lost: int) -> float:
    """McNemar's exact test, two-sided: how likely so uneven a split is where gains and losses are equally likely."""
    total = gained + lost
    tail = sum(math.comb(total, count) for count in range(min(gained, lost) + 1))
    return float(min(Fraction(1), Fraction(2 * tail, 2**total)))


def wilson_interval(count: int, total: int) -> tuple[float, float]:
    """Wilson's 95% interval of a share."""
    share, square = count / total, Z * Z
    center, width = 2 * count + square, Z * math.sqrt(4 * total * share * (1 - share) + square)
    low, high = ((center + deviation) / (2 * (total + square)) for deviation in (-width, width))
    return low if count else 0.0, high if count < total else 1.0


def _unanswered(choices: Sequence[QueryChoice]) -> tuple[str, ...]:
    failed = [choice for choice in choices if choice.failure]
    unusable = [choice for choice in failed if choice.is_unusable]
    counts = (
        (f"of {len(choices)} queries have no answer", [choice for choice in failed if not choice.is_unusable]),
        (f"of {len(choices)} answers are unusable, {UNUSABLE}", unusable),
    )
    return tuple(f"{len(own)} {words}: {own[0].failure}" for words, own in counts if own)
