"""How the tools of one catalog relate to each other, and what the catalog offers besides tools."""
