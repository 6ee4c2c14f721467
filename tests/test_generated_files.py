"""What is written from the code is as the code writes it, and the lock file is in step with pyproject.toml."""

import re
import tomllib
from pathlib import Path

import pytest
from generated_files import FILES, ROOT
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_generated_file_is_up_to_date(path: Path):
    """Otherwise run `python tests/generated_files.py`."""
    assert path.read_text(encoding="utf-8") == FILES[path]()


def locked(name):
    """Versions by name, from a lock file."""
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    found = [re.match(r"(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^ ;]+)", line) for line in lines]
    return {canonicalize_name(match["name"]): match["version"] for match in found if match}


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-dev.lock"])
def test_the_lock_file_fits_the_dependencies(name):
    """Otherwise write it anew, as CONTRIBUTING.md says."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    chosen = extras if name == "requirements-dev.lock" else ["build"]
    wanted = [*project["dependencies"], *(each for extra in chosen for each in extras[extra])]
    versions = locked(name)
    everything = locked("requirements-dev.lock")
    assert versions.items() <= everything.items(), "both lock files pin the same versions"
    for requirement in map(Requirement, wanted):
        if requirement.name != "tdqs-mcp":
            version = versions.get(canonicalize_name(requirement.name))
            assert version, f"{requirement.name} is not locked"
            assert requirement.specifier.contains(version, prereleases=True), f"{requirement} is locked at {version}"


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-dev.lock"])
def test_the_lock_file_has_a_hash_for_everything_and_names_no_place(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    entries = [entry for entry in re.split(r"\n(?=\S)", text) if not entry.startswith("#")]
    assert len(entries) > 50
    assert [entry for entry in entries if "--hash=sha256:" not in entry] == []
    assert not re.search(r"://|--(?:extra-)?index-url|--find-links| @ ", text)
