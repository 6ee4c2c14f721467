"""Write the published JSON Schemas anew from the contracts: `python tests/schemas.py`."""

import json
from pathlib import Path

from jsonschema import Draft202012Validator

import tdqs_mcp.report
from tdqs_mcp.report.contract.gate import GateDocument
from tdqs_mcp.report.contract.grade import GradeDocument
from tdqs_mcp.report.contract.improve import CompareDocument, PlanDocument, WhatIfDocument
from tdqs_mcp.report.contract.labels import LabelDocument, SkillDocument
from tdqs_mcp.report.contract.lint import LintDocument
from tdqs_mcp.report.contract.rewrite import RewriteDocument
from tdqs_mcp.report.contract.scores import ScoreDocument
from tdqs_mcp.report.contract.select import SelectDocument

CONTRACTS = {
    "score": ScoreDocument,
    "labels": LabelDocument,
    "skill": SkillDocument,
    "lint": LintDocument,
    "rewrite": RewriteDocument,
    "plan": PlanDocument,
    "what-if": WhatIfDocument,
    "compare": CompareDocument,
    "select": SelectDocument,
    "gate": GateDocument,
    "grade": GradeDocument,
}

DIALECT = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
SCHEMAS = {
    name: DIALECT | model.model_json_schema(by_alias=True, mode="serialization") for name, model in CONTRACTS.items()
}

VALIDATORS = {name: Draft202012Validator(schema) for name, schema in SCHEMAS.items()}


def published(name):
    """The file that a schema belongs into."""
    return Path(tdqs_mcp.report.__file__).parent / "schemas" / f"{name}.schema.json"


if __name__ == "__main__":
    for name, schema in SCHEMAS.items():
        published(name).write_text(json.dumps(schema, indent=2) + "\n", encoding="utf-8")
