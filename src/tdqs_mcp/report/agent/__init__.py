"""What an agent gets from our MCP tools: short by default, in pages, every word of a definition fenced as data."""
