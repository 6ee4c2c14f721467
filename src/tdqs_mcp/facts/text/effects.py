"""Claims of a definition about what the tool changes: by its name, its sentences, its parameters and their values."""

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cache, partial
from itertools import islice, pairwise
from typing import NamedTuple

from tdqs_mcp.facts.lexicon import PatternTable, lazy_pattern, words_from
from tdqs_mcp.facts.schema.walk import Node, Shape, accepted_values
from tdqs_mcp.facts.spelling import name_parts, words_of
from tdqs_mcp.facts.text.parameter_texts import ParameterMention, type_beside_null
from tdqs_mcp.facts.text.prose import Prose
from tdqs_mcp.facts.text.words import EFFECTS, LEAD_IN, LEMMAS, OVERT_MUTATIONS, Cue, Effect, stem
from tdqs_mcp.model import Tool

_PATTERNS = PatternTable("hints")
_words = partial(words_from, "hints")

_DONE = lazy_pattern(r"to|\w+ed", re.IGNORECASE)
"""Part of a name that says what a call does with its value."""

MAX_QUOTE = 80
"""Characters of a sentence that a message quotes."""

MAX_SUBJECT = 8
"""Words before the verb of a passive clause."""


class EffectClaim(NamedTuple):
    """A claim that a call changes something."""

    is_destroying: bool
    """Something is deleted or overwritten."""

    evidence: str
    """Who says so, and how, in the words of a message."""

    is_weak: bool = False
    """Only a call with an optional parameter does so, or a pure function may have the verb too."""


def effect_claims(tool: Tool, prose: Prose, shape: Shape, siblings: Sequence[str]) -> Iterator[EffectClaim]:
    """Yield the claims of a tool, the surest first; sentences that name a sibling may be about that."""
    yield from _by_verb(tool.name, prose)
    if prose.language in ("en", None):
        own_verbs = _verbs_of_name(tool.name)
        forms = _forms_of(own_verbs)
        # "Updates of a package": what could be a verb and opens the text is none
        is_noun = not prose.opens_with_verb and any(word in LEMMAS and word not in LEAD_IN for word in prose.words[:1])
        optional = {node.name.lower() for node in shape.tops if node.name and not node.is_required}
        for sentence, words in islice(zip(prose.sentences, prose.spoken, strict=True), int(is_noun), None):
            if not forms.isdisjoint(words) and not any(name in sentence for name in siblings):
                claims = sentence_claims(sentence, own_verbs, is_opening=sentence is prose.sentences[0])
                # "With `save_to`, the list is also written to that file."
                condition = next((name for word, name in pairwise(words) if word in _IF and name in optional), None)
                yield from (claim if condition is None else claim._replace(is_weak=True) for claim in claims)
    is_chosen = not _says_what_it_does(tool.name, prose)
    is_change = prose.opens_with_verb and prose.effect is not None and prose.effect.is_mutating
    keeps = is_change and prose.verb not in _words("requesting")
    for node in (node for node in shape.tops if node.name):
        # "Creates a request" has the method of the request, not of the call
        if is_chosen and (node.name != "method" or not keeps):
            yield from _by_choices(node, shape)
        yield from _by_destination(node)


_IF = frozenset({"with", "if", "when"})


def _says_what_it_does(name: str, prose: Prose) -> bool:
    """Return whether name and text begin with a verb of their own, whose object the choices are.

    `stage_change`, "Stage a change", drops no table; what `manage_tables`, "Manage the tables", does is chosen. What
    `list_events`, "List the events", reads is chosen.
    """
    if prose.effect is prose.name_effect is Effect.READ and not reads_and_writes(prose):
        return True
    first, second, *_ = (*prose.spoken[0], "", "") if prose.spoken else ("", "")
    parts = name_parts(name)
    is_agreed = len(parts) > 1 and parts[0] == first and second in _words("determiners")
    return is_agreed and LEMMAS.get(first) is None


def reads_and_writes(prose: Prose) -> bool:
    """Return whether the first sentence goes on with a verb of writing: "Search for text and replace all"."""
    first = prose.spoken[0] if prose.spoken else ()
    joined = (LEMMAS.get(word) for before, word in pairwise(first) if before == "and" and not word.endswith("ed"))
    return any(EFFECTS[verb].is_mutating for verb in joined if verb)


