"""`python -m tdqs_mcp`."""

from tdqs_mcp.cli import main

main()
