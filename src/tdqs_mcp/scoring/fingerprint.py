"""What makes two findings of two runs the same finding."""

import hashlib
import json

from tdqs_mcp.results.findings import Finding

_SECURITY = "TDQ5"
"""The lane in which other words at the same place are another attack, which nobody has accepted yet."""


def fingerprint(finding: Finding, *, server: str) -> str:
    """16 hexadecimal digits of rule and place: they survive another order, count, wording and severity.

    Only a security finding is the same as long as its message is.
    """
    part = finding.subject
    said = [finding.message] if finding.rule.startswith(_SECURITY) else []
    identity = [finding.rule, server, part.kind, part.name, part.path, *said]
    return hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:16]