@cache
def deleting_verbs() -> frozenset[str]:
    """Verbs after which something is gone."""
    deleting = {verb for verb, effect in EFFECTS.items() if effect is Effect.DELETE}
    return frozenset(deleting - _words("reversible") | {"overwrite"})


def loses_data(prose: Prose, shape: Shape) -> bool:
    """Return whether the first verb is one of deletion or replacement, and no word tells how much is lost.

    What a pure function may do as well ("Remove the background") is a deletion of a thing that a required parameter
    identifies; a member that is removed from a group can be added again.
    """
    if prose.verb not in deleting_verbs() - _words("ending") | _words("replacing_verbs"):
        return False
    first = prose.spoken[0] if prose.spoken else ()
    tops = (name_parts(node.name or "") for node in shape.nodes if node.is_top and node.is_required)
    is_identified = any(parts and parts[-1] in words_from("names", "identifiers") for parts in tops)
    is_thing = prose.verb not in _words("weak") or (is_identified and {"from", "between"}.isdisjoint(first))
    return is_thing and _words("losses").isdisjoint(prose.words)


def several_at_once(tool: Tool, prose: Prose, shape: Shape, remarks: Sequence[ParameterMention]) -> str | None:
    """Return the things of which one call changes several, where no text says what happens if one of them fails.

    `create_entities` with the required array `entities` of objects; `delete_records` with `recordIds`.
    """
    is_change = prose.effect in (Effect.CREATE, Effect.UPDATE, Effect.DELETE) and prose.effect is prose.name_effect
    if not is_change or prose.language not in ("en", None) or Cue.ERROR in prose.cues:
        return None
    parts = {_singular(part): part for part in name_parts(tool.name) if LEMMAS.get(part) != prose.verb}
    lists = (node for node in shape.tops if node.is_required and node.schema.get("type") == "array")
    things = next((parts[thing] for node in lists if (thing := _thing(node)) in parts), None)
    return None if things is None or _are_told(_words("outcomes"), prose, remarks) else things


def _thing(node: Node) -> str:
    """Return the stem of what a list holds: `recordIds` holds records, an array of objects what its name says."""
    *front, last = (part.lower() for part in name_parts(node.name or ""))
    if front and last in ("ids", "names"):
        return _singular(front[-1])
    items = node.schema.get("items")
    return _singular(last) if isinstance(items, dict) and items.get("type") == "object" else ""


def _singular(noun: str) -> str:
    return f"{noun[:-3]}y" if noun.endswith("ies") else stem(noun)


def _are_told(words: frozenset[str], prose: Prose, remarks: Sequence[ParameterMention]) -> bool:
    """Return whether a text of the tool has one of the words."""
    texts = (prose.vocabulary, *(remark.words for remark in remarks))
    return not all(map(words.isdisjoint, texts))


def silent_target(prose: Prose, shape: Shape, remarks: Sequence[ParameterMention]) -> str | None:
    """Return the parameter for where a call writes, if no text says what happens to a file that is there."""
    tops = (node for node in shape.tops if node.is_required) if prose.language in ("en", None) else ()
    target = next((node.name for node in tops if any(_by_destination(node))), None)
    return None if target is None or _are_told(_words("outcomes"), prose, remarks) else target


def silent_lists(prose: Prose, shape: Shape, remarks: Sequence[ParameterMention]) -> Iterator[str]:
    """Yield the optional lists of an update of which no text says whether they replace what is there or are added."""
    is_update = prose.effect is prose.name_effect is Effect.UPDATE and prose.verb in _words("editing")
    if not is_update or prose.language not in ("en", None) or not _words("replacing").isdisjoint(prose.vocabulary):
        return
    texts = {remark.node.path: remark.words for remark in remarks}
    for node in shape.tops:
        schemas = (node.schema, *node.schema.get("anyOf", ()))
        is_list = any(isinstance(schema, dict) and schema.get("type") == "array" for schema in schemas)
        is_told = not (_words("replacing") | _words("listing")).isdisjoint(texts.get(node.path, ()))
        # `update` of a batch, `notifiedUserIds` and `calendarsToCheck` are no part of the thing
        parts = name_parts(node.name or "")
        is_part = bool(parts) and LEMMAS.get(parts[0]) != parts[-1] and not any(map(_DONE.fullmatch, parts))
        if node.name and not node.is_required and is_list and is_part and not is_told:
            yield node.name


