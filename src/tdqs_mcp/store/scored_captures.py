"""Scored captures, and the rows that they become in each table."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any, TypeAlias

from tdqs_mcp.facts.subject import Measured
from tdqs_mcp.facts.toolset.search import search_terms
from tdqs_mcp.model import Tool
from tdqs_mcp.results.contract import ABSENT
from tdqs_mcp.results.scores import ServerScore, ToolScore, UngradedTool
from tdqs_mcp.results.statistics import MethodStamp
from tdqs_mcp.results.verdicts import Verdict
from tdqs_mcp.store import encoding
from tdqs_mcp.store.tables import FLAGS, PARTS, ROLLUP

Row: TypeAlias = dict[str, Any]

MAX_WORDS = 20_000
"""Characters of a definition that are searched; PostgreSQL's index takes a megabyte, and no agent reads more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredVerdict:
    """A verdict and what it was given on, besides the definition."""

    verdict: Verdict
    sibling_digest: str
    """16 hex digits: of the siblings; of a tool set, everything but the prompt that its verdict depends on."""

    prompt_hash: str = ""
    """16 hex digits; empty for the offline judge, which has no prompt."""

    is_new: bool = field(default=True, compare=False)
    """It is not in the store yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredCapture:
    """One server as it was captured and scored."""

    server: str
    """Its key in the registry."""

    capture: str
    """The `capture_digest` of its record."""

    measured: Measured
    score: ServerScore
    verdicts: Mapping[int, StoredVerdict]
    """By the tool's index; without those that the first hard gate decided."""

    coherence: StoredVerdict | None = None
    shadowing: StoredVerdict | None = None
    is_official: bool | None = None
    is_complete: bool = True
    """Nothing is left that the judge can be asked again about."""


def capture_digest(server: str, record: bytes) -> str:
    """The key of a capture: 32 hex digits over the server's key and its record's bytes."""
    return _digest(b"\0".join((server.encode("utf-8", "surrogatepass"), record)))


@dataclass(frozen=True, slots=True, kw_only=True)
class CapturedTool:
    """A tool's row but for its document, which depends on the definition that the store has."""

    row: Row
    tool: Tool
    definition: bytes | None
    """The encoded definition; None where the tool cannot be measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """What a write adds, in the order of the keys, so that two writers never wait for each other in a circle."""

    method: Row
    captures: list[Row]
    tools: list[CapturedTool]
    verdicts: list[Row]
    tool_scores: list[Row]
    server_scores: list[Row]
    ungraded: list[Row]
    servers: list[Row]


def make_rows(method: MethodStamp, captures: Sequence[ScoredCapture], *, now: datetime) -> Rows:
    """The rows of some captures; of equal ones, the last counts."""
    by_key = {each.capture: each for each in captures}
    ordered = [by_key[capture] for capture in sorted(by_key)]
    key = method.key
    tools = [tool for each in ordered for tool in _tools(each)]
    verdicts = {row["verdict"]: row for each in ordered for row in _verdicts(each, key)}
    return Rows(
        method=method_row(method),
        captures=[_capture(each, now) for each in ordered],
        tools=tools,
        verdicts=[verdicts[each] for each in sorted(verdicts)],
        tool_scores=[_tool_score(each, tool, key) for each in ordered for tool in each.score.tools],
        server_scores=[_server_score(each, key) for each in ordered],
        ungraded=[_ungraded(each, tool, key) for each in ordered for tool in each.score.unscored],
        servers=sorted((_server(each) for each in ordered), key=lambda row: row["server"]),
    )


def method_row(method: MethodStamp) -> Row:
    """The row of a method."""
    return {"method": method.key, **method.columns}


def _server(each: ScoredCapture) -> Row:
    source = encoding.public_source(each.measured.catalog.source)
    return {
        "server": encoding.clean_text(each.server),
        "capture": each.capture,
        "is_official": each.is_official,
        "source": source and encoding.clean_text(source),
    }


def _capture(each: ScoredCapture, now: datetime) -> Row:
    catalog = each.measured.catalog
    return {
        "capture": each.capture,
        "server": encoding.clean_text(each.server),
        "captured_at": now,
        "tool_count": len(catalog.tools),
        "document": encoding.pack_catalog(catalog),
    }


def _tools(each: ScoredCapture) -> Iterator[CapturedTool]:
    signals = {subject.tool.index: subject.signals for subject in each.measured.subjects}
    for tool in each.measured.catalog.tools:
        known = signals.get(tool.index)
        row = {
            "capture": each.capture,
            "position": tool.index,
            "name": encoding.clean_text(tool.name),
            "input_hash": known and known.input_hash,
            "definition_bytes": known and known.definition_bytes,
        }
        yield CapturedTool(row=row, tool=tool, definition=encoding.encode_definition(tool) if known else None)


def definition_row(each: CapturedTool) -> Row:
    """The row of a tool's definition."""
    tool = each.tool
    text = "\n".join(filter(None, (tool.name, tool.title, tool.description)))
    return {
        "input_hash": each.row["input_hash"],
        "name": each.row["name"],
        "words": " ".join(search_terms(text[:MAX_WORDS])),
        "definition_bytes": each.row["definition_bytes"],
        "document": encoding.compress(each.definition or b""),
    }


