"""The pass/fail policy, known findings, and suites: from a result to an exit code."""