def clearing_gap(prose: Prose, shape: Shape, remarks: Sequence[ParameterMention]) -> str | None:
    """Return an optional part of a thing that takes null, if no text of an update says how to clear it.

    Null is what a generator makes of a part that is left alone.
    """
    is_update = prose.effect is prose.name_effect is Effect.UPDATE and prose.verb in _words("editing")
    if not is_update or prose.language not in ("en", None) or _are_told(_words("clearing"), prose, remarks):
        return None
    parts = (node for node in shape.tops if node.name and not node.is_required)
    return next((node.name for node in parts if _is_part_or_null(node)), None)


def _is_part_or_null(node: Node) -> bool:
    kind, schema = type_beside_null(node.schema)
    takes_null = schema is not node.schema or isinstance(schema.get("type"), list)
    is_identifying = (name_parts(node.name or "") or ("",))[-1] in words_from("names", "identifiers") - {"name", "url"}
    return takes_null and kind not in (None, "boolean") and not is_identifying


def runs_anything(prose: Prose, shape: Shape) -> str | None:
    """Return the parameter for code or commands that a tool runs, of which no text says that it may do harm."""
    is_run = prose.verb in _words("running") and prose.opens_with_verb
    if not is_run or not {Cue.DESTRUCTION, Cue.SAFETY}.isdisjoint(prose.cues):
        return None
    tops = (node.name for node in shape.tops if node.name and node.is_required)
    return next((name for name in tops if not _words("programs").isdisjoint(name_parts(name))), None)


def _by_verb(name: str, prose: Prose) -> Iterator[EffectClaim]:
    """Yield what name and text agree on, or what a verb says that no pure function has.

    `add_label`, "Adds a label": `add`, "Adds two numbers" has no thing in its name.
    """
    parts = name_parts(name)
    lemmas = [LEMMAS.get(part) for part in parts]
    first = next(iter(lemmas), None)  # ":" has no part
    is_deleting = Effect.DELETE in (prose.effect, prose.name_effect)
    # `clear_title`, "Adds a clear title"
    adding = " ".join(prose.sentences[:1] if prose.effect is Effect.CREATE else ()).lower().replace(" an ", " a ")
    verbs = (part for part in parts if part in deleting_verbs() and f" a {part}" not in adding)
    deleted = next(verbs, None) if is_deleting else None
    is_change = prose.effect is not None and prose.effect.is_mutating
    # `create_contact`, "Add a contact"; `upsert_row`, "Insert or update a row"
    is_same = prose.verb in lemmas or EFFECTS.get(first or "", Effect.READ).is_mutating
    is_agreed = len(parts) > 1 and prose.opens_with_verb and is_same
    is_reading = prose.effect is Effect.READ  # publish_status, "Gets the publish status of an article."
    if deleted and not is_reading:
        yield EffectClaim(is_destroying=True, evidence=f"the name says {deleted!r}")
    elif parts and parts[0] in _words("writing") and not is_reading:
        yield EffectClaim(is_destroying=False, evidence=f"the name says {parts[0]!r}")
    elif is_agreed and is_change:
        speakers = "name and description say" if prose.verb in lemmas else f"the name says {first!r}, the description"
        yield EffectClaim(False, f"{speakers} {prose.verb!r}", is_weak=prose.verb in _words("weak"))  # noqa: FBT003
    # "Removes duplicates" may be said of the answer
    if prose.opens_with_verb and prose.verb in (deleting_verbs() - _words("weak") | OVERT_MUTATIONS):
        is_weak = prose.verb in _words("weak")
        yield EffectClaim(prose.verb in deleting_verbs(), f"the description says {prose.verb!r}", is_weak=is_weak)
    if prose.effect is not Effect.ACT or not prose.opens_with_verb:
        return
    # "Run any shell command on the host."
    if prose.verb in _words("running") and not _words("commands").isdisjoint(prose.spoken[0]):
        yield EffectClaim(is_destroying=True, evidence=f"it says that it may {prose.verb} any command")
    # "Start a search" reads
    is_asking = any(EFFECTS.get(word) is Effect.READ for word in prose.spoken[0][1:5])
    if prose.verb in _words("operating") and not is_asking:
        yield EffectClaim(is_destroying=False, evidence=f"the description says {prose.verb!r}")
    for sentence in prose.sentences if prose.verb in _words("running") else ():
        if (match := _PATTERNS.changing_query.search(sentence)) and not _PATTERNS.refusal.search(sentence):
            yield EffectClaim(is_destroying=True, evidence=f"a sentence names {match[0]}: {sentence[:MAX_QUOTE]!r}")


