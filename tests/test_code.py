"""What the code of tools does: found by reading it, with file and line, and never by running it."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from textwrap import dedent

import pytest

import tdqs_mcp
from tdqs_mcp.errors import InputError

ROOT = Path(__file__).parents[1]
HEAD = 'from mcp.server import MCPServer\n\nserver = MCPServer("harbour")\n\n'


@pytest.fixture
def read(tmp_path):
    """Reads the code of files, given by name."""

    def read(**files):
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/").replace("_py", ".py").replace("_js", ".js").replace("_ts", ".ts")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(dedent(text))
        return tdqs_mcp.read_code(tmp_path)

    return read


def effects(tool):
    return [f"{effect.kind} {effect.file}:{effect.line}" for effect in tool.effects]


def verdicts(tool):
    return tool.read_only, tool.destructive, tool.open_world


# Finding handlers

REGISTRATIONS = {
    "a decorator with a name": ("", '@server.tool(name="add_berth")\ndef add(berth: str) -> str:\n    return berth\n'),
    "a decorator over a decorator": (
        "def logged(function):\n    def wrapper(*args, **kwargs):\n        return function(*args, **kwargs)\n    return wrapper\n",
        '@server.tool(name="add_berth")\n@logged\ndef add(berth: str) -> str:\n    return berth\n',
    ),
    "a nested function of a factory": (
        "",
        'def make(server):\n    @server.tool(name="add_berth")\n    def add(berth: str) -> str:\n        return berth\n',
    ),
    "a loop": (
        "",
        "def add_berth(berth: str) -> str:\n    return berth\n\nfor function in [add_berth]:\n    server.tool()(function)\n",
    ),
    "add_tool": ("", 'def add(berth: str) -> str:\n    return berth\n\nserver.add_tool(add, name="add_berth")\n'),
    "a helper of its own": (
        "def register(name):\n    def decorate(function):\n        return server.tool(name=name)(function)\n    return decorate\n",
        '@register("add_berth")\ndef add(berth: str) -> str:\n    return berth\n',
    ),
    "a helper that is called": (
        "def register(name, function):\n    server.tool(name=name)(function)\n",
        'def add(berth: str) -> str:\n    return berth\n\nregister("add_berth", add)\n',
    ),
    "a registry that makes the tools of its list": (
        "class Registry:\n    def register(self, name, description, schema):\n        def decorate(function):\n            self.tools[name] = Tool(name=name, description=description, inputSchema=schema)\n            return function\n        return decorate\n\nregistry = Registry()\n",
        '@registry.register("add_berth", "Add a berth.", {"type": "object"})\ndef add(arguments: dict) -> str:\n    return arguments["berth"]\n',
    ),
    "a method": (
        "",
        "class Tools:\n    def __init__(self, server):\n        @server.tool()\n        def add_berth(berth: str) -> str:\n            return self.add(berth)\n    def add(self, berth):\n        return berth\n",
    ),
}


@pytest.mark.parametrize("form", REGISTRATIONS)
def test_a_python_tool_is_found_however_it_is_registered(read, form):
    before, registration = REGISTRATIONS[form]
    report = read(server_py=HEAD + before + registration)
    assert [(tool.name, tool.handler is not None) for tool in report.tools] == [("add_berth", True)]


SCRIPTS = {
    "registerTool": 'server.registerTool("add_berth", {description: "Add."}, async ({berth}) => save(berth));',
    "tool": 'server.tool("add_berth", "Add.", {berth: z.string()}, async (args) => save(args.berth));',
    "addTool": 'server.addTool({name: "add_berth", description: "Add.", execute: async (args) => save(args.berth)});',
    "a switch": """
        const TOOLS = [{name: "add_berth", description: "Add.", inputSchema: {type: "object"}}];
        server.setRequestHandler(CallToolRequestSchema, async (request) => {
          const { name, arguments: args } = request.params;
          switch (name) {
            case "list_berths": return [];
            case "add_berth": return save(args.berth);
          }
        });""",
    "a table": """
        const handlers = {add_berth: (args) => save(args.berth)};
        const TOOLS = [{name: "add_berth", description: "Add.", inputSchema: {type: "object"}}];
        server.setRequestHandler(CallToolRequestSchema, async (request) =>
          handlers[request.params.name](request.params.arguments));""",
    "a class": """
        class AddBerth { name = "add_berth"; description = "Add."; inputSchema = {}; async execute(args) { return save(args.berth); } }""",
    "a class with accessors": """
        class AddBerth {
          getName() { return "add_berth"; }
          getDescription() { return "Add a berth."; }
          getInputSchema() { return {type: "object"}; }
          async execute(args) { return save(args.berth); }
        }""",
    "a minified switch": """
        import { CallToolRequestSchema as w } from "@modelcontextprotocol/sdk/types.js";
        const TOOLS = [{name: "add_berth", description: "Add.", inputSchema: {type: "object"}}];
        server.setRequestHandler(w, async (t) => { switch (t.params.name) { case "add_berth": return save(t.params.arguments.berth); } });""",
    "a table that conditions fill": """
        function create() {
          const table = {};
          if (process.env.READ) Object.assign(table, {list_berths: (client, args) => []});
          if (process.env.WRITE) Object.assign(table, {add_berth: (client, args) => save(args.berth)});
          return table;
        }
        const handlers = create();
        const TOOLS = [{name: "add_berth", description: "Add.", inputSchema: {type: "object"}}];
        server.setRequestHandler(CallToolRequestSchema, async (request) => {
          const run = handlers[request.params.name];
          return run({}, request.params.arguments);
        });""",
    "a wrapper": """
        const safe = (handler) => async (args) => { try { return await handler(args); } catch (error) { return {error}; } };
        server.registerTool("add_berth", {description: "Add."}, safe(async ({berth}) => save(berth)));""",
}


@pytest.mark.parametrize("form", SCRIPTS)
def test_a_script_tool_is_found_however_it_is_registered(read, form):
    save = 'import { writeFile } from "fs/promises";\nasync function save(berth) {\n  await writeFile(berth, "x");\n}\n'
    (tool,) = [tool for tool in read(server_js=save + dedent(SCRIPTS[form])).tools if tool.name == "add_berth"]
    assert effects(tool) == ["file-write server.js:3"]


def test_a_command_with_a_name_and_a_description_is_no_tool(read):
    assert (
        read(server_js='class Add { static name = "add"; static description = "Add."; async exec(args) {} }').tools
        == ()
    )


def test_a_dispatcher_gives_each_tool_its_own_branch(read):
    report = read(
        server_py="""
        import os
        from mcp import types

        @server.list_tools()
        async def list_tools():
            return [types.Tool(name="keep", inputSchema={}), types.Tool(name="drop", inputSchema={})]

        @server.call_tool()
        async def call_tool(name, arguments):
            if name == "keep":
                return open(arguments["path"]).read()
            if name == "drop":
                os.remove(arguments["path"])
        """
    )
    assert {tool.name: effects(tool) for tool in report.tools} == {
        "keep": ["local-read server.py:12"],
        "drop": ["file-delete server.py:14"],
    }


def test_tools_of_a_mounted_server_have_the_names_that_agents_see(read):
    report = read(
        berths_py="""
        from fastmcp import FastMCP

        berths = FastMCP("berths")
        tides = FastMCP("tides")

        @berths.tool
        def list_free() -> str:
            return "1, 2"

        @tides.tool()
        def read_level() -> str:
            return "3 m"
        """,
        server_py="""
        from fastmcp import FastMCP
        from berths import berths, tides

        harbor = FastMCP("harbor")
        port = FastMCP("port")
        SERVERS = {"tide": tides}

        @port.tool()
        def close() -> str:
            return "closed"

        harbor.mount("berth", berths)
        for name in SERVERS:
            port.mount(SERVERS[name], namespace=name)
        port.mount(harbor, prefix="harbor")
        """,
    )
    assert {tool.name: str(tool.handler) for tool in report.tools} == {
        "harbor_berth_list_free": "berths.py:8",
        "tide_read_level": "berths.py:12",
        "close": "server.py:10",
    }


def test_each_record_of_a_loop_answers_its_own_tool(read):
    report = read(
        tools_js="""
        import { unlinkSync } from "node:fs";

        export const showBerth = { name: "show_berth", handler: ({ berth }) => `Berth ${berth}` };
        export const clearBerth = { name: "clear_berth", handler: ({ path }) => unlinkSync(path) };
        """,
        server_js="""
        import { showBerth, clearBerth } from "./tools.js";

        const tools = [showBerth, clearBerth];
        for (const tool of tools) {
            server.registerTool(tool.name, { description: "" }, async (args) => ({ result: tool.handler(args) }));
        }
        """,
    )
    assert {tool.name: effects(tool) for tool in report.tools} == {
        "show_berth": [],
        "clear_berth": ["file-delete tools.js:5"],
    }


# Effects


def tool_of(read, body, before="", **files):
    """The only tool of a server, by the body of its handler."""
    lines = dedent(body).strip().replace("\n", "\n    ")
    text = f'{HEAD}{dedent(before)}\n@server.tool()\ndef run(a: str = "", b: str = "") -> str:\n    {lines}\n'
    (tool,) = read(server_py=text, **files).tools
    return tool


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ('open(a, "w").write(b)', "file-write"),
        ("import pathlib\npathlib.Path(a).unlink()", "file-delete"),
        ("import shutil\nshutil.rmtree(a)", "file-delete"),
        ('import subprocess\nsubprocess.run(["tide", a])', "process"),
        ("exec(a)", "runs-code"),
        ('import sqlite3\nsqlite3.connect("x").execute("DELETE FROM berths")', "sql-write"),
        ('import sqlite3\nsqlite3.connect("x").execute("SELECT 1")', "db-read"),
        ('import requests\nrequests.get("https://tides.test")', "http-read"),
        ('import requests\nrequests.Session().put("https://tides.test")', "http-write"),
        ('import httpx\nhttpx.post("https://tides.test", json={"a": a})', "sends-data-out"),
        ('import httpx\nhttpx.request("DELETE", "https://tides.test")', "http-write"),
    ],
)
def test_an_effect_has_its_kind(read, body, kind):
    assert [effect.kind for effect in tool_of(read, body).effects] == [kind]


ANSWERS = {
    "taken out": "boat = requests.Session().get('https://x.test').json()\nreturn boat.get('id') + boat['crew'].get('id')",
    "in a loop": "for boat in httpx.get('https://x.test').json():\n    boat.get('id')",
    "parsed": "import json\nreturn json.loads(httpx.get('https://x.test').text).get('id')",
    "in a context": "with httpx.stream('GET', 'https://x.test') as answer:\n    return answer.json().delete(a)",
}


@pytest.mark.parametrize("case", ANSWERS)
def test_an_answer_is_data_whatever_client_has_asked(read, case):
    tool = tool_of(read, ANSWERS[case], before="import httpx\nimport requests\n")
    assert [effect.kind for effect in tool.effects] == ["http-read"]
    assert verdicts(tool) == (True, False, True)


def test_an_answer_is_data_in_scripts_and_a_connection_is_none(read):
    text = (
        'import axios from "axios";\nimport net from "net";\n'
        'const api = axios.create({ baseURL: "https://x.test" });\n'
        'server.tool("boat", { name: z.string() }, async ({ name }) => {\n'
        "  const { data } = await api.get(`/boats/${name}`);\n"
        '  data.crew.delete("cook");\n'
        '  return data.get("id");\n});\n'
        'server.tool("call", { name: z.string() }, async ({ name }) => {\n'
        "  net.connect(80, name).write(name);\n});\n"
    )
    boat, call = read(server_js=text).tools
    assert effects(boat) == ["http-read server.js:5"]
    assert [effect.kind for effect in call.effects] == ["http-read", "sends-data-out"]


@pytest.mark.parametrize("text", ["str(path)", "path.stem", "path.read_text()", "path.open().read()"])
def test_a_text_that_comes_from_a_path_is_no_path(read, text):
    before = "from pathlib import Path\n"
    assert tool_of(read, f"path = Path(a)\nreturn {text}.replace('-', '_')", before=before).read_only is True
    moved = tool_of(read, "path = Path(a)\nreturn path.replace(b)", before=before)
    assert verdicts(moved) == (False, True, False)


@pytest.mark.parametrize("call", ["run(a, shell=True)", 'run(["python", "-c", a])', "run([a, b])"])
def test_a_program_that_the_agent_writes_is_code(read, call):
    tool = tool_of(read, f"import subprocess\nsubprocess.{call}")
    assert [effect.kind for effect in tool.effects] == ["process", "runs-code"]
    assert (tool.read_only, tool.destructive) == (False, True)


@pytest.mark.parametrize(
    ("program", "is_code"),
    [
        ('"kubectl", "logs", b, "-c", a', False),
        ('"kubectl", "exec", b, "--", "sh", "-c", a', True),
        ('"/usr/bin/python3.12", "-c", a', True),
        ('sys.executable, "-c", a', True),
    ],
)
def test_an_option_before_a_program_s_text_is_a_shell_s_or_an_interpreter_s(read, program, is_code):
    tool = tool_of(read, f"import subprocess\nimport sys\nreturn subprocess.run([{program}]).stdout")
    assert ("runs-code" in [effect.kind for effect in tool.effects]) is is_code


def test_an_option_of_a_program_that_is_no_interpreter_takes_no_code_in_a_script(read):
    script = (
        f"{SCRIPT}import {{ execFileSync }} from 'node:child_process';\n"
        "server.registerTool('run', {}, async (args) => { const words = ['logs', args.pod];\n"
        "if (args.part) words.push('-c', args.part); return execFileSync('kubectl', words).toString(); });"
    )
    (tool,) = read(index_js=script).tools
    assert [effect.kind for effect in tool.effects] == ["process"]
    (tool,) = read(index_js=script.replace("'kubectl'", "'bash'")).tools
    assert [effect.kind for effect in tool.effects] == ["process", "runs-code"]


SCRIPT = (
    "import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';\n"
    "import { Worker } from 'node:worker_threads';\nimport fs from 'node:fs';\n"
    "const server = new McpServer({ name: 'harbour', version: '1' });\n"
)

FUNCTION_TABLES = {
    "a list of pairs": 'for name, function in [("sink", sink), ("show", show)]:\n    server.add_tool(function, name=name)\n',
    "a dictionary": 'for name, function in {"sink": sink, "show": show}.items():\n    server.add_tool(function, name=name)\n',
    "a dictionary with texts": (
        'TOOLS = {"sink": (sink, "Sinks."), "show": (show, "Shows.")}\n'
        "for name, (function, text) in TOOLS.items():\n    server.tool(name=name, description=text)(function)\n"
    ),
    "pairs of a script": (
        'for (const [name, run] of [["sink", sink], ["show", show]]) server.registerTool(name, { description: "x" }, run);'
    ),
    "objects of a script": (
        'const TOOLS = { sink: { run: sink, text: "Sinks." }, show: { run: show, text: "Shows." } };\n'
        "for (const [name, { run, text }] of Object.entries(TOOLS)) server.registerTool(name, { description: text }, run);"
    ),
    "a function that goes through pairs": (
        '[["sink", sink], ["show", show]].forEach(([name, run]) => server.registerTool(name, { description: "x" }, run));'
    ),
}


@pytest.mark.parametrize("case", FUNCTION_TABLES)
def test_each_row_of_a_table_has_its_own_function(read, case):
    if "script" in case or "goes" in case:
        functions = "const sink = ({ path }) => fs.rmSync(path);\nconst show = ({ path }) => fs.readFileSync(path);\n"
        report = read(index_js=f"{SCRIPT}{functions}{FUNCTION_TABLES[case]}")
    else:
        functions = (
            "import os\n\ndef sink(path: str) -> str:\n    os.remove(path)\n\n"
            "def show(path: str) -> str:\n    return open(path).read()\n\n"
        )
        report = read(server_py=f"{HEAD}{functions}{FUNCTION_TABLES[case]}")
    kinds = {tool.name: [str(effect.kind) for effect in tool.effects] for tool in report.tools}
    assert kinds == {"sink": ["file-delete"], "show": ["local-read"]}


def test_a_name_gets_no_function_where_the_rows_of_a_table_cannot_be_read(read):
    functions = "from rows import read_rows\n\ndef sink(path: str):\n    pass\n\ndef show(path: str):\n    pass\n\n"
    loop = "for function in [sink, show]:\n    for name in ['a', 'b']:\n        server.add_tool(function, name=name)\n"
    report = read(server_py=f"{HEAD}{functions}{loop}")
    assert {tool.name: tool.handler for tool in report.tools} == {"a": None, "b": None}
    assert {tool.read_only for tool in report.tools} == {"unknown"}
    assert all("which of several functions" in problem for problem in report.problems)


@pytest.mark.parametrize(
    "registered",
    [
        'server.tool({ name: "show", description: "x", schema: {} }, async ({ path }) => fs.readFileSync(path));',
        (
            'server.experimental.tasks.registerToolTask("show", { description: "x", inputSchema: {} }, '
            "{ createTask: async ({ path }) => fs.readFileSync(path), getTask: async () => 1 });"
        ),
    ],
)
def test_other_forms_of_a_registration_are_read(read, registered):
    (tool,) = read(index_js=f"{SCRIPT}{registered}").tools
    assert (tool.name, effects(tool)) == ("show", ["local-read index.js:5"])


def test_a_listed_tool_without_a_branch_is_open_and_says_so(read):
    tools = "".join(f'Tool(name="{name}", description="x", inputSchema={{}}), ' for name in ("show", "sink"))
    listed = f"@server.list_tools()\nasync def tools():\n    return [{tools}]\n\n"
    called = "@server.call_tool()\nasync def call(name, arguments):\n    if name == 'show':\n        return 'x'\n    raise ValueError\n"
    shown, sunk = read(server_py=f"from mcp.types import Tool\n{HEAD}{listed}{called}").tools
    assert (shown.read_only, sunk.read_only) == (True, "unknown")
    assert [call.text for call in sunk.unresolved] == ["no branch for sink"]


def test_of_statements_that_branches_choose_the_worst_counts(read):
    body = (
        "import sqlite3\nif a == 'create':\n    statement = f'CREATE TABLE {b} (name)'\nelse:\n"
        "    statement = f'DROP TABLE {b}'\nsqlite3.connect('x').execute(statement)"
    )
    tool = tool_of(read, body)
    statements = [(effect.text, effect.condition) for effect in tool.effects]
    assert statements == [("CREATE TABLE {} (name)", "a == 'create'"), ("DROP TABLE {}", "a != 'create'")]
    assert tool.destructive is True


@pytest.mark.parametrize(
    "body",
    [
        "with tempfile.TemporaryDirectory() as folder:\n    shutil.copy(a, folder)",
        "with tempfile.TemporaryDirectory() as folder:\n    open(os.path.join(folder, 'x'), 'w').write(a)",
        "folder = tempfile.mkdtemp()\nshutil.copy2(a, os.path.join(folder, 'x'))\nshutil.rmtree(folder)",
    ],
)
def test_a_file_in_a_folder_of_the_tool_s_own_is_no_change(read, body):
    tool = tool_of(read, body, before="import os, shutil, tempfile\n")
    assert (tool.read_only, tool.destructive) == (True, False)
    moved = tool_of(read, "shutil.move(a, tempfile.mkdtemp())", before="import shutil, tempfile\n")
    assert moved.read_only is False


@pytest.mark.parametrize("given", ["async ({ kind }) => {", "async (args) => { const { kind } = schema.parse(args);"])
def test_all_branches_of_a_chain_count_wherever_its_parameter_comes_from(read, given):
    schema = 'const schema = z.object({ kind: z.enum(["link", "full", "none"]) });\n'
    chain = (
        'if (kind === "full") { return "f"; } else if (kind === "link") { return "l"; } else { throw new Error("no"); }'
    )
    tool = f'server.registerTool("show", {{ description: "x", inputSchema: schema }}, {given} {chain} }});'
    (tool,) = read(index_js=f'import {{ z }} from "zod";\n{SCRIPT}{schema}{tool}').tools
    assert [dead.value for dead in tool.dead_enum_values] == ["none"]


@pytest.mark.parametrize("default", [{}, {"default": None}])
def test_null_is_no_default_that_the_schema_gives(read, tmp_path, command, write, default):
    limit = {"type": ["integer", "null"], "description": "Berths that come back. Default: 25."} | default
    tool = {"name": "run", "description": "List berths.", "inputSchema": {"type": "object", "properties": {"a": limit}}}
    read(server_py=f"{HEAD}@server.tool()\ndef run(a: int | None = None) -> list:\n    return list(range(a or 10))\n")
    words = ("lint", write("catalog.json", [tool]), "--source", tmp_path, "--select", "TDQ808", "--format", "json")
    (finding,) = json.loads(command(*words).stdout)["findings"]
    assert finding["message"] == "the definition gives a the default 25, the code default 10: server.py:7"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("os.kill(int(a), 9)", (False, True)),
        ("os.kill(int(a), 0)", (True, False)),
        ("os.kill(pid_of_the_day(), 9)", ("unknown", "unknown")),
        ("child = subprocess.Popen(['ls', a])\nos.killpg(os.getpgid(child.pid), 9)", (True, False)),
    ],
)
def test_a_program_that_the_tool_has_started_itself_may_be_stopped(read, body, expected):
    tool = tool_of(read, body, before="import os, subprocess\nfrom days import pid_of_the_day\n")
    assert (tool.read_only, tool.destructive) == expected


def test_all_effects_of_one_tool_are_shown_with_the_worst_first(read, tmp_path, command):
    reads = "".join(f'    open("berth{number}.txt").read()\n' for number in range(14))
    body = f"import os\n{HEAD}@server.tool()\ndef run(a: str, b: str) -> str:\n{reads}"
    read(server_py=f"{body}    open(a, 'a').write('x')\n    os.remove(b)\n")
    lines = command("code", tmp_path, "--tool", "run").stdout.decode().partition("Effects\n")[2].splitlines()
    assert [line.split()[0] for line in lines[:16]] == ["file-delete", "file-write", *["local-read"] * 14]


def test_what_only_the_server_remembers_is_no_warning_and_a_program_that_reads_is_not_quoted(
    read, tmp_path, command, write
):
    tool = {"name": "run", "description": "Show.", "inputSchema": {}, "annotations": {"readOnlyHint": True}}
    words = ("lint", write("catalog.json", [tool]), "--source", tmp_path, "--select", "TDQ801", "--show", "all")
    state = "class Harbour:\n    name = ''\n\nharbour = Harbour()\n"
    handler = "@server.tool()\ndef run(a: str) -> str:\n"
    read(server_py=f"{HEAD}{state}{handler}    harbour.name = a\n    return a\n")
    (finding,) = json.loads(command(*words, "--format", "json").stdout)["findings"]
    assert finding["severity"] == "info"
    body = "    subprocess.run(['git', 'status'])\n    subprocess.run(['git', 'add', a])\n"
    read(server_py=f"import subprocess\n{HEAD}{handler}{body}")
    (finding,) = json.loads(command(*words, "--format", "json").stdout)["findings"]
    assert "git add" in finding["message"]
    assert "git status" not in finding["message"]


def test_a_prepared_statement_is_run_with_the_agent_s_words(read):
    before = "import Database from 'better-sqlite3';\nconst db = new Database('x');\n"
    statement = "const remove = db.prepare('DELETE FROM boats WHERE id = ?');\n"
    tool = "server.registerTool('run', {}, async (args) => { remove.run(args.id); });"
    (tool,) = read(index_js=f"{before}{SCRIPT}{statement}{tool}").tools
    assert [(effect.text, effect.line, effect.is_given) for effect in tool.effects] == [
        ("DELETE FROM boats WHERE id = ?", 8, True)
    ]
    assert (tool.read_only, tool.destructive) == (False, True)


ERRORS = {
    "the protocol's form": '{ isError: true, content: [{ type: "text", text: "id is required" }] }',
    "a helper": 'fail("id is required")',
    "JSON as the text": '{ content: [{ type: "text", text: JSON.stringify({ error: "id is required" }) }] }',
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors_that_a_script_returns_as_results_have_their_texts(read, case):
    helper = 'const fail = (text) => ({ isError: true, content: [{ type: "text", text }] });\n'
    body = f'if (!id) return {ERRORS[case]};\nreturn {{ content: [{{ type: "text", text: id }}] }};'
    tool = f'server.registerTool("show", {{ description: "x" }}, async ({{ id }}) => {{\n{body} }});'
    (tool,) = read(index_js=f"{SCRIPT}{helper}{tool}").tools
    assert [(error.text, error.line, error.is_result) for error in tool.errors] == [("id is required", 7, True)]


PROGRAMS = {
    '["git", "branch", "--list", a]': (True, False, False),
    '["git", "branch", "-D", a]': (False, True, False),
    '["git", "branch", a]': ("unknown", "unknown", "unknown"),
    '["git", "-C", a, "status"]': (True, False, False),
    '["git", "push"]': (False, "unknown", True),
    '["git", "push", "--force"]': (False, True, True),
    '["git", "pull"]': (False, "unknown", True),
    '["git", "clone", a]': (False, False, True),
    '["git", "config", "a", a]': ("unknown", "unknown", "unknown"),
    '["gh", "pr", "create", "--title", a]': (False, False, True),
    '["curl", "-sS", "https://boats.example"]': (True, False, True),
    '["curl", "-X", "POST", "https://boats.example"]': ("unknown", "unknown", True),
    '["curl", "http://localhost:9000"]': (True, False, False),
    '["find", ".", "-name", a]': (True, False, False),
    '["find", ".", "-delete"]': ("unknown", "unknown", "unknown"),
    '["npm", "install"]': (False, "unknown", True),
    '["docker", "run", a]': ("unknown", "unknown", "unknown"),
    '["kubectl", "--context", a, "get", "pods"]': (True, False, True),
    '["helm", "uninstall", a]': (False, True, True),
    '"cat boats.txt | wc -l 2>/dev/null"': (True, False, False),
    '"cat boats.txt > fleet.txt"': (False, "unknown", False),
    '"ls && rm -r fleet"': (False, True, False),
    '["sudo", "bash", "-c", "git push"]': (False, "unknown", True),
}
"""Programs with what is known of them: only where the data name the subcommand and the options."""


@pytest.mark.parametrize("words", PROGRAMS)
def test_what_a_program_does_is_known_only_for_the_words_that_the_data_name(read, words):
    tool = tool_of(read, f"import subprocess\nreturn subprocess.run({words}, cwd='x')")
    assert verdicts(tool) == PROGRAMS[words]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("remotes.origin.push()", (False, "unknown", True)),
        ("remote('origin').push(force=True)", (False, True, True)),
        ("remotes.origin.pull()", (False, "unknown", True)),
        ("head.reset('HEAD~1', working_tree=True)", (False, "unknown", False)),
        ("git.reset('--hard')", (False, True, False)),
        ("git.branch('--contains', a)", (True, False, False)),
        ("active_branch.commit.message.strip()", (True, False, False)),
        ("heads.main.overhaul()", ("unknown", "unknown", "unknown")),
    ],
)
def test_a_library_that_runs_a_program_does_what_the_program_does(read, call, expected):
    assert verdicts(tool_of(read, f"return git.Repo(a).{call}", before="import git\n")) == expected


LOST = {
    "a module by its name": "import importlib\nreturn importlib.import_module(a).run()",
    "a function by its name": "return globals()['wipe_' + a]()",
    "a module that is loaded": "import sys\nreturn sys.modules['__main__'].run(a)",
    "an object put on the server": "return server.state.client.do(a)",
    "a function put on the server": "return server.settings.runner(a)",
    "callbacks put on the server": "for callback in server.callbacks: callback(a)",
    "code of another language": "import ctypes\nreturn ctypes.CDLL(a).run()",
    "a method that no data names": "import requests\nreturn requests.Session().refresh(a)",
    "a package called a client that no data name": "import berth_sdk\nreturn berth_sdk.wipe()",
    "a read by such a package": "import berth_sdk\nreturn berth_sdk.get(a)",
    "a removal by such a package": "import berth_sdk as berths\nreturn berths.remove(a)",
    "a part of such a package": "import berth_client\nreturn berth_client.boats.delete_boat(a)",
    "a function of a package with the name of a file's": "import boatlib\nreturn boatlib.unlink(a)",
    "a package that no data name": "import boatlib\nreturn boatlib.get(a)",
    "an object of a package that no data name": "import boatlib\nreturn boatlib.fleet.find(a)",
}


@pytest.mark.parametrize("case", LOST)
def test_a_call_that_nothing_is_known_of_leaves_the_verdicts_open_and_is_named(read, case):
    tool = tool_of(read, LOST[case])
    assert verdicts(tool) == ("unknown", "unknown", "unknown")
    assert {call.file for call in tool.unresolved} == {"server.py"}


@pytest.mark.parametrize(
    "body",
    [
        "berths = {'x': 1}\nreturn berths.get(a)",
        "berths = [a, b]\nberths.remove(a)\nreturn berths",
        "return a.find(b)",
        "import httpx\nreturn httpx.get('http://localhost:9000/berths').json().get(a)",
    ],
)
def test_methods_of_the_language_s_own_values_and_of_answers_change_nothing(read, body):
    assert verdicts(tool_of(read, body)) == (True, False, False)


@pytest.mark.parametrize(
    "body",
    [
        "db[args.a]()",
        "globalThis[args.a]()",
        "server.backend.wipe(args.a)",
        "hooks.forEach((hook) => hook.close())",
        "for (const hook of hooks) hook(args.a)",
        "extra.session.destroyAll(args.a)",
        "return boats.get(args.a)",
        "return boats.writeFile(args.a)",
        "return berths.remove(args.a)",
        "return berths.list()",
    ],
)
def test_a_script_s_call_that_nothing_is_known_of_leaves_the_verdicts_open(read, body):
    imports = (
        "import Database from 'better-sqlite3';\nimport boats from 'boatlib';\nimport * as berths from '@berths/sdk';\n"
    )
    script = f"{imports}const db = new Database('x');\nconst hooks = [];\n{SCRIPT}"
    (tool,) = read(index_js=f"{script}server.registerTool('run', {{}}, async (args, extra) => {{ {body}; }});").tools
    assert verdicts(tool) == ("unknown", "unknown", "unknown")
    assert tool.unresolved


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("import os\nos.kill(int(a), 9)", "process"),
        ("import numpy\nnumpy.save(a, [1])", "file-write"),
        ("import urllib.request\nurllib.request.urlretrieve(b, a)", "file-write"),
        ("import pickle\npickle.loads(a)", "runs-code"),
        ("import os\nlist(map(os.remove, [a]))", "file-delete"),
        ("process.kill(args.a)", "process"),
        ("fs.truncateSync(args.a)", "file-write"),
        ("fs.linkSync(args.a, 'x')", "file-write"),
        ("new Worker(args.a)", "runs-code"),
        ("[args.a].forEach(fs.unlinkSync)", "file-delete"),
    ],
)
def test_libraries_change_what_they_change_under_each_of_their_names(read, body, kind):
    if body.startswith("import"):
        tool = tool_of(read, body)
    else:
        (tool,) = read(index_js=f"{SCRIPT}server.registerTool('run', {{}}, async (args) => {{ {body}; }});").tools
    assert kind in [effect.kind for effect in tool.effects]
    assert tool.read_only is False


STATEMENT = "const FIND_BOATS = 'SELECT * FROM boats WHERE id = ?';\nconst db = new Database('x');\n"


@pytest.mark.parametrize("call", ["all(args.id)", "all()", "get(args.id)", "iterate(args.id)"])
@pytest.mark.parametrize(
    "library", ["Database from 'better-sqlite3'", "{ DatabaseSync as Database } from 'node:sqlite'"]
)
def test_the_value_of_a_prepared_statement_is_no_statement(read, library, call):
    body = f"return db.prepare(FIND_BOATS).{call};"
    tool = f"server.registerTool('run', {{}}, async (args) => {{ {body} }});"
    (tool,) = read(index_js=f"import {library};\n{STATEMENT}{SCRIPT}{tool}").tools
    assert ([effect.kind for effect in tool.effects], tool.read_only) == (["db-read"], True)


def test_a_statement_that_the_agent_writes_is_a_write_unless_the_connection_reads_only(read):
    body = "import sqlite3\nsqlite3.connect('{}', uri=True).execute(a)"
    assert effects(tool_of(read, body.format("x"))) == ["sql-write server.py:9"]
    assert effects(tool_of(read, body.format("file:x?mode=ro"))) == ["sql-unknown server.py:9"]


def test_what_is_taken_out_of_a_container_is_not_the_container_s(read):
    script = "const tools = new Map();\nserver.registerTool('run', {}, async (args) => tools.get(args.a).handle(args));"
    (tool,) = read(index_js=script).tools
    assert tool.read_only == "unknown"


def test_an_abstract_method_is_what_fills_it_in(read):
    base = "class Store:\n    def drop(self, name):\n        raise NotImplementedError\n\n"
    files = "class Files(Store):\n    def drop(self, name):\n        open(name).truncate()\n        import os\n        os.remove(name)\n\n"
    use = "def store() -> Store:\n    return load()\n\n"
    assert "file-delete" in {
        effect.kind for effect in tool_of(read, "store().drop(a)", before=base + files + use).effects
    }
    assert tool_of(read, "store().drop(a)", before=base + use).read_only == "unknown"


def test_an_abstract_method_that_nothing_fills_in_leaves_verdicts_open(read):
    body = "class Store(ABC):\n    @abstractmethod\n    def keep(self, name):\n        pass\n\n"
    tool = (
        "def store() -> Store:\n    return STORES.pop()\n\n"
        "@server.tool()\ndef boat(name: str) -> str:\n    store().keep(name)\n    return name\n"
    )
    report = read(server_py=HEAD + "from abc import ABC, abstractmethod\n\n" + body + tool)
    assert report.tools[0].read_only == "unknown"


@pytest.mark.parametrize("depth", range(1, 6))
def test_an_effect_is_found_however_deep(read, depth):
    steps = "".join(f"def step{n}(x):\n    return step{n + 1}(x)\n\n" for n in range(1, depth))
    tool = tool_of(read, "return step1(a)", before=f'{steps}def step{depth}(x):\n    open(x, "w").write("")\n')
    assert [(effect.kind, effect.depth) for effect in tool.effects] == [("file-write", depth)]


def test_effects_are_followed_through_modules_classes_and_constants(read):
    tool = tool_of(
        read,
        "return Client().drop(a)",
        before="from harbour.client import Client\n",
        harbour__client_py="""
        import httpx

        BASE = "https://api.harbour.test/v1"

        class Client:
            def __init__(self):
                self.http = httpx.Client(base_url=BASE)

            def drop(self, name):
                return self._request("DELETE", f"/berths/{name}")

            def _request(self, method, path):
                return self.http.request(method, path)
        """,
    )
    (effect,) = tool.effects
    assert (effect.kind, effect.text, effect.host) == ("http-write", "DELETE", "api.harbour.test")
    assert verdicts(tool) == (False, True, True)


def test_star_imports_are_followed(read):
    parts = {"parts_py": "from files import *\n", "files_py": "def save(x):\n    open(x, 'w').write('')\n"}
    tool = tool_of(read, "return parts.save(a)", before="import parts\n", **parts)
    assert effects(tool) == ["file-write files.py:2"]


WAYS = {
    "two values": ('if a == "x":\n    drop(b)\nelif a == "y":\n    drop(b)', "a == 'x' or a == 'y'"),
    "an early return": ('if a == "x":\n    drop(b)\n    return "first"\ndrop(b)', ""),
    "both sides": ("if a:\n    drop(b)\nelse:\n    drop(b + 'x')", ""),
    "both sides, deeper": ("if a:\n    if b:\n        drop(a)\nelif b:\n    drop(b)", "b"),
    "all branches": ('if a == "x":\n    drop(b)\nelif a == "y":\n    drop(b)\nelse:\n    drop(b)', ""),
    "a loop besides": ("if a:\n    drop(b)\nfor part in [b]:\n    drop(part)", ""),
    "one within the other": ('if a == "x":\n    if b:\n        drop(a)\n    drop(b)', "a == 'x'"),
    "several values in each": (
        "if a == 'x' or a == 'y':\n    drop(b)\nelif a == 'z':\n    drop(b)",
        "a == 'x' or a == 'y' or a == 'z'",
    ),
    "several values and the others": ("if a == 'x' or a == 'y':\n    drop(b)\n    return b\ndrop(b)", ""),
    "several parameters": (
        "if a == 'x':\n    if b:\n        drop(a)\nelif a == 'y':\n    if not b:\n        drop(b)",
        "(a == 'x' and b) or (a == 'y' and not b)",
    ),
}


@pytest.mark.parametrize("ways", WAYS)
def test_a_line_that_is_reached_in_several_ways_has_the_conditions_of_all(read, ways):
    body, condition = WAYS[ways]
    tool = tool_of(read, body, before="import os\n\ndef drop(path):\n    os.remove(path)\n")
    assert [effect.condition for effect in tool.effects] == [condition]


def test_a_script_s_helper_that_two_branches_call_acts_in_both(read):
    head = f'import disk from "fs/promises";\n{SCRIPT}async function drop(path) {{ await disk.rm(path); }}\n'
    body = 'if (args.mode === "empty") { await drop(args.path + "/x"); return; } await drop(args.path);'
    (tool,) = read(index_js=f"{head}server.registerTool('run', {{}}, async (args) => {{ {body} }});").tools
    assert [effect.condition for effect in tool.effects] == [""]
    (tool,) = read(
        index_js=f"{head}server.registerTool('run', {{}}, async (args) => {{ if (args.all) {{ {body} }} }});"
    ).tools
    assert [effect.condition for effect in tool.effects] == ["all"]


def test_a_condition_is_told_where_one_parameter_decides(read):
    tool = tool_of(read, 'if a == "save":\n    open(b, "w").write("")\nreturn b')
    assert [effect.condition for effect in tool.effects] == ["a == 'save'"]


def test_a_file_of_its_own_that_is_moved_into_place_is_no_deletion(read):
    tool = tool_of(read, 'import os\ntmp = a + ".tmp"\nopen(tmp, "w").write(b)\nos.replace(tmp, a)')
    assert {effect.kind for effect in tool.effects} == {"file-write"}


@pytest.mark.parametrize(
    ("body", "destructive"),
    [
        ('open(a, "w").write(b)', True),
        ('open(f"/srv/{a}-{b}.txt", "w").write(b)', "unknown"),
        ('from pathlib import Path\n(Path(a).parent / f"{Path(a).stem}_new.txt").write_text("x")', "unknown"),
        ('open(a, "a").write(b)', False),
        ("import os\nos.makedirs(a)", False),
        ("import os\nos.remove(a)", True),
    ],
)
def test_a_write_destroys_where_the_agent_chooses_the_file(read, body, destructive):
    assert tool_of(read, body).destructive == destructive


CREATING = {
    "a check that raises": ('if os.path.exists(a):\n    raise FileExistsError(a)\nopen(a, "w").write(b)', False),
    "a check that returns": ('if Path(a).exists():\n    return "there"\nPath(a).write_text(b)', False),
    "a check with a branch": ('if Path(a).exists():\n    b = ""\nelse:\n    Path(a).write_text(b)', False),
    "a check before the call that writes": ("if os.path.exists(a):\n    raise FileExistsError(a)\nsave(a, b)", False),
    "a check of a path that is not known": (
        'target = FOLDER / f"{a}.txt"\nif target.exists():\n    raise FileExistsError(a)\nopen(target, "w").write(b)',
        "unknown",
    ),
    "mode x": ('open(a, "x").write(b)', False),
    "mode x+": ('open(a, "x+").write(b)', False),
    "a check of another file": ('if os.path.exists(b):\n    raise FileExistsError(b)\nopen(a, "w").write(b)', True),
    "a check that goes on": ('if os.path.exists(a):\n    print("there")\nopen(a, "w").write(b)', True),
    "a check that demands the file": ('if not os.path.exists(a):\n    raise KeyError(a)\nopen(a, "w").write(b)', True),
    "a check within a branch": (
        'if b:\n    if os.path.exists(a):\n        raise KeyError(a)\nopen(a, "w").write(b)',
        True,
    ),
    "one of two calls without the check": (
        "if b:\n    if os.path.exists(a):\n        raise KeyError(a)\n    save(a, b)\nsave(a, b)",
        True,
    ),
}


@pytest.mark.parametrize("case", CREATING)
def test_a_write_of_what_is_not_there_yet_destroys_nothing(read, case):
    body, destructive = CREATING[case]
    before = 'import os\nfrom pathlib import Path\n\ndef save(path, text):\n    open(path, "w").write(text)\n\n'
    tool = tool_of(read, body, before=before)
    assert (tool.read_only, tool.destructive) == (False, destructive)


@pytest.mark.parametrize(
    ("body", "destructive"),
    [
        ("if (fs.existsSync(path)) throw new Error('there'); fs.writeFileSync(path, 'x');", False),
        ("if (fs.existsSync(path)) { return 'there'; } fs.writeFileSync(path, 'x');", False),
        ("fs.writeFileSync(path, 'x', { flag: 'wx' });", False),
        ("fs.createWriteStream(path, { flags: 'wx' }).write('x');", False),
        ("fs.writeFileSync(path, 'x', { flag: 'w' });", True),
        ("fs.writeFileSync(path, 'x');", True),
    ],
)
def test_a_script_that_writes_only_what_is_not_there_yet_destroys_nothing(read, body, destructive):
    registered = f"server.tool('save', 'x', {{ path: z.string() }}, async ({{ path }}) => {{ {body} }});"
    (tool,) = read(index_js=f"{SCRIPT}{registered}").tools
    assert (tool.read_only, tool.destructive) == (False, destructive)


@pytest.mark.parametrize(
    ("body", "destructive"),
    [
        ('import pymongo\npymongo.MongoClient()["x"]["y"].delete_one({"a": a})', True),
        ('import pymongo\npymongo.MongoClient()["x"]["y"].insert_one({"a": a})', False),
        ('import git\ngit.Repo(a).git.reset("--hard")', True),
        ('import sqlite3\nsqlite3.connect("x").execute("DELETE FROM t WHERE a = ?", [a])', True),
        ('import sqlite3\nsqlite3.connect("x").execute("INSERT INTO t VALUES (?)", [a])', False),
    ],
)
def test_the_harm_of_a_call_is_what_its_library_says_of_it(read, body, destructive):
    assert tool_of(read, body).destructive == destructive


def test_more_calls_of_a_function_than_are_followed_leave_verdicts_open(read):
    helper = "import httpx\n\ndef ask(method, path):\n    return httpx.request(method, 'https://x.test' + path)\n\n"
    many = "\n".join(f'ask("GET", "/{n}")' for n in range(20))
    assert tool_of(read, many + "\nreturn a", before=helper).read_only == "unknown"
    few = "\n".join(f'ask("GET", "/{n}")' for n in range(5))
    assert tool_of(read, few + "\nreturn a", before=helper).read_only is True


def test_a_post_proves_no_write_and_a_graphql_query_is_a_read(read):
    assert tool_of(read, 'import httpx\nhttpx.post("https://x.test", json={"a": a})').read_only == "unknown"
    query = tool_of(read, 'import httpx\nhttpx.post("https://x.test", json={"query": "query { berths }"})')
    assert query.read_only is True


def test_what_cannot_be_followed_makes_a_verdict_unknown_never_clean(read):
    tool = tool_of(read, "import harbourkit\nreturn harbourkit.act(a)")
    assert verdicts(tool) == ("unknown", "unknown", "unknown")
    assert [f"{call.text} {call.file}:{call.line}" for call in tool.unresolved] == ["harbourkit.act() server.py:9"]


def test_a_log_that_all_tools_append_to_is_no_change(read):
    tools = "".join(f"@server.tool()\ndef tool{n}(a: str) -> str:\n    return answer(a)\n\n" for n in range(5))
    helpers = "def answer(a):\n    note()\n    return a\n\ndef note():\n    open('log', 'a').write('asked')\n"
    report = read(server_py=HEAD + helpers + tools)
    assert {(tool.effects[0].is_housekeeping, tool.read_only) for tool in report.tools} == {(True, True)}


def test_a_guarded_statement_is_a_read(read):
    body = 'import sqlite3\nif not a.upper().startswith("SELECT"):\n    raise ValueError("only SELECT")\nsqlite3.connect("x").execute(a)'
    assert [effect.kind for effect in tool_of(read, body).effects] == ["db-read"]
    assert [effect.kind for effect in tool_of(read, body.splitlines()[-1]).effects] != ["db-read"]


def test_what_a_helper_changes_of_an_object_that_is_kept_is_no_read(read):
    code = """
        from pptx import Presentation

        decks = {}

        def set_title(deck: Presentation, title):
            properties = deck.core_properties
            properties.title = title

        def add_slide(deck: Presentation):
            return deck.slides.add_slide(deck.slide_layouts[0])

        def count(deck: Presentation):
            return len(deck.slides)

        @server.tool()
        def title_deck(name: str, title: str) -> str:
            set_title(decks[name], title)

        @server.tool()
        def extend_deck(name: str) -> str:
            deck = decks[name]
            add_slide(deck=deck)

        @server.tool()
        def shrink_texts(name: str, size: int) -> str:
            for place, shape in enumerate(decks[name].slides[0].shapes):
                shape.size = size

        @server.tool()
        def count_slides(name: str) -> int:
            return count(decks[name])
    """
    found = {tool.name: tool.read_only for tool in read(server_py=HEAD + dedent(code)).tools}
    unknown = dict.fromkeys(("title_deck", "extend_deck"), "unknown")
    assert found | unknown == found
    assert found["shrink_texts"] is not True
    assert found["count_slides"] is True


def test_a_change_of_what_outlives_the_call_is_no_read(read):
    store = "class Store:\n    def __init__(self):\n        self.boats = {}\n\nstore = Store()\n"
    assert tool_of(read, "store.boats.pop(a)", before=store).read_only is False
    assert tool_of(read, "store.boats[a] = b", before=store).read_only == "unknown", "an entry may be a cache's"
    assert tool_of(read, "boats = {}\nboats[a] = b\nboats.pop(a)\nreturn boats", before=store).read_only is True
    assert tool_of(read, "Store().boats.pop(a)", before=store).read_only is True
    assert tool_of(read, "global store\nstore = a", before=store).read_only is False
    assert tool_of(read, "global store\nstore = Store()", before=store).read_only is True, "the server's set-up"
    assert tool_of(read, "import os\nos.environ[a] = b").read_only == "unknown"


# Parameters, errors, results


def test_an_address_that_is_an_object_is_followed_where_it_is_called(read):
    report = read(
        server_py="""
        import httpx
        from mcp.server import MCPServer

        server = MCPServer("harbour")

        class Endpoint(str):
            def __call__(self, **parts):
                return self.format(**parts)

        STOP = Endpoint("boats/{name}/search")

        @server.tool()
        def work(name: str):
            return httpx.post("https://api.tides.example/" + STOP(name=name)).json()
    """
    )
    (tool,) = report.tools
    assert tool.returns == "the answer of POST api.tides.example/boats/{}/search"
    assert (tool.unresolved, tool.unused_parameters) == ((), ())


def test_a_function_that_never_does_anything_leaves_nothing_open_however_often_it_is_called(read):
    calls = "\n    ".join(f"note('step {number} of ' + name)" for number in range(20))
    before = 'from mcp.server import MCPServer\nserver = MCPServer("harbour")\ndef note(text):\n    print(text)\n'
    report = read(server_py=f"{before}@server.tool()\ndef work(name: str):\n    {calls}\n    return name\n")
    (tool,) = report.tools
    assert (tool.read_only, tool.unresolved) == (True, ())


def test_a_function_in_the_result_is_followed_as_whoever_gets_it_calls_it(read):
    code = read(
        **{
            "server.js": """
                import fs from "node:fs";
                async function handle(context, params) {
                  const action = async () => { fs.writeFileSync(params.path, params.text); };
                  return { action, wait: false };
                }
                server.registerTool("save", { description: "Saves a text" }, handle);
            """
        }
    )
    assert [(effect.kind, effect.line) for effect in code.tools[0].effects] == [("file-write", 4)]
    assert code.tools[0].read_only is False


def test_a_parameter_counts_as_unused_only_if_nothing_depends_on_it(read):
    passed_on = "def load(x, y):\n    return x\n"
    assert tool_of(read, "return load(a, b)", before=passed_on).unused_parameters == ("b",)
    assert tool_of(read, "return foreign(a, b)", before="from kit import foreign\n").unused_parameters == ()
    assert tool_of(read, "return load(1, 2) + str(locals())", before=passed_on).unused_parameters == ()


@pytest.mark.parametrize(
    "wrapper",
    [
        "def wrapper(self, *args):\n        return method(self, *args)",
        "def wrapper(*args):\n        return method(*args)",
    ],
)
def test_a_decorator_gets_a_method_before_it_is_bound(read, wrapper):
    store = (
        f"def locked(method):\n    {wrapper}\n    return wrapper\n\n"
        "class Store:\n    @locked\n    def put(self, key, value):\n        open(key, 'w').write(value)\n\nstore = Store()\n"
    )
    code = tool_of(read, "store.put(a, b)", before=store)
    assert code.unused_parameters == ()
    assert [effect.kind for effect in code.effects] == ["file-write"]


def test_a_variable_that_a_callback_may_set_is_not_taken_for_a_function_that_was_left_out(read):
    code = read(
        **{
            "server.js": """
                import fs from "node:fs";
                server.registerTool("later", { description: "Later" }, async (args) => {
                  let act = null;
                  hooks.push = function () { act = () => fs.unlinkSync(args.path); };
                  hooks.push();
                  act();
                });
                function one(boat, isWanted) { return isWanted && !isWanted(boat) ? null : boat; }
                server.registerTool("plain", { description: "Plain" }, async (args) => one(args.boat));
            """
        }
    )
    assert [tool.read_only for tool in code.tools] == ["unknown", True]


def test_a_parameter_that_a_typed_field_takes_on_is_used(read):
    before = """
