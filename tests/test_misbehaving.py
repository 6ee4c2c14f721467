"""Servers and endpoints that misbehave, and what must come out: a catalog with its problems, or one line that says why not."""

import gzip
import json
import re
import socket
import ssl
import threading
import time
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from socketserver import BaseRequestHandler, ThreadingTCPServer

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from definitions import tool
from test_live import misbehaving
from test_live_http import SECRET, failure, options

from tdqs_mcp.app import catalogs, judging
from tdqs_mcp.app.catalogs import capture_document
from tdqs_mcp.facts.subject import measure
from tdqs_mcp.judges.anthropic import Anthropic
from tdqs_mcp.judges.endpoint import Endpoint
from tdqs_mcp.judges.openai import OpenAI
from tdqs_mcp.judges.prompted import Prompted
from tdqs_mcp.report.json_values import json_text
from tdqs_mcp.results.verdicts import Ungraded
from tdqs_mcp.scoring.score import tool_cases
from tdqs_mcp.sources.connection import capture
from tdqs_mcp.sources.files import read_file
from tdqs_mcp.sources.locator import Url

pytestmark = [pytest.mark.anyio, pytest.mark.process]

# Processes

CAPTURED = {
    "pages": (3, []),
    "empty-cursor": (1, []),
    "id-as-text": (2, []),
    "error-without-id": (2, []),
    "dies-of-discover": (2, []),
    "chatty-on-stderr": (2, []),
    "empty-handed": (0, []),
    "malformed": (17, []),
    "same-tool-on-every-page": (3, []),
    "no-server-info": (2, ["has no serverInfo"]),
    "no-capabilities": (2, ["does not declare the tools capability"]),
    "capabilities-are-list": (2, ["has no capabilities object"]),
    "odd-capabilities": (2, ["resources/list failed", "prompts/list failed"]),
    "resources-refused": (2, ["resources/list failed with error -32601", "prompts/list failed with error -32601"]),
    "resources-hang": (2, ["resources/list was not answered within 2 s."]),
    "garbage": (2, ["5 lines that are not protocol messages to its output; the first is 'Starting server on"]),
    "not-utf-8": (2, ["1 line that is not a protocol message"]),
}
"""Modes of misbehaving_server.py whose list of tools is complete: the tools, and the problems."""

INCOMPLETE = {
    "no-tools-array": (0, {}, "has no array 'tools'"),
    "page-2-without-array": (1, {}, "has no array 'tools'"),
    "cursor-loop": (2, {}, "gives the cursor '7' again"),
    "endless-pages": (200, {}, "has more than 200 pages"),
    "odd-cursor": (1, {}, "nextCursor that is not a string"),
    "fails-on-page-2": (2, {}, "tools/list failed after 2 pages with error -32603: page lost"),
    "exits-on-page-2": (1, {}, "failed after 1 page with error"),
    "hangs-on-page-2": (1, {}, "was not answered within 2 s"),
    "many-tools": (10, {"max_tools": 10}, "The server lists more than 10 tools; the first 10 were kept."),
    "bulky": (2, {"max_bytes": 100_000}, "tools/list was cut short: the definitions are larger than the limit."),
}
"""Modes whose list was not read to its end: the tools, limits, and the one problem."""

FAILED = {
    "exits-at-once": r"exited with code 3 before it answered 'initialize'.*--env NAME=VALUE.*API_KEY is missing",
    "dies-of-signal": r"died of signal 9",
    "exits-on-list": r"exited with code 0 before it answered 'tools/list'.*ends: out of memory",
    "list-is-refused": r"answers 'tools/list' with error -32603: the database is down",
    "no-tools-method": r"answers 'tools/list' with error -32601",
    "list-is-array": r"answers 'tools/list' with error -32600: the answer is not a JSON-RPC response",
    "initialize-is-refused": r"answers 'initialize' with error -32603: no licence found",
    "initialize-is-list": r"answers 'initialize' with error -32600: the answer is not a JSON-RPC response",
    "bad-initialize": r"answers 'initialize' without a protocolVersion",
    "unknown-version": r"protocol version '1999-01-01'",
    "hangs-at-start": r"did not answer 'initialize' within 2 s; raise --timeout.*waiting for the database",
    "list-hangs": r"did not answer 'tools/list' within 2 s; raise --timeout",
    "wrong-id": r"did not answer 'tools/list' within 2 s",
    "garbage-for-ever": r"did not answer .* within 2 s.*lines that are not protocol messages",
    "never-closed": r"wrote 1 line that is not a protocol message",
    "never-a-newline": r"a line of more than 1000000 bytes",
}
"""Modes that list nothing: the reason."""

