"""The calling agent as judge: nobody can ask it, it hands its answers in."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from tdqs_mcp.errors import ContractError
from tdqs_mcp.judges.canary import Detector, review
from tdqs_mcp.judges.judge import Cache, Failure, Request
from tdqs_mcp.judges.prompted import Prompted
from tdqs_mcp.results.verdicts import HOST, JudgeStamp, Ungraded, Verdict
from tdqs_mcp.rubrics.form import read
from tdqs_mcp.rubrics.prompt import Case, PromptForm

MAX_ANSWER = 20_000
"""Characters of one answer that is kept: four times what a verdict with long reasons takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The agent's model, which answers no request of ours."""

    name: str

    async def complete(self, requests: Sequence[Request]) -> list[str | Failure]:
        """A failure for each request: an answer that is there was found before."""
        return [Failure(reason="no answer was handed in for this prompt") for _ in requests]


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """Grades by the answers that the cache keeps from callers who named the same model; "" is nobody's name."""

    cache: Cache
    addresses: Detector
    model: str = ""

    @property
    def stamp(self) -> JudgeStamp:
        """The caller's model, as far as it named it; its prompts are the published bytes."""
        return self._prompted.stamp

    async def grade(self, cases: Sequence[Case]) -> list[Verdict | Ungraded]:
        """The verdicts in the answers that were handed in."""
        return review(cases, await self._prompted.grade(cases), addresses=self.addresses, judge=self.stamp)

    def knows(self, case: Case) -> bool:
        """Whether an answer was handed in that counts."""
        verdict = self._prompted.remembered(case)
        return verdict is not None and isinstance(self._reviewed(case, verdict), Verdict)

    def take(self, case: Case, answer: object) -> Verdict:
        """The verdict in an answer, kept from now on; an earlier answer to the same prompt goes.

        Raises ContractError for one that is out of form, too long, quoted from the definition, or more than facts
        support where the definition addresses its judge.
        """
        text = answer if isinstance(answer, str) else json.dumps(answer)
        if len(text) > MAX_ANSWER:
            raise ContractError(f"the answer has {len(text)} characters, more than {MAX_ANSWER}; give shorter reasons")
        verdict = self._reviewed(case, read(case, answer))
        if isinstance(verdict, Ungraded):
            raise ContractError(verdict.reason)
        self._prompted.keep(case, text)
        return verdict

    @property
    def _prompted(self) -> Prompted:
        return Prompted(id=HOST, model=Caller(name=self.model), form=PromptForm.EXACT, cache=self.cache)

    def _reviewed(self, case: Case, verdict: Verdict) -> Verdict | Ungraded:
        (outcome,) = review([case], [verdict], addresses=self.addresses, judge=self.stamp)
        return outcome
