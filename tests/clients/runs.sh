#!/usr/bin/env bash
# Coding clients that others wrote work alone on a task, offline, with a model that follows a script; the run reports on it.
#
#   tests/clients/runs.sh HEYAIRA_BINARY [CLIENT...]
#
# Needs what coding.sh needs, and shares its installed clients.
set -euo pipefail

source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
what=runs
installed_dir=${HEYAIRA_CODING_DIR:-$source_dir/../../target/clients/coding}
. "$source_dir/../foreign.sh"
[ $# -ge 1 ] || fail "usage: $0 HEYAIRA_BINARY [CLIENT...]"
take_binary "$1"
shift
[ $# -gt 0 ] || set -- codex claude-code gemini opencode copilot

copy_sources "$source_dir/coding" "$@"
for folder in "$@"; do
  ensure_installed "$folder" package-lock.json node
done

node --test "$source_dir/model/" >/dev/null || fail "the scripted model does not follow its script: node --test tests/clients/model/"
enter_work
timed "all" node "$source_dir/coding/runs.mjs" "$server" "$installed_dir" "$work" "$@"
