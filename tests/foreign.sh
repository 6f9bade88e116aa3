# What running programs of others against the server has in common; sourced, not run, after `set -euo pipefail`:
#
#   source_dir=… what=… installed_dir=… && . tests/foreign.sh && take_binary "$@"
#
# `what` stands before everything that is said; packages are installed once, below `installed_dir`.
# shellcheck shell=bash

fail() {
  echo "$what: $*" >&2
  exit 1
}

take_binary() {
  [ $# -eq 1 ] || fail "usage: $0 HEYAIRA_BINARY"
  [ -x "$1" ] || fail "$1 is no executable file"
  server=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
  mkdir -p "$installed_dir"
  installed_dir=$(cd "$installed_dir" && pwd)
  # Settings of the person who runs this must not choose another database or project.
  local name
  for name in "${!HEYAIRA_@}"; do unset "$name"; done
}

# copy_sources FROM FOLDER...: Node looks for packages beside the file that imports them, so that drivers run from a
# copy beside their packages.
copy_sources() {
  local from=$1 folder
  shift
  for folder in "$@"; do
    mkdir -p "$installed_dir/$folder"
    find "$from/$folder" -maxdepth 1 -type f -exec cp {} "$installed_dir/$folder/" \;
  done
}

# ensure_installed FOLDER LOCK_FILE RUNTIME: installs its packages unless that was done for this lock and this runtime.
ensure_installed() {
  local folder=$1 lock=$installed_dir/$1/$2 stamp=$installed_dir/$1/.installed wanted
  wanted=$("$3" --version && command -v "$3" && cat "$lock")
  if [ -f "$stamp" ] && [ "$wanted" = "$(cat "$stamp")" ]; then return; fi
  echo "$what: installing $folder" >&2
  rm -f "$stamp"
  (cd "$installed_dir/$folder" && "install_$3") || fail "$folder could not be installed"
  printf '%s\n' "$wanted" >"$stamp"
}

install_python3() {
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || fail "python3 is older than 3.11"
  rm -rf .venv && python3 -m venv .venv &&
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --require-hashes -r requirements.lock
}

install_node() {
  node -e 'process.exit(process.versions.node.split(".")[0] < 20 ? 1 : 0)' || fail "node is older than 20"
  npm ci --loglevel=error >/dev/null
}

# A folder to work in that goes away after success, and with it what was started in the background.
enter_work() {
  keep_work=no
  background=()
  work=$(mktemp -d)
  # What programs keep for their user stays out of the home of whoever runs this.
  export HOME=$work/home
  mkdir "$HOME"
  trap leave_work EXIT
  # Out of the repository: a heyaira.toml pinned there is not meant for these sessions.
  cd "$work"
}

leave_work() {
  local process
  for process in "${background[@]}"; do
    kill "$process" 2>/dev/null && wait "$process" 2>/dev/null || true
  done
  [ "$keep_work" = yes ] || rm -rf "$work"
}

set_up_server() {
  export HEYAIRA_DATABASE=$work/heyaira.db
  "$server" init >/dev/null
  "$server" project create ledger >/dev/null
  "$server" profile ledger --json >"$work/profile.json"
  token=$("$server" token create agent --project ledger --json | json_field token)
}

json_field() {
  python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"
}

# start NAME COMMAND...: runs it in the background and waits for its first line, which is then in the variable `said`.
start() {
  local name=$1
  shift
  mkfifo "$work/$name.said"
  "$@" >"$work/$name.said" 2>"$work/$name.log" &
  background+=($!)
  read -r -t 30 said <"$work/$name.said" || fail "$name did not start: $(cat "$work/$name.log")"
}

# serve NAME ARGUMENT...: a server on a free port, whose address is then in the variable `address`.
serve() {
  local name=$1
  shift
  start "$name" "$server" serve --listen 127.0.0.1:0 --json "$@"
  address=http://$(json_field listening <<<"$said")
}

milliseconds() {
  python3 -c 'import time; print(time.time_ns() // 1_000_000)'
}

# timed NAME COMMAND...: runs it and prints one line about it.
timed() {
  local name=$1 begin took
  shift
  begin=$(milliseconds)
  "$@" || {
    keep_work=yes
    fail "$name failed; what was left behind is in $work"
  }
  took=$(($(milliseconds) - begin))
  printf '%s: %-26s ok  %d.%03d s\n' "$what" "$name" $((took / 1000)) $((took % 1000))
}
