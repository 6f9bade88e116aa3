#!/usr/bin/env bash
# Runs the tests. `scripts/test.sh` is what every change must pass; `scripts/test.sh all` adds the long ones.
# It installs what it needs; what cannot be installed is a failure, never a skip.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
which_tests=${1:-usual}
case $which_tests in
usual | all) ;;
*)
    echo "usage: scripts/test.sh [all]" >&2
    exit 2
    ;;
esac

# The tests name their own database, project and session.
unset HEYAIRA_DATABASE HEYAIRA_PROJECT HEYAIRA_SESSION RUST_LOG

step() { printf '\n== %s\n' "$*"; }

# need PROGRAM PACKAGE [COMMAND...]: what the command finds out is whether the program is there.
need() {
    local program=$1 package=$2
    shift 2
    [ $# -gt 0 ] || set -- command -v "$program"
    "$@" >/dev/null 2>&1 && return
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        step "install $package"
        apt-get update -qq && apt-get install -y -qq --no-install-recommends "$package"
    fi
    "$@" >/dev/null || {
        echo "the tests need $program; install it (Debian: apt-get install $package)" >&2
        exit 1
    }
}

need cargo rustc
need cc gcc
need git git
need strace strace
need python3 python3-venv
need node nodejs
need npm npm
# Its programs are not where commands are looked for. A cluster that Debian sets up with it is left alone.
need "the server of PostgreSQL" postgresql tests/postgres/cluster.sh binaries

step "build"
cargo build --locked --all-targets
# Where cargo builds is its user's to choose.
target=$(cargo metadata --no-deps --format-version 1 | sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p')

step "tests"
cargo test --locked -- --skip races:: --skip durability:: --skip sizes:: --skip network::

# These print figures to be read: races, kills, flushes, sizes of what goes over the wire, hostile clients.
step "tests with figures"
cargo test --locked --test it -- --nocapture races:: durability:: sizes:: network::

step "tests on PostgreSQL"
tests/postgres/run.sh --skip races:: --skip durability:: --skip sizes:: --skip network:: --skip twins::

step "tests with figures on PostgreSQL"
tests/postgres/run.sh --nocapture races:: durability:: sizes:: network::

# One twin is a file, the other on PostgreSQL. The seeds are printed; tests/postgres/README.md says how to use one again.
step "twins"
tests/postgres/run.sh --nocapture twins::

step "clients that others wrote"
tests/clients/run.sh "$target/debug/heyaira"

# The quickest of them; all of them, each with what another one handed off, are among the long tests.
step "a coding client"
tests/clients/coding.sh "$target/debug/heyaira" codex
step "a run of a coding client"
tests/clients/runs.sh "$target/debug/heyaira" codex

step "checkers that others wrote"
tests/checkers/run.sh "$target/debug/heyaira"

step "conformance suite of MCP"
cargo build --locked --features conformance-fixtures --bin heyaira-conformance
tests/conformance/run.sh "$target/debug/heyaira" "$target/debug/heyaira-conformance"

if [ "$which_tests" = all ]; then
    # Nothing is run there; that it compiles, and what the lints say, can be found out from here.
    step "lints for Windows"
    need x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64
    rustup target add x86_64-pc-windows-gnu
    cargo clippy --locked --target x86_64-pc-windows-gnu --lib --bins -- -D warnings
    step "long tests"
    cargo test --locked -- --ignored --skip chaos::
    step "kills of servers and of database nodes"
    cargo test --locked --test it -- --ignored --nocapture --test-threads 1 chaos::
    step "more twins"
    HEYAIRA_TWINS_FROM=$RANDOM HEYAIRA_TWINS_CALLS=30000 tests/postgres/run.sh --nocapture twins::both
    step "coding clients"
    tests/clients/coding.sh "$target/debug/heyaira"
    step "runs of coding clients"
    tests/clients/runs.sh "$target/debug/heyaira"
    step "tests on PostgreSQL 18"
    newest=$(tests/postgres/newest.sh)
    HEYAIRA_TEST_POSTGRES_BIN=$newest tests/postgres/run.sh
    step "benchmarks, quick"
    cargo bench --locked --bench table -- --quick
    cargo bench --locked --bench http -- --quick
    cargo bench --locked --bench team -- --quick
fi

step "all passed"