import enum, requests

class Tide(str, enum.Enum):
    HIGH = "high"

class Query(BaseModel):
    tide: Tide = Tide.HIGH

def ask(query):
    return requests.post("https://tides.test", json={"tide": query.tide})
"""
    body = "return ask(Query(tide=a))"
    assert tool_of(read, body, before=f"from pydantic import BaseModel\n{before}").unused_parameters == ("b",)


@pytest.mark.parametrize(("use", "unused"), [("note(kwargs.get('b'))", ()), ("pass", ("b",))])
def test_a_parameter_that_a_decorator_may_read_is_not_called_unused(read, use, unused):
    text = f"""{HEAD}
import functools

def noted(title):
    def decorator(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            {use}
            return function(*args, **kwargs)
        return wrapper
    return decorator

@server.tool()
@noted("run")
def run(a: str = "", b: str = "") -> str:
    return a
"""
    (tool,) = read(server_py=text).tools
    assert tool.unused_parameters == unused


def test_limits_defaults_and_errors_have_their_lines(read):
    tool = tool_of(
        read,
        """
        count = min(int(b or 5), 100)
        if not a:
            raise ValueError("give a berth")
        return {"berths": [a] * count, "count": count}
        """,
    )
    assert [(limit.parameter, limit.text, limit.line) for limit in tool.limits] == [
        ("b", "default 5", 8),
        ("b", "at most 100", 8),
    ]
    assert [(error.text, error.line) for error in tool.errors] == [("give a berth", 10)]
    assert tool.returns == "object with keys berths, count"


@pytest.mark.parametrize("test", ["a[:3] == '//?'", "a[:3].lower() != 'abc'", "a[:1] in ('/', '.')"])
def test_a_slice_that_is_only_compared_limits_nothing(read, test):
    assert tool_of(read, f"if {test}:\n    return b\nreturn a").limits == ()
    assert [limit.text for limit in tool_of(read, f"if {test}:\n    return b\nreturn a[:3]").limits] == ["the first 3"]


def test_what_a_callback_settles_a_promise_with_is_not_known(read):
    ask = (
        "const ask = (text) => new Promise((resolve, reject) => { base.all(text, (bad, rows) => "
        "{ if (bad) { reject(bad); } else { resolve(rows); } }); });\n"
    )
    body = (
        "const rows = await ask(kind); if (rows.length === 0) return "
        '{ content: [{ type: "text", text: JSON.stringify({ depth: 0, tide: kind }) }] };'
        '\nreturn { content: [{ type: "text", text: JSON.stringify(rows) }] };'
    )
    tool = f'server.tool("show", "x", {{ kind: z.string() }}, async ({{ kind }}) => {{ {body} }});'
    base = 'import sqlite3 from "sqlite3";\nconst base = new sqlite3.Database("b");\n'
    (tool,) = read(index_js=f'import {{ z }} from "zod";\n{base}{SCRIPT}{ask}{tool}').tools
    assert tool.returns is None


def test_credentials_are_the_variables_that_the_code_reads(read):
    assert tool_of(read, 'return os.environ["HARBOUR_KEY"]', before="import os\n").credentials == ("HARBOUR_KEY",)
    assert tool_of(read, 'return os.getenv("HARBOUR_KEY")', before="import os\n").credentials == ("HARBOUR_KEY",)


# Safety and cost


def test_nothing_is_executed(read, tmp_path):
    trap = f"import pathlib\npathlib.Path({str(tmp_path / 'ran')!r}).touch()\n"
    report = read(server_py=trap + HEAD + "@server.tool()\ndef run() -> str:\n    return ''\n")
    assert [tool.name for tool in report.tools] == ["run"]
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("broken_py", "def ("),
        ("deep_py", "x = " + "(" * 5_000 + ")" * 5_000),
        ("long_py", "x = '" + "a" * 5_000_000 + "'"),
    ],
)
def test_a_hostile_file_is_a_problem_and_the_others_are_read(read, name, text):
    tool = HEAD + "@server.tool()\ndef run() -> str:\n    return ''\n"
    report = read(server_py=tool, **{name: text})
    assert [entry.name for entry in report.tools] == ["run"]
    assert [problem.partition(":")[0].partition(",")[0] for problem in report.problems] == [name.replace("_py", ".py")]


def test_what_a_decorator_does_while_its_file_is_loaded_is_nothing_that_a_tool_does(read):
    """`boats` stands in another file, which is run in the names of this one."""
    tables = (
        "from pathlib import Path\n\ndef listed(name):\n    Path(name).write_text(name)\n    return lambda function: function\n\n"
        '@listed("boats")\ndef boats(harbour):\n    return harbour.upper()\n'
    )
    server = HEAD + "@server.tool()\ndef list_boats(harbour: str) -> str:\n    return boats(harbour)\n"
    tool = read(server_py=server, tables_py=tables).tools[0]
    assert effects(tool) == []
    assert tool.read_only is True


def test_deep_scripts_and_cycles_of_imports_and_calls_end(read):
    deep = "server.registerTool('run', {}, () => " + "(" * 3_000 + "1" + ")" * 3_000 + ");"
    cycle = (
        "from b import g\n"
        + HEAD
        + "@server.tool()\ndef run(a: str) -> str:\n    return g(a)\n\ndef f(a):\n    return g(a)\n"
    )
    report = read(deep_js=deep, a_py=cycle, b_py="from a import f\n\ndef g(a):\n    return f(a)\n")
    assert "run" in [tool.name for tool in report.tools]


def test_a_link_out_of_the_folder_is_not_followed_and_a_pipe_not_waited_for(read, tmp_path):
    os.mkfifo(tmp_path / "pipe.py")
    outside = tmp_path.parent / "outside.py"
    outside.write_text(HEAD + "@server.tool()\ndef secret() -> str:\n    return ''\n")
    (tmp_path / "link.py").symlink_to(outside)
    assert [
        tool.name for tool in read(server_py=HEAD + "@server.tool()\ndef run() -> str:\n    return ''\n").tools
    ] == ["run"]


def test_a_folder_without_source_is_refused(tmp_path):
    with pytest.raises(InputError, match="has no Python, JavaScript or TypeScript file"):
        tdqs_mcp.read_code(tmp_path)


@pytest.mark.bench
def test_the_cost_grows_with_the_tools(tmp_path, compare_work):
    def reading(count):
        folder = tmp_path / str(count)
        folder.mkdir()
        tools = "".join(f"@server.tool()\ndef tool{n}(a: str) -> str:\n    return load(a)\n\n" for n in range(count))
        (folder / "server.py").write_text(HEAD + "def load(a):\n    return open(a).read()\n\n" + tools)
        return lambda: tdqs_mcp.read_code(folder)

    compare_work(reading(800), reading(100), at_most=8)


# The command


def test_the_command_prints_the_contract(read, tmp_path, command):
    read(server_py=HEAD + '@server.tool()\ndef run(a: str) -> str:\n    open(a, "w").write("")\n    return a\n')
    (tool,) = json.loads(command("code", tmp_path, "--format", "json").stdout)["tools"]
    assert tool["handler"] == {"file": "server.py", "line": 6, "end": 8}
    assert tool["effects"][0] | {"text": ""} == {
        "kind": "file-write",
        "file": "server.py",
        "line": 7,
        "depth": 0,
        "text": "",
        "host": "",
        "condition": "",
        "method": "",
        "isHousekeeping": False,
    }
    assert (tool["readOnly"], tool["destructive"], tool["idempotent"], tool["openWorld"]) == (
        False,
        True,
        "unknown",
        False,
    )
    assert (tool["unusedParameters"], tool["deadEnumValues"], tool["unresolved"]) == ([], [], [])


def test_the_hints_of_a_review_have_lines_as_reasons(read, tmp_path, command):
    read(server_py=HEAD + '@server.tool()\ndef run(a: str) -> str:\n    open(a, "w").write("")\n    return a\n')
    (tool,) = json.loads(command("code", tmp_path, "--format", "openai-hints").stdout)["tools"]
    assert tool["readOnlyHint"] == {
        "value": False,
        "justification": "file-write (open w) at server.py:7",
    }
    assert tool["openWorldHint"] == {
        "value": False,
        "justification": "no call of the handler changes anything public or of third parties",
    }
    body = "    return httpx.get(f'https://x.test/{a}').text\n"
    read(server_py=f"import httpx\n{HEAD}@server.tool()\ndef run(a: str) -> str:\n{body}")
    (tool,) = json.loads(command("code", tmp_path, "--format", "openai-hints").stdout)["tools"]
    assert tool["openWorldHint"]["value"] is False  # of MCP's meaning it is true
    assert tool["openWorldHint"]["justification"].endswith(
        "it only reads there: http-read (GET) to x.test at server.py:8"
    )
    read(server_py=f"{HEAD}@server.tool()\ndef run(a: str) -> str:\n    return str(eval(a))\n")
    (tool,) = json.loads(command("code", tmp_path, "--format", "openai-hints").stdout)["tools"]
    assert tool["openWorldHint"] == {"value": True, "justification": "runs-code (eval) at server.py:7"}
    queue = "from celery import Celery\napp = Celery('x')\n"
    read(server_py=f"{queue}{HEAD}@server.tool()\ndef run(a: str) -> str:\n    app.send_task('sail', args=[a])\n")
    (tool,) = json.loads(command("code", tmp_path, "--format", "openai-hints").stdout)["tools"]
    assert (tool["readOnlyHint"]["value"], tool["openWorldHint"]["value"]) == (False, False)
    run = 'import subprocess\n    return subprocess.run(["git", "status", a]).stdout\n'
    read(server_py=f"{HEAD}@server.tool()\ndef run(a: str) -> str:\n    {run}")
    (tool,) = json.loads(command("code", tmp_path, "--format", "openai-hints").stdout)["tools"]
    assert tool["readOnlyHint"] == {
        "value": True,
        "justification": "what it reaches beside reads changes nothing: process (git status) at server.py:8",
    }


def test_programs_get_the_line_of_the_code(read, tmp_path, command, write):
    tool = {
        "name": "run",
        "description": "Sync.",
        "inputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": True},
    }
    catalog = write("catalog.json", [tool])
    read(server_py=HEAD + '@server.tool()\ndef run(a: str) -> str:\n    open(a, "w").write("")\n    return a\n')
    words = ("lint", "catalog.json", "--source", ".", "--select", "TDQ801", "--format")
    (finding,) = json.loads(command(*words, "json", cwd=catalog.parent).stdout)["findings"]
    assert finding["code"] == {"file": "server.py", "line": 7}
    assert command(*words, "github", cwd=catalog.parent).stdout.startswith(
        b"::error file=server.py,line=7,title=TDQ801"
    )
    result = json.loads(command(*words, "sarif", cwd=catalog.parent).stdout)["runs"][0]["results"][0]
    places = [
        (place["artifactLocation"]["uri"], place["region"]["startLine"])
        for location in (*result["locations"], *result["relatedLocations"])
        for place in [location["physicalLocation"]]
    ]
    assert places[0] == ("server.py", 7)
    assert places[1:] == [("server.py", 6)]  # where the source declares the tool


SURE_CHANGES = {
    "requests.put(f'https://x.test/{a}')": "error",
    "requests.delete(f'https://x.test/{a}') if a == 'all' else ''": "error",
    "open(f'{a}.log', 'w').write('found') if a else ''": "error",
    "requests.put('https://x.test/all')": "warning",
    "sdk.Client().update_berth(a)": "warning",
}


@pytest.mark.parametrize("line", SURE_CHANGES)
def test_a_read_only_tool_that_surely_changes_something_is_an_error(read, tmp_path, command, line):
    read(
        server_py="import requests\nimport stripe as sdk\n" + HEAD + "from mcp.types import ToolAnnotations\n\n"
        "@server.tool(annotations=ToolAnnotations(readOnlyHint=True))\ndef find(a: str) -> str:\n"
        f'    """Find a berth of the harbour."""\n    return {line}\n\n\n'
        '@server.tool()\ndef ring(a: str, b: str) -> str:\n    """Ring a bell."""\n    return a\n\n\n'
        '@server.tool()\ndef tide(a: str) -> str:\n    """Tell the tide."""\n    return a\n'
    )
    done = command("lint", tmp_path, "--select", "TDQ801", "--format", "json")
    assert [finding["severity"] for finding in json.loads(done.stdout)["findings"]] == [SURE_CHANGES[line]]
    assert done.returncode == (SURE_CHANGES[line] == "error")
    fixes = command("score", tmp_path).stdout.decode().partition("Fix first")[2]
    assert fixes.index("[TDQ801]") < fixes.index("[TDQ1")  # which would raise the score
    if SURE_CHANGES[line] == "error":
        assert fixes.index("[TDQ801]") < fixes.index("[TDQ805]")


def test_a_score_has_the_findings_about_the_code(read, tmp_path, command, write):
    tool = {
        "name": "run",
        "description": "Sync.",
        "inputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": True},
    }
    catalog = write("catalog.json", [tool])
    read(server_py=HEAD + '@server.tool()\ndef run(a: str) -> str:\n    open(a, "w").write("")\n    return a\n')
    score = json.loads(command("score", catalog, "--source", tmp_path, "--format", "json").stdout)
    assert "TDQ801" in json.dumps(score)


def test_a_lock_pins_effects_and_verify_tells_new_ones(read, tmp_path, command, write):
    tool = {"name": "run", "description": "Sync the berths.", "inputSchema": {"type": "object"}}
    catalog, lock = write("catalog.json", [tool]), tmp_path / "tdqs.lock"
    body = "@server.tool()\ndef run(a: str) -> str:\n    return open(a).read()\n"
    read(server_py=HEAD + body)
    assert command("lock", catalog, "--lock", lock, "--source", tmp_path).returncode == 0
    assert command("lock", "--check", catalog, "--lock", lock, "--source", tmp_path).returncode == 0
    read(server_py=HEAD + "import os\n" + body.replace("return", "os.remove(a)\n    return"))
    changed = command("lock", "--check", catalog, "--lock", lock, "--source", tmp_path, "--format", "json")
    (change,) = json.loads(changed.stdout)["changes"]
    assert changed.returncode == 1
    assert (change["part"], change["impact"], change["change"]) == ("tool:run", "dangerous", "new-effect")
    assert change["message"] == "now deletes files (server.py:8); its definition did not change"
    assert command("lock", catalog, "--lock", lock, "--source", tmp_path, "--accept", "tool:run").returncode == 0
    assert command("lock", "--check", catalog, "--lock", lock, "--source", tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("old", "new", "line", "impact"),
    [
        ({}, {"readOnlyHint": True}, "return open(a).read()", "compatible"),
        ({}, {"readOnlyHint": True}, "return requests.put(a).text", "dangerous"),
        ({}, {"readOnlyHint": True}, "return requests.post(a).text", "dangerous"),  # unproven
        ({"readOnlyHint": True}, {"readOnlyHint": False}, "return requests.put(a).text", "compatible"),
        ({"readOnlyHint": True}, {}, "return requests.put(a).text", "dangerous"),
    ],
)
def test_a_hint_that_the_code_proves_is_no_danger(read, tmp_path, command, write, old, new, line, impact):
    tool = {"name": "run", "description": "Sync the berths.", "inputSchema": {"type": "object"}}
    lock, words = tmp_path / "tdqs.lock", ("--source", tmp_path, "--format", "json")
    read(server_py=f"import requests\n{HEAD}@server.tool()\ndef run(a: str) -> str:\n    {line}\n")
    assert command("lock", write("c.json", [tool | {"annotations": old}]), "--lock", lock, *words).returncode == 0
    changed = command("lock", "--check", write("c.json", [tool | {"annotations": new}]), "--lock", lock, *words)
    (change,) = json.loads(changed.stdout)["changes"]
    assert change["impact"] == impact
    assert (change["change"] == "proven-hint") is (impact == "compatible")
    assert ("which the code proves: server.py:" in change["message"]) is (impact == "compatible")


def test_a_lock_without_code_says_that_nothing_of_it_is_pinned(read, tmp_path, command, write):
    tool = {"name": "run", "description": "Sync the berths.", "inputSchema": {"type": "object"}}
    catalog, lock = write("catalog.json", [tool]), tmp_path / "tdqs.lock"
    assert command("lock", catalog, "--lock", lock).returncode == 0
    assert "effects" not in json.loads(lock.read_text())["servers"][0]["tools"][0]
    read(server_py=HEAD + "@server.tool()\ndef run() -> str:\n    return ''\n")
    assert (
        b"the lock holds nothing of the code"
        in command("lock", "--check", catalog, "--lock", lock, "--source", tmp_path).stdout
    )


def test_the_readme_shows_what_the_command_prints(command):
    shown = (
        (ROOT / "docs" / "code.md")
        .read_text(encoding="utf-8")
        .split("tdqs-mcp code examples/careless\n```\n\n```\n")[1]
    )
    printed = command("code", "examples/careless", cwd=ROOT, env={"COLUMNS": "110"}).stdout.decode()
    assert [line.rstrip() for line in printed.splitlines()] == shown.split("```")[0].splitlines()


# Published servers, labelled by an LLM reader of their code


KINDS = frozenset({"file-write", "file-delete", "process", "sql-write", "runs-code"})


@pytest.fixture(scope="module")
def labelled(shared, tmp_path_factory):
    """Each labelled tool with its code, of the packages that the registries give today."""
    lines = (shared / "data" / "code_facts.jsonl").read_text(encoding="utf-8").splitlines()
    facts = [json.loads(line) for line in lines]
    folder, pairs = tmp_path_factory.mktemp("packages"), []
    for package, version in {(fact["package"], fact["version"]) for fact in facts}:
        root = unpack(package, version, folder)
        if root is not None:
            report = tdqs_mcp.read_code(root)
            pairs += [(fact, report.find(fact["tool"])) for fact in facts if fact["package"] == package]
    return pairs


def unpack(package, version, folder):
    """The folder of an unpacked package, which is not run; None for one that this Python cannot install."""
    registry, _, name = package.partition(":")
    root = folder / name.replace("/", "-")
    root.mkdir()
    if registry == "npm":
        packed = subprocess.run(
            ["npm", "pack", "--silent", f"{name}@{version}"], cwd=root, capture_output=True, check=True
        )
        subprocess.run(["tar", "xzf", packed.stdout.decode().split()[-1]], cwd=root, check=True)
        return root
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", root, f"{name}=={version}"]
    if subprocess.run(pip, capture_output=True, check=False).returncode:
        return None
    (wheel,) = root.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(root)
    return root


@pytest.mark.process
def test_handlers_of_published_servers_are_found_at_their_lines(labelled):
    missing = [fact["tool"] for fact, tool in labelled if tool is None or tool.handler is None]
    lines = [(fact["handler"].rsplit(":", 1), tool.handler) for fact, tool in labelled if tool and tool.handler]
    right = sum(handler.file.endswith(file) and abs(handler.line - int(line)) <= 3 for (file, line), handler in lines)
    assert (missing, right / len(lines) > 0.95) == ([], True)


@pytest.mark.process
def test_effects_of_published_servers_are_those_that_a_reader_found(labelled):
    pairs = [
        ({effect.kind for effect in tool.effects} & KINDS, set(fact["effects"]) & KINDS) for fact, tool in labelled
    ]
    right, shown, told = (
        sum(len(part(*pair)) for pair in pairs) for part in (set.__and__, lambda a, _: a, lambda _, b: b)
    )
    assert right / shown >= 0.95
    assert right / told >= 0.75


@pytest.mark.process
@pytest.mark.parametrize(
    ("verdict", "label", "bar"),
    [("read_only", "read_only", 0.95), ("destructive", "destructive", 0.9), ("open_world", "open_world", 0.9)],
)
def test_verdicts_on_published_servers_that_are_not_unknown_are_right(labelled, verdict, label, bar):
    known = [(getattr(tool, verdict), fact[label]) for fact, tool in labelled if getattr(tool, verdict) != "unknown"]
    decided = [(found, told) for found, told in known if told != "unclear"]
    assert sum(found == told for found, told in decided) / len(decided) >= bar


USES = {
    "their number": ("console.error(Object.keys(args).length); return save(args.berth);", ("day",)),
    "their values, by name": ("for (const key of Object.keys(args)) { body[key] = args[key]; } return save(body);", ()),
    "their values": ("return save(Object.keys(args).map((key) => `${key}=${args[key]}`).join());", ()),
}


@pytest.mark.parametrize("use", USES)
def test_to_count_arguments_is_no_use_of_them(read, use):
    body, unused = USES[use]
    head = 'import { writeFile } from "fs/promises";\nconst body = {};\nasync function save(value) { await writeFile("x", value); }\n'
    schema = "{inputSchema: {berth: z.string(), day: z.string()}}"
    (tool,) = read(server_js=f'{head}server.registerTool("add", {schema}, async (args) => {{ {body} }});\n').tools
    assert tool.unused_parameters == unused


def test_a_recursion_with_other_arguments_does_nothing_new(read):
    report = read(
        server_py=HEAD + "from pathlib import Path\n\n@server.tool()\ndef list_tree(folder: str) -> list:\n"
        "    def walk(place):\n        return [walk(str(part)) for part in Path(place).iterdir()]\n"
        "    return walk(folder)\n"
    )
    (tool,) = report.tools
    assert (tool.unresolved, *verdicts(tool)) == ((), True, False, False)


@pytest.mark.parametrize(
    ("branch", "expected"),
    [("print(place)", (True, False, False)), ("os.remove(place)", ("unknown", "unknown", "unknown"))],
)
def test_a_function_of_which_not_all_calls_are_followed_is_harmless_only_if_all_its_branches_are(
    read, branch, expected
):
    calls = "".join(f"    act('look {number}', place)\n" for number in range(14))
    report = read(
        server_py=HEAD + "import os\n\ndef act(kind, place):\n"
        f"    if kind == 'last':\n        {branch}\n    return kind\n\n"
        f"@server.tool()\ndef tidy(place: str) -> str:\n{calls}    act('last', place)\n    return 'done'\n"
    )
    assert verdicts(report.tools[0]) == expected


def test_what_the_lifespan_yields_is_the_context_of_every_call(read):
    report = read(
        server_py="from contextlib import asynccontextmanager\nimport httpx\nfrom mcp.server.fastmcp import Context, FastMCP\n\n"
        "@asynccontextmanager\nasync def run(server):\n    yield {'client': httpx.AsyncClient()}\n\n"
        "server = FastMCP('harbour', lifespan=run)\n\n"
        "@server.tool()\nasync def drop(name: str, ctx: Context) -> str:\n"
        "    client = ctx.request_context.lifespan_context['client']\n"
        "    return await client.delete(f'https://boats.example/{name}')\n"
    )
    assert [effect.kind for effect in report.tools[0].effects] == ["http-write"]


def test_what_a_server_keeps_in_its_session_may_do_anything(read):
    report = read(
        server_py="from mcp.server.fastmcp import Context, FastMCP\n\nserver = FastMCP('harbour')\n\n"
        "@server.tool()\ndef dock(ctx: Context, name: str) -> str:\n    return ctx.session.harbour.moor(name)\n"
    )
    (tool,) = report.tools
    assert (len(tool.unresolved), *verdicts(tool)) == (1, "unknown", "unknown", "unknown")


@pytest.mark.parametrize(
    ("line", "is_open"),
    [
        ("return ctx.session.harbour.get(name)", True),
        ("return ctx.get_state('harbour').get(name)", True),
        ("harbour = ctx.session.harbour\n    return harbour.boats.get(name)", True),
        ("return await open_harbour(name).get(name)", True),
        ("return parse(name).get(name)", False),
    ],
)
def test_a_harmless_name_proves_nothing_of_an_object_that_is_no_data(read, line, is_open):
    """`get` of a client may ask another machine; `get` of what a parser gave back reads an entry."""
    (tool,) = read(
        server_py="import json\nfrom fastmcp import FastMCP, Context\n\nserver = FastMCP('harbour')\n\n"
        "def parse(text):\n    return json.loads(text)['boats']\n\n"
        "def open_harbour(name):\n    return HARBOURS[name]\n\n"
        f"@server.tool()\nasync def boat(ctx: Context, name: str) -> str:\n    {line}\n"
    ).tools
    assert (tool.read_only, tool.open_world) == (("unknown", "unknown") if is_open else (True, False))


@pytest.mark.parametrize("names", [("tides", "winds"), ("tides", "winds", "berths", "boats")])
def test_lines_that_two_tools_append_may_be_their_work_and_those_of_all_four_are_a_log(read, names):
    log = 'import { writeFileSync } from "fs";\nfunction note(line) { writeFileSync("log.txt", line, {flag: "a"}); }\n'
    tools = [
        f'server.registerTool("read_{name}", {{inputSchema: {{day: z.string()}}}}, '
        "async ({day}) => { note(day); return {content: []}; });\n"
        for name in names
    ]
    report = read(server_js=log + "".join(tools))
    assert {(len(tool.effects), tool.read_only) for tool in report.tools} == {
        (1, True if len(names) == 4 else "unknown")
    }
    assert {tool.own_effects for tool in report.tools} == {()}


def test_a_lifespan_that_asks_for_its_own_context_ends(read):
    report = read(
        server_py="from mcp.server.fastmcp import Context, FastMCP\n\n"
        "async def run(server):\n    yield server.request_context.lifespan_context['client']\n\n"
        "server = FastMCP('harbour', lifespan=run)\n\n"
        "@server.tool()\ndef dock(ctx: Context, name: str) -> str:\n"
        "    return ctx.request_context.lifespan_context.dock(name)\n"
    )
    assert report.tools[0].unresolved


@pytest.mark.parametrize(("host", "rules"), [("boats.example", ["TDQ803"]), ("localhost:8100", [])])
def test_only_a_named_other_machine_proves_that_a_closed_world_is_open(tmp_path, command, host, rules):
    (tmp_path / "server.py").write_text(
        HEAD + "import requests\nfrom mcp.types import ToolAnnotations\n\n"
        "@server.tool(annotations=ToolAnnotations(openWorldHint=False))\ndef tide(name: str) -> str:\n"
        f"    return requests.get('http://{host}/tides', params={{'name': name}}).text\n",
        encoding="utf-8",
    )
    done = command("lint", str(tmp_path), "--select", "TDQ803", "--format", "json")
    assert [finding["rule"] for finding in json.loads(done.stdout)["findings"]] == rules


DISPROVED_BY_WRITING = {
    "Never writes.": True,
    "Shows the plan without changing anything.": True,
    "Shows the plan; it never changes anything.": True,
    "Shows the plan: nothing is modified.": True,
    "No data is ever changed.": True,
    "It makes no changes.": True,
    "Shows the plan without changing it.": True,
    "Shows the plan and only reads.": True,
    "The id of a plan never changes.": False,
    "Without `force`, nothing is changed.": False,
    "In a rehearsal, nothing is written.": False,
    "Nothing is changed until the plan is approved.": False,
    "Returns 0 if nothing was modified.": False,
    "It no longer deletes anything.": False,
    "Does not change the depth, but the tide.": False,
}


@pytest.mark.parametrize("text", DISPROVED_BY_WRITING)
def test_a_denial_of_any_change_is_disproved_in_each_plain_form(tmp_path, command, text):
    (tmp_path / "server.py").write_text(
        f'{HEAD}@server.tool()\ndef show(path: str):\n    """{text}"""\n    open(path, "a").write("x")\n    return path\n',
        encoding="utf-8",
    )
    done = command("lint", str(tmp_path), "--select", "TDQ809", "--format", "json")
    assert [finding["rule"] for finding in json.loads(done.stdout)["findings"]] == ["TDQ809"] * DISPROVED_BY_WRITING[
        text
    ]


def test_a_limit_in_the_documentation_of_a_parameter_is_held_against_the_code(tmp_path, command):
    (tmp_path / "server.py").write_text(
        f'{HEAD}@server.tool()\ndef find(limit: int = 10):\n    """List boats.\n\n    Args:\n'
        '        limit: Number of boats, at most 100.\n    """\n    return list(range(min(limit, 50)))\n',
        encoding="utf-8",
    )
    done = command("lint", str(tmp_path), "--select", "TDQ808", "--format", "json")
    (finding,) = json.loads(done.stdout)["findings"]
    assert finding["message"].startswith("the definition gives limit a maximum of 100, the code at most 50")


