"""What outlives a run: judgements in SQLite."""
