"""Write how captured servers score: python calibration/known_servers.py FOLDER...

Scores every catalog in the folders by the offline judge and counts servers by overall score and by description quality.
Servers with the same tools count once. The result, numbers only, is src/tdqs_mcp/scoring/data/known_servers.json; it
belongs to one calibration, so a refit makes it anew.
"""

import json
import sys
from collections import Counter
from pathlib import Path

from tdqs_mcp import sync
from tdqs_mcp.results.scores import ServerScore

TARGET = Path(__file__).parents[1] / "src/tdqs_mcp/scoring/data/known_servers.json"


def scored(folders: list[str]) -> list[ServerScore]:
    """The servers that have an overall score, each set of tools once."""
    found = {}
    for path in sorted(path for folder in folders for path in Path(folder).glob("*.json")):
        score = sync.score(sync.load(str(path)))
        if score.rollup.overall is not None:
            found.setdefault(frozenset(tool.input_hash for tool in score.tools), score)
    return list(found.values())


def known_servers(scores: list[ServerScore]) -> str:
    """The file's text: a line for each member."""
    overall = Counter(score.rollup.overall or 0 for score in scores)
    quality = Counter(score.rollup.description_quality or 0 for score in scores)
    members = {
        "about": "Servers by overall score and by description quality, in tenths. Made by calibration/known_servers.py "
        "from published npm and PyPI servers captured in November 2026.",
        "judge": scores[0].judge.id,
        "calibration": scores[0].judge.calibration,
        "spec": scores[0].spec_version,
        "servers": len(scores),
        "tools": sum(len(score.tools) for score in scores),
        "overall": dict(sorted(overall.items())),
        "descriptionQuality": dict(sorted(quality.items())),
    }
    return "{\n" + ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in members.items()) + "\n}\n"


if __name__ == "__main__":
    TARGET.write_text(known_servers(scored(sys.argv[1:])), encoding="utf-8")
    print(f"wrote {TARGET.name}")
