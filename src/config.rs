//! Where the database is and which project a call is for: flag over environment over file over default.
//! Must never guess a project: without one named or pinned there is none.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use etcetera::AppStrategy;
use serde::Deserialize;
use uuid::Uuid;

use crate::domain::project::slug_problem;
use crate::domain::time::Timestamp;
use crate::error::{Code, Refusal, Result};
use crate::operation::{Clock, Ids, Pinned, Service};
use crate::store::backend::{Database, Store};

/// The name of the pinned file.
pub const PROFILE_FILE: &str = "heyaira.toml";
/// The largest pinned file that is read, in bytes: it stands in repositories that others made.
const PROFILE_MAX: u64 = 64 * 1024;
/// How long a call may take.
const DEADLINE: Duration = Duration::from_secs(30);

/// What the caller chose.
#[derive(Clone, Debug)]
pub struct Config {
    /// The database.
    pub database: Database,
    /// The project named by flag or environment.
    pub project: Option<String>,
    /// The profile named by flag.
    pub profile: Option<PathBuf>,
    /// The folder from which a pinned file is looked for, upwards.
    pub folder: PathBuf,
}

/// The pinned file, as far as it is read here.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProfileFile {
    project: String,
    instance: Uuid,
    #[expect(dead_code, reason = "for the reader and the agent; the server knows its own")]
    resource: Option<String>,
    #[expect(dead_code, reason = "for the agent; a server never takes it from a file")]
    write_context: Option<String>,
    language: Option<String>,
}

/// A profile that was read.
#[derive(Debug)]
pub struct Profile {
    /// Where it stands.
    pub path: PathBuf,
    /// What it pins to.
    pub pinned: Pinned,
    /// The working language that it names.
    pub language: Option<String>,
}

impl Config {
    /// The config of flags and environment. `variable` reads the environment.
    pub fn new(
        database: Option<String>,
        project: Option<String>,
        profile: Option<PathBuf>,
        folder: PathBuf,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let database = match database.or_else(|| set("HEYAIRA_DATABASE")) {
            Some(named) => Database::of(&named)?,
            None => Database::File(default_database()?),
        };
        database.file().map_or(Ok(()), check_database)?;
        // A project named by flag overrides a profile in the environment's place, never a profile named by flag.
        let project = project.or_else(|| set("HEYAIRA_PROJECT").filter(|_| profile.is_none()));
        Ok(Self { database, project, profile, folder })
    }

    /// The same with another database.
    pub fn at(&self, database: Database) -> Result<Self> {
        database.file().map_or(Ok(()), check_database)?;
        Ok(Self { database, ..self.clone() })
    }

    /// The project that calls are pinned to.
    ///
    /// A profile's instance is compared with the database on every call. Named and pinned must not contradict.
    pub fn pinned(&self) -> Result<Pinned> {
        if let Some(path) = &self.profile {
            let profile = read_profile(path)?;
            return match &self.project {
                Some(named) if *named != profile.pinned.project => Err(contradiction(named, &profile)),
                _ => Ok(profile.pinned),
            };
        }
        match &self.project {
            Some(named) => named_project(named),
            None => self.found_profile()?.map(|profile| profile.pinned).ok_or_else(no_project),
        }
    }

    /// The pinned file found upwards from the folder, if there is one.
    pub fn found_profile(&self) -> Result<Option<Profile>> {
        let found = self.folder.ancestors().map(|folder| folder.join(PROFILE_FILE)).find(|path| path.is_file());
        found.map(|path| read_profile(&path)).transpose()
    }

    /// Opens the database.
    pub fn open(&self, create: bool) -> Result<Service> {
        let store = Store::open(&self.database, create).map_err(|refusal| self.of_elsewhere(refusal));
        Ok(Service { store: store?, clock: Arc::new(SystemClock), ids: Arc::new(RandomIds), deadline: DEADLINE })
    }
}

impl Config {
    /// Where no database is, and the profile names an instance: a new database would be another one.
    fn of_elsewhere(&self, mut refusal: Refusal) -> Refusal {
        let is_missing = self.database.file().is_some_and(|file| !file.exists());
        let instance = self.pinned().ok().and_then(|pinned| pinned.instance).filter(|_| is_missing);
        if let Some(instance) = instance {
            let short = instance.get(..8).unwrap_or(&instance);
            refusal.next = format!(
                "{PROFILE_FILE} pins instance {short}: name the database that has it with --database or HEYAIRA_DATABASE, \
                 reach its server with heyaira setup CLIENT --remote URL, or restore its backup. heyaira start would make \
                 another instance."
            );
        }
        refusal
    }
}

