"""Answers that are kept as soon as they are heard, and a model with such a memory: it is not asked again."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from tdqs_mcp.errors import ContractError
from tdqs_mcp.judges.judge import Around, Cache, CacheKey, Failure, Request, tell


def keeper(cache: Cache, key: CacheKey, request: Request) -> Callable[[str], None]:
    """Keeps an answer to the request, once, where it is in form: what is not would be asked for again anyway."""
    heard: set[str] = set()

    def keep(answer: str) -> None:
        request.heard(answer)
        if answer in heard:
            return
        heard.add(answer)
        with suppress(ContractError):
            request.check(answer)
            cache.put(key, answer)

    return keep


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered(Around):
    """Hands on only the requests whose answers are not kept; a failure is not kept, nor an answer out of form."""

    cache: Cache
    parameters: str
    """Digest of what else shapes an answer."""

    async def complete(self, requests: Sequence[Request]) -> list[str | Failure]:
        """One answer for each request, in their order; each is kept when it is heard, and equal ones are asked once."""
        kept = {request.key: self._kept(request) for request in requests}
        missing = {
            request.key: replace(request, heard=keeper(self.cache, self._key(request), request))
            for request in requests
            if kept[request.key] is None
        }
        answers: dict[str, str | Failure] = {key: answer for key, answer in kept.items() if answer is not None}
        if missing:
            answers |= dict(zip(missing, await self.model.complete(list(missing.values())), strict=True))
        for key, request in missing.items():
            tell(request, answers[key])
        return [answers[request.key] for request in requests]

    def _kept(self, request: Request) -> str | None:
        answer = self.cache.get(self._key(request))
        with suppress(ContractError):
            if answer is not None:
                request.check(answer)
            return answer
        return None

    def _key(self, request: Request) -> CacheKey:
        return CacheKey(
            input_hash="",
            sibling_digest="",
            prompt_hash=request.key,
            rubric=request.name,
            judge="writer",
            model=self.name,
            parameters=self.parameters,
            sample=1,
        )
