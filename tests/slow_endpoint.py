"""Chat completions that always take 0.3 s and next to no processor: `python slow_endpoint.py` prints its port."""

import asyncio
import json

from tdqs_mcp.rubrics.rubric import load

LATENCY = 0.3


def completion(key, **more):
    scores = {name: {"score": 4, "justification": "So."} for name in load(key).keys}
    message = {"content": json.dumps({"scores": scores, **more, "summary": "All said."})}
    usage = {"prompt_tokens": 2300, "completion_tokens": 200, "prompt_tokens_details": {"cached_tokens": 2000}}
    body = json.dumps({"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}).encode()
    return b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)


ANSWERS = {False: completion("tdqs", annotation_contradiction=False), True: completion("coherence")}


async def answer(reader, writer):
    """Every request of one connection, in turn."""
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            body = await reader.readexactly(int(head.partition(b"content-length:")[2].partition(b"\r")[0]))
            await asyncio.sleep(LATENCY)
            writer.write(ANSWERS[b"SERVER NAME" in body])
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main():
    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=512, limit=2**20)
    print(server.sockets[0].getsockname()[1], flush=True)  # noqa: T201  # what the caller waits for
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
