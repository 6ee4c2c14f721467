"""Patches of rewrites: they apply, the server then says what the rewrite says, and nothing else has changed."""

import ast
import inspect
import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from conftest import CI_CANNOT_RUN
from definitions import tool
from hypothesis import given, settings
from hypothesis import strategies as st

import tdqs_mcp
from tdqs_mcp.app import improving
from tdqs_mcp.code.literals import Style, style_of
from tdqs_mcp.errors import InputError
from tdqs_mcp.results.improvements import Change, Rewrite
from tdqs_mcp.sources.files import read_file
from tdqs_mcp.sources.locator import LiveOptions

MCP_SERVER = '''\
#!/usr/bin/env python
"""A shop."""

from __future__ import annotations

import functools
from typing import Annotated, Literal

from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations
from pydantic import Field

server = MCPServer("shop")
LONG = """Finds orders.

Slowly."""


def reported(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        return fn(*args, **kwargs)

    return wrapper


@server.tool()
def list_orders(customer: str, limit: Annotated[int, Field(ge=1)] = 10, text: str = Field("x", description="Text.")) -> str:
    """List orders.

    Args:
        customer: a customer
    """
    return customer


@server.tool(
    name="get_order",
    title="Order",
    description="Get order.",  # short
    annotations=ToolAnnotations(read_only_hint=True),
)
@reported
async def order(number: Annotated[int, "The number"], kind: Annotated[Literal["a", "b"], Field(description='Kind "a"')] = "a") -> str:
    return "…"


@server.tool(description=LONG)
def find_orders(
    query: Annotated[
        str,
        Field(
            min_length=1,  # never empty
        ),
    ],
    flags: list[str] | None = None,
) -> str:
    return query


@server.tool()
def undescribed(a: int) -> int:
    # adds one
    return a + 1


class Desk:
    def close(self, hour: int) -> str:
        'Close the desk.'
        return "closed"


def plain(value: str) -> str:
    r"""Match \\d+ in a value."""
    return value


server.add_tool(plain, name="match")
server.add_tool(Desk().close, name="close_desk")
'''

LOW_LEVEL = """\
from enum import Enum

from mcp import types
from mcp.server import Server
from pydantic import BaseModel, Field


class Names(str, Enum):
    PUT = "put_item"


class Item(BaseModel):
    key: str = Field(description="Key")
    value: int = 3


async def listed(ctx, params) -> types.ListToolsResult:
    return types.ListToolsResult(
        tools=[
            types.Tool(
                name=Names.PUT,
                description=(
                    "Put an "
                    "item."
                ),
                input_schema=Item.model_json_schema(),
            ),
            types.Tool(name="drop_item", description="Drop.", annotations=types.ToolAnnotations(), input_schema={
                "type": "object",
                "properties": {"key": {"type": "string"}, "mode": {"type": "string", "description": "Mode"}},
            }),
        ]
    )


server = Server("items", on_list_tools=listed)
"""

NASTY = 'Say "x", \'y\', """z""" and \'\'\'w\'\'\' for C:\\new\\table — naïve ✓ "'


def keys(path):
    return [key.replace("~1", "/") for key in path.split("/")[1:]]


def rewrites(catalog, wanted):
    """Rewrites of a catalog from new values by tool and path."""
    made = []
    for each in catalog.tools:
        definition, changes = json.loads(json.dumps(each.raw)), []
        for path, after in wanted.get(each.name, {}).items():
            *parents, key = keys(path)
            place = definition
            for parent in parents:
                place = place[parent]
            changes.append(Change(path=path, before=place.get(key), after=after, sources=("given",)))
            place[key] = after
        made.append(
            Rewrite(
                index=each.index, name=each.name, definition=definition, changes=tuple(changes), questions=(),
                before=None, after=None, tokens_before=0, tokens_after=0, findings_removed=(), findings_added=(),
            )
        )  # fmt: skip
    return made


def applied(patch, folder):
    """Both programs that people have take the patch as it is; the files are as the first one leaves them."""
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    results = []
    for command in (["patch", "-p1", "--fuzz=0", "--binary"], ["git", "apply", "--verbose", "-"]):
        for path, content in before.items():
            path.write_bytes(content)
        run = subprocess.run(command, input=patch.diff, cwd=folder, capture_output=True, check=False)
        assert run.returncode == 0, run.stdout + run.stderr
        assert b"offset" not in run.stdout + run.stderr
        results.append({path: path.read_bytes() for path in before})
    assert results[0] == results[1]


