"""Descriptions of our tools: the types of their arguments, and how a method becomes a tool of the SDK."""

import inspect
import json
import tomllib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property, wraps
from importlib.resources import files
from typing import Annotated, Any, Literal

from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.types import CallToolResult, InputRequiredResult, TextContent, ToolAnnotations
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema
from typing_extensions import TypedDict

from tdqs_mcp.errors import TdqsError, fault_message
from tdqs_mcp.report.agent_answers import AgentAnswer
from tdqs_mcp.report.escape import fence
from tdqs_mcp.server.connected_client import CallContext, Paused

MAX_LISTED = 200
"""Entries of a list in one call; definitions, which come as a whole catalog, have a limit of their own."""

TEXTS = tomllib.loads(files("tdqs_mcp.server").joinpath("texts.toml").read_text(encoding="utf-8"))
"""The texts of arguments, answers and prompts, by name."""


class Answer(BaseModel):
    """The judgement of one tool."""

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True)
    name: str = Field(description="As prepared")
    input_hash: str = Field(pattern="^[0-9a-f]{16}$", description="As prepared")
    answer: dict[str, Any] | str = Field(description="The JSON that the system prompt asks for")


class DraftFields(TypedDict, total=False):
    """New words for one tool."""

    __pydantic_config__ = ConfigDict(extra="allow")  # type: ignore[misc]  # pydantic's own name
    description: Annotated[str, Field(description="The whole new text")]
    parameters: Annotated[dict[str, str], Field(description="New text by name, inside an object or list by a.b")]
    annotations: Annotated[dict[str, Any], Field(description="Hints, such as readOnlyHint: true")]


class AuthorMaterial(TypedDict, total=False):
    """Facts that only the author knows."""

    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]  # pydantic's own name
    answers: Annotated[dict[str, Any], Field(description="Text by question id")]
    facts: Annotated[list[Any], Field(description="Statements, or {tool, fact}")]
    docs: Annotated[str, Field(description="README or manual")]
    parameters: Annotated[dict[str, dict[str, Any]], Field(description="Texts by tool and name")]
    annotations: Annotated[dict[str, dict[str, Any]], Field(description="Values by tool and hint")]
    traces: Annotated[list[Any], Field(description="Recorded calls: {tool, arguments, result or error}")]


Drafts = dict[str, DraftFields]
Catalog = str | list[Any] | dict[str, Any]
Rubric = Literal["tdqs", "smells", "bundles"]
JudgeName = Literal["configured", "offline", "host"]
ScoreJudge = Literal["configured", "offline", "sampling"]
Writer = Literal["offline", "sampling"]
Detail = Literal["summary", "full"]
Mildest = Literal["error", "warning", "info"]
Profile = Literal["default", "strict", "glama", "mcptest", "smells", "playground", "anthropic-directory", "openai-apps"]
Rules = Annotated[list[str], Field(max_length=MAX_LISTED)]
Answers = Annotated[list[Answer], Field(max_length=MAX_LISTED)]
Pairs = Annotated[list[dict[str, Any]] | None, Field(max_length=MAX_LISTED)]
Requests = Annotated[list[Any], Field(max_length=MAX_LISTED)]
Limit = Annotated[int, Field(ge=1, le=100)]
Offset = Annotated[int, Field(ge=0)]
ShortText = Annotated[str, Field(max_length=100)]
PartAnswer = dict[str, Any] | str | None

MAX_ERRORS = 3
"""Wrong arguments that one message names."""

CARD_META = "io.github.tdqs-mcp/card"
"""The key in a result's `_meta` of what only a card in the chat shows."""

Method = Callable[..., Awaitable[AgentAnswer]]
ToolCall = Callable[..., Awaitable[CallToolResult | InputRequiredResult]]


def mcp_tool(title: str, *, is_read_only: bool = True, card: str | None = None) -> Callable[[Method], ToolCall]:
    """Makes a method a tool: its answer becomes structured content, an error that we raise on purpose a ToolError.

    Its hints depend on what the operator allows. `card` is the resource of a card in which a chat shows its answers.
    """

    def wrap(method: Method) -> ToolCall:
        @wraps(method)
        async def call(*args: Any, **kwargs: Any) -> CallToolResult | InputRequiredResult:  # noqa: ANN401  # the method's own
            try:
                return _result(await method(*args, **kwargs))
            except Paused as paused:
                return paused.result
            except TdqsError as error:
                raise ToolError(str(error)) from error

        call.listed = (title, is_read_only, card)  # type: ignore[attr-defined]  # read by `tools_of`
        return call

    return wrap


