//! Worktrees and branches of runs: the one place in which git writes. Must never run a hook of the repository, ask a person,
//! outlast its time, or take away what it was not told to.
//!
//! Files are checked out as the user's own `git worktree add` would: with the user's environment, settings and filters.

use std::ffi::{OsStr, OsString};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::look::{Told, answered, told};
use super::{Failure, Git, Said, process};

/// How long a lock of another git is waited for.
const LOCKED: Duration = Duration::from_secs(20);
/// How long a worktree may be half made.
const HALF_MADE: Duration = Duration::from_secs(3);
/// How often it is tried again meanwhile.
const AGAIN: Duration = Duration::from_millis(50);
/// How much of an answer is kept.
const KEPT: usize = 1024 * 1024;

/// What is told over all settings: no hook, no monitor that stays, no housekeeping, patience with the locks of others.
const SET: [(&str, &str); 9] = [
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", ""),
    ("core.askPass", ""),
    ("core.packedRefsTimeout", "20000"),
    ("core.filesRefLockTimeout", "20000"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("submodule.recurse", "false"),
    ("advice.detachedHead", "false"),
];

/// A branch, where it ends, and where it is checked out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Branch {
    /// Its name without `refs/heads/`.
    pub name: String,
    /// Its last commit.
    pub commit: String,
    /// The worktree that has it checked out.
    pub worktree: Option<PathBuf>,
}

/// A repository as one of its working trees shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repository {
    /// The top of the working tree that was asked.
    pub top: PathBuf,
    /// Where git keeps what all its working trees share.
    pub git_folder: PathBuf,
    /// The main working tree, or the bare repository that the working trees belong to.
    pub main: PathBuf,
    /// True if it is bare, and was asked outside of a working tree.
    pub is_bare: bool,
}

/// The repository that a folder is in; git's own failure where it is in none.
pub fn repository(git: &Git) -> Told<Repository> {
    let inside = git.ask(&["rev-parse", "--is-inside-work-tree"])?;
    let place = |word: &str| -> Told<PathBuf> {
        let said = answered(git.ask(&["rev-parse", "--path-format=absolute", word])?)?;
        Ok(PathBuf::from(said.strip_suffix('\n').unwrap_or(&said)))
    };
    let git_folder = whole(place("--git-common-dir")?);
    if inside.out.trim() != "true" {
        return Ok(Repository { git_folder, is_bare: true, ..Repository::default() });
    }
    let top = whole(place("--show-toplevel")?);
    let is_main = whole(place("--git-dir")?) == git_folder;
    let main = if is_main { top.clone() } else { main_tree(git)?.unwrap_or_else(|| top.clone()) };
    Ok(Repository { top, git_folder, main, is_bare: false })
}

/// The first of the working trees that git lists is the main one.
fn main_tree(git: &Git) -> Told<Option<PathBuf>> {
    let said = patiently(|| answered(git.ask(&["worktree", "list", "--porcelain"])?))?;
    let first = said.lines().next().and_then(|line| line.strip_prefix("worktree "));
    Ok(first.map(|path| whole(PathBuf::from(path))))
}

/// Asks again while another git makes a worktree: one that is half made, git takes for damage.
fn patiently<T>(mut ask: impl FnMut() -> Told<T>) -> Told<T> {
    let patient = Instant::now() + HALF_MADE;
    loop {
        match ask() {
            Err(Failure::Failed(_, told)) if is_half_made(&told) && Instant::now() < patient => thread::sleep(AGAIN),
            answer => return answer,
        }
    }
}

/// The one that makes or takes away worktrees of a repository, among programs of ours, for as long as it is kept.
///
/// Git itself does not keep two of its own apart: one fails where it meets the half-made worktree of the other.
#[derive(Debug)]
pub struct Turn {
    _lock: Option<File>,
}

