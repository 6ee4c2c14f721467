"""The shorter form of a result is a projection of its class: which members, under which keys, and which parts of them."""

from dataclasses import dataclass
from typing import Annotated

import pytest

from tdqs_mcp.report.json_values import answer, document
from tdqs_mcp.results.contract import Inline, Internal, Name, Only, Tenths


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    tdqs: Tenths
    reason: str
    is_internal: Internal[bool] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    name: Name
    before: Score | None
    after: Annotated[Score, Only("tdqs reason")]
    notes: tuple[str, ...] = ()

    @property
    def length(self) -> int:
        return len(self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    reading: Annotated[Inline[Reading], Only("after(tdqs)=now before.tdqs=old notes?")]


SCORE = Score(tdqs=35, reason="It says when.")
FULL = Reading(name="get_order", before=SCORE, after=SCORE, notes=("two words",))
EMPTY = Reading(name="get_order", before=None, after=SCORE)


@pytest.mark.parametrize(
    ("only", "full", "empty"),
    [
        ("length name=tool", {"length": 9, "tool": "get_order"}, {"length": 9, "tool": "get_order"}),
        ("before.tdqs", {"tdqs": 3.5}, {"tdqs": None}),
        ("before.tdqs=old", {"old": 3.5}, {"old": None}),
        ("before(tdqs is_internal=own)", {"before": {"tdqs": 3.5, "own": True}}, {"before": None}),
        ("after(reason=why)=now", {"now": {"why": "⟦It says when.⟧"}}, {"now": {"why": "⟦It says when.⟧"}}),
        ("notes?=said", {"said": ["⟦two words⟧"]}, {}),
        ("notes", {"notes": ["⟦two words⟧"]}, {"notes": []}),
    ],
)
def test_a_projection_names_keys_parts_and_what_is_left_out_where_it_is_empty(only, full, empty):
    assert answer(FULL, only=only) == full
    assert answer(EMPTY, only=only) == empty


def test_a_projection_keeps_the_order_of_its_words():
    assert list(answer(FULL, only="notes length name")) == ["notes", "length", "name"]


def test_an_inlined_class_can_be_projected_too():
    assert document(Page(reading=FULL)) == {"now": {"tdqs": 3.5}, "old": 3.5, "notes": ["two words"]}
    assert document(Page(reading=EMPTY)) == {"now": {"tdqs": 3.5}, "old": None}


@pytest.mark.parametrize("only", ["lenght", "before(tdqz)", "before.tdqz"])
def test_a_member_that_does_not_exist_is_an_error(only):
    with pytest.raises(KeyError):
        answer(FULL, only=only)


def test_a_limit_cuts_a_projected_text():
    assert answer(FULL, only="before(reason)", limit=4) == {"before": {"reason": "⟦It s…⟧"}}
