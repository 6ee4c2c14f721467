"""Writes fixes that need no author into the file of definitions, or into the Python code that declares the tools."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tdqs_mcp.app import improving
from tdqs_mcp.app.linting import Policy, find
from tdqs_mcp.errors import InputError
from tdqs_mcp.facts.subject import measure
from tdqs_mcp.model import Catalog
from tdqs_mcp.results.improvements import Rewrite
from tdqs_mcp.rewriting.certain_fixes import apply_changes, find_fixes
from tdqs_mcp.rewriting.proposals import apply
from tdqs_mcp.rewriting.text_patches import LeftOut, write_json
from tdqs_mcp.sources.files import write_bytes
from tdqs_mcp.sources.locator import File, parse_locator


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixed:
    """What was written."""

    catalog: Catalog
    """The definitions with it."""

    place: Path
    made: tuple[str, ...]
    """Each change that was written: the tool and the place in its definition."""

    left_out: tuple[LeftOut, ...] = ()
    problems: tuple[str, ...] = ()


def fix(catalog: Catalog, locator: str, policy: Policy, *, source: Path | None = None) -> Fixed:
    """Fix what is certain among the findings, in the Python code at `source` or else in the locator's file.

    Raises InputError where there is no such file, or it cannot be written.
    """
    rewrites = find_fixes(measure(catalog), lambda measured: find(measured, policy).findings)
    if source is not None:
        patch, root = improving.patch_sources(source, rewrites)
        for file in patch.files:
            write_bytes(root / file.name, file.content)
        return _fixed(catalog, rewrites, patch.left_out, place=source, problems=patch.problems)
    parsed = parse_locator(locator)
    if not isinstance(parsed, File) or parsed.path == "-" or catalog.content is None:
        raise InputError(f"--fix writes to a JSON file; for {locator!r}, name the Python code with --source")
    path = Path(parsed.path)
    content, left_out = write_json(catalog.content, rewrites)
    fixed = _fixed(catalog, rewrites, left_out, place=path)
    if fixed.made:
        write_bytes(path, content)
    return fixed


def _fixed(
    catalog: Catalog,
    rewrites: Sequence[Rewrite],
    left_out: tuple[LeftOut, ...],
    *,
    place: Path,
    problems: tuple[str, ...] = (),
) -> Fixed:
    left = {(each.tool, each.path) for each in left_out}
    made = [(each, [it for it in each.changes if (each.name, it.path) not in left]) for each in rewrites]
    return Fixed(
        catalog=apply(catalog, {each.index: apply_changes(each.original, found) for each, found in made}),
        place=place,
        made=tuple(f"{each.name} {it.path}" for each, found in made for it in found),
        left_out=left_out,
        problems=problems,
    )
