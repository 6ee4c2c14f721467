"""Load on our server over HTTP: `python tests/load.py --clients 300 --seconds 60` prints what it bears, and exits 1 below the bars.

One client alone, then all of them as fast as they can, then all of them at 60% of the rate that was reached, while one more
client sends a ping each half second. Every call has a definition of its own. Times of the paced calls count from the
moment at which they were due.
"""

import argparse
import asyncio
import itertools
import json
import sys
from dataclasses import dataclass, field
from statistics import median
from time import monotonic

import psutil
from agent_session import BAD, SIBLING
from own_server import serving

SHARE = 0.6
"""Of the rate that was reached: how often the paced clients call together."""

EARLY_SECONDS = 10.0
MAX_PING = 0.3
MAX_SLOWDOWN = 20
MIN_THROUGHPUT = 0.8
MAX_GROWTH = 1.1

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "load", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
NUMBERS = itertools.count(1)


class Client:
    """One connection that is kept; a request of revision 2026-07-28 needs no session."""

    def __init__(self, port):
        self.port = port

    async def __aenter__(self):
        await self.connect()
        return self

    async def connect(self):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port, limit=2**20)

    async def __aexit__(self, *_):
        self.writer.close()

    async def ask(self, method, **params):
        """The result of a request. Raises ValueError for any other answer."""
        message = {"jsonrpc": "2.0", "id": next(NUMBERS), "method": method, "params": {**params, "_meta": META}}
        body = json.dumps(message).encode()
        head = {
            "host": f"127.0.0.1:{self.port}",
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "content-length": len(body),
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": method,
            **({"mcp-name": params["name"]} if "name" in params else {}),
        }
        lines = "".join(f"{key}: {value}\r\n" for key, value in head.items())
        if self.reader.at_eof():  # a server may close a connection that rests, and its clients open another
            self.writer.close()
            await self.connect()
        self.writer.write(f"POST /mcp HTTP/1.1\r\n{lines}\r\n".encode() + body)
        answer = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower()
        size = int(answer.partition("content-length:")[2].partition("\r")[0])
        content = await self.reader.readexactly(size)
        result = json.loads(content).get("result")
        if " 200 " not in answer.partition("\r")[0] or result is None or result.get("isError"):
            raise ValueError(content[:300])
        return result

    async def score(self):
        """A score of a definition that nobody has sent before."""
        definition = {**BAD, "description": f"Cancel order {next(NUMBERS)}"}
        arguments = {"definition": definition, "siblings": [SIBLING]}
        await self.ask("tools/call", name="score_tool_definition", arguments=arguments)


@dataclass
class Run:
    """What a number of clients has seen."""

    seconds: float
    times: list[float] = field(default_factory=list)
    pings: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)
    """Resident bytes after ten seconds and at the end."""

    @property
    def rate(self):
        return len(self.times) / self.seconds

    def percentile(self, share):
        ordered = sorted(self.times)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

    def __str__(self):
        shown = ", ".join(f"p{share * 100:g} {1000 * self.percentile(share):.0f} ms" for share in (0.5, 0.9, 0.99, 1))
        megabytes = ", ".join(f"{each / 2**20:.0f} MB" for each in self.memory)
        return f"{self.rate:.0f} calls/s, {shown}, {len(self.errors)} errors, memory {megabytes}"


async def load(port, server, *, clients, seconds, rate=None):
    """A run of clients, as fast as they can or at a rate together."""
    run, start = Run(seconds=seconds), monotonic()
    gap = clients / rate if rate else 0.0

    async def call(number):
        try:
            async with Client(port) as client:
                due = start + gap * number / clients
                while (now := monotonic()) < start + seconds:
                    if gap and due > now:
                        await asyncio.sleep(due - now)
                    begun = due if gap else now
                    await client.score()
                    run.times.append(monotonic() - begun)
                    due += gap
        except (OSError, EOFError, ValueError) as error:
            run.errors.append(repr(error))

    async def ping():
        async with Client(port) as client:
            while monotonic() < start + seconds:
                begun = monotonic()
                await client.ask("tools/list")
                run.pings.append(monotonic() - begun)
                await asyncio.sleep(0.5)

    async def weigh():
        for moment in (min(EARLY_SECONDS, seconds / 2), seconds):
            await asyncio.sleep(start + moment - monotonic())
            run.memory.append(server.memory_info().rss)

    await asyncio.gather(*map(call, range(clients)), ping(), weigh())
    return run


def verdicts(alone, closed, paced):
    """What must be true, and whether it is."""
    slowdown = paced.percentile(0.99) / median(alone.times)
    yield f"no errors: {[*closed.errors, *paced.errors][:3]}", not (closed.errors or paced.errors)
    yield (
        f"throughput of all {closed.rate / alone.rate:.2f} of one client's",
        closed.rate >= MIN_THROUGHPUT * alone.rate,
    )
    yield f"p99 of paced calls {slowdown:.1f} times a lone one", slowdown <= MAX_SLOWDOWN
    yield f"slowest ping beside paced calls {max(paced.pings):.3f} s", max(paced.pings) <= MAX_PING
    for name, run in (("closed loop", closed), ("paced", paced)):
        growth = run.memory[1] / run.memory[0]
        yield f"memory of the {name} at the end {growth:.2f} of that at the first look", growth <= MAX_GROWTH


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--clients", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=60.0)
    given = parser.parse_args()
    with serving(TDQS_CACHE="off") as (url, _):
        port = int(url.split(":")[2].partition("/")[0])
        [server] = [each for each in psutil.Process().children() if "--http" in each.cmdline()]
        print("load of the machine:", *(f"{each:.1f}" for each in psutil.getloadavg()))

        def run(name, **options):
            found = asyncio.run(load(port, server, **options))
            print(f"{name}: {found}; slowest ping {1000 * max(found.pings):.0f} ms", flush=True)
            return found

        run("warming up", clients=1, seconds=2.0)
        alone = run("one client", clients=1, seconds=given.seconds / 4)
        closed = run(f"{given.clients} clients", clients=given.clients, seconds=given.seconds)
        rate = SHARE * closed.rate
        paced = run(f"{given.clients} at {rate:.0f} calls/s", clients=given.clients, seconds=given.seconds, rate=rate)
    found = list(verdicts(alone, closed, paced))
    for text, is_met in found:
        print("met   " if is_met else "MISSED", text)
    return 0 if all(is_met for _, is_met in found) else 1


if __name__ == "__main__":
    sys.exit(main())
