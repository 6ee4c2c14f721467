"""The calling agent's judgement: which answers are taken, what is open, and who judges beside it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tdqs_mcp.errors import ContractError, InputError
from tdqs_mcp.judges.client_answers import Host
from tdqs_mcp.judges.judge import Judge
from tdqs_mcp.judges.jury import Jury
from tdqs_mcp.report.fence import fence_name
from tdqs_mcp.results.verdicts import HOST, Verdict
from tdqs_mcp.rubrics.answer import SHADOWING, read_shadowing_answer
from tdqs_mcp.rubrics.answer import answer_schema as schema_of
from tdqs_mcp.rubrics.prompt import Case, SetCase, ShadowCase, ToolCase
from tdqs_mcp.rubrics.rubric import load
from tdqs_mcp.scoring.score import disputed
from tdqs_mcp.server.arguments import Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What became of one answer."""

    name: str
    refused: str | None = None
    """Why it was not taken."""

    doubts: tuple[str, ...] = ()
    """What it says that its definition does not bear out."""


class Judgement:
    """One model's judgement of one catalog by one rubric, as far as it has come."""

    def __init__(self, cases: Iterable[Case], *, host: Host) -> None:
        """What is to be judged, and who keeps the answers."""
        found = list(cases)
        self.host = host
        self._tools = [case for case in found if isinstance(case, ToolCase)]
        self._by_hash = {case.subject.signals.input_hash: case for case in self._tools}
        self._whole = next((case for case in found if isinstance(case, SetCase)), None)
        self._shadow = next((case for case in found if isinstance(case, ShadowCase)), None)

    @property
    def missing(self) -> list[str]:
        """The tools that have no answer."""
        answered = {digest for digest in self._by_hash if self.has_tool(digest)}
        return [case.subject.tool.name for case in self._tools if case.subject.signals.input_hash not in answered]

    @property
    def is_coherence_missing(self) -> bool | None:
        """Whether the tool set has no answer; None where it needs none."""
        return None if self._whole is None else not self.host.knows(self._whole)

    def is_answered(self, part: str, entry: Mapping[str, Any]) -> bool:
        """Whether a prompt, as `prompts --format json` has it, needs no answer any more."""
        if part == "tools":
            return self.has_tool(entry["inputHash"])
        if part == "coherence":
            return self.is_coherence_missing is False
        return self._shadow is not None and self.host.knows(self._shadow)

    def has_tool(self, input_hash: str) -> bool:
        """Whether a tool has an answer."""
        return self.host.knows(self._by_hash[input_hash])

    def take_tools(self, answers: Iterable[Answer]) -> list[Reply]:
        """Keeps the usable answers."""
        return [self._take_tool(given) for given in answers]

    def take_coherence(self, answer: object) -> Reply:
        """Keeps a usable answer about the tool set. Raises InputError where no set is judged."""
        return _taken("coherence", self._set(), answer, self.host)

    def take_shadowing(self, pairs: Iterable[object]) -> list[Reply]:
        """Keeps the confirmed pairs that were asked about, in place of earlier ones."""
        candidates = self._shadow.measured.shadow_candidates if self._shadow else ()
        asked = [(each.tool, each.cheaper_sibling) for each in candidates]
        judged = [(pair, _objection(pair, asked)) for pair in pairs]
        replies = [Reply(name="shadowing", refused=why) for _, why in judged]
        if self._shadow is None:
            return replies
        kept = _taken("shadowing", self._shadow, {"shadowing": [pair for pair, why in judged if not why]}, self.host)
        return replies if kept.refused is None else [kept]

    def beside(self, jury: Judge) -> Jury:
        """The jury with the calling agent on it."""
        others = jury if isinstance(jury, Jury) else Jury(members=(jury,))
        return Jury(members=(*others.members, self.host), names=(*others.called, HOST))

    def _take_tool(self, given: Answer) -> Reply:
        case = self._by_hash.get(given.input_hash)
        name = case.subject.tool.name if case else ""
        if case is None or given.name not in (name, fence_name(name)):
            why = "no tool of this catalog has this name and inputHash; prepare it again"
            return Reply(name=given.name, refused=why)
        return _taken(given.name, case, given.answer, self.host)

    def _set(self) -> SetCase:
        if self._whole is None:
            raise InputError("there is no tool set to judge here: leave 'coherence' and 'shadowing' out")
        return self._whole


def answer_schema(part: str, *, rubric: str) -> Mapping[str, Any]:
    """JSON Schema of the answer to a prompt of this part."""
    if part == "shadowing":
        return SHADOWING
    return schema_of(load(rubric if part == "tools" else "coherence"))


def _taken(name: str, case: Case, answer: object, host: Host) -> Reply:
    try:
        return Reply(name=name, doubts=_doubts(case, host.take(case, answer)))
    except ContractError as error:
        return Reply(name=name, refused=str(error))


def _doubts(case: Case, verdict: Verdict) -> tuple[str, ...]:
    """What the verdict quotes although it is not there, and how the facts gainsay it."""
    quotes = [
        f"{key} quotes {quote!r}, which the definition does not hold"
        for key, judgement in verdict.judgements.items()
        for quote in judgement.unverified
    ]
    contradiction = (
        disputed(case.subject, verdict) if isinstance(case, ToolCase) and load(case.rubric).question else None
    )
    return (*quotes, *([contradiction] if contradiction else []))


def _objection(pair: object, asked: list[tuple[str, str]]) -> str | None:
    """Why a pair is not kept; one that is leaves the open ones."""
    try:
        answer = read_shadowing_answer(pair)
        asked.remove((answer.tool, answer.cheaper_sibling))
    except ContractError as error:
        return str(error)
    except ValueError:
        return "this is no open pair of part shadowing; prepare it again"
    return None
