#!/usr/bin/env bash
# Installs the action's own checkout, with exactly what requirements.lock pins, into an environment of its own, beside
# whatever the job has installed.
set -euo pipefail

environment="$RUNNER_TEMP/tdqs-mcp"
"${INPUT_PYTHON:-python3}" -m venv "$environment"
scripts="$environment/bin"
[[ -d "$scripts" ]] || scripts="$environment/Scripts"
pip=("$scripts/python" -m pip install --quiet --disable-pip-version-check)
"${pip[@]}" --require-hashes --requirement "$GITHUB_ACTION_PATH/requirements.lock"
"${pip[@]}" --no-deps --no-build-isolation "$GITHUB_ACTION_PATH"
