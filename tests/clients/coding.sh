#!/usr/bin/env bash
# Coding clients that others wrote hand tasks off and take them over, offline, with a model that follows a script.
#
#   tests/clients/coding.sh HEYAIRA_BINARY [CLIENT...]
#
# Needs node >= 20 and npm. The clients are installed once, exactly as the lock files say, below target/clients/coding or
# $HEYAIRA_CODING_DIR. A client that cannot be installed is a failure. coding/README.md says more.
set -euo pipefail

source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
what=coding
installed_dir=${HEYAIRA_CODING_DIR:-$source_dir/../../target/clients/coding}
. "$source_dir/../foreign.sh"
[ $# -ge 1 ] || fail "usage: $0 HEYAIRA_BINARY [CLIENT...]"
take_binary "$1"
shift
all=(claude-code codex gemini opencode copilot)
[ $# -gt 0 ] || set -- "${all[@]}"

copy_sources "$source_dir/coding" "$@" tokens
for folder in "$@" tokens; do
  begin=$(milliseconds)
  ensure_installed "$folder" package-lock.json node
  took=$(($(milliseconds) - begin))
  printf '%s: %-48s ok  %d.%d s, %d MB\n' "$what" "$folder installed" $((took / 1000)) $((took % 1000 / 100)) "$(du -sm "$installed_dir/$folder" | cut -f 1)"
done

node --test "$source_dir/model/" >/dev/null || fail "the scripted model does not follow its script: node --test tests/clients/model/"
enter_work
timed "all" node "$source_dir/coding/driver.mjs" "$server" "$installed_dir" "$work" "$source_dir/../../plugin" "$@"
