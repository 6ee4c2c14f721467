"""A model with a memory: what it has answered before is not asked again."""

from collections.abc import Sequence
from dataclasses import dataclass

from tdqs_mcp.judges.judge import Around, Cache, CacheKey, Failure, Request


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered(Around):
    """Hands on only the requests whose answers are not kept; a failure is not kept."""

    cache: Cache
    parameters: str
    """Digest of what else shapes an answer."""

    async def complete(self, requests: Sequence[Request]) -> list[str | Failure]:
        """One answer for each request, in their order."""
        kept = {request.key: self.cache.get(self._key(request)) for request in requests}
        missing = [request for request in requests if kept[request.key] is None]
        given = dict(
            zip(
                (request.key for request in missing),
                await self.model.complete(missing) if missing else (),
                strict=True,
            )
        )
        for request in missing:
            answer = given[request.key]
            if isinstance(answer, str):
                self.cache.put(self._key(request), answer)
        return [kept[request.key] or given[request.key] for request in requests]

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
