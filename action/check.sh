#!/usr/bin/env bash
# Lints and scores every locator and runs the suite. Exit code: 2 something could not run, else 1 below the bar, else 0.
# Every input comes as an environment variable and is only ever an argument, never text that the shell reads again.
set -euo pipefail

scripts="$RUNNER_TEMP/tdqs-mcp/bin"
[[ -d "$scripts" ]] || scripts="$RUNNER_TEMP/tdqs-mcp/Scripts"
work="$(mktemp -d "$RUNNER_TEMP/tdqs-check.XXXXXX")"
summary="${GITHUB_STEP_SUMMARY:-/dev/null}"
comment="$work/comment"
: >"$comment"
worst=0

check() {
  local code=0
  "$scripts/tdqs-mcp" "$@" || code=$?
  if ((code > worst)); then worst=$code; fi
}

refuse() {
  echo "::error title=tdqs-mcp::$1"
  echo "exit-code=2" >>"${GITHUB_OUTPUT:-/dev/null}"
  exit 2
}

trim() {
  line="${line#"${line%%[![:space:]]*}"}"
  line="${line%"${line##*[![:space:]]}"}"
}

# The same file or folder in the pull request's target branch, under its own name, which names the server.
base_of() {
  local place="$work/base-$2"
  mkdir -p "$place"
  git fetch --quiet --depth=1 origin "$GITHUB_BASE_REF" || return 1
  git archive FETCH_HEAD -- "$1" 2>/dev/null | tar -x -C "$place" 2>/dev/null && echo "$place/$1"
}

# What has changed in a catalog since the target branch, for the summary and the comment.
compare() {
  local before="${bases[$2]:-}"
  if [[ -z "$before" ]]; then
    before="$(base_of "$1" "$2")" || { echo "the target branch has no $1 to compare with"; return 0; }
  fi
  if [[ -e "$before" ]] && diff -rq -- "$before" "$3" >/dev/null; then return 0; fi
  "$scripts/tdqs-mcp" compare --format markdown --output "$work/compare.md" -- "$before" "$3" || return 0
  cat "$work/compare.md" >>"$comment"
}

locators=()
while IFS= read -r line || [[ -n "$line" ]]; do
  trim
  [[ -z "$line" ]] || locators+=("$line")
done <<<"${INPUT_LOCATOR:-}"
bases=()
while IFS= read -r line || [[ -n "$line" ]]; do
  trim
  bases+=("$line")
done <<<"${INPUT_BASE:-}"
read -r -a extra <<<"${INPUT_ARGS:-}" || true

((${#locators[@]})) || [[ -n "${INPUT_SUITE:-}" ]] || refuse "set the input locator, or suite"
if [[ -n "${INPUT_SARIF:-}" ]] && ((${#locators[@]} != 1)); then refuse "sarif needs exactly one locator"; fi

options=(--fail-on "${INPUT_FAIL_ON:-error}")
if [[ -n "${INPUT_PROFILE:-}" ]]; then options+=(--profile "$INPUT_PROFILE"); fi
((${#extra[@]} == 0)) || options+=("${extra[@]}")

# Text of a definition that begins a line with :: must not speak to the runner.
token="$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')"
echo "::stop-commands::$token"
trap 'echo "::$token::"' EXIT

for ((number = 0; number < ${#locators[@]}; number++)); do
  catalog="${locators[$number]}"
  compared="$catalog"
  input=/dev/null
  # Files, folders and py: bring their own code, which a capture of them would lose.
  if [[ ! -e "$catalog" && "$catalog" != py:* ]]; then
    # A live server is started once, and every report is about the same answer of it, which comes from standard input,
    # so that no report names a file that will be gone.
    compared="$work/catalog-$number.json"
    code=0
    "$scripts/tdqs-mcp" capture --output "$compared" -- "$catalog" >/dev/null || code=$?
    if ((code)); then
      worst=2
      continue
    fi
    input="$compared"
    catalog=-
  fi
  check lint "${options[@]}" -- "$catalog" <"$input"
  "$scripts/tdqs-mcp" lint "${options[@]}" --format markdown --output "$work/lint.md" -- "$catalog" <"$input" >/dev/null 2>&1 || true
  "$scripts/tdqs-mcp" score --format markdown --output "$work/score.md" -- "$catalog" <"$input" >/dev/null 2>&1 || true
  if [[ "${INPUT_COMMENT:-}" == true && -n "${GITHUB_BASE_REF:-}" ]]; then
    compare "${locators[$number]}" "$number" "$compared"
  fi
  cat "$work"/*.md >>"$summary" 2>/dev/null || true
  rm -f "$work"/*.md
  if [[ -n "${INPUT_SARIF:-}" ]]; then
    check lint "${options[@]}" --format code-scanning --output "$INPUT_SARIF" -- "$catalog" <"$input"
  fi
  if [[ -n "${INPUT_FAIL_UNDER:-}" ]]; then
    check score --fail-under "$INPUT_FAIL_UNDER" -- "$catalog" <"$input"
  fi
done

if [[ -n "${INPUT_SUITE:-}" ]]; then
  check gate --format markdown --output "$work/gate.md" -- "$INPUT_SUITE"
  if [[ -f "$work/gate.md" ]]; then tee -a "$summary" <"$work/gate.md"; fi
fi

if [[ "${INPUT_COMMENT:-}" == true && -n "${GITHUB_BASE_REF:-}" ]]; then
  "$scripts/python" "$GITHUB_ACTION_PATH/action/comment.py" "$comment"
fi

echo "exit-code=$worst" >>"${GITHUB_OUTPUT:-/dev/null}"
exit "$worst"
