//! What can be refused, in the caller's words: a stable code, what is wrong, what to do next.
//! Must never carry a secret, a pin or a driver's own text.

use serde_json::{Map, Value, json};

/// A result whose failure is told to the caller.
pub type Result<T, E = Refusal> = std::result::Result<T, E>;

/// The stable code words of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// `expected_version` is not the current one.
    VersionConflict,
    /// The `write_context` or the pinned profile belongs elsewhere.
    IdentityMismatch,
    /// The connection names no project.
    NoProject,
    /// No such thing in this project, or a version that does not exist here.
    NotFound,
    /// A prefix that fits several ids.
    AmbiguousId,
    /// One or more arguments are wrong; all of them are listed.
    InvalidArgument,
    /// Over a limit.
    TooLarge,
    /// A text holds a secret.
    SecretRefused,
    /// Lawful in form, refused by a rule of the domain.
    NotAllowed,
    /// No valid credential.
    Unauthenticated,
    /// The credential's role does not allow this.
    Forbidden,
    /// Too many calls; with a retry time.
    RateLimited,
    /// The storage is busy, full, read-only or out of reach; with a retry time.
    Unavailable,
    /// The database fails its own check.
    Damaged,
    /// A defect of ours; logged whole, told as one line with a reference.
    Internal,
}

impl Code {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::VersionConflict => "version_conflict",
            Self::IdentityMismatch => "identity_mismatch",
            Self::NoProject => "no_project",
            Self::NotFound => "not_found",
            Self::AmbiguousId => "ambiguous_id",
            Self::InvalidArgument => "invalid_argument",
            Self::TooLarge => "too_large",
            Self::SecretRefused => "secret_refused",
            Self::NotAllowed => "not_allowed",
            Self::Unauthenticated => "unauthenticated",
            Self::Forbidden => "forbidden",
            Self::RateLimited => "rate_limited",
            Self::Unavailable => "unavailable",
            Self::Damaged => "damaged",
            Self::Internal => "internal",
        }
    }

    /// All of them.
    pub const ALL: [Self; 15] = [
        Self::VersionConflict,
        Self::IdentityMismatch,
        Self::NoProject,
        Self::NotFound,
        Self::AmbiguousId,
        Self::InvalidArgument,
        Self::TooLarge,
        Self::SecretRefused,
        Self::NotAllowed,
        Self::Unauthenticated,
        Self::Forbidden,
        Self::RateLimited,
        Self::Unavailable,
        Self::Damaged,
        Self::Internal,
    ];

    /// The code of a word.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.as_str() == word)
    }

    /// The status of an HTTP answer.
    pub const fn http(self) -> u16 {
        match self {
            Self::Unauthenticated => 401,
            Self::Forbidden => 403,
            Self::NotFound => 404,
            Self::VersionConflict | Self::IdentityMismatch | Self::NoProject | Self::AmbiguousId => 409,
            Self::TooLarge => 413,
            Self::InvalidArgument | Self::SecretRefused | Self::NotAllowed => 422,
            Self::RateLimited => 429,
            Self::Damaged | Self::Internal => 500,
            Self::Unavailable => 503,
        }
    }

    /// The exit code of the command line.
    pub const fn exit(self) -> u8 {
        match self {
            Self::Internal => 1,
            Self::InvalidArgument | Self::TooLarge | Self::SecretRefused | Self::NotAllowed => 2,
            Self::NotFound | Self::AmbiguousId => 3,
            Self::VersionConflict => 4,
            Self::IdentityMismatch | Self::NoProject => 5,
            Self::Unauthenticated | Self::Forbidden => 6,
            Self::RateLimited | Self::Unavailable => 7,
            Self::Damaged => 8,
        }
    }
}

/// A refused call.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The stable code word.
    pub code: Code,
    /// What is wrong, without a closing full stop.
    pub message: String,
    /// What to do next, as whole sentences.
    pub next: String,
    /// Values that a program may want apart from the text.
    pub details: Box<Map<String, Value>>,
    /// What the message goes on with for the owner alone: where databases are.
    pub owner: Option<Box<str>>,
}

/// What to do about an argument.
const CORRECT: &str = "Correct it and call again. Nothing was written.";

