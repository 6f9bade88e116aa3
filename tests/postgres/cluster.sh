#!/usr/bin/env bash
# A PostgreSQL cluster of the tests' own: it shares nothing with one that the machine may have, and leaves nothing.
#
#   tests/postgres/cluster.sh run COMMAND...      a cluster for as long as the command runs
#   tests/postgres/cluster.sh start DIR [PORT]    makes DIR, or takes one that was halted; starts a cluster in it, prints
#                                                 its maintenance URL
#   tests/postgres/cluster.sh halt DIR            ends that cluster, and leaves DIR to be started again
#   tests/postgres/cluster.sh stop DIR            ends that cluster and removes DIR
#   tests/postgres/cluster.sh binaries            prints the folder of the server's programs, or fails
#
# `run` tells the command the URL in HEYAIRA_TEST_POSTGRES; the user named in it may make databases.
#
#   HEYAIRA_TEST_POSTGRES_BIN     the folder of initdb, pg_ctl and postgres; else the newest that Debian installed,
#                                 else what pg_config says
#   HEYAIRA_TEST_POSTGRES_FSYNC   `on` to have commits reach the disk. Off by default: the tests of behaviour kill
#                                 programs, never the machine, and what a killed process wrote is in the kernel.
#
# PostgreSQL refuses to run as root, so that root's cluster runs as postgres, or where there is none as nobody. Names
# are ordered as in a dictionary unless a column says otherwise: a column that forgot to is found.
set -euo pipefail
shopt -s inherit_errexit
# runuser is among the programs for root, which not every environment of root looks for.
PATH=$PATH:/usr/sbin:/sbin

fail() {
  echo "postgres: $*" >&2
  exit 1
}

readonly oldest=15
programs=(initdb pg_ctl postgres)

# --- The programs ----------------------------------------------------------------------------------------------------

# The folder of the server's programs.
binaries() {
  local folder program
  folder=$(candidate)
  [ -n "$folder" ] || fail "no server is installed (Debian: apt-get install postgresql)"
  for program in "${programs[@]}"; do
    [ -x "$folder/$program" ] || fail "$folder has no $program"
  done
  local version
  version=$("$folder/postgres" --version | sed -E 's/^[^0-9]*([0-9]+).*/\1/')
  [ "$version" -ge "$oldest" ] || fail "$folder has PostgreSQL $version, $oldest or later is needed"
  echo "$folder"
}

