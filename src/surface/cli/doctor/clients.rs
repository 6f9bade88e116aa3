//! How each client stands: installed, set up, current, connecting, and the command that mends it. Must never print what
//! a client's files hold but the command of our own entry.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::client::Client;
use crate::client::setup::examination::{Found, Standing, examine as examine_files, plugin, untrusted_hooks};
use crate::client::setup::place::Places;
use crate::client::setup::server::Server;
use crate::client::setup::{Part, Repository, Request, Scope, plan};
use crate::domain::text::quoted;
use crate::store::backend::{Finding, Health};
use crate::surface::cli::clients::connection::{on_path, repository_root};
use crate::surface::cli::doctor::running::{self, SILENT};
use crate::surface::cli::{Session, clients};

/// How one client stands.
pub struct Report {
    client: Client,
    /// Where its program is, and the version it tells.
    program: Option<PathBuf>,
    version: Option<String>,
    scope: Scope,
    parts: Vec<Found>,
    /// What the command of the entry answered.
    answers: Option<Result<String, String>>,
    /// What the client itself says.
    own_word: Option<String>,
    /// What is good to know.
    remarks: Vec<String>,
    /// What is wrong, each with its mend.
    problems: Vec<String>,
}

/// Looks at every client, all at once, so that the slowest sets the time.
pub fn examine(session: &Session) -> Vec<Report> {
    let Ok(places) = clients::places() else { return Vec::new() };
    let places = &places;
    std::thread::scope(|scope| {
        let looks: Vec<_> =
            Client::ALL.into_iter().map(|client| scope.spawn(move || Report::new(session, client, places))).collect();
        looks.into_iter().filter_map(|look| look.join().ok()).collect()
    })
}

/// One line for all that are not there.
pub fn not_installed(reports: &[Report]) -> Option<String> {
    let names: Vec<&str> = reports.iter().filter(|one| !one.is_there()).map(|one| one.client.title()).collect();
    (!names.is_empty()).then(|| format!("{:8} clients: not installed and not set up: {}\n", "ok", names.join(", ")))
}

impl Report {
    fn new(session: &Session, client: Client, places: &Places) -> Self {
        let folder = &session.config.folder;
        let root = repository_root(session, &places.home);
        let program = client.program().and_then(on_path);
        let of_scope = |scope| (scope, parts(client, scope, places, root.as_deref()));
        let has_entry =
            |parts: &[Found]| parts.iter().any(|one| one.part == Part::Server && one.standing > Standing::Absent);
        let of_person = of_scope(Scope::User);
        let of_project = Some(of_scope(Scope::Project)).filter(|(_, parts)| root.is_some() && has_entry(parts));
        let (scope, parts) = if has_entry(&of_person.1) { of_person } else { of_project.unwrap_or(of_person) };
        let version = program.as_deref().and_then(|program| running::version(program, folder));
        let mut report = Self {
            client,
            program,
            version,
            scope,
            parts,
            answers: None,
            own_word: None,
            remarks: Vec::new(),
            problems: Vec::new(),
        };
        report.run(folder);
        report.judge(places);
        report
    }

    /// Asks the programs.
    fn run(&mut self, folder: &Path) {
        let command = self.part(Part::Server).map(|entry| entry.command.clone()).unwrap_or_default();
        // What a repository names is not run before the person has let the client do so.
        if command.is_empty() || self.scope == Scope::Project {
            return;
        }
        self.answers = Some(running::handshake(self.client, &command, folder));
        self.own_word = self.program.as_deref().and_then(|program| running::own_word(self.client, program, folder));
    }

    fn part(&self, part: Part) -> Option<&Found> {
        self.parts.iter().find(|one| one.part == part)
    }

    fn is_there(&self) -> bool {
        self.program.is_some() || self.is_set_up()
    }

    fn is_set_up(&self) -> bool {
        self.part(Part::Server).is_some_and(|entry| entry.standing > Standing::Absent)
    }

    /// The command that sets it up anew.
    fn mend(&self) -> String {
        let scope = if self.scope == Scope::Project { " --scope project" } else { "" };
        format!("heyaira setup {}{scope}", self.client.name())
    }

    fn judge(&mut self, places: &Places) {
        let mut problems = Vec::new();
        let plugin = plugin(self.client, places);
        let set_up = self.mend();
        if !self.is_set_up() {
            let as_plugin = plugin.map(|(path, _)| format!("set up as a plugin ({})", path.display()));
            self.remarks.push(as_plugin.unwrap_or_else(|| format!("not set up: {set_up}")));
            return;
        }
        match self.part(Part::Server).map(|entry| (entry.command.is_empty(), entry.path.display().to_string())) {
            Some((true, path)) => {
                problems.push(format!("the entry in {path} does not start heyaira mcp: {set_up} --force"));
            }
            _ => problems.extend(self.unanswered()),
        }
        for part in [Part::Hooks, Part::Skills] {
            match self.part(part).map(|one| one.standing) {
                Some(Standing::Absent) => self.remarks.push(format!("no {}: {set_up} adds them", part.as_str())),
                Some(Standing::Older) => problems.push(format!("{} of another version: {set_up}", part.as_str())),
                _ => {}
            }
        }
        let hooks = self.part(Part::Hooks).filter(|_| self.client == Client::Codex);
        let untrusted = hooks.map_or(0, |hooks| untrusted_hooks(places, &hooks.path));
        if untrusted > 0 {
            problems.push(format!(
                "{untrusted} of its hooks are not trusted yet, so Codex skips them: start codex and enter /hooks"
            ));
        }
        if let Some((path, command)) = plugin {
            let undo = format!("heyaira setup {} --undo", self.client.name());
            problems.push(format!("set up twice, also as a plugin ({}): {command}, or {undo}", path.display()));
        }
        self.problems = problems;
    }

