"""What is scored (catalog) and what comes out of it (results)."""
