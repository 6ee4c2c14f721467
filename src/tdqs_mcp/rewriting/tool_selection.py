"""Whether a definition gets its tool found: queries that withhold its name, ranks, figures and paired comparison."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import NormalDist, fmean
from typing import Any

from tdqs_mcp.canonical import round_half_up
from tdqs_mcp.errors import InputError
from tdqs_mcp.facts.text.words import first_of, name_parts
from tdqs_mcp.facts.toolset import search
from tdqs_mcp.judges.judge import Failure
from tdqs_mcp.model.catalog import Catalog, Tool, read_tools
from tdqs_mcp.results.selection import (
    Against,
    Confusion,
    Figures,
    Mutation,
    Paired,
    Query,
    QueryChoice,
    Selection,
    Share,
)
from tdqs_mcp.rewriting.selectors import Ranking

MAX_NAMED = 8
"""Names in one message."""

Z = NormalDist().inv_cdf(0.975)
"""Standard deviations on either side that hold 95% of a normal distribution."""

_MISS = Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One tool in the index, on which of the servers."""

    server: str
    tool: Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """All named tools of some catalogs, to be searched together."""

    servers: tuple[str, ...]
    """A name for each catalog that no other one has."""

    entries: tuple[Entry, ...]

    @classmethod
    def of(cls, catalogs: Sequence[Catalog]) -> "Index":
        """The tools in order. Raises InputError where there are none."""
        servers = _distinct([catalog.server for catalog in catalogs])
        return cls._named(servers, catalogs)

    def like(self, catalogs: Sequence[Catalog]) -> "Index":
        """Other catalogs in the places, and under the names, of these ones. Raises InputError."""
        if len(catalogs) != len(self.servers):
            raise InputError(
                f"{len(self.servers)} catalogs cannot be compared with {len(catalogs)}: give as many, in the same order"
            )
        return self._named(self.servers, catalogs)

    @classmethod
    def _named(cls, servers: Sequence[str], catalogs: Sequence[Catalog]) -> "Index":
        pairs = zip(servers, catalogs, strict=True)
        entries = tuple(
            Entry(server=server, tool=tool) for server, catalog in pairs for tool in catalog.tools if tool.name
        )
        if not entries:
            raise InputError("there is no tool with a name, so there is nothing to select from")
        return cls(servers=tuple(servers), entries=entries)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools by their positions."""
        return tuple(entry.tool for entry in self.entries)

    def label(self, position: int) -> str:
        """A tool's name, after its server's where there are several servers."""
        entry = self.entries[position]
        return f"{entry.server}/{entry.tool.name}" if len(self.servers) > 1 else entry.tool.name

    def by_name(self) -> Mapping[str, Mapping[str, tuple[int, ...]]]:
        """The positions of every name, by server."""
        found: dict[str, dict[str, tuple[int, ...]]] = {}
        for position, entry in enumerate(self.entries):
            places = found.setdefault(entry.tool.name, {})
            places[entry.server] = (*places.get(entry.server, ()), position)
        return found


def ask(index: Index) -> tuple[list[Query], tuple[str, ...]]:
    """A query for every tool, from its definition alone and without the words of its name, and for which there is none.

    A query holds words of the definition that it is made from, never of one that is written later: whoever rewrites the
    definition can lose by it and hardly win.
    """
    is_shared = len(index.servers) > 1
    queries: list[Query] = []
    mute: list[str] = []
    seen = set()
    for position, entry in enumerate(index.entries):
        if (entry.server, entry.tool.name) in seen:
            continue
        seen.add((entry.server, entry.tool.name))
        need = search.describe_need(entry.tool)
        if need.said:
            text = " ".join(need.said)
            server = entry.server if is_shared else None
            queries.append(Query(text=text, tool=entry.tool.name, server=server, withheld=need.withheld))
        else:
            mute.append(index.label(position))
    return queries, (f"too few words beside the name to ask for {_some(mute)}",) if mute else ()


def check(queries: Sequence[Query], index: Index) -> tuple[list[Query], tuple[str, ...]]:
    """The queries that can be put to the index, each once, and what was dropped.

    Raises InputError for queries without words and for those whose tool is on none of the servers that they name.
    """
    if not queries:
        raise InputError("there are no queries")
    if any(not query.text.strip() for query in queries):
        raise InputError("a query has no text")
    names = index.by_name()
    strangers = [query for query in queries if not _servers(query, names)]
    if strangers:
        told = dict.fromkeys(f"{query.server}/{query.tool}" if query.server else query.tool for query in strangers)
        raise InputError(f"{len(strangers)} of {len(queries)} queries ask for tools that are not there: {_some(told)}")
    once = list({(query.text, query.tool, query.server): query for query in queries}.values())
    again = len(queries) - len(once)
    return once, (f"{again} of {len(queries)} queries came twice and count once",) if again else ()


def choose(
    queries: Sequence[Query], rankings: Sequence[Ranking | Failure], index: Index, *, k: int
) -> tuple[QueryChoice, ...]:
    """What a selector made of each query; a query whose tool is not in the index finds nothing."""
    names = index.by_name()
    return tuple(
        _choice(query, ranking, names.get(query.tool, {}), index, k)
        for query, ranking in zip(queries, rankings, strict=True)
    )


def report(
    index: Index, choices: tuple[QueryChoice, ...], *, selector: str, k: int, problems: tuple[str, ...]
) -> Selection:
    """The figures of the choices."""
    return Selection(
        selector=selector,
        k=k,
        servers=index.servers,
        tool_count=len(index.entries),
        choices=choices,
        figures=figures(choices),
        confusions=_confusions(choices, is_named=len(index.servers) > 1),
        shares=_shares(choices, index),
        against=None,
        problems=problems + _unanswered(choices),
    )


def compare(before: Selection, after: tuple[QueryChoice, ...], *, label: str) -> Selection:
    """The report with the same queries put to other definitions; the tests take in what both have answered."""
    pairs = [
        pair for pair in zip(before.choices, after, strict=True) if pair[0].failure is None and pair[1].failure is None
    ]
    against = Against(
        label=label,
        figures=figures(after),
        choices=after,
        top1=_paired([(one.first, other.first) for one, other in pairs]),
        recall=_paired([(one.found, other.found) for one, other in pairs]),
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
    query: Query, ranking: Ranking | Failure, places: Mapping[str, Sequence[int]], index: Index, k: int
) -> QueryChoice:
    if isinstance(ranking, Failure):
        return QueryChoice(query=query, rank=None, first=_MISS, found=_MISS, failure=ranking.reason)
    right = {place for server, own in places.items() if query.server in (None, server) for place in own}
    best = max((ranking[place] for place in right if place in ranking), default=None)
    top = max(ranking.values(), default=0.0)
    floor = top if best is None else best
    rivals = [(place, score) for place, score in ranking.items() if score >= floor and place not in right]
    missed = QueryChoice(
        query=query,
        rank=None,
        first=_MISS,
        found=_MISS,
        instead=tuple(dict.fromkeys(index.label(place) for place, score in sorted(rivals) if score == top)),
        highest=_highest(places, ranking),
    )
    if best is None:
        return missed
    tied = sum(score == best for _, score in rivals)
    ahead = len(rivals) - tied
    return replace(
        missed,
        rank=1 + ahead + Fraction(tied, 2),
        first=Fraction(ahead == 0, 1 + tied),
        found=Fraction(min(max(0, k - ahead), 1 + tied), 1 + tied),
    )


def _highest(places: Mapping[str, Sequence[int]], ranking: Ranking) -> tuple[str, ...]:
    if len(places) < 2:
        return ()
    best = {server: max(ranking.get(place, -math.inf) for place in own) for server, own in places.items()}
    top = max(best.values())
    return tuple(server for server, score in best.items() if score == top and score > -math.inf)


def _share(parts: Sequence[Fraction]) -> int:
    """Tenths of a percent."""
    whole = 100 * sum(parts, start=_MISS) / len(parts)
    return round_half_up(whole.numerator, whole.denominator)


def _confusions(choices: Sequence[QueryChoice], *, is_named: bool) -> tuple[Confusion, ...]:
    counts = Counter(
        (f"{choice.query.server}/{choice.query.tool}" if is_named and choice.query.server else choice.query.tool, other)
        for choice in choices
        for other in choice.instead
    )
    return tuple(
        Confusion(tool=tool, picked=picked, count=count)
        for (tool, picked), count in sorted(counts.items(), key=lambda each: -each[1])
    )


def _shares(choices: Sequence[QueryChoice], index: Index) -> tuple[Share, ...]:
    """How often each server's tool stands highest among those of the same name."""
    names = index.by_name()
    contests = [
        (choice, frozenset(places))
        for choice in choices
        if choice.failure is None and len(places := names.get(choice.query.tool, {})) > 1
    ]
    rivals = {server for _, places in contests for server in places}
    return tuple(
        _share_of(server, [choice for choice, places in contests if server in places])
        for server in index.servers
        if server in rivals
    )