def test_the_name_that_a_client_gives_to_a_request_is_no_sure_change(tmp_path, command):
    (tmp_path / "server.py").write_text(
        HEAD
        + "from elevenlabs.client import ElevenLabs\nfrom mcp.types import ToolAnnotations\nclient = ElevenLabs()\n\n"
        "@server.tool(annotations=ToolAnnotations(readOnlyHint=True))\n"
        'def draw_plan(text: str):\n    """Draw a plan."""\n    return client.music.composition_plan.create(prompt=text)\n',
        encoding="utf-8",
    )
    done = command("lint", str(tmp_path), "--select", "TDQ801", "--format", "json")
    assert [finding["severity"] for finding in json.loads(done.stdout)["findings"]] == ["info"]


def test_a_file_that_a_listing_names_is_deleted_and_no_text_says_so(tmp_path, command):
    (tmp_path / "server.py").write_text(
        HEAD + 'import os\n\n@server.tool()\ndef show(folder: str):\n    """Show a folder\'s newest file."""\n'
        "    names = sorted(os.listdir(folder))\n    os.remove(os.path.join(folder, names[0]))\n    return names[-1]\n",
        encoding="utf-8",
    )
    done = command("lint", str(tmp_path), "--select", "TDQ810", "--format", "json")
    assert "file-delete (remove)" in json.loads(done.stdout)["findings"][0]["message"]