def captured(module, folder):
    """What the server says, asked in a process of its own."""
    command = [
        sys.executable,
        "-m",
        "tdqs_mcp",
        "capture",
        f"py:{module}:server",
        "--cwd",
        folder,
        "-o",
        folder / "c.json",
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    catalog = read_file(folder / "c.json")
    (folder / "c.json").unlink()
    return catalog


def left(patch):
    return [(each.tool, each.path, each.reason) for each in patch.left_out]


def cleaned(definition):
    """Without the margin that a docstring has in its source, which the SDK sends along."""
    return {**definition, "description": inspect.cleandoc(definition["description"])}


def schema(name, key="description"):
    return f"/inputSchema/properties/{name}/{key}"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.process
def test_a_patched_server_says_what_the_rewrite_says(tmp_path, newline):
    (tmp_path / "shop.py").write_bytes(MCP_SERVER.replace("\n", newline).encode())
    catalog = captured("shop", tmp_path)
    described = {each.name: each.description for each in catalog.tools}
    wanted = {
        "list_orders": {
            "/description": described["list_orders"].strip() + "\n\n    " + NASTY,
            schema("customer"): NASTY,
            schema("limit"): "At most this many.",
            schema("text"): "Text to find.",
        },
        "get_order": {
            "/title": "One order",
            "/description": NASTY,
            "/annotations": {"readOnlyHint": False, "openWorldHint": False},
            schema("number"): "Number of the order.",  # beside a bare text, which the SDK gives no meaning
            schema("kind"): 'Kind "b".',
        },
        "find_orders": {
            "/description": "Finds orders.\n\nFast.",
            schema("query"): "What to find.",
            schema("flags"): "Flags.",
        },
        "undescribed": {"/description": f"Adds one.\n\n{NASTY}", schema("a"): "A number."},
        "match": {"/description": r"Match \d+ or \w in a value.", schema("value"): "A value."},
        "close_desk": {"/description": "Close the desk.\n        Today.", schema("hour"): "Hour of the day."},
    }
    made = rewrites(catalog, wanted)
    patch, root = improving.patch_sources(tmp_path, made)
    assert (left(patch), patch.problems, root) == ([], (), tmp_path)
    applied(patch, tmp_path)
    now = captured("shop", tmp_path)
    for rewrite, each in zip(made, now.tools, strict=True):
        assert cleaned(each.raw) == cleaned(rewrite.definition)
    text = (tmp_path / "shop.py").read_bytes().decode()
    assert text.count(newline) == text.count("\n")
    assert f"    {newline}" not in text
    assert 'description="Get order."' not in text
    assert "# short" in text
    assert "# never empty" in text
    assert 'r"""Match \\\\d+ or \\\\w' in text or 'r"""Match \\d+' in text


@pytest.mark.process
def test_a_patched_low_level_server_says_what_the_rewrite_says(tmp_path):
    (tmp_path / "items.py").write_text(LOW_LEVEL)
    catalog = captured("items", tmp_path)
    wanted = {
        "put_item": {"/description": NASTY, schema("key"): "Key of the item.", schema("value"): "Its value."},
        "drop_item": {
            "/description": "Drop an item.\nFor ever.",
            "/annotations": {"destructiveHint": True},
            schema("key"): NASTY,
            schema("mode"): "How to drop it.",
            schema("mode", "enum"): ["soft", "hard"],
        },
    }
    made = rewrites(catalog, wanted)
    patch, _ = improving.patch_sources(tmp_path / "items.py", made)
    assert left(patch) == []
    applied(patch, tmp_path)
    now = captured("items", tmp_path)
    assert [each.raw for each in now.tools] == [each.definition for each in made]


@pytest.mark.parametrize(("name", "argument"), [("git", []), ("time", []), ("fetch", [])])
@pytest.mark.process
def test_a_patch_of_a_published_server_shows_in_what_it_lists(tmp_path, name, argument):
    folder = os.environ.get("TDQS_TEST_SERVERS")
    if not folder:
        pytest.skip("TDQS_TEST_SERVERS: no published servers")
    home = Path(folder, f"mcp-server-{name}")
    package = f"mcp_server_{name}"
    [source] = home.glob(f"lib/python3*/site-packages/{package}")
    shutil.copytree(source, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    locator = f"stdio:{home / 'bin' / 'python'} -m {package}"
    options = LiveOptions(cwd=str(tmp_path))
    catalog = tdqs_mcp.load(locator, options)
    wanted = {
        each.name: {"/description": f"{each.description} Again: {each.name}."}
        | {
            schema(key): f"{value.get('description', '')} A {key}."
            for key, value in each.input_schema["properties"].items()
        }
        for each in catalog.tools
    }
    made = rewrites(catalog, wanted)
    patch, root = improving.patch_sources(tmp_path / package, made)
    computed = {(each.tool, each.path) for each in patch.left_out}
    assert all("f-string" in each.reason or "computed at" in each.reason for each in patch.left_out)
    assert len(computed) == {"git": 2, "time": 3, "fetch": 0}[name]
    applied(patch, root)
    for old, each, rewrite in zip(catalog.tools, tdqs_mcp.load(locator, options).tools, made, strict=True):
        for change in rewrite.changes:
            is_left = (rewrite.name, change.path) in computed
            assert at(each.raw, change.path) == (at(old.raw, change.path) if is_left else change.after)


def at(value, path):
    for key in keys(path):
        value = value[key]
    return value


HEAD = "from fastmcp import FastMCP\nmcp = FastMCP('x')\n"


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("@mcp.tool\ndef run(a):\n    f'Run {mcp}.'\n", "its function has no docstring, so its words come from elsewhere"),
        ("@mcp.tool(description=f'Run{\".\"}')\ndef run(a): ...\n", "its text is an f-string"),
        ("@mcp.tool(description='Run' + input())\ndef run(a): ...\n", "it is computed at s.py:3"),
        ("T = 'Run.'\n@mcp.tool(description=T)\ndef run(a): print(T)\n", "its text has a name that may be used elsewhere"),
        ("@mcp.tool\ndef run(a):\n    'Walk.'\n", "the source says something else than the server; is it the same version?"),
        ("@mcp.tool(description=(\n  'Run'  # why\n  '.'))\ndef run(a): ...\n", "a comment stands between its pieces"),
        ("@mcp.tool\ndef run(a):\n    'Run.'\nmcp.add_tool(run, name='walk')\n", "its words serve several tools"),
        ("@mcp.tool\ndef run(a):\n    'Run.'\n@mcp.tool(name='run')\ndef ran(a):\n    'Run.'\n", "it is declared more than once: s.py:4, s.py:7"),
        ("@mcp.tool(name='walk')\ndef run(a):\n    'Run.'\n", "no function and no Tool(…) declares it where the source was searched"),
        ("mcp.add_tool(make('run'))\n", "no function and no Tool(…) declares it where the source was searched"),
    ],
)  # fmt: skip
def test_what_is_not_certain_is_left_to_the_author(write, catalog, source, reason):
    made = rewrites(catalog(tool("run", "Run.")), {"run": {"/description": "Run it."}})
    patch, _ = improving.patch_sources(write("s.py", HEAD + source), made)
    assert (patch.diff, patch.count, left(patch)) == (b"", 0, [("run", "/description", reason)])


