"""The documentation site: `python tests/documentation.py` builds it in build/documentation/site.

Its pages are README, docs and what stands beside the code, as they are on disk but for their links, and pages written from
the code: rules, rubrics, the judge's error, commands, library, MCP tools, JSON Schemas. None of the latter is committed.
"""

import ast
import inspect
import os.path
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import anyio
import click
from own_server import in_process
from rule_pages import examples
from schemas import SCHEMAS, json_schemas

import tdqs_mcp
from tdqs_mcp.app import catalogs, linting
from tdqs_mcp.cli import cli
from tdqs_mcp.report.blocks import as_markdown
from tdqs_mcp.report.score_report import calibration_blocks
from tdqs_mcp.rubrics.rubric import RUBRICS, load
from tdqs_mcp.rules import registry
from tdqs_mcp.rules.registry import RULES, is_default

ROOT = Path(__file__).parents[1]
REPOSITORY = "https://github.com/tdqs-mcp/tdqs-mcp"

FILES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "calibration/README.md": "fitting.md",
    "plugin/README.md": "plugin.md",
    **{f"docs/{file.name}": file.name for file in sorted((ROOT / "docs").glob("*.md"))},
}
"""The files that are pages."""

PLACES = {
    **FILES,
    **{f"src/tdqs_mcp/rules/specs/{rule.id}.md": f"rules/{rule.id}.md" for rule in RULES},
    "packaging/json_schemas.py": "json-schemas.md",
    "docs/report.png": "report.png",
}
"""What files may link to: where it is on the site."""

CODE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
PIPE = r"\|"
LINK = re.compile(r"(\]\(|^\[[^\]^]+\]: )([^)\s]+)", re.MULTILINE)


def build(folder):
    """Writes the pages and the site; gives back the finished process, which fails at the first broken link."""
    shutil.rmtree(folder, ignore_errors=True)
    for place, text in pages():
        path = folder / "docs" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    json_schemas.write_schemas(folder / "docs" / "schemas")
    shutil.copy(ROOT / "docs" / "zensical.toml", folder)
    shutil.copy(ROOT / "docs" / "report.png", folder / "docs")
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--config-file", folder / "zensical.toml"]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def pages():
    """Every page: its place and its text."""
    for source, place in FILES.items():
        yield place, linked((ROOT / source).read_text(encoding="utf-8"), source)
    for rule in RULES:
        yield f"rules/{rule.id}.md", rule_page(rule)
    yield "rubrics.md", rubrics_page()
    yield "calibration.md", calibration_page()
    yield "commands.md", commands_page()
    yield "library.md", library_page()
    yield "mcp-tools.md", anyio.run(mcp_page)
    yield "json-schemas.md", schemas_page()


# Files


def linked(text, source):
    """A file's text with links to the site's pages; what is no page is linked in the repository."""

    def moved(link):
        target, mark, anchor = link[2].partition("#")
        if not target or re.match("[a-z]+:", target):
            return link[0]
        found = os.path.normpath((ROOT / source).parent / target)
        assert Path(found).exists(), f"{source} links to {target}, which is not there"
        found = Path(found).relative_to(ROOT).as_posix()
        return f"{link[1]}{PLACES.get(found) or f'{REPOSITORY}/blob/main/{found}'}{mark}{anchor}"

    parts = CODE.split(text)
    return "".join(part if part.startswith("```") else LINK.sub(moved, part) for part in parts)


# Rules and rubrics


def rule_page(rule):
    """What `rules ID` shows, what to do about the findings, and how often they were right."""
    page = re.sub(
        r"^```json .+$", "```json", tdqs_mcp.explain(rule.id).replace("```findings", "```text"), flags=re.MULTILINE
    )
    fixes = [f"- {plain(each)}" for each in suggestions(rule)]
    parts = [page, *(["## Fix", "\n".join(fixes)] if fixes else []), "## Precision", precision(rule)]
    return "\n\n".join([*parts, "[All rules](../rules.md)"])


