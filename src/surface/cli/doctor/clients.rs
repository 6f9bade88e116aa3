//! How each client stands: installed, set up, current, connecting, and the command that mends it. Must never print what
//! a client's files hold but the command of our own entry.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::client::Client;
use crate::client::place::Places;
use crate::client::setup::consent::trusts;
use crate::client::setup::examination::{Found, Plugin, Standing, examine as examine_files, plugin, untrusted_hooks};
use crate::client::setup::server::{Server, shell_word};
use crate::client::setup::{Part, Repository, Request, Scope, plan};
use crate::domain::secret::masked;
use crate::domain::text::quoted;
use crate::store::backend::{Finding, Health};
use crate::surface::cli::clients::connection::{on_path, repository_root};
use crate::surface::cli::doctor::running::{self, Question, SILENT};
use crate::surface::cli::{Session, clients};

/// The flag that is written with an address without encryption.
const INSECURE: &str = "--insecure-http";

/// How one client stands.
pub struct Report {
    client: Client,
    /// Where its program is, and the version it tells.
    program: Option<PathBuf>,
    version: Option<String>,
    scope: Scope,
    parts: Vec<Found>,
    /// Our plugin in it.
    plugin: Option<Plugin>,
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

/// A line for all that are there and not set up, and one for all that are not there.
pub fn bystanders(reports: &[Report]) -> Vec<String> {
    let line = |told: &str, names: Vec<String>| {
        (!names.is_empty()).then(|| format!("{:8} clients: {told}: {}\n", "ok", names.join(", ")))
    };
    let idle = reports.iter().filter(|one| one.program.is_some() && !one.is_used());
    let idle = idle.map(|one| format!("{} ({})", one.client.title(), one.mend())).collect();
    let absent = reports.iter().filter(|one| one.program.is_none() && !one.is_used());
    let absent = absent.map(|one| one.client.title().to_owned()).collect();
    let lines = [line("installed and not set up", idle), line("not installed and not set up", absent)];
    lines.into_iter().flatten().collect()
}

/// The addresses of the servers that all clients here use, if each that is set up uses one.
pub fn elsewhere(reports: &[Report]) -> Option<String> {
    let used = reports.iter().filter(|one| one.is_used());
    let addresses: Option<BTreeSet<&str>> = used.map(|one| one.flag("--remote")).collect();
    let addresses: Vec<&str> = addresses?.into_iter().collect();
    (!addresses.is_empty()).then(|| addresses.join(", "))
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
            plugin: plugin(client, places),
            answers: None,
            own_word: None,
            remarks: Vec::new(),
            problems: Vec::new(),
        };
        report.run(folder);
        report.judge(session, places, root.as_deref().unwrap_or(folder));
        report
    }

    /// Asks the programs.
    fn run(&mut self, folder: &Path) {
        let command = self.command();
        // What a repository names is not run before the person has let the client do so.
        if command.is_empty() || self.scope == Scope::Project {
            return;
        }
        self.answers = Some(running::handshake(self.client, &command, folder));
        let program = self.program.as_deref();
        self.own_word = program.and_then(|program| running::own_word(program, self.question()?, folder));
    }

    /// What the client starts: the command of its entry, or that of the plugin.
    fn command(&self) -> Vec<String> {
        let entry = self.part(Part::Server).filter(|entry| entry.standing > Standing::Absent);
        match (entry, &self.plugin) {
            (Some(entry), _) => entry.command.clone(),
            (None, Some(_)) => ["heyaira", "mcp"].map(str::to_owned).to_vec(),
            (None, None) => Vec::new(),
        }
    }

    /// What stands behind a flag of the entry's command.
    fn flag(&self, name: &str) -> Option<&str> {
        let words = &self.part(Part::Server)?.command;
        let at = words.iter().position(|word| word == name)?;
        words.get(at + 1).map(String::as_str)
    }

    fn part(&self, part: Part) -> Option<&Found> {
        self.parts.iter().find(|one| one.part == part)
    }

    /// True if it is set up, in whichever way.
    fn is_used(&self) -> bool {
        self.is_set_up() || self.plugin.is_some()
    }

    fn is_set_up(&self) -> bool {
        self.part(Part::Server).is_some_and(|entry| entry.standing > Standing::Absent)
    }

    /// The command that sets it up anew.
    fn mend(&self) -> String {
        let mut words = vec!["heyaira".to_owned(), "setup".to_owned(), self.client.name().to_owned()];
        if self.scope == Scope::Project {
            words.extend(["--scope", "project"].map(str::to_owned));
        }
        for name in ["--remote", "--token-file"] {
            let value = self.flag(name).map(without_credentials);
            words.extend(value.into_iter().flat_map(|value| [name.to_owned(), shell_word(&value)]));
        }
        let is_open = self.part(Part::Server).is_some_and(|entry| entry.command.iter().any(|word| word == INSECURE));
        words.extend(is_open.then(|| INSECURE.to_owned()));
        words.join(" ")
    }

    fn judge(&mut self, session: &Session, places: &Places, root: &Path) {
        let set_up = self.mend();
        if !self.is_used() {
            self.remarks.push(format!("not set up: {set_up}"));
            return;
        }
        let unserved = self.unserved(session);
        let untrusted = self.untrusted(places, root);
        let of_client = if untrusted.is_some() { None } else { self.unconnected() };
        self.problems.extend(untrusted.into_iter().chain(unserved).chain(of_client).chain(self.without_token()));
        if self.is_set_up() {
            let problems = self.outdated(places, &set_up);
            self.problems.extend(problems);
        }
    }

    /// What is wrong with the files of a set-up.
    fn outdated(&mut self, places: &Places, set_up: &str) -> Vec<String> {
        let mut problems = Vec::new();
        let entry = self.part(Part::Server).filter(|entry| entry.command.is_empty());
        if let Some(path) = entry.map(|entry| entry.path.display()) {
            problems.push(format!("the entry in {path} does not start heyaira mcp: {set_up} --force"));
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
        if let Some(plugin) = &self.plugin {
            let undo = format!("heyaira setup {} --undo", self.client.name());
            let path = plugin.path.display();
            problems.push(format!("set up twice, also as a plugin ({path}): {}, or {undo}", plugin.removal));
        }
        problems
    }

    /// What the command of the entry or the plugin answers instead of a project. That there is none here is told once for
    /// all clients, so it is a remark.
    fn unserved(&mut self, session: &Session) -> Option<String> {
        let Some(Err(reason)) = &self.answers else { return None };
        if reason.starts_with("no_project") && self.flag("--project").is_none() && session.config.pinned().is_err() {
            self.remarks.push("serves no project from here".to_owned());
            return None;
        }
        Some(format!("{} does not serve a project here: {}", shown(&self.command()).join(" "), quoted(reason, 300)))
    }

    /// What the client itself says, if it is not good.
    fn unconnected(&self) -> Option<String> {
        let word = self.own_word.as_deref().filter(|word| !matches!(*word, "connected" | "unknown" | SILENT))?;
        Some(format!("it says {word}: {}", self.question_by_hand()?))
    }

    /// Where the client starts nothing, as the person has not told it to trust the folder.
    fn untrusted(&self, places: &Places, root: &Path) -> Option<String> {
        let concerned = self.client == Client::Gemini || self.scope == Scope::Project;
        let is_trusted = || trusts(self.client, places, root, |name| std::env::var(name).ok());
        if !concerned || self.own_word.as_deref() == Some("connected") || is_trusted() {
            return None;
        }
        let (title, program) = (self.client.title(), self.client.program().unwrap_or_default());
        Some(format!(
            "this folder is not trusted in {title}, so it starts no server: start {program} here and trust it"
        ))
    }

    /// Where the token is expected in an environment that is not this one. Asked of what is not run: else the server says so.
    fn without_token(&self) -> Option<String> {
        let remote = self.flag("--remote").filter(|_| self.answers.is_none() && self.flag("--token-file").is_none())?;
        let is_set = std::env::var_os("HEYAIRA_TOKEN").is_some_and(|token| !token.is_empty());
        (!is_set).then(|| {
            format!(
                "HEYAIRA_TOKEN is not in this environment: set it where {} is started, or have a file of it in your own \
                 settings: heyaira setup {} --scope user --remote {} --token-file FILE",
                self.client.title(),
                self.client.name(),
                shell_word(remote)
            )
        })
    }

    /// The words with which the client is asked, where it connects to answer, and what its line holds.
    fn question(&self) -> Option<Question> {
        Some(match self.client {
            Client::ClaudeCode if self.is_set_up() => (&["mcp", "get", "heyaira"], "Status:"),
            Client::ClaudeCode | Client::Gemini | Client::OpenCode => (&["mcp", "list"], "heyaira"),
            _ => return None,
        })
    }

    fn question_by_hand(&self) -> Option<String> {
        let (words, _) = self.question()?;
        Some(format!("{} {}", self.client.program()?, words.join(" ")))
    }

    /// The line for people; none for a client that is not set up.
    pub fn finding(&self) -> Option<Finding> {
        if !self.is_used() {
            return None;
        }
        let version = match (&self.program, &self.version) {
            // Apps are on no path.
            (None, _) => (!self.client.is_app()).then(|| "program not on the PATH".to_owned()),
            (Some(_), None) => Some("installed, version unknown".to_owned()),
            (Some(_), Some(version)) => Some(version.clone()),
        };
        let entry = self.part(Part::Server).filter(|entry| !entry.command.is_empty());
        let entry = entry.map(|entry| format!("{} ({})", shown(&entry.command).join(" "), entry.path.display()));
        let plugin = self.plugin.as_ref().filter(|_| !self.is_set_up()).map(|plugin| {
            let version = plugin.version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
            format!("plugin heyaira{version} ({})", plugin.path.display())
        });
        let answers = self
            .answers
            .as_ref()
            .and_then(|answers| answers.as_ref().ok())
            .map(|project| format!("serves project {project}"));
        let own_word = match self.own_word.as_deref() {
            Some("connected") => Some("connected".to_owned()),
            Some(SILENT) => {
                self.question_by_hand().map(|question| format!("no answer within 10 seconds from {question}"))
            }
            _ => None,
        };
        let known = [version, entry, plugin, answers, own_word].into_iter().flatten();
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
                told["command"] = json!(shown(&one.command));
            }
            (one.part.as_str().to_owned(), told)
        });
        json!({
            "client": self.client.name(),
            "installed": self.program.is_some(),
            "version": self.version,
            "set_up": self.is_set_up(),
            "parts": Value::Object(parts.collect()),
            "plugin": self.plugin.as_ref().map(|plugin| json!({
                "file": plugin.path.display().to_string(), "version": plugin.version,
            })),
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

/// A command as it is shown: who wrote it by hand may have put a password or a token into it.
fn shown(words: &[String]) -> Vec<String> {
    let names = |word: &str| {
        let flag = word.to_lowercase();
        let is_secret = ["token", "secret", "password", "key"].iter().any(|part| flag.contains(part));
        flag.starts_with("--") && is_secret && !flag.ends_with("-file")
    };
    let mut before = "";
    let mut shown = Vec::with_capacity(words.len());
    for word in words {
        let flag = word.split_once('=').map_or("", |(flag, _)| flag);
        shown.push(match () {
            () if names(before) => "…".to_owned(),
            () if names(flag) => format!("{flag}=…"),
            () => masked(&without_credentials(word)).into_owned(),
        });
        before = word;
    }
    shown
}

/// An address without a user, a password and a query.
fn without_credentials(word: &str) -> String {
    let Some((scheme, rest)) = word.split_once("://") else { return word.to_owned() };
    let (place, query) = rest.split_once('?').map_or((rest, ""), |(place, _)| (place, "?…"));
    let end = place.find('/').unwrap_or(place.len());
    let host = place[..end].rfind('@').map_or_else(|| place.to_owned(), |at| format!("…{}", &place[at..]));
    format!("{scheme}://{host}{query}")
}
