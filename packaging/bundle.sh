#!/usr/bin/env bash
# Builds and checks the .mcpb bundle: the sources and a lock, which the host installs with uv. Usage: bash packaging/bundle.sh FILE.mcpb
set -euo pipefail
target="$(realpath -m "${1:-dist/tdqs-mcp.mcpb}")"
cd "$(dirname "$0")/.."
staged="$(mktemp -d)"
trap 'rm -rf "$staged"' EXIT
git ls-files -z src examples/defective.json packaging/json_schemas.py pyproject.toml README.md LICENSE NOTICE | xargs -0 cp --parents -t "$staged"
cp packaging/manifest.json "$staged"
# The host installs with uv: exactly the versions of requirements.lock, and by hash.
pinned="$(sed -n 's/^\([A-Za-z0-9._-]*==[^\\]*[^ \\]\) *\\$/  "\1",/p' requirements.lock)"
sed -i '/^\[project.optional-dependencies\]/,/^\[project.scripts\]/{/^\[project.scripts\]/!d}' "$staged/pyproject.toml"
printf '\n[tool.uv]\nconstraint-dependencies = [\n%s\n]\n' "$pinned" >>"$staged/pyproject.toml"
"${UV:-uv}" lock --quiet --project "$staged"
mkdir -p "$(dirname "$target")"
npx --yes @anthropic-ai/mcpb@2.1.2 validate "$staged/manifest.json"
npx --yes @anthropic-ai/mcpb@2.1.2 pack "$staged" "$target"
