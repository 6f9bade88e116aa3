//! The drivers' errors made ours: the one file that knows what they mean. Must never let a driver's text out, which may
//! quote a value or a password.

use tokio_postgres::error::DbError;

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

/// The database cannot be reached, and is looked for in the background.
pub(super) fn away() -> Refusal {
    unavailable("the database cannot be reached")
}

/// A server that was the primary may be a standby a moment later; one that is set read-only stays so until somebody mends
/// it. To a statement both say the same.
fn read_only() -> Refusal {
    Refusal::new(
        Code::Unavailable,
        "the database server takes no writes now: it is a standby, or read-only",
        "Nothing was written. Call again in 1 second. If it stays so, have the owner name the primary, or switch \
         default_transaction_read_only off for the server, the database and its user.",
    )
    .with("retry_after_seconds", 1)
}

/// What `PostgreSQL` says when it has as many connections as it may have.
const FULL: &str = "53300";

/// What a refusal of `PostgreSQL` means for the transaction and its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Severity {
    /// It met another one: all of it is to be run again.
    Again,
    /// The server has no connection left for us; one of those that we have may do.
    Full,
    /// The connection is gone, or leads to a server that does not take writes. Nothing was committed.
    Lost,
    /// The connection is gone, and nobody knows whether it was committed.
    Uncertain,
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

    /// It would be refused again.
    pub(super) fn stays(refusal: Refusal) -> Self {
        Self { severity: Severity::Stays, refusal }
    }

    /// The server said nothing until long after the call's time was over.
    pub(super) fn silent() -> Self {
        Self { severity: Severity::Lost, ..Self::overdue() }
    }

    /// The connection was closed by us.
    pub(super) fn gone() -> Self {
        Self::lost("the connection to the database is closed")
    }

    /// No server of the address takes a connection.
    pub(super) fn unreached(servers: &[Unreached]) -> Self {
        let told: Vec<String> = servers.iter().map(|one| format!("{} {}", one.server, one.what)).collect();
        let what = "the database cannot be reached";
        let lasts = servers.iter().all(|one| one.lasts);
        let refusal = if lasts { lasting_refusal(what) } else { unavailable(what) };
        let refusal = refusal.to_owner(format!(": {}", told.join("; ")));
        // A server that is full still serves those who are connected.
        let full = servers.iter().any(|one| one.full);
        Self { severity: if full { Severity::Full } else { Severity::Lost }, refusal }
    }

    fn lost(what: &str) -> Self {
        Self { severity: Severity::Lost, refusal: unavailable(what) }
    }

    /// A statement was given values that its places do not take; nothing was sent.
    pub(super) fn unfit(sql: &str) -> Self {
        let refusal = Refusal::internal(&format!("values that do not fit: {sql}"));
        Self { severity: Severity::Stays, refusal }
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
            "25006" => Self { severity: Severity::Lost, refusal: read_only() },
            // What is prepared on the connection is about tables that are others now.
            "0A000" if found.routine() == Some("RevalidateCachedQuery") => {
                Self::lost("the tables of the database were changed")
            }
            "57P01" | "57P02" | "57P03" | "57P05" => Self::lost("the database server is stopping or starting"),
            _ if code.starts_with("08") => Self::lost("the database server does not answer"),
            "XX001" | "XX002" => {
                tracing::error!(code, "the database is damaged");
                let next = "Stop writing, and have the owner of the PostgreSQL server put a good backup back.";
                let refusal = Refusal::new(Code::Damaged, "the database fails its own check", next);
                Self { severity: Severity::Stays, refusal }
            }
            _ => Self { severity: Severity::Stays, refusal: lasting_on_server(found) },
        }
    }

    /// Of a commit that was sent: nobody knows whether it happened.
    pub(super) fn uncertain(what: &str) -> Self {
        let refusal = Refusal::uncertain(
            format!("{what}: it may be written or not"),
            "To find out, call again in 1 second with the same idempotency_key: it is written once. Without a key read \
             first, and write again only if the change is not there.",
        );
        Self { severity: Severity::Uncertain, refusal }
    }
}

fn lasting_on_server(found: &DbError) -> Refusal {
    let code = found.code().code();
    let what = match code {
        "53100" => "the disk of the database server is full",
        "53200" => "the database server has no memory left",
        "42501" => "the database user may not do this",
        "3D000" => "there is no such database on the server",
        "3F000" => "the search_path of the database user names no schema that is there",
        "42P07" => {
            "the database has a table of another program under a name that HeyAira needs: name an empty database"
        }
        "22P05" => "the encoding of the database lacks a character of the text: it must be UTF8",
        "28000" | "28P01" => "the database server refuses the user or the password",
        _ => return Refusal::internal(&told(found)),
    };
    tracing::warn!(code, what, "the database refused");
    lasting_refusal(what)
}

