#!/usr/bin/env bash
# Writes a bill of materials of what requirements.lock pins, and asks the advisory database: bash packaging/audit.sh SBOM.json
# Fails for a known vulnerability, and where any package could not be asked about: not checked is not passed.
set -euo pipefail
cd "$(dirname "$0")/.."
uvx --from cyclonedx-bom==7.3.0 cyclonedx-py requirements requirements.lock --pyproject pyproject.toml \
  --output-reproducible --output-file "${1:-sbom.json}"
uvx pip-audit==2.10.0 --strict --requirement requirements.lock --disable-pip --require-hashes --timeout 60
