"""Sentences about a parameter that its schema contradicts: numbers, values, default, requirement, unit, type."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tdqs_mcp.facts.lexicon import MAX_EXPLANATION, PatternTable, words_from
from tdqs_mcp.facts.schema.walk import Accepted, Node, accepted_values
from tdqs_mcp.facts.spelling import name_parts, words_of
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.text.claims import find_choice_clash, find_type_clash, spell
from tdqs_mcp.facts.text.parameter_texts import MentionKind, ParameterMention, known_units, words_in
from tdqs_mcp.facts.text.statements import is_negation
from tdqs_mcp.facts.text.words import STOPWORDS

_PATTERNS = PatternTable("conflicts")

_SIDES = {
    "minimum": ("low", 0),
    "exclusiveMinimum": ("low", 1),
    "minItems": ("low", 0),
    "minLength": ("low", 0),
    "maximum": ("high", 0),
    "exclusiveMaximum": ("high", -1),
    "maxItems": ("high", 0),
    "maxLength": ("high", 0),
}
"""Which end of a range a keyword gives, and the step to the first whole number that it allows."""

_TRUTHS = {True: ("on", "true", "enabled", "yes"), False: ("off", "false", "disabled", "no")}


@dataclass(frozen=True, slots=True, kw_only=True)
class _SchemaNumber:
    """A number that a schema, or the parameter's own text, gives."""

    numbers: frozenset[float]
    """Every way to put it: above 0 is also at least 1."""

    end: float = 0
    """The last number that the range still holds."""

    words: str
    is_bound: bool = False
    """It ends the range of the schema itself, in which a smaller one fits."""


def schema_conflicts(text: str, subject: Subject, *, path: str, may_narrow: bool = False) -> Iterator[str]:
    """Yield what the schema says against a sentence, in words for its author.

    The sentence stands at `path`: it is about the parameter whose description that is, or else about those that it
    names. Only what the schema decides is looked at: a sentence that yields nothing may be false all the same. With
    `may_narrow`, "at most 20" holds beside a maximum of 50.
    """
    shape = subject.input_shape
    text = text[:MAX_EXPLANATION]
    node = next((node for node in shape.nodes if node.name and f"{node.path}/description" == path), None)
    for about, part in [(node, text)] if node else _named(text, subject):
        accepted = accepted_values(about.schema, shape.root)
        clauses = [clause for segment in _PATTERNS.segment.split(part) for clause in _PATTERNS.clause.split(segment)]
        if not _PATTERNS.condition.match(part):
            yield from _number_conflicts(about, clauses, accepted, is_own=node is not None, may_narrow=may_narrow)
        yield from _default_conflicts(about, clauses, accepted)
        yield from _value_conflicts(about, part, accepted, subject)
        yield from _requirement_conflicts(about, clauses, is_own=node is not None)
        yield from _unit_conflicts(about, part)
        kind = MentionKind.OWN if node else MentionKind.SENTENCE
        mention = ParameterMention(about, part, words_in(part), kind)
        clash = find_type_clash(mention, accepted) or find_choice_clash(
            mention, accepted, shape.names | {subject.tool.name}
        )
        if clash:
            yield f"the schema says {clash.constraint!r} of `{about.name}`, not {clash.claim!r}"


def _named(text: str, subject: Subject) -> Iterator[tuple[Node, str]]:
    """Yield the parameters that a text names, each with what is said of it: a segment for the only one in it."""
    tops = {node.name.lower(): node for node in subject.input_shape.nodes if node.is_top and node.name}
    for segment in _PATTERNS.segment.split(text):
        spoken = _names_in(segment, tops)
        if len(spoken) == 1:
            yield tops[spoken.pop()], segment
            continue
        parts: dict[str, list[str]] = {}
        latest: set[str] = set()
        for clause in _PATTERNS.clause.split(segment) if spoken else ():
            latest = _names_in(clause, tops) or latest  # "`size` is at least 10, at most 100" is all about `size`
            for name in latest if len(latest) == 1 else ():
                parts.setdefault(name, []).append(clause)
        yield from ((tops[name], ", ".join(clauses)) for name, clauses in parts.items())


