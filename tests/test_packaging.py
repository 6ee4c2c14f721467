"""What is published beside the package: bundle, plugin, image, links, completion."""

import base64
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import agent_session
import pytest
import yaml
from own_server import HELLO
from schemas import SCHEMAS

ROOT = Path(__file__).parents[1]
PUBLISHED = {"command": "uvx", "args": ["tdqs-mcp", "serve"]}


@pytest.mark.parametrize("file", ["packaging/manifest.json", "plugin/.claude-plugin/plugin.json", "server.json"])
def test_every_manifest_has_our_version(file):
    assert json.loads((ROOT / file).read_text("utf-8"))["version"] == importlib.metadata.version("tdqs-mcp")


@pytest.mark.process
def test_the_bundle_is_valid_and_starts_from_its_own_files(tmp_path):
    if not shutil.which("npx"):
        pytest.skip("npx builds the bundle")
    bundle = tmp_path / "x.mcpb"
    uv = shutil.which("uv", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])) or "uv"
    script = ["bash", ROOT / "packaging" / "bundle.sh", bundle]
    subprocess.run(script, check=True, capture_output=True, timeout=180, env=os.environ | {"UV": uv})
    with zipfile.ZipFile(bundle) as packed:
        packed.extractall(tmp_path / "bundle")
    server = json.loads((tmp_path / "bundle" / "manifest.json").read_text("utf-8"))["server"]
    assert server["mcp_config"]["args"][-2:] == ["tdqs-mcp", "serve"]
    run = subprocess.run(
        [sys.executable, "-P", "-m", "tdqs_mcp", "serve"],
        input=json.dumps(HELLO).encode() + b"\n",
        capture_output=True,
        timeout=60,
        check=True,
        env=os.environ | {"PYTHONPATH": str((tmp_path / "bundle" / server["entry_point"]).parents[1])},
        cwd=tmp_path,
    )
    assert json.loads(run.stdout)["result"]["serverInfo"]["name"] == "tdqs-mcp"


@pytest.mark.process
def test_a_wheel_is_the_same_bytes_wherever_it_is_built(tmp_path):
    pytest.importorskip("hatchling")
    built = []
    published = {}
    for place, mask, epoch in (("one", 0o022, 1), ("another/folder", 0o077, 2**30)):
        copy = tmp_path / place
        shutil.copytree(
            ROOT, copy, ignore=shutil.ignore_patterns(".*", "*.egg-info", "__pycache__"), copy_function=shutil.copy
        )
        for path in copy.rglob("*"):
            path.chmod((0o777 if path.is_dir() else 0o666) & ~mask)
            os.utime(path, (epoch, epoch))
        build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path / "dist"]
        env = os.environ | {"SOURCE_DATE_EPOCH": "1577836800"}
        subprocess.run(build, cwd=copy, env=env, check=True, capture_output=True, timeout=120)
        (wheel,) = (tmp_path / "dist").iterdir()
        built.append(wheel.read_bytes())
        with zipfile.ZipFile(wheel) as packed:
            files = [name for name in packed.namelist() if name.endswith(".schema.json")]
            published = {Path(name).name: json.loads(packed.read(name)) for name in files}
        assert {Path(name).parent.as_posix() for name in files} == {"tdqs_mcp/report/schemas"}
        wheel.unlink()
    assert built[0] == built[1]
    assert published == {f"{name}.schema.json": schema for name, schema in SCHEMAS.items()}, "of the result classes"


def test_every_action_of_a_workflow_is_pinned():
    for file in (ROOT / "action.yml", *(ROOT / ".github" / "workflows").iterdir()):
        used = re.findall(r"uses: *(\S+)", file.read_text("utf-8"))
        assert [each for each in used if not re.search(r"@[0-9a-f]{40}$", each)] == []


def test_the_licenses_of_all_locked_packages_are_listed_and_free_for_every_use():
    page = (ROOT / "packaging" / "dependencies.md").read_text("utf-8")
    _, *rows = re.findall(r"^\| ([\w.-]+) \| (.+) \| (.+) \|$", page, re.MULTILINE)
    listed = [row for row in rows if row[0] != "---"]
    locked = re.findall(r"^([\w.-]+)==", (ROOT / "requirements-dev.lock").read_text("utf-8"), re.MULTILINE)
    assert [name for name, _, _ in listed] == locked
    installed = [(name, stated) for name, stated, place in listed if place in ("everybody", "an extra")]
    assert [each for each in installed if each[1] == "not stated" or re.search(r"\bA?GPL", each[1])] == []


def test_every_test_that_the_security_page_names_exists():
    named = re.findall(r"`(test_\w+)::(test_\w+)`", (ROOT / "SECURITY.md").read_text("utf-8"))
    assert named
    for module, name in named:
        assert f"def {name}(" in (ROOT / "tests" / f"{module}.py").read_text("utf-8"), f"{module}::{name}"


