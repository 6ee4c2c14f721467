"""From facts and verdicts to scores, in exact arithmetic."""