IMPATIENT = {
    "hangs-at-start",
    "list-hangs",
    "wrong-id",
    "garbage-for-ever",
    "never-closed",
    "resources-hang",
    "hangs-on-page-2",
}


def limits(mode, **given):
    return options(**({"timeout": 2.0} if mode in IMPATIENT else {}), **given)


@pytest.mark.parametrize("mode", CAPTURED)
async def test_a_bad_habit_is_a_problem_of_the_catalog(mode):
    tools, problems = CAPTURED[mode]
    catalog = await capture(misbehaving(mode), limits(mode))
    assert (len(catalog.tools), catalog.incomplete) == (tools, None)
    assert len(catalog.problems) == len(problems)
    for problem, expected in zip(catalog.problems, problems, strict=True):
        assert expected in problem


@pytest.mark.parametrize("mode", INCOMPLETE)
async def test_a_list_that_was_not_read_to_its_end_marks_the_catalog_and_its_file(mode, tmp_path):
    tools, given, reason = INCOMPLETE[mode]
    catalog = await capture(misbehaving(mode), limits(mode, **given))
    assert len(catalog.tools) == tools
    assert reason in catalog.incomplete
    assert catalog.problems == (catalog.incomplete,)
    file = tmp_path / "captured.json"
    file.write_text(json_text(capture_document(catalog)), encoding="utf-8")
    assert read_file(file).incomplete == catalog.incomplete
    assert read_file(file).problems == catalog.problems
    assert (await judging.score(read_file(file))).rollup.overall is None


@pytest.mark.parametrize("mode", FAILED)
async def test_a_server_that_lists_nothing_fails_with_the_reason(mode):
    assert re.search(FAILED[mode], await failure(misbehaving(mode), limits(mode, max_bytes=1_000_000)))


# HTTP


def reply(status, body=b"", **headers):
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status} X\r\n{lines}content-length: {len(body)}\r\nconnection: close\r\n\r\n".encode() + body


def for_ever(first, piece, pause=0.0):
    """Bytes that never end, as fast as they are taken or with a pause."""

    def pieces():
        yield first
        while True:
            time.sleep(pause)
            yield piece

    return pieces


JSON = {"content_type": "application/json"}
OPEN = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n"
BOMB = gzip.compress(b" " * 10_000_000, mtime=0)
ERROR = json.dumps({"error": {"message": f"bad key {SECRET}", "type": "x"}}).encode()

ANSWERS = {
    "400": (reply(400), "answers 400: it is not an MCP endpoint", "HTTP 400 .*check the model"),
    "401": (reply(401, ERROR, **JSON), "answers 401: give credentials with --header 'Authorization: Bearer …'", r"HTTP 401 \(bad key \[key\]\): check TDQS_API_KEY"),
    "403": (reply(403), "answers 403: these credentials may not", "HTTP 403"),
    "404": (reply(404), "answers 404: there is no MCP endpoint at this path", "HTTP 404 .*check the base URL"),
    "405": (reply(405), "answers 405: it takes neither streamable HTTP nor SSE", "HTTP 405"),
    "429": (reply(429, retry_after=30), "answers 429: wait 30 s and try again", "HTTP 429, and asked to wait 30 s"),
    "500": (reply(500), "answers 500: the fault is the server's", "HTTP 500 .*the endpoint is at fault"),
    "503 as a page": (reply(503, b"<html>", content_type="text/html"), "answers 503: the fault is the server's", "HTTP 503 .*at fault"),
    "a page": (reply(200, b"<html>", content_type="text/html"), "answers with text/html, which is not MCP", "an HTML page"),
    "another object": (reply(200, b"{}", **JSON), "answers 'initialize' with error -32700", "answered with no"),
    "a list": (reply(200, b"[]", **JSON), "answers 'initialize' with error -32700", "answered with no"),
    "numbers for texts": (reply(200, b'{"jsonrpc": 2, "id": {}, "choices": 5, "content": 7}', **JSON), "answers 'initialize' with error -32700", "answered with no"),
    "half an object": (reply(200, b'{"jsonrpc": "2.0", "cho', **JSON), "answers 'initialize' with error -32700", "answered with no"),
    "not UTF-8": (reply(200, b"\xff\xfe", **JSON), "answers 'initialize' with error -32700", "answered with no"),
    "a redirect": (reply(302, location="https://elsewhere.example/mcp"), "answers 302: it redirects to another address", "set the base URL to where it redirects"),
    "a redirect to this machine's data": (reply(307, location="http://169.254.169.254/latest"), "answers 307: it redirects to another address", "set the base URL to where it redirects"),
    "compressed": (reply(200, gzip.compress(b"{}", mtime=0), **JSON, content_encoding="gzip"), "the answer is compressed although that was declined", "compressed although that was declined"),
    "a compressed bomb": (reply(200, BOMB, **JSON, content_encoding="gzip"), "the answer is compressed although that was declined", "compressed although that was declined"),
    "without end": (for_ever(OPEN, b" " * 60_000), "the answer is larger than 100000 bytes", "larger than 4194304 bytes"),
    "headers without end": (for_ever(b"HTTP/1.1 200 OK\r\n", b"x: y\r\n" * 1000), "cannot be reached|larger|broke", "cannot be reached"),
    "a slow drip": (for_ever(OPEN, b" ", 0.1), "within 2 s; raise --timeout", "no answer within 2 s"),
    "headers in a slow drip": (for_ever(b"HTTP/1.1 200 OK\r\n", b"x: y\r\n", 0.1), "within 2 s; raise --timeout", "no answer within 2 s"),
    "silence": (for_ever(b"", b"", 0.1), "within 2 s; raise --timeout", "no answer within 2 s"),
    "a connection that ends": (b"", "cannot be reached|broke", "cannot be reached"),
    "a body that ends early": (OPEN.replace(b"\r\n\r\n", b"\r\ncontent-length: 100\r\n\r\n{"), "cannot be reached|broke", "cannot be reached"),
    "another protocol": (b"220 mail.example ESMTP\r\n", "cannot be reached|broke", "cannot be reached"),
}  # fmt: skip
"""What an address answers to every request; what a capture says of it; why a judge there gives no verdict."""


