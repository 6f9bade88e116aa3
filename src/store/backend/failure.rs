//! The drivers' errors made ours: the one file that knows what they mean. Must never let a driver's text out, which may
//! quote a value or a password.

use crate::error::{Code, Refusal};
use crate::store::backend::postgres::Unfit;

/// Nothing was written, and a moment later it may be.
pub(super) fn unavailable(message: impl Into<String>) -> Refusal {
    Refusal::new(Code::Unavailable, message, "Nothing was written. Call again in 1 second.")
        .with("retry_after_seconds", 1)
}

/// True if `SQLite` says that the file is damaged.
pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    matches!(error.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase))
}

/// An error of `SQLite` in our words.
pub(super) fn failed(error: &rusqlite::Error) -> Refusal {
    use rusqlite::ErrorCode as Kind;
    if is_damage(error) {
        tracing::error!(%error, "the database is damaged");
        return Refusal::new(
            Code::Damaged,
            "the database fails its own check",
            "Stop every heyaira process that uses it, run heyaira verify, move the file away with the -wal and -shm \
             beside it (keep them), and put the newest good backup back: heyaira restore FILE --same-instance.",
        );
    }
    let lasting = match error.sqlite_error_code() {
        Some(Kind::DatabaseBusy | Kind::DatabaseLocked) => return unavailable("the database is busy"),
        Some(Kind::OperationInterrupted) => return unavailable("the call took longer than its deadline"),
        Some(Kind::DiskFull) => "the disk is full",
        Some(Kind::ReadOnly) => "the database is read-only",
        Some(Kind::CannotOpen | Kind::PermissionDenied) => "the database file cannot be opened",
        Some(Kind::SystemIoFailure) => "the disk does not answer",
        _ => return Refusal::internal(error),
    };
    tracing::warn!(%error, "the database refused");
    lasting_refusal(lasting)
}

/// Nothing was written, and until somebody mends it nothing can be.
fn lasting_refusal(what: &str) -> Refusal {
    Refusal::new(Code::Unavailable, what, "Nothing was written. Have the owner mend that, then call again.")
        .with("retry_after_seconds", 60)
}

/// What a refusal of `PostgreSQL` means for the transaction and its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Severity {
    /// It met another one: all of it is to be run again.
    Again,
    /// The connection is gone, or leads to a server that does not take writes.
    Lost,
    /// It would be refused again.
    Stays,
}

/// A refusal of `PostgreSQL`, and what it means.
#[derive(Debug)]
pub(super) struct Failure {
    /// What it means for the transaction.
    pub(super) severity: Severity,
    /// In our words.
    pub(super) refusal: Refusal,
}

impl Failure {
    /// The call's time is over.
    pub(super) fn overdue() -> Self {
        Self { severity: Severity::Stays, refusal: unavailable("the call took longer than its deadline") }
    }

    /// The connection was closed by us.
    pub(super) fn gone() -> Self {
        Self::lost("the connection to the database is closed")
    }

    fn lost(what: &str) -> Self {
        Self { severity: Severity::Lost, refusal: unavailable(what) }
    }

    /// What a statement failed with.
    pub(super) fn of_statement(error: &tokio_postgres::Error) -> Self {
        let Some(found) = error.as_db_error() else {
            if std::error::Error::source(error).is_some_and(<dyn std::error::Error>::is::<Unfit>) {
                return Self { severity: Severity::Stays, refusal: Refusal::internal(error) };
            }
            tracing::warn!(%error, "the connection to the database failed");
            return Self::lost("the database server does not answer");
        };
        let code = found.code().code();
        match code {
            "40001" | "40P01" | "23505" | "23503" => {
                Self { severity: Severity::Again, refusal: unavailable("another write came in between") }
            }
            "57014" => Self::overdue(),
            "25006" => Self::lost("the database server takes no writes now"),
            "57P01" | "57P02" | "57P03" | "57P05" => Self::lost("the database server is stopping or starting"),
            "53300" => Self::lost("the database server has no connection left"),
            _ if code.starts_with("08") => Self::lost("the database server does not answer"),
            "XX001" | "XX002" => {
                tracing::error!(code, "the database is damaged");
                let next = "Stop writing, and have the owner of the PostgreSQL server put a good backup back.";
                let refusal = Refusal::new(Code::Damaged, "the database fails its own check", next);
                Self { severity: Severity::Stays, refusal }
            }
            _ => Self { severity: Severity::Stays, refusal: lasting_on_server(code, error) },
        }
    }

    /// Why there is no connection.
    pub(super) fn of_pool(error: &deadpool_postgres::PoolError) -> Self {
        match error {
            deadpool_postgres::PoolError::Backend(error) => Self::of_statement(error),
            _ => Self::lost("no connection to the database was free"),
        }
    }

    /// Of a commit that was sent: nobody knows whether it happened.
    pub(super) fn uncertain(what: &str) -> Self {
        let refusal = Refusal::uncertain(
            format!("{what}: it may be written or not"),
            "To find out, call again in 1 second with the same idempotency_key: it is written once. Without a key read \
             first, and write again only if the change is not there.",
        );
        Self { severity: Severity::Lost, refusal }
    }
}

fn lasting_on_server(code: &str, error: &tokio_postgres::Error) -> Refusal {
    let what = match code {
        "53100" => "the disk of the database server is full",
        "53200" => "the database server has no memory left",
        "42501" => "the database user may not do this",
        "3D000" => "there is no such database on the server",
        "28000" | "28P01" => "the database server refuses the user or the password",
        _ => return Refusal::internal(error),
    };
    tracing::warn!(code, what, "the database refused");
    lasting_refusal(what)
}
