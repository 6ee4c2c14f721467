"""The parts of a better definition: what each changes, in which words, and what these rest on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tdqs_mcp.facts import choices, excess, names, statements
from tdqs_mcp.facts.choices import Choice, Demand
from tdqs_mcp.facts.lexicon import Effect
from tdqs_mcp.facts.names import Label, Neighbours
from tdqs_mcp.facts.prose import name_parts, stem
from tdqs_mcp.facts.signals import Parameter
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.words import LEMMAS

MAX_SIBLINGS = 2
"""Siblings that one description points to."""

MAX_GIVEN = 4
"""Parameters that a first sentence can carry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Splice:
    """New words for a stretch of the old description."""

    start: int
    end: int
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One improvement that stands or falls as a whole."""

    path: str
    sources: tuple[str, ...]
    splices: tuple[Splice, ...] = ()
    sentence: str = ""
    """Goes to the description's end."""

    value: object = None
    """The whole new value of any field but the description."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What the parts of one tool need to know of all the others."""

    subjects: Mapping[str, Subject]
    """By name, duplicates left out: a name that two tools carry points nowhere."""

    labels: Mapping[str, Label]
    neighbours: Neighbours
    is_third_person: bool
    """Most first sentences say "Lists", not "List"."""

    is_foreign: bool
    """Most descriptions are in another language than English."""

    @classmethod
    def of(cls, measured: Measured) -> "Scene":
        """The scene of a catalog, read once for all its tools."""
        labels = names.read(subject.tool.name for subject in measured.subjects)
        unique = {subject.tool.name: subject for subject in measured.subjects if not subject.is_duplicate}
        foreign = sum(map(statements.is_foreign, measured.subjects))
        described = sum(not subject.signals.is_missing_description for subject in measured.subjects)
        plain = [subject for subject in measured.subjects if not statements.is_foreign(subject)]
        proses = [subject.prose for subject in plain if subject.prose.opens_with_verb]
        leads = [next(word for word in prose.words if LEMMAS.get(word) == prose.verb) for prose in proses]
        return cls(
            subjects=unique,
            labels=labels,
            neighbours=Neighbours({name: labels[name] for name in unique}),
            is_third_person=2 * sum(word.endswith("s") and LEMMAS.get(word) != word for word in leads) > len(leads),
            is_foreign=2 * foreign > described,
        )

    def near(self, subject: Subject) -> tuple[str, ...]:
        """The siblings that an agent could take for this tool."""
        return () if subject.is_duplicate else self.neighbours.nearest(subject.tool.name, MAX_SIBLINGS)


def of(subject: Subject, *, label: Label, near: Sequence[str], scene: Scene) -> tuple[Part, ...]:
    """Every part that facts support, the least certain last: cuts take words away that a judge may have liked.

    Parts with words of their own are English, so a definition in another language gets none of them.
    """
    is_foreign = statements.is_foreign(subject) or (subject.signals.is_missing_description and scene.is_foreign)
    purpose = None if is_foreign else _purpose(subject, label, is_third_person=scene.is_third_person)
    has_text = purpose is not None or not subject.signals.is_missing_description
    is_fit = has_text and statements.is_english(subject)
    said = (_siblings(subject, label, near, scene), _choices(subject)) if is_fit else ()
    found = [part for part in (purpose, *said, _read_only(subject)) if part]
    cut = _cut(subject)
    title = _title(subject, label) if (found or cut) and not is_foreign else None
    return (*found, *(part for part in (title, cut) if part))


def unsaid(subject: Subject, *, label: Label, near: Sequence[str], scene: Scene) -> tuple[str, ...]:
    """The English sentences that facts support and that a description in another language cannot take as they are."""
    if not statements.is_foreign(subject):
        return ()
    left_out = (_siblings(subject, label, near, scene), _choices(subject))
    return tuple(part.sentence for part in left_out if part)