class Handler(BaseRequestHandler):
    def handle(self):
        with suppress(OSError):
            head = b""
            is_http = True
            while is_http and b"\r\n\r\n" not in head and (part := self.request.recv(65536)):
                head += part
                is_http = head[:1].isalpha()
            size = int(re.search(rb"(?i)content-length: (\d+)|$", head)[1] or 0)
            body = head.partition(b"\r\n\r\n")[2]
            while len(body) < size and (part := self.request.recv(65536)):
                body += part
            answer = self.server.answer
            for piece in [answer] if isinstance(answer, bytes) else answer():
                self.request.sendall(piece)
                if self.server.is_over.is_set():
                    return


class Answering(ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 100

    def handle_error(self, *_):
        """A client that does not trust us has gone."""


@contextmanager
def answering(answer, context=None):
    """A port at which every request has this answer."""
    with Answering(("127.0.0.1", 0), Handler) as server:
        server.answer, server.is_over = answer, threading.Event()
        if context:
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server.server_address[1]
        server.is_over.set()
        server.shutdown()
        thread.join()


async def reason_of(kind, base_url):
    """Why a judge at this address gives no verdict."""
    endpoint = Endpoint(base_url=base_url, model="m", api_key=SECRET, timeout=2.0, backoff=0)
    judge = Prompted(id=kind, model={"openai": OpenAI, "anthropic": Anthropic}[kind](endpoint))
    [result] = await judge.grade(tool_cases(measure(catalogs.read([tool()]))))
    assert isinstance(result, Ungraded)
    return result.reason


async def check(address, said, reason):
    line = await failure(Url(url=f"{address}/mcp?key={SECRET}"), options(timeout=2.0, max_bytes=100_000))
    assert re.search(said, line)
    for kind in ("openai", "anthropic"):
        told = await reason_of(kind, address)
        assert re.search(reason, told)
        line += told
    assert SECRET not in line


@pytest.mark.parametrize("name", ANSWERS)
async def test_an_http_answer_that_is_of_no_use_is_explained(name):
    answer, said, reason = ANSWERS[name]
    with answering(answer) as port:
        await check(f"http://127.0.0.1:{port}", re.escape(said) if "|" not in said else said, reason)


@pytest.fixture(scope="module")
def certified(tmp_path_factory):
    """TLS with a certificate that nobody has signed but itself."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "us")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), 1, now - timedelta(1), now + timedelta(1))
    own = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    file = tmp_path_factory.mktemp("tls") / "both.pem"
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file.write_bytes(private + builder.add_extension(own, critical=False).sign(key, hashes.SHA256()).public_bytes(pem))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


async def test_a_certificate_that_nobody_vouches_for_is_named(certified):
    with answering(reply(200), certified) as port:
        await check(f"https://127.0.0.1:{port}", "cannot be reached .*certificate", "cannot be reached .*certificate")


async def test_tls_where_there_is_none_is_named():
    with answering(reply(200)) as port:
        await check(f"https://127.0.0.1:{port}", "cannot be reached .*SSL", "cannot be reached .*SSL")


async def test_an_address_where_nothing_listens_is_said_to_be_unreachable():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        await check(f"http://127.0.0.1:{unused.getsockname()[1]}", "cannot be reached", "cannot be reached")
