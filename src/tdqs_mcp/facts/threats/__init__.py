"""What the strings of a definition try to do to the agent, the judge or the client that reads them."""

from tdqs_mcp.facts.threats.detection import (
    Part,
    Threat,
    ThreatKind,
    find_additions,
    find_hosts,
    find_threats,
    first_aimed_at_model,
    is_tampered,
    locate_threats,
)

__all__ = [
    "Part",
    "Threat",
    "ThreatKind",
    "find_additions",
    "find_hosts",
    "find_threats",
    "first_aimed_at_model",
    "is_tampered",
    "locate_threats",
]
