#!/usr/bin/env bash
# Runs the tests of `tests/it` on PostgreSQL instead of SQLite, on a cluster of their own; says which are left out.
#
#   tests/postgres/run.sh [ARGUMENT...]
#
# The arguments are those of the test program: names, --nocapture. What is left out stands in sqlite-only.txt.
# cluster.sh says how the server is chosen.
set -euo pipefail
shopt -s inherit_errexit

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here/../.."

skip=()
while read -r name reason; do
  case $name in
  '' | '#'*) continue ;;
  esac
  skip+=(--skip "$name")
  printf 'not on PostgreSQL: %s (%s)\n' "$name" "$reason"
done <"$here/sqlite-only.txt"

programs=$("$here/cluster.sh" binaries)
"$programs/postgres" --version
"$here/cluster.sh" run cargo test --locked --test it -- "${skip[@]}" "$@"
