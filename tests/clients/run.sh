#!/usr/bin/env bash
# Does the main job (hand a task off, take it over, finish it) with three MCP clients that are not ours.
#
#   tests/clients/run.sh HEYAIRA_BINARY
#
# Needs python3 >= 3.11 with venv and pip, node >= 20 and npm. The clients are installed once, exactly as
# the lock files say, below target/clients or $HEYAIRA_CLIENTS_DIR. A client that cannot be installed is a failure.
set -euo pipefail

fail() {
  echo "clients: $*" >&2
  exit 1
}

[ $# -eq 1 ] || fail "usage: $0 HEYAIRA_BINARY"
[ -x "$1" ] || fail "$1 is no executable file"

source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
server=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
clients_dir=${HEYAIRA_CLIENTS_DIR:-$source_dir/../../target/clients}
mkdir -p "$clients_dir"
clients_dir=$(cd "$clients_dir" && pwd)
python=$clients_dir/python/.venv/bin/python

# Settings of the person who runs this must not choose another database or project.
for name in "${!HEYAIRA_@}"; do unset "$name"; done

# Node looks for packages beside the file that imports them: the drivers run from a copy beside their packages.
copy_sources() {
  local dir
  for dir in job python typescript inspector; do
    mkdir -p "$clients_dir/$dir"
    find "$source_dir/$dir" -maxdepth 1 -type f -exec cp {} "$clients_dir/$dir/" \;
  done
}

# ensure_installed CLIENT LOCK_FILE RUNTIME: runs install_CLIENT unless it was done for this lock file and this runtime.
ensure_installed() {
  local client=$1 lock=$clients_dir/$1/$2 stamp=$clients_dir/$1/.installed wanted
  wanted=$("$3" --version && command -v "$3" && cat "$lock")
  if [ -f "$stamp" ] && [ "$wanted" = "$(cat "$stamp")" ]; then return; fi
  echo "clients: installing $client" >&2
  rm -f "$stamp"
  (cd "$clients_dir/$client" && "install_$client") || fail "$client could not be installed"
  printf '%s\n' "$wanted" >"$stamp"
}

install_python() {
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || fail "python3 is older than 3.11"
  rm -rf .venv && python3 -m venv .venv &&
    "$python" -m pip install --quiet --disable-pip-version-check --only-binary :all: --require-hashes -r requirements.lock
}

install_typescript() { install_packages; }
install_inspector() { install_packages; }

install_packages() {
  node -e 'process.exit(process.versions.node.split(".")[0] < 20 ? 1 : 0)' || fail "node is older than 20"
  npm ci --loglevel=error >/dev/null
}

set_up_server() {
  export HEYAIRA_DATABASE=$work/heyaira.db
  "$server" init >/dev/null
  "$server" project create ledger >/dev/null
  "$server" profile ledger --json >"$work/profile.json"
}

milliseconds() {
  "$python" -c 'import time; print(time.time_ns() // 1_000_000)'
}

# drive NAME COMMAND...: runs one driver and prints one line about it.
drive() {
  local name=$1 begin took
  shift
  begin=$(milliseconds)
  CLIENTS_SERVER=$server CLIENTS_PROFILE=$work/profile.json CLIENTS_RECORDS=$work CLIENTS_PYTHON=$python "$@" || {
    keep_work=yes
    fail "$name failed; what was said on the wire: $work/$name-*.jsonl"
  }
  took=$(($(milliseconds) - begin))
  printf 'clients: %-10s ok  %d.%03d s\n' "$name" $((took / 1000)) $((took % 1000))
}

copy_sources
ensure_installed python requirements.lock python3
ensure_installed typescript package-lock.json node
ensure_installed inspector package-lock.json node

keep_work=no
work=$(mktemp -d)
trap '[ "$keep_work" = yes ] || rm -rf "$work"' EXIT
# Out of the repository: a heyaira.toml pinned there is not meant for these sessions.
cd "$work"

set_up_server
drive python "$python" "$clients_dir/python/driver.py"
drive typescript node "$clients_dir/typescript/driver.mjs"
drive inspector node "$clients_dir/inspector/driver.mjs"
