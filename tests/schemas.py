"""The published JSON Schemas, as the results define them."""

import sys
from pathlib import Path

from jsonschema import Draft202012Validator

from tdqs_mcp.results.contract import schema

sys.path.append(str(Path(__file__).parents[1] / "packaging"))
import json_schemas

SCHEMAS = {name: schema(result) for name, result in json_schemas.CONTRACTS.items()}
VALIDATORS = {name: Draft202012Validator(schema) for name, schema in SCHEMAS.items()}
