"""Facts of a whole catalog: mentions, duplicates, shadow pairs, naming, resources, prompts, the initialize answer."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import NamedTuple

from tdqs_mcp.canonical import trim, utf16_order
from tdqs_mcp.facts.lexicon import MAX_TEXT, lazy_pattern, words_from
from tdqs_mcp.facts.schema.signals import Signals
from tdqs_mcp.facts.spelling import name_parts
from tdqs_mcp.facts.text.words import LEMMAS, VAGUE_VERBS, Cue, Effect, shared_prefix, stem
from tdqs_mcp.facts.toolset.overlaps import Overlap, Purpose
from tdqs_mcp.model import Catalog, ListedPrompt, Resource, Tool
from tdqs_mcp.results.verdicts import ShadowCandidate

_CHANGES = (Effect.UPDATE, Effect.DELETE)
_LIFECYCLE = {Effect.CREATE, Effect.READ, Effect.UPDATE, Effect.DELETE}

_MARK = lazy_pattern(r"[`'\"]([^`'\"\s]{1,128})[`'\"]|\b(\w{1,128})(?:\(\)| tool\b)")
"""A word that a text marks as a name: quoted, called with (), or followed by "tool"."""

SHADOW_RATIO = 2
"""The dearer tool costs at least this many times the cheaper one (TDQS 1.1, shadow prefilter)."""

SHADOW_GAP = 4
"""... and at least this much more, so that a free tool does not qualify against everything (TDQS 1.1)."""


def mentioned_siblings(tool: Tool, words: Iterable[str], names: Mapping[str, str]) -> tuple[str, ...]:
    """Other tools that a description of these words names; `names` maps each lower-cased name to the real one.

    A one-word name such as `search` counts only in backticks, in quotes or before "tool": else it is a plain word.
    """
    own = tool.name.lower()
    named = {names[word]: None for word in words if word in names and word != own}
    marks = _MARK.findall((tool.description or "")[:MAX_TEXT].lower()) if named else ()
    marked = {word for groups in marks for word in groups}
    plain = {name for name in named if name.isalpha() and name in (name.lower(), name.title())}
    return tuple(name for name in named if name not in plain or name.lower() in marked)


def redirect(cues: Mapping[Cue, str], mentions: Sequence[str]) -> str | None:
    """The first sentence that names a sibling and says that it is the alternative."""
    turns = (cues.get(cue) for cue in (Cue.ALTERNATIVE, Cue.WHEN_NOT, Cue.WHEN))
    return next((sentence for sentence in turns if sentence and any(name in sentence for name in mentions)), None)


def shadow_candidates(tools: Sequence[tuple[Tool, Signals]]) -> tuple[ShadowCandidate, ...]:
    """For each tool its dearest much cheaper sibling, in catalog order; ties by UTF-16 order of the name (TDQS 1.1)."""
    cheapest_names: dict[int, list[str]] = {}
    for tool, signals in tools:
        cheapest_names.setdefault(signals.subtree.invocation_cost, []).append(tool.name)
    costs = sorted(cheapest_names)
    ordered = {cost: sorted(set(names), key=utf16_order) for cost, names in cheapest_names.items()}
    candidates = []
    for tool, signals in tools:
        own = signals.subtree.invocation_cost
        cheap = reversed(costs[: bisect_right(costs, min(own // SHADOW_RATIO, own - SHADOW_GAP))])
        siblings = ((cost, name) for cost in cheap for name in ordered[cost][:2] if name != tool.name)
        for cost, cheaper in islice(siblings, 1):
            candidates.append(
                ShadowCandidate(
                    index=tool.index,
                    tool=tool.name,
                    invocation_cost=own,
                    cheaper_sibling=cheaper,
                    cheaper_sibling_invocation_cost=cost,
                )
            )
    return tuple(candidates)


def duplicate_names(tools: Sequence[Tool]) -> frozenset[str]:
    """Names that more than one tool carries."""
    counts = Counter(tool.name for tool in tools if tool.name)
    return frozenset(name for name, count in counts.items() if count > 1)


class ToolSet(NamedTuple):
    """How consistent and complete the tools of a catalog are."""

    tool_count: int
    off_style: tuple[str, ...]
    """Names outside the most frequent spelling (snake_case, kebab-case, camelCase, PascalCase)."""

    off_pattern: tuple[str, ...]
    """Names that lead with a noun where most lead with a verb, or the reverse; a shared prefix is not counted."""

    vague: tuple[str, ...]
    """Tools whose name has neither a resource nor a specific verb: `process`, `do_thing`, `helper`."""

    overlapping: tuple[str, ...]
    """Tools that say the same as another one."""

    same_kind: tuple[str, ...]
    """Tools that do to a thing what another one does to it, too; getting, listing and searching it are one."""

    one_word: tuple[str, ...]
    """Tools whose name is one word, a product's not counted."""

    uneven: int
    """Words of the longest name more than of the shortest."""

    actions: int
    """Different verbs among the tools; synonyms count once."""

    gaps: tuple[str, ...]
    """Resources that can be created but not read, or created but neither updated nor deleted."""

    complete: tuple[str, ...]
    """Resources with create, read, update and delete."""


