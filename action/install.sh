#!/usr/bin/env bash
# Installs the action's own checkout into an environment of its own, beside whatever the job has installed.
set -euo pipefail

environment="$RUNNER_TEMP/tdqs-mcp"
"${INPUT_PYTHON:-python3}" -m venv "$environment"
scripts="$environment/bin"
[[ -d "$scripts" ]] || scripts="$environment/Scripts"
"$scripts/python" -m pip install --quiet --disable-pip-version-check "$GITHUB_ACTION_PATH"
