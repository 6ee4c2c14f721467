"""`rewrite --write`: rewrites in the file that the definitions come from, or as a patch of such files."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tdqs_mcp import app
from tdqs_mcp.cli.page import leave, save, warn, write
from tdqs_mcp.errors import TdqsError
from tdqs_mcp.model.catalog import Catalog
from tdqs_mcp.report.documents import capture_document, json_text
from tdqs_mcp.report.escape import printable
from tdqs_mcp.results.rewrites import Rewrite
from tdqs_mcp.rewriting.proposals import apply
from tdqs_mcp.sources.locator import File, parse_locator

if TYPE_CHECKING:
    from tdqs_mcp.rewriting.text_patches import LeftOut

SUFFIXES = (".patch", ".diff")
"""Names of a `--write` file that ask for a patch."""


def patched_place(locator: str, target: Path | None, source: Path | None) -> Path | None:
    """The file or folder that is to be patched; None where no patch is asked for."""
    is_patch = target is not None and target.suffix in SUFFIXES
    if source is not None and not is_patch:
        raise click.UsageError("--source needs --write FILE.patch, the patch to write")
    if source is not None or not is_patch:
        return source
    try:
        parsed = parse_locator(locator)
    except TdqsError as error:
        leave(error)
    if not isinstance(parsed, File) or parsed.path == "-":
        raise click.UsageError("a patch is one of a JSON file as LOCATOR, or of the Python code that --source names")
    return Path(parsed.path)


def write_patch(place: Path, rewrites: Sequence[Rewrite], target: Path, *, is_code: bool) -> None:
    """The patch to a file; what it leaves to the author, and how to apply it, to standard error."""
    try:
        patch, root = (app.patch_sources if is_code else app.patch_file)(place, rewrites)
    except TdqsError as error:
        leave(error)
    save(patch.diff, target)
    for problem in patch.problems:
        warn(problem)
    for line in _left(patch.left_out):
        click.echo(line, err=True)
    where = "" if root == Path.cwd().resolve() else f" in {root}"
    count = "1 change" if patch.made == 1 else f"{patch.made} changes"
    then = f". Next: git apply {target.resolve()}{where}" if patch.made else ""
    click.echo(printable(f"{count} in {target}{then}"), err=True)


def write_catalog(catalog: Catalog, rewrites: Sequence[Rewrite], target: Path) -> None:
    """The whole catalog with the rewrites: what was read from a file in its own form, any other as a capture."""
    if catalog.content is None:
        improved = apply(catalog, {each.index: each.definition for each in rewrites})
        write(json_text(capture_document(improved)), target)
        left_out: tuple[LeftOut, ...] = ()
    else:
        try:
            content, left_out = app.write_file(catalog.content, rewrites)
        except TdqsError as error:
            leave(error)
        save(content, target)
    for line in _left(left_out):
        click.echo(line, err=True)
    click.echo(f"{len(catalog.tools)} tools in {target}. Next: tdqs-mcp score {target}", err=True)


def _left(left_out: "Sequence[LeftOut]") -> Iterator[str]:
    """A line for each tool: what the patch does not change, and why."""
    by_tool: dict[str, list[str]] = {}
    for each in left_out:
        by_tool.setdefault(each.tool, []).append(f"{each.path} ({each.reason})")
    for tool, parts in by_tool.items():
        yield f"left to the author: {printable(tool)}: {printable('; '.join(parts))}"