def _share_of(server: str, choices: Sequence[QueryChoice]) -> Share:
    def won(choice: QueryChoice) -> Fraction:
        return Fraction(server in choice.highest, max(1, len(choice.highest)))

    foreign = [won(choice) for choice in choices if not (choice.query.withheld and choice.query.server == server)]
    return Share(
        server=server,
        queries=len(choices),
        share=_share([won(choice) for choice in choices]),
        others=_share(foreign) if foreign else None,
    )


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
    low, high = ((center + each) / (2 * (total + square)) for each in (-width, width))
    return low if count else 0.0, high if count < total else 1.0


def _unanswered(choices: Sequence[QueryChoice]) -> tuple[str, ...]:
    failed = [choice.failure for choice in choices if choice.failure]
    return (f"{len(failed)} of {len(choices)} queries have no answer: {failed[0]}",) if failed else ()


def _servers(query: Query, names: Mapping[str, Mapping[str, object]]) -> list[str]:
    """The servers on which the query's tool is right."""
    servers = names.get(query.tool, {})
    return [server for server in servers if query.server in (None, server)]


def _distinct(names: Sequence[str]) -> list[str]:
    """The names, a number behind those that came before."""
    found: dict[str, None] = {}
    for name in names:
        candidates = (f"{name} ({number})" if number else name for number in (0, *range(2, len(names) + 2)))
        found[next(each for each in candidates if each not in found)] = None
    return list(found)