HINT = "/annotations/destructiveHint"


@pytest.mark.parametrize(
    ("source", "path", "reason"),
    [
        ("@mcp.tool(annotations=HINTS)\ndef run(a):\n    'Run.'\n", HINT, "its annotations= is computed"),
        ("ToolAnnotations = 3\n@mcp.tool\ndef run(a):\n    'Run.'\n", HINT, "ToolAnnotations cannot be imported there without a risk"),
        ("if TYPE_CHECKING:\n    from mcp.types import ToolAnnotations\n@mcp.tool\ndef run(a):\n    'Run.'\n", HINT, "ToolAnnotations cannot be imported there without a risk"),
        ("if TYPE_CHECKING:\n    from pydantic import Field\n@mcp.tool\ndef run(a: int):\n    'Run.'\n", schema("a"), "Field cannot be imported there without a risk"),
        ("if TYPE_CHECKING:\n    import typing\n    from pydantic import Field as F, Field\n@mcp.tool\ndef run(a: int):\n    'Run.'\n", schema("a"), "Field cannot be imported there without a risk"),
        ("@mcp.tool(annotations=Hints(**more))\ndef run(a):\n    'Run.'\n", HINT, "its call takes keywords from elsewhere"),
        ("@mcp.tool(annotations=Hints(destructiveHint=not safe))\ndef run(a):\n    'Run.'\n", HINT, "its value is computed"),
        ("@mcp.tool\ndef run(a: 'int'):\n    'Run.'\n", schema("a"), "its type annotation is a text"),
        ("@mcp.tool\ndef run(a):\n    'Run.'\n", schema("a"), "its parameter has no type annotation to stand beside"),
        ("@mcp.tool\ndef run(b: int):\n    'Run.'\n", schema("a"), "no parameter has this name"),
        ("@mcp.tool\ndef run(a: int):\n    'Run.'\n", schema("a", "type"), "only the type of its parameter can say this"),
        ("Tool(name='run', description='Run.', inputSchema=make())\n", schema("a"), "its input schema is computed"),
        ("Tool(name='run', description='Run.', inputSchema={'properties': given})\n", schema("a"), "its input schema is computed"),
        ("Tool(name='run', description='Run.', inputSchema={})\n", schema("a"), "its input schema has no place for it"),
        ("@mcp.tool\ndef run(a): ...\n", "/description", "its function stands on one line"),
        ("@mcp.tool\ndef run(a):\n    'Run.'\n", "/title", "its declaration has no title="),
        ("@mcp.tool\ndef run(a):\n    'Run.'\n", "/outputSchema", "no keyword of a declaration says this"),
    ],
)  # fmt: skip
def test_what_a_declaration_cannot_take_is_left_to_the_author(write, catalog, source, path, reason):
    definition = {"name": "run", "inputSchema": {"properties": {"a": {}}}, "annotations": {}}
    patch, _ = improving.patch_sources(
        write("s.py", HEAD + source), rewrites(catalog(definition), {"run": {path: "X."}})
    )
    assert (patch.diff, patch.count, left(patch)) == (b"", 0, [("run", path, reason)])


@pytest.mark.process
def test_a_parameter_gets_a_field_only_where_its_names_are_free(write, catalog):
    given = tool(
        "run",
        "Run.",
        {"type": "object", "properties": {"a": {"type": "string"}, "b": {}, "c": {}, "d": {"description": "D"}}},
    )
    wanted = {"run": {schema(name): "Say." for name in "abcd"} | {schema("a", "enum"): ["x"], "/title": "Run"}}
    code = "@mcp.tool\ndef run(a: str, b, d: str = 'd'):\n    'Run.'\n"
    patch, _ = improving.patch_sources(write("s.py", f"{HEAD}Field = 3\n{code}"), rewrites(catalog(given), wanted))
    assert left(patch) == [
        ("run", schema("a"), "Field cannot be imported there without a risk"),
        ("run", schema("b"), "its parameter has no type annotation to stand beside"),
        ("run", schema("c"), "no parameter has this name"),
        ("run", schema("d"), "its words come from elsewhere"),
        ("run", schema("a", "enum"), "only the type of its parameter can say this"),
        ("run", "/title", "its declaration has no title="),
    ]
    qualified = f"import typing as t\nimport pydantic\n{HEAD}{code}"
    patch, root = improving.patch_sources(
        write("s.py", qualified), rewrites(catalog(given), {"run": {schema("a"): "Say."}})
    )
    applied(patch, root)
    assert 't.Annotated[str, pydantic.Field(description="Say.")]' in (root / "s.py").read_text()


