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

/// True if the command line of a hook is ours.
pub fn is_our_hook(command: &str) -> bool {
    let Some((program, rest)) = command.split_once(" hook ") else { return false };
    is_program(program.trim_matches(['\'', '"'])) && !rest.is_empty()
}

/// A word as a shell takes it.
pub fn shell_word(word: &str) -> String {
    let plain = |character: char| character.is_ascii_alphanumeric() || "/._-+=:@%".contains(character);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
