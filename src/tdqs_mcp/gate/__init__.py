"""What a result means for an exit code: the pass/fail policy, known findings, and suites."""