DISPROVED = {
    "writes nothing": ("Saves the plot to a PNG file.", "return name.upper()", True),
    "writes": ("Saves the plot to a PNG file.", "open('plot.png', 'w').write(name)\n    return name", False),
    "may write": ("Saves the plot to a PNG file.", "return plotter.draw(name)", False),
    "asks a program": (
        "Writes the plot to a file.",
        "import subprocess\n    return subprocess.run(['plot', name])",
        False,
    ),
    "on a condition": ("Saves the plot to a file if a path is set.", "return name.upper()", False),
    "lacks a key": ("Returns an object with keys id, depth.", "return {'id': name}", True),
    "has the key later": (
        "Returns an object with keys id, depth.",
        "boat = {'id': name}\n    boat['depth'] = 4\n    return boat",
        False,
    ),
    "is filled": (
        "Returns an object with keys id, depth.",
        "boat = {'id': name}\n    boat.update(M)\n    return boat",
        False,
    ),
    "computes a key": (
        "Returns a dict with fields id, depth.",
        "boat = {'id': name}\n    boat[K] = 4\n    return boat",
        False,
    ),
    "lacks a key of a list": (
        "Returns `id`, `name` and `depth`.",
        "import httpx\n    all = []\n    for boat in httpx.get(name):\n        all.append({'id': 1, 'name': name})\n    return all",
        True,
    ),
    "adds the key to all of a list": (
        "Returns `id`, `name` and `depth`.",
        "boats = [{'id': name, 'name': name}]\n    for boat in boats:\n        boat['depth'] = 4\n    return boats",
        False,
    ),
    "adds the key elsewhere": (
        "Returns an object with keys id, depth.",
        "boat = {'id': name}\n    fill(boat)\n    return boat",
        False,
    ),
    "adds the key to a copy": ("Returns an object with keys id, depth.", "return dict({'id': name}, depth=4)", False),
    "has the keys inside": ("Returns `id`, `name` and `depth`.", "return {'id': name, 'boat': B}", False),
    "has other keys": ("Returns an object with `id` and `depth`.", "return {'name': name, 'size': 1}", True),
    "writes no file": ("Writes the result to out.txt.", "return name.upper()", True),
    "writes no file at a path": ("Saves the result as JSON to `path`.", "return name.upper()", True),
    "describes a file": ("Writes a description of the file.", "return name.upper()", False),
    "no image": ("Returns an image.", "return '<svg>' + name + '</svg>'", True),
    "an image": ("Returns an image.", "return Image(data=name)", False),
    "an image as text": ("Returns an image as base64.", "return 'data:image/png;base64,' + name", False),
    "names more": ("Returns an object with keys id, depth of each berth.", "return {'id': name}", False),
    "asks a machine": (
        "Returns an object with keys id, depth.",
        "import requests\n    return requests.get('https://boats.example/' + name).json()",
        False,
    ),
}