def _names_in(clause: str, tops: Mapping[str, Node]) -> set[str]:
    """The parameters that a clause names: in backticks, spelled as no plain word is, or as what its verb is about."""
    names = {match[1].lower() for match in _PATTERNS.quoted.finditer(clause) if match[1]}
    for match in _PATTERNS.token.finditer(clause):
        name = match[0]
        is_compound = "_" in name or not (name.islower() or name.istitle())
        if name.lower() in tops and (is_compound or _PATTERNS.verb.match(clause, match.end())):
            names.add(name.lower())
    return names & tops.keys()


def _limits(node: Node, accepted: Accepted) -> dict[str, _SchemaNumber]:
    """The default and the ends of the range: the schema's, else those that the parameter's own text gives."""
    limits: dict[str, _SchemaNumber] = {}
    for keyword, number in accepted.bounds.items():
        side, step = _SIDES.get(keyword, ("", 0))
        if side and abs(number) < 2**31 - 1:
            numbers = frozenset({number, number + step})
            words = f"the schema gives `{node.name}` the {keyword} {number:g}"
            end = number + step / 2 if step else number  # 0.5 stands for all above an exclusive 0
            limits[side] = _SchemaNumber(numbers=numbers, end=end, words=words, is_bound=True)
    default = node.schema.get("default")
    if isinstance(default, int | float) and not isinstance(default, bool):
        words = f"the schema gives `{node.name}` the default {default:g}"
        limits["default"] = _SchemaNumber(numbers=frozenset({float(default)}), words=words)
    own = node.schema.get("description")
    for clause in _PATTERNS.clause.split(own[:MAX_EXPLANATION]) if isinstance(own, str) else ():
        for role, number, _ in (entry for entry in _numbers(clause) if entry[0]):
            words = f"the description of `{node.name}` says {number:g}"
            limits.setdefault(role, _SchemaNumber(numbers=frozenset({number}), end=number, words=words))
    return limits


def _numbers(clause: str) -> Iterator[tuple[str, float, str]]:
    """Each number of a clause with its role (low, high, default, or empty) and the word behind it."""
    yield from (("", _float(match["number"]), "") for match in _PATTERNS.used_number.finditer(clause))
    lowered = _PATTERNS.used.sub("", clause).lower()
    for match in _PATTERNS.range.finditer(lowered):
        low, high = map(_float, (match["low"], match["high"]))
        if low < high:  # the date 12-01 is no range
            yield from (("low", low, match["unit"] or ""), ("high", high, match["unit"] or ""))
    rest = _PATTERNS.range.sub(lambda match: " " * len(match[0]), lowered)
    outside = _PATTERNS.unless.split(rest)[0] if _PATTERNS.unless.search(rest) else rest
    numbers = list(_PATTERNS.number.finditer(outside))
    role = next((role for role in ("default", "high", "low") if getattr(_PATTERNS, role).search(rest)), "")
    is_open = not role and (_PATTERNS.compared.search(rest) or any(map(is_negation, words_of(rest))))
    for match in () if is_open or (role and len(numbers) > 1) else numbers:
        yield role, _float(match["number"]), match["unit"] or ""


def _values_in(clause: str, node: Node) -> set[float]:
    """The numbers that a clause gives the parameter as values: `limit` 5, `limit` of 5, 5 as `limit`, `limit=5`."""
    name = rf"[`'\"]?\b{re.escape(node.name or '')}\b[`'\"]?"
    forms = words_from("claims", "claiming") | words_from("conflicts", "adverbs") | words_from("conflicts", "links")
    values = {_float(match["number"]) for match in _PATTERNS.used_number.finditer(clause)}
    for match in _PATTERNS.number.finditer(clause):
        words = re.search(rf"{name}((?: [a-z]+){{0,4}}) [`'\"]?$", clause[: match.start()], re.IGNORECASE)
        is_behind = words is not None and forms.issuperset(words_of(words[1]))
        if is_behind or re.match(rf"[`'\"]? as (?:an? |the )?{name}", clause[match.end("number") :], re.IGNORECASE):
            values.add(_float(match["number"]))
    return values


def _float(text: str) -> float:
    return float(text.replace(",", "").replace("_", ""))


