"""Confusions that were planted in captured catalogs: is the planted pair what `select` names first? The agent is BM25."""

import random
from dataclasses import replace

import pytest

import tdqs_mcp
from tdqs_mcp.facts.text.prose import sentences_of
from tdqs_mcp.facts.toolset.search import describe_need
from tdqs_mcp.model import read_tool
from tdqs_mcp.results.checks import Query
from tdqs_mcp.sources.files import read_file

CATALOGS, REQUESTS, DRAWS = 20, 60, 3

pytestmark = pytest.mark.corpus


def texted(tool, description, **raw):
    return read_tool({**tool.raw, "description": description, **raw}, tool.index)


def paraphrased(catalog, tool, chance):
    """A second tool that says the sentences of the first in another order and with two thirds of their words."""
    sentences = [*sentences_of(tool.description)][::-1]
    words = [word for word in " ".join(sentences).split() if chance.random() < 2 / 3]
    added = replace(texted(tool, " ".join(words), name="perform_action"), index=len(catalog.tools))
    return replace(catalog, tools=(*catalog.tools, added)), {tool.name, "perform_action"}


def exchanged(catalog, tool, chance):
    """Two tools with each other's descriptions."""
    other = chance.choice([rival for rival in catalog.tools if rival is not tool and rival.description])
    texts = {tool.index: texted(tool, other.description), other.index: texted(other, tool.description)}
    return replace(catalog, tools=tuple(texts.get(item.index, item) for item in catalog.tools)), {tool.name, other.name}


def requests_for(catalog, pair, chance):
    """Sixty requests for the planted pair and two other tools: four words of a definition that its name does not have."""
    others = [tool.name for tool in catalog.tools if tool.name not in pair]
    chosen = pair.union(chance.sample(others, 2))
    needs = {tool.name: describe_need(tool).words for tool in catalog.tools if tool.name in chosen}
    names = [name for name, words in needs.items() if len(words) >= 4]
    texts = [(name, " ".join(chance.sample(needs[name], 4))) for name in (names * REQUESTS)[:REQUESTS]]
    return [Query(text=text, tool=name) for name, text in texts]


def test_four_in_five_planted_confusions_are_the_first_that_a_change_brings(whole_corpus, record_property):
    """Of two kinds of plants in turn, in three draws. BM25 confuses tools before, too, so both versions are compared.

    A plant that never makes BM25 choose another tool counts as missed.
    """
    catalogs, ranks = [read_file(path) for path in whole_corpus], []
    for draw in range(DRAWS):
        chance = random.Random(draw)
        usable = [catalog for catalog in catalogs if 4 <= len(catalog.tools) <= 30 and _long(catalog)]
        for place, catalog in enumerate(chance.sample(usable, CATALOGS)):
            plant = (paraphrased, exchanged)[place % 2]
            planted, pair = plant(catalog, chance.choice(_long(catalog)), chance)
            queries = requests_for(catalog, pair, chance)
            compared = tdqs_mcp.select([catalog], queries=queries, against=[planted]).against
            pairs = [{item.tool, item.picked} for item in compared.confusions]
            ranks.append(pairs.index(pair) if pair in pairs else None)
    record_property("ranks", str(ranks))
    assert ranks.count(0) >= 0.8 * CATALOGS * DRAWS, ranks


def _long(catalog):
    return [tool for tool in catalog.tools if len(describe_need(tool).words) >= 8]
