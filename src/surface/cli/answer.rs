//! What a command prints and its exit code. Standard output holds the answer and nothing else.

use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::domain::secret::{holds, masked};
use crate::domain::text::visible;
use crate::error::{Code, Refusal, Result};
use crate::surface::cli::text;

/// Prints an answer, as JSON on one line or as text.
pub fn print(answer: &Value, as_json: bool) -> Result<ExitCode> {
    let text = if as_json { format!("{answer}\n") } else { text::render(answer) };
    write(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes to standard output; a reader that closed it early is no failure.
pub fn write(text: &str) -> Result<()> {
    let mut output = std::io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Refusal::new(
            Code::Internal,
            format!("the answer cannot be written to standard output ({error}); what was asked for was done"),
            "Read the state before you call again.",
        )),
        _ => Ok(()),
    }
}

/// Tells a person something beside the answer.
pub fn note(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Prints a refusal; answers its exit code.
pub fn refused(refusal: Refusal, as_json: bool) -> ExitCode {
    let refusal = refusal.of_owner();
    // A path or an address may hold what no rule of an argument looked at.
    let (message, next) = (masked(&refusal.message).into_owned(), masked(&refusal.next).into_owned());
    let told = Refusal { message, next, ..refusal };
    if as_json {
        let _ = write(&format!("{}\n", told.body()));
    } else {
        note(&visible(&told.to_string()));
        if let Some(merge) = told.details.get("merge") {
            note(&format!("merge:\n{}", text::render(merge).trim_end()));
        }
    }
    ExitCode::from(told.code.exit())
}

/// The parser's text, which quotes words of the command line, unless one of them is a secret.
fn without_secret(text: String) -> String {
    if holds(&text) {
        return "error: a word that looks like a secret stands where none belongs; it is not repeated here".to_owned();
    }
    // The address of a server may hold a password.
    if text.contains("postgres://") || text.contains("postgresql://") {
        return "error: the address of a PostgreSQL server stands where none belongs; it is not repeated here, as it may \
                hold a password"
            .to_owned();
    }
    text
}

/// Prints what is wrong with a command line, or the help that was asked for.
pub fn usage(error: &clap::Error, as_json: bool) -> ExitCode {
    if !error.use_stderr() {
        let _ = write(&error.to_string());
        return ExitCode::SUCCESS;
    }
    let text = without_secret(error.to_string());
    let first = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
    if as_json {
        let body = json!({"error": {
            "code": Code::InvalidArgument.as_str(),
            "message": first,
            "next": "heyaira help shows the commands.",
            "details": {"usage": text},
        }});
        let _ = write(&format!("{body}\n"));
    } else {
        note(text.trim_end());
    }
    ExitCode::from(Code::InvalidArgument.exit())
}
