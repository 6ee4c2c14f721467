"""Captures, verdicts, scores and models' answers in SQLite or PostgreSQL."""
