"""Fuzzing: mutated catalogs through the commands and their formats, mutated messages through our server.

Definitions come from the pages of the rules and, where there are any, from captured catalogs. `fuzz` says what breaks:
an exception, an output that cannot be read, more than 5 s of processor time for an input below 1 MB, growing memory.
"""

import copy
import io
import json
import os
import random
import re
import shlex
import traceback
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from time import process_time
from unittest.mock import patch
from xml.etree import ElementTree as ET

import httpx2
import jsonschema_rs
import psutil
import pytest
from definitions import tool
from own_server import serving
from schemas import SCHEMAS
from test_responsiveness import Wire

from tdqs_mcp.canonical import is_well_formed
from tdqs_mcp.cli import cli
from tdqs_mcp.rules import registry

CORPUS = Path(__file__).with_name("fuzz_corpus")
"""What once broke something, and must not again: small, and written for it."""

MAX_BYTES = 1_000_000
MAX_SECONDS = 5.0
MAX_TOOLS = 200
"""As the largest catalog in use has; a millisecond and more for each is what judging them costs."""

MAX_GROWTH = 1.1
"""Of the memory after a fifth of the time, with the slack of allocators."""

SLACK = 24 * 2**20
PATIENCE = 60


# What is fed


def examples():
    """The definitions on the pages of the rules."""
    blocks = [each for rule in registry.RULES for each in re.findall(r"```json[^\n]*\n(.*?)```", rule.page, re.DOTALL)]
    found = [json.loads(each) for each in blocks]
    return [
        {"tools": each} if isinstance(each, list) else each if "tools" in each else {"tools": [each]} for each in found
    ]


def captured():
    """Catalogs of real servers, where the machine has any."""
    folder = Path(os.environ.get("TDQS_SHARED", "/nowhere"), "data", "catalogs")
    return [json.loads(each.read_bytes()) for each in sorted(folder.glob("*.json"))]


KEYWORDS = """
    $ref $defs definitions $schema $id $anchor $dynamicRef type enum const default examples title description format pattern
    properties patternProperties additionalProperties propertyNames required dependentRequired dependentSchemas items
    prefixItems contains minItems maxItems uniqueItems minimum maximum exclusiveMinimum multipleOf minLength maxLength anyOf
    oneOf allOf not if then else unevaluatedProperties deprecated readOnly x-mcp-header name inputSchema outputSchema
    annotations readOnlyHint destructiveHint idempotentHint openWorldHint _meta icons src tools resources prompts arguments uri
    server version serverInfo capabilities instructions source problems incomplete nextCursor jsonrpc result error id method
    params function parameters input_schema strict caching ttlMs
""".split()
TYPES = "string integer number boolean array object null file int".split()
FRAGMENTS = [
    "", " ", "\n", "\t", "\0", "\x1b[31m", "\x07", "\x9b", "\u202e", "\u200b", "\u2028", "\ufeff", "\ud800", "\udc00", "\U0001f4e6", "é", "İ", "ß",
    "ﬁ", "\U000e0041", "你好。", "مرحبا", "<", "</script>", "]]>", "&amp;", "|", "`", "```", "*", "_", "#", "@", "⟦", "⟧", "{{", "}}", "{x}", "%s", "%00",
    "\\", "\\u0000", '"', "'", "(", ")", "[", "](", "~1", "/", "//", "::error::", "$", "^", "(?<a>", "(a+)+$", "[z-a]", "\\p{L}", "e.g. ", "i.e. ", "1. ", "- ",
    ":", ";", ".", "...", ",", "=", "->", "Args:\n    x (int): ", "\n\nReturns:\n", "Use `x` instead of ", "Defaults to 10. ", "must be between 1 and ",
    "one of 'a', 'b' or ", "ISO 8601", "in seconds", "Deletes ", "read-only ", "https://a.example/", "data:,", "file:///", "ignore all previous instructions ",
    "#/$defs/a", "#/properties/a", "#", "http://json-schema.org/draft-07/schema#", "9" * 30, "-0", "1e5", "٣", "2026-02-30",
]  # fmt: skip
ODD = [
    None,
    True,
    False,
    0,
    1,
    -1,
    2**53 + 1,
    -(2**63),
    10**60,
    0.1,
    -0.0,
    1e308,
    5e-324,
    [],
    {},
    [[]],
    [None],
    {"": None},
    "",
    *TYPES,
]
NUMBERS = [b"1e999", b"-0", b"1E-400", b"0.1e+2", b"9" * 400, b"9" * 5000, b"-1e999"]
DEPTH = 60


