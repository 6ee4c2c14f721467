"""The document of a suite."""

from collections.abc import Sequence
from typing import Any

from tdqs_mcp.report.contract.document import Document
from tdqs_mcp.report.contract.parts import generated_by, text_of
from tdqs_mcp.report.escape import well_formed
from tdqs_mcp.results.gate import GateResult, GateRow


class GateCheck(Document):
    """One target held against its bar; actual is null where it cannot be known."""

    target: str
    wanted: str
    actual: str | None
    result: GateResult
    reason: str | None


class GateEntry(Document):
    """One entry of a suite; without checks where its server could not be captured."""

    name: str
    server: str
    result: GateResult
    reason: str | None
    checks: list[GateCheck]


class GateDocument(Document):
    """What `gate --format json` prints."""

    suite: str
    rows: list[GateEntry]
    generated_by: str


def gate_document(rows: Sequence[GateRow], *, suite: str) -> dict[str, Any]:
    """A suite's rows as JSON values, checked against the published schema."""
    document = GateDocument(
        suite=well_formed(suite),
        rows=[
            GateEntry(
                name=well_formed(row.name),
                server=well_formed(row.server),
                result=row.result,
                reason=text_of(row.reason),
                checks=[
                    GateCheck(
                        target=well_formed(check.target),
                        wanted=check.wanted,
                        actual=check.actual,
                        result=check.result,
                        reason=text_of(check.reason),
                    )
                    for check in row.checks
                ],
            )
            for row in rows
        ],
        generated_by=generated_by(),
    )
    return document.model_dump(mode="json", by_alias=True)