/// What the log may say of an error that should not be. Messages quote values, but for those about a statement, which
/// quote its words, and these are ours.
fn told(found: &DbError) -> String {
    let (code, routine) = (found.code().code(), found.routine().unwrap_or("an unknown place"));
    let message = if code.starts_with("42") { found.message() } else { "the message may quote a value" };
    format!("PostgreSQL error {code} from {routine}: {message}")
}

/// Why a server takes no connection, for whoever runs this one.
#[derive(Debug)]
pub(super) struct Unreached {
    server: String,
    what: String,
    /// True if a later try ends the same, until somebody mends it.
    lasts: bool,
    /// True if it has no connection left.
    full: bool,
}

impl Unreached {
    /// What connecting failed with.
    pub(super) fn new(server: &str, error: &tokio_postgres::Error) -> Self {
        let (what, lasts) = match error.as_db_error() {
            Some(found) => of_login(found.code().code()),
            None => of_network(error),
        };
        let full = error.as_db_error().is_some_and(|found| found.code().code() == FULL);
        Self { server: server.to_owned(), what, lasts, full }
    }

    /// It did not answer in time.
    pub(super) fn silent(server: &str) -> Self {
        Self { server: server.to_owned(), what: "does not answer in time".to_owned(), lasts: false, full: false }
    }
}

fn of_login(code: &str) -> (String, bool) {
    let (what, lasts) = match code {
        "28P01" => ("refuses the user or the password", true),
        "28000" => {
            ("lets this user not in from here, or only with other encryption (its pg_hba.conf says who is)", true)
        }
        "3D000" => ("has no such database", true),
        "42501" => ("does not let this user into this database", true),
        FULL => ("has no connection left", false),
        "57P01" | "57P02" | "57P03" => ("is starting or stopping", false),
        _ => return (format!("refuses the connection (SQLSTATE {code})"), true),
    };
    (what.to_owned(), lasts)
}

/// What the errors behind an error say: the driver keeps the network's and the certificates' there.
fn of_network(error: &tokio_postgres::Error) -> (String, bool) {
    let mut behind: Option<&(dyn std::error::Error + 'static)> = std::error::Error::source(error);
    while let Some(one) = behind {
        if let Some(error) = one.downcast_ref::<rustls::Error>() {
            return (of_encryption(error), true);
        }
        let Some(error) = one.downcast_ref::<std::io::Error>() else {
            if one.to_string() == "password missing" {
                return ("wants a password, and the URL has none".to_owned(), true);
            }
            if one.to_string() == "server does not support TLS" {
                let what = "offers no encryption: switch it on there, or, where nobody else is on the way, add \
                            sslmode=disable to the URL";
                return (what.to_owned(), true);
            }
            behind = one.source();
            continue;
        };
        // An error that another library made is inside, and not behind.
        match error.get_ref() {
            Some(_) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                return ("takes no writes: it is a standby or read-only".to_owned(), false);
            }
            Some(inner) if inner.to_string().starts_with("failed to lookup address") => {
                return ("has a name that is not known here".to_owned(), false);
            }
            Some(inner) => behind = Some(inner),
            None => return of_system(error),
        }
    }
    match error.to_string().as_str() {
        "authentication error" => ("wants a password, or a way to log in that heyaira does not know".to_owned(), true),
        _ => ("does not answer, or not as a PostgreSQL server does".to_owned(), false),
    }
}

fn of_system(error: &std::io::Error) -> (String, bool) {
    use std::io::ErrorKind as Kind;
    let what = match error.kind() {
        Kind::ConnectionRefused => "refuses the connection",
        Kind::NotFound => "has no socket there",
        Kind::TimedOut => "does not answer in time",
        Kind::ConnectionReset | Kind::ConnectionAborted | Kind::BrokenPipe | Kind::UnexpectedEof => {
            "breaks the connection off"
        }
        _ => return (format!("cannot be reached ({error})"), false),
    };
    (what.to_owned(), false)
}

fn of_encryption(error: &rustls::Error) -> String {
    use rustls::CertificateError as Wrong;
    let rustls::Error::InvalidCertificate(wrong) = error else {
        return format!("cannot agree on the encryption ({error})");
    };
    match wrong {
        Wrong::UnknownIssuer | Wrong::BadSignature => {
            "has a certificate that is not trusted here: name the file of its authority with \
                                 sslrootcert=FILE in the URL"
                .to_owned()
        }
        Wrong::NotValidForName | Wrong::NotValidForNameContext { .. } => {
            "has a certificate for another name: use the name that it is for, or sslmode=verify-ca".to_owned()
        }
        Wrong::Expired | Wrong::ExpiredContext { .. } => "has a certificate that has expired".to_owned(),
        _ => format!("has a certificate that is not valid ({wrong})"),
    }
}
