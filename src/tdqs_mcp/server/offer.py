"""From a method to a tool of the SDK: what `tools/list` says about it, and what a call of it gives back."""

import inspect
from collections.abc import Awaitable, Callable
from functools import cached_property, wraps
from typing import Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.types import CallToolResult, InputRequiredResult, TextContent, ToolAnnotations
from pydantic import BaseModel, PrivateAttr, ValidationError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from tdqs_mcp.errors import TdqsError
from tdqs_mcp.report.fence import fence
from tdqs_mcp.server.sampling import Paused

MAX_WRONG = 3
"""Wrong arguments that one message names."""

Method = Callable[..., Awaitable[BaseModel]]


class Offer(BaseModel):
    """What is said about a tool beside its docstring and its parameters."""

    title: str
    answer: type[BaseModel]
    is_open_world: bool = True
    """It may start a server, open a URL or ask a remote judge, where the operator allows that."""

    is_read_only: bool = True


Call = Callable[..., Awaitable[CallToolResult | InputRequiredResult]]


def offer(said: Offer) -> Callable[[Method], Call]:
    """Make a method a tool: its answer becomes structured content, what we raise on purpose a ToolError."""

    def make(method: Method) -> Call:
        @wraps(method)
        async def call(*args: Any, **kwargs: Any) -> CallToolResult | InputRequiredResult:  # noqa: ANN401  # the method's own
            try:
                return _result(await method(*args, **kwargs))
            except Paused as paused:
                return paused.result
            except TdqsError as error:
                raise ToolError(str(error)) from error

        call.offer = said  # type: ignore[attr-defined]  # read back by Offered.of
        return call

    return make


class Offered(Tool):
    """A tool of the SDK that makes its output schema when it is first listed, and names wrong arguments plainly."""

    _answer: type[BaseModel] = PrivateAttr(default=BaseModel)

    @classmethod
    def of(cls, method: Any) -> "Offered":  # noqa: ANN401  # a bound method that `offer` has marked
        """The tool as the SDK registers it: no generated titles in its schemas, unknown arguments refused."""
        said: Offer = method.offer
        described = Tool.from_function(
            method,
            title=said.title,
            description=" ".join((inspect.getdoc(method) or "").split()),
            annotations=ToolAnnotations(
                read_only_hint=said.is_read_only,
                destructive_hint=False,
                idempotent_hint=True,
                open_world_hint=said.is_open_world,
            ),
            structured_output=False,
        )
        tool = cls.model_construct(**{name: getattr(described, name) for name in Tool.model_fields})
        tool._answer = said.answer  # noqa: SLF001  # its own
        model = tool.fn_metadata.arg_model
        model.model_config["extra"] = "forbid"
        model.model_rebuild(force=True)
        tool.parameters = model.model_json_schema(by_alias=True, schema_generator=_Input)
        return tool

    @cached_property
    def output_schema(self) -> dict[str, Any]:
        """The answer's schema; nobody asks for it before the server is up."""
        return self._answer.model_json_schema(by_alias=True, mode="serialization", schema_generator=_Plain)

    async def run(self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False) -> Any:  # noqa: ANN401, FBT001, FBT002  # the SDK's signature
        """The call's result. Raises ToolError, which says which argument to change."""
        try:
            return await super().run(arguments, context, convert_result=convert_result)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                raise ToolError(self._correction(error.__cause__)) from error.__cause__
            raise

    def _correction(self, error: ValidationError) -> str:
        wrong = [(".".join(map(str, each["loc"])), each["msg"]) for each in error.errors(include_url=False)]
        named = "; ".join(f"{fence(where)}: {message}" for where, message in wrong[:MAX_WRONG])
        return f"{self.name} was not called: {named}. Its arguments are {', '.join(self.parameters['properties'])}"


def _result(answer: BaseModel) -> CallToolResult:
    """The answer as structured content, and the same JSON as text for clients that only read that."""
    text = answer.model_dump_json(by_alias=True, exclude_unset=True)
    content = answer.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=content)


class _Plain(GenerateJsonSchema):
    """JSON Schema without the titles and null defaults that say nothing."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ANN401, ARG002  # the signature is pydantic's
        return False

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        made = super().model_schema(schema)
        made.pop("title", None)
        return made

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        made = super().default_schema(schema)
        if made.get("default", ...) is None:
            del made["default"]
        return made


class _Input(_Plain):
    """An optional argument is left out, not null; null is understood all the same."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])
