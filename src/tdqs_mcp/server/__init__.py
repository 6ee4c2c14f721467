"""Our MCP tools, resources and prompts: they call the use cases of `app` and compute nothing."""
