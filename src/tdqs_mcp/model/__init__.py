"""What is scored: a catalog with its raw JSON, and the author's material for rewrites."""
