#!/usr/bin/env bash
# Writes a bill of materials of what requirements-dev.lock pins, and asks the advisory database: bash packaging/audit.sh SBOM.json
# Exit 1 for a known vulnerability, 3 where a package could not be asked about: not checked is not passed.
set -euo pipefail
cd "$(dirname "$0")/.."
not_checked() {
  echo "dependencies: NOT CHECKED for known vulnerabilities: $1" >&2
  exit 3
}
uvx --from cyclonedx-bom==7.3.0 cyclonedx-py requirements requirements-dev.lock --pyproject pyproject.toml \
  --output-reproducible --output-file "${1:-sbom.json}" || not_checked "the bill of materials could not be written"
code=0
said="$(uvx pip-audit==2.10.0 --strict --requirement requirements-dev.lock --disable-pip --require-hashes --timeout 60 2>&1)" || code=$?
echo "$said"
((code)) || exit 0
if grep --quiet --extended-regexp 'Found [0-9]+ known vulnerabilit' <<<"$said"; then exit 1; fi
not_checked "pip-audit could not ask about all of them"
