#!/bin/sh
# Starts a coding run that reports: heyaira run start, with the same arguments. HEYAIRA names the program if it is not in PATH.
set -eu

heyaira=${HEYAIRA:-heyaira}
if ! command -v "$heyaira" >/dev/null 2>&1; then
    printf '%s\n' "heyaira-run.sh: there is no program $heyaira: install it, or name it in HEYAIRA" >&2
    exit 127
fi
exec "$heyaira" run start "$@"
