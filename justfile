# Every command a person or CI runs.

# Build and set everything up.
start *ARGUMENTS:
    ./start {{ARGUMENTS}}

# The tests that every change must pass.
test:
    scripts/test.sh

# The same and the long ones.
test-all:
    scripts/test.sh all

# What CI runs.
ci:
    .ci/run

# Format, then lint.
lint:
    cargo fmt
    cargo clippy --all-targets -- -D warnings
    cargo clippy --all-targets --features conformance-fixtures -- -D warnings

# Write docs/tools.md and docs/cli.md anew from the definitions.
docs:
    HEYAIRA_WRITE_DOCS=1 cargo test --test it generated_docs

# One table of speeds; takes a while the first time.
bench *ARGUMENTS:
    cargo bench --bench table -- {{ARGUMENTS}}

# One table of the network: requests per second and processor time, beside axum, rmcp and the driver alone.
bench-http *ARGUMENTS:
    cargo bench --bench http -- {{ARGUMENTS}}

# One table of the look for secrets: kinds of text at three sizes beside a regular expression, in 5 seconds.
bench-secrets:
    cargo bench --bench secrets

# Transcripts of 100 MB: at most a second and 50 MB of memory.
bench-economics:
    cargo bench --bench economics

# One table of teams: one server and several on PostgreSQL beside pgbench and SQLite, in under 7 minutes. With `--large`
# also a large database beside small ones: the first time it makes 1,000,000 tasks with 10 versions each, which takes half an
# hour and 15 GB under target/bench; `--large --reads` leaves the rest out.
bench-team *ARGUMENTS:
    cargo bench --bench team -- {{ARGUMENTS}}
