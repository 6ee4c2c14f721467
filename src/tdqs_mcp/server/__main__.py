"""`python -m tdqs_mcp.server`: the server alone."""

from tdqs_mcp.server.serve import serve

serve(prog_name="tdqs-mcp serve")
