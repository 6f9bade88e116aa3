//! What only a database on a server can meet. These tests need one: `tests/postgres/run.sh` gives it to them.

mod uncertain;
