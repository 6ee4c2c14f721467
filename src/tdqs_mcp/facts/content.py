"""What a description tells that name and schema do not: its new words, statements and details, each counted once."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from tdqs_mcp.facts.lexicon import STOPWORDS, Cue
from tdqs_mcp.facts.prose import MAX_EXPLANATION, Prose, name_parts, stem
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.words import words_of

MAX_PROPERTIES = 200
"""Properties, nested ones included, whose names are known; the largest real schema has fewer."""

MAX_DEPTH = 4
"""Levels of nested objects whose properties are read."""

NEW_WORDS = 2
"""Words that nobody has said before, from which a sentence is a statement of its own."""

BRIEF = 8
"""Words of a sentence that is so short that one new word makes it a statement."""

MOST_GENERIC = 75
"""Percent of words that fit any tool from which a sentence is padding."""

GENERIC = frozenset(
    stem(word)
    for word in (
        "ability able about absolutely accurate achieve acting action add advanced advantage again agent ai aim "
        "allow also always amazing another anyone anything api appropriate argument around array assist assistant "
        "attention available award-winning awesome based basic beautiful become been being benefit best best-in- "
        "class better bit boost both box brand breakthrough brilliant bring broad build built business call called "
        "capability care carefully case certain certainly choice choose clean clear clever code command common "
        "complete completely component comprehensive confidence confident consistent context convenient could "
        "countless crafted create customer-friendly cutting-edge daily data day definitely delight delightful "
        "deliver demo design designed detail developer did difference different directly do document does done "
        "dummy ease easier easily easy effective effectively efficient efficiently effort effortless effortlessly "
        "either elegant else empower enable endpoint enhance enhanced enjoy ensure entire especially essential etc "
        "even ever every everyday everyone everything exactly example excellent execute existing expect experience "
        "expert extensive extensively facilitate fantastic far fast faster feature feel finest first-class flexible "
        "following free friendly fully function functionality game-changer game-changing general generic get give "
        "globe go goal good great greatest had handy happier happy has hassle hassle-free have having help helpful "
        "her here high highly his how id ideal impact important improve incredible industry-leading info "
        "information innovative input insight integration intelligent intended interface intuitive item its itself "
        "job just keep key kind latest leading let level leverage life like little llm look lot love made magic "
        "make manner many matter maximize mcp mean meaningful method might million mind model modern module more "
        "most mostly much multiple must must-have my name necessary need neither never new next next-generation "
        "nice nicer no note nothing noting number object off often once operation optimal optimize option other our "
        "out output outstanding over overall overview own parameter part particularly people perfect perfectly "
        "perform performance personal please plenty popular positive possible potential power powered powerful "
        "practical practice premium present pretty process product productive productivity professional proper "
        "properly provide purpose put quality quick quickly quite range rather ready real really reason relevant "
        "reliable reliably rely request resource response result return revolutionary rich right robust said sample "
        "satisfaction satisfied save say says scalable seamless seamlessly secure sense serious service shall short "
        "should simple simplify simply single situation smart smooth smoother so software solution solve something "
        "sometimes sort special specially speed state-of-the-art step still streamline strong structure success "
        "such super superb support sure system tailored take taking task team technology test than that their them "
        "then there they thing think thorough thoughtful thousand time today together too tool toolset top totally "
        "truly trust trusted try type ultimate under unique unlock unmatched unparalleled us useful user user- "
        "friendly usually utilize valuable value variety various versatile very want was way we well were what "
        "whatever whenever where wherever which who why wide wonderful work workflow world world-class worry worry- "
        "free worth would year yet "
    ).split()
)
"""Words that fit any tool and so tell nothing about this one."""


_FUNCTION_WORDS = frozenset(map(stem, STOPWORDS))


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What the text of one definition adds, in counts of distinct words, sentences or marks."""

    told: int
    """Content words that neither the name nor the title has."""

    beyond: int
    """Those that stand outside parameter lists and that no parameter's name or description has."""

    lead: int
    """New content words of the first sentence."""

    later: int
    """New content words that the first sentence does not have."""

    statements: int
    """Sentences outside parameter lists that add at least NEW_WORDS of `beyond`."""

    usage: int
    """New content words of sentences that say when to use the tool, when not, what instead or what first."""

    behaviour: int
    """Other sentences after the first that set a condition or a limit, or say what happens by itself."""

    returned: int
    """New content words of the sentence that says most about what comes back."""

    explained: int
    """Content words of parameter lists in the text that the schema does not have."""

    listed: int
    """Top-level parameters with an entry of their own in the text."""

    named: int
    """Top-level parameters that a sentence which tells something names."""

    partly_named: int
    """Top-level parameters of which at least one word of the name stands in the text."""

    untold: int
    """Top-level parameters that have no description and no word of their name in the text."""

    schema_words: int
    """Content words of the parameters' descriptions that their names do not have, a parameter at the average."""

    structures: int
    """Top-level parameters that are objects, arrays, unions or references."""

    constrained: int
    """Top-level parameters with a format, a pattern, a bound or a default."""

    unknown: int
    """Identifiers in the text that are neither a property nor a tool of the server."""

    conditions: int
    """Different words that set a condition: if, when, after, by default."""

    limits: int
    """Words that exclude something: not, only, without, except."""

    mechanics: int
    """Phrases that say what happens by itself: automatically, is overwritten, will be sent."""

    means: int
    """Phrases that say how it is done: using, via, based on."""

    inclusions: int
    """Phrases that open a list of parts: including, containing."""

    numbers: int
    units: int
    quotations: int
    """Different words in quotes or backticks."""

    asides: int
    """Sentences with a parenthesis, outside parameter lists."""

    cues: Mapping[Cue, int]
    """Sentences that tell something and give the cue."""

    words: int
    """Words of the sentences that tell something."""

    restates: bool
    """Every word of these sentences is in the name or title, or a function word."""

    sentence_words: int
    """Words of such a sentence, on average."""

    lines: int
    name_told: int
    """Percent of the name's words that stand in the text; where few do, it may be about something else."""

    generic: int
    """Different words that fit any tool."""

    repeated: int
    """Words that the text has said before."""

    addressed: int
    """Second persons: you, your."""

    shouted: int
    """Orders in capitals."""

    is_generated: bool
    """It opens like an interface, not a sentence: an HTTP path, "the X operation", "API tool for"."""

    opens_with_tool: bool
    """It opens with what every definition is: "This tool …", "A tool that …"."""

    quotes: Mapping[str, "Passage"]
    """For counts that rest on one sentence more than on others: that sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A sentence of the text."""

    text: str
    words: int
    """The new content words that it has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sentence:
    text: str
    words: Sequence[str]
    fresh: frozenset[str]
    """Content words that no sentence before it has."""

    added: frozenset[str]
    """Those that the schema does not have either."""

    entry: str | None
    """The parameter whose entry it is, in lower case."""

    is_usage: bool
    is_behaviour: bool
    is_return: bool
    tells: bool
    """It adds something: no repetition, no padding, not the name or the schema over again."""

    marks: Mapping["_Mark", Sequence[str]]


def read(subject: Subject) -> Content:
    """What the text adds; linear in its length. What speaks for it is counted in the sentences that tell something."""
    tool, signals, prose = subject.tool, subject.signals, subject.prose
    properties = frozenset(name.lower() for name in _property_names(tool.input_schema))
    own = _stems(part for label in (tool.name, tool.title or "") for part in name_parts(label)) | {tool.name.lower()}
    names = {each.name: _stems(name_parts(each.name)) for each in signals.parameters}
    described = {each.name: _stems(words_of(each.description[:MAX_EXPLANATION])) for each in signals.parameters}
    schema = frozenset(map(str.lower, names)).union(*names.values(), *described.values())
    everything = _sentences(prose, properties=properties, known=_FUNCTION_WORDS | GENERIC | own, schema=schema)
    sentences = [each for each in everything if each.tells]
    outside = [each for each in sentences if each.entry is None]
    entries = [each for each in sentences if each.entry is not None]
    body = " ".join(each.text for each in outside)
    every = [word for each in everything for word in each.words]
    said = _stems(every)
    told = _stems(word for each in sentences for word in each.words)
    content = said - _FUNCTION_WORDS
    listed = {each.entry for each in entries}
    marks = {mark: {word for each in outside for word in each.marks.get(mark, ())} for mark in _Mark}
    return Content(
        told=sum(len(each.fresh) for each in sentences),
        beyond=sum(len(each.added) for each in outside),
        lead=len(sentences[0].fresh) if sentences else 0,
        later=sum(len(each.fresh) for each in sentences[1:]),
        statements=sum(len(each.added) >= NEW_WORDS for each in outside),
        usage=sum(len(each.fresh) for each in outside if each.is_usage),
        behaviour=sum(each.is_behaviour and bool(each.fresh) for each in outside),
        returned=max((len(each.fresh) for each in sentences if each.is_return), default=0),
        explained=len(frozenset().union(*(each.added for each in entries))),
        listed=sum(name.lower() in listed for name in names),
        named=sum(name.lower() in told or (bool(words) and words <= told) for name, words in names.items()),
        partly_named=sum(not words.isdisjoint(told) for words in names.values()),
        untold=sum(not each.description.strip() and names[each.name].isdisjoint(told) for each in signals.parameters),
        schema_words=_average(len(described[name] - _FUNCTION_WORDS - GENERIC - own - names[name]) for name in names),
        structures=sum(map(_is_structure, _schemas(tool.input_schema))),
        constrained=sum(not _CONSTRAINTS.isdisjoint(schema) for schema in _schemas(tool.input_schema)),
        unknown=len(_identifiers(prose.sentences) - properties - subject.names),
        conditions=len(marks[_Mark.CONDITION]),
        limits=len(marks[_Mark.LIMIT]),
        mechanics=len(marks[_Mark.MECHANICS]),
        means=len(marks[_Mark.MEANS]),
        inclusions=len(marks[_Mark.INCLUSION]),
        numbers=len(set(_NUMBER.findall(body))),
        units=len(marks[_Mark.UNIT]),
        quotations=len({word for each in sentences for word in _QUOTED.findall(each.text)}),
        asides=sum("(" in each.text for each in outside),
        cues={
            cue: len({everything[place].text for place in places if everything[place].tells})
            for cue, places in prose.cue_places.items()
        },
        words=sum(len(each.words) for each in sentences),
        restates=bool(told) and not told - _FUNCTION_WORDS - own,
        sentence_words=sum(len(each.words) for each in sentences) // max(1, len(sentences)),
        lines=(tool.description or "").strip().count("\n"),
        name_told=100 * len(own & told) // max(1, len(own)),
        generic=len(content & GENERIC),
        repeated=len(every) - len(set(every)),
        addressed=sum(word in ("you", "your") for word in every),
        shouted=len(_SHOUT.findall(" ".join(prose.sentences))),
        is_generated=bool(sentences) and _GENERATED.search(sentences[0].text) is not None,
        opens_with_tool=bool(sentences) and _AS_TOOL.match(sentences[0].text) is not None,
        quotes=_quotes(sentences),
    )


_ENTRY = re.compile(
    r"\W{0,8}(\w[\w.\-]{0,60})[`\"'*]{0,4}\s{0,4}(?:\([^)\n]{0,80}\)|\[[^\]\n]{0,80}\])?\s{0,4}(?:[:：=–]|- )"  # noqa: RUF001
)
_RETURN = re.compile(
    r"\b(?:returns?|returning|outputs?|response|result|gives back|yields)\b|返回|返却|반환", re.IGNORECASE
)


class _Mark(StrEnum):
    CONDITION = "condition"
    LIMIT = "limit"
    MECHANICS = "mechanics"
    MEANS = "means"
    INCLUSION = "inclusion"
    UNIT = "unit"


_PHRASES: Mapping[_Mark, Sequence[str]] = {
    _Mark.CONDITION: (
        "if", "when", "unless", "otherwise", "after", "before", "until", "while", "once", "by default", "each", "every",
        "per", "already", "always",
    ),
    _Mark.LIMIT: (
        "not", "cannot", "can't", "don't", "doesn't", "won't", "never", "only", "without", "except", "however",
        "instead", "rather", "unless", "limited", "at most", "up to", "exclude", "excludes", "excluded", "excluding",
        "omit", "omits", "omitted", "omitting", "ignore", "ignores", "ignored", "ignoring", "skip", "skips", "skipped",
        "skipping",
    ),
    _Mark.MECHANICS: (
        "automatic", "automatically", "immediately", "by default", "in place", "permanent", "permanently", "recursive",
        "recursively", "atomic", "atomically", "in bulk", "real-time", "realtime", "cache", "cached", "paginate",
        "paginates", "paginated", "pagination", "async", "asynchronous", "asynchronously", "background", "locally",
        "persist", "persists", "persisted", "persistent", "temporary", "temporarily", "overwrite", "overwrites",
        "overwritten", "overwriting", "append", "appends", "appended", "merge", "merges", "merged", "already exist",
        "already exists", "does not exist", "will be", "will not", "will return", "will create", "will fail",
        *(
            f"{be} {done}"
            for be in ("is", "are")
            for done in (
                "returned", "created", "sent", "saved", "deleted", "removed", "used", "required", "ignored", "omitted",
                "included", "stored", "cached", "replaced", "kept", "skipped", "sorted", "limited", "truncated",
                "updated", "processed", "charged", "not",
            )
        ),
    ),
    _Mark.MEANS: ("using", "via", "through", "based on", "powered by"),
    _Mark.INCLUSION: (
        "include", "includes", "included", "including", "contain", "contains", "containing", "consisting of",
        "along with", "such as",
    ),
    _Mark.UNIT: (
        "degrees", "radians", "second", "seconds", "millisecond", "milliseconds", "ms", "minute", "minutes", "hour",
        "hours", "day", "days", "bytes", "kb", "mb", "gb", "pixels", "px", "meters", "metres", "km", "kg", "celsius",
        "fahrenheit", "percent", "percentage", "utc", "iso", "json", "csv", "xml", "html", "markdown", "base64", "png",
        "svg", "pdf", "cents", "uuid", "url", "urls", "regex", "sql", "yaml",
    ),
}  # fmt: skip
_STARTS: dict[str, list[tuple[tuple[str, ...], _Mark]]] = {}
for _mark, _listed in _PHRASES.items():
    for _phrase in _listed:
        _parts = tuple(_phrase.split())
        _STARTS.setdefault(_parts[0], []).append((_parts, _mark))


def _marks(words: Sequence[str]) -> dict[_Mark, list[str]]:
    """The phrases of one sentence, by what they tell."""
    found: dict[_Mark, list[str]] = {}
    for position, word in enumerate(words):
        for phrase, mark in _STARTS.get(word, ()):
            if len(phrase) == 1 or tuple(words[position : position + len(phrase)]) == phrase:
                found.setdefault(mark, []).append(word)
        if word == "by" and position + 1 < len(words) and words[position + 1].endswith("ing"):
            found.setdefault(_Mark.MEANS, []).append(word)
    return found


_NUMBER = re.compile(r"\d+")
_QUOTED = re.compile(r"[\"'`]([^\"'`\s][^\"'`\n]{0,60})[\"'`]")
_IDENTIFIER = re.compile(
    r"`([A-Za-z_]\w{1,60})`|\b([a-z]{1,30}_\w{1,30}|[a-z]{1,30}[A-Z]\w{1,30})\b|\b(\w{2,40}) parameter\b"
)
_NO_IDENTIFIERS = frozenset("the this each every optional required which input single".split())
_SHOUT = re.compile(r"\b(?:MUST|ALWAYS|NEVER|IMPORTANT|CRITICAL|REQUIRED|MANDATORY|WARNING|STOP|ONLY)\b")
_GENERATED = re.compile(r"^(?:GET|POST|PUT|DELETE|PATCH) ?/|/api/|\boperations?\.?$|\bAPI tool\b|\bcommand\.?$")
_AS_TOOL = re.compile(r"\W{0,8}(?:(?:a|an|the|this)\s+)?(?:[^\W_]{1,30}\s+){0,3}tool\b", re.IGNORECASE)
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_CONSTRAINTS = frozenset("format pattern minimum maximum minLength maxLength minItems default".split())


def _sentences(
    prose: Prose, *, properties: AbstractSet[str], known: AbstractSet[str], schema: AbstractSet[str]
) -> list[_Sentence]:
    usage = {place for cue in _USAGE for place in prose.cue_places.get(cue, ())}
    weighty = {place for cue in _WEIGHTY for place in prose.cue_places.get(cue, ())}
    said: set[str] = set()
    texts: set[str] = set()
    found: list[_Sentence] = []
    for position, (text, spoken) in enumerate(zip(prose.sentences, prose.spoken, strict=True)):
        words = spoken if text.isascii() else _split(spoken)
        stems = {word for word in map(stem, words) if len(word) > 1}
        fresh = frozenset(stems - known - said)
        said |= fresh
        match = _ENTRY.match(text)
        name = match[1].lower() if match else ""
        marks = _marks(spoken)
        is_usage = position in usage
        added = fresh - schema
        found.append(
            _Sentence(
                text=text,
                words=words,
                fresh=fresh,
                added=added,
                entry=name if name in properties else None,
                is_usage=is_usage,
                is_behaviour=position > 0 and not is_usage and not marks.keys().isdisjoint(_BEHAVIOUR),
                is_return=_RETURN.search(text) is not None,
                tells=text not in texts
                and _share(stems & GENERIC, stems - _FUNCTION_WORDS) < MOST_GENERIC
                and (
                    not any(each.tells for each in found)
                    or (len(fresh) >= NEW_WORDS and (bool(added) or not _is_list(spoken, properties)))
                    or (bool(added) and len(words) <= BRIEF)
                    or position in weighty
                ),
                marks=marks,
            )
        )
        texts.add(text)
    return found


def _is_list(words: Sequence[str], properties: AbstractSet[str]) -> bool:
    """It only lists parameters."""
    return sum(word in properties for word in words) >= NEW_WORDS


def _share(part: AbstractSet[str], whole: AbstractSet[str]) -> int:
    return 100 * len(part) // max(1, len(whole))


_BEHAVIOUR = (_Mark.CONDITION, _Mark.LIMIT, _Mark.MECHANICS)
_WEIGHTY = (Cue.DESTRUCTION, Cue.SAFETY, Cue.PERMISSION, Cue.ERROR)
_USAGE = (Cue.WHEN, Cue.WHEN_NOT, Cue.ALTERNATIVE, Cue.PREREQUISITE)


def _split(words: Sequence[str]) -> list[str]:
    """A run of Chinese or Japanese, which has no spaces, counts as a word for every two characters."""
    return [part for word in words for part in (_pairs(word) if _CJK.search(word) else (word,))]


def _pairs(run: str) -> Iterator[str]:
    return (run[start : start + 2] for start in range(0, len(run), 2))


def _schemas(schema: Mapping[str, Any] | None) -> list[Mapping[str, Any]]:
    """The top-level properties that are schemas."""
    properties = (schema or {}).get("properties")
    children = properties.values() if isinstance(properties, Mapping) else ()
    return [child for child in children if isinstance(child, Mapping)]


def _is_structure(schema: Mapping[str, Any]) -> bool:
    return schema.get("type") in ("object", "array") or "anyOf" in schema or "$ref" in schema


def _property_names(schema: Mapping[str, Any] | None) -> Iterator[str]:
    """Names of properties at every level, breadth first, MAX_PROPERTIES at most."""
    level: list[Any] = [schema]
    left = MAX_PROPERTIES
    for _ in range(MAX_DEPTH):
        below: list[Any] = []
        for node in level:
            if not isinstance(node, Mapping):
                continue
            properties = node.get("properties")
            for name, child in (properties if isinstance(properties, Mapping) else {}).items():
                if left == 0:
                    return
                left -= 1
                yield name
                below.append(child)
            below.append(node.get("items"))
            for keyword in ("anyOf", "oneOf", "allOf"):
                branches = node.get(keyword)
                below += branches[:MAX_PROPERTIES] if isinstance(branches, list) else []
        level = [node for node in below[:MAX_PROPERTIES] if node is not None]


def _stems(words: Iterable[str]) -> frozenset[str]:
    return frozenset(map(stem, words))


def _average(values: Iterable[int]) -> int:
    listed = list(values)
    return sum(listed) // max(1, len(listed))


def _identifiers(sentences: Sequence[str]) -> set[str]:
    found = {
        word.lower() for sentence in sentences for groups in _IDENTIFIER.findall(sentence) for word in groups if word
    }
    return found - _NO_IDENTIFIERS


def _quotes(sentences: Sequence[_Sentence]) -> dict[str, Passage]:
    def fullest(chosen: Iterable[_Sentence]) -> Passage | None:
        best = max(chosen, key=lambda each: len(each.fresh), default=None)
        return Passage(text=best.text, words=len(best.fresh)) if best and best.fresh else None

    outside = [each for each in sentences if each.entry is None]
    found = {
        "lead": Passage(text=sentences[0].text, words=len(sentences[0].fresh)) if sentences else None,
        "later": fullest(sentences[1:]),
        "usage": fullest(each for each in outside if each.is_usage),
        "behaviour": fullest(each for each in outside if each.is_behaviour),
        "returned": fullest(each for each in sentences if each.is_return),
        "explained": fullest(each for each in sentences if each.entry is not None),
    }
    return {key: passage for key, passage in found.items() if passage is not None}