def _number_conflicts(
    node: Node, clauses: Sequence[str], accepted: Accepted, *, is_own: bool, may_narrow: bool
) -> Iterator[str]:
    """Yield another default, another end of the range, and any value beyond the range.

    In the parameter's own text, `is_own`, any number may be a value; elsewhere it stands behind the name.
    """
    limits = _limits(node, accepted)
    is_text = bool(accepted.types) and not accepted.types & {"integer", "number", "array"}
    own_units = {known_units()[word] for word in _unit_words(node)}
    placed = [(entry, entry[1] in _values_in(clause, node)) for clause in clauses for entry in _numbers(clause)]
    # "With `limit` 200, 450 users take 3 calls": beside a value, a number is about what comes of it
    is_used = any(is_value and not entry[0] for entry, is_value in placed)
    entries = [entry for entry, is_value in placed if is_value or (not is_used and (entry[0] or is_own))]
    # "1-16 in the world, 1-7 in the US" has the schema's maximum too
    right = {role for role, number, _ in entries if role in limits and number in limits[role].numbers}
    low, high = limits.get("low"), limits.get("high")
    for role, number, word in entries:
        unit = known_units().get(word)
        is_length = word in words_from("conflicts", "lengths")
        # "5 minutes" of a timeout in seconds
        is_foreign = unit is not None and unit not in own_units and (bool(own_units) or unit[0] == "time")
        is_bare_item = "array" in accepted.types and not role  # "[91.9, 99.1]" are items, not how many
        if is_foreign or is_length != is_text or is_bare_item or (is_text and role == "default"):
            continue
        limit = limits.get(role)
        is_narrower = may_narrow and limit is not None and limit.is_bound
        if limit and not is_narrower and role not in right and number not in limit.numbers:
            yield limit.words
        elif role != "default" and low and number < low.end:
            yield low.words
        elif role != "default" and high and number > high.end:
            yield high.words

    is_sized = {"minItems", "minLength"} & accepted.bounds.keys()
    if low and is_sized and max(low.numbers) > 0:
        spoken = [words_of(clause) for clause in clauses if _PATTERNS.empty.search(clause)]
        if any(not any(map(is_negation, words)) for words in spoken):
            yield low.words


def _unit_words(node: Node) -> list[str]:
    """The units that a parameter's name and own text give."""
    own = node.schema.get("description")
    words = [part for part in name_parts(node.name or "") if len(part) > 1]
    words += [word for word in words_of(own[:MAX_EXPLANATION]) if len(word) > 1] if isinstance(own, str) else []
    return [word for word in words if word in known_units()]


def _unit_conflicts(node: Node, text: str) -> Iterator[str]:
    """Yield the unit of a parameter where the text gives another of its kind: "`wait_seconds` in minutes".

    What is said of a call, "end_ms=120000: the first two minutes", is about its result.
    """
    if _PATTERNS.used.search(text):
        return
    units = known_units()
    named = {units[part] for part in name_parts(node.name or "") if len(part) > 1 and part in units}
    # "5 minutes" is an amount, which may be given in seconds
    stated = {units[word] for word in words_of(_PATTERNS.amount.sub("", text)) if len(word) > 1 and word in units}
    right_kinds = {kind for kind, _ in named & stated}  # `min_days` in days
    for kind, unit in sorted(named - stated):
        other = next((word for same, word in sorted(stated) if same == kind), None)
        if other and kind not in right_kinds:
            yield f"the name `{node.name}` says {unit}, not {other}"