def _purpose(subject: Subject, label: Label, *, is_third_person: bool) -> Part | None:
    """The first sentence: composed where there is none, completed where it only restates the name, else kept.

    A lead-in such as "This tool allows you to" goes in any case.
    """
    given, parameters = _given(subject, label)
    if subject.signals.is_missing_description:
        return _first_purpose(label, given, parameters, is_third_person=is_third_person)
    prose = subject.prose
    old = prose.sentences[0]
    skipped = excess.lead_in(old)
    new = old[skipped:][:1].upper() + old[skipped + 1 :] if skipped else old
    is_empty = prose.restates_loosely or prose.is_only_name or subject.signals.restates_name
    sources = ["description: its first sentence"]
    if is_empty and given and new.split(" ", 1)[0].lower() in LEMMAS:
        new = f"{new.rstrip('.! ')} {given}."
        sources += parameters
    if new == old:
        return None
    start = (subject.tool.description or "").index(old)
    splice = Splice(start=start, end=start + len(old), text=new)
    return Part(path="/description", sources=tuple(sources), splices=(splice,))


def _first_purpose(label: Label, given: str, parameters: Sequence[str], *, is_third_person: bool) -> Part | None:
    """None where the schema proves nothing that the name does not say: a tautology would only hide the gap."""
    if not (label.verb and label.nouns and given and names.is_plain(label.tool)):
        return None
    verb = _third_person(label.verb) if is_third_person else label.verb
    sentence = f"{verb.capitalize()} {' '.join(label.nouns)} {given}."
    return Part(path="/description", sources=("name", *parameters), sentence=sentence)


def _given(subject: Subject, label: Label) -> tuple[str, list[str]]:
    """What identifies or makes the resource, from the required parameters: "by `issue_id` for the given `repo`"."""
    required = [each for each in subject.signals.parameters if each.is_required and names.is_plain(each.name)]
    if not 0 < len(required) <= MAX_GIVEN or any(each.name in subject.prose.mentioned_parameters for each in required):
        return "", []
    own = [each.name for each in required if _identifies(each, label)]
    others = [each.name for each in required if each.name not in own]
    foreign = [name for name in others if _IDENTIFIERS & set(name_parts(name)[1:][-1:])]
    rest = [name for name in others if name not in foreign]
    groups = (("by", own), ("with", rest), ("for the given", foreign))
    said = [f"{word} {_listed(group)}" for word, group in groups if group]
    return " ".join(said), [f"/inputSchema/required: {each.name}" for each in required]


_IDENTIFIERS = frozenset("id ids gid key uuid guid slug path url uri arn number email handle name".split())


def _identifies(parameter: Parameter, label: Label) -> bool:
    """`issue_id`, or plain `id`, of an issue that is there already."""
    *thing, kind = name_parts(parameter.name) or ("",)
    is_new = label.effect in (Effect.CREATE, Effect.PRODUCE)
    return (
        kind in _IDENTIFIERS
        and not is_new
        and {stem(word) for word in thing} <= set(map(stem, label.thing.lower().split()[-1:]))
    )


def _siblings(subject: Subject, label: Label, near: Sequence[str], scene: Scene) -> Part | None:
    """Where to go instead, for a description that names no sibling; a twin that does the same is nowhere to go."""
    text = subject.tool.description or ""
    if subject.mentions or any(name in text for name in near):
        return None
    own = {label.phrase, statements.purpose(subject, label)}
    known = [(name, *_route(scene.subjects[name], scene.labels[name])) for name in near]
    routes = [(name, words, source) for name, words, source in known if words and words not in own]
    said = [f"to {words}{'' if place else ' instead'}, use `{name}`" for place, (name, words, _) in enumerate(routes)]
    if not said:
        return None
    sentence = f"T{'; '.join(said)[1:]}."
    return Part(path="/description", sources=tuple(source for _, _, source in routes), sentence=sentence)