def test_a_folder_is_searched_within_bounds_and_without_what_is_not_the_server_s(tmp_path, catalog):
    code = HEAD + "@mcp.tool\ndef run(a):\n    'Run.'\n"
    for name in ("venv", ".git", "node_modules/x", "pkg"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "copied.py").write_text(code)
    (tmp_path / "venv" / "pyvenv.cfg").touch()
    (tmp_path / "linked.py").symlink_to(tmp_path / "pkg" / "copied.py")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "huge.py").write_bytes(b"#" * (2**22 + 1))
    for name, content in {
        "bad.py": b"def",
        "nul.py": b"x\0",
        "odd.py": b"# coding: nope\n",
        "latin.py": b"\xff",
        "deep.py": b"(" * 5000,
    }.items():
        (tmp_path / name).write_bytes(content)
    patch, root = improving.patch_sources(
        tmp_path, rewrites(catalog(tool("run", "Run.")), {"run": {"/description": "Run it."}})
    )
    assert (patch.count, patch.left_out, root) == (1, (), tmp_path)
    assert b"+++ b/pkg/copied.py\n" in patch.diff
    assert len(patch.problems) == 6
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="has no Python, JavaScript or TypeScript file"):
        improving.patch_sources(tmp_path / "empty", [])
    with pytest.raises(InputError, match="there is no file or folder"):
        improving.patch_sources(tmp_path / "nowhere", [])


def test_a_file_that_nests_too_deep_is_named(write, catalog):
    made = rewrites(catalog(tool("run", "Run.")), {"run": {"/description": "Run it."}})
    with pytest.raises(InputError, match=r"s\.py: not read: it nests too deep"):
        improving.patch_sources(write("s.py", "x = " + "1 + " * 20_000 + "1\n"), made)


@pytest.mark.process
def test_odd_characters_around_a_change_stay(write, catalog):
    made = rewrites(catalog(tool("run", "Run.")), {"run": {"/description": "Run it."}})
    code = "x = 1\n\x0cy = 2\n" + HEAD + "@mcp.tool\ndef run(a):\n    'Run.'\n"
    patch, root = improving.patch_sources(write("s.py", code), made)
    applied(patch, root)
    assert (root / "s.py").read_text() == code.replace("Run.", "Run it.")


@pytest.mark.parametrize(
    ("given", "patched"),
    [
        ("Hints()", "Hints(destructiveHint=True)"),
        ("Hints(title='x', )", "Hints(title='x', destructiveHint=True)"),
        ("Hints(\n    title='x'  # why\n)", "Hints(\n    title='x',  # why\n    destructiveHint=True,\n)"),
        ("{\n    'title': 'x',  # why\n    }", "{\n    'title': 'x',  # why\n    \"destructiveHint\": True,\n    }"),
        ("{'title': 'x'}", "{'title': 'x', \"destructiveHint\": True}"),
        ("Hints(read_only_hint=False)", "Hints(read_only_hint=False, destructive_hint=True)"),
    ],
)
@pytest.mark.process
def test_a_new_hint_stands_behind_the_last_one(write, catalog, given, patched):
    code = f"{HEAD}@mcp.tool(annotations={given})\ndef run(a):\n    'Run.'\n"
    made = rewrites(catalog(tool("run", "Run.", annotations={})), {"run": {"/annotations/destructiveHint": True}})
    patch, root = improving.patch_sources(write("s.py", code), made)
    applied(patch, root)
    assert (root / "s.py").read_text() == code.replace(given, patched)


@pytest.mark.process
def test_files_of_a_server_are_read_together(tmp_path, catalog):
    (tmp_path / "texts.py").write_text("RUN = 'Run.'\n")
    (tmp_path / "work.py").write_text("def run(a: int):\n\treturn a\n")
    (tmp_path / "server.py").write_text(
        HEAD + "from texts import RUN\nfrom work import run\nmcp.add_tool(run, description=RUN)\n"
    )
    given = tool("run", "Run.", {"type": "object", "properties": {"a": {"type": "integer"}}})
    wanted = {"run": {"/description": "Run\tit.", schema("a"): "How far."}}
    patch, _ = improving.patch_sources(tmp_path, rewrites(catalog(given), wanted))
    assert left(patch) == [("run", schema("a"), "Annotated cannot be imported there without a risk")]
    applied(patch, tmp_path)
    assert (tmp_path / "texts.py").read_text() == "RUN = 'Run\\tit.'\n"


@pytest.mark.parametrize("quote", ['"', "'", '"""', "'''", 'r"', 'r"""', "R'''"])
def test_a_literal_has_exactly_the_value_it_is_for(quote):
    style = style_of(Path("s.py"), "", "utf-8")
    like = f"{quote}Run.{quote.lstrip('rR')}"
    texts = ["".join(parts) for length in range(6) for parts in product("\\\"'a", repeat=length)]
    assert [text for text in texts if ast.literal_eval(style.text(text, like)) != text] == []


@settings(max_examples=60)
@given(
    st.text(max_size=40).filter(str.strip),
    st.sampled_from(['"', "'", '"""', "'''", 'r"', 'r"""', "R'''", "u'"]),
    st.sampled_from(["utf-8", "latin-1", "ascii"]),
)
@pytest.mark.process
def test_any_text_stands_in_any_kind_of_literal_and_the_rest_of_the_file_stays(text, quote, encoding):
    code = f"# coding: {encoding}\n@mcp.tool(description={quote}Run.{quote.lstrip('rRu')})  # run\ndef run(a): ..."
    made = rewrites(tdqs_mcp.read([tool("run", "Run.")]), {"run": {"/description": text}})
    with TemporaryDirectory() as folder:
        file = Path(folder, "s.py")
        file.write_bytes(code.encode(encoding))
        patch, _ = improving.patch_sources(file, made)
        applied(patch, Path(folder))
        tree = ast.parse(file.read_bytes())
    value = tree.body[0].decorator_list[0].keywords[0].value
    assert ast.literal_eval(value) == text
    value.value = "Run."
    assert ast.unparse(tree) == ast.unparse(ast.parse(code))