def read_tool_set(purposes: Sequence[Purpose], overlaps: Sequence[Overlap]) -> ToolSet:
    """The facts of a tool set; linear in its size."""
    named = _named(purposes)
    lifecycles = _lifecycles(purposes)
    styles = [(name.tool, _style(name.tool)) for name in named]
    lengths = [purpose.parts for purpose in purposes] or [0]
    return ToolSet(
        tool_count=len(purposes),
        off_style=_minority([(name, style) for name, style in styles if style]),
        off_pattern=_minority([(name.tool, bool(name.parts) and name.parts[0] in LEMMAS) for name in named]),
        vague=tuple(name.tool for name in named if not name.resource and name.verb in {None, *VAGUE_VERBS}),
        overlapping=tuple(dict.fromkeys(tool for pair in overlaps for tool in (pair.first, pair.second))),
        same_kind=_same_kind(purposes),
        one_word=tuple(purpose.source.tool for purpose in purposes if purpose.parts == 1),
        uneven=max(lengths) - min(lengths),
        actions=len({purpose.action for purpose in purposes}),
        gaps=tuple(
            resource
            for resource, effects in lifecycles.items()
            if Effect.CREATE in effects and (Effect.READ not in effects or effects.isdisjoint(_CHANGES))
        ),
        complete=tuple(resource for resource, effects in lifecycles.items() if effects >= _LIFECYCLE),
    )


class _Named(NamedTuple):
    """A tool's name, without a prefix that most names share."""

    tool: str
    parts: tuple[str, ...]

    @property
    def verb(self) -> str | None:
        return next((LEMMAS[part] for part in self.parts if part in LEMMAS), None)

    @property
    def resource(self) -> str:
        """The nouns of the name, singular: `list_open_issues` -> open issue."""
        verb = self.verb
        return " ".join(
            stem(part) for part in self.parts if LEMMAS.get(part) != verb and part not in words_from("names", "vague")
        )


def _named(purposes: Sequence[Purpose]) -> list[_Named]:
    parts = [name_parts(purpose.source.tool) for purpose in purposes]
    prefix = shared_prefix(parts)
    return [
        _Named(
            tool=purpose.source.tool,
            parts=words[1:] if len(words) > 1 and words[0] == prefix else words,
        )
        for purpose, words in zip(purposes, parts, strict=True)
    ]


def _same_kind(purposes: Sequence[Purpose]) -> tuple[str, ...]:
    kinds = [("read" if purpose.is_reading else purpose.action, purpose.thing) for purpose in purposes]
    counts = Counter(kinds)
    pairs = zip(purposes, kinds, strict=True)
    return tuple(purpose.source.tool for purpose, kind in pairs if purpose.thing and counts[kind] > 1)


def _style(name: str) -> str:
    """The spelling of a name; a single lower-case word fits every spelling and says nothing."""
    if "_" in name:
        return "snake_case" if name == name.lower() else "mixed"
    if "-" in name:
        return "kebab-case" if name == name.lower() else "mixed"
    if name == name.lower():
        return ""
    return "PascalCase" if name[:1].isupper() else "camelCase"