def _verdicts(each: ScoredCapture, method: str) -> Iterator[Row]:
    hashes = {subject.tool.index: subject.signals.input_hash for subject in each.measured.subjects}
    given = [(hashes[index], verdict) for index, verdict in each.verdicts.items()]
    given += [("", verdict) for verdict in (each.coherence, each.shadowing) if verdict]
    for input_hash, stored in given:
        if not stored.is_new:
            continue
        yield {
            "verdict": _verdict_key(method, input_hash, stored),
            "method": method,
            "input_hash": input_hash,
            "sibling_digest": stored.sibling_digest,
            "prompt_hash": stored.prompt_hash,
            "document": encoding.pack_verdict(stored.verdict),
        }


def _verdict_key(method: str, input_hash: str, stored: StoredVerdict | None) -> str | None:
    if stored is None:
        return None
    return _digest(f"{method}\0{input_hash}\0{stored.sibling_digest}\0{stored.prompt_hash}".encode())


def _tool_score(each: ScoredCapture, tool: ToolScore, method: str) -> Row:
    flags = sum(FLAGS[flag] for flag in {*tool.flags, *tool.server_flags})
    return {
        "capture": each.capture,
        "method": method,
        "position": tool.index,
        "input_hash": tool.input_hash,
        "verdict": _verdict_key(method, tool.input_hash, each.verdicts.get(tool.index)),
        "tdqs": tool.tdqs,
        "flags": flags,
        **tool.scores,
    }


def _server_score(each: ScoredCapture, method: str) -> Row:
    score = each.score
    document = {
        "problems": score.problems,
        "shadow_candidates": [asdict(pair) for pair in score.shadow_candidates],
        "shadowing_risks": [asdict(risk) for risk in score.shadowing_risks],
    }
    coherence = score.coherence.scores if isinstance(score.coherence, Verdict) else {}
    return {
        "capture": each.capture,
        "method": method,
        "scored_tool_count": score.scored_tool_count,
        **{name: getattr(score.rollup, name) for name in ROLLUP},
        **{part: coherence.get(part) for part in PARTS},
        "verdict": _verdict_key(method, "", each.coherence),
        "shadow_verdict": _verdict_key(method, "", each.shadowing),
        "is_complete": each.is_complete,
        "document": encoding.pack({name: value for name, value in document.items() if value}),
    }


def _ungraded(each: ScoredCapture, tool: UngradedTool, method: str) -> Row:
    held = None if tool.ungraded.held is ABSENT else tool.ungraded.held
    return {
        "capture": each.capture,
        "method": method,
        "position": tool.index,
        "name": encoding.clean_text(tool.name),
        "reason": encoding.clean_text(tool.ungraded.reason),
        "held_score": held and held.score,
        "held_estimate": held and held.estimate,
    }


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()[:32]
