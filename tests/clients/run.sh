#!/usr/bin/env bash
# Does the main job (hand a task off, take it over, finish it) with three MCP clients that are not ours, over standard
# input and output and over HTTP with a token.
#
#   tests/clients/run.sh HEYAIRA_BINARY
#
# Needs python3 >= 3.11 with venv and pip, node >= 20 and npm. The clients are installed once, exactly as
# the lock files say, below target/clients or $HEYAIRA_CLIENTS_DIR. A client that cannot be installed is a failure.
set -euo pipefail

source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
what=clients
installed_dir=${HEYAIRA_CLIENTS_DIR:-$source_dir/../../target/clients}
. "$source_dir/../foreign.sh"
take_binary "$@"

copy_sources "$source_dir" job python typescript inspector
ensure_installed python requirements.lock python3
ensure_installed typescript package-lock.json node
ensure_installed inspector package-lock.json node
python=$installed_dir/python/.venv/bin/python

enter_work
set_up_server
serve server
start recorder "$python" "$installed_dir/job/record_http.py" "$work" "$address"
export CLIENTS_SERVER=$server CLIENTS_PYTHON=$python CLIENTS_PROFILE=$work/profile.json CLIENTS_RECORDS=$work
export CLIENTS_RECORDER=$said CLIENTS_TOKEN=$token

for transport in stdio http; do
  export CLIENTS_TRANSPORT=$transport
  timed "python $transport" "$python" "$installed_dir/python/driver.py"
  timed "typescript $transport" node "$installed_dir/typescript/driver.mjs"
  timed "inspector $transport" node "$installed_dir/inspector/driver.mjs"
done
