"""The words in which our tools are asked: types, descriptions and limits of their parameters."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from tdqs_mcp.results.rewrites import Mode

MAX_LISTED = 200
"""Entries of a list in one call; definitions, which come as a whole catalog, have a limit of their own."""

Definition = Annotated[
    dict[str, Any] | str,
    Field(description="The tool as in tools/list: name, description, inputSchema, annotations …; or its JSON text"),
]
Siblings = Annotated[
    list[dict[str, Any] | str],
    Field(description="The server's other tools, as definitions or names; default: the tool stands alone"),
]
Tools = Annotated[
    list[Any] | dict[str, Any] | None,
    Field(description="Definitions: an array of tools, or a tools/list result as it came. Always allowed"),
]
Where = Annotated[
    str | None,
    Field(
        description="Where the definitions are, if the operator allows it: a file such as tools.json, an https URL, "
        "config:NAME, stdio:COMMAND or py:MODULE:OBJECT"
    ),
]
Earlier = Annotated[
    str | None,
    Field(description="Id of a catalog that an earlier answer gave, for example to read its next page"),
]
Rubric = Annotated[
    Literal["tdqs", "smells", "bundles"],
    Field(
        description="tdqs: TDQS 1.2, tiers A-F; smells: the paper's six components, Good or Bad; bundles: MCPBundles'"
    ),
]
ModelName = Annotated[
    str,
    Field(max_length=100, description="Your model's name: answers are kept under it, apart from those of other models"),
]
JudgeName = Annotated[
    Literal["configured", "offline"],
    Field(description="configured: the operator's judge, offline unless set; offline: always the built-in one"),
]
Rules = Annotated[
    list[str],
    Field(
        max_length=MAX_LISTED,
        description="Only these rules, by id, name or lane, such as TDQ104, missing-usage or TDQ5; default: all",
    ),
]
Profile = Annotated[
    Literal["default", "strict", "glama", "mcptest", "playground", "anthropic-directory"],
    Field(description="Whose rules; strict: uncertain ones too; glama, mcptest, playground: exactly that linter's"),
]
ScoreJudge = Annotated[
    Literal["configured", "offline", "sampling"],
    Field(
        description="configured: the operator's judge, offline unless set; offline: always the built-in one; sampling: "
        "your client's model, asked through MCP"
    ),
]
Facts = Annotated[
    list[str],
    Field(max_length=MAX_LISTED, description="The author's own true statements about the tool; default: none"),
]
Traces = Annotated[
    list[dict[str, Any]],
    Field(
        max_length=MAX_LISTED,
        description="Recorded calls of the tool: {arguments, result} or {arguments, error}; default: none",
    ),
]
Docs = Annotated[str, Field(max_length=100_000, description="The tool's documentation as text; default: none")]
ModeName = Annotated[
    Literal["compact", "full"],
    Field(
        description=f"compact: purpose and usage, at most {Mode.COMPACT.growth} tokens longer; "
        f"full: every component, {Mode.FULL.growth}"
    ),
]
Writer = Annotated[
    Literal["offline", "sampling"],
    Field(description="offline: composed from facts; sampling: worded by your client's model and checked"),
]
Detail = Annotated[
    Literal["summary", "full"],
    Field(description="full adds every reason, evidence and signal; it can be ten times as long"),
]
Limit = Annotated[int, Field(ge=1, le=100, description="Entries on this page, at most 100")]
Offset = Annotated[int, Field(ge=0, description="Where the page starts; give nextOffset of the page before")]
ToolName = Annotated[str | None, Field(description="Exact name of one tool of the catalog; default: all of them")]


class Answer(BaseModel):
    """The judgement of one tool, with the hash of what was judged."""

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True)
    name: str = Field(description="Tool name as in prepare_judgement")
    input_hash: str = Field(pattern="^[0-9a-f]{16}$", description="inputHash as in prepare_judgement")
    answer: dict[str, Any] | str = Field(description="The JSON that the system prompt asks for")