def suggestions(rule):
    """What the rule advises about the examples on its page, each advice once."""
    definitions = [
        (each, example.clients)
        for example in examples(rule)
        for each in (example.definition if example.is_many else [example.definition])
    ]
    found = [
        finding.suggestion
        for definition, clients in definitions
        for finding in linting.lint(
            catalogs.read(definition), linting.Policy(selection=registry.select(names=[rule.id], clients=clients))
        ).findings
    ]
    return dict.fromkeys(each for each in found if each)


def precision(rule):
    """The rule's row of the table in docs/linting.md, in words."""
    table = (ROOT / "docs" / "linting.md").read_text(encoding="utf-8")
    where = "[how this was measured](../linting.md#how-often-findings-are-right)"
    default = "" if is_default(rule) else " The rule is off by default."
    if row := re.search(rf"^\| {rule.id} \| (.+?) \| (.+?) \| (.+?) \|$", table, re.MULTILINE):
        return f"Of {row[1]} findings on unseen servers, {row[2]} were true, and following {row[3]} would help an agent ({where}).{default}"
    return f"Too few findings were read on unseen servers to state a figure ({where}).{default}"


def rubrics_page():
    """Every rubric with its dimensions, flags and tiers, as `rules` shows them."""
    parts = [
        "# Rubrics\n\nA rubric says what is scored and what the scores mean. `tdqs-mcp rules ID` shows each entry."
    ]
    for rubric in map(load, RUBRICS):
        parts += [f"## {rubric.key}: {rubric.title}\n\nSource: {rubric.source}."]
        parts += [lowered(tdqs_mcp.explain(f"{rubric.key} {key.replace('_', ' ')}")) for key in rubric.keys]
        if rubric.is_gated:
            parts += [
                "## Hard gates, flags and tiers",
                "The flags and the tiers of tdqs; the first two flags decide whatever a judge says.",
            ]
        parts += [lowered(tdqs_mcp.explain(term.title)) for term in (*rubric.flags, *rubric.tiers)]
    return re.sub(r"\b(TDQ\d{3})(?= [a-z-]+)", r"[\1](rules/\1.md)", "\n\n".join(parts))


def lowered(page):
    """A page of `rules` as a section: its title two levels deeper, its headings bold."""
    return re.sub(r"^# ", "### ", re.sub(r"^## (.+)$", r"**\1**", page, flags=re.MULTILINE), flags=re.MULTILINE)


def calibration_page():
    """What `calibrate` prints of the offline judge."""
    return (
        "# Calibration\n\nThe error of the offline judge, as `tdqs-mcp calibrate` prints it. What to make of it: "
        "[what the numbers mean](numbers.md). How the judge is made: [fitting](fitting.md).\n\n"
        f"{as_markdown(calibration_blocks(tdqs_mcp.calibrate()))}"
    )


# Command line, library, MCP server


def commands_page():
    """Every command with its options."""
    above = click.Context(cli, info_name="tdqs-mcp")
    parts = [f"# Command line\n\n{plain(inspect.cleandoc(cli.help))}"]
    for name in cli.list_commands(above):
        _, command, _ = cli.resolve_command(above, [name])
        context = click.Context(command, parent=above, info_name=name)
        records = [each.get_help_record(context) for each in command.get_params(context)]
        rows = [(f"`{options}`", plain(text)) for options, text in filter(None, records) if text]
        usage = command.get_usage(context).removeprefix("Usage: ")
        parts += [
            f"## {name}\n\n{plain(inspect.cleandoc(command.help))}\n\n```text\n{usage}\n```\n\n{table('option', *rows)}"
        ]
    return "\n\n".join(parts)