/// The time of the machine.
#[derive(Debug)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp(jiff::Timestamp::now().as_microsecond())
    }
}

/// Random ids.
#[derive(Debug)]
pub struct RandomIds;

impl Ids for RandomIds {
    fn uuid(&self) -> Uuid {
        Uuid::new_v4()
    }

    fn secret_bytes(&self) -> Result<[u8; 32]> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| Refusal::internal(&error))?;
        Ok(bytes)
    }
}

/// Where the database is when nobody says: the platform's folder for a user's data.
pub fn default_database() -> Result<PathBuf> {
    own_folders().map(|folders| folders.data_dir().join("heyaira.db")).ok_or_else(|| {
        Refusal::argument("there is no home folder for the database: name a file with --database or HEYAIRA_DATABASE")
    })
}

/// The platform's folder for a user's settings; none without a home folder.
pub fn settings_folder() -> Option<PathBuf> {
    own_folders().map(|folders| folders.config_dir())
}

/// The platform's folders for what is ours.
fn own_folders() -> Option<impl AppStrategy> {
    let names = etcetera::AppStrategyArgs {
        top_level_domain: "org".to_owned(),
        author: "heyaira".to_owned(),
        app_name: "heyaira".to_owned(),
    };
    etcetera::choose_app_strategy(names).ok()
}

/// Refuses what cannot be a file here: a path of another platform.
fn check_database(path: &Path) -> Result<()> {
    let text = path.to_string_lossy();
    let letter = text.chars().next().is_some_and(|first| first.is_ascii_alphabetic());
    let drive = letter && matches!(text.get(1..3), Some(":\\" | ":/"));
    if cfg!(unix) && (drive || text.starts_with("\\\\")) {
        return Err(Refusal::argument(format!(
            "database {} is a Windows path and this is not Windows: use a path such as /home/you/heyaira.db",
            crate::domain::text::quoted(&text, 120)
        )));
    }
    if cfg!(windows) && text.starts_with("/mnt/") {
        return Err(Refusal::argument(format!(
            "database {} is a path of a Linux subsystem and this is Windows: use a path such as C:\\Users\\you\\heyaira.db",
            crate::domain::text::quoted(&text, 120)
        )));
    }
    Ok(())
}

fn named_project(named: &str) -> Result<Pinned> {
    match slug_problem(named) {
        Some(problem) => Err(Refusal::argument(format!("project {problem}"))),
        None => Ok(Pinned { project: named.to_owned(), instance: None }),
    }
}

fn read_profile(path: &Path) -> Result<Profile> {
    let wrong = |what: String| {
        Refusal::new(
            Code::IdentityMismatch,
            format!("the profile {} {what}", path.display()),
            "Write it anew: heyaira profile PROJECT --write. Nothing was read or written.",
        )
    };
    let mut text = String::new();
    let file = std::fs::File::open(path);
    let read = file.and_then(|file| file.take(PROFILE_MAX + 1).read_to_string(&mut text));
    let length = read.map_err(|error| wrong(format!("cannot be read: {error}")))?;
    if length as u64 > PROFILE_MAX {
        return Err(wrong(format!("is larger than {PROFILE_MAX} bytes")));
    }
    if toml::from_str::<toml::Table>(&text).is_ok_and(|table| table.contains_key("token")) {
        return Err(Refusal::new(
            Code::IdentityMismatch,
            format!("the profile {} has a token, and others may read this file", path.display()),
            "Take it out there and have the owner rotate it; a token comes by HEYAIRA_TOKEN or --token-file FILE. \
             Nothing was read or written.",
        ));
    }
    // The parser's own message would quote the line, and a line may hold the write_context.
    let file: ProfileFile = toml::from_str(&text).map_err(|error| {
        let line = error.span().map_or(0, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        wrong(format!(
            "is no profile (line {line}): it needs project and instance, and knows resource, write_context and language"
        ))
    })?;
    let mut pinned = named_project(&file.project)?;
    pinned.instance = Some(file.instance.to_string());
    Ok(Profile { path: path.to_owned(), pinned, language: file.language })
}

fn contradiction(named: &str, profile: &Profile) -> Refusal {
    Refusal::new(
        Code::IdentityMismatch,
        format!("project {named} was named, the profile {} is for {}", profile.path.display(), profile.pinned.project),
        "Name one of them. Nothing was read or written.",
    )
}

fn no_project() -> Refusal {
    Refusal::new(
        Code::NoProject,
        "this connection is pinned to no project",
        "A heyaira.toml in the repository's root names it (heyaira profile NAME --write), --project NAME or HEYAIRA_PROJECT. The \
         owner sets it for an agent's connection: heyaira mcp --project NAME.",
    )
}
