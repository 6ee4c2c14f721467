"""From verdicts to scores, grades and labels; how far a judge is off."""
