//! The command by which a client starts HeyAira, and how an entry is told to be ours. Must never hold a token or the
//! URL of a database: entries are files that are committed, copied and shown.

use serde_json::{Value, json};

/// The name under which every client knows the server.
pub const NAME: &str = "heyaira";

/// The server as a client starts it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// The program: `heyaira` where it is found by that name, else its path.
    pub program: String,
    /// What stands behind `mcp`.
    pub arguments: Vec<String>,
    /// Names of variables of the client's environment that it needs, for clients that hand on none by themselves.
    pub variables: Vec<String>,
    /// What stands behind `hook CLIENT`.
    pub hook_arguments: Vec<String>,
}

impl Server {
    /// The words behind the program.
    pub fn words(&self) -> Vec<String> {
        std::iter::once("mcp".to_owned()).chain(self.arguments.iter().cloned()).collect()
    }

    /// `{"command", "args"}`, which most clients take.
    pub fn entry(&self) -> Value {
        json!({"command": self.program, "args": self.words()})
    }

    /// The same with the word for its transport in front.
    pub fn typed_entry(&self, transport: &str) -> Value {
        json!({"type": transport, "command": self.program, "args": self.words()})
    }

    /// The command line of a hook.
    pub fn hook(&self, client: &str) -> String {
        self.hook_words(client).into_iter().map(shell_word).collect::<Vec<_>>().join(" ")
    }

    /// The program of a hook and what stands behind it.
    pub fn hook_words<'s>(&'s self, client: &'s str) -> Vec<&'s str> {
        let words = [self.program.as_str(), "hook", client];
        words.into_iter().chain(self.hook_arguments.iter().map(String::as_str)).collect()
    }
}

/// True if an entry of a client's file starts HeyAira: by its program, and `mcp` as the first word.
pub fn is_ours(entry: &Value) -> bool {
    let words = command_of(entry);
    matches!(words.as_slice(), [program, first, ..] if is_program(program) && *first == "mcp")
}

/// The command of an entry, in the spellings of all clients.
pub fn command_of(entry: &Value) -> Vec<&str> {
    let program = ["command", "cmd"].into_iter().find_map(|name| entry.get(name));
    match program {
        Some(Value::String(program)) => std::iter::once(program.as_str()).chain(texts(entry.get("args"))).collect(),
        list => texts(list).collect(),
    }
}

fn texts(list: Option<&Value>) -> impl Iterator<Item = &str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// True if the first word of a command is this program, wherever it is.
pub fn is_program(word: &str) -> bool {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    name == NAME || name.strip_suffix(".exe") == Some(NAME)
}

/// What ends the command line of a hook where a client takes a program that is not there for a refusal: Gemini CLI would
/// not ask its model any more, in no folder.
pub const OR_NOTHING: &str = " || exit 0";

/// A command line, and whether it ends so.
fn split_end(command: &str) -> (&str, &str) {
    command.strip_suffix(OR_NOTHING).map_or((command, ""), |bare| (bare, OR_NOTHING))
}

/// True if a command line calls our hook, and nothing besides.
pub fn is_our_hook(command: &str) -> bool {
    hook_call(command).is_some()
}

/// The words of a command line that calls our hook and nothing besides: the program, `hook`, the client, and the rest.
fn hook_call(command: &str) -> Option<Vec<&str>> {
    let words = shell_words(split_end(command).0)?;
    let is_call = matches!(words.as_slice(), [program, "hook", _, ..] if is_program(program.trim_matches(['\'', '"'])));
    is_call.then_some(words)
}

/// The wanted command line of a hook with what a person added to the present one, such as `--block`.
pub fn with_own_words(present: &str, wanted: &str) -> String {
    let (Some(words), Some(ours)) = (hook_call(present), hook_call(wanted)) else { return wanted.to_owned() };
    let (call, rest) = words.split_at(3);
    let mut left = call.to_vec();
    let mut own = Vec::new();
    let mut rest = rest.iter().copied();
    while let Some(word) = rest.next() {
        match word {
            // The one flag that a set-up writes itself.
            "--database" => left.extend([word].into_iter().chain(rest.next())),
            _ => own.push(word),
        }
    }
    if own.is_empty() {
        return wanted.to_owned();
    }
    let (bare, end) = split_end(wanted);
    let is_same = left == ours && split_end(present).1 == end;
    if is_same { present.to_owned() } else { format!("{bare} {}{end}", own.join(" ")) }
}

/// The words of a command line as they are written, or nothing if a shell would run more than one command for it.
fn shell_words(command: &str) -> Option<Vec<&str>> {
    if command.contains('`') || command.contains("$(") {
        return None;
    }
    let mut words = Vec::new();
    let (mut start, mut quote, mut before) = (None, None, ' ');
    let mut is_escaped = false;
    for (at, one) in command.char_indices() {
        let is_in_word = match (quote, one) {
            _ if is_escaped => true,
            (Some(open), _) => {
                quote = quote.filter(|_| one != open);
                true
            }
            (None, '\'' | '"') => {
                quote = Some(one);
                true
            }
            // `2>&1` is no second command.
            (None, '&') if before == '>' => true,
            (None, ';' | '|' | '&' | '\n' | '\r') => return None,
            (None, _) => !one.is_whitespace(),
        };
        is_escaped = !is_escaped && one == '\\' && quote != Some('\'');
        before = one;
        match (start, is_in_word) {
            (None, true) => start = Some(at),
            (Some(begin), false) => {
                words.push(&command[begin..at]);
                start = None;
            }
            _ => {}
        }
    }
    words.extend(start.map(|begin| &command[begin..]));
    quote.is_none().then_some(words)
}

/// A word as a shell takes it.
pub fn shell_word(word: &str) -> String {
    let plain = |character: char| character.is_ascii_alphanumeric() || "/._-+=:@%".contains(character);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
