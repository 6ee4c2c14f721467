"""Findings point to the line in the source, in both languages, down to a parameter's description."""

import json
import os
from pathlib import Path

import pytest
from conftest import CI_CANNOT_RUN

import tdqs_mcp
from tdqs_mcp.app import linting
from tdqs_mcp.app.linting import Policy
from tdqs_mcp.rules import registry

EXAMPLES = Path(__file__).parents[1] / "examples" / "careless"

PYTHON = """\
from typing import Annotated

from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations
from pydantic import Field

server = MCPServer("boats")
TEXT = "Renting."


@server.tool(annotations=ToolAnnotations(readOnlyHint=True))
def find_boats(
    place: str,
    pages: Annotated[
        int,
        Field(description="Pages"),
    ] = 1,
) -> list[str]:
    \"\"\"Find boats.\"\"\"
    return []


@server.tool(name="rent_boat", description=TEXT)
def rent(boat: str) -> str:
    return boat
"""

SCRIPT = """\
server.registerTool(
  "sell_boat",
  {
    title: "Sell",
    description:
      "Selling.",
    inputSchema: {
      id: z.string(),
      price: z
        .number()
        .describe("Price"),
    },
    annotations: { readOnlyHint: true },
  },
  async ({ id, price }) => ({ content: [] }),
);
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "boats.py").write_text(PYTHON)
    (tmp_path / "src" / "sell.ts").write_text(SCRIPT)
    return tmp_path


def line_of(text, words):
    return text[: text.index(words)].count("\n") + 1


def places(folder):
    return {
        tool.name: {path: str(place) for path, place in tool.places.items()}
        for tool in tdqs_mcp.read_code(folder).tools
    }


def test_every_part_of_a_definition_has_its_place(folder):
    found = places(folder / "src")
    assert found["find_boats"] == {
        "": "boats.py:12:1",
        "/description": "boats.py:19:5",
        "/annotations": "boats.py:11:26",
        "/annotations/readOnlyHint": "boats.py:11:55",
        "/inputSchema/properties/place": "boats.py:13:5",
        "/inputSchema/properties/pages": "boats.py:14:5",
        "/inputSchema/properties/pages/description": "boats.py:16:27",
    }
    assert found["rent_boat"]["/description"] == "boats.py:8:8"
    assert found["sell_boat"] == {
        "": "sell.ts:2:3",
        "/title": "sell.ts:4:12",
        "/description": "sell.ts:6:7",
        "/annotations": "sell.ts:13:18",
        "/annotations/readOnlyHint": "sell.ts:13:34",
        "/inputSchema": "sell.ts:7:18",
        "/inputSchema/properties/id": "sell.ts:8:11",
        "/inputSchema/properties/price": "sell.ts:9:14",
        "/inputSchema/properties/price/description": "sell.ts:11:19",
    }


def test_a_place_counts_characters_and_lines_as_editors_do(tmp_path):
    (tmp_path / "s.ts").write_bytes(
        "\ufeff// é\r\nserver.tool('aé', /* 😀 */ 'Runs.', { é: z.string().describe('É') }, run);".encode()
    )
    assert places(tmp_path)["aé"] == {
        "": "s.ts:2:13",
        "/description": "s.ts:2:27",
        "/inputSchema": "s.ts:2:36",
        "/inputSchema/properties/é": "s.ts:2:41",
        "/inputSchema/properties/é/description": "s.ts:2:61",
    }


@pytest.mark.parametrize("argument", [["src"], ["tools.json", "--source", "src"], ["src/boats.py"]])
def test_findings_stand_at_their_lines_in_text_annotations_junit_and_sarif(folder, command, argument):
    tools = [tool.raw for tool in tdqs_mcp.load(str(folder / "src")).tools]
    (folder / "tools.json").write_text(json.dumps(tools))
    line = line_of(PYTHON, '"""Find boats')
    run = ("lint", *argument, "--select", "smell:missing-usage-guidelines,TDQ103")
    text = command(*run, "--show", "source", cwd=folder).stdout.decode()
    assert f"src/boats.py:{line}:5 TDQ104" in " ".join(text.split()) or f"src/boats.py:{line}:5 TDQ103" in text
    text = command(*run, "--format", "github", cwd=folder).stdout.decode()
    assert f"::warning file=src/boats.py,line={line},col=5,title=TDQ10" in text
    text = command(*run, "--format", "junit", cwd=folder).stdout.decode()
    assert f'name="find_boats" file="src/boats.py" line="{line}"' in text
    results = json.loads(command(*run, "--format", "sarif", cwd=folder).stdout)["runs"][0]["results"]
    physical = [each["locations"][0]["physicalLocation"] for each in results if each.get("kind") != "pass"]
    assert {each["artifactLocation"]["uri"] for each in physical} <= {"src/boats.py", "src/sell.ts"}
    assert line in {each["region"]["startLine"] for each in physical}


def test_sarif_has_the_definition_s_line_beside_the_code_that_contradicts_it(command):
    run = command("lint", "careless/server.ts", "--select", "TDQ801", "--format", "code-scanning", cwd=EXAMPLES.parent)
    [result] = json.loads(run.stdout)["runs"][0]["results"]
    code, [definition] = result["locations"][0]["physicalLocation"], result["relatedLocations"]
    text = (EXAMPLES / "server.ts").read_text()
    assert code["artifactLocation"]["uri"] == definition["physicalLocation"]["artifactLocation"]["uri"]
    assert code["region"]["startLine"] == line_of(text, "appendFile(")
    assert definition["physicalLocation"]["region"]["startLine"] == line_of(text, "readOnlyHint: true")


@pytest.mark.process
def test_the_code_of_a_server_object_is_found_without_being_named(folder, command):
    run = command(
        "lint",
        "py:boats:server",
        "--cwd",
        "src",
        "--select",
        "TDQ103,smell:missing-usage-guidelines",
        "--format",
        "github",
        cwd=folder,
    )
    line = line_of(PYTHON, '"""Find boats')
    assert f"file=src/boats.py,line={line},col=5" in run.stdout.decode()


def test_what_is_written_in_typescript_goes_before_what_was_compiled_from_it(folder):
    (folder / "dist").mkdir()
    (folder / "dist" / "sell.js").write_text(SCRIPT)
    assert places(folder)["sell_boat"][""] == "src/sell.ts:2:3"


def test_every_text_of_a_published_package_stands_where_its_place_is():
    shared = os.environ.get("TDQS_PACKAGES")
    if not shared:
        pytest.skip(f"{CI_CANNOT_RUN}: TDQS_PACKAGES names a folder of unpacked packages, which are other people's")
    strict = Policy(selection=registry.select(profile="strict"))
    for folder in Path(shared).iterdir():
        code, catalog = tdqs_mcp.read_code(folder), tdqs_mcp.load(str(folder))
        located = linting.locate_report(linting.lint(catalog, strict), catalog, str(folder), code)
        for finding in located.report.findings:
            place = located.find(finding.subject)
            if place is not None:
                line = Path(place.file).read_text("utf-8", errors="replace").splitlines()[place.line - 1]
                assert line[place.column - 1 :].strip(), (folder.name, finding.rule, place)