def _by_choices(node: Node, shape: Shape) -> Iterator[EffectClaim]:
    """Yield `"action": {"enum": ["list", "delete"]}`, also as constants, and of each item of a list."""
    parts = name_parts(node.name or "")
    if not parts or parts[-1].removesuffix("s") not in _words("choosing"):
        return
    accepted = accepted_values(node.schema, shape.root)
    for value in accepted.values or accepted.item_values or ():
        chosen = name_parts(value) if isinstance(value, str) else ()
        # `delete_page` is a write, `merge_train_removed` an event to filter by
        first = chosen[0].lower() if chosen and not chosen[-1].endswith("ed") else ""
        is_deleting = first in deleting_verbs()
        if is_deleting or first in _chosen_verbs():
            yield EffectClaim(is_deleting, f"{node.name!r} can be {value!r}")


@cache
def _chosen_verbs() -> frozenset[str]:
    """Values that choose a write: verbs that name no thing as well, as "label" and "log" do."""
    changing = {verb for verb, effect in EFFECTS.items() if effect.is_mutating}
    return words_from("names", "plain_verbs") & changing | _words("choices")


def _by_destination(node: Node) -> Iterator[EffectClaim]:
    """Yield `output_path` and "Where to save the file"."""
    parts, text = name_parts(node.name or ""), node.schema.get("description")
    text = text if isinstance(text, str) else ""
    is_place = parts[-1:] and parts[-1] in _words("places") and not _words("saving").isdisjoint(parts[:-1])
    may_tell = not is_place and any(map(text[:200].lower().__contains__, _DESTINING))
    if is_place or (may_tell and _PATTERNS.destination.search(text[:200])):
        yield EffectClaim(
            is_destroying=False,
            evidence=f"{node.name!r} is a place to write to",
            is_weak=not node.is_required,
        )


_DESTINING = ("save", "write", "store", "export")
"""Without one of these no text matches `destination`."""


def sentence_claims(
    sentence: str, own_verbs: AbstractSet[str] = frozenset(), *, is_opening: bool = False
) -> Iterator[EffectClaim]:
    """Yield what a sentence says of the call: "it deletes" (the …) or "something is purged" (old rows are …).

    `own_verbs` are those of the tool's name.
    """
    plain = " ".join(sentence.split())  # a line may break inside a clause
    lowered, quote = plain.lower(), repr(plain[:MAX_QUOTE])
    if _PATTERNS.final.search(lowered):
        yield EffectClaim(is_destroying=True, evidence=f"a sentence says that its effect is final: {quote}")
        return
    lasting = _lasting_verbs() | own_verbs
    certain = lasting | _words("exporting") | _words("operating")
    verb_form, is_list = "", is_opening
    for number, clause in enumerate(_PATTERNS.clause_end.split(lowered)):
        words = words_of(clause)
        is_joined = number > 0 and verb_form != ""
        may_order = is_opening and (number == 0 or verb_form == "order")
        # "Reads the inbox and marks every message as read."
        is_next = is_opening and is_joined and any(_is_in(word, _changing_verbs()) for word in words[:1])
        verbs = lasting | _changing_verbs() if is_next else lasting
        # "List, create, or close a tab": verbs that share their object
        is_list = is_list and bool(words) and LEMMAS.get(words[0]) == words[0]
        bare = words[0] if is_list and len(words) == 1 and words[0] in _chosen_verbs() else None
        word = _active_verb(words, clause, verbs, may_order=may_order) or _passive_verb(words, clause, verbs) or bare
        if word is not None:
            is_destroying = _is_in(word, deleting_verbs() | _words("gone") | {"replace"})
            is_weak = _is_in(word, _words("weak") - _lasting_verbs()) or not _is_in(word, certain)
            yield EffectClaim(is_destroying, f"a sentence says {word!r}: {quote}", is_weak=is_weak)
        is_list = is_list and len(words) == 1
        if number == 0 or not is_joined:
            # "Fetch the page" is an order, "Fetches the page" finite
            lemma = LEMMAS.get(words[0]) if words else None
            verb_form = "" if lemma is None else "order" if lemma == words[0] else "finite"