def _default_conflicts(node: Node, clauses: Sequence[str], accepted: Accepted) -> Iterator[str]:
    """Yield the default of a truth value, of listed values or of a text where a clause names another."""
    default = node.schema.get("default")
    if default is None or default == "" or not isinstance(default, str | bool):
        return
    reason = f"the schema gives `{node.name}` the default {spell(default)}"
    values = {spell(value).lower(): spell(value) for value in accepted.values or ()}
    own = node.schema.get("description")
    values |= {word.lower(): word for word in _quoted(own)} if isinstance(own, str) else {}
    absent = _PATTERNS.absent.match(", ".join(clauses))
    values_then = _quoted(absent["rest"]) if absent and absent["name"] == node.name else []
    if len(values_then) == 1 and isinstance(default, str) and default.lower() not in map(str.lower, values_then):
        yield reason
    for clause in (_PATTERNS.used.sub("", clause) for clause in clauses):
        before, *behind = _PATTERNS.unless.split(clause, maxsplit=1)
        words = {word.lower() for word in _PATTERNS.token.findall(before)} - {(node.name or "").lower()}
        if isinstance(default, bool):
            stated = _truth(words) if _PATTERNS.default.search(clause.lower()) else None
            exceptions = (_truth({word.lower() for word in _PATTERNS.token.findall(part)}) for part in behind)
            is_exception = any(truth is default for truth in exceptions)
            if (stated is not None and stated is not default) or (is_exception and _PATTERNS.sole.search(clause)):
                yield reason
        elif _PATTERNS.default.search(clause.lower()):
            named = {values[word] for word in words if word in values}
            literal = _PATTERNS.literal.search(clause)
            stated_word = (literal["value"] or literal["other"]).strip("`'\"") if literal else ""
            # `instance-dependent` and `API_KEY` are remarks beside `all` and `U0`
            is_remark = ("-" in stated_word and "-" not in default) or ("_" in stated_word and stated_word.isupper())
            is_value = bool(stated_word) and stated_word.lower() not in STOPWORDS | {(node.name or "").lower()}
            if is_value and not is_remark and not named:
                named = {stated_word}
            if named and default.lower() not in {word.lower() for word in named}:
                yield reason


def _truth(words: set[str]) -> bool | None:
    """The truth value that words name; None for none or both."""
    stated = [value for value, spellings in _TRUTHS.items() if not words.isdisjoint(spellings)]
    return stated[0] if len(stated) == 1 else None


def _value_conflicts(node: Node, text: str, accepted: Accepted, subject: Subject) -> Iterator[str]:
    """Yield the values of a closed list where a text gives the parameter others."""
    values = accepted.values if accepted.values is not None else accepted.item_values
    if not values or accepted.types == {"boolean"}:
        return
    folded = {spell(value).lower() for value in values}
    names = {name.lower() for name in subject.input_shape.names}
    strange: list[str] = []
    for row in _PATTERNS.row.findall(text):
        items = [item.lower() for item in _PATTERNS.token.findall(row)]
        members = folded.intersection(items)
        if len(members) > 1 and 2 * len(members) > len(items) - 1:
            strange += [item for item in items if item not in folded | names | STOPWORDS | _no_values()]
    forms = STOPWORDS | words_from("claims", "claiming") | words_from("conflicts", "adverbs")
    for match in (*_PATTERNS.assigned.finditer(text), *_PATTERNS.assigned_to.finditer(text)):
        name, value, between = match["name"].lower(), match["value"].strip("`'\""), words_of(text[: match.end()])
        is_plain = forms.issuperset(words_of(match["between"])) and not any(map(is_negation, between))
        if name == (node.name or "").lower() and is_plain and value.lower() not in folded | names | _no_values():
            strange.append(value)
    for word in strange[:1]:
        yield f"`{node.name}` takes no {word!r}"


def _no_values() -> frozenset[str]:
    return words_from("claims", "no_values")


def _quoted(text: str) -> list[str]:
    return [word for match in _PATTERNS.quoted.findall(text[:MAX_EXPLANATION]) for word in match if word]


def _requirement_conflicts(node: Node, clauses: Sequence[str], *, is_own: bool) -> Iterator[str]:
    """Yield what the schema demands, where a clause about the parameter says the opposite without a condition."""
    name = re.escape(node.name or "")
    for clause in clauses if node.is_top else ():
        opening = re.match(rf"\W*(?:the )?{name}\W*", clause, re.IGNORECASE)
        if not (opening or is_own):
            continue
        rest = clause[opening.end() :] if opening else clause.strip(" .")
        if node.is_required and "default" not in node.schema and _PATTERNS.dispensable.match(rest):
            yield f"the schema requires `{node.name}`"
        elif not node.is_required and _PATTERNS.indispensable.match(rest):
            yield f"the schema does not require `{node.name}`"
