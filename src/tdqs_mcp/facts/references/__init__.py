"""What the texts of a catalog refer to: tools and parameters by name, boundaries to siblings, ranks."""

from tdqs_mcp.facts.references.orders import one_sided, orders
from tdqs_mcp.facts.references.parameters import unknown_parameters
from tdqs_mcp.facts.references.tools import Stranger, strangers, unknown_tools
from tdqs_mcp.facts.references.vocabulary import Mention, Vocabulary, fold, texts_of, vocabulary

__all__ = [
    "Mention",
    "Stranger",
    "Vocabulary",
    "fold",
    "one_sided",
    "orders",
    "strangers",
    "texts_of",
    "unknown_parameters",
    "unknown_tools",
    "vocabulary",
]