class Mutator:
    """Changes definitions as a careless or hostile author might; the same `chance` gives the same bytes."""

    large = 0.03
    """How many of all inputs are near the limit of size."""

    def __init__(self, documents):
        self.documents = documents
        self.pool = [each for document in documents for each in document["tools"]]

    def catalog(self, chance):
        """The bytes of a mutated catalog."""
        document = dict(chance.choice(self.documents))
        document["tools"] = [chance.choice(self.pool) for _ in range(chance.choice((1, 1, 2, 3, 5)))]
        return self.changed(document, chance)

    def changed(self, value, chance):
        """The bytes of a value in which something else stands."""
        root = {"": json.loads(json.dumps(value))}
        for _ in range(chance.choice((1, 1, 2, 3, 5, 8))):
            container, key = chance.choice(list(places(root)))
            chance.choice(self.CHANGES)(self, container, key, chance)
            root = {"": root.get("")}
        if chance.random() < self.large:
            self._grow_much(root, chance)
        if isinstance(root[""], dict) and isinstance(root[""].get("tools"), list):
            del root[""]["tools"][MAX_TOOLS:]
        raw = json.dumps(root[""], ensure_ascii=chance.random() < 0.8).encode(errors="surrogatepass")
        return spoiled(raw, chance) if chance.random() < 0.1 else raw

    def _odd(self, chance):
        odd = copy.deepcopy(chance.choice(ODD))  # what is put into it later must not stay there
        return chance.choice((odd, chance.choice(FRAGMENTS), chance.choice(KEYWORDS), self._part(chance)))

    def _part(self, chance):
        container, key = chance.choice(list(places([chance.choice(self.pool)])))
        return json.loads(json.dumps(container[key]))

    def _replace(self, container, key, chance):
        container[key] = self._odd(chance)

    def _delete(self, container, key, chance):
        del container[key]

    def _add(self, container, key, chance):
        inner = container[key]
        if isinstance(inner, dict):
            inner[chance.choice((*KEYWORDS, *FRAGMENTS))] = self._odd(chance)
        elif isinstance(inner, list):
            inner.insert(chance.randint(0, len(inner)), self._odd(chance))
        else:
            self._text(container, key, chance)

    def _rename(self, container, key, chance):
        if isinstance(container, dict):
            container[chance.choice((*KEYWORDS, *FRAGMENTS))] = container.pop(key)

    def _wrap(self, container, key, chance):
        for _ in range(chance.choice((1, 1, 1, 2, DEPTH // 2))):
            inner = container[key]
            container[key] = [inner] if chance.random() < 0.5 else {chance.choice(KEYWORDS): inner}

    def _refer(self, container, key, chance):
        target = "/".join(chance.choice((*KEYWORDS[:30], "0", "a")) for _ in range(chance.randint(0, 3)))
        container[key] = {"$ref": f"#/{target}"}

    def _text(self, container, key, chance):
        old = container[key] if isinstance(container[key], str) else ""
        place, piece = chance.randint(0, len(old)), chance.choice(FRAGMENTS)
        words = old.split(" ")
        container[key] = chance.choice(
            (
                old[:place] + piece + old[place:],
                old[:place],
                old[place:],
                old.swapcase(),
                " ".join(chance.sample(words, len(words))),
                f"{old} {self._part(chance)}",
                re.sub(r"\w+", lambda word: piece if chance.random() < 0.1 else word[0], old),
            )
        )

    def _grow(self, container, key, chance, times=None):
        inner = container[key]
        times = times or min(chance.choice((2, 3, 10, 40)), MAX_BYTES // 10 // len(json.dumps(inner)) + 1)
        if isinstance(inner, str):
            container[key] = (inner or "a") * times
        elif isinstance(inner, list):
            container[key] = inner * times
        elif isinstance(inner, dict):
            base = list(inner.items())
            container[key] = {**inner, **{f"{name}{n}": child for n in range(times) for name, child in base}}
        container[key] = json.loads(json.dumps(container[key]))  # no part twice: what grows next would grow everywhere

    def _grow_much(self, root, chance):
        container, key = chance.choice(list(places(root)))
        if chance.random() < 0.5:
            self._text(container, key, chance)
        size = len(json.dumps(container[key]))
        room = max(0, MAX_BYTES - len(json.dumps(root)) - 10_000)
        self._grow(container, key, chance, max(2, int(room ** chance.uniform(0.7, 0.97)) // (size + 12)))

    CHANGES = (_replace, _delete, _add, _add, _rename, _wrap, _refer, _text, _text, _text, _grow)


def places(value):
    """Every place of a JSON value: what it stands in, and its key there."""
    stack = [value]
    while stack:
        each = stack.pop()
        for key, child in each.items() if isinstance(each, dict) else enumerate(each):
            yield each, key
            if isinstance(child, (dict, list)):
                stack.append(child)


def spoiled(raw, chance):
    """The bytes with something in them that JSON may not have, or that its readers take differently."""
    place, other = sorted(chance.choices(range(len(raw) + 1), k=2))
    numbers = [each.span() for each in re.finditer(rb"(?<=[ \[:])-?\d+", raw)]
    start, end = chance.choice(numbers or [(place, place)])
    return chance.choice(
        (
            raw[:place],
            raw[:place] + bytes([chance.randrange(256)]) + raw[place + 1 :],
            raw[:place] + raw[other:],
            raw[:other] + raw[place:],
            raw[:start] + chance.choice(NUMBERS) + raw[end:],
            b"\xef\xbb\xbf" + raw,
            raw.decode(errors="surrogatepass").encode("utf-16", errors="surrogatepass"),
        )
    )


# What it is fed to


class Commands:
    """The command line in this process, with the mutated catalog as FILE, an earlier one as OLD, and places to write to."""

    is_command = True

    def __init__(self, lines, folder, mutator):
        self.lines, self.folder, self.mutator = lines, folder, mutator
        self.process = psutil.Process()
        old = folder / "old.json"
        old.write_text(json.dumps({"tools": [tool("get_order", "Gets one order by its id."), *mutator.pool[:3]]}))
        # click remembers each stream that it has written to, with what it holds: these two stay.
        self.shown, self.said = (io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace") for _ in range(2))

    def mutant(self, chance):
        return self.mutator.catalog(chance)

    def seconds(self):
        return process_time()

    def run(self, content, line):
        """Raises what breaks, or AssertionError for an output that nobody can read."""
        (self.folder / "new.json").write_bytes(content)
        for made in ("copy.json", "better.json", "shown"):
            (self.folder / made).unlink(missing_ok=True)
        names = {"FILE": "new.json", "OLD": "old.json", "COPY": "copy.json", "BETTER": "better.json"}
        words = [str(self.folder / names[word]) if word in names else word for word in shlex.split(line)]
        shown = self.folder / "shown"  # click keeps whatever a captured standard output has had
        to_file = [] if "-o" in words else ["-o", str(shown)]
        code, lines = self._called([*words, *to_file])
        said = "".join(each for each in lines if not each.startswith("INFO: Instrumenting"))  # atheris, where it runs
        assert code in (0, 1, 2), code
        assert code != 2 or said.startswith("error: "), said
        assert said.isprintable() or said.replace("\n", "").isprintable(), ascii(said)
        if shown.exists():
            check(words, shown.read_text(encoding="utf-8"))
        for made in ("copy.json", "better.json"):
            with suppress(FileNotFoundError):
                json.loads((self.folder / made).read_bytes())

    def _called(self, words):
        """The exit code of a command, and the lines that it says on standard error."""
        for stream in (self.shown, self.said):
            stream.seek(0)
            stream.truncate()
        with (
            patch.dict(os.environ, TDQS_CACHE="off"),
            redirect_stdout(self.shown),
            redirect_stderr(self.said),
            pytest.raises(SystemExit) as ended,
        ):
            cli(words, prog_name="tdqs-mcp")
        self.said.flush()
        return ended.value.code, self.said.buffer.getvalue().decode().splitlines(keepends=True)


VALIDATORS = {name: jsonschema_rs.validator_for(schema) for name, schema in SCHEMAS.items()}


def check(words, shown):
    """That a report can be read by what reads it, and that a definition does not write to the terminal."""
    form = words[words.index("--format") + 1] if "--format" in words else "text"
    if form == "json":
        value, is_other = json.loads(shown), not {"--rubric", "--prompts"}.isdisjoint(words)
        if words[0] in VALIDATORS and not is_other:
            VALIDATORS[words[0]].validate(value)
    elif form in ("sarif", "code-scanning"):
        assert json.loads(shown)["version"] == "2.1.0"
    elif form in ("junit", "badge"):
        ET.fromstring(shown)  # noqa: S314  # our own output
    if form not in ("json", "sarif", "code-scanning"):
        assert not set(shown) & set("\0\x07\x1b\x9b\u202e"), form


REPORTS = ("text", "json", "markdown", "html")
LINES = {
    "load": [
        "capture FILE -o COPY",
        *(f"score --prompts FILE --format {form}" for form in REPORTS[:3]),
        *(f"portability FILE --format {form}" for form in REPORTS[:3]),
    ],
    "lint": [
        *(f"lint FILE --format {form}" for form in ("text", "markdown", "junit", "github", "code-scanning")),
        *(f"lint FILE --profile strict --format {form}" for form in ("json", "sarif")),
        "lint FILE --profile strict --show all",
        "lint FILE --profile strict --show source",
        "lint FILE --show statistics",
        "lint FILE --fix",
        "score --rubric playground FILE --format json",
    ],
    "score": [
        *(f"score FILE --format {form}" for form in (*REPORTS, "badge")),
        *(
            f"score FILE --rubric {rubric} --format {form}"
            for rubric in ("smells", "bundles")
            for form in ("text", "json")
        ),
    ],
    "rewrite": [
        *(f"rewrite FILE --format {form}" for form in REPORTS),
        *(f"rewrite FILE --format {form}" for form in REPORTS[:2]),
        "rewrite FILE --write BETTER",
        *(f"rewrite --target A FILE --target A --format {form}" for form in REPORTS),
    ],
    "compare": [
        *(f"compare {pair} --format {form}" for pair in ("OLD FILE", "FILE OLD") for form in REPORTS),
    ],
}

D, S = (
    tool("get_order", "Gets one order.", {"type": "object", "properties": {"id": {"type": "string"}}}),
    tool("find_orders"),
)
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "fuzz", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
CALLS = {
    "score_tool_definition": {"definition": D, "siblings": [S]},
    "score_server": {"catalog": [D, S], "detail": "full", "limit": 5},
    "lint_descriptions": {"catalog": [D, S], "profile": "strict", "explain": "TDQ101"},
    "suggest_rewrite": {
        "catalog": [D, S],
        "tool": "get_order",
        "detail": "full",
        "material": {"answers": {}},
        "draft": {"get_order": {"description": "Gets."}},
        "target": "A",
    },
    "compare_definitions": {"old": [D], "new": [D, S]},
    "judge_definitions": {
        "catalog": [D],
        "answers": [{"name": "get_order", "inputHash": "0" * 16, "answer": {"scores": {}}}],
    },
}
OTHERS = {
    "initialize": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "f", "version": "1"}},
    "server/discover": {},
    "tools/list": {"cursor": None},
    "prompts/list": {},
    "prompts/get": {"name": "fix_this_tool", "arguments": {"tool": "get_order"}},
    "resources/list": {},
    "resources/templates/list": {},
    "resources/read": {"uri": "tdqs://rules/TDQ101"},
    "completion/complete": {
        "ref": {"type": "ref/resource", "uri": "tdqs://rules/{rule_id}"},
        "argument": {"name": "rule_id", "value": "T"},
    },
    "logging/setLevel": {"level": "info"},
    "ping": {},
}


class Messages:
    """What both transports of our server share: mutated requests, and that every one is answered without an internal error."""

    is_command = False
    lines = ("",)

    def __init__(self, mutator):
        self.mutator, self.numbers = mutator, count(1)

    def mutant(self, chance):
        method, params = chance.choice(
            [
                *OTHERS.items(),
                *(("tools/call", {"name": name, "arguments": CALLS[name]}) for name in CALLS for _ in (1, 2, 3)),
            ]
        )
        if chance.random() < 0.5:
            params = params | {"_meta": META | {"progressToken": 1}}
        if method == "tools/call" and chance.random() < 0.7:  # a good message about a bad definition
            catalog = self.mutator.catalog(chance)
            with suppress(ValueError):
                given = json.loads(catalog)
                tools = given["tools"] if isinstance(given, dict) and isinstance(given.get("tools"), list) else [given]
                arguments = {
                    name: chance.choice(tools)
                    if name == "definition" and tools
                    else tools
                    if value in ([D, S], [D])
                    else value
                    for name, value in params["arguments"].items()
                }
                message = {
                    "jsonrpc": "2.0",
                    "id": f"fuzz-{next(self.numbers)}",
                    "method": method,
                    "params": {**params, "arguments": arguments},
                }
                return json.dumps(message).encode()
        message = {"jsonrpc": "2.0", "id": f"fuzz-{next(self.numbers)}", "method": method, "params": params}
        return self.mutator.changed(message, chance).replace(b"\n", b" ")

    def seconds(self):
        times = self.process.cpu_times()
        return times.user + times.system


def expected(message):
    """The id under which a message must be answered; None for what is no request."""
    with suppress(ValueError, RecursionError):
        value = json.loads(message.decode())
        if isinstance(value, dict) and value.get("jsonrpc") == "2.0" and isinstance(value.get("method"), str):
            found = value.get("id")
            if isinstance(found, str) and is_well_formed(found) and isinstance(value.get("params", {}), dict):
                return found
    return None


def modern_headers(message):
    """What a client of revision 2026-07-28 repeats of its message."""
    with suppress(ValueError, RecursionError, LookupError, TypeError, AttributeError):
        value = json.loads(message.decode())
        found = {"mcp-method": value["method"], "mcp-name": value["params"].get("name", "")}
        if "_meta" in value["params"] and all(re.fullmatch(r"[!-~]{0,200}", each) for each in found.values()):
            return {"mcp-protocol-version": "2026-07-28", **found}
    return {}


class Stdio(Messages):
    """A server over stdio. After each message it must answer a ping, and the message where it is a request."""

    def __init__(self, folder, mutator):
        super().__init__(mutator)
        self.log = (folder / "stderr").open("w+b")
        self.wire = Wire(stderr=self.log)
        self.process = psutil.Process(self.wire.process.pid)

    def run(self, content, line):
        wire, identity = self.wire, expected(content)
        wire.write(content)
        assert wire.ask("ping")["result"] == {}
        if identity:
            assert wire.arrived[identity].wait(PATIENCE), "no answer"
        answers = list(wire.answers.values())
        for each in (wire.answers, wire.arrived, wire.notes):
            each.clear()
        assert not [each for each in answers if each.get("error", {}).get("code") == -32603], answers
        self.log.seek(0)
        said = self.log.read()
        self.log.seek(0)
        self.log.truncate()
        assert b"Traceback" not in said, said.decode()

    def close(self):
        self.wire.process.stdin.close()
        assert self.wire.process.wait(10) == 0
        self.wire.reader.join()
        self.wire.process.stdout.close()
        self.log.close()


class Http(Messages):
    """A server over HTTP: no answer may be a fault of the server."""

    def __init__(self, folder, mutator):
        super().__init__(mutator)
        self.serving = serving(TDQS_CACHE="off")
        self.url, self.written = self.serving.__enter__()
        [self.process] = [each for each in psutil.Process().children() if "--http" in each.cmdline()]
        self.client = httpx2.Client(
            timeout=PATIENCE,
            headers={"accept": "application/json, text/event-stream", "content-type": "application/json"},
        )
        hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": OTHERS["initialize"]}
        self.session = self.client.post(self.url, json=hello).headers["mcp-session-id"]

    def run(self, content, line):
        headers = modern_headers(content) or {"mcp-session-id": self.session}
        answer = self.client.post(self.url, content=content, headers=headers)
        assert answer.status_code < 500, answer.text
        assert "-32603" not in answer.text, answer.text
        opened = answer.headers.get("mcp-session-id", self.session)
        if opened != self.session:
            self.client.delete(self.url, headers={"mcp-session-id": opened})

    def close(self):
        self.client.close()
        self.serving.__exit__(None, None, None)
        assert "Traceback" not in self.written[0], self.written[0]


@contextmanager
def opened(target, folder, documents=None):
    """A target by its name."""
    mutator = Mutator(documents or examples() + captured())
    made = (
        Commands(LINES[target], folder, mutator)
        if target in LINES
        else {"stdio": Stdio, "http": Http}[target](folder, mutator)
    )
    try:
        yield made
    finally:
        if not made.is_command:
            made.close()


TARGETS = (*LINES, "stdio", "http")


# What breaks


@dataclass
class Outcome:
    """What a run has found."""

    inputs: int = 0
    slowest: float = 0.0
    memory: list[int] = field(default_factory=list)
    """Resident bytes, ten times in the run."""

    faults: dict[str, str] = field(default_factory=dict)
    """What broke, by the place where it did; the text has the seed, the command and the file with the input."""


def attempt(target, content, line):
    """Feeds one input; gives the seconds it took. Raises what breaks."""
    start = target.seconds()
    target.run(content, line)
    taken = target.seconds() - start
    assert taken < MAX_SECONDS or len(content) > MAX_BYTES, f"{taken:.1f} s of processor time for {len(content)} bytes"
    return taken


def place_of(error):
    """Where an error was raised in our code."""
    frames = [each for each in traceback.extract_tb(error.__traceback__) if "tdqs_mcp" in each.filename]
    last = f"{Path(frames[-1].filename).name}:{frames[-1].name}" if frames else ""
    return f"{type(error).__name__} {last or re.sub(chr(92) + 'd+', 'N', str(error))[:80]}"


def fuzz(target, *, seconds, seed, kept):
    """Feeds mutants for some seconds of processor time; what breaks is kept as a file in the folder `kept`."""
    outcome, spent, samples = Outcome(), 0.0, 10
    while len(outcome.memory) < samples:
        number = outcome.inputs
        chance = random.Random(f"{seed}-{number}")
        content, line = target.mutant(chance), chance.choice(target.lines)
        try:
            taken = attempt(target, content, line)
            outcome.slowest = max(outcome.slowest, taken)
        except Exception as error:  # noqa: BLE001  # that is what is looked for
            taken, where = 0.1, place_of(error)
            if where not in outcome.faults:
                file = kept / f"{seed}-{number}.json"
                file.write_bytes(content)
                told = "".join(traceback.format_exception(error))[-1500:]
                outcome.faults[where] = f"{seed}-{number}: {line or type(target).__name__} < {file}\n{told}"
                file.with_suffix(".txt").write_text(outcome.faults[where], encoding="utf-8", errors="backslashreplace")
        outcome.inputs, spent = number + 1, spent + max(taken, 0.001)
        if spent >= seconds * (len(outcome.memory) + 1) / samples:
            outcome.memory.append(target.process.memory_info().rss)
    return outcome