def _active_verb(words: Sequence[str], clause: str, verbs: AbstractSet[str], *, may_order: bool) -> str | None:
    """The verb of a clause about the tool, with a thing behind it; in later sentences, orders are for the agent."""
    if ": " in clause:  # "Warning: This tool modifies data"
        clause = clause.rpartition(": ")[2]
        words = words_of(clause)
    place, has_subject, openings = 0, False, _words("openings") | _words("joining") | LEAD_IN
    while place < len(words) and words[place] in openings and not (place and _is_in(words[place], verbs)):
        has_subject = has_subject or words[place] in _words("subjects")
        place += 1
    has_place = _PATTERNS.place.search(clause) is not None
    lasting = verbs | _words("exporting") if has_place else verbs
    if place + 1 >= len(words) or not _is_in(words[place], lasting):
        return None
    verb, behind = words[place], words[place + 1 :]
    # "deletes the file" and "it will delete the file", but not the order "delete the file first"
    is_finite = verb.endswith("s") or ((has_subject or may_order) and not verb.endswith(("ed", "ing")))
    # "This tool modifies customer data", but not "It writes Python"
    is_told_of_tool = is_finite and not _words("naming").isdisjoint(words[:place])
    has_thing = behind[0] in _words("determiners") or has_place or is_told_of_tool
    is_answer = not _words("answers").isdisjoint(behind[:4]) and not has_place
    return verb if is_finite and has_thing and not is_answer else None


def _passive_verb(words: Sequence[str], clause: str, verbs: AbstractSet[str]) -> str | None:
    """The verb of a change to the subject of the main clause; not to the answer, nor by others or from time to time."""
    place = next((place for place, word in enumerate(words) if word in _words("passives")), 0)
    behind = [word for word in words[place + 1 :] if not word.endswith("ly") and word not in _words("openings")]
    verb, following = (*behind, "", "")[:2]
    is_main = 0 < place <= MAX_SUBJECT and _words("subordinators").isdisjoint(words[:place])
    # "old rows can be purged" promises nothing, "will be purged" does
    is_told = words[place : place + 1] != ["be"] or words[place - 1] == "will"
    # "the folder is created when missing"
    is_ensured = verb == "created" and following in _IF and not _words("outcomes").isdisjoint(behind)
    is_change = is_ensured or (verb.endswith(("ed", "en", "sent", "lost")) and _is_in(verb, verbs))
    # "filters are saved custom views": the participle belongs to a noun
    is_predicate = not following or following in _words("after_participles")
    is_elsewhere = not _words("elsewhere").isdisjoint(behind)
    is_answer = not _words("answers").isdisjoint(words[:place]) and _PATTERNS.place.search(clause) is None
    is_effect = is_main and is_told and is_change and is_predicate
    return verb if is_effect and not (is_elsewhere or is_answer) else None


@cache
def _lasting_verbs() -> frozenset[str]:
    """Verbs, and participles that no rule makes, of a lasting change, whatever the tool is called."""
    return deleting_verbs() - _words("weak") | {"remove", "discard"} | _words("lasting") | _words("gone")


@cache
def _changing_verbs() -> frozenset[str]:
    """Verbs of a change, which may be one of the answer, but not those that a pure function shares."""
    changing = frozenset(verb for verb, effect in EFFECTS.items() if effect.is_mutating)
    return changing - _words("weak") | _words("operating")


def _verbs_of_name(name: str) -> frozenset[str]:
    """Return the verbs of change that a name opens with or joins by "and": `search_and_replace`."""
    parts = name_parts(name)
    places = [0, *(place + 1 for place, part in enumerate(parts) if part in ("and", "or"))]
    verbs = {LEMMAS.get(part) for place in places for part in parts[place : place + 1]}
    return frozenset(verb for verb in verbs if verb and EFFECTS[verb].is_mutating)


@cache
def _forms_of(own_verbs: frozenset[str]) -> frozenset[str]:
    """Words without one of which a sentence claims no change, by these verbs either."""
    lasting = _lasting_verbs() | _changing_verbs() | own_verbs | _words("exporting") | _chosen_verbs()
    inflected = {form for form, lemma in LEMMAS.items() if lemma in lasting}
    return lasting | inflected | {f"{verb}s" for verb in lasting} | _words("final") | {"destructive"}


def _is_in(word: str, verbs: AbstractSet[str]) -> bool:
    return word in verbs or (LEMMAS.get(word) or word.removesuffix("s")) in verbs
