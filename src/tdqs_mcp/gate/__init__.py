"""What a result means for an exit code: the pass/fail policy."""

from tdqs_mcp.gate.policy import Outcome, answered, is_clean, reaches

__all__ = ["Outcome", "answered", "is_clean", "reaches"]