@pytest.mark.parametrize("case", DISPROVED)
def test_a_statement_is_disproved_only_by_code_that_was_read_whole(tmp_path, command, case):
    text, body, is_disproved = DISPROVED[case]
    (tmp_path / "server.py").write_text(
        HEAD + "M = load()\nK = load()\nB = load()\n\ndef fill(boat):\n    boat['depth'] = 4\n\n"
        f'@server.tool()\ndef plot(name: str):\n    """Plot a boat. {text}"""\n    {body}\n',
        encoding="utf-8",
    )
    done = command("lint", str(tmp_path), "--select", "TDQ809", "--format", "json")
    assert [finding["rule"] for finding in json.loads(done.stdout)["findings"]] == ["TDQ809"] * is_disproved


def test_code_that_the_agent_writes_may_reach_anything(read):
    report = read(server_py=HEAD + "@server.tool()\ndef run(code: str) -> str:\n    exec(code)\n    return code\n")
    assert report.tools[0].open_world is True


def test_a_computed_mode_of_opening_leaves_no_doubt_about_other_machines(read):
    report = read(
        server_py=HEAD + "@server.tool()\ndef save(path: str, text: str, more: bool) -> str:\n"
        "    open(path, mode_of(more))\n    open(path, 'a' if more else 'w').write(text)\n    return path\n\n"
        "def mode_of(more):\n    return CONFIG[more]\n"
    )
    (tool,) = report.tools
    assert ([effect.text for effect in tool.effects], tool.open_world) == (["open a", "open w"], False)


def test_await_of_an_imported_function_is_followed_in_compiled_scripts(read):
    report = read(
        api_js='"use strict";\nexports.load = load;\nasync function load(url) { return fetch(url); }\n',
        server_js='"use strict";\nconst api = require("./api.js");\nserver.registerTool("load", { description: "Loads." }, '
        "async ({ url }) => {\n    const data = await (0, api.load)(url);\n    return data;\n});\n",
    )
    assert [effect.kind for effect in report.tools[0].effects] == ["http-read"]


def test_the_code_of_a_known_library_in_a_bundle_is_that_library(read):
    report = read(
        server_js="// node_modules/axios/lib/axios.js\nfunction createInstance(config) { return Reflect.make(config); }\n"
        "var axios = createInstance({});\nvar axios_default = axios;\n\n// src/server.ts\n"
        'var client = axios_default.create({ baseURL: "https://boats.example" });\n'
        'server.registerTool("drop", { description: "Drops." }, async ({ id }) => client.delete(`/boats/${id}`));\n'
    )
    (tool,) = report.tools
    assert ([(effect.kind, effect.host) for effect in tool.effects], tool.unresolved) == (
        [("http-write", "boats.example")],
        (),
    )


POSTS = {
    "the function adds": ("add_boat", "add_boat", "http-write"),
    "the function reads": ("find_boats", "find_boats", "http-read"),
    "a way of sending tells nothing": ("boats", "send_request", "sends-data-out"),
    "the nearest and the farthest disagree": ("add_boat", "get_token", "sends-data-out"),
    "both agree": ("add_boat", "create_item", "http-write"),
    "a name with two verbs": ("get_or_create_boat", "get_or_create_boat", "sends-data-out"),
}


@pytest.mark.parametrize("case", POSTS)
def test_a_post_does_what_the_functions_around_it_are_for(read, case):
    tool, function, kind = POSTS[case]
    report = read(
        server_py=HEAD + "import requests\n\n"
        f"def {function}_(text):\n    return requests.post('https://boats.example/v1/' + text, json=text)\n\n"
        f"@server.tool()\ndef {tool}(text: str) -> str:\n    return {function}_(text)\n"
    )
    assert [effect.kind for effect in report.tools[0].effects] == [kind]


def test_a_file_is_the_tool_s_own_only_if_it_wrote_that_file(read):
    report = read(
        server_js='import fs from "fs/promises";\n'
        'server.registerTool("swap", { description: "Swaps." }, async ({ path, other }) => {\n'
        '  await fs.writeFile(other, "");\n  await fs.rm(path);\n  await fs.rm(other);\n});\n'
    )
    assert [(effect.kind, effect.line) for effect in report.tools[0].effects] == [("file-write", 3), ("file-delete", 4)]


def test_an_argument_that_a_script_leaves_out_is_its_default(read):
    report = read(
        server_js="const request = async (path, options = {}) => fetch(`https://boats.example${path}`, { ...options });\n"
        "const load = (path, options) => request(path, options);\n"
        'server.registerTool("boats", { description: "Boats." }, async () => load("/boats"));\n'
        'server.registerTool("drop", { description: "Drops." }, async () => load("/boats", { method: "DELETE" }));\n'
    )
    assert [tool.effects[0].kind for tool in report.tools] == ["http-read", "http-write"]


def test_a_client_s_method_without_a_verb_does_what_the_http_method_says_that_it_is_given(read):
    report = read(
        server_js='import { Client } from "@hubspot/api-client";\nconst client = new Client({});\n'
        'server.registerTool("boats", { description: "Boats." }, async () => client.apiRequest({ method: "GET", path: "/" }));\n'
        'server.registerTool("drop", { description: "Drops." }, async () => client.apiRequest({ method: "DELETE" }));\n'
    )
    assert [tool.effects[0].kind for tool in report.tools] == ["http-read", "http-write"]


LIBRARIES = {
    "a client that opens connections": (
        "from telethon import TelegramClient\n\nclient = TelegramClient('a', 1, 'b')\n",
        "client.delete_messages(a, [1])",
        ["http-write"],
    ),
    "a helper of its": ("import telethon\n", "telethon.utils.get_display_name(a)", []),
    "a resource of Google's": (
        "from googleapiclient.discovery import build\n\nservice = build('sheets', 'v4')\n",
        "service.spreadsheets().values().get(spreadsheetId=a).execute()",
        ["http-read"],
    ),
    "a change of one": (
        "from googleapiclient.discovery import build\n\nservice = build('sheets', 'v4')\n",
        "service.spreadsheets().values().batchUpdate(spreadsheetId=a).execute()",
        ["http-write"],
    ),
    "an answer of Google's": (
        "from googleapiclient.discovery import build\n\nservice = build('sheets', 'v4')\n",
        "service.spreadsheets().get(spreadsheetId=a).execute().get('title', '').replace('a', 'b')",
        ["http-read"],
    ),
    "a program": ("import pytesseract\n", "pytesseract.image_to_string(a)", ["process"]),
    "a version": ("import subprocess\n", "subprocess.run(['helm', 'version'])", ["process"]),
}


@pytest.mark.parametrize("case", LIBRARIES)
def test_libraries_do_what_their_own_code_does(read, case):
    before, call, kinds = LIBRARIES[case]
    report = read(server_py=HEAD + f"{before}\n@server.tool()\ndef run(a: str) -> str:\n    return {call}\n")
    (tool,) = report.tools
    assert ([str(effect.kind) for effect in tool.effects], tool.unresolved) == (kinds, ())


