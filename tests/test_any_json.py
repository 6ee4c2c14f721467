"""Whatever JSON a server lists, it is read, linted, scored and shown, or refused with an InputError."""

import json
from contextlib import suppress
from xml.etree import ElementTree as ET

from hypothesis import given, settings
from hypothesis import strategies as st
from schemas import VALIDATORS

from tdqs_mcp import sync
from tdqs_mcp.app import catalogs, judging, linting
from tdqs_mcp.errors import InputError
from tdqs_mcp.model import TOOL_FIELDS
from tdqs_mcp.report.blocks import as_markdown
from tdqs_mcp.report.documents import capture_document
from tdqs_mcp.report.json_values import document, json_text
from tdqs_mcp.report.lint_formats import github_text, junit_text, sarif_document
from tdqs_mcp.report.lint_report import LocatedReport, Verdict, comment_blocks
from tdqs_mcp.report.score_report import score_blocks
from tdqs_mcp.results.findings import Severity
from tdqs_mcp.sources.positions import locate

TEXT = st.text(st.characters(), max_size=12)  # surrogates and control characters included
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda children: (
        st.lists(children, max_size=3)
        | st.dictionaries(TEXT, children, max_size=3)
        | st.fixed_dictionaries(
            {},
            optional=dict.fromkeys(
                ("type", "properties", "required", "items", "anyOf", "$ref", "enum", "description"), children
            ),
        )
    ),
    max_leaves=12,
)
TOOLS = st.fixed_dictionaries({}, optional=dict.fromkeys((*TOOL_FIELDS, "_meta"), ANYTHING | TEXT)) | ANYTHING


VERDICT = Verdict(fail_on=Severity.ERROR, rule_count=70)


@settings(max_examples=60)
@given(st.lists(TOOLS, max_size=4))
def test_any_list_of_tools_is_scored_linted_and_shown(tools):
    try:
        catalog = catalogs.read({"tools": tools}, server="any")
    except InputError:
        return
    score, report = sync.score(catalog), linting.lint(catalog)
    assert len(score.tools) + len(score.ungraded) == len(tools)
    assert json.loads(json.dumps(capture_document(catalog)["tools"])) == json.loads(json.dumps(tools))
    for kind, result in (("score", score), ("lint", report)):
        VALIDATORS[kind].validate(json.loads(json_text(document(result)).encode("utf-8")))
    sited = [
        LocatedReport(
            report=report, catalog=catalog, file="any.json", positions=locate(json.dumps({"tools": tools}).encode())
        )
    ]
    ET.fromstring(junit_text(sited, fail_on=Severity.INFO))  # noqa: S314  # our own output
    annotations = github_text(sited)
    assert annotations.count("\n") == len(report.findings)
    sarif = json_text(sarif_document(sited))
    for shown in (
        as_markdown(score_blocks(score)),
        as_markdown(comment_blocks(sited, verdict=VERDICT)),
        json_text(judging.prompts(catalog)),
        annotations,
        sarif,
    ):
        shown.encode("utf-8")


@settings(max_examples=200)
@given(ANYTHING)
def test_any_json_is_a_catalog_or_an_input_error(value):
    with suppress(InputError):
        assert judging.score_answers(catalogs.read(value), value).tool_count >= 0
