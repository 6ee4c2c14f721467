"""Fit anew what the newest calibration takes for particular: python calibration/refine.py VERSION FOLDER...

Keeps trees and weights of the newest calibration, for which more definitions were at hand, and replaces the part of the
sentence model that tells particular sentences from those that fit any tool. The predictions in the evidence are
shifted by what a part that has not seen the server changes; those without a definition in the folders stay.
"""

import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import fit
import labels as source
import numpy as np
import published_error
import sentence_fit
from labels import Definitions
from numpy.typing import NDArray
from trees import split_servers

from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.judges import offline
from tdqs_mcp.judges.sentence_model import SentenceModel, read_model


def main(version: str, folders: Sequence[Path]) -> None:
    """Write the calibration, its evidence and its published error."""
    base = offline.versions()[0]
    document = json.loads(offline.FOLDER.joinpath(f"{base}.json").read_text(encoding="utf-8"))
    definitions, evidence = Definitions(folders), dict(published_error.evidence(base))
    tools = source.tools(definitions, evidence)
    labeled = source.sentences(definitions, source.edits(definitions))
    particular = fit.particular_fit(definitions, labeled, [(each.group, each.facts) for each in tools])
    forests = {key: offline.Forest(**forest) for key, forest in document["rubrics"]["tdqs"].items()}

    def latents(subject: Subject, model: SentenceModel) -> NDArray[np.int64]:
        values = fit.features(subject, model)
        return np.array([forest.latent(values) for forest in forests.values()])

    shifts = {}
    before = read_model(document["sentences"] | _unless_there(document), sentence_fit.LOGISTIC)
    for part in split_servers(np.array([each.group for each in tools]), fit.FOLDS):
        held_out = set(part)
        model = read_model(document["sentences"] | particular(held_out), sentence_fit.LOGISTIC)
        for each in tools:
            if each.group in held_out and isinstance(each.facts, Subject):
                shifts[each.id["inputHash"]] = latents(each.facts, model) - latents(each.facts, before)
    for row in evidence["tools"]:
        if row["inputHash"] in shifts:
            shifted = np.clip(np.array(row["latents"]) + shifts[row["inputHash"]], fit.UNIT, 5 * fit.UNIT)
            total = int(fit.totals(shifted[None])[0])
            scores = {"latents": [int(value) for value in shifted], "predicted": fit.rounded(shifted)}
            row.update(scores | fit.odds(total, document["bands"]))
    digest = hashlib.sha256((source.LABELS / "written_sentences.jsonl").read_bytes()).hexdigest()[:16]
    document["calibration"] = version
    document["provenance"] |= {
        "refined": {"from": base, "script": "calibration/refine.py", "written_sentences": digest}
    }
    document["sentences"] |= particular(frozenset())
    document["guard"]["bound"] = fit.guard(evidence)
    document["error"] = published_error.figures(evidence)
    fit.write(fit.TARGET / "calibrations" / f"{version}.json", document)
    fit.write_evidence(published_error.EVIDENCE / f"{version}.json", version, evidence)
    published_error.write(version)


def _unless_there(document: Mapping[str, Any]) -> dict[str, Any]:
    """A part that lets everything pass, for a calibration that has none."""
    open_part = {"particular": {"base": 0, "weights": {}}, "rarity": {}, "gate": (-2, -1)}
    return {} if "particular" in document["sentences"] else open_part


if __name__ == "__main__":
    main(sys.argv[1], [Path(folder) for folder in sys.argv[2:]])