def _some(names: Iterable[str]) -> str:
    return first_of([repr(name) for name in names], MAX_NAMED)


KEPT = 40
"""Characters that truncation leaves of each text: a line of a menu."""

Wording = Callable[[str, str], str]
"""The new text for a name and an old text."""


def mutate(catalog: Catalog, mutation: Mutation) -> Catalog:
    """The catalog with every definition made worse; names, types and everything but texts stay as they are.

    `distractors` leaves them and adds, behind the others, a truncated near-duplicate of each under a name of its own.
    """
    raws = [tool.raw for tool in catalog.tools]
    if mutation is not Mutation.DISTRACTORS:
        return replace(catalog, tools=read_tools([_reworded(raw, _WORDINGS[mutation]) for raw in raws]))
    named = [tool.raw | {"name": f"{tool.name}_v2"} for tool in catalog.tools if tool.name]
    return replace(catalog, tools=read_tools([*raws, *(_reworded(raw, _truncated) for raw in named)]))


def _reworded(raw: Any, wording: Wording) -> Any:  # noqa: ANN401  # foreign JSON
    if not isinstance(raw, Mapping):
        return raw
    reworded = {**raw, "description": wording(str(raw.get("name")), _string(raw.get("description")))}
    schema = raw.get("inputSchema")
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if isinstance(schema, Mapping) and isinstance(properties, Mapping):
        parameters = {name: _parameter(name, entry, wording) for name, entry in properties.items()}
        reworded["inputSchema"] = {**schema, "properties": parameters}
    return reworded


def _parameter(name: str, entry: Any, wording: Wording) -> Any:  # noqa: ANN401
    if not isinstance(entry, Mapping) or not isinstance(entry.get("description"), str):
        return entry
    return {**entry, "description": wording(name, entry["description"])}


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _truncated(_: str, text: str) -> str:
    return text[:KEPT]


def _generic(name: str, _: str) -> str:
    """The name again: what a description says whose author had nothing to say."""
    return f"The {' '.join(name_parts(name))}."


def _blank(_: str, __: str) -> str:
    return ""


_WORDINGS: Mapping[Mutation, Wording] = {
    Mutation.TRUNCATE: _truncated,
    Mutation.GENERIC: _generic,
    Mutation.BLANK: _blank,
}
