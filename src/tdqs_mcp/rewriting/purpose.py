"""The words that say what a tool is: its first sentence, its title, and what may go without a loss."""

from collections.abc import Mapping, Sequence

from tdqs_mcp.facts import clauses, excess
from tdqs_mcp.facts.catalog import names
from tdqs_mcp.facts.catalog.names import Label
from tdqs_mcp.facts.schema.signals import Parameter
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.text.languages import LEMMAS, Effect
from tdqs_mcp.facts.text.words import name_parts, stem
from tdqs_mcp.rewriting.parts import Part, Splice, listed

MAX_GIVEN = 4
"""Parameters that a first sentence can carry."""


def purpose(subject: Subject, label: Label, *, is_third_person: bool) -> Part | None:
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
    scopes = [name for name in others if _IDENTIFIERS & set(name_parts(name)[1:][-1:])]
    rest = [name for name in others if name not in scopes]
    said = {stem(word) for words in subject.prose.spoken[:1] for word in words}
    foreign = [name for name in scopes if not said.issuperset(map(stem, name_parts(name)[:-1]))]
    groups = (("by", own), ("with", rest), ("for the given", foreign))
    used = [f"/inputSchema/required: {name}" for _, group in groups for name in group]
    return " ".join(f"{word} {listed(group)}" for word, group in groups if group), used


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


def title(subject: Subject, label: Label) -> Part | None:
    """The name's words, for people; clients fall back to the annotations' title and then to the bare name."""
    raw = subject.tool.raw
    annotations = raw.get("annotations")
    is_titled = raw.get("title") is not None or (isinstance(annotations, Mapping) and annotations.get("title"))
    is_plain = names.is_plain(label.tool) and (label.verb or names.PLAIN_VERBS.isdisjoint(label.nouns))
    if is_titled or not is_plain or len(label.phrase.split()) < 2:
        return None
    words = clauses.spelled(label.phrase)
    return Part(path="/title", sources=("name",), value=words[:1].upper() + words[1:])


def cut(subject: Subject) -> Part | None:
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


def _third_person(verb: str) -> str:
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        return f"{verb}es"
    return f"{verb[:-1]}ies" if verb.endswith("y") and verb[-2] not in "aeiou" else f"{verb}s"