@pytest.mark.parametrize(
    "content",
    [
        lambda tools: json.dumps({"tools": tools}),
        lambda tools: json.dumps({"tools": tools}, indent=2) + "\n",
        lambda tools: json.dumps({"tools": tools}, indent="\t").replace("\n", "\r\n"),
        lambda tools: json.dumps(tools, separators=(",", ":")) + "\n",
        lambda tools: json.dumps({"result": {"tools": tools}, "jsonrpc": "2.0", "id": 1}, indent=4, ensure_ascii=False),
        lambda tools: "\ufeff" + json.dumps([{"tools": tools[:1]}, {"tools": tools[1:]}], indent=1),
        lambda tools: json.dumps([{"type": "function", "function": {"parameters": each.pop("inputSchema"), **each}} for each in tools], indent=2),
    ],
)  # fmt: skip
@pytest.mark.process
def test_a_patched_file_holds_the_rewrites_and_keeps_its_layout(write, content):
    tools = [
        tool("run", "Run ✓.", {"type": "object", "properties": {"a/b": {"type": "string"}, "c": {}}}),
        tool("walk", "Walk.", annotations={"title": "Walk"}),
        tool("rest", "Rest."),
    ]
    file = write("some tools.json", content(json.loads(json.dumps(tools))))
    catalog, before = read_file(file), file.read_bytes()
    wanted = {
        "run": {"/description": NASTY + "\u202e", schema("a~1b"): "A\nB.", schema("c"): "C.", schema("c", "enum"): [1, "é"], "/title": "Run"},
        "walk": {"/annotations": {"title": "Walk", "readOnlyHint": True}, "/title": "Walk"},
    }  # fmt: skip
    made = rewrites(catalog, wanted)
    patch, root = improving.patch_file(file, made)
    assert (patch.count, left(patch), root) == (7, [], file.parent)
    applied(patch, root)
    assert [each.raw for each in read_file(file).tools] == [each.definition for each in made]
    after = file.read_bytes()
    assert "\u202e".encode() not in after
    assert (after[:4], after[-4:], b"\r" in after) == (before[:4], before[-4:], b"\r" in before)
    assert (b"\n" in after.strip()) == (b"\n" in before.strip())


@pytest.mark.process
def test_a_definition_with_a_key_twice_is_left_to_the_author_and_the_others_are_patched(write):
    text = json.dumps([tool("run", "Run."), tool("walk", "Walk.", {"properties": {"a": {"type": "string"}}})], indent=1)
    file = write(
        "tools.json", text.replace('"description": "Walk."', '"description": "Crawl.",\n  "description": "Walk."')
    )
    wanted = {"run": {"/description": "Run it."}, "walk": {"/description": "Walk it.", schema("a"): "A."}}
    patch, root = improving.patch_file(file, rewrites(read_file(file), wanted))
    assert [each[0] for each in left(patch)] == ["walk", "walk"]
    assert all("a key stands twice" in each[2] for each in left(patch))
    applied(patch, root)
    assert [each.description for each in read_file(file).tools] == ["Run it.", "Walk."]


def test_half_a_character_is_written_into_no_source(write, catalog):
    made = rewrites(catalog(tool("run", "Run.")), {"run": {"/description": "Run \ud83d."}})
    patch, _ = improving.patch_sources(write("s.py", f"{HEAD}@mcp.tool\ndef run(a):\n    'Run.'\n"), made)
    [(_, _, reason)] = left(patch)
    assert (patch.count, "half a character" in reason) == (0, True)


@pytest.mark.process
def test_every_real_catalog_takes_its_patch(catalog_files, tmp_path):
    for path in catalog_files[::6]:
        file = tmp_path / path.name
        shutil.copy(path, file)
        catalog = read_file(file)
        wanted = {each.name: {"/description": f"{each.description} Again."} for each in catalog.tools[::3]}
        made = rewrites(catalog, wanted)
        patch, root = improving.patch_file(file, made)
        applied(patch, root)
        assert [each.raw for each in read_file(file).tools] == [each.definition for each in made]
        file.unlink()


