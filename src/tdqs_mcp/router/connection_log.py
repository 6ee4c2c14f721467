"""What was served and how calls ended as lines of JSON, arguments and results redacted to shapes."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from cachetools import LRUCache

from tdqs_mcp.canonical import short_hash
from tdqs_mcp.facts.text.support import is_known
from tdqs_mcp.model import CallOutcome
from tdqs_mcp.sources.input_files import CALL, has_content
from tdqs_mcp.sources.recording import TOOLS_LIST

MAX_MESSAGES = 1_000
"""Messages of errors that are remembered."""

MAX_MESSAGE = 200
"""Characters of an error that may be kept."""


Write = Callable[[Mapping[str, Any]], None]
"""What gets one line."""


class ConnectionLog:
    """The lists of tools and the calls of one connection; the line of a call can be a trace of a rewrite's material."""

    def __init__(self, write_list: Write, write_call: Write | None) -> None:
        """No call is written without `write_call`."""
        self._write_list, self._write_call = write_list, write_call
        self._session = uuid4().hex[:8]
        self._given: LRUCache[str, str] = LRUCache(MAX_MESSAGES)

    def note_list(self, client: str | None, served: Mapping[str, Sequence[str]]) -> None:
        """Writes which tools a client got by which variant."""
        self._write_list({**self._stamp(TOOLS_LIST), "client": client, "served": served})

    def _stamp(self, event: str) -> dict[str, str]:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        return {"time": now, "session": self._session, "event": event}

    def note_call(
        self,
        *,
        tool: str,
        client: str | None,
        variant: str | None,
        arguments: object,
        schema: object,
        seconds: float,
        outcome: str | None,
        answer: Mapping[str, Any],
    ) -> None:
        """Writes how a call ended; `outcome` is given where it got no answer.

        `variant` is what the client was given of the tool; None for a tool that it has not listed.
        """
        result = answer.get("result")
        result = result if isinstance(result, Mapping) else {}
        if self._write_call is None or result.get("resultType", "complete") != "complete":
            return  # the server asks its client first; the call comes again
        is_error = "error" in answer or result.get("isError") is True
        value = _value(result)
        ended: dict[str, Any] = {}
        if is_error:
            ended = {"error": self._message(answer, arguments)}
        elif answer:
            empty: object = [] if _holds_list(value) else ""
            ended = {"result": _result_shape(result) if has_content(value) else empty}
        answered = CallOutcome.SUCCESS if has_content(value) else CallOutcome.EMPTY
        self._write_call(
            {
                **self._stamp(CALL),
                "client": client,
                "variant": variant,
                "tool": tool,
                "success": "result" in ended,
                "outcome": outcome or (CallOutcome.ERROR if is_error else answered),
                "seconds": round(seconds, 4),
                "arguments": _arguments_shape(arguments, schema),
                **ended,
            }
        )

    def _message(self, answer: Mapping[str, Any], arguments: object) -> str:
        """The text of an error that other arguments had too, so that it holds none of them; else its shape."""
        error = answer.get("error")
        text = _texts(answer.get("result"))
        if isinstance(error, Mapping):
            text = str(error.get("message") or "")
        given = short_hash(json.dumps(arguments, sort_keys=True))
        earlier = self._given.setdefault(short_hash(text), given)
        return text if earlier != given and len(text) <= MAX_MESSAGE else _shape(text)


def _arguments_shape(arguments: object, schema: object) -> dict[str, Any]:
    """Each argument that the schema knows: its value where the schema has it too, else its shape."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    properties = properties if isinstance(properties, Mapping) else {}
    given = arguments if isinstance(arguments, Mapping) else {}
    return {name: _known_or_shape(given[name], properties[name]) for name in properties if name in given}


def _known_or_shape(value: object, schema: object) -> Any:  # noqa: ANN401  # any JSON value
    return value if isinstance(value, bool) or value is None or is_known(value, schema) else _shape(value)


def _shape(value: object) -> str:
    if isinstance(value, str):
        return f"<text of {len(value)}>"
    if isinstance(value, list | Mapping):
        return f"<{'list' if isinstance(value, list) else 'object'} of {len(value)}>"
    return "<boolean>" if isinstance(value, bool) else "<number>"


def _result_shape(result: Mapping[str, Any]) -> list[str]:
    """The shapes of the parts of a result."""
    content = result.get("content")
    blocks = [each for each in content if isinstance(each, Mapping)] if isinstance(content, list) else []
    shapes = [_shape(each["text"]) if isinstance(each.get("text"), str) else "<content>" for each in blocks]
    structured = result.get("structuredContent")
    return [*shapes, *([_shape(structured)] if structured is not None else [])]


def _texts(result: object) -> str:
    content = result.get("content") if isinstance(result, Mapping) else None
    blocks = content if isinstance(content, list) else []
    return "\n".join(str(each["text"]) for each in blocks if isinstance(each, Mapping) and "text" in each)


def _value(result: Mapping[str, Any]) -> object:
    """What a result says: its structured content, the JSON in its text, or its blocks."""
    if result.get("structuredContent") is not None:
        return result["structuredContent"]
    blocks = result.get("content")
    if not isinstance(blocks, list) or any(isinstance(each, Mapping) and "text" not in each for each in blocks):
        return blocks
    text = _texts(result)
    return [] if text.strip() in ("[]", "{}") else text.strip().removeprefix("null")


def _holds_list(value: object) -> bool:
    return isinstance(value, list) or (isinstance(value, Mapping) and any(map(_holds_list, value.values())))
