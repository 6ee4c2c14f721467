"""The JSON contract of a selection test; its queries can be put to other definitions with `select --queries`."""

from typing import Annotated, Any

from pydantic import Field

from tdqs_mcp.report.contract.document import Document
from tdqs_mcp.report.contract.parts import generated_by, number_of
from tdqs_mcp.report.escape import well_formed
from tdqs_mcp.results import selection as model

Share = Annotated[float, Field(ge=0, le=100, description="Percent of the queries, with one decimal")]
Rank = Annotated[float, Field(ge=1, description="Expected place: of n tied tools, each has the mean of their places")]


class SelectFigures(Document):
    """How well tools are found, over the queries that were answered; null without any."""

    queries: int
    top1: Share | None
    recall: Share | None = Field(description="Found among the first k")
    mrr: float | None = Field(ge=0, le=1, description="Mean of one over the rank, 0 for what is not found")


class SelectQuery(Document):
    """One query and what became of it."""

    query: str
    tool: str
    server: str | None = Field(description="Null where a tool of this name is right on any server")
    withheld: list[str] = Field(description="Words of the tool that the query leaves out on purpose")
    rank: Rank | None = Field(description="Null where the tool is not found")
    rank_after: Rank | None
    picked_instead: list[str] = Field(description="Wrong tools at the first place, alone or tied")
    failure: str | None = Field(description="Why the selector gave no answer")


class SelectConfusion(Document):
    """A wrong tool at the first place."""

    tool: str
    picked: str
    count: int


class SelectShare(Document):
    """How often one server's tool stands highest among those of the same name; ties are shared."""

    server: str
    queries: int
    share: Share | None
    on_others: Share | None = Field(description="Without the queries that were made from its own definitions")


class SelectChange(Document):
    """The same queries before and after."""

    gained: int
    lost: int
    difference: float = Field(description="Gained less lost, in percentage points of the queries that both answered")
    low: float = Field(description="Lower end of the 95 % interval")
    high: float
    p_value: float = Field(ge=0, le=1, description="McNemar's exact test, two-sided")


class SelectAgainst(Document):
    """The queries put to other definitions."""

    label: str
    figures: SelectFigures
    top1: SelectChange | None
    recall: SelectChange | None


class SelectDocument(Document):
    """How often the right tool is found for a query."""

    selector: str
    k: int
    servers: list[str]
    tool_count: int
    figures: SelectFigures
    against: SelectAgainst | None
    shares: list[SelectShare]
    confusions: list[SelectConfusion]
    queries: list[SelectQuery]
    problems: list[str]
    generated_by: str


def select_document(selection: model.Selection) -> dict[str, Any]:
    """A selection test as JSON values, checked against the published schema."""
    after = selection.against.choices if selection.against else (None,) * len(selection.choices)
    document = SelectDocument(
        selector=well_formed(selection.selector),
        k=selection.k,
        servers=[well_formed(server) for server in selection.servers],
        tool_count=selection.tool_count,
        figures=_figures(selection.figures),
        against=None if selection.against is None else _against(selection.against),
        shares=[
            SelectShare(
                server=well_formed(each.server),
                queries=each.queries,
                share=number_of(each.share),
                on_others=number_of(each.others),
            )
            for each in selection.shares
        ],
        confusions=[
            SelectConfusion(tool=well_formed(each.tool), picked=well_formed(each.picked), count=each.count)
            for each in selection.confusions
        ],
        queries=[_query(*pair) for pair in zip(selection.choices, after, strict=True)],
        problems=[well_formed(problem) for problem in selection.problems],
        generated_by=generated_by(),
    )
    return document.model_dump(mode="json", by_alias=True)


def _figures(figures: model.Figures) -> SelectFigures:
    return SelectFigures(
        queries=figures.queries,
        top1=number_of(figures.top1),
        recall=number_of(figures.recall),
        mrr=None if figures.mrr is None else figures.mrr / 1000,
    )


def _against(against: model.Against) -> SelectAgainst:
    return SelectAgainst(
        label=against.label,
        figures=_figures(against.figures),
        top1=_change(against.top1),
        recall=_change(against.recall),
    )


def _change(paired: model.Paired | None) -> SelectChange | None:
    if paired is None:
        return None
    return SelectChange(
        gained=paired.gained,
        lost=paired.lost,
        difference=round(paired.difference, 2),
        low=round(paired.low, 2),
        high=round(paired.high, 2),
        p_value=paired.p_value,
    )


def _query(choice: model.Choice, after: model.Choice | None) -> SelectQuery:
    failure = choice.failure or (after.failure if after else None)
    return SelectQuery(
        query=well_formed(choice.query.text),
        tool=well_formed(choice.query.tool),
        server=None if choice.query.server is None else well_formed(choice.query.server),
        withheld=[well_formed(word) for word in choice.query.withheld],
        rank=_rank(choice),
        rank_after=None if after is None else _rank(after),
        picked_instead=[well_formed(name) for name in choice.instead],
        failure=None if failure is None else well_formed(failure),
    )


def _rank(choice: model.Choice) -> float | None:
    return None if choice.rank is None else float(choice.rank)
