"""Words that tell nothing about a tool: those that fit any tool, and those of every sentence."""

from tdqs_mcp.facts.text.languages import STOPWORDS
from tdqs_mcp.facts.text.patterns import words_from
from tdqs_mcp.facts.text.words import stem

GENERIC = frozenset(map(stem, words_from("wording", "generic")))
"""Words that fit any tool and so tell nothing about this one."""

FUNCTION_WORDS = frozenset(map(stem, STOPWORDS))

IDLE = GENERIC | FUNCTION_WORDS
