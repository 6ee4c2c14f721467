"""The use cases, wired from the parts: what the command line, the MCP server and the library call."""
