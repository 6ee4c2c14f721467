"""Fixes that need no new words, and the edits that rewrite a JSON file of definitions."""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from tdqs_mcp.errors import InputError
from tdqs_mcp.facts.lexicon import words_from
from tdqs_mcp.facts.schema.walk import put_at, split_pointer, value_at
from tdqs_mcp.facts.spelling import common_ends, is_plain
from tdqs_mcp.facts.subject import Measured, Subject, measure
from tdqs_mcp.facts.text.claims import Topic
from tdqs_mcp.facts.text.prose import lead_in_length
from tdqs_mcp.facts.text.words import spell_acronyms
from tdqs_mcp.facts.toolset import names
from tdqs_mcp.facts.toolset.relations import display_name
from tdqs_mcp.json_text import JsonNode, TextEdit, edited
from tdqs_mcp.results.findings import Finding
from tdqs_mcp.results.improvements import Change, LeftOut, Patch, Rewrite, Route, unified
from tdqs_mcp.rewriting.proposals import Proposal, Statement, apply, set_value
from tdqs_mcp.sources.files import DefinitionText, locate

_WORD = re.compile(r"(?P<quote>['\"`]?)(?P<word>[\w.-]*\w)(?P=quote)")

Fixer = Callable[[Subject], Iterator[Statement]]


def find_fixes(measured: Measured, check: Callable[[Measured], Sequence[Finding]]) -> list[Proposal]:
    """The fixes of what `check` finds: only those that remove a finding of their tool and add none."""
    findings = check(measured)
    before, fixers = _by_tool(findings), _fixers(measured)
    server_rules = {rule for rule, _ in before[None]}
    fixed: list[Proposal] = []
    for subject in measured.subjects:
        rules = server_rules | {rule for rule, _ in before[subject.tool.index]}
        parts = {part.path: part for rule in fixers if rule in rules for part in fixers[rule](subject)}
        fixed += [Proposal(subject=subject, parts=tuple(parts.values()))] if parts else []
    if not fixed:
        return []
    definitions = {item.index: item.definition for item in fixed}
    left = check(measure(apply(measured.catalog, definitions), earlier=measured))
    after, is_server_better = _by_tool(left), len(left) < len(findings)  # it reports once what all tools lack

    def is_better(index: int) -> bool:
        return after[index] < before[index] or (is_server_better and after[index] == before[index])

    return [item for item in fixed if is_better(item.index)]


def _set_text(subject: Subject, path: str, text: str) -> Statement:
    """A new text at a path; of the description only the words that differ."""
    if path != "/description":
        return set_value(path, text, Route.FIX, [path])
    old, new = (re.split(r"(\s+)", words) for words in (subject.tool.description or "", text))
    start, tail = common_ends(old, new)
    # "This tool lists" -> "Lists": whole words change
    end, words = len("".join(old[: len(old) - tail])), "".join(new[start : len(new) - tail])
    splice = TextEdit(start=len("".join(old[:start])), end=end, text=words)
    return Statement(path=path, route=Route.FIX, sources=(path,), splices=(splice,))


def apply_changes(raw: Mapping[str, Any], changes: Iterable[Change]) -> Mapping[str, Any]:
    """A raw definition with some changes."""
    for change in changes:
        raw = put_at(raw, change.path, change.after)
    return raw


def _by_tool(findings: Iterable[Finding]) -> Mapping[int | None, set[tuple[str, str]]]:
    """Rule and path of each finding by the tool's index; None has those of other parts."""
    table = defaultdict[int | None, set[tuple[str, str]]](set)
    for finding in findings:
        table[finding.tool_index].add((finding.rule, finding.subject.path))
    return table


def _fixers(measured: Measured) -> Mapping[str, Fixer]:
    """Return what can be fixed, by rule."""
    openings = {entry.tool.name: entry.prose.verb for entry in measured.subjects if entry.prose.opens_with_verb}
    labels = names.read_names((subject.tool.name for subject in measured.subjects), openings)
    title = partial(_title, labels)
    return {"TDQ160": _opening, "TDQ236": _spelled_values, "TDQ137": title, "TDQ721": title}


def _opening(subject: Subject) -> Iterator[Statement]:
    """The first sentence without the words before its verb."""
    text = subject.tool.description or ""
    skipped = lead_in_length(first) if (first := next(iter(subject.prose.sentences), "")) else 0
    if skipped:
        start = text.index(first)
        rest = text[start + skipped :]
        yield _set_text(subject, "/description", text[:start] + rest[:1].upper() + rest[1:])


