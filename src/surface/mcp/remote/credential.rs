//! The token of a bridge: from the environment or a file that nobody else can read.
//! Must never show it: not in a log, an error, or the list of processes.

use std::fmt;
use std::fs::{File, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};

use http::HeaderValue;

use crate::domain::secret::{TOKEN_BODY, TOKEN_PREFIX};
use crate::error::{Code, Refusal, Result};

/// More than any token has, in bytes.
const READ_MAX: u64 = 1024;

/// Where the token comes from.
pub enum Credential {
    /// None was given: some servers on this machine want none.
    Nothing,
    /// The environment, as it was when the process started.
    Environment(String),
    /// A file, read anew for each call: a rotated token, or a mended mode, holds at once.
    File(PathBuf),
}

impl fmt::Debug for Credential {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Credential(…)")
    }
}

impl Credential {
    /// The flag wins over the environment.
    pub fn new(file: Option<PathBuf>, environment: Option<String>) -> Self {
        match (file, environment.filter(|token| !token.is_empty())) {
            (Some(file), _) => Self::File(file),
            (None, Some(token)) => Self::Environment(token),
            (None, None) => Self::Nothing,
        }
    }

    /// The value of the `Authorization` header, if there is a token.
    pub fn header(&self) -> Result<Option<HeaderValue>> {
        match self {
            Self::Nothing => Ok(None),
            Self::Environment(token) => bearer(token).ok_or_else(|| no_token("HEYAIRA_TOKEN")).map(Some),
            Self::File(path) => {
                let shown = shown(path);
                let token = read(path, &shown)?;
                bearer(&token).ok_or_else(|| no_token(&format!("the token file {shown}"))).map(Some)
            }
        }
    }
}

/// A path for people; what looks like a token was given in the place of one, and is not shown.
fn shown(path: &Path) -> String {
    let text = path.display().to_string();
    if text.contains(TOKEN_PREFIX) { "named by --token-file".to_owned() } else { text }
}

fn bearer(token: &str) -> Option<HeaderValue> {
    let token = token.trim();
    let body = token.strip_prefix(TOKEN_PREFIX)?;
    let lawful = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if body.len() != TOKEN_BODY || !body.bytes().all(lawful) {
        return None;
    }
    let mut value = HeaderValue::from_str(&format!("Bearer {token}")).ok()?;
    value.set_sensitive(true);
    Some(value)
}

fn refused(message: String, next: String) -> Refusal {
    Refusal::new(Code::Unauthenticated, message, next)
}

fn no_token(what: &str) -> Refusal {
    refused(
        format!("{what} holds no token of HeyAira"),
        format!(
            "A token is {TOKEN_PREFIX} and {TOKEN_BODY} characters; the owner makes one with heyaira token create NAME \
             --project PROJECT. Nothing was sent."
        ),
    )
}

fn read(path: &Path, shown: &str) -> Result<String> {
    let failed = |error: std::io::Error| {
        let kind = error.kind();
        refused(
            format!("the token file {shown} cannot be read: {kind}"),
            "Name a file that is there and yours with --token-file. Nothing was sent.".to_owned(),
        )
    };
    // Asked before it is opened too: opening a pipe would wait for its other end.
    check(&std::fs::metadata(path).map_err(failed)?, shown)?;
    let file = File::open(path).map_err(failed)?;
    check(&file.metadata().map_err(failed)?, shown)?;
    let mut text = String::new();
    file.take(READ_MAX).read_to_string(&mut text).map_err(failed)?;
    Ok(text)
}

fn check(found: &Metadata, shown: &str) -> Result<()> {
    if !found.is_file() {
        return Err(refused(
            format!("the token file {shown} is no regular file"),
            "Put the token into a file of its own, and name that with --token-file. Nothing was sent.".to_owned(),
        ));
    }
    check_mode(found, shown)
}

#[cfg(unix)]
fn check_mode(found: &Metadata, shown: &str) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = found.permissions().mode() & 0o777;
    let of_others = mode & 0o077;
    if of_others == 0 {
        return Ok(());
    }
    Err(refused(
        format!("the token file {shown} is open to others than its owner (mode {mode:04o})"),
        format!("Run: chmod 600 {shown}. Whoever read it has the token: rotate it if that may be. Nothing was sent."),
    ))
}

/// Elsewhere a file's list of rights is its owner's to keep.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "it stands for the check that Unix has")]
fn check_mode(_: &Metadata, _: &str) -> Result<()> {
    Ok(())
}