@pytest.mark.process
def test_the_plugin_is_valid():
    skillsaw = Path(sys.executable).with_name("skillsaw")
    run = subprocess.run([skillsaw, "lint", ROOT / "plugin"], capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 0, run.stdout
    assert re.search(r"Warnings: +0\n", run.stdout)


def test_the_skill_names_tools_that_there_are():
    folder = ROOT / "plugin" / "skills" / "improve-tool-definitions"
    _, head, body = (folder / "SKILL.md").read_text("utf-8").split("---\n", 2)
    assert yaml.safe_load(head)["name"] == folder.name
    named = set(re.findall(r"`([a-z]+_[a-z_]+)`", body))
    assert {"score_server", "suggest_rewrite", "compare_definitions"} <= named
    assert named <= set(agent_session.TOOLS)


def test_the_plugin_starts_what_is_published_below_the_project():
    entry = json.loads((ROOT / "plugin" / ".mcp.json").read_text("utf-8"))["mcpServers"]["tdqs"]
    assert entry == {**PUBLISHED, "args": [*PUBLISHED["args"], "--root", "."]}


@pytest.mark.parametrize("file", ["README.md", "docs/agents.md"])
def test_the_links_install_what_is_published(file):
    links = [
        urlsplit(link)
        for link in re.findall(
            r"(?:^\[\w+\]: |\]\()(https://[^\s)]+install[^\s)]+)", (ROOT / file).read_text("utf-8"), re.MULTILINE
        )
    ]
    found = {link.netloc: parse_qs(link.query) for link in links}
    assert json.loads(base64.b64decode(found["cursor.com"]["config"][0])) == PUBLISHED
    assert json.loads(unquote(found["insiders.vscode.dev"]["url"][0].partition("?")[2])) == {
        "name": "tdqs",
        **PUBLISHED,
    }


def test_the_image_copies_files_that_there_are_and_starts_our_command():
    lines = (ROOT / "Dockerfile").read_text("utf-8").splitlines()
    copied = [
        word for line in lines if line.startswith("COPY ") and "--from" not in line for word in line.split()[1:-1]
    ]
    allowed = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert copied
    assert all((ROOT / each).exists() and f"!{each}" in allowed for each in copied)
    assert 'ENTRYPOINT ["/opt/tdqs-mcp/bin/tdqs-mcp"]' in lines
    assert 'CMD ["serve"]' in lines
    bases = [line.split()[1] for line in lines if line.startswith("FROM ")]
    assert [base for base in bases if not re.search(r"@sha256:[0-9a-f]{64}$", base)] == []


@pytest.mark.parametrize("file", ["Dockerfile", "action/install.sh"])
def test_what_is_installed_is_what_the_lock_file_pins(file):
    installs = re.findall(
        r"(?:pip|\[@\]}\") install.*|\{pip\[@\]\}.*", (ROOT / file).read_text("utf-8").replace("\\\n", " ")
    )
    steps = [step for line in installs for step in line.split("&&") if "--requirement" in step or "--no-deps" in step]
    assert len(steps) == 2
    assert "--require-hashes" in steps[0]
    assert "--no-build-isolation" in steps[1]


@pytest.mark.process
def test_the_lock_file_installs_the_program(tmp_path):
    """As the Action does it, in an environment with nothing else."""
    script = f"PIP_NO_COMPILE=1 RUNNER_TEMP={tmp_path} GITHUB_ACTION_PATH={ROOT} INPUT_PYTHON={sys.executable} bash {ROOT}/action/install.sh"
    run = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stderr
    program = tmp_path / "tdqs-mcp" / "bin" / "tdqs-mcp"
    shown = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=60, check=True)
    assert shown.stdout.startswith("tdqs-mcp, version")


@pytest.mark.process
def test_the_bundle_installs_what_the_lock_file_pins(tmp_path):
    target = tmp_path / "tdqs-mcp.mcpb"
    uv = Path(sys.executable).with_name("uv")
    subprocess.run(
        ["bash", ROOT / "packaging" / "bundle.sh", target],
        env={**os.environ, "UV": str(uv)},
        check=True,
        timeout=300,
        capture_output=True,
    )
    with zipfile.ZipFile(target) as bundle:
        locked = tomllib.loads(bundle.read("uv.lock").decode())["package"]
    pinned = dict(re.findall(r"^([\w.-]+)==([^ ;]+)", (ROOT / "requirements.lock").read_text("utf-8"), re.MULTILINE))
    versions = {each["name"]: each["version"] for each in locked if each["name"] != "tdqs-mcp"}
    assert len(versions) > 30
    assert {name: version for name, version in versions.items() if pinned.get(name) != version} == {}


@pytest.mark.parametrize(
    ("words", "completed"),
    [("tdqs-mcp sco", "score"), ("tdqs-mcp score --fail-u", "--fail-under"), ("tdqs-mcp install z", "zed")],
)
def test_the_shell_completes_commands_options_and_clients(command, words, completed):
    env = {"_TDQS_MCP_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    assert command(env=env).stdout.decode() == f"plain,{completed}\n"


@pytest.mark.process
@pytest.mark.parametrize(
    ("said", "code", "expected"),
    [
        ("No known vulnerabilities found", 0, 0),
        ("Found 2 known vulnerabilities in 1 package", 1, 1),
        ("ERROR: connection refused", 1, 3),
    ],
)
def test_an_audit_that_could_not_ask_says_that_nothing_was_checked(tmp_path, said, code, expected):
    uvx = tmp_path / "uvx"
    uvx.write_text(f'#!/bin/sh\ncase "$*" in *pip-audit*) echo "{said}"; exit {code};; esac\n')
    uvx.chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    run = subprocess.run(
        ["bash", ROOT / "packaging" / "audit.sh", tmp_path / "sbom.json"],
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (run.returncode, "NOT CHECKED" in run.stderr) == (expected, expected == 3)
    assert said in run.stdout
