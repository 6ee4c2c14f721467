"""An MCP server over stdio with one bad habit: misbehaving_server.py MODE [MARKER].

MARKER is only there so that a test can find the processes it has started. Nothing but the standard library is used, so
that every start is quick.
"""

import json
import os
import signal
import subprocess
import sys
import time

FOR_EVER = 1000

GOOD = {"name": "good", "description": "Says hello.", "inputSchema": {"type": "object"}}
ODD = {
    "name": "odd",
    "description": "Has more than the protocol knows.",
    "inputSchema": {"type": "object", "properties": {"a": {"type": "string", "x-vendor": 1}}},
    "annotations": {"readOnlyHint": "yes", "customHint": True, "destructiveHint": 1},
    "vendorField": {"k": [1, 2.5, None]},
    "_meta": {"z": 1},
}
MALFORMED = [
    {"name": "no-schema", "description": "has no inputSchema"},
    {"name": "schema-is-text", "inputSchema": "object"},
    {"name": "schema-of-array", "inputSchema": {"type": "array"}},
    {"name": "schema-without-type", "inputSchema": {"properties": {}}},
    {"name": 7, "inputSchema": {"type": "object"}},
    {"name": "description-is-number", "description": 5, "inputSchema": {"type": "object"}},
    {"name": "hint-is-object", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": {"a": 1}}},
    {"name": "hint-is-maybe", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": "maybe"}},
    {"name": "annotations-are-list", "inputSchema": {"type": "object"}, "annotations": []},
    {"name": "output-of-array", "inputSchema": {"type": "object"}, "outputSchema": {"type": "array"}},
    {"name": "required-is-text", "inputSchema": {"type": "object", "required": "a"}},
    {"name": "bad-header", "inputSchema": {"type": "object", "properties": {"a": {"x-mcp-header": "bad header!"}}}},
    {"name": "", "inputSchema": {"type": "object"}},
    {"name": "lone-surrogate-\ud83d", "inputSchema": {"type": "object"}},
    "only text",
    None,
]
BULKY = {"name": "bulky", "description": "x" * 40_000, "inputSchema": {"type": "object"}}

CAPABILITIES = {
    "no-capabilities": {},
    "odd-capabilities": {"tools": True, "resources": "yes", "prompts": None},
    "capabilities-are-list": [],
    "empty-handed": {"logging": {}},
    "resources-refused": {"tools": {}, "resources": {}, "prompts": {}},
    "resources-hang": {"tools": {}, "resources": {}},
    "everything": {"tools": {}, "resources": {}, "prompts": {}},
}
"""What the modes declare; all others declare tools alone."""


def main(mode, marker):
    BEFORE_THE_FIRST_MESSAGE.get(mode, lambda _: None)(marker)
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            answer(mode, message)
    if mode == "stubborn":
        time.sleep(FOR_EVER)


def stubborn(marker):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    start_child("import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(1000)", marker)


def abandon_child(marker):
    start_child("import time; time.sleep(1000)", marker)


def leave_daemon(marker):
    command = [sys.executable, "-c", "import time; time.sleep(1000)", marker]
    quiet = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    subprocess.Popen(command, start_new_session=True, **quiet)


def exit_at_once(_marker):
    stderr("\x1b[31mTraceback: API_KEY is missing\x1b[0m\n\x07given: " + os.environ.get("TDQS_SECRET", "") + "\n")
    sys.exit(3)


def die_of_signal(_marker):
    os.kill(os.getpid(), signal.SIGKILL)


def hang(_marker):
    stderr("waiting for the database\n")
    time.sleep(FOR_EVER)


def print_garbage(_marker):
    for text in ("Starting server on stdio...", "\x1b[32mready\x1b[0m", "{not json", "[1,2]", '{"hello":1}'):
        say(text)


def print_garbage_for_ever(_marker):
    while True:
        say("blah")


def never_end_the_line(_marker):
    while True:
        sys.stdout.write("x" * 65536)


def print_bytes(_marker):
    sys.stdout.buffer.write(b"\xff\xfe\n")
    sys.stdout.buffer.flush()


def flood_stderr(_marker):
    stderr("log line\n" * 200_000)


BEFORE_THE_FIRST_MESSAGE = {
    "stubborn": stubborn,
    "stubborn-and-hanging": stubborn,
    "abandons-child": abandon_child,
    "leaves-daemon": leave_daemon,
    "exits-at-once": exit_at_once,
    "dies-of-signal": die_of_signal,
    "hangs-at-start": hang,
    "garbage": print_garbage,
    "garbage-for-ever": print_garbage_for_ever,
    "never-a-newline": never_end_the_line,
    "not-utf-8": print_bytes,
    "chatty-on-stderr": flood_stderr,
}


def answer(mode, message):
    number, method = message["id"], message["method"]
    if method == "server/discover":
        discover(mode, number)
    elif method == "initialize":
        initialize(mode, number, message["params"]["protocolVersion"])
    elif method == "tools/list":
        list_tools(mode, number, (message.get("params") or {}).get("cursor"))
    elif mode == "resources-hang" and method == "resources/list":
        return
    elif mode == "everything" and method in OTHERS:
        result(number, OTHERS[method])
    else:
        error(number, -32601, "Method not found")


OTHERS = {
    "resources/list": {"resources": [{"uri": "file:///a", "name": "a", "extra": 1}, {"uri": 5}]},
    "resources/templates/list": {"resourceTemplates": [{"uriTemplate": "file:///{x}", "name": "t"}]},
    "prompts/list": {"prompts": [{"name": "p", "description": "d", "arguments": "none"}]},
}


def discover(mode, number):
    if mode == "ignores-discover":
        return
    if mode == "dies-of-discover":
        sys.exit(1)
    if mode == "error-without-id":
        error(None, -32600, "Invalid request")
        return
    error(number, -32601, "Method not found")


def initialize(mode, number, version):
    if mode == "initialize-is-refused":
        error(number, -32603, "no licence found")
    elif mode == "bad-initialize":
        result(number, {"hello": 1})
    elif mode == "initialize-is-list":
        say({"jsonrpc": "2.0", "id": number, "result": []})
    elif mode == "no-server-info":
        result(number, {"protocolVersion": version, "capabilities": {"tools": {}}})
    else:
        result(
            number,
            {
                "protocolVersion": "1999-01-01" if mode == "unknown-version" else version,
                "capabilities": CAPABILITIES.get(mode, {"tools": {}}),
                "serverInfo": {"name": "misbehaving", "version": "1", "extra": 1},
                "instructions": "Be careful.",
            },
        )


def list_tools(mode, number, cursor):
    if mode in ("list-hangs", "stubborn-and-hanging") or (mode == "hangs-on-page-2" and cursor):
        time.sleep(FOR_EVER)
    elif mode == "exits-on-list" or (mode == "exits-on-page-2" and cursor):
        stderr("out of memory\n")
        sys.exit(0)
    elif mode == "list-is-refused":
        error(number, -32603, "the database is down")
    elif mode in ("empty-handed", "no-tools-method"):
        error(number, -32601, "Method not found")
    elif mode == "wrong-id":
        result(999, {"tools": []})
    elif mode == "odd-json":
        say(f'{{"jsonrpc": "2.0", "id": {number}, "result": {ODD_JSON}}}')
    elif mode == "never-closed":
        say(f'{{"jsonrpc": "2.0", "id": {number}, "result": {{"tools": [{"[" * 100_000}')
    elif mode == "list-is-array":
        say({"jsonrpc": "2.0", "id": number, "result": [GOOD]})
    else:
        page = PAGES.get(mode, lambda _: {"tools": [GOOD, ODD], "extraTop": 1})(int(cursor or 0))
        if page is None:
            error(number, -32603, "page lost")
        else:
            result(str(number) if mode == "id-as-text" else number, page)


def page_of(number, following):
    return {"tools": [{**GOOD, "name": f"t{number}"}], "nextCursor": following}


DEEP = '{"a":' * 100_000 + "1" + "}" * 100_000
ODD_JSON = f"""{{"tools": [{{"name": "good"}}, {{"name": "twice", "title": "A", "title": "B"}},
    {{"name": "number", "_meta": {{"a": NaN}}}}, {{"name": "deep", "_meta": {DEEP}}}, {{"name": "half \\ud800"}}],
    "nextCursor": "", "nextCursor": ""}}""".replace("\n", "")
"""What the SDK's parser refuses, or loses, of four tools in five."""


def nested(levels):
    """A schema with `levels` of arrays, built without recursion."""
    schema = "string"
    for _ in range(levels):
        schema = [schema]
    return {"type": "object", "x-nested": schema}


def told():
    """Everything that the server was started with, in a name, a description, a schema and a number."""
    words = " ".join([*sys.argv[2:], *os.environ.values()])
    digits = [int(word) for word in words.split() if word.isdecimal()]
    return {
        "name": f"repeat_{os.environ.get('API_KEY', '')}",
        "description": f"Repeats {words}.",
        "inputSchema": {"type": "object", "properties": {words: {"type": "string", "enum": digits}}},
    }


PAGES = {
    "repeats": lambda _: {"tools": [GOOD, told()], "extraTop": os.environ.get("API_KEY")},
    "nested": lambda _: {"tools": [{"name": "nested", "inputSchema": nested(300)}]},
    "no-tools-array": lambda _: {},
    "malformed": lambda _: {"tools": [GOOD, *MALFORMED]},
    "pages": lambda n: page_of(n, str(n + 1) if n < 2 else None),
    "cursor-loop": lambda n: page_of(n, "7"),
    "endless-pages": lambda n: page_of(n, str(n + 1)),
    "odd-cursor": lambda n: page_of(n, 5),
    "empty-cursor": lambda n: page_of(n, ""),
    "same-tool-on-every-page": lambda n: {"tools": [GOOD]} | ({"nextCursor": str(n + 1)} if n < 2 else {}),
    "fails-on-page-2": lambda n: page_of(n, str(n + 1)) if n < 2 else None,
    "hangs-on-page-2": lambda n: page_of(n, str(n + 1)),
    "exits-on-page-2": lambda n: page_of(n, str(n + 1)),
    "page-2-without-array": lambda n: page_of(n, "1") if n < 1 else {},
    "many-tools": lambda _: {"tools": [GOOD] * 30},
    "bulky": lambda n: {"tools": [BULKY], "nextCursor": str(n + 1)},
}


def result(number, body):
    say({"jsonrpc": "2.0", "id": number, "result": body})


def error(number, code, message):
    say({"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}})


def say(content):
    sys.stdout.write((content if isinstance(content, str) else json.dumps(content)) + "\n")
    sys.stdout.flush()


def stderr(text):
    sys.stderr.write(text)
    sys.stderr.flush()


def start_child(code, marker):
    subprocess.Popen([sys.executable, "-c", code, marker], stdin=subprocess.DEVNULL)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "")