@pytest.mark.parametrize("suffix", [".patch", ".diff"])
@pytest.mark.process
def test_the_command_writes_a_patch_and_says_how_to_apply_it(command, write, tmp_path, suffix):
    once = "Lists the open orders of one customer."
    tools = [tool("list_orders", f"{once} {once}"), tool("search_orders", "Searches all orders.")]
    file = write("shop.json", tools)
    run = command("rewrite", "shop.json", "--write", f"x{suffix}", cwd=tmp_path)
    assert run.stderr.decode().splitlines()[-1].endswith(f"x{suffix}. Next: git apply {tmp_path / f'x{suffix}'}")
    subprocess.run(["git", "apply", f"x{suffix}"], cwd=tmp_path, check=True)
    assert json.loads(file.read_bytes())[0]["description"] == once
    write("s.py", HEAD + f"@mcp.tool\ndef list_orders():\n    '{once} {once}'\n")
    write("shop.json", tools)
    run = command("rewrite", "shop.json", "--source", "s.py", "--write", f"x{suffix}", cwd=tmp_path)
    assert run.returncode == 0
    subprocess.run(["git", "apply", f"x{suffix}"], cwd=tmp_path, check=True)
    assert f"    '{once}'\n" in (tmp_path / "s.py").read_text()


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["-", "--write", "x.patch"], "a patch is one of a JSON file or code as LOCATOR"),
        (["http://127.0.0.1:1/mcp", "--write", "x.patch"], "a patch is one of a JSON file or code as LOCATOR"),
        (["s.json", "--source", "empty"], "has no Python, JavaScript or TypeScript file"),
        (["s.json", "--source", "nowhere", "--write", "x.patch"], "does not exist"),
        (["s.json", "--source", "empty", "--write", "x.patch"], "has no Python, JavaScript or TypeScript file"),
        (["boats.json", "--write", "no/x.patch"], "cannot be written"),
    ],
)
def test_a_patch_of_nothing_that_could_be_patched_exits_2(command, write, tmp_path, args, said):
    write("s.json", [tool("run", "Run.")])
    write("s.py", HEAD)
    boat = {"type": "object", "properties": {"boat_id": {"type": "string"}}, "required": ["boat_id"]}
    write("boats.json", [tool("list_boats", "List boats."), {**tool("drop_boat", "Drop a boat."), "inputSchema": boat}])
    (tmp_path / "empty").mkdir()
    run = command("rewrite", *args, cwd=tmp_path)
    assert run.returncode == 2
    assert said in " ".join(run.stderr.decode().split())


def test_without_a_change_there_is_no_patch_and_an_earlier_one_is_emptied(command, write, tmp_path):
    write("s.json", [tool("run", "Run.")])
    assert b"no change, so no x.patch" in command("rewrite", "s.json", "--write", "x.patch", cwd=tmp_path).stderr
    assert not (tmp_path / "x.patch").exists()
    (tmp_path / "x.patch").write_text("an earlier one")
    assert b"x.patch is empty" in command("rewrite", "s.json", "--write", "x.patch", cwd=tmp_path).stderr
    assert (tmp_path / "x.patch").read_text() == ""


ZOD_SERVER = """\
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";

const server = new McpServer({ name: "boats", version: "1.0.0" });
const TEXTS = { rent: "Rent a boat." };

server.registerTool(
  "find_boats",
  {
    description: 'Find boats.', // short
    inputSchema: { place: z.string(), pages: z.number().int().describe(`Pages`).optional() },
  },
  async ({ place }) => ({ content: [] }),
);
server.tool("rent_boat", TEXTS.rent, { id: z.string().describe("Boat") }, async ({ id }) => ({ content: [] }));
server.tool("list_harbors", {}, async () => ({ content: [] }));
"""

LISTED = """\
const TOOLS = [
  {
    name: 'sell_boat',
    description: 'Sell ' +
      'a boat.',
    inputSchema: {
      type: 'object',
      properties: {
        id: { type: 'string' },
        price: {
          type: 'number',
          description: 'Price',
        },
      },
    },
  },
];
server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: TOOLS }));
server.setRequestHandler(CallToolRequestSchema, async (request) => {
  switch (request.params.name) {
    case 'sell_boat':
      return sell(request.params.arguments);
  }
});
"""


@pytest.mark.process
def test_a_patched_script_says_what_the_rewrite_says_and_keeps_every_other_line(tmp_path):
    (tmp_path / "package.json").write_text('{"prettier": {"printWidth": 90}}')
    (tmp_path / "server.ts").write_text(ZOD_SERVER)
    (tmp_path / "list.js").write_text(LISTED)
    long = "Sell a boat, which takes it off the list for good; use rent_boat for a boat that comes back."
    wanted = {
        "find_boats": {"/description": NASTY, schema("place"): "Harbor to look in.", schema("pages"): "${n} `pages`"},
        "rent_boat": {"/description": "Rent a boat for a day.", schema("id"): "Boat's id."},
        "list_harbors": {"/description": "List harbors."},
        "sell_boat": {"/description": long, schema("id"): "Boat's id.", schema("price"): "Price in euros."},
    }
    made = rewrites(tdqs_mcp.load(str(tmp_path)), wanted)
    patch, root = improving.patch_sources(tmp_path, made)
    assert (left(patch), patch.problems, patch.count) == ([], (), 9)
    applied(patch, root)
    now = {each.name: each.raw for each in tdqs_mcp.load(str(tmp_path)).tools}
    assert now == {each.name: each.definition for each in made}
    text = (tmp_path / "server.ts").read_text()
    assert "// short" in text
    assert 'z.string().describe("Harbor to look in.")' in text
    assert 'server.tool("list_harbors", "List harbors.", {}' in text
    listed = (tmp_path / "list.js").read_text()
    assert max(map(len, listed.splitlines())) <= 90
    assert "id: { type: 'string', description: 'Boat\\'s id.' }," in listed
    assert len(set(LISTED.splitlines()) - set(listed.splitlines())) == 4