def _route(sibling: Subject, label: Label) -> tuple[str, str]:
    """What a sibling does, in the imperative, and where that comes from; nothing where text and name are silent."""
    said = statements.purpose(sibling, label)
    if said:
        return said, f"tool {label.tool}: its first sentence"
    return label.phrase if label.verb and label.nouns else "", f"tool {label.tool}: its name"


def _choices(subject: Subject) -> Part | None:
    """Demands of the schema that its list of required parameters does not show."""
    said = set(subject.prose.mentioned_parameters)
    found = [choice for choice in choices.read(subject.tool.input_schema or {}) if not choice.names <= said]
    if not found:
        return None
    sources = tuple(choice.path for choice in found)
    return Part(path="/description", sources=sources, sentence=" ".join(map(_demand, found)))


def _demand(choice: Choice) -> str:
    groups = [_listed(group) for group in choice.groups]
    if choice.demand is Demand.TOGETHER:
        return f"With {groups[0]}, also give {groups[1]}."
    is_simple = all(len(group) == 1 for group in choice.groups)
    options = _listed([group[0] for group in choice.groups]) if is_simple else ", or ".join(groups)
    return f"Give {choice.demand} of {options}." if is_simple else f"Give {choice.demand} of these: {options}."


def _read_only(subject: Subject) -> Part | None:
    """The only hint that text proves: the author's own plain statement, where no hint speaks.

    A verb proves nothing; `get_token` may well issue a new one.
    """
    annotations = subject.tool.raw.get("annotations")
    is_open = not subject.signals.has_hints and (annotations is None or isinstance(annotations, Mapping))
    if not is_open or not statements.is_read_only(subject):
        return None
    value = {**(annotations or {}), "readOnlyHint": True}
    return Part(path="/annotations", sources=("description: it says that the tool is read-only",), value=value)


def _cut(subject: Subject) -> Part | None:
    """What stands there twice, or word for word in the schema."""
    spans = [(start, end, "description: said twice") for start, end in excess.repeated(subject)]
    spans += [(start, end, "/inputSchema/properties: said there") for start, end in excess.copied(subject)]
    if not spans:
        return None
    text = subject.tool.description or ""
    splices = [_whole(text, start, end) for start, end, _ in sorted(spans)]
    sources = tuple(dict.fromkeys(source for _, _, source in spans))
    return Part(path="/description", sources=sources, splices=tuple(splices))


def _whole(text: str, start: int, end: int) -> Splice:
    """The stretch with the space before it, and with its line break where it is a whole line."""
    before = text[:start].rstrip(" \t")
    is_line = before.endswith("\n") and text[end : end + 1] in ("", "\n")
    return Splice(start=len(before) - is_line, end=end)


def _title(subject: Subject, label: Label) -> Part | None:
    """The name's words, for people; clients fall back to the annotations' title and then to the bare name."""
    raw = subject.tool.raw
    annotations = raw.get("annotations")
    is_titled = raw.get("title") is not None or (isinstance(annotations, Mapping) and annotations.get("title"))
    if is_titled or not names.is_plain(label.tool) or len(label.phrase.split()) < 2:
        return None
    words = [_ACRONYMS.get(word, word) for word in label.phrase.split()]
    return Part(path="/title", sources=("name",), value=" ".join([words[0][:1].upper() + words[0][1:], *words[1:]]))


_ACRONYMS = {word.lower(): word for word in "ID IDs URL URI API SQL PDF CSV JSON HTML XML HTTP IP DNS UUID AI".split()}


def _third_person(verb: str) -> str:
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        return f"{verb}es"
    return f"{verb[:-1]}ies" if verb.endswith("y") and verb[-2] not in "aeiou" else f"{verb}s"


def _listed(listed: Sequence[str]) -> str:
    """Backticked names: "`a`, `b` and `c`"."""
    marked = [f"`{name}`" for name in listed]
    return " and ".join(part for part in (", ".join(marked[:-1]), marked[-1]) if part)