impl Refusal {
    /// A refusal without details, but that whoever may try again is told when: a minute, where nobody knows better.
    pub fn new(code: Code, message: impl Into<String>, next: impl Into<String>) -> Self {
        let refusal = Self { code, message: message.into(), next: next.into(), details: Box::default(), owner: None };
        match code {
            Code::Unavailable | Code::RateLimited => refusal.with("retry_after_seconds", 60),
            _ => refusal,
        }
    }

    /// The same refusal with one more detail.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }

    /// The same refusal, whose message goes on so for a person at the command line, and in the log: an agent and whoever
    /// calls over the network are not told where a database is.
    #[must_use]
    pub fn to_owner(mut self, rest: impl Into<Box<str>>) -> Self {
        self.owner = Some(rest.into());
        self
    }

    /// The refusal as it is told to the owner.
    #[must_use]
    pub fn of_owner(mut self) -> Self {
        if let Some(rest) = self.owner.take() {
            self.message.push_str(&rest);
        }
        self
    }

    /// `unavailable` for a write of which nobody knows whether it happened.
    pub fn uncertain(message: impl Into<String>, next: impl Into<String>) -> Self {
        Self::new(Code::Unavailable, message, next).with("uncertain", true).with("retry_after_seconds", 1)
    }

    /// True for a write of which nobody knows whether it happened.
    pub fn is_uncertain(&self) -> bool {
        self.details.get("uncertain") == Some(&Value::Bool(true))
    }

    /// `invalid_argument` for one argument.
    pub fn argument(problem: impl Into<String>) -> Self {
        Self::new(Code::InvalidArgument, problem, CORRECT)
    }

    /// Everything that is wrong at once, with each thing to do; none where nothing is. What is wrong in several ways is
    /// `invalid_argument`.
    pub fn together(refusals: impl IntoIterator<Item = Self>) -> Option<Self> {
        let mut refusals = refusals.into_iter();
        let first = refusals.next()?;
        let others: Vec<Self> = refusals.collect();
        if others.is_empty() {
            return Some(first);
        }
        let is_one_code = others.iter().all(|other| other.code == first.code);
        let code = if is_one_code { first.code } else { Code::InvalidArgument };
        let (mut messages, mut nexts) = (Vec::new(), Vec::new());
        for refusal in std::iter::once(first).chain(others).map(Self::of_owner) {
            messages.push(refusal.message);
            if refusal.next != CORRECT && !nexts.contains(&refusal.next) {
                nexts.push(refusal.next);
            }
        }
        let next = if nexts.is_empty() { CORRECT.to_owned() } else { nexts.join(" ") };
        Some(Self::new(code, messages.join("; "), next))
    }

    /// `not_found`.
    pub fn not_found(message: impl Into<String>, next: impl Into<String>) -> Self {
        Self::new(Code::NotFound, message, next)
    }

    /// `not_allowed`; nothing was written.
    pub fn not_allowed(message: impl Into<String>, next: impl Into<String>) -> Self {
        Self::new(Code::NotAllowed, message, next)
    }

    /// `internal`: the cause goes to the log under a reference, the caller gets the reference.
    pub fn internal(cause: &dyn std::fmt::Display) -> Self {
        let reference = uuid::Uuid::new_v4().simple().to_string()[..8].to_owned();
        tracing::error!(reference, %cause, "internal error");
        Self::new(
            Code::Internal,
            format!("the server failed in this call, reference {reference}"),
            "Call again; if it happens again, report the reference with the server's log.",
        )
        .with("reference", reference)
    }

    /// The error body of HTTP and `--json`.
    pub fn body(&self) -> Value {
        json!({"error": {
            "code": self.code.as_str(),
            "message": self.message,
            "next": self.next,
            "details": self.details,
        }})
    }

    /// The refusal that an error body tells; `None` for anything else.
    pub fn from_body(body: &Value) -> Option<Self> {
        let error = body.get("error")?;
        let text = |name: &str| error.get(name).and_then(Value::as_str);
        let details = error.get("details").and_then(Value::as_object).cloned().unwrap_or_default();
        let code = Code::of(text("code")?)?;
        Some(Self { details: Box::new(details), ..Self::new(code, text("message")?, text("next")?) })
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { code, message, next, .. } = self;
        write!(formatter, "{}: {message}", code.as_str())?;
        if !message.ends_with(['.', '?', '!']) {
            formatter.write_str(".")?;
        }
        if !next.is_empty() {
            write!(formatter, " {next}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Refusal {}
