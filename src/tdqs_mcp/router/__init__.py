"""A proxy that serves the tools of an MCP server with other descriptions."""
