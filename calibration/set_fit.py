"""Refit the trees of tool sets alone: python calibration/set_fit.py VERSION DIMENSION,... FOLDER...

Takes everything else from the newest calibration, as the facts of a set can change where those of a tool do not. Prints
the error in cross-validation by server beside that of the newest calibration on the same servers.
"""

import json
import sys
from pathlib import Path
from typing import Any

import fit
import labels as source
import published_error
from plans import COHERENCE
from set_error import error
from trees import tabulate

from tdqs_mcp.facts.toolset.coherence import ToolSet
from tdqs_mcp.judges.features import of_set
from tdqs_mcp.judges.offline import FOLDER, versions


def main(version: str, dimensions: list[str], folders: list[Path]) -> None:
    """Write the calibration and its evidence below the new version."""
    old = versions()[0]
    evidence: dict[str, Any] = dict(published_error.evidence(old))
    servers = source.servers(source.Definitions(folders), evidence)
    table = tabulate([of_set(each.facts) for each in servers if isinstance(each.facts, ToolSet)])
    rows, forests = fit.fit_plainly(servers, table, COHERENCE)
    earlier = {row["server"]: row["predicted"] for row in evidence["servers"]}
    rows = [row for row in rows if row["server"] in earlier]
    for place, key in enumerate(COHERENCE):
        wanted, new, before = [
            [row[place] for row in part]
            for part in (
                [row["labels"] for row in rows],
                [row["predicted"] for row in rows],
                [earlier[row["server"]] for row in rows],
            )
        ]
        print(f"{key}: MAE {error(wanted, before):.2f}, now {error(wanted, new):.2f}, {len(rows)} servers")
    for row in rows:
        del row["latents"]
        predicted = zip(COHERENCE, row["predicted"], earlier[row["server"]], strict=True)
        row["predicted"] = [score if key in dimensions else before for key, score, before in predicted]
    evidence["servers"] = rows
    document = json.loads(FOLDER.joinpath(f"{old}.json").read_text(encoding="utf-8"))
    document["calibration"] = version
    document["provenance"] |= {"sets": f"{', '.join(dimensions)} by calibration/set_fit.py"}
    document["rubrics"]["coherence"] |= {key: forests[key] for key in dimensions}
    document["guard"]["bound"]["coherence"] = fit.guard(evidence)["coherence"]
    document["error"] = published_error.figures(evidence)
    fit.write(fit.TARGET / "calibrations" / f"{version}.json", document)
    fit.write_evidence(published_error.EVIDENCE / f"{version}.json", version, evidence)
    published_error.write(version)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2].split(","), [Path(folder) for folder in sys.argv[3:]])