@pytest.mark.process
def test_the_effects_of_libraries_are_read_in_their_code(tmp_path):
    """`calibration/library_effects.py` makes `libraries.json`: here of three libraries of ours."""
    for name, text in {
        "py/wharf/wharf/__init__.py": "import requests\n\nclass Wharf:\n    def moor(self, boat):\n"
        "        return requests.delete(f'https://boats.example/{boat}')\n",
        "py/knots/knots/__init__.py": "import math\n\ndef knots(speed):\n    return math.floor(speed * 1.94)\n",
        "js/tide/package/package.json": '{"main": "index.js"}',
        "js/tide/package/index.js": 'const run = require("child_process");\nexports.tide = () => run.execSync("tide");\n'
        "export function level(port) { return run.execSync(port); }\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    script = ROOT / "calibration" / "library_effects.py"
    output = subprocess.run([sys.executable, script, tmp_path], capture_output=True, check=True).stdout
    assert json.loads(output) == {
        "py": {
            "harmless": "knots",
            "packages": {"wharf": {"client http": "*", "http-write DELETE": "moor"}},
        },
        "js": {"harmless": "", "packages": {"tide": {"process": "level"}}},
    }


def test_a_connection_that_every_tool_s_first_call_opens_changes_nothing(read):
    tools = "".join(
        f"@server.tool()\ndef tool{n}(a: str) -> list:\n    return store.read('SELECT {n} WHERE x = ?', a)\n\n"
        for n in range(5)
    )
    store = (
        "import sqlite3\n\nclass Store:\n    link = None\n    def open(self):\n        if self.link is None:\n"
        "            self.link = sqlite3.connect('boats.db')\n        return self.link\n"
        "    def read(self, text, value):\n        return self.open().execute(text, (value,)).fetchall()\n\nstore = Store()\n"
    )
    report = read(server_py=HEAD + store + tools)
    assert {(tool.read_only, tool.destructive) for tool in report.tools} == {(True, False)}


def test_an_update_of_what_a_client_gave_back_may_change_the_service(read):
    report = read(
        server_js='import Airtable from "airtable";\nconst base = new Airtable({}).base("harbour");\n'
        'server.registerTool("moor", { description: "Moors." }, async ({ id }) => base("boats").update(id, {}));\n'
    )
    assert (report.tools[0].read_only, report.tools[0].open_world) == ("unknown", True)


REGISTRIES = {
    "py list": (
        "server_py",
        """
        import httpx
        from mcp.server.lowlevel import Server

        server = Server("harbour")

        def find(args):
            return httpx.get("https://x.test/berths").text

        def drop(args):
            return httpx.delete("https://x.test/berths").text

        TOOLS = [Entry(name=f"other{n}", run=None) for n in range(9)]

        class Entry(BaseModel):
            name: str
            run: object

        LISTED = [
            Entry(name="find_berths", run=find),
            Entry(name="drop_berths", run=drop),
        ]

        @server.list_tools()
        async def list_tools():
            return [
                types.Tool(name="find_berths", description="", inputSchema={}),
                types.Tool(name="drop_berths", description="", inputSchema={}),
            ]

        @server.call_tool()
        async def call_tool(name, arguments):
            run = next((tool.run for tool in LISTED if tool.name == name), None)
            return run(arguments)
        """,
    ),
    "js map": (
        "server_js",
        """
        import { Server } from "@modelcontextprotocol/sdk/server/index.js";
        class Base {
            constructor(tool) { this.tool = tool; }
            async handle(args) { return await this.act(args); }
        }
        class Find extends Base {
            constructor() { super({ name: "find_berths", description: "Find", inputSchema: {} }); }
            async act(args) { return await fetch("https://x.test/berths"); }
        }
        class Drop extends Base {
            constructor() { super({ name: "drop_berths", description: "Drop", inputSchema: {} }); }
            async act(args) { return await fetch("https://x.test/berths", { method: "DELETE" }); }
        }
        const tools = new Map();
        function register(tool) {
            const name = tool.tool.name;
            tools.set(name, tool);
        }
        register(new Find());
        register(new Drop());
        server.setRequestHandler(CallToolRequestSchema, async (request) => {
            const tool = tools.get(request.params.name);
            return await tool.handle(request.params.arguments);
        });
        """,
    ),
    "js helper that makes records": (
        "server_js",
        """
        const declare = (schema, name, description) => ({ name, description, inputSchema: convert(schema) });
        const TOOLS = [declare(Find, "find_berths", "Find"), declare(Drop, "drop_berths", "Drop")];
        const handlers = (kind) => ({
            find_berths: async (request) => fetch("https://x.test/berths"),
            drop_berths: async (request) => fetch("https://x.test/berths", { method: "DELETE" }),
        });
        const all = { ...handlers("x") };
        var Nt = Request.extend({ method: literal("tools/call") });
        server.setRequestHandler(Nt, async (request) => all[request.params.name](request));
        """,
    ),
    "py records of classes": (
        "server_py",
        """
        import httpx
        from mcp import types

        class Model(BaseModel):
            @classmethod
            def as_tool(cls):
                return types.Tool(name="berths_" + cls.__name__, description=cls.__doc__, inputSchema={})

        class find_berths(Model):
            pass

        class drop_berths(Model):
            pass

        @server.call_tool()
        async def call_tool(name, arguments):
            match name[7:]:
                case "find_berths":
                    return httpx.get("https://x.test/berths").text
                case "drop_berths":
                    return httpx.delete("https://x.test/berths").text
        """,
    ),
}


@pytest.mark.parametrize("case", REGISTRIES)
def test_a_tool_of_a_registry_has_its_own_code(read, case):
    name, text = REGISTRIES[case]
    tools = {tool.name.removeprefix("berths_"): tool for tool in read(**{name: text}).tools}
    kinds = {name: [effect.kind for effect in tools[name].effects] for name in ("find_berths", "drop_berths")}
    assert kinds == {"find_berths": ["http-read"], "drop_berths": ["http-write"]}


def test_modules_compiled_to_commonjs_know_each_other(read):
    report = read(
        boats_js="""
        "use strict";
        exports.Boat = exports.find = void 0;
        const fs_1 = __importDefault(require("fs"));
        class Boat { sink(name) { fs_1.default.unlinkSync(name); } }
        exports.Boat = Boat;
        """,
        index_js="""
        "use strict";
        var __exportStar = (this && this.__exportStar) || function (m, exports) { for (var p in m) exports[p] = m[p]; };
        __exportStar(require("./boats"), exports);
        """,
        server_js="""
        const index_1 = require("./index");
        server.tool("sink", "Sink", {}, async ({ name }) => { new index_1.Boat().sink(name); });
        """,
    )
    assert [effects(tool) for tool in report.tools] == [["file-delete boats.js:5"]]


def test_a_client_that_a_function_makes_later_is_known(read):
    before = "import httpx\n\nclient = None\n\ndef start():\n    global client\n    client = httpx.Client()\n"
    tool = tool_of(read, 'client.delete("https://x.test/berths")', before=before)
    assert [effect.kind for effect in tool.effects] == ["http-write"]


def test_the_name_of_a_class_may_say_that_it_asks_a_service(read):
    before = "from harbourkit import BerthsApi, Berths\n"
    assert verdicts(tool_of(read, "return BerthsApi().list_berths()", before=before)) == (True, False, True)
    assert tool_of(read, "return BerthsApi().dock(a)", before=before).read_only == "unknown"
    assert tool_of(read, "return Berths().list_berths()", before=before).read_only == "unknown"
    assert tool_of(read, "return Berths().get(a)", before=before).read_only == "unknown"


def test_a_default_of_this_machine_that_a_setting_replaces_closes_no_world(read):
    url = (
        'import os\nimport httpx\nreturn httpx.get(os.getenv("HARBOUR_URL", "http://localhost:8123") + "/berths").text'
    )
    assert tool_of(read, url).open_world is True
    assert tool_of(read, 'import httpx\nreturn httpx.get("http://localhost:8123/berths").text').open_world is False


def test_a_file_of_the_server_that_is_made_where_it_is_missing_is_set_up(read):
    before = 'import os\nfrom pathlib import Path\n\nSTORE = Path("berths.json")\n\n'
    made = 'if not STORE.exists():\n    STORE.write_text("{}")\nreturn STORE.read_text()'
    assert tool_of(read, made, before=before).read_only is True
    assert tool_of(read, made.replace('"{}"', "a"), before=before).read_only is False
    assert tool_of(read, made.replace("not STORE", "STORE"), before=before).read_only is False
    assert tool_of(read, made.replace("STORE.write", "Path(a).write"), before=before).read_only is False


def test_the_verb_of_an_address_alone_does_not_decide_of_a_post(read):
    def act(path, name):
        before = f"import httpx\n\ndef {name}(a):\n    return httpx.post('https://x.test/alerts/' + a + '/{path}')\n"
        return [f"{effect.kind} {effect.text}" for effect in tool_of(read, f"return {name}(a)", before=before).effects]

    assert act("acknowledge", "send") == ["sends-data-out POST acknowledge"] == [*act("acknowledge", "get_alert")]
    assert act("resolve", "send") == ["sends-data-out POST"]
    assert act("acknowledge", "update_alert") == ["http-write POST in update_alert()"]


@pytest.mark.parametrize(
    ("path", "is_read"),
    [
        ("search/{a}/feedback", "unknown"),
        ("feedback", "unknown"),
        ("feedback/search", True),
        ("berths/{a}/query", True),
        ("berths/by/address", True),
    ],
)
def test_a_post_to_things_is_no_read_whatever_the_function_is_called(read, path, is_read):
    before = f"import httpx\n\ndef search_feedback(a, b):\n    return httpx.post(f'https://x.test/{path}', json={{'rating': b}}).text\n"
    assert verdicts(tool_of(read, "return search_feedback(a, b)", before=before))[::2] == (is_read, True)


def test_a_change_that_no_other_tool_makes_is_the_tool_s_own_work(read):
    helpers = (
        "import os\n\ndef outer():\n    inner()\n\ndef inner():\n    drop()\n\ndef drop():\n    os.remove('berths')\n\n"
    )
    tool = "@server.tool()\ndef tool{n}(a: str) -> str:\n    {call}\n    return a\n\n"
    alone = [tool.format(n=n, call="pass" if n else "outer()") for n in range(6)]
    shared = [tool.format(n=n, call="pass" if n > 1 else "outer()") for n in range(6)]
    assert read(server_py=HEAD + helpers + "".join(alone)).find("tool0").read_only is False
    assert read(server_py=HEAD + helpers + "".join(shared)).find("tool0").read_only == "unknown"


def test_a_word_in_the_middle_of_a_client_s_method_leaves_its_verb_open(read):
    before = "import praw\n\nclient = praw.Reddit()\n"
    assert tool_of(read, "return client.user_posts(a)", before=before).read_only is True
    assert tool_of(read, "return client.user_post_tag(a)", before=before).read_only == "unknown"
    assert tool_of(read, "return client.user_post_create(a)", before=before).read_only is False
    assert tool_of(read, 'return client.user(a).name.replace("-", "")', before=before).read_only is True


def test_what_takes_nothing_of_the_user_s_is_no_deletion(read):
    temporary = """
        import os
        import tempfile
        from pathlib import Path
        handle, name = tempfile.mkstemp()
        part = Path(name)
        part.write_text(a)
        part.replace(Path(b))
        part.unlink(missing_ok=True)
        """
    assert [effect.kind for effect in tool_of(read, temporary).effects if "delete" in effect.kind] == []
    renamed = "from pathlib import Path\nreturn Path(a).name.replace('-', '_')"
    assert tool_of(read, renamed).read_only is True
    image = "import io\nfrom PIL import Image\nbuffer = io.BytesIO()\nImage.open(a).convert('RGB').save(buffer)"
    assert tool_of(read, image).read_only is True


# What unseen packages needed


def test_the_handler_is_the_function_that_a_branch_a_table_or_a_wrapper_hands_all_arguments_to(read):
    head = 'import { Server } from "@modelcontextprotocol/sdk/server/index.js";\nconst server = new Server({ name: "harbour" });\n'
    tools = "const TOOLS = [\n" + "".join(
        f'  {{ name: "{name}", description: "Boats.", inputSchema: {{ type: "object", properties: {{}} }} }},\n'
        for name in ("find_boats", "list_boats")
    )
    harbour = "class Harbour {\n  find(args) { return args.name; }\n  list() { return []; }\n}\nconst harbour = new Harbour();\n"
    branches = (
        "server.setRequestHandler(CallToolRequestSchema, async (request) => {\n"
        "  const { name, arguments: args } = request.params;\n"
        "  switch (name) {\n"
        '    case "find_boats": return harbour.find(args || {});\n'
        '    case "list_boats": return harbour.list();\n'
        "  }\n});\n"
    )
    table = (
        "const TABLE = { find_boats: (args) => harbour.find(args.name), list_boats: () => harbour.list() };\n"
        "const checked = (params) => JSON.parse(JSON.stringify(params), (key) => key);\n"
        "server.setRequestHandler(CallToolRequestSchema, async (request) => {\n"
        "  const { name, arguments: args } = request.params;\n"
        "  return TABLE[name](args);\n});\n"
    )
    for dispatch, lines in ((branches, [8, 9]), (table, [12, 12])):
        report = read(server_js=head + tools + "];\n" + harbour + dispatch)
        assert [tool.handler.line for tool in report.tools] == lines
    wrapped = (
        'import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";\n'
        'const server = new McpServer({ name: "harbour" });\n'
        "const guarded = (inner) => async (args) => { try { return await inner(args); } catch { return null; } };\n"
        'server.registerTool("find_boats", { description: "Find boats." },\n'
        "  guarded(async (args) => args.name));\n"
    )
    report = read(server_js=wrapped)
    assert [tool.handler.line for tool in report.tools] == [5]


LISTED = (
    'import { Server } from "@modelcontextprotocol/sdk/server/index.js";\nimport fs from "fs";\n'
    'const find = { name: "find_boats", description: "Find.", inputSchema: { type: "object", properties: {} } };\n'
    'const sink = { name: NAMES.sink, description: "Sink.", inputSchema: { type: "object", properties: {} } };\n'
    "const TOOLS = [find, sink];\nfunction findBoats(args) { return args.name; }\n"
    "function sinkBoats(args) { fs.rmSync(args.name); return args.name; }\n"
)


@pytest.mark.parametrize(
    "dispatch",
    [
        (
            "const NAMES = { sink: 'sink_boats' };\nconst TABLE = { [find.name]: findBoats, [sink.name]: sinkBoats };\n"
            "server.setRequestHandler(CallToolRequestSchema, (request) => TABLE[request.params.name](request.params.arguments));"
        ),
        (
            "const NAMES = process.env.OLD ? { sink: 'scuttle' } : { sink: 'sink_boats' };\n"
            "server.setRequestHandler(CallToolRequestSchema, (request) => {\n"
            "  const { name, arguments: args } = request.params;\n"
            "  if (name === find.name) { return findBoats({ name: args.name, size: args.size }); }\n"
            "  if (name === NAMES.sink) { if (!args.name) throw new Error('no name'); return sinkBoats({ name: args.name }); }\n"
            "});"
        ),
    ],
)
def test_a_dispatch_is_followed_by_computed_keys_and_by_names_that_a_setting_chooses(read, dispatch):
    report = read(server_js=LISTED + dispatch)
    tools = [report.find("find_boats"), report.find("sink_boats")]
    assert [tool.handler.line for tool in tools] == [6, 7]
    assert [effect.kind for effect in tools[1].effects] == ["file-delete"]


def test_a_request_handler_written_by_hand_calls_the_method_of_the_tool_s_name(read):
    report = read(
        server_js="class Server {\n  find_boats(args) { return args.name; }\n"
        "  async handleRequest({ method, params }) {\n"
        "    if (method === 'tools/list') {\n      return { tools: [{ name: 'find_boats', description: 'Find.',\n"
        "        inputSchema: { type: 'object', properties: {} } }] };\n    }\n"
        "    if (method === 'tools/call') {\n      return { text: await this[params.name](params.arguments || {}) };\n    }\n"
        "  }\n}\n"
    )
    assert [(tool.handler.line, tool.read_only) for tool in report.tools] == [(2, True)]


def test_the_handler_is_what_a_function_that_adds_nothing_hands_its_parameters_to(read):
    report = read(
        server_py=HEAD + "def search(name, berth):\n    return name + berth\n\n"
        "def moor(client, name):\n    return client.moor(name)\n\n"
        '@server.tool()\ndef find_boats(name: str, berth: str) -> str:\n    """Find."""\n    return search(name, berth=berth)\n\n'
        "@server.tool()\ndef moor_boat(name: str) -> str:\n    return moor(CLIENT, name)\n\n"
        "@server.tool()\ndef count_boats(name: str) -> int:\n    return len(search(name, berth=''))\n"
    )
    lines = {tool.name: tool.handler.line - HEAD.count("\n") for tool in report.tools}
    assert lines == {"find_boats": 1, "moor_boat": 13, "count_boats": 17}


def test_of_one_wrapper_in_a_loop_the_handler_is_the_function_that_it_calls_for_each_tool(read):
    report = read(
        server_js="import fs from 'fs';\n"
        "const find = { name: 'find_boats', schema: {}, run: (args) => [args.name] };\n"
        "const sink = { name: 'sink_boats', schema: {}, run: (args) => fs.rmSync(args.name) };\n"
        "for (const tool of [find, sink]) {\n"
        "  server.registerTool(tool.name, { inputSchema: tool.schema }, async (args) => {\n"
        "    try { return { text: await tool.run(args) }; } catch { return null; }\n  });\n}\n"
    )
    assert {tool.name: tool.handler.line for tool in report.tools} == {"find_boats": 2, "sink_boats": 3}


@pytest.mark.parametrize(
    ("loader", "names"), [("import(path)", ["find_boats"]), ('import("./tools/find_boats.js")', [])]
)
def test_the_files_of_a_folder_that_is_loaded_by_name_are_tools(tmp_path, loader, names):
    (tmp_path / "tools").mkdir()
    (tmp_path / "server.js").write_text(f"for (const path of paths) add(await {loader});\n")
    (tmp_path / "tools" / "find_boats.js").write_text(
        'export const method = "find_boats";\nexport const description = "Find boats.";\n'
        "export const parameters = z.object({ name: z.string() });\n"
        "export async function handler(args) { return args.name; }\n"
    )
    report = tdqs_mcp.read_code(tmp_path)
    assert [(tool.name, tool.description, tool.handler.line) for tool in report.tools] == [
        (name, "Find boats.", 4) for name in names
    ]


@pytest.mark.parametrize(
    ("value", "is_read"),
    [("fetch(`https://boats.example/${id}`)", True), ("new Boat(id)", False)],
)
def test_a_map_that_keeps_other_machines_answers_is_a_cache(read, value, is_read):
    report = read(
        server_js="class Boat {}\nconst boats = new Map();\n"
        'server.registerTool("read_boat", {}, async ({ id }) => {\n'
        "  const known = boats.get(id);\n  if (known && known.time > Date.now()) return known.boat;\n"
        f"  boats.delete(id);\n  const boat = await {value};\n"
        "  boats.set(id, { time: Date.now(), boat });\n  return boat;\n});\n"
    )
    assert (report.tools[0].read_only is True) == is_read


def test_many_patterns_are_still_patterns(read):
    patterns = "".join(f"re.compile('boat{n}'), " for n in range(9))
    before = f"import re\n\nPATTERNS = [{patterns}]\n\n"
    body = "for pattern in PATTERNS:\n    a = pattern.sub(lambda found: found.group(1), a)\nreturn a"
    assert tool_of(read, body, before=before).read_only is True


def test_the_methods_of_lists_are_no_requests_of_a_client_in_a_scope(read):
    report = read(
        server_js='import { CosmosClient } from "@azure/cosmos";\nconst client = new CosmosClient(process.env.URL);\n'
        'server.registerTool("list_boats", {}, async () => {\n'
        "  const { resources } = await client.databases.readAll().fetchAll();\n  return resources.map((boat) => boat.id);\n});\n"
    )
    assert [effect.kind for effect in report.tools[0].effects] == ["http-read"]
    assert report.tools[0].read_only is True


def test_the_project_s_own_function_that_runs_in_a_page_is_followed_as_its_code(read):
    text = (
        'import {{ chromium }} from "playwright";\n'
        'server.registerTool("read_page", {{}}, async ({{ url }}) => {{\n'
        "  const page = await (await chromium.launch()).newPage();\n  await page.goto(url);\n"
        "  return page.evaluate({code});\n}});\n"
    )
    own, given = (read(server_js=text.format(code=code)).tools[0] for code in ("() => 1", "url"))
    assert "runs-code" not in {effect.kind for effect in own.effects}
    assert "runs-code" in {effect.kind for effect in given.effects}


def test_items_that_one_of_several_conditions_puts_into_an_object_are_not_lost(read):
    text = (
        'import fs from "fs";\n'
        "function clean(options) {\n"
        "  const dry = options.dry ?? true;\n"
        '  if (!dry) fs.rmSync("old");\n'
        "}\n"
        'server.registerTool("clean", { description: "Clean." }, async (args) => {\n'
        "  const options = {};\n"
        "  if (args.age) options.age = args.age;\n"
        "  if (args.dry !== undefined) options.dry = args.dry;\n"
        "  clean(options);\n"
        "});\n"
    )
    assert effects(read(server_js=text).tools[0]) == ["file-delete server.js:4"]


def test_compiled_scripts_keep_texts_classes_and_arguments(read):
    report = read(
        names_js='exports.toolName = exports.other = void 0;\nexports.toolName = "fetch_boats";\n',
        client_js=(
            "class Client {\n"
            "  static shared() { if (!Client.only) { Client.only = new Client(); } return Client.only; }\n"
            "  request(path_1) {\n"
            "    return __awaiter(this, arguments, void 0, function* (path, options = {}) {\n"
            '      return yield fetch("https://boats.example" + path, { method: options.method || "GET" });\n'
            "    });\n  }\n}\nexports.Client = Client;\n"
        ),
        server_js=(
            'const names_1 = require("./names");\nconst client_1 = require("./client");\n'
            'server.tool(names_1.toolName, "Fetch boats.", { id: z.string() }, async ({ id }) => '
            'client_1.Client.shared().request(`/boats/${id}`, { method: "PUT" }));\n'
        ),
    )
    assert [(tool.name, effects(tool)) for tool in report.tools] == [("fetch_boats", ["http-write client.js:5"])]


def test_an_alias_of_the_project_s_folders_is_followed(read):
    report = read(
        src__server_ts='import { remove } from "#store/boats";\nserver.tool("drop", "Drop.", {}, async () => remove());\n',
        src__store__boats_ts='import fs from "fs";\nexport const remove = () => fs.rmSync("boats");\n',
    )
    assert effects(report.tools[0]) == ["file-delete src/store/boats.ts:2"]


def test_functions_of_an_object_are_followed_where_nothing_else_has_their_name(read):
    text = (
        'import fs from "fs";\n'
        'const makeContext = () => ({ keep: (text) => fs.writeFileSync("boats.txt", text) });\n'
        'export const tool = { name: "keep_boat", description: "Keep a boat.", inputSchema: { type: "object", properties: {} },\n'
        "  handler: async (args, ctx) => ctx.keep(args.text) };\n"
    )
    assert effects(read(server_js=text).tools[0]) == ["file-write server.js:2"]


def test_asking_for_an_access_token_and_opening_a_session_change_nothing(read):
    before = "import httpx\nimport praw\n\nclient = praw.Reddit()\n"
    refresh = 'httpx.post("https://a.example/x", data={"grant_type": "refresh_token"}); return client.get_post(a)'
    assert tool_of(read, refresh, before=before).read_only is True
    assert tool_of(read, "client.connect(); return client.get_post(a)", before=before).read_only is True
    assert tool_of(read, "client.connect(a); return client.get_post(a)", before=before).read_only == "unknown"


def test_what_the_agent_s_words_look_up_is_the_agent_s_choice(read):
    text = (
        'import fs from "fs";\n'
        "class Files {\n"
        "  files = new Map();\n"
        "  load() { this.files.set('a', { path: '/tmp/a' }); }\n"
        "  remove(id) { const file = this.files.get(id); this.drop(file); }\n"
        "  drop(file) { fs.unlinkSync(file.path); }\n"
        "}\n"
        "const files = new Files();\n"
        'server.tool("remove", "Remove.", { id: z.string() }, async ({ id }) => files.remove(id));\n'
    )
    assert verdicts(read(server_js=text).tools[0])[:2] == (False, True)


def test_a_compiled_call_gives_a_registering_function_its_client(read):
    report = read(
        tools_js=(
            "exports.register = register;\n"
            'function register(server, client) { server.tool("list", "List.", {}, async () => client.get("/boats")); }\n'
        ),
        client_js=(
            "class Client { get(path) { return fetch(`https://boats.example${path}`); } }\nexports.Client = Client;\n"
        ),
        index_js=(
            'const tools_1 = require("./tools");\nconst client_1 = require("./client");\n'
            "function start(server) { (0, tools_1.register)(server, new client_1.Client()); }\n"
        ),
    )
    assert [(tool.read_only, effects(tool)) for tool in report.tools] == [(True, ["http-read client.js:1"])]


def test_text_that_an_unknown_object_evaluates_is_code(read):
    text = (
        'server.tool("look", "Look.", { script: z.string() }, async ({ script }) => (await open()).evaluate(script));\n'
    )
    tool = read(server_js='import { open } from "./missing.js";\n' + text).tools[0]
    assert effects(tool) == ["runs-code server.js:2"]
    assert verdicts(tool)[:2] == (False, True)


def test_files_of_a_machine_behind_ssh_are_files_and_the_machine_is_another(read):
    before = "import paramiko\n\nclient = paramiko.SSHClient()\nclient.connect('boats.example')\n"
    put = tool_of(read, "client.connect('boats.example'); client.open_sftp().open(a, 'w')", before=before)
    assert [effect.kind for effect in put.effects] == ["http-read", "file-write"]
    assert put.open_world is True
    drop = tool_of(read, "client.open_sftp().remove(a)", before=before)
    assert [effect.kind for effect in drop.effects] == ["file-delete"]


def test_a_name_that_a_file_does_not_bind_is_the_one_function_that_has_it(read):
    text = "@server.tool()\ndef drop(path: str):\n    return erase(path)\n"
    report = read(server_py=HEAD + text, tools_py="import os\n\ndef erase(path):\n    os.remove(path)\n")
    assert effects(report.tools[0]) == ["file-delete tools.py:4"]


def test_a_package_that_is_built_twice_is_read_once(read):
    text = 'server.tool("drop", "Drop.", {}, async () => fs.rmSync("boats"));\n'
    report = read(
        dist__index_js='import "./part-A.js";\n',
        **{"dist/index.cjs": 'require("./part-B.cjs");\n'},
        **{"dist/part-A.js": text, "dist/part-B.cjs": text, "lib/cjs/a.js": text, "lib/esm/a.js": text},
    )
    assert [tool.handler.file for tool in report.tools] == ["dist/part-A.js"]


def test_a_delete_of_an_unknown_library_s_client_is_not_taken_for_a_map_s(read):
    text = (
        'import { Translator } from "lara";\nconst lara = new Translator();\n'
        'server.tool("drop", "Drop.", { id: z.string() }, async ({ id }) => await lara.memories.delete(id));\n'
    )
    assert read(server_js=text).tools[0].read_only == "unknown"


@pytest.mark.parametrize(("schema", "unused"), [("z.literal(true)", ()), ("z.boolean()", ("confirm",))])
def test_a_parameter_with_a_single_value_is_an_acknowledgement_and_not_called_unused(read, schema, unused):
    report = read(
        server_js=f"""
        import {{ McpServer }} from "@modelcontextprotocol/sdk/server/mcp.js";
        import {{ z }} from "zod";
        const server = new McpServer({{ name: "harbour", version: "1" }});
        const inputSchema = {{ boat: z.string(), confirm: {schema} }};
        server.registerTool("scrap", {{ description: "Scrap a boat", inputSchema }}, async ({{ boat, confirm }}) => scrap(boat));
        """
    )
    assert report.tools[0].unused_parameters == unused


def test_a_parameter_that_a_function_in_a_table_uses_is_not_called_unused(read):
    text = (
        'server.tool("run", "Run.", { mode: z.string(), latest: z.boolean(), extra: z.string() },\n'
        "  async ({ mode, latest, extra }) => {\n"
        "    const table = { start: () => fetch(`https://boats.example/${latest}`) };\n"
        "    const chosen = Object.entries(table).find(([key]) => key === mode)[1];\n"
        "    return chosen();\n  });\n"
    )
    assert read(server_js=text).tools[0].unused_parameters == ("extra",)


def test_a_folder_for_the_tool_s_own_files_may_be_removed(read):
    text = (
        'import fs from "fs";\n'
        'server.tool("send", "Send.", { text: z.string() }, async ({ text }) => {\n'
        '  const folder = fs.mkdtempSync("boats-");\n  fs.rmSync(folder, { recursive: true });\n});\n'
    )
    assert "file-delete" not in [effect.kind for effect in read(server_js=text).tools[0].effects]


def test_the_variable_of_a_comprehension_is_not_the_parameter_of_its_name(read):
    body = "names = [a.name for a in list(b)]; return open(a) if names else None"
    assert tool_of(read, body).unused_parameters == ()


def test_a_handler_that_a_table_only_names_is_the_function_behind_it(read):
    report = read(
        server_js="async function findBerths(client, args) {\n"
        "  return fetch(`https://x.test/${args.id}`);\n}\n"
        "const handlers = { find: (client, args) => findBerths(client, args) };\n"
        'const TOOLS = [{name: "find", description: "Find.", inputSchema: {type: "object"}}];\n'
        "server.setRequestHandler(CallToolRequestSchema, async (request) =>\n"
        "  handlers[request.params.name]({}, request.params.arguments));\n"
    )
    assert (report.tools[0].handler.line, report.tools[0].read_only) == (1, True)


def test_what_follows_a_tool_s_own_branch_is_not_done_for_it(read):
    report = read(
        server_js='import { unlink } from "fs/promises";\n'
        'const TOOLS = ["status", "drop"].map((name) => name);\n'
        'const LIST = [{name: "status", description: "Status.", inputSchema: {}}, {name: "drop", description: "Drop.", inputSchema: {}}];\n'
        "server.setRequestHandler(CallToolRequestSchema, async (request) => {\n"
        "  const { name, arguments: args } = request.params;\n"
        '  if (name === "status") {\n    return "fine";\n  }\n'
        "  await unlink(args.path);\n});\n"
    )
    kinds = {tool.name: [effect.kind for effect in tool.effects] for tool in report.tools}
    assert kinds == {"status": [], "drop": ["file-delete"]}


STATEMENTS = {
    "a text of SQL": ('store.ask("DELETE FROM boats WHERE id = ?", (berth,))', ["sql-write"]),
    "a later argument": ("store.ask('boats', 'DELETE FROM boats')", ["sql-write"]),
    "the agent's text to a connection": ("apsw.Connection('a.db').cursor().execute(berth)", ["sql-write"]),
    "a sentence": ('store.ask("Delete from the list what is old", (berth,))', []),
    "marked text": ("sqlalchemy.create_engine('x').connect().execute(sqlalchemy.text(berth))", ["sql-write"]),
}


@pytest.mark.parametrize("case", STATEMENTS)
def test_a_statement_is_known_whatever_driver_takes_it(read, case):
    line, kinds = STATEMENTS[case]
    report = read(
        server_py=HEAD + "import apsw\nimport sqlalchemy\nfrom elsewhere import store\n\n"
        f"@server.tool()\ndef ask(berth: str) -> str:\n    return {line}\n"
    )
    assert [effect.kind for effect in report.tools[0].effects] == kinds


def test_a_table_is_written_to_a_file_only_where_a_path_is_given(read):
    report = read(
        server_py=HEAD + "import pandas as pd\n\n"
        '@server.tool()\ndef show(berth: str) -> str:\n    return pd.DataFrame([berth]).to_json(orient="records")\n\n'
        "@server.tool()\ndef keep(path: str) -> None:\n    pd.DataFrame([1]).to_csv(path)\n"
    )
    assert [[effect.kind for effect in tool.effects] for tool in report.tools] == [[], ["file-write"]]


def test_a_message_to_a_process_of_this_machine_reaches_no_other_one(read):
    report = read(
        server_py=HEAD + "import socket\n\n"
        "class Editor:\n    def __init__(self):\n        self.line = socket.socket()\n"
        '    def send_command(self, words):\n        self.line.connect(("localhost", 9000))\n        self.line.sendall(words)\n\n'
        "@server.tool()\ndef get_boats(berth: str) -> str:\n    return Editor().send_command(berth)\n"
    )
    (tool,) = report.tools
    hosts = {effect.host for effect in tool.effects if effect.kind.startswith(("http", "sends"))}
    assert (hosts, tool.open_world) == ({"localhost"}, False)


def test_a_process_that_is_ended_is_gone(read):
    report = read(
        server_py=HEAD + "import asyncio\nimport psutil\n\n"
        "@server.tool()\nasync def end(pid: int) -> None:\n    await asyncio.to_thread(psutil.Process(pid).kill)\n"
    )
    assert verdicts(report.tools[0]) == (False, True, False)


def test_a_request_with_the_agent_s_own_fields_is_none_for_a_token(read):
    report = read(
        server_js='server.registerTool("add", { description: "Adds." }, async (args) =>\n'
        '  fetch("https://x.test/boats", { method: "POST", body: JSON.stringify({ fields: { ...args } }) }));\n'
    )
    assert report.tools[0].read_only == "unknown"


def test_a_promise_that_is_settled_or_waited_for_leaves_no_doubt(read):
    report = read(
        server_js='server.registerTool("wait", { description: "Waits." }, async ({ time }) => {\n'
        "  let release;\n"
        "  const turn = new Promise((resolve) => { release = resolve; });\n"
        "  await turn.catch(() => undefined);\n"
        "  release();\n});\n"
    )
    assert (report.tools[0].unresolved, report.tools[0].read_only) == ((), True)


CACHE = """
import json
import os
import subprocess
from pathlib import Path

import httpx

MODE = os.environ["MODE"]


def fetch(url):
    path = Path.home() / ".cache" / (str(hash(url)) + ".json")
    text = httpx.get(url).text
    store(path, url, text)
    start(MODE)
    return text


def start(mode):
    subprocess.run(["render", f"{mode}.txt"])


def store(path, url, text):
    path.write_text(json.dumps([url, text]))
    with open("/var/log/harbour.log", "a") as log:
        log.write(url)
    Path("/home/token").write_text(refresh())


def refresh():
    subprocess.run(["date"])
    return httpx.get("https://harbour.example/token").text

"""


@pytest.mark.parametrize(
    ("set_up", "query", "read_only"),
    [
        ('db.execute("CREATE TABLE IF NOT EXISTS boats (name TEXT)")', "SELECT name FROM boats", True),
        (
            'db.executescript("CREATE TABLE IF NOT EXISTS boats (name TEXT); CREATE INDEX IF NOT EXISTS i ON boats (name)")',
            "SELECT name FROM boats",
            True,
        ),
        (
            'db.executescript("CREATE TABLE IF NOT EXISTS boats (name TEXT); DELETE FROM boats")',
            "SELECT name FROM boats",
            False,
        ),
        ('db.execute("CREATE TABLE boats (name TEXT)")', "SELECT name FROM boats", False),
        ('db.execute("CREATE TABLE IF NOT EXISTS boats (name TEXT)")', "", False),
        ('db.execute("CREATE TABLE IF NOT EXISTS kept AS SELECT * FROM boats")', "SELECT name FROM boats", False),
    ],
)
def test_a_schema_that_is_created_where_it_is_missing_is_housekeeping_before_a_query(read, set_up, query, read_only):
    text = f"""import sqlite3

def connect():
    db = sqlite3.connect("boats.sqlite")
    {set_up}
    return db

@server.tool()
def get_boats() -> list:
    return {f"connect().execute({query!r}).fetchall()" if query else "str(connect())"}
"""
    (tool,) = read(server_py=HEAD + text).tools
    assert tool.read_only is read_only
    assert [effect.is_housekeeping for effect in tool.effects if effect.kind == "sql-write"] == [read_only]


def test_what_a_server_does_for_all_its_tools_is_listed_as_housekeeping(read):
    tool = (
        "@server.tool()\ndef tool{n}(berth: str) -> str:\n    return fetch('https://harbour.example/{n}/' + berth)\n\n"
    )
    tool0 = read(server_py=HEAD + CACHE + "".join(tool.format(n=n) for n in range(5))).find("tool0")
    written = [effect for effect in tool0.effects if effect.kind == "file-write"]
    assert {(effect.text, effect.is_housekeeping) for effect in written} == {("write_text", True), ("open a", True)}
    assert written[0].line == HEAD.count("\n") + CACHE[: CACHE.index("path.write_text")].count("\n") + 1
    assert [(effect.kind, effect.text) for effect in tool0.own_effects] == [
        ("http-read", "GET"),
        ("process", "render {}.txt"),
        ("http-read", "GET"),
    ], "what is run may be another program for each tool"
    assert tool0.read_only == "unknown"


def test_a_function_among_many_that_are_tried_one_after_another_answers_by_the_tool_s_name(read):
    groups = "".join(
        f"const group{n} = async (request) => {{\n"
        f"  switch (request.params.name) {{\n"
        f'    case "read_{n}":\n      return {{ text: await fetch("https://a.example/{n}") }};\n'
        f'    case "drop_{n}":\n      return {{ text: await fetch("https://a.example/{n}", {{ method: "DELETE" }}) }};\n'
        f"    default:\n      return null;\n  }}\n}};\n"
        for n in range(9)
    )
    server = (
        groups
        + f"const GROUPS = [{', '.join(f'group{n}' for n in range(9))}];\n"
        + f"const TABLE = {{ {', '.join(f'[KINDS.k{n}]: group{n}' for n in range(9))} }};\n"
        + "const all = async (request) => {\n"
        "  for (const group of GROUPS) {\n    const answer = await group(request);\n"
        "    if (answer !== null) return answer;\n  }\n  throw new Error('unknown');\n};\n"
        "const some = async (request, kind) => TABLE[kind](request);\n"
        + "".join(
            f'const tool{word}{n} = {{ name: "{word}_{n}", description: "Do it.", inputSchema: {{ type: "object" }} }};\n'
            for n in range(9)
            for word in ("read", "drop")
        )
        + "server.setRequestHandler(CallToolRequestSchema, async (request) =>\n"
        "  request.kind ? some(request, request.kind) : all(request));\n"
    )
    report = read(server_js=server)
    for n in range(9):
        line = server[: server.index(f'case "read_{n}"')].count("\n") + 1
        assert report.find(f"read_{n}").handler.line == line
        assert verdicts(report.find(f"read_{n}")) == (True, False, True)
        assert verdicts(report.find(f"drop_{n}")) == (False, True, True)


def test_a_definition_inside_the_object_with_the_handler_is_a_tool_also_through_zod(read):
    report = read(
        server_ts="""        import { z } from "zod";
        import { zodToJsonSchema } from "zod-to-json-schema";

        const FindTool = z.object({
          name: z.literal("find_boat"),
          description: z.literal("Find a boat."),
          arguments: z.object({ boat: z.string() }),
        });
        const find = (isWhole) => ({
          schema: {
            name: FindTool.shape.name.value,
            description: FindTool.shape.description.value,
            inputSchema: zodToJsonSchema(FindTool.shape.arguments),
          },
          handle: async (context, params) => {
            const { boat } = FindTool.shape.arguments.parse(params);
            return fetch(`https://harbour.example/${boat}`);
          },
        });
        """
    )
    tool = report.find("find_boat")
    assert (tool.handler.line, tool.unused_parameters) == (15, ())
    assert verdicts(tool) == (True, False, True)


def test_of_two_functions_that_a_wrapper_gets_the_one_with_the_arguments_is_the_handler(read):
    report = read(
        server_js="""\
        export const find = async ({ boat }) => fetch(`https://harbour.example/${boat}`);
        const notice = async () => fetch("https://harbour.example/version");
        const noticed = (handler, tell = notice) => async (...args) => {
          const answer = await handler(...args);
          answer.content.push(await tell());
          return answer;
        };
        server.tool("find_boat", "Find a boat.", { boat: z.string() }, noticed(find));
        """
    )
    assert report.find("find_boat").handler.line == 1


def test_a_verb_behind_one_that_is_not_known_proves_no_read_and_asking_for_a_process_starts_none(read):
    posted = read(
        server_py=HEAD + "import httpx\n\n@server.tool()\ndef refuse_order_validate(order: str) -> str:\n"
        '    return httpx.post("https://harbour.example/orders", json=order).text\n'
        "\n@server.tool()\ndef is_running(pid: int) -> bool:\n    import os\n    os.kill(pid, 0)\n    return True\n"
    )
    assert posted.find("refuse_order_validate").read_only == "unknown"
    assert verdicts(posted.find("is_running")) == (True, False, False)


TAKING = {
    "PATCH replaces what a record has": ("httpx.patch(f'https://a.example/{a}', json={'b': b})", True),
    "a verb that replaces": ("github.Github().get_repo(a).edit(b)", True),
    "what is counted in memory takes nothing": ("store.boats[a] = b; open('log', 'a').write(b)", False),
    "what is taken out of memory may be something": ("store.boats.pop(a)", "unknown"),
}


@pytest.mark.parametrize("case", TAKING)
def test_what_changes_something_that_is_there_is_destructive_and_what_is_kept_in_memory_is_not(read, case):
    line, destructive = TAKING[case]
    store = "import github\nimport httpx\n\nclass Store:\n    def __init__(self):\n        self.boats = {}\n\nstore = Store()\n\n"
    assert tool_of(read, line, before=store).destructive == destructive


TABLES = {
    "spread": (
        (
            "export const tool = (name, text, schema, handler) => [name, text, schema, handler];\n"
            "const boats = [tool('find_boat', 'Find.', {}, async () => fetch('https://a.example')),\n"
            "  tool('drop_boat', 'Drop.', {}, async () => fetch('https://a.example', { method: 'DELETE' }))];\n"
            "const docks = [tool('find_dock', 'Find.', {}, async () => fetch('https://b.example'))];\n"
            "[...boats, ...docks].forEach((tool) => { server.tool(...tool); });\n"
        ),
        3,
    ),
    "wrapped in a loop": (
        (
            "const own = { find_boat: async (request) => fetch('https://a.example'),\n"
            "  find_dock: async (request) => fetch('https://b.example'),\n"
            "  drop_boat: async (request) => fetch(request.args.url, { method: 'DELETE' }) };\n"
            "const wrap = () => { const all = {};\n"
            "  for (const [name, run] of Object.entries(own)) { all[name] = async (request) => await run(request); }\n"
            "  return all; };\n"
            "const handlers = wrap();\n"
            "const tools = [{ name: 'find_boat', description: 'Find.', inputSchema: {} },\n"
            "  { name: 'drop_boat', description: 'Drop.', inputSchema: {} }];\n"
            "server.setRequestHandler(CallToolRequestSchema, async (request) =>\n"
            "  handlers[request.params.name]({ args: request.params.arguments }));\n"
        ),
        3,
    ),
}


@pytest.mark.parametrize("form", TABLES)
def test_each_handler_of_a_table_answers_its_own_tool(read, form):
    text, line = TABLES[form]
    report = read(server_js=text)
    assert report.find("drop_boat").handler.line == line
    assert verdicts(report.find("find_boat")) == (True, False, True)
    assert verdicts(report.find("drop_boat")) == (False, True, True)


def test_tools_in_modules_that_are_imported_by_name_are_found_and_names_of_a_service_are_one_problem(tmp_path):
    registry = (
        "import importlib\nimport pkgutil\n\nregistry = {}\nfor _, name, _ in pkgutil.iter_modules(__path__):\n"
        '    module = importlib.import_module(f".{name}", package=__name__)\n'
        "    registry[module.TOOL.name] = module\n"
    )
    server = (
        "from boats.tools import registry\n\n@app.list_tools()\nasync def list_tools():\n"
        "    tools = []\n    for module in registry.values():\n"
        "        tools.append(Tool(name=module.TOOL.name, inputSchema={}))\n    return tools\n\n"
        "@app.call_tool()\nasync def call_tool(name, arguments):\n    return registry[name].run(**arguments)\n"
    )
    modules = {"boats/__init__.py": "", "boats/tools/__init__.py": registry, "boats/server.py": server}
    for number in range(8):
        modules[f"boats/tools/t{number}.py"] = (
            f"from boats.base import Spec\n\nTOOL = Spec(name='tool-{number}')\n\n"
            f"def run(path):\n    open(path, '{'rw'[number % 2]}')\n"
        )
    modules["boats/base.py"] = "class Spec:\n    def __init__(self, name):\n        self.name = name\n"
    for path, text in modules.items():
        tmp_path.joinpath(path).parent.mkdir(parents=True, exist_ok=True)
        tmp_path.joinpath(path).write_text(text)
    report = tdqs_mcp.read_code(tmp_path)
    assert [(tool.name, tool.handler.file, tool.read_only) for tool in report.tools[:2]] == [
        ("tool-0", "boats/tools/t0.py", True),
        ("tool-1", "boats/tools/t1.py", False),
    ]
    (tmp_path / "boats/tools/__init__.py").write_text("registry = fetch_tools()\n")
    assert tdqs_mcp.read_code(tmp_path).problems == ("boats/server.py:7: the name of a tool is computed",)


def test_a_single_file_is_read_without_its_imports_and_they_are_named(read, tmp_path):
    text = (
        HEAD + "import json\nfrom berths import find\n\n@server.tool()\ndef show(berth: str):\n    return find(berth)\n"
    )
    assert read(server_py=text, berths_py="def find(berth):\n    return berth\n").problems == ()
    problems = tdqs_mcp.read_code(tmp_path / "server.py").problems
    assert problems == ("server.py: imports berths, which is not read: name the folder instead",)


def test_a_tool_whose_function_gets_its_name_when_the_server_starts_is_computed(read, tmp_path, command):
    text = """
        def make(name, text):
            def run(x: int) -> int:
                return x
            run.__name__ = name
            run.__doc__ = text
            return run

        for name, text in {"alpha": "Doubles.", "beta": "Halves."}.items():
            server.tool(make(name, text))
    """
    report = read(server_py=HEAD + dedent(text))
    assert report.tools == ()
    assert "server.py:7: the name of a tool is computed" in report.problems
    done = command("lint", tmp_path / "server.py")
    assert done.returncode == 2
    assert b"The names of tools are computed at server.py:7" in done.stderr
    assert read(server_py=HEAD + dedent(text).replace("name\n", "'alpha'\n", 1)).tools[0].name == "alpha"


def test_a_method_of_a_base_class_is_followed_from_the_class_that_overrides_it(read):
    report = read(
        server_js="""\
        class Base { async request(path) { return fetch("https://a.example/" + path, { method: "DELETE" }); } }
        class Middle extends Base { async request(path) { return super.request(path); } }
        class Client extends Middle { constructor() { super(); } async request(path) { return super.request(path); } }
        const client = new Client();
        server.tool("drop_boat", "Drop.", {}, async ({ boat }) => client.request(boat));
        """
    )
    assert verdicts(report.find("drop_boat")) == (False, True, True)


def test_a_module_of_python_itself_is_harmless_and_another_s_is_unknown_whatever_its_name_says(read):
    before = "import harbours\nimport plistlib\n"
    lines = ("plistlib.loads(a + b)", "harbours.parse(a)", "harbours.Quay(a, b)", "harbours.load(a).get_boats(b)")
    proofs = [tool_of(read, line, before=before).read_only for line in lines]
    assert proofs == [True, "unknown", "unknown", "unknown"]


def test_a_method_named_after_one_of_http_is_a_request(read):
    report = read(
        server_js="""\
        import create from "openapi-fetch";
        const api = create({ baseUrl: "https://a.example" });
        server.tool("list_boats", "List.", {}, async () => api.GET("/boats"));
        server.tool("drop_boat", "Drop.", {}, async ({ boat }) => api.DELETE("/boats/{boat}", { params: { boat } }));
        """
    )
    assert verdicts(report.find("list_boats")) == (True, False, True)
    assert verdicts(report.find("drop_boat")) == (False, True, True)


def test_what_is_put_into_a_map_of_the_language_outlives_the_call(read):
    code = read(
        boats_js="export const boats = new Map();\n",
        index_js="""
            import { Server } from "@modelcontextprotocol/sdk/server/index.js";
            import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
            import { boats } from "./boats.js";
            const server = new Server({ name: "harbour", version: "1" });
            server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: [
              { name: "moor", description: "Moor a boat.", inputSchema: { type: "object", properties: { id: { type: "string" } } } },
              { name: "leave", description: "Let a boat go.", inputSchema: { type: "object", properties: { id: { type: "string" } } } },
              { name: "find", description: "Find a boat.", inputSchema: { type: "object", properties: { id: { type: "string" } } } },
            ] }));
            server.setRequestHandler(CallToolRequestSchema, async (request) => {
              const { name, arguments: args } = request.params;
              const seen = new Map();
              switch (name) {
                case "moor": boats.set(args.id, { id: args.id }); return { content: [] };
                case "leave": boats.delete(args.id); return { content: [] };
                case "find": seen.set(args.id, true); return { content: [boats.get(args.id)] };
              }
            });
        """,
    )
    assert {tool.name: (tool.read_only, len(tool.effects)) for tool in code.tools} == {
        "moor": ("unknown", 1),
        "leave": (False, 1),
        "find": (True, 0),
    }


def test_a_function_that_is_handed_over_is_followed_whatever_type_it_has(read):
    (tool,) = read(
        handlers_py="""
            from collections.abc import Awaitable, Callable
            from mcp.server import Server

            CallTool = Callable[[str, dict], Awaitable[list]]

            def create(name: str, *, call_tool: CallTool) -> Server:
                return create_new(name, call_tool=call_tool)

            def create_new(name: str, *, call_tool: CallTool) -> Server:
                async def on_call_tool(context, params):
                    return await call_tool(params.name, params.arguments)
                return Server(name, on_call_tool=on_call_tool)
        """,
        server_py="""
            import os
            from mcp import types
            from handlers import create

            async def list_tools():
                return [types.Tool(name="remove_boat", inputSchema={"type": "object"})]

            async def call_tool(name, arguments):
                if name == "remove_boat":
                    os.remove(arguments["path"])

            server = create("harbour", call_tool=call_tool)
        """,
    ).tools
    assert (tool.read_only, effects(tool)) == (False, ["file-delete server.py:11"])


def test_functions_of_one_scope_that_hand_each_other_the_arguments_end(read):
    report = read(
        server_js="""\
        const retrying = () => {
          const send = async (args) => args.again ? retry({ args }) : fetch("https://a.example");
          const retry = async (args) => send({ args });
          return retry;
        };
        server.tool("find_boat", "Find.", {}, retrying());
        """
    )
    assert report.find("find_boat").handler is not None


def test_a_member_that_is_made_by_a_call_of_its_own_name_ends_the_search(read):
    (tool,) = read(
        index_js="""
            import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
            import { parts } from "boat-parts";
            const server = new McpServer({ name: "harbour", version: "1" });
            const kit = (parts) => ({ rigging: parts.rigging("main") });
            server.tool("rig", "Rig a boat.", {}, async (args, extra) => ({ content: [extra.kit.rigging("fore")] }));
        """,
    ).tools
    assert (tool.read_only, tool.unresolved[0].text) == ("unknown", "extra.kit.rigging()")


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("harbours.Board(name).boats.Remove(name)", "unknown"),
        ("harbours.BoardClient().Delete(name)", False),
    ],
)
def test_a_method_with_a_capital_makes_no_object(read, line, answer):
    head = "import harbours\n" + HEAD
    (tool,) = read(server_py=f"{head}@server.tool()\ndef leave(name: str) -> None:\n    {line}\n").tools
    assert tool.read_only == answer