@pytest.mark.parametrize(
    ("source", "path", "reason"),
    [
        ("server.registerTool('run', { description: `Run ${x}.` }, run);", "/description", "it is computed at s.ts:1"),
        ("const T = 'Run.'; server.tool('run', T, {}, run); log(T);", "/description", "its text has a name that may be used elsewhere"),
        ("const C = { description: 'Run.' }; server.registerTool('run', C, run); log(C.description);", "/description", "its text has a name that may be used elsewhere"),
        ("server.tool('run', 'Run.' + // why\n '', {}, run);", "/description", "a comment stands between its pieces"),
        ("const S = { a: z.string() }; server.tool('run', 'Run.', S, run); server.tool('walk', 'Walk.', S, run);", schema("a"), "its words serve several tools"),
        ("server.tool('run', 'Run.', { a: z.string() }, run);", "/title", "its declaration has no title="),
        ("server.tool('run', 'Run.', { a: z.string() }, run);", schema("a", "type"), "only the type of its parameter can say this"),
    ],
)  # fmt: skip
def test_what_is_not_certain_in_a_script_is_left_to_the_author(write, catalog, source, path, reason):
    given = tool("run", "Run.", {"type": "object", "properties": {"a": {"type": "string"}}})
    patch, _ = improving.patch_sources(write("s.ts", source), rewrites(catalog(given), {"run": {path: "X."}}))
    assert (patch.diff, patch.count, left(patch)) == (b"", 0, [("run", path, reason)])


@pytest.mark.parametrize(
    ("configuration", "width"),
    [
        ({"pyproject.toml": "[tool.ruff]\nline-length = 70\n"}, 70),
        ({"ruff.toml": "line-length = 90\n"}, 90),
        ({".editorconfig": "root = true\n[*.py]\nmax_line_length = 75\n"}, 75),
        ({}, 80),
    ],
)
def test_new_words_are_wrapped_where_the_project_wraps_its_lines(tmp_path, configuration, width):
    for name, text in configuration.items():
        (tmp_path / name).write_text(text)
    code = "from typing import Annotated\nfrom pydantic import Field\n" + HEAD
    code += "@mcp.tool(description='Run.')\ndef run(a: int, b: str = 'x'):\n    return a\n@mcp.tool\ndef walk():\n    'Walk.'\n"
    (tmp_path / "s.py").write_text(code)
    words = "word " * 60 + "end."
    wanted = {"run": {"/description": words, schema("a"): words}, "walk": {"/description": f"Walk.\n\n{words}"}}
    made = rewrites(tdqs_mcp.load(str(tmp_path)), wanted)
    patch, root = improving.patch_sources(tmp_path, made)
    assert (left(patch), patch.count) == ([], 3)
    lines = patch.files["s.py"].decode().splitlines()
    assert width - 6 < max(map(len, lines)) <= width
    assert root == tmp_path


DOCUMENTED = """\
from fastmcp import FastMCP

mcp = FastMCP("boats")


@mcp.tool
def find_boats(pier: str, pages: int = 1) -> str:
    \"\"\"Find boats.

    Args:
        pier: Name of the pier,
            as painted on it
        pages (int): Pages
    Returns:
        Names.
    \"\"\"
    return pier
"""


@pytest.mark.parametrize(
    ("name", "source", "patched"),
    [
        ("s.py", "@mcp.tool\n", "@mcp.tool(annotations=ToolAnnotations(destructiveHint=True))\n"),
        ("s.py", "@mcp.tool()\n", "@mcp.tool(annotations=ToolAnnotations(destructiveHint=True))\n"),
        ("s.py", "@mcp.tool('run')\n", "@mcp.tool('run', annotations=ToolAnnotations(destructiveHint=True))\n"),
        ("s.ts", "server.tool('run', 'Run.', { a: z.string() }, run);", "server.tool('run', 'Run.', { a: z.string() }, { destructiveHint: true }, run);"),
        ("s.ts", "server.registerTool('run', { description: 'Run.' }, run);", "server.registerTool('run', { description: 'Run.',\n    annotations: { destructiveHint: true } }, run);"),
    ],
)  # fmt: skip
def test_hints_come_to_a_declaration_without_any(tmp_path, name, source, patched):
    code = (
        f"{HEAD}from mcp.types import ToolAnnotations\n{source}def run(a: int):\n    'Run.'\n"
        if name == "s.py"
        else source
    )
    (tmp_path / name).write_text(code)
    made = rewrites(tdqs_mcp.load(str(tmp_path)), {"run": {"/annotations": {"destructiveHint": True}}})
    patch, _ = improving.patch_sources(tmp_path, made)
    assert (left(patch), patch.files[name].decode()) == ([], code.replace(source, patched))


def test_a_docstring_is_patched_where_it_speaks_of_each_parameter(tmp_path):
    (tmp_path / "s.py").write_text(DOCUMENTED)
    wanted = {
        "find_boats": {
            "/description": "Find boats by pier.",
            schema("pier"): "Name of the pier.",
            schema("pages"): "Pages, at most 9.",
        }
    }
    made = rewrites(tdqs_mcp.load(str(tmp_path)), wanted)
    patch, _ = improving.patch_sources(tmp_path, made)
    changed = DOCUMENTED.replace("Find boats.", "Find boats by pier.").replace("Pages\n", "Pages, at most 9.\n")
    changed = changed.replace("pier,\n            as painted on it", "pier.")
    assert (left(patch), patch.count, patch.files["s.py"].decode()) == ([], 3, changed)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_sections_of_a_docstring_stay_where_the_catalog_joins_the_lines_before_them(tmp_path, newline):
    code = DOCUMENTED.replace("Find boats.", "Find boats\n    by pier.\n\n    Slowly.").replace("\n", newline)
    (tmp_path / "s.py").write_bytes(code.encode())
    catalog = tdqs_mcp.load(str(tmp_path))
    wanted = {"/description": "Find boats now.", schema("pages"): "Pages, at most 9."}
    made = rewrites(catalog, {"find_boats": wanted})
    joined = replace(made[0].changes[0], before="Find boats by pier. Slowly.")
    patch, _ = improving.patch_sources(tmp_path, [replace(made[0], changes=(joined, made[0].changes[1]))])
    changed = DOCUMENTED.replace("Find boats.", "Find boats now.").replace("Pages\n", "Pages, at most 9.\n")
    assert (left(patch), patch.files["s.py"].decode()) == ([], changed.replace("\n", newline))


