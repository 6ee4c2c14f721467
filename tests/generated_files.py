"""Files that are written from the code: `python tests/generated_files.py` writes them anew."""

import re
import tomllib
from functools import partial
from itertools import groupby
from pathlib import Path

from click.testing import CliRunner

from tdqs_mcp.cli import cli
from tdqs_mcp.rules.registry import RULES, is_default
from tdqs_mcp.rules.rule import AnyRule, lane_of

ROOT = Path(__file__).parents[1]

HEAD = """# Rules

<!-- Written by tests/generated_files.py from the rules themselves. -->

Each id links to the rule's page: the reason, a bad and a good definition, and the exact message. `tdqs-mcp rules ID`
shows the same page, `tdqs-mcp rules` this list. `--select`, `--ignore` and `tdqs.toml` take ids, names, aliases, lanes such as
TDQ1, and ALL. "Severity" is the worst at which a rule reports, unless a profile or `tdqs.toml` sets another; "confidence"
says how sure its findings are. A rule that is "off", because it is uncertain, for auditors or for directories, runs only if it, its lane or
a profile with it is selected. "Readers" is how many findings blind readers (Claude, November 2026) judged on servers that the
rule was not made on, how many they called true, and how many useful to an agent; some were reported by an earlier version
of the rule.
"""


def rules_page() -> str:
    """The index of all rules, a table for each lane."""
    parts = [HEAD]
    for lane, rules in groupby(RULES, key=lambda rule: lane_of(rule.id)):
        parts += [
            f"\n## {lane}\n",
            "\n| rule | what it reports | severity | confidence | default | readers | aliases |\n",
        ]
        parts += ["| --- | --- | --- | --- | --- | --- | --- |\n", *map(_row, rules)]
    return "".join(parts)


def _row(rule: AnyRule) -> str:
    link = f"[{rule.id}](../src/tdqs_mcp/rules/specs/{rule.id}.md) `{rule.name}`"
    default = "on" if is_default(rule) else "off"
    aliases = ", ".join(f"`{alias}`" for alias in rule.all_aliases)
    readers = "{}: {}, {}".format(*rule.reading) if rule.reading else ""
    summary = _plain(rule.summary)
    return f"| {link} | {summary} | {rule.severity} | {rule.confidence} | {default} | {readers} | {aliases} |\n"


def _plain(summary: str) -> str:
    return " ".join(summary.split()).replace("|", "\\|")


COMMAND = re.compile(
    r"(^(?:\.venv/bin/)?tdqs-mcp (?!sweep)([^\n]+)\n```\n\n```(?:text)?\n)(.*?)^(?=```$)", re.MULTILINE | re.DOTALL
)
"""A command with the block of its output below it; not sweep, which writes a store."""


def readme() -> str:
    """The README with what its commands print now: as many lines as there were, and a mark where there are more."""

    def printed(block: re.Match[str]) -> str:
        done = CliRunner().invoke(cli, block[2].split(), prog_name="tdqs-mcp")
        lines, count = done.stdout.splitlines(), block[3].removesuffix("…\n").count("\n")
        return block[1] + "".join(f"{line}\n" for line in (*lines[:count], *(["…"] if len(lines) > count else [])))

    return COMMAND.sub(printed, (ROOT / "README.md").read_text("utf-8"))


MANIFESTS = (
    "server.json",
    "packaging/manifest.json",
    "packaging/vscode/package.json",
    "plugin/.claude-plugin/plugin.json",
)


def manifest(path: Path) -> str:
    """A manifest with the version of pyproject.toml, which stands nowhere else."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    return re.sub(r'^(\s+"version": )"[^"]*"', rf'\1"{version}"', path.read_text("utf-8"), flags=re.MULTILINE)


FILES = {
    ROOT / "README.md": readme,
    **{ROOT / name: partial(manifest, ROOT / name) for name in MANIFESTS},
    ROOT / "docs" / "rules.md": rules_page,
}
"""Every generated file, with what makes its text."""

if __name__ == "__main__":
    for path, make in FILES.items():
        path.write_text(make(), encoding="utf-8")