def test_a_text_that_grows_under_a_condition_keeps_its_beginning(read):
    report = read(
        server_py=HEAD + "import sqlite3\n\n"
        "@server.tool()\n"
        "def boats(berth: str = '') -> str:\n"
        "    query = 'SELECT name, berth, mast'\n"
        "    if berth:\n"
        "        query += ' WHERE berth = ?'\n"
        "    query += ' ORDER BY name'\n"
        "    return sqlite3.connect('a.db').execute(query, [berth]).fetchall()\n"
    )
    assert [effect.kind for effect in report.tools[0].effects] == ["db-read"]


def test_a_function_that_a_call_leaves_out_is_not_called(read):
    report = read(
        server_py=HEAD + "def find(names, is_wanted=None):\n"
        "    return [name for name in names if is_wanted and is_wanted(name)]\n\n"
        "@server.tool()\n"
        "def boats(berth: str) -> str:\n"
        "    return str(find([berth]))\n"
    )
    assert report.tools[0].unresolved == ()


def test_a_field_that_code_outside_its_class_sets_is_no_constant(read):
    report = read(
        server_py=HEAD + "import os\n\n"
        "class State:\n"
        "    def __init__(self):\n"
        "        self.status = 'pending'\n"
        "        self.mode = 'off'\n\n"
        "    def choose(self, mode):\n"
        "        self.mode = mode\n\n"
        "state = State()\n\n"
        "async def start():\n"
        "    state.status = 'ready'\n\n"
        "@server.tool()\n"
        "def sink(path: str) -> str:\n"
        "    if state.status != 'ready' or state.mode == 'off':\n"
        "        return 'initializing'\n"
        "    os.remove(path)\n"
        "    return 'sunk'\n"
    )
    (tool,) = report.tools
    assert [effect.kind for effect in tool.effects] == ["file-delete"]
    assert tool.read_only is False


