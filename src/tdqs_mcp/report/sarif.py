"""Findings as SARIF 2.1.0, for code scanning."""

import re
from collections import Counter
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from tdqs_mcp.report.escape import printable
from tdqs_mcp.report.sited import Sited, sentence
from tdqs_mcp.results.findings import Confidence, Finding, Severity, fingerprint
from tdqs_mcp.rules import registry
from tdqs_mcp.rules.rule import AnyRule

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_PRECISIONS = {Confidence.HIGH: "high", Confidence.MEDIUM: "medium", Confidence.LOW: "low"}
_LINK = re.compile(r"\](?=\()")
_PLACEHOLDER = re.compile(r"\{(?=\d+\})")


def sarif_document(reports: Sequence[Sited]) -> dict[str, Any]:
    """One run over all servers; every rule stands at its own index, whichever ran."""
    indices = {rule.id: index for index, rule in enumerate(registry.RULES)}
    seen: Counter[str] = Counter()
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "tdqs-mcp",
                        "version": version("tdqs-mcp"),
                        "rules": [_rule(rule) for rule in registry.RULES],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [
                    _result(sited, finding, index=indices[finding.rule], seen=seen)
                    for sited in reports
                    for finding in sited.report.findings
                ],
            }
        ],
    }


def _rule(rule: AnyRule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.summary},
        "help": {"text": f"{rule.summary} tdqs-mcp explain {rule.id} says more.", "markdown": rule.page},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {
            "precision": _PRECISIONS[rule.confidence],
            "tags": [each for each in (rule.dimension, *rule.aliases) if each],
            "source": rule.source,
        },
    }


def _result(sited: Sited, finding: Finding, *, index: int, seen: Counter[str]) -> dict[str, Any]:
    """Equal findings, of tools with one name, are numbered so that each keeps a fingerprint of its own."""
    digest = fingerprint(finding, server=sited.report.server)
    seen[digest] += 1
    return {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": _plain(sentence(finding))},
        "locations": [_location(sited, finding)],
        "partialFingerprints": {"tdqsFinding/v1": f"{digest}:{seen[digest]}"},
        "properties": {"server": printable(sited.report.server), "pointer": printable(finding.subject.path)},
    }


def _location(sited: Sited, finding: Finding) -> dict[str, Any]:
    server, part = printable(sited.report.server), printable(finding.subject.label)
    location: dict[str, Any] = {
        "logicalLocations": [
            {"name": part, "fullyQualifiedName": f"{server}/{part}{printable(finding.subject.path)}", "kind": "object"}
        ]
    }
    position = sited.find(finding)
    if sited.file is not None and position is not None:
        location["physicalLocation"] = {
            "artifactLocation": {"uri": _uri(sited.file)},
            "region": {"startLine": position.line, "startColumn": position.column},
        }
    return location


def _uri(path: str) -> str:
    """Relative where the path is, so that a viewer finds the file in its own checkout."""
    return PurePath(path).as_uri() if PurePath(path).is_absolute() else quote(path, errors="replace")


def _plain(text: str) -> str:
    """Text in which nothing is a link or a placeholder (SARIF 3.11.5 and 3.11.6)."""
    return _PLACEHOLDER.sub("{ ", _LINK.sub("] ", text))
