#!/usr/bin/env bash
# Installs the published MCP servers that the tests capture into the directory $1: exact versions, quiet, nothing done twice.
# Then: TDQS_TEST_SERVERS=DIR pytest tests/test_live.py
set -euo pipefail

target=${1:?usage: real_servers.sh DIRECTORY}
mkdir -p "$target"
target=$(cd "$target" && pwd)
python=${PYTHON:-python3}

npm_packages=(
  @modelcontextprotocol/server-filesystem@2026.8.31
  @modelcontextprotocol/server-everything@2026.8.31
  @modelcontextprotocol/server-memory@2026.8.31
  @playwright/mcp@0.0.83
)
# One environment each: some of them need mcp 1.x, which cannot be beside mcp 2.
pypi_packages=(
  mcp-server-git==2026.10.19
  mcp-server-time==2026.10.19
  mcp-server-fetch==2026.10.24
)

stamp="$target/.npm-installed"
if [[ "$(cat "$stamp" 2>/dev/null)" != "${npm_packages[*]}" ]]; then
  npm install --prefix "$target" --ignore-scripts --no-audit --no-fund --no-save --loglevel=error "${npm_packages[@]}" >&2
  echo "${npm_packages[*]}" > "$stamp"
fi

for package in "${pypi_packages[@]}"; do
  home="$target/${package%%==*}"
  if [[ "$(cat "$home/.installed" 2>/dev/null)" != "$package" ]]; then
    "$python" -m venv "$home"
    "$home/bin/python" -m pip install --quiet --disable-pip-version-check "$package" >&2
    echo "$package" > "$home/.installed"
  fi
done

# An mcp 1.x client for tests/test_server.py.
home="$target/mcp-1-client"
client=mcp==1.30.*
if [[ "$(cat "$home/.installed" 2>/dev/null)" != "$client" ]]; then
  "$python" -m venv "$home"
  "$home/bin/python" -m pip install --quiet --disable-pip-version-check "$client" >&2
  echo "$client" > "$home/.installed"
fi
