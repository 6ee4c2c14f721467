"""Scored captures for tests of the store."""

import json
from collections import defaultdict
from dataclasses import replace

from sqlalchemy import select, true

from tdqs_mcp.canonical import short_hash
from tdqs_mcp.facts.subject import measure
from tdqs_mcp.judges.offline import Offline
from tdqs_mcp.results.statistics import MethodStamp
from tdqs_mcp.results.verdicts import Verdict
from tdqs_mcp.rubrics.prompt import ToolCase
from tdqs_mcp.scoring.score import all_cases, finish_cases
from tdqs_mcp.sources.files import read_content
from tdqs_mcp.store.captures import ScoredCapture, StoredVerdict, capture_digest
from tdqs_mcp.store.tables import CAPTURED_TOOLS, SERVER_SCORES, SERVERS, TOOL_SCORES, UNGRADED, unpack

JUDGE = Offline()
METHOD = MethodStamp(judge=JUDGE.stamp, spec_version="1.2")


def scored_capture(server, content, *, outcomes=None, **changes):
    """A server by the offline judge; `outcomes` stands in for some of its verdicts, by the place of their cases."""
    record = content if isinstance(content, bytes) else json.dumps(content).encode()
    measured = measure(read_content(record, origin=server, name=server))
    cases = all_cases(measured)
    verdicts = [(outcomes or {}).get(place, each) for place, each in enumerate(JUDGE.verdicts(cases))]
    siblings = short_hash("\0".join(measured.names))
    stored = [StoredVerdict(verdict=each, sibling_digest=siblings) for each in verdicts]
    tools = zip(cases, stored, strict=True)
    scored = ScoredCapture(
        server=server,
        capture=capture_digest(server, record),
        measured=measured,
        score=finish_cases(measured, cases, verdicts, judge=JUDGE.stamp, spec="1.2", findings=()),
        verdicts={
            case.subject.tool.index: each
            for case, each in tools
            if isinstance(case, ToolCase) and isinstance(each.verdict, Verdict)
        },
        coherence=stored[-1] if cases and isinstance(stored[-1].verdict, Verdict) else None,
    )
    return replace(scored, **changes)


def stored_scores(engine, method=METHOD):
    """Every row of the newest captures' scores, as JSON values: a server a line, in the order of the keys' bytes."""
    with engine.connect() as connection:

        def rows(table):
            of_method = table.c.method == method.key if "method" in table.c else true()
            found = defaultdict(list)
            for row in connection.execute(select(table).where(of_method).order_by(*table.primary_key)).mappings():
                document = {"document": row["document"] and unpack(row["document"])} if "document" in row else {}
                found[row["capture"]].append({**row, **document})
            return found

        servers, scores = rows(SERVERS), rows(SERVER_SCORES)
        tools, ungraded, captured = rows(TOOL_SCORES), rows(UNGRADED), rows(CAPTURED_TOOLS)
    for capture, found in tools.items():
        for each in found:
            each["name"] = captured[capture][each["position"]]["name"]
    return sorted(
        (
            {**server, **score, "tools": tools[capture], "ungraded": ungraded[capture]}
            for capture, (score,) in scores.items()
            for server in servers[capture]
        ),
        key=lambda line: line["server"].encode(),
    )