def test_a_change_that_would_lose_other_words_of_the_tool_is_left_out(tmp_path):
    (tmp_path / "s.py").write_text(DOCUMENTED.replace("Find boats.\n\n", "\n"))
    made = rewrites(tdqs_mcp.load(str(tmp_path)), {"find_boats": {"/description": "Find boats."}})
    patch, _ = improving.patch_sources(tmp_path, made)  # a docstring above the one that speaks of the parameters
    reason = "the patched source, read again, would lose or change other words"
    assert (patch.diff, left(patch)) == (b"", [("find_boats", "/description", reason)])


def test_a_patch_that_leaves_no_file_that_can_be_read_is_left_out(tmp_path, monkeypatch):
    (tmp_path / "s.py").write_text(DOCUMENTED)
    made = rewrites(tdqs_mcp.load(str(tmp_path)), {"find_boats": {"/description": "Find one."}})
    monkeypatch.setattr(Style, "docstring", lambda *_, **__: '"""')
    monkeypatch.setattr(Style, "text", lambda _self, value, _like="", **_: f'"""{value}"""')
    patch, _ = improving.patch_sources(tmp_path / "s.py", made)
    assert left(patch) == [("find_boats", "/description", "the patched file would not parse")]


@pytest.mark.parametrize(
    ("quotes", "summary", "after"),
    [
        ('r"""', "Find boats.", 'Find """boats""".'),
        ('"""', "Find b\\u00f6ats.", "Find one boat of a longer name."),
        ('"""', "\\n    Find boats.", "Find one boat."),
    ],
)
def test_a_docstring_that_is_written_anew_keeps_the_words_of_its_parameters(tmp_path, quotes, summary, after):
    code = DOCUMENTED.replace('"""Find boats.', quotes + summary)
    assert code != DOCUMENTED
    (tmp_path / "s.py").write_text(code)
    wanted = {"/description": after, schema("pages"): "Pages, at most 9."}
    before = tdqs_mcp.load(str(tmp_path))
    patch, root = improving.patch_sources(tmp_path, rewrites(before, {"find_boats": wanted}))
    reason = "it stands in a text that another change replaces as a whole"
    assert left(patch) == [("find_boats", schema("pages"), reason)]
    (root / "s.py").write_bytes(patch.files["s.py"])
    definition = tdqs_mcp.load(str(root)).tools[0].raw
    assert definition == {**before.tools[0].raw, "description": after}


def test_a_diff_has_no_line_that_stays(tmp_path):
    lines = [f"def run_{number}(\n    a: int,\n) -> int:\n    return a\n" for number in range(99)]
    code = HEAD + "\n".join(f"@mcp.tool\n{line}" for line in lines)
    (tmp_path / "s.py").write_text(code)
    catalog = tdqs_mcp.load(str(tmp_path))
    made = rewrites(catalog, {each.name: {schema("a"): "A number."} for each in catalog.tools})
    patch, _ = improving.patch_sources(tmp_path, made)
    removed = [line for line in patch.diff.decode().splitlines() if line.startswith("-") and line[:3] != "---"]
    assert removed == ["-    a: int,"] * 99


@pytest.mark.process
def test_every_published_tree_takes_its_patch_and_says_what_was_proposed(tmp_path):
    shared = os.environ.get("TDQS_PACKAGES")
    if not shared:
        pytest.skip(f"{CI_CANNOT_RUN}: TDQS_PACKAGES names a folder of unpacked packages, which are other people's")
    for package in sorted(Path(shared).iterdir()):
        folder = tmp_path / package.name
        shutil.copytree(package, folder)
        catalog = tdqs_mcp.load(str(folder))
        wanted = {}
        for each in catalog.tools:
            parts = {} if each.unread else each.input_schema.get("properties", {})
            paths = {schema(key.replace("~", "~0").replace("/", "~1")): value for key, value in parts.items()}
            texts = {path: value.get("description") or "" for path, value in paths.items() if isinstance(value, dict)}
            wanted[each.name] = {path: f"{text} Again." for path, text in texts.items()}
            if "/description" not in each.unread:
                wanted[each.name]["/description"] = f"{each.description} Again, for {each.name}."
        made = rewrites(catalog, wanted)
        patch, root = improving.patch_sources(folder, made)
        if patch.count:
            subprocess.run(["git", "apply", "-"], input=patch.diff, cwd=root, check=True, capture_output=True)
        now = {each.name: each.raw for each in tdqs_mcp.load(str(folder)).tools}
        lost = {(each.tool, each.path) for each in patch.left_out}
        for rewrite in made:
            for change in rewrite.changes:
                words = change.before if (rewrite.name, change.path) in lost else change.after
                keys_of = [key.replace("~0", "~") for key in keys(change.path)]
                value = now[rewrite.name]
                for key in keys_of[:-1]:
                    value = value[key]
                assert (value.get(keys_of[-1]) or "").split() == (words or "").split(), (package.name, change)