INLINE = '[{"name": "get_order", "inputSchema": {"type": "object"}}]'
"""A catalog that needs no permission."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How far calls may go, by what the operator allows."""

    starts: bool = False
    """Commands or modules that the caller names: they may do anything."""

    opens: bool = False
    """Configured servers, URLs or a remote judge."""

    places: str = ""
    """Locators that a caller may name, in words; empty where there are none."""

    example: str = INLINE
    """A catalog that a first call may name."""

    def hints(self, *, is_read_only: bool) -> ToolAnnotations:
        """Return the annotations of a tool that takes locators or asks a judge."""
        return ToolAnnotations(
            read_only_hint=is_read_only and not self.starts,
            destructive_hint=self.starts,
            idempotent_hint=not self.starts,
            open_world_hint=self.starts or self.opens,
        )


def tools_of(group: object, reach: Reach) -> list[Tool]:
    """The methods of an object that `mcp_tool` has marked, in their order, as tools of the SDK."""
    marked = [name for name, var in vars(type(group)).items() if hasattr(var, "listed")]
    return [_MethodTool.of(getattr(group, name), reach) for name in marked]


class _MethodTool(Tool):
    """A tool of the SDK with our output schema, which names wrong arguments plainly."""

    @classmethod
    def of(cls, method: Any, reach: Reach) -> "_MethodTool":  # noqa: ANN401  # a bound method that `mcp_tool` has marked
        """The tool as the SDK registers it: no generated titles in its schemas, unknown arguments refused."""
        title, is_read_only, card = method.listed
        hints = reach.hints(is_read_only=is_read_only)
        example = INLINE if reach.example == INLINE else json.dumps(reach.example, ensure_ascii=False)
        description = " ".join((inspect.getdoc(method) or "").split()).replace("EXAMPLE", example)
        described = Tool.from_function(
            method, title=title, description=description, annotations=hints, structured_output=False
        )
        tool = cls.model_construct(**{name: getattr(described, name) for name in Tool.model_fields})
        tool.meta = {"ui": {"resourceUri": card}} if card else None
        model = tool.fn_metadata.arg_model
        model.model_config["extra"] = "forbid"
        model.model_rebuild(force=True)
        tool.parameters = model.model_json_schema(by_alias=True, schema_generator=_InputSchema)
        texts = TEXTS["arguments"] | TEXTS["arguments"].get(tool.name, {})
        for name, parameter in tool.parameters["properties"].items():
            parameter["description"] = texts[name].replace("PLACES", reach.places)
            if "PLACES" in texts[name]:
                parameter["examples"] = [reach.example]
        return tool

    @cached_property
    def output_schema(self) -> dict[str, Any]:
        """The members of the answer on which an agent acts; the others are open."""
        members = {
            name: {"type": [kind[:-1], "null"] if kind.endswith("?") else kind, "description": text}
            for name, (kind, text) in TEXTS["answers"][self.name].items()
        }
        return {"type": "object", "properties": members}

    async def run(self, arguments: dict[str, Any], context: CallContext, convert_result: bool = False) -> Any:  # noqa: ANN401, FBT001, FBT002  # the SDK's signature
        """The call's result. Raises ToolError, which says which argument to change."""
        try:
            return await super().run(arguments, context, convert_result=convert_result)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                wrong = error.__cause__.errors(include_url=False)[:MAX_ERRORS]
                named = "; ".join(
                    f"{fence('.'.join(map(str, fault['loc'])))}: {fault_message(fault)}" for fault in wrong
                )
                names = ", ".join(self.parameters["properties"])
                message = f"{self.name} was not called: {named}. Its arguments are {names}"
                raise ToolError(message) from error.__cause__
            raise


def _result(answer: AgentAnswer) -> CallToolResult:
    """The answer as structured content, and the same JSON as text for clients that only read that."""
    text = json.dumps(answer.content, ensure_ascii=False, separators=(",", ":"))
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        structured_content=dict(answer.content),
        _meta=None if answer.card is None else {CARD_META: answer.card},
    )


class _InputSchema(GenerateJsonSchema):
    """JSON Schema without titles and empty defaults; an optional argument is left out, though null is understood."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ANN401, ARG002  # the signature is pydantic's
        return False

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        json_schema = super().model_schema(schema)
        json_schema.pop("title", None)
        return json_schema

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchemaValue:
        json_schema = super().typed_dict_schema(schema)
        for key in ("title", "description", "additionalProperties"):
            if json_schema.get(key) is not False:
                json_schema.pop(key, None)
        return json_schema

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        json_schema = super().default_schema(schema)
        if json_schema.get("default", ...) in (None, "", [], {}):
            del json_schema["default"]
        return json_schema

    def union_schema(self, schema: core_schema.UnionSchema) -> JsonSchemaValue:
        json_schema = super().union_schema(schema)
        choices = json_schema.get("anyOf", [])
        is_plain = all(choice.keys() <= {"type", "items"} and not choice.get("items") for choice in choices)
        if not choices or not is_plain:
            return json_schema
        items: dict[str, Any] = {"items": {}} if any("items" in choice for choice in choices) else {}
        return {"type": [choice["type"] for choice in choices], **items}

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:
        json_schema = super().dict_schema(schema)
        if json_schema.get("additionalProperties") is True:
            del json_schema["additionalProperties"]
        return json_schema

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])