# What the agent chooses


def test_a_table_a_choice_and_a_statement_have_the_condition_of_each_of_their_parts(read):
    report = read(
        server_py=HEAD
        + """
import os, sqlite3

def look(name): return str(os.listdir(name))
def drop(name): os.remove(name)
OPERATIONS = {"look": look, "drop": drop}

@server.tool()
def by_table(operation: str, name: str) -> str:
    return OPERATIONS[operation](name)

@server.tool()
def by_choice(operation: str, name: str) -> str:
    work = drop if operation == "drop" else look
    return work(name)

@server.tool()
def by_statement(operation: str, name: str) -> str:
    word = "DROP" if operation == "drop" else "CREATE"
    return sqlite3.connect("a.db").execute(f"{word} TABLE {name}")
"""
    )
    conditions = [{effect.text: effect.condition for effect in tool.effects} for tool in report.tools]
    assert conditions == [
        {"remove": "operation == 'drop'", "listdir": "operation == 'look'"},
        {"remove": "operation == 'drop'", "listdir": "operation != 'drop'"},
        {"DROP TABLE {}": "operation == 'drop'", "CREATE TABLE {}": "operation != 'drop'"},
    ]


def test_of_an_address_that_a_setting_may_change_the_default_is_the_host_and_the_method_is_a_field(read):
    (tool,) = read(
        server_py=HEAD + 'import os, httpx\nBASE = os.getenv("BASE", "https://boats.example")\n\n'
        '@server.tool()\ndef find(name: str) -> str:\n    return httpx.get(f"{BASE}/boats", params={"name": name}).text\n'
    ).tools
    assert [(effect.host, effect.method) for effect in tool.effects] == [("boats.example", "GET")]


CHAINS = {
    "no else": (
        'if how == "tow":\n        tow(a)\n    elif how == "sail":\n        sail(a)\n    return a',
        [("row", False)],
    ),
    "an else": (
        'if how == "tow":\n        tow(a)\n    elif how == "sail":\n        sail(a)\n    else:\n        a = 1\n    return a',
        [],
    ),
    "a return": (
        'if how == "tow":\n        return tow(a)\n    elif how == "sail":\n        return sail(a)\n    return a',
        [],
    ),
    "a flag": ('if how == "tow":\n        tow(a)\n    return a', []),
    "a check": ('if how not in ("tow", "sail"):\n        raise ValueError(how)\n    return a', [("row", True)]),
    "a table": ('return {"tow": 1, "sail": 2}[how]', [("row", True)]),
    "a table with a default": ('return {"tow": 1, "sail": 2}.get(how, 3)', []),
    "another use": ('if how == "tow":\n        tow(a)\n    elif how == "sail":\n        sail(a)\n    return how', []),
}


@pytest.mark.parametrize("case", CHAINS)
def test_a_value_that_the_schema_allows_and_no_branch_knows_is_named(read, case):
    body, dead = CHAINS[case]
    (tool,) = read(
        server_py=HEAD + "from typing import Literal\n\ndef tow(a): return a\n\ndef sail(a): return a\n\n"
        f'@server.tool()\ndef move(a: str, how: Literal["tow", "sail", "row"]) -> str:\n    {body}\n'
    ).tools
    assert [(value.value, value.is_refused) for value in tool.dead_enum_values] == dead


@pytest.mark.parametrize(("use", "dead"), [("String(RATES[kind])", ["row"]), ("String(RATES[kind] ?? 0)", [])])
def test_a_script_s_table_without_a_value_of_the_schema_is_named_unless_the_code_has_another_answer(read, use, dead):
    (tool,) = read(
        server_js='import { z } from "zod";\nconst RATES = { tow: 1, sail: 2 };\n'
        'server.registerTool("rate", { description: "x", inputSchema: { kind: z.enum(["tow", "sail", "row"]) } },\n'
        f'  async ({{ kind }}) => ({{ content: [{{ type: "text", text: {use} }}] }}));\n'
    ).tools
    assert [value.value for value in tool.dead_enum_values] == dead


# Handlers behind the server's own code


def test_a_server_that_reads_json_rpc_itself_answers_by_its_table_of_methods(read):
    report = read(
        server_py="""
TOOLS = [
    {"name": "find", "description": "Find.", "inputSchema": {"type": "object"}},
    {"name": "drop", "description": "Drop.", "inputSchema": {"type": "object"}},
]

class Harbour:
    def execute(self, tool_name, arguments):
        table = {"find": self._find, "drop": self._drop}
        handler = table.get(tool_name)
        if handler is None:
            raise ValueError(tool_name)
        return handler(arguments)

    def _find(self, args):
        return open(args["name"]).read()

    def _drop(self, args):
        import os
        os.remove(args["name"])

class Server:
    def __init__(self):
        self.harbour = Harbour()

    def handle(self, request):
        method, params = request.get("method"), request.get("params", {})
        if method == "tools/list":
            return {"tools": TOOLS}
        elif method == "tools/call":
            return self.call(request.get("id"), params)

    def call(self, key, params):
        return {"id": key, "result": self.harbour.execute(params.get("name", ""), params.get("arguments", {}))}
"""
    )
    assert {tool.name: (tool.handler.line, tool.read_only) for tool in report.tools} == {
        "find": (15, True),
        "drop": (18, False),
    }


def test_a_tool_s_record_in_a_list_of_hundreds_says_what_is_done_for_it(read):
    rows = "".join(
        f'{{ name: "t{number}", description: "x", inputSchema: {{}}, method: "{method}", path: "/boats" }},\n'
        for number, method in enumerate(["GET", "DELETE"] * 50)
    )
    report = read(
        server_js=f"""
            import axios from "axios";
            import {{ CallToolRequestSchema }} from "@modelcontextprotocol/sdk/types.js";
            const TOOLS = [{rows}];
            server.setRequestHandler(CallToolRequestSchema, async (request) => {{
              const {{ name, arguments: args }} = request.params;
              const tool = load(TOOLS).find((entry) => entry.name === name);
              const config = {{ method: tool.method.toLowerCase(), url: "https://boats.example" + tool.path, params: args }};
              return (await axios(config)).data;
            }});
            function load(tools) {{ return JSON.parse(process.env.TOOLS) }}
        """
    )
    assert [tool.read_only for tool in report.tools] == [True, False] * 50


def test_a_handler_gets_what_the_loop_that_registers_all_tools_passes_beside_the_arguments(read):
    report = read(
        find_js='export const find = { name: "find", description: "Find.", inputSchema: {}, handler: async (args, context) =>\n'
        "  context.client.get(`/boats/${args.name}`) };\n",
        client_js='export class Client { async get(path) { return fetch("https://boats.example" + path); } }\n',
        server_js='import { Client } from "./client.js";\nimport { find } from "./find.js";\nconst client = new Client();\n'
        "for (const tool of [find]) server.registerTool(tool.name, {}, (args) => tool.handler(args, { client }));\n",
    )
    (tool,) = report.tools
    assert ([effect.text for effect in tool.effects], tool.read_only, tool.unresolved) == (["GET"], True, ())


# Verdicts


def test_a_verdict_names_the_lines_that_decide_it_or_leave_it_open(read):
    report = read(
        server_py=HEAD + "import os, boatlib\n\n@server.tool()\ndef drop(a: str) -> None:\n    os.remove(a)\n\n"
        "@server.tool()\ndef ask(a: str) -> str:\n    return boatlib.get(a)\n\n@server.tool()\ndef same(a: str) -> str:\n    return a\n"
    )
    assert [dict(tool.evidence)["readOnly"] for tool in report.tools] == [
        ("file-delete remove at server.py:9",),
        ("boatlib.get() at server.py:13",),
        (),
    ]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("yaml.load(a, Loader=yaml.UnsafeLoader)", (False, True, True)),
        ("yaml.load(a, Loader=yaml.SafeLoader)", (True, False, False)),
        ("shelve.open(a).__setitem__('b', 1)", (False, "unknown", False)),
    ],
)
def test_an_unsafe_loader_runs_code_and_a_shelf_is_a_file(read, call, expected):
    assert verdicts(tool_of(read, f"return {call}", before="import shelve, yaml\n")) == expected
    body = "with shelve.open(a) as shelf:\n    shelf['b'] = 1\nreturn a"
    assert tool_of(read, body, before="import shelve\n").read_only is False


@pytest.mark.parametrize(("last", "is_read"), [("waiting.delete(id)", True), ("waiting.delete(other)", False)])
def test_what_is_put_into_a_map_and_taken_out_again_is_no_change(read, last, is_read):
    report = read(
        server_js="const waiting = new Map();\nconst other = 1;\n"
        'server.registerTool("ask", {}, async ({ id }) => {\n'
        f"  waiting.set(id, true);\n  try {{ return id; }} finally {{ {last}; }}\n}});\n"
    )
    assert (report.tools[0].read_only is True) == is_read


def test_what_tools_reach_by_the_very_same_call_leaves_only_the_network_open(read):
    tools = "".join(f"@server.tool()\ndef t{n}(a: str) -> str:\n    return look(a, {n})\n\n" for n in range(4))
    report = read(
        server_py=HEAD + "import boatlib\n\ndef secret():\n    return boatlib.parse('x')\n\n"
        f"def connect():\n    return secret()\n\ndef look(a, n):\n    connect()\n    return a\n\n{tools}"
    )
    assert {verdicts(tool) for tool in report.tools} == {(True, False, "unknown")}
    assert {call.text for tool in report.tools for call in tool.unresolved} == {"boatlib.parse()"}


def test_the_review_s_hints_count_a_log_file_and_every_null_says_what_is_open(read, tmp_path, command):
    read(
        server_py=HEAD + "import logging, boatlib, httpx\nlog = logging.getLogger('x')\n"
        "log.addHandler(logging.FileHandler('/var/log/x'))\n\n@server.tool()\ndef note(a: str) -> str:\n    log.info(a)\n    return a\n\n"
        "@server.tool()\ndef ask(a: str) -> str:\n    return boatlib.get(a)\n"
    )
    note, ask = json.loads(command("code", tmp_path, "--format", "openai-hints").stdout)["tools"]
    assert note["readOnlyHint"] == {
        "value": False,
        "justification": "it logs at server.py:11 to the file of server.py:7",
    }
    assert ask["openWorldHint"]["value"] is None
    assert "not followed: boatlib.get() at server.py:16" in ask["openWorldHint"]["justification"]


def test_an_object_that_a_module_does_not_have_is_an_error(read, tmp_path, command, monkeypatch):
    read(harbour_py='from mcp.server import MCPServer\n\nserver = MCPServer("harbour")\n')
    monkeypatch.chdir(tmp_path)
    done = command("code", "py:harbour:NOSUCH")
    assert (done.returncode, b"has no 'NOSUCH'" in done.stderr) == (2, True)
    assert command("code", "py:harbour:server").returncode == 0