def library_page():
    """The public names, each with its signature and docstring, in the order of the source."""
    parts = [
        "# Library",
        "`import tdqs_mcp` offers these names; [the command line](command-line.md#in-python) has an example.",
    ]
    parts += [
        "Functions run an event loop of their own where they need one; inside one, await those of `tdqs_mcp.app`."
    ]
    for name, item in sorted(
        map(defined, tdqs_mcp.__all__), key=lambda pair: (pair[1].__module__, inspect.getsourcelines(pair[1])[1])
    ):
        parts += [f"## {name}\n\n{signature(item)}\n\n{plain(inspect.getdoc(item))}"]
    return "\n\n".join(parts)


def defined(name):
    """A public name and what it was made of: behind a blocking function, the one with the signature."""
    item = getattr(tdqs_mcp, name)
    return name, inspect.unwrap(getattr(sys.modules[item.__module__], name, item))


def signature(item):
    """The head of a function, or the documented fields of a class."""
    [node] = ast.parse(textwrap.dedent(inspect.getsource(item))).body
    if isinstance(node, ast.ClassDef):
        documented = [
            (f"`{ast.unparse(field)}`", plain(inspect.cleandoc(text.value.value)) if is_text(text) else "")
            for field, text in zip(node.body, [*node.body[1:], None], strict=True)
            if isinstance(field, (ast.Assign, ast.AnnAssign))
        ]
        return table("field", *documented)
    node.body, node.decorator_list = [ast.Expr(ast.Constant(...))], []
    head = ast.unparse(node).removeprefix("async ").partition(":\n")[0]
    if len(head) > 100:
        head = re.sub(r"(?<=[(,]) ?(?=[*\w]+[:,=])", "\n    ", head)
    return f"```python\n{head}\n```"


def is_text(node):
    """Whether a statement is a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


async def mcp_page():
    """What our own server lists: tools, resources, prompts."""
    async with in_process() as client:
        tools = (await client.list_tools()).tools
        resources = [
            *(await client.list_resources()).resources,
            *(await client.list_resource_templates()).resource_templates,
        ]
        prompts = (await client.list_prompts()).prompts
    parts = [
        "# MCP tools",
        "What `tdqs-mcp serve` lists when no option allows more. How to use it: [for agents](agents.md).",
    ]
    for tool in tools:
        schema = tool.input_schema
        rows = [
            (
                f"`{name}`{' (required)' if name in schema.get('required', ()) else ''}",
                plain(each.get("description", "")),
            )
            for name, each in schema["properties"].items()
        ]
        parts += [f"## {tool.name}\n\n{plain(tool.description)}\n\n{table('argument', *rows)}"]
    uris = [(f"`{getattr(each, 'uri', None) or each.uri_template}`", plain(each.description)) for each in resources]
    parts += ["## Resources", table("URI", *uris)]
    parts += ["## Prompts", table("prompt", *((f"`{each.name}`", plain(each.description)) for each in prompts))]
    return "\n\n".join(parts)


def schemas_page():
    """The schemas of the JSON documents."""
    rows = [(f"[{name}](schemas/{name}.schema.json)", plain(schema["description"])) for name, schema in SCHEMAS.items()]
    return f"# JSON Schemas\n\nOf the JSON documents that commands print; the package holds them in `tdqs_mcp/report/schemas`.\n\n{table('schema', *rows)}"


def table(heading, *rows):
    """A table of what is named and what it means."""
    lines = [f"| {heading} | meaning |", "| --- | --- |"]
    return "\n".join([*lines, *(f"| {name.replace('|', PIPE)} | {' '.join(text.split())} |" for name, text in rows)])


def plain(text):
    """Text that Markdown leaves as it is, but for code in backticks."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part[:1] == "`" else re.sub(r"([\\<*_|\[\]])", r"\\\1", part) for part in parts)


if __name__ == "__main__":
    done = build(Path(sys.argv[1]) if sys.argv[1:] else ROOT / "build" / "documentation")
    sys.stdout.write(done.stdout)
    sys.exit(done.returncode)
