"""Search over tools: what it reads of a definition, how it ranks tools, and how a user might ask for one."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache, partial
from itertools import islice
from statistics import fmean
from typing import NamedTuple

from tdqs_mcp.facts.lexicon import MAX_EXPLANATION, MAX_NAME, MAX_TEXT, lazy_pattern, read_table, words_from
from tdqs_mcp.facts.schema import arguments
from tdqs_mcp.facts.spelling import name_parts, words_of
from tdqs_mcp.facts.text.prose import sentences_of
from tdqs_mcp.facts.text.words import STOPWORDS, content_stems, stem
from tdqs_mcp.model import Catalog, Tool

_words = partial(words_from, "names")

MAX_SAID = 8
"""New words of a description that a need is drawn from; it says every second of them."""

MAX_HELD = 4
"""New words of parameters' names that a need is drawn from; it says every second of them."""

MIN_NEED = 2
"""Fewer words do not describe a need."""

_JOINED = r"\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
"""Scripts without spaces between words, and Hangul, whose words carry their particles."""

_WORD = lazy_pattern(rf"([{_JOINED}]+)|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_{_JOINED}]+")


class Need(NamedTuple):
    """Need that a tool answers, without the words of its name."""

    words: tuple[str, ...]
    """Words in the order of their sources; empty where the definition says too little beside its name."""

    withheld: tuple[str, ...]
    """The name's words, none of which is said in any form."""


def search_terms(text: str) -> list[str]:
    """Terms of a search: stems without function words; `getFile_path` is three, joined scripts are bigrams."""
    return [stem(word) for word in _split_text(text, step=1) if word not in STOPWORDS]


def strange_words(query: str, terms: AbstractSet[str]) -> list[str]:
    """The words of a query that claim something and are not among some search terms; no numbers and no names.

    A capital inside a sentence marks a name, which no definition needs.
    """
    named = {word.lower() for word in _NAMES.findall(query)}
    silent = named | _words("no_need") | _words("unsaid")
    words = dict.fromkeys(word for word in words_of(query) if word.isalpha() and word not in silent)
    return [word for word in words if content_stems([word]) and stem(word) not in terms]


_NAMES = lazy_pattern(r"(?<=[a-z,] )[A-Z]\w*")


def indexed_text(tool: Tool) -> str:
    """The texts that tool-search features look in: the tool's name and description, and those of its parameters."""
    parameters = (text for parameter in _parameters(tool) for text in parameter)
    return "\n".join([tool.name[:MAX_NAME], (tool.description or "")[:MAX_TEXT], *parameters])