    fn unanswered(&self) -> Vec<String> {
        let mut told = Vec::new();
        if let Some(Err(reason)) = &self.answers {
            let command = self.part(Part::Server).map(|entry| entry.command.join(" ")).unwrap_or_default();
            told.push(format!("{command} does not serve a project here: {}", quoted(reason, 300)));
        }
        if let Some(word) = self.own_word.as_deref().filter(|word| !matches!(*word, "connected" | "unknown" | SILENT)) {
            told.push(format!("it says {word}: {}", self.question()));
        }
        told
    }

    /// How the client is asked by hand.
    fn question(&self) -> String {
        let words = if self.client == Client::ClaudeCode { "mcp get heyaira" } else { "mcp list" };
        format!("{} {words}", self.client.program().unwrap_or_default())
    }

    /// The line for people; none for a client that is not there.
    pub fn finding(&self) -> Option<Finding> {
        if !self.is_there() {
            return None;
        }
        let version = match (&self.program, &self.version) {
            (None, _) => "program not on the PATH".to_owned(),
            (Some(_), None) => "installed, version unknown".to_owned(),
            (Some(_), Some(version)) => version.clone(),
        };
        let entry = self.part(Part::Server).filter(|entry| !entry.command.is_empty());
        let entry = entry.map(|entry| format!("{} ({})", entry.command.join(" "), entry.path.display()));
        let answers = self
            .answers
            .as_ref()
            .and_then(|answers| answers.as_ref().ok())
            .map(|project| format!("serves project {project}"));
        let own_word = match self.own_word.as_deref() {
            Some("connected") => Some("connected".to_owned()),
            Some(SILENT) => Some(format!("no answer within 10 seconds from {}", self.question())),
            _ => None,
        };
        let known = [Some(version), entry, answers, own_word].into_iter().flatten();
        let told = known.chain(self.remarks.iter().chain(&self.problems).cloned()).collect::<Vec<_>>().join("; ");
        let state = if self.problems.is_empty() { Health::Ok } else { Health::Warning };
        Some(Finding { check: self.client.title(), state, told })
    }

    /// The same for programs.
    pub fn as_json(&self) -> Value {
        let word = |standing: Standing| match standing {
            Standing::Absent => "absent",
            Standing::Older => "older",
            Standing::Current => "current",
        };
        let parts = self.parts.iter().map(|one| {
            let mut told = json!({"state": word(one.standing), "file": one.path.display().to_string()});
            if !one.command.is_empty() {
                told["command"] = json!(one.command);
            }
            (one.part.as_str().to_owned(), told)
        });
        json!({
            "client": self.client.name(),
            "installed": self.program.is_some(),
            "version": self.version,
            "set_up": self.is_set_up(),
            "parts": Value::Object(parts.collect()),
            "serves": self.answers.as_ref().and_then(|answers| answers.as_ref().ok()),
            "client_says": self.own_word,
            "remarks": self.remarks,
            "problems": self.problems,
        })
    }
}

/// The parts of a client's set-up as they stand. What the entry starts besides `heyaira mcp` is the person's.
fn parts(client: Client, scope: Scope, places: &Places, root: Option<&Path>) -> Vec<Found> {
    let of_profile = root.map(|root| Repository { root: root.to_owned(), block: None, profile: None });
    let program = |words: &[String]| words.first().cloned().unwrap_or_else(|| "heyaira".to_owned());
    let look = |server: &Server| {
        let read = |path: &Path| std::fs::read_to_string(path).ok();
        let request =
            Request { client, scope, places, repository: of_profile.as_ref(), server, without: &[], read: &read };
        examine_files(&plan(&request))
    };
    let bare =
        Server { program: program(&[]), arguments: Vec::new(), variables: Vec::new(), hook_arguments: Vec::new() };
    let found = look(&bare);
    // Asked again with the program of the entry, which the hooks call as well.
    let entry = found.iter().find(|one| one.part == Part::Server).map(|one| one.command.clone()).unwrap_or_default();
    let named =
        entry.iter().position(|word| word == "--database").and_then(|at| entry.get(at..at + 2)).unwrap_or_default();
    look(&Server { program: program(&entry), hook_arguments: named.to_vec(), ..bare })
}
