"""Which tool of a catalog returns the value of a parameter."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from tdqs_mcp.facts.schema.signals import Parameter
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.text.vocabulary import STOPWORDS, Cue, Effect, lazy_pattern, words_from
from tdqs_mcp.facts.text.words import is_plain, name_parts, stem
from tdqs_mcp.facts.toolset.names import Label

_words = partial(words_from, "names")

MAX_GIVERS = 4
"""Tools that may return a value; with more, any choice among them is arbitrary."""

MAX_LISTERS = 40
"""Tools that list things with the same last word; the first of them are enough."""


class ValueSource(NamedTuple):
    """Which sibling returns the value of a parameter."""

    parameter: str
    tools: tuple[str, ...]
    """One or two tools: a list and a search, or two scopes."""

    sources: tuple[str, ...]
    """What proves it, as sources of words."""


def unstated_sources(subject: Subject, origins: Iterable[ValueSource]) -> tuple[ValueSource, ...]:
    """The sources that the tool's own texts do not mention."""
    own = " ".join([subject.tool.description or "", *(each.description for each in subject.signals.parameters)])
    return tuple(origin for origin in origins if not any(tool in own for tool in origin.tools))


class _Lister(NamedTuple):
    """A tool that lists things."""

    things: frozenset[str]
    verb: str
    is_scoped: bool
    subject: Subject


class ValueSources:
    """Finds the tool that returns a value. Indexed by thing and by field, so all tools take linear time."""

    def __init__(self, subjects: Iterable[Subject], labels: Mapping[str, Label]) -> None:
        self._labels = labels
        self._names = {name for name in labels if not name.isalpha()}
        self._listers: dict[str, list[_Lister]] = {}
        self._fields: dict[str, list[Subject]] = {}
        self._sayers: dict[str, list[Subject]] = {}
        for subject in subjects:
            if not is_plain(subject.tool.name) or subject.is_duplicate:
                continue
            label = labels[subject.tool.name]
            listed = _listed(label)
            if listed:
                # It lists the things of something else: `get_tags_for_task`.
                is_scoped = any(word.lower() in _words("scopes") for word in label.nouns)
                lister = _Lister(frozenset(listed), label.verb or "list", is_scoped, subject)
                self._listers.setdefault(listed[-1], []).append(lister)
            for name in subject.output_shape.names:
                self._fields.setdefault(name, []).append(subject)
            for word in _returned(subject):
                self._sayers.setdefault(word, []).append(subject)

    def of(self, subject: Subject) -> tuple[ValueSource, ...]:
        """The sources of a tool's parameters, required ones first."""
        ordered = sorted(subject.signals.parameters, key=lambda each: not each.is_required)
        found = (self._origin(subject, each) for each in ordered if is_plain(each.name))
        return tuple(origin for origin in found if origin)

    def _origin(self, subject: Subject, parameter: Parameter) -> ValueSource | None:
        """None where the parameter's own text says that the caller chooses the value, or names a tool that gives it."""
        if _CHOSEN.search(parameter.description) or not self._names.isdisjoint(_NAME.findall(parameter.description)):
            return None
        listers = self._listing(subject, parameter)
        if listers:
            return ValueSource(
                parameter=parameter.name, tools=listers, sources=tuple(f"tool {name}: its name" for name in listers)
            )
        words = name_parts(parameter.name)
        strong = _words("identifiers") - _words("weak_identifiers")
        if len(words) < 2 or not (words[-1] in strong or words[0] == "id"):
            return None
        for index, proof in ((self._fields, "its output schema"), (self._sayers, "what it says that it returns")):
            givers = _without(index.get(parameter.name, ()), subject, parameter)
            if 0 < len(givers) <= MAX_GIVERS:
                best = min(givers, key=lambda each: (_required(each), each.tool.index)).tool.name
                return ValueSource(parameter=parameter.name, tools=(best,), sources=(f"tool {best}: {proof}",))
        return None

    def _listing(self, subject: Subject, parameter: Parameter) -> tuple[str, ...]:
        """The tool that lists just this thing with the least input, and one that searches it or has another scope.

        None where both a project's milestones and a group's are listed, and the tool is about a group's: a name does
        not tell whose are whose.
        """
        label = self._labels[subject.tool.name]
        thing, own = _thing(parameter, label), set(label.resource)
        is_loose = label.effect in (Effect.READ, Effect.UPDATE, Effect.DELETE)
        # What is listed after the action: `download_paper` does not need a downloaded paper.
        done = {f"{label.verb}ed", f"{label.verb}d"} if label.verb else frozenset()
        is_weak = name_parts(parameter.name)[-1:] and name_parts(parameter.name)[-1] in _words("weak_identifiers")
        ranked = sorted(
            (len(each.things - thing), each.is_scoped, _required(each.subject), each.subject.tool.index, each)
            for word in sorted(thing)
            for each in self._listers.get(word, ())[:MAX_LISTERS]
            if thing <= each.things
            and each.things - thing <= own
            and (is_loose or not each.is_scoped)
            and (not is_weak or each.verb in ("list", "search"))
            and done.isdisjoint(each.subject.prose.spoken[0] if each.subject.prose.spoken else ())
            and _without([each.subject], subject, parameter)
        )
        if ranked and ranked[-1][0] and not ranked[0][0]:
            return ()
        fit = [each for *rank, each in ranked if rank[:2] == list(ranked[0][:2])]
        first = fit[:1] + [each for each in fit[1:] if each.is_scoped or {each.verb, fit[0].verb} == _BOTH_WAYS][:1]
        return tuple(each.subject.tool.name for each in first)