class ListDetail(StrEnum):
    """Parts of tools that a client lists which loads definitions on demand; each has those before it too."""

    NAMES = "names"
    TEXTS = "texts"
    """Descriptions, and names and descriptions of parameters."""

    INSTRUCTIONS = "instructions"
    """The sentences of the server's instructions that name the tool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeferredTool(Tool):
    """A tool as such a client lists it, so that its schema is not known yet."""


def defer(catalog: Catalog, listing: ListDetail) -> Catalog:
    """Return the catalog as a client lists it that loads definitions on demand."""
    sentences = sentences_of(catalog.instructions or "") if listing is ListDetail.INSTRUCTIONS else ()
    tools = []
    for tool in catalog.tools:
        named = [sentence for sentence in sentences if tool.name in sentence]
        text = "\n".join(filter(None, (tool.description, *named))) or None
        parameters = {name: {"description": words} if words else {} for name, words in _parameters(tool)}
        has_texts = listing is not ListDetail.NAMES
        tools.append(
            DeferredTool(
                index=tool.index,
                name=tool.name,
                title=None,
                description=text if has_texts else None,
                input_schema={"properties": parameters} if has_texts and parameters else None,
                output_schema=None,
                annotations=None,
                defects=(),
                raw=tool.raw,
            )
        )
    return replace(catalog, tools=tuple(tools))


MAX_FOUND = 5
"""Tools that a client that loads tools on demand takes from one search."""


def unfindable_tools(catalog: Catalog) -> dict[ListDetail, tuple[str, ...]]:
    """Return the tools that a search for the first sentence of their description does not have among MAX_FOUND.

    That sentence itself is not searched. Quadratic in the number of tools.
    """
    leads = [next(iter(sentences_of(tool.description or "")), "") for tool in catalog.tools]
    rest = [
        replace(tool, description=(tool.description or "").replace(lead, " ", 1))
        for tool, lead in zip(catalog.tools, leads, strict=True)
    ]
    lists = {listing: defer(replace(catalog, tools=tuple(rest)), listing).tools for listing in ListDetail}
    places = {listing: _missed(leads, list(map(indexed_text, tools))) for listing, tools in lists.items()}
    return {listing: tuple(catalog.tools[place].name for place in missed) for listing, missed in places.items()}


def _missed(queries: Sequence[str], documents: Sequence[str]) -> Iterator[int]:
    """Yield the positions of the documents that their query does not find."""
    weights = bm25_weights([search_terms(document) for document in documents])
    for place, query in enumerate(queries):
        scores = bm25_scores(weights, search_terms(query))
        own = scores.get(place, 0)
        if own <= 0 or sum(score >= own for score in scores.values()) > MAX_FOUND:
            yield place


def describe_need(tool: Tool) -> Need:
    """A need that the tool answers; the same definition gives the same words.

    The name's words are withheld, and replaced by what users say instead where that is known. Of the new words of the
    description and of the parameters' names every second one is said, so that no phrase is quoted.
    """
    withheld = tuple(dict.fromkeys(name_parts(tool.name)))
    stems = {stem(word) for word in withheld}
    instead = ([word for word in _synonyms().get(stem(part), ()) if stem(word) not in stems] for part in withheld)
    replaced = [words[0] for words in instead if words]
    described = _new(_split_text((tool.description or "")[:MAX_TEXT], step=2), stems)
    names = (word for name, _ in _parameters(tool) for word in _split_text(name, step=2))
    parameter_words = _new(names, stems)
    own = [*list(islice(described, MAX_SAID))[::2], *list(islice(parameter_words, MAX_HELD))[::2]]
    need_words = tuple(dict.fromkeys([*replaced, *own])) if own else ()
    return Need(words=need_words if len(need_words) >= MIN_NEED else (), withheld=withheld)


@cache
def _synonyms() -> dict[str, tuple[str, ...]]:
    """Return what users say instead of a word, by its stem as names have it."""
    groups = reversed(read_table("synonyms")["groups"].split("/"))
    return {words[0]: tuple(words[1:]) for group in groups if (words := group.split())}


def _new(words: Iterable[str], stems: set[str]) -> Iterator[str]:
    """Words that say something for the first time; `stems` takes them in."""
    for word in words:
        own = stem(word)
        if (
            own not in stems
            and word not in STOPWORDS
            and word not in _words("no_need")
            and not (len(word) == 1 and word.isascii())
        ):
            stems.add(own)
            yield word


def _split_text(text: str, *, step: int) -> Iterator[str]:
    """The lower-case words in order; a run of a joined script as pairs of characters, a pair every `step` of them."""
    for match in _WORD.finditer(text):
        if match[1] is None:
            yield match[0].lower()
        else:
            run = match[1]
            yield from (run[start : start + 2] for start in range(0, max(1, len(run) - 1), step))


def _parameters(tool: Tool) -> Iterator[tuple[str, str]]:
    """Name and description of every top-level parameter."""
    for name, schema in arguments.properties(tool).items():
        if name and isinstance(schema, dict):
            description = schema.get("description")
            yield name[:MAX_NAME], description[:MAX_EXPLANATION] if isinstance(description, str) else ""


K1, B = 1.5, 0.75
"""How soon a repeated term counts no more, and how much a long document pays for its length: the usual values."""

SCORE_DIGITS = 9
"""Decimals of a score; further digits only depend on the order of additions."""


def bm25_weights(documents: Sequence[Sequence[str]]) -> dict[str, dict[int, float]]:
    """Return what each term adds to the score of each document that has it, by position: BM25 as Lucene computes it."""
    counts = Counter(term for document in documents for term in set(document))
    rarities = {term: rarity(count, len(documents)) for term, count in counts.items()}
    return weigh_terms(documents, rarities, average=fmean(map(len, documents)) if counts else 0)


def weigh_terms(
    documents: Sequence[Sequence[str]], rarities: Mapping[str, float], *, average: float
) -> dict[str, dict[int, float]]:
    """Return the same by the rarities of terms and the average length of a larger set; other terms add nothing."""
    places: dict[str, dict[int, float]] = {term: {} for term in rarities}
    for place, document in enumerate(documents):
        for term, count in Counter(document).items():
            if term in rarities:
                length = K1 * (1 - B + B * len(document) / average)
                places[term][place] = rarities[term] * (count / (count + length))
    return places


def rarity(count: int, total: int) -> float:
    """The inverse document frequency of a term that so many of all documents have."""
    return math.log(1 + (total - count + 0.5) / (count + 0.5))


def bm25_scores(weights: Mapping[str, Mapping[int, float]], terms: Sequence[str]) -> dict[int, float]:
    """The score of every document that has one of the terms; a term counts as often as it is given."""
    scores: dict[int, float] = {}
    for term in terms:
        for place, weight in weights.get(term, {}).items():
            scores[place] = scores.get(place, 0.0) + weight
    return {place: round(score, SCORE_DIGITS) for place, score in sorted(scores.items())}
