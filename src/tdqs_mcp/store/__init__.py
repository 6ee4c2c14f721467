"""What outlives a run, in SQLite or PostgreSQL: captures, verdicts, scores and models' answers."""
