"""What makes two findings of two runs the same finding."""

import hashlib
import json
import re

from tdqs_mcp.model.results import Finding

_VARIABLE = re.compile(r"'[^']*'|\"[^\"]*\"|\d+|: .*", re.DOTALL)
"""What a message quotes, counts or lists: it changes while the defect stays."""


def fingerprint(finding: Finding, *, server: str) -> str:
    """16 hexadecimal digits that survive a new order of the tools, another count and another severity."""
    part = finding.subject
    identity = [finding.rule, server, part.kind, part.name, part.path, _VARIABLE.sub("#", finding.message)]
    return hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:16]
