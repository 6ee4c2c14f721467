"""HTTP clients for foreign servers: no compression, at most so many bytes of an answer, no redirect with a key."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx2


def make_client(
    *,
    max_bytes: int,
    on_response: Callable[[httpx2.Response], None] = lambda _: None,
    **options: Any,  # noqa: ANN401  # httpx2's own
) -> httpx2.AsyncClient:
    """A client that reads at most `max_bytes` of any response; `on_response` is called before the body is read."""

    async def bound(response: httpx2.Response) -> None:
        response.stream = BoundedBody(response.stream, max_bytes)
        on_response(response)
        if response.headers.get("content-encoding", "identity") != "identity":
            raise httpx2.DecodingError("the answer is compressed although that was declined", request=response.request)

    # Compression is declined: a few kilobytes of it can unpack to gigabytes.
    headers = {"accept-encoding": "identity", **(options.pop("headers", None) or {})}
    return httpx2.AsyncClient(headers=headers, event_hooks={"response": [bound]}, **options)


class BoundedBody(httpx2.AsyncByteStream):
    """A response body that fails when it grows beyond the limit."""

    def __init__(self, body: Any, max_bytes: int) -> None:  # noqa: ANN401  # sync or async, as the transport made it
        self._body = body
        self._max_bytes = self._left = max_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._body:
            self._left -= len(chunk)
            if self._left < 0:
                raise httpx2.ReadError(f"the answer is larger than {self._max_bytes} bytes")
            yield chunk

    def restart(self) -> None:
        """Count from 0 again: a stream without an end is bounded by the line."""
        self._left = self._max_bytes

    async def aclose(self) -> None:
        """Close the body."""
        await self._body.aclose()
