"""Makes a registry to measure sweeps with: real captures first, then deterministic variations of their tools.

    python calibration/registry.py CATALOGS TOOLS OUT.jsonl.gz [CHANGED [servers]]

CATALOGS is a folder of captures, TOOLS how many tools the registry has in all. CHANGED is the share of the tools, such
as 0.01, that say something else than in the registry without it; everything else is equal to the byte. With `servers`
it is the share of the servers, all of whose tools say something else.
"""

import gzip
import json
import random
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

MEAN = 15.2
"""Tools of a server: 228,369 tools on 15,036 servers (TDQS, June 2026)."""

SHARE = 0.12
"""Of the words of a text that a variation replaces."""

_WORD = re.compile(r"[A-Za-z]{4,}|\d+")


def servers(catalogs: Sequence[Mapping[str, Any]], tools: int) -> Iterator[dict[str, Any]]:
    """The records of the registry: every capture whose tools have room, then variations until the number is reached."""
    chance = random.Random(17)  # noqa: S311  # reproducible, not secret
    count = 0
    for number, catalog in enumerate(catalogs):
        if 0 < len(catalog["tools"]) <= tools - count:
            count += len(catalog["tools"])
            yield {"id": f"real/{number}", **catalog}
    sizes = [len(catalog["tools"]) for catalog in catalogs]
    words = sorted({word for catalog in catalogs for word in _WORD.findall(str(catalog["tools"])) if word.isalpha()})
    number = 0
    while count < tools:
        number += 1
        (base,) = chance.choices(catalogs, sizes)
        size = min(len(base["tools"]), 1 + int(chance.expovariate(1 / MEAN)), tools - count)
        start = chance.randrange(len(base["tools"]) - size + 1)
        count += size
        yield {
            "id": f"varied/{number}",
            "server": f"{base.get('server')}-{chance.choice(words)}",
            "version": base.get("version"),
            "official": chance.random() < 0.1,
            "tools": [_varied(tool, chance, words) for tool in base["tools"][start : start + size]],
        }


def _varied(value: Any, chance: random.Random, words: Sequence[str], key: str = "description") -> Any:  # noqa: ANN401
    """The value with other words and numbers in its descriptions; names and structure stay."""
    if isinstance(value, dict):
        return {name: _varied(child, chance, words, name) for name, child in value.items()}
    if isinstance(value, list):
        return [_varied(child, chance, words, "") for child in value]
    if key != "description" or not isinstance(value, str):
        return value

    def replace(found: re.Match[str]) -> str:
        if chance.random() >= SHARE:
            return found[0]
        return str(chance.randrange(1000)) if found[0].isdigit() else chance.choice(words)

    text = _WORD.sub(replace, value)
    cut = text.rfind(". ", 0, len(text)) if chance.random() < SHARE else -1
    more = f" {chance.choice(words).capitalize()} {chance.choice(words)} {chance.randrange(1000)}."
    return (text[: cut + 1] if cut > 0 else text) + (more if chance.random() < SHARE else "")


def changed(records: Iterator[dict[str, Any]], share: float, *, whole: bool = False) -> Iterator[dict[str, Any]]:
    """The records, with another description for so many of the tools, or for all tools of so many `whole` servers."""
    chance = random.Random(19)  # noqa: S311
    for record in records:
        is_all = whole and chance.random() < share
        tools = [
            {**tool, "description": f"{tool.get('description') or ''} Changed since."}
            if is_all or (not whole and chance.random() < share)
            else tool
            for tool in record["tools"]
        ]
        yield {**record, "tools": tools}


def read_catalogs(folder: Path) -> list[dict[str, Any]]:
    """The captures of a folder, in the order of their names."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]


def write(path: Path, records: Iterator[dict[str, Any]]) -> None:
    """The records as compressed JSON Lines, the same bytes for the same records."""
    with path.open("wb") as raw, gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=3, mtime=0) as file:
        for record in records:
            file.write(json.dumps(record).encode() + b"\n")


if __name__ == "__main__":
    folder, tools, out, *share = sys.argv[1:]
    made = servers(read_catalogs(Path(folder)), int(tools))
    write(Path(out), changed(made, float(share[0]), whole="servers" in share) if share else made)