candidate() {
  if [ -n "${HEYAIRA_TEST_POSTGRES_BIN:-}" ]; then
    echo "$HEYAIRA_TEST_POSTGRES_BIN"
    return
  fi
  local newest
  newest=$(printf '%s\n' /usr/lib/postgresql/*/bin/postgres | sort -V | tail -n 1)
  if [ -x "$newest" ]; then
    dirname "$newest"
  elif command -v pg_config >/dev/null; then
    pg_config --bindir
  fi
}

# Whom root's cluster runs as; nothing for everyone else.
server_user() {
  [ "$(id -u)" = 0 ] || return 0
  local user
  for user in postgres nobody; do
    if id "$user" >/dev/null 2>&1; then
      echo "$user"
      return
    fi
  done
  fail "there is neither a user postgres nor nobody to run the server as"
}

# as_server COMMAND...: runs it as the user of the server, in a folder that this user may be in.
as_server() {
  local user
  user=$(server_user)
  if [ -n "$user" ]; then
    (cd / && runuser -u "$user" -- "$@")
  else
    "$@"
  fi
}

# --- A cluster -------------------------------------------------------------------------------------------------------

# start DIR [PORT]: what is in DIR is `data`, the socket, `log`, `url`, and `programs`, the folder of its programs.
start() {
  local folder=$1 port=${2:-}
  mkdir -p "$folder"
  folder=$(cd "$folder" && pwd -P)
  if [ -e "$folder/programs" ] && [ -e "$folder/password" ]; then
    start_server "$folder" "$port"
    cat "$folder/url"
    return
  fi
  [ -z "$(ls -A "$folder")" ] || fail "$folder is not empty"
  # The address of a socket in the file system ends at 107 bytes.
  [ ${#folder} -le 85 ] || fail "the name of $folder is too long for a socket in it"
  chmod 700 "$folder"
  local user
  user=$(server_user)
  [ -z "$user" ] || chown "$user" "$folder"
  as_server test -x "$folder" || fail "$user cannot reach $folder"
  place_programs "$folder"
  make_data "$folder"
  start_server "$folder" "$port"
  cat "$folder/url"
}

# Notes where the programs are; those that the server's user cannot reach, as in a home, are copied first.
place_programs() {
  local folder=$1 from
  from=$(binaries)
  if ! as_server test -x "$from/postgres"; then
    # They look for their libraries beside themselves.
    cp -a "$from/.." "$folder/installed"
    chown -R "$(server_user)" "$folder/installed"
    from=$folder/installed/$(basename "$from")
  fi
  echo "$from" >"$folder/programs"
}

make_data() {
  local folder=$1
  # Whoever else is on the machine must not become the server's user through it.
  (umask 077 && od -An -N16 -tx1 /dev/urandom | tr -d ' \n' >"$folder/password")
  chown --reference="$folder" "$folder/password"
  as_server "$(cat "$folder/programs")/initdb" --pgdata="$folder/data" --no-sync --encoding=UTF8 \
    --locale=C.UTF-8 --locale-provider=icu --icu-locale=en --username=postgres \
    --auth=scram-sha-256 --pwfile="$folder/password" >"$folder/initdb.log" 2>&1 ||
    fail "initdb failed: $(cat "$folder/initdb.log")"
  cat >>"$folder/data/postgresql.conf" <<SETTINGS
listen_addresses = '127.0.0.1'
unix_socket_directories = '$folder'
max_connections = 400
max_wal_size = 256MB
fsync = ${HEYAIRA_TEST_POSTGRES_FSYNC:-off}
full_page_writes = ${HEYAIRA_TEST_POSTGRES_FSYNC:-off}
log_checkpoints = off
lc_messages = 'C'
SETTINGS
}

# start_server DIR PORT: on that port, or on one that is free.
start_server() {
  local folder=$1 port=$2 tries=1 try
  [ -n "$port" ] || tries=20
  for ((try = 1; try <= tries; try++)); do
    # Below the ports that the kernel gives to those who ask for any.
    [ -n "${2:-}" ] || port=$((10000 + RANDOM % 20000))
    if as_server "$(cat "$folder/programs")/pg_ctl" start --pgdata="$folder/data" --log="$folder/log" --wait \
      --timeout=60 --silent --options="-p $port" >/dev/null 2>&1; then
      (umask 077 && echo "postgres://postgres:$(cat "$folder/password")@127.0.0.1:$port/postgres" >"$folder/url")
      return
    fi
    grep -q 'could not bind' "$folder/log" || break
  done
  fail "the server did not start: $(cat "$folder/log")"
}

# halt DIR: what was written stays.
halt() {
  local folder=$1
  [ -e "$folder/data/postmaster.pid" ] || return 0
  as_server "$(cat "$folder/programs")/pg_ctl" stop --pgdata="$folder/data" --mode=fast --wait --silent ||
    fail "the server in $folder did not end"
}

# stop DIR: nothing of the data is wanted, so that the server ends at once.
stop() {
  local folder=$1
  [ -d "$folder" ] || return 0
  [ -e "$folder/programs" ] || fail "$folder is no cluster of the tests"
  if [ -e "$folder/data/postmaster.pid" ]; then
    as_server "$(cat "$folder/programs")/pg_ctl" stop --pgdata="$folder/data" --mode=immediate --wait --silent ||
      fail "the server in $folder did not end"
  fi
  rm -rf "$folder"
}

# Where files are made: each test makes a database, of three hundred files. A cluster that flushes belongs on a disk.
quickest() {
  local memory=/dev/shm free
  free=$(df --output=avail -k "$memory" 2>/dev/null | tail -n 1 || true)
  if [ "${HEYAIRA_TEST_POSTGRES_FSYNC:-off}" = off ] && [ -w "$memory" ] && [ "${free:-0}" -gt 2000000 ]; then
    echo "$memory"
  else
    echo /tmp
  fi
}

# run COMMAND...: the cluster ends with the command, however that ends.
run() {
  binaries >/dev/null
  work=$(mktemp -d "$(quickest)/heyaira-postgres.XXXXXX")
  trap end_run EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  HEYAIRA_TEST_POSTGRES=$(start "$work")
  export HEYAIRA_TEST_POSTGRES
  "$@"
}

end_run() {
  local status=$?
  stop "$work" || status=1
  exit "$status"
}

usage() {
  sed -n 's/^#   tests/tests/p' "${BASH_SOURCE[0]}" >&2
  exit 2
}

action=${1:-}
[ $# -eq 0 ] || shift
case $action in
run) [ $# -ge 1 ] || usage ;;
start) [ $# -ge 1 ] && [ $# -le 2 ] || usage ;;
halt | stop) [ $# -eq 1 ] || usage ;;
binaries) [ $# -eq 0 ] || usage ;;
*) usage ;;
esac
"$action" "$@"