_BOTH_WAYS = frozenset({"list", "search"})

_NAME = lazy_pattern(r"[\w.-]*\w")
_CHOSEN = lazy_pattern(
    r"\b(?:custom|your own|of your choice|(?:any|a) unique|(?:a|the) new|arbitrary|label for)\b", re.IGNORECASE
)


def _listed(label: Label) -> tuple[str, ...]:
    """The words, in stems, of the things that a tool lists: `list_open_issues`, `issue_list`, `get_users`."""
    words = [word.lower() for word in label.nouns]
    if "list" in words and label.effect is Effect.READ and (label.verb is None or words[-1] == "list"):
        place = words.index("list")
        words = [*words[:place], *words[place + 1 :]]
    elif label.verb not in _words("listing_verbs") or not (label.verb in ("list", "search") or _is_plural(label)):
        return ()
    end = next((place for place, word in enumerate(words) if word in _words("scopes")), len(words))
    return tuple(
        dict.fromkeys(stem(word) for word in words[:end] if word not in STOPWORDS and word not in _words("everything"))
    )


def _is_plural(label: Label) -> bool:
    last = label.thing.lower().split()[-1:]
    return bool(last) and last[0].endswith("s") and stem(last[0]) != last[0]


def _thing(parameter: Parameter, label: Label) -> frozenset[str]:
    """The stems of what a parameter identifies; of the tool's own thing where it says no more than `id`.

    Nothing where it is new: the `event_id` that `create_event` may be given, the `connection_name` of `connect`.
    """
    words = name_parts(parameter.name)
    if len(words) > 1 and words[0] == "id" and words[-1] not in _words("identifiers"):
        words = (*words[1:], "id")
    *rest, kind = words or ("",)
    if kind not in _words("identifiers") or (kind in _words("weak_identifiers") and _words("no_resources") & set(rest)):
        return frozenset()
    own = frozenset(map(stem, label.thing.lower().split()))
    if rest and _words("roles").issuperset(rest):
        return frozenset()
    rest = [word for word in rest if word not in _words("roles")]
    if not rest:
        is_there = label.effect in (Effect.READ, Effect.UPDATE, Effect.DELETE)
        return own if kind not in _words("weak_identifiers") and is_there and not _listed(label) else frozenset()
    thing = frozenset(map(stem, rest))
    if kind in _words("weak_identifiers") and thing <= _words("generic_things"):
        return frozenset()
    is_made = label.effect in (Effect.CREATE, Effect.PRODUCE) and thing <= own
    is_named = (
        kind in _words("weak_identifiers")
        and label.verb is not None
        and any(word.startswith(label.verb) for word in rest)
    )
    return frozenset() if is_made or is_named else thing


def _returned(subject: Subject) -> Iterator[str]:
    """The identifiers in the sentence that says what comes back."""
    sentence = subject.prose.cues.get(Cue.RETURN, "")
    words = sentence.replace("`", " ").replace(",", " ").replace(".", " ").split() if sentence else ()
    return (word for word in dict.fromkeys(words) if len(name_parts(word)) > 1 and is_plain(word))


def _without(tools: Sequence[Subject], subject: Subject, parameter: Parameter) -> list[Subject]:
    """The other tools that do not themselves need this parameter."""
    return [
        other
        for other in tools
        if other is not subject and not any(each.name == parameter.name for each in other.signals.parameters)
    ]


def _required(subject: Subject) -> int:
    return subject.signals.required_param_count
