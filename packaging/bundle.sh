#!/usr/bin/env bash
# Builds and checks the .mcpb bundle: the sources, which the host installs with uv. Usage: bash packaging/bundle.sh FILE.mcpb
set -euo pipefail
target="$(realpath -m "${1:-dist/tdqs-mcp.mcpb}")"
cd "$(dirname "$0")/.."
staged="$(mktemp -d)"
trap 'rm -rf "$staged"' EXIT
git ls-files -z src pyproject.toml README.md LICENSE NOTICE | xargs -0 cp --parents -t "$staged"
cp packaging/manifest.json "$staged"
mkdir -p "$(dirname "$target")"
npx --yes @anthropic-ai/mcpb@2.1.2 validate "$staged/manifest.json"
npx --yes @anthropic-ai/mcpb@2.1.2 pack "$staged" "$target"
