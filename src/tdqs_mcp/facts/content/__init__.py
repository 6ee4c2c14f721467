"""What a description tells that name and schema do not: its new words, statements and details, each counted once."""

from tdqs_mcp.facts.content.content import Content, read

__all__ = ["Content", "read"]