impl Turn {
    /// Waits for it. The lock is on git's folder itself, so nothing is written for it.
    pub fn wait(git_folder: &Path, until: Instant) -> Told<Self> {
        if !cfg!(unix) {
            return Ok(Self { _lock: None });
        }
        let failed = |error: std::io::Error| Failure::Failed(None, format!("{}: {error}", git_folder.display()));
        let folder = File::open(git_folder).map_err(failed)?;
        loop {
            match folder.try_lock() {
                Ok(()) => return Ok(Self { _lock: Some(folder) }),
                // A file system without locks leaves what git itself does about it.
                Err(TryLockError::Error(_)) => return Ok(Self { _lock: None }),
                Err(TryLockError::WouldBlock) if Instant::now() >= until => {
                    return Err(Failure::Late("another run's worktree".to_owned()));
                }
                Err(TryLockError::WouldBlock) => thread::sleep(AGAIN),
            }
        }
    }
}

/// The path without links, where it is there.
fn whole(path: PathBuf) -> PathBuf {
    path.canonicalize().unwrap_or(path)
}

/// The commit that a word of the user's stands for.
pub fn commit(git: &Git, word: &str) -> Told<Option<String>> {
    let said = git.ask(&["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{word}^{{commit}}")]);
    match said {
        Ok(said) => Ok(Some(said.out.trim().to_owned()).filter(|id| said.code == 0 && !id.is_empty())),
        // What is no name at all, git does not answer but refuses.
        Err(Failure::Failed(Some(128), _)) => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// True for a name that a branch may have.
pub fn is_branch_name(git: &Git, name: &str) -> Told<bool> {
    if name.is_empty() || name.starts_with('-') || name == "HEAD" || name.contains('\0') {
        return Ok(false);
    }
    Ok(git.ask(&["check-ref-format", &format!("refs/heads/{name}")])?.code == 0)
}

/// The branch of that name and those that stand in its way: above it or below it.
pub fn branches(git: &Git, name: &str) -> Told<Vec<Branch>> {
    let format = "--format=%(refname)%00%(objectname)%00%(worktreepath)%00";
    let above = name.match_indices('/').map(|(end, _)| format!("refs/heads/{}", &name[..end]));
    let refs: Vec<String> = above.chain([format!("refs/heads/{name}")]).collect();
    let mut words = vec!["for-each-ref", format, "--end-of-options"];
    words.extend(refs.iter().map(String::as_str));
    patiently(|| {
        let (mut found, mut fields) = (Vec::new(), Vec::new());
        git.ask_each(&words, |field| {
            fields.push(String::from_utf8_lossy(field).into_owned());
            if fields.len() < 3 {
                return;
            }
            let one = std::mem::take(&mut fields);
            let full = one[0].trim_start_matches('\n');
            let is_near =
                refs.iter().any(|name| name == full) || refs.last().is_some_and(|name| full.starts_with(name));
            if let Some(name) = full.strip_prefix("refs/heads/").filter(|_| is_near) {
                let worktree = Some(whole(PathBuf::from(&one[2]))).filter(|path| !path.as_os_str().is_empty());
                found.push(Branch { name: name.to_owned(), commit: one[1].clone(), worktree });
            }
        })?;
        Ok(found)
    })
}

/// Git where it writes.
#[derive(Clone, Debug)]
pub struct Writer {
    program: PathBuf,
    path: OsString,
    folder: PathBuf,
    until: Instant,
}

impl Writer {
    /// For the repository whose files git keeps in that folder, until then.
    pub fn new(git: &Git, path: &OsStr, git_folder: &Path, until: Instant) -> Self {
        Self { program: git.program.clone(), path: path.to_owned(), folder: git_folder.to_owned(), until }
    }

    /// Makes a branch that ends at a commit. It must not be there.
    pub fn make_branch(&self, name: &str, commit: &str) -> Told<()> {
        let (name, none) = (format!("refs/heads/{name}"), "0".repeat(commit.len()));
        self.write(&["update-ref", "-m", "heyaira: a run begins", &name, commit, &none])
    }

    /// Takes a branch away that still ends at that commit, with its settings.
    pub fn remove_branch(&self, name: &str, commit: &str) -> Told<()> {
        self.write(&["update-ref", "-d", &format!("refs/heads/{name}"), commit])?;
        let section = format!("branch.{name}");
        let has_settings = self.ask(&["config", "--local", "--get-regexp", &format!("^{}\\.", pattern(&section))])?;
        if has_settings.code == 0 {
            self.write(&["config", "--local", "--remove-section", &section])?;
        }
        Ok(())
    }

    /// Checks a branch out into a new folder.
    pub fn add(&self, folder: &Path, branch: &str) -> Told<()> {
        let folder =
            folder.to_str().ok_or_else(|| Failure::Failed(None, "the folder's name is no UTF-8".to_owned()))?;
        self.write(&["worktree", "add", "--quiet", "--", folder, branch])
    }

    /// Takes a worktree away with all that is in it, and what git remembers of those that are gone.
    pub fn remove(&self, folder: &Path) -> Told<()> {
        if let Some(name) = folder.to_str() {
            // It is none where its making was broken off, or where it was deleted: the rest sees to that.
            let _ = self.ask(&["worktree", "unlock", "--", name]);
            let _ = self.ask(&["worktree", "remove", "--force", "--force", "--", name]);
        }
        match std::fs::remove_dir_all(folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Failure::Failed(None, format!("{}: {error}", folder.display())));
            }
            _ => {}
        }
        self.write(&["worktree", "prune", "--expire=now"])
    }

    fn write(&self, words: &[&str]) -> Told<()> {
        let said = self.ask(words)?;
        if said.code == 0 { Ok(()) } else { Err(Failure::Failed(Some(said.code), said.err)) }
    }

    /// Asks; again, while another git holds a lock.
    fn ask(&self, words: &[&str]) -> Told<Said> {
        let patient = self.until.min(Instant::now() + LOCKED);
        loop {
            let said = self.once(words)?;
            if said.code == 0 || !(is_locked(&said.err) || is_half_made(&said.err)) || Instant::now() > patient {
                return Ok(said);
            }
            thread::sleep(AGAIN);
        }
    }

    fn once(&self, words: &[&str]) -> Told<Said> {
        let what = format!("git {}", words[..words.len().min(2)].join(" "));
        let mut kept = Vec::new();
        let ended = process::run_group(self.command(words), self.until, &mut |bytes| {
            kept.extend_from_slice(&bytes[..bytes.len().min(KEPT.saturating_sub(kept.len()))]);
            true
        });
        let ended = ended.map_err(|error| match error.kind() {
            std::io::ErrorKind::TimedOut => Failure::Late(what.clone()),
            _ => Failure::Failed(None, format!("{what} cannot be run: {error}")),
        })?;
        Ok(Said { code: ended.code, out: String::from_utf8_lossy(&kept).into_owned(), err: ended.err })
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        // What git takes from its environment may name another repository.
        let is_ours = |name: &OsStr| {
            let name = name.to_string_lossy();
            name.starts_with("GIT_") && !super::TAKEN.contains(&&*name) && !name.starts_with("GIT_LFS_")
        };
        for (name, _) in std::env::vars_os().filter(|(name, _)| is_ours(name) || name == "HEYAIRA_TOKEN") {
            command.env_remove(name);
        }
        command.env("PATH", &self.path).env("LC_ALL", "C").env("GIT_TERMINAL_PROMPT", "0");
        command.env("GIT_ASKPASS", "").env("SSH_ASKPASS", "").env("GIT_EDITOR", ":").env("GIT_PAGER", "cat");
        command.env("GIT_CONFIG_COUNT", SET.len().to_string());
        for (place, (name, value)) in SET.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{place}"), name).env(format!("GIT_CONFIG_VALUE_{place}"), value);
        }
        command.arg("-C").arg(&self.folder).arg("--no-pager").args(words);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

/// What git says of a worktree that another one is making or taking away at this moment.
fn is_half_made(told: &str) -> bool {
    told.contains("failed to read worktrees/")
}

/// What git says of a lock that another one holds. Its own words are asked for in English.
fn is_locked(told: &str) -> bool {
    told.contains(".lock': File exists")
        || told.contains("could not lock config file")
        || told.contains("cannot lock ref") && told.contains("File exists")
}

/// A text as a pattern that fits it alone.
fn pattern(text: &str) -> String {
    let escape = |letter: char| if letter.is_alphanumeric() { letter.to_string() } else { format!("[{letter}]") };
    text.chars().map(|letter| if letter == '^' { "\\^".to_owned() } else { escape(letter) }).collect()
}

/// A failure of git in one line.
pub fn in_words(failure: &Failure) -> String {
    told(failure)
}
