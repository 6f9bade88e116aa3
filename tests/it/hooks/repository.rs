//! A repository with a project, in which clients work.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use heyaira::client::state::State;
use serde_json::{Value, json};

use crate::program::{Answer, Place};

/// A session of Claude Code.
pub const CLAUDE: &str = "3f9d2c61-8a47-4e05-9b1c-6d20f7a5e813";

/// A working tree with one commit, pinned to the project `ledger`.
pub struct Repository {
    /// The database.
    pub place: Place,
    /// The working tree.
    pub tree: PathBuf,
}

impl Repository {
    /// A new one.
    pub fn new() -> Self {
        let here = Self::without_project();
        assert_eq!(here.run(&["profile", "ledger", "--write"], &[]).code, 0);
        here.git(&["add", "."]);
        here.git(&["commit", "--quiet", "-m", "Pin the project"]);
        here
    }

    /// A new one in which no project is pinned.
    pub fn without_project() -> Self {
        let place = Place::new();
        let tree = place.folder.path().join("tree");
        fs::create_dir(&tree).expect("a folder");
        let here = Self { place, tree };
        here.git(&["init", "--quiet", "--initial-branch", "main"]);
        here.git(&["commit", "--quiet", "--allow-empty", "-m", "Begin"]);
        here
    }

    /// Runs git in the tree; answers what it said.
    pub fn git(&self, words: &[&str]) -> String {
        self.git_at(words, None)
    }

    /// The same with another clock.
    pub fn git_at(&self, words: &[&str], at: Option<&str>) -> String {
        let mut command = Command::new("git");
        self.place.dress(&mut command);
        command.args(["-c", "user.name=Maria", "-c", "user.email=maria@example.org"]).args(words);
        command.envs(at.map(|at| ("GIT_COMMITTER_DATE", at)));
        let output = command.current_dir(&self.tree).output().expect("git runs");
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8").trim().to_owned()
    }

    /// The program in the tree.
    pub fn command(&self, words: &[&str], variables: &[(&str, &str)]) -> Command {
        let mut command = self.place.command();
        command.current_dir(&self.tree).args(words).envs(variables.iter().copied());
        // A machine under load is slow, and no test is about how slow.
        if !variables.iter().any(|(name, _)| *name == "HEYAIRA_HOOK_WAIT_MS") {
            command.env("HEYAIRA_HOOK_WAIT_MS", "20000");
        }
        command
    }

    /// Runs the program in the tree.
    pub fn run(&self, words: &[&str], variables: &[(&str, &str)]) -> Answer {
        self.command(words, variables).output().expect("the program runs").into()
    }

    /// Gives a hook its input; the client never sees it fail.
    pub fn hook(&self, client: &str, input: &Value, variables: &[(&str, &str)]) -> Answer {
        self.hook_with(&[client], input.to_string().as_bytes(), variables)
    }

    /// The same with more words and any input.
    pub fn hook_with(&self, words: &[&str], input: &[u8], variables: &[(&str, &str)]) -> Answer {
        let mut command = self.command(&[&["hook"], words].concat(), variables);
        // Where a hook is called from is the client's to choose.
        let answer = give(command.current_dir("/"), input);
        assert_eq!(answer.code, 0, "{words:?}: {answer:?}");
        answer
    }

    /// What the start of a session of Claude Code is told.
    pub fn start(&self, session: &str) -> String {
        let answer = self.hook("claude", &self.claude(session, "SessionStart", json!({"source": "startup"})), &[]);
        context(&answer)
    }

    /// An input of Claude Code.
    pub fn claude(&self, session: &str, event: &str, more: Value) -> Value {
        let mut input = json!({
            "session_id": session,
            "transcript_path": format!("/home/kim/.claude/projects/-home-kim-ledger/{session}.jsonl"),
            "cwd": self.tree,
            "hook_event_name": event,
        });
        let Value::Object(more) = more else { panic!("an object: {more}") };
        input.as_object_mut().expect("an object").extend(more);
        input
    }

    /// The folder of the hooks' state.
    pub fn state(&self) -> State {
        State::at(self.place.folder.path().join(".local").join("state").join("heyaira"))
    }

    /// The hooks' log.
    pub fn log(&self) -> String {
        fs::read_to_string(self.state().folder().join("hooks.log")).unwrap_or_default()
    }

    /// A task that waits with a handoff of this session; answers the line.
    pub fn handed_off(&self, title: &str, session_ref: &str) -> String {
        let id = self.place.task(title);
        let receipt = json!({"session_ref": session_ref, "branch": "main", "completed_work": "MARKER of work"});
        let next = format!("MARKER: run the tests.\n\nPrevious session: {session_ref}");
        let receipt = receipt.to_string();
        let words = ["task", "update", &id, "--expected-version", "1", "--summary", "MARKER of a summary"];
        let more = ["--handoff-next", &next, "--work-receipt", &receipt];
        let made = self.place.ask(&[&words[..], &more[..]].concat());
        format!("handoff: {} v{}", &id[..8], made["version"])
    }
}

/// Gives a command its input, whether it reads all of it or not.
pub fn give(command: &mut Command, input: &[u8]) -> Answer {
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = pipes.spawn().expect("the program runs");
    let written = child.stdin.take().expect("a pipe").write_all(input);
    let answer = Answer::from(child.wait_with_output().expect("the program ends"));
    assert!(written.is_ok(), "the whole input is taken: {written:?}, {answer:?}");
    answer
}

/// What an answer of Claude Code's form has for the model.
pub fn context(answer: &Answer) -> String {
    let told = answer.json();
    let context = told["hookSpecificOutput"]["additionalContext"].as_str();
    context.unwrap_or_else(|| panic!("no context: {answer:?}")).to_owned()
}

/// The lines of a file of fixtures: a variable of the environment and an input each.
pub fn fixtures(client: &str, tree: &Path) -> Vec<(Vec<(String, String)>, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/hooks");
    let text = fs::read_to_string(folder.join(format!("{client}.jsonl"))).expect("fixtures");
    let text = text.replace("{cwd}", &tree.display().to_string());
    let read = |line: &str| {
        let row: Value = serde_json::from_str(line).expect("JSON");
        let variables = row["env"].as_object().expect("variables").iter();
        let variables = variables.map(|(name, value)| (name.clone(), value.as_str().expect("text").to_owned()));
        (variables.collect(), row["input"].clone())
    };
    text.lines().map(read).collect()
}
