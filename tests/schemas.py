"""Write the published JSON Schemas anew from the contracts: `python tests/schemas.py`."""

import json
from pathlib import Path

import tdqs_mcp.reporters
from tdqs_mcp.reporters.contract import (
    GateDocument,
    LabelDocument,
    LintDocument,
    RewriteDocument,
    ScoreDocument,
    SkillDocument,
)

FOLDER = Path(tdqs_mcp.reporters.__file__).parent / "schemas"


def schemas():
    """File names and the schemas that belong into them."""
    documents = (
        (ScoreDocument, "score"),
        (LabelDocument, "labels"),
        (SkillDocument, "skill"),
        (LintDocument, "lint"),
        (RewriteDocument, "rewrite"),
        (GateDocument, "gate"),
    )
    for model, name in documents:
        schema = model.model_json_schema(by_alias=True, mode="serialization")
        yield FOLDER / f"{name}.schema.json", {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema


if __name__ == "__main__":
    for path, schema in schemas():
        path.write_text(json.dumps(schema, indent=2) + "\n", encoding="utf-8")
