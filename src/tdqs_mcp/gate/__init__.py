"""What a result means for an exit code: the pass/fail policy; suites are in `gate.suite`."""

from tdqs_mcp.gate.policy import Outcome, answered, decide, is_clean, reaches

__all__ = ["Outcome", "answered", "decide", "is_clean", "reaches"]
