//! Sessions: how one is named, and what a client tells without being asked.
//! Must never take a credential's name for a session or the other way round.

/// What a client told about itself; fills a receipt where the agent said nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// The client program, e.g. `claude-code 2.1.332`.
    pub harness: Option<String>,
    /// The model, where the client says it.
    pub model: Option<String>,
    /// `<harness>:<native id>`.
    pub session_ref: Option<String>,
}

impl Observed {
    /// What is known here, filled up with what is known there.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            harness: self.harness.or(other.harness),
            model: self.model.or(other.model),
            session_ref: self.session_ref.or(other.session_ref),
        }
    }
}

/// The longest `session_ref`, in characters.
pub const SESSION_REF_MAX: usize = 200;

/// What is wrong with a `session_ref`, if anything is.
///
/// The form is `<harness>:<native id>` or `label:<words>`; a path is no session id.
pub fn session_ref_problem(text: &str) -> Option<String> {
    let quoted = crate::domain::text::quoted(text, 60);
    // It is stored wherever it comes from: an argument, a header, the environment.
    if crate::domain::secret::holds(text) {
        return Some("holds a secret".to_owned());
    }
    if crate::domain::text::length(text) > SESSION_REF_MAX {
        return Some(format!("is longer than {SESSION_REF_MAX} characters"));
    }
    if text.chars().any(char::is_control) {
        return Some(format!("{quoted} holds a line break or control character"));
    }
    let Some((harness, id)) = text.split_once(':') else {
        return Some(format!(
            "{quoted} is no session reference: write <harness>:<native id>, e.g. claude-code:0d6a41c8-77b2-4f3e-8a10-2f9e5c7d6b31, or label:<words>"
        ));
    };
    let lawful =
        |character: char| character.is_ascii_lowercase() || character.is_ascii_digit() || "-_.".contains(character);
    if harness.is_empty() || !harness.chars().all(lawful) {
        return Some(format!(
            "{quoted} has no harness in front: write e.g. claude-code:<id>, codex:<id> or label:<words>"
        ));
    }
    if id.trim().is_empty() {
        return Some(format!("{quoted} has nothing after the colon"));
    }
    if harness != "label" && (id.contains('/') || id.contains('\\')) {
        return Some(format!("{quoted} holds a path: a transcript or scratch folder is no session id"));
    }
    None
}

/// A session or person in a sentence: plain ids as they are, anything else quoted and shortened.
pub fn in_a_sentence(who: &str) -> String {
    let short = short(who);
    let plain = |character: char| character.is_ascii_alphanumeric() || "-_.:@".contains(character);
    if short.len() <= 80 && short.chars().all(plain) { short } else { crate::domain::text::quoted(&short, 60) }
}

/// The longest session that rows show whole, in bytes: any harness with a UUID fits.
const SHOWN_MAX: usize = 80;

/// A session as rows show it: a UUID is shortened to its first 8 characters, a long label is clipped. One of version 7
/// begins with a time, and those of one minute have the first 8 in common: of it the first 13 are shown.
pub fn short(session_ref: &str) -> String {
    match session_ref.split_once(':') {
        Some((harness, id)) if id.len() == 36 => match uuid::Uuid::parse_str(id).map(|id| id.get_version_num()) {
            Ok(7) => format!("{harness}:{}", &id[..13]),
            Ok(_) => format!("{harness}:{}", &id[..8]),
            Err(_) => clipped(session_ref),
        },
        _ => clipped(session_ref),
    }
}

/// A session that can be answered to as it stands; only a long label is clipped. The whole one stands in `owner`.
pub fn clipped(session_ref: &str) -> String {
    if session_ref.len() <= SHOWN_MAX {
        return session_ref.to_owned();
    }
    let end = session_ref.floor_char_boundary(SHOWN_MAX);
    format!("{}…", &session_ref[..end])
}