def _spelled_values(subject: Subject) -> Iterator[Statement]:
    """Values that a parameter's own description spells in another case, as the schema has them."""
    for clash in subject.clashes.get(Topic.CHOICES, ()):
        schema = clash.mention.node.schema
        items = schema.get("items")
        listed = schema.get("enum") or (items.get("enum") if isinstance(items, Mapping) else None) or ()
        values = [value for value in listed if isinstance(value, str)]
        text = value_at(subject.tool.raw, clash.mention.path)
        if values and isinstance(text, str):
            new = _WORD.sub(partial(_as_value, values), text)
            if new != text:
                yield _set_text(subject, clash.mention.path, new)


def _as_value(values: Sequence[str], match: re.Match[str]) -> str:
    """A word as the one value that it spells in another case; a capitalized word may begin a sentence."""
    word, quote = match["word"], match["quote"]
    meant = [value for value in values if value.lower() == word.lower()]
    is_value = len(meant) == 1 and word not in values and (quote or not word.istitle())
    return f"{quote}{meant[0]}{quote}" if is_value else match[0]


def _title(labels: Mapping[str, names.NameWords], subject: Subject) -> Iterator[Statement]:
    """The name's words, for people; clients fall back to the annotations' title and then to the bare name."""
    label = labels[subject.tool.name]
    is_clear = is_plain(label.tool) and (label.verb or words_from("names", "plain_verbs").isdisjoint(label.nouns))
    if subject.tool.raw.get("title") is None and display_name(subject.tool) is None and is_clear:
        # `create_app_v2` and `top_10_posts`: a title keeps what tells tools apart
        words = spell_acronyms(" ".join((label.verb, *label.nouns) if label.verb else label.nouns))
        if len(words.split()) > 1:
            yield _set_text(subject, "/title", words[:1].upper() + words[1:])


def patch_json(content: bytes, rewrites: Sequence[Rewrite], *, name: str) -> Patch:
    """Return the patch of a file of definitions; every byte that no change names stays, order and layout too."""
    try:
        new, left_out = write_json(content, rewrites)
    except InputError:
        new, left_out = None, ()
    if new is None or json.detect_encoding(content) not in ("utf-8", "utf-8-sig"):
        problem = f"{name!r} is not a UTF-8 file of definitions, so it cannot be patched"
        return Patch(diff=b"", count=0, problems=(problem,))
    before, after = (text.decode("utf-8", "surrogatepass") for text in (content, new))
    diff = unified(before, after, name=name).encode("utf-8", "surrogatepass")
    count = sum(len(rewrite.changes) for rewrite in rewrites) - len(left_out)
    return Patch(diff=diff, count=count, left_out=left_out)


def write_json(content: bytes, rewrites: Sequence[Rewrite]) -> tuple[bytes, tuple[LeftOut, ...]]:
    """Return the same file with the rewrites made in it, and what could not be; every byte that no change names stays.

    Raises InputError for a file that nests too deep to be scanned.
    """
    file = locate(content)
    if file is None:
        raise InputError("the file nests too deep to be written back; nothing was written")
    edits, left_out = _json_edits(file, rewrites)
    return edited(file.text, edits).encode(json.detect_encoding(content), "surrogatepass"), left_out


def _json_edits(file: DefinitionText, rewrites: Sequence[Rewrite]) -> tuple[list[TextEdit], tuple[LeftOut, ...]]:
    """The edits that make the changes, and the changes for which there is none."""
    edits: list[TextEdit] = []
    added: dict[int, tuple[JsonNode, dict[str, object]]] = {}  # members that go into the same object are one edit
    left_out: list[LeftOut] = []
    changes = [(rewrite, change) for rewrite in rewrites for change in rewrite.changes]
    for rewrite, change in changes:
        node = _parent(file, rewrite, change)
        key = split_pointer(change.path)[-1]
        if isinstance(node, str):
            left_out.append(LeftOut(tool=rewrite.name, path=change.path, reason=node))
        elif key in node.members:
            edits.append(file.replace(node, key, change.after))
        else:
            added.setdefault(node.start, (node, {}))[1][key] = change.after
    edits += [edit for node, members in added.values() for edit in file.insert(node, members)]
    return edits, tuple(left_out)


def _parent(file: DefinitionText, rewrite: Rewrite, change: Change) -> JsonNode | str:
    """The object in the file that holds what changes, or why nothing can be changed there."""
    tools = file.catalog.tools
    if rewrite.index >= len(tools) or tools[rewrite.index].name != rewrite.name:
        return "the file has no place for it"
    nodes = [file.node(tools[rewrite.index].raw)]
    for key in split_pointer(change.path)[:-1]:
        member = nodes[-1].members.get(key) if nodes[-1] else None
        nodes.append(file.node(member.value) if member else None)
    if any(node.is_repeated for node in nodes if node):
        return "a key stands twice in its definition, and readers differ in which of them they take"
    node = nodes[-1]
    return "the file has no place for it" if node is None or file.text[node.start] != "{" else node
