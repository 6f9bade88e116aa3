#!/usr/bin/env bash
# Has checkers that are not ours examine the real program: bridges, a probe, a fuzzer, and whether its hints are true.
#
#   tests/checkers/run.sh HEYAIRA_BINARY
#
# Needs python3 >= 3.11 with venv and pip, node >= 20 and npm. The checkers are installed once, exactly as the lock
# files say, below target/checkers or $HEYAIRA_CHECKERS_DIR. A checker that cannot be installed is a failure. Nothing
# but loopback is used when they run.
set -euo pipefail

source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
what=checkers
installed_dir=${HEYAIRA_CHECKERS_DIR:-$source_dir/../../target/checkers}
. "$source_dir/../foreign.sh"
take_binary "$@"

copy_sources "$source_dir" python proxy node
copy_sources "$source_dir/../clients" job
ensure_installed python requirements.lock python3
ensure_installed proxy requirements.lock python3
ensure_installed node package-lock.json node

enter_work
export CHECKERS_SERVER=$server CHECKERS_WORK=$work CHECKERS_PROGRAMS=$installed_dir/python/.venv/bin
python=$installed_dir/python/.venv/bin/python
set_up_server
serve server
export CHECKERS_ADDRESS=$address CHECKERS_TOKEN=$token CHECKERS_PROFILE=$work/profile.json
export CHECKERS_PROXY=$installed_dir/proxy/.venv/bin/mcp-proxy

for bridge in mcp-remote mcp-proxy-python-to-http mcp-proxy-python-to-stdio mcp-proxy-node-to-stdio; do
  timed "$bridge" node "$installed_dir/node/bridges.mjs" "$bridge"
done
timed amagi-mcp-probe "$python" "$installed_dir/python/probe.py"
timed mcp-idprobe "$python" "$installed_dir/python/idprobe.py"
timed mcp-fuzzer "$python" "$installed_dir/python/fuzzer.py"
timed mcp-groundtruth "$python" "$installed_dir/python/groundtruth.py"