def _minority(named: Sequence[tuple[str, object]]) -> tuple[str, ...]:
    counts = Counter(kind for _, kind in named)
    usual = counts.most_common(1)[0][0] if counts else None
    return tuple(name for name, kind in named if kind != usual)


def _lifecycles(purposes: Sequence[Purpose]) -> dict[str, set[Effect]]:
    """Each thing with what can be done to it as a whole: `update_list_position` does not update the list."""
    lifecycles: dict[str, set[Effect]] = {}
    for purpose in purposes:
        if purpose.thing and not purpose.scope and purpose.effect:
            lifecycles.setdefault(" ".join(sorted(purpose.thing)), set()).add(purpose.effect)
    return lifecycles


def one_sided_boundaries(
    own: str, mentions: Sequence[str], redirect: str | None, named: Mapping[str, AbstractSet[str]]
) -> list[str]:
    """Siblings that a tool points to and that do not mention it in return; `named` has the mentions by tool."""
    if redirect is None:
        return []
    return [other for other in mentions if other in redirect and own not in named.get(other, {own})]


NO_NAMES = ("", "Unknown Server")
"""Server names that count as missing (MCP Playground, server-no-name)."""

NO_VERSIONS = ("", "unknown")
"""Versions that count as missing (MCP Playground, server-no-version)."""


def is_blank(text: str | None) -> bool:
    """Nothing but white space."""
    return not trim(text or "")


def listed_resources(catalog: Catalog) -> list[Resource]:
    """The entries of `resources/list`; templates are another listing."""
    return [resource for resource in catalog.resources or () if not resource.is_template]


def undescribed_arguments(prompt: ListedPrompt) -> list[tuple[int, str]]:
    """Position and name of each argument without a description."""
    arguments = prompt.raw.get("arguments") if isinstance(prompt.raw, dict) else None
    undescribed = []
    for place, argument in enumerate(arguments if isinstance(arguments, list) else ()):
        text = argument.get("description") if isinstance(argument, dict) else "not an argument"
        if is_blank(text) if isinstance(text, str) else not text:
            undescribed.append((place, argument["name"] if isinstance(argument.get("name"), str) else ""))
    return undescribed


def is_empty(catalog: Catalog) -> bool:
    """There is no tool, resource or prompt; false where a listing that the server declares has failed."""
    declared = catalog.capabilities or {}
    has_failed = ("resources" in declared and catalog.resources is None) or (
        "prompts" in declared and catalog.prompts is None
    )
    return not (has_failed or catalog.tools or listed_resources(catalog) or catalog.prompts)


def is_greeted(catalog: Catalog) -> bool:
    """The catalog has the initialize answer; a bare file does not."""
    greeting = (catalog.server_info, catalog.capabilities, catalog.protocol_version)
    return any(part is not None for part in greeting)


def lacks_name(catalog: Catalog) -> bool:
    """The initialize answer was seen, and it names no server."""
    return is_greeted(catalog) and ((catalog.server_info or {}).get("name") or "") in NO_NAMES


def lacks_version(catalog: Catalog) -> bool:
    """The initialize answer was seen, and it gives no version."""
    return is_greeted(catalog) and ((catalog.server_info or {}).get("version") or "") in NO_VERSIONS


def display_name(tool: Tool) -> str | None:
    """Return what a client shows for a tool: its title, else the one in its annotations; None where both are blank."""
    titles = (tool.title, (tool.annotations or {}).get("title"))
    return next((trim(title) for title in titles if isinstance(title, str) and trim(title)), None)


def shared_display_names(tools: Iterable[Tool], *, alike: Callable[[str], str] = str) -> dict[str, list[Tool]]:
    """Tools with different names that are shown under one title, by the title of the first.

    Titles are one if `alike` gives the same for them: rubrics ignore case, foreign linters do not.
    """
    groups: dict[str, list[Tool]] = {}
    for tool in tools:
        if title := display_name(tool):
            groups.setdefault(alike(title), []).append(tool)
    return {display_name(group[0]) or "": group for group in groups.values() if len({tool.name for tool in group}) > 1}
