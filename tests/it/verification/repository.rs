//! Repositories in temporary folders, made by git with fixed identities and dates and nobody's settings.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Leaves the settings of the machine out.
pub(crate) fn only_our_settings(command: &mut Command) {
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
}

/// A repository with a commit on `main` and one more on `feat/x`, which is checked out.
pub(crate) struct Repository {
    pub(crate) folder: PathBuf,
    pub(crate) base: String,
    pub(crate) result: String,
}

impl Repository {
    /// In a new folder of that name.
    pub(crate) fn new(under: &Path, name: &str) -> Self {
        Self::with(under, name, &[])
    }

    /// The same, made with further words for `git init`.
    pub(crate) fn with(under: &Path, name: &str, words: &[&str]) -> Self {
        let folder = under.join(name);
        std::fs::create_dir(&folder).expect("a folder");
        git(&folder, &[&["init", "--quiet", "--initial-branch=main"], words].concat());
        let repository = Self { folder, base: String::new(), result: String::new() };
        let base = repository.commit("README", "one\n");
        repository.git(&["switch", "--quiet", "--create", "feat/x"]);
        let result = repository.commit("src.txt", "two\n");
        Self { base, result, ..repository }
    }

    /// What git says in it.
    pub(crate) fn git(&self, words: &[&str]) -> String {
        git(&self.folder, words)
    }

    /// Writes a file.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.folder.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("written");
    }

    /// Commits a file; answers the commit.
    pub(crate) fn commit(&self, name: &str, text: &str) -> String {
        self.write(name, text);
        self.git(&["add", "--", name]);
        self.git(&["commit", "--quiet", "--message", name]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Makes a bare repository beside it, names it `origin` and pushes these branches there.
    pub(crate) fn push(&self, branches: &[&str]) -> PathBuf {
        let origin = self.folder.with_extension("git");
        std::fs::create_dir(&origin).expect("a folder");
        git(&origin, &["init", "--quiet", "--bare", "--initial-branch=main"]);
        self.git(&["remote", "add", "origin", origin.to_str().expect("UTF-8")]);
        self.git(&[&["push", "--quiet", "--set-upstream", "origin"], branches].concat());
        origin
    }

    /// A clone of its origin beside it.
    pub(crate) fn clone_with(&self, words: &[&str]) -> PathBuf {
        let clone = self.folder.with_extension("clone");
        let origin = format!("file://{}", self.folder.with_extension("git").display());
        let all = [&["clone", "--quiet"], words, &[&origin, clone.to_str().expect("UTF-8")]].concat();
        git(self.folder.parent().expect("a folder"), &all);
        clone
    }
}

/// What git says in a folder; it must succeed.
pub(crate) fn git(folder: &Path, words: &[&str]) -> String {
    let output = command(folder, words).output().expect("git runs");
    assert!(output.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8").trim_end().to_owned()
}

/// Git with fixed identities and dates.
pub(crate) fn command(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new("git");
    command.current_dir(folder).args(["-c", "protocol.file.allow=always"]).args(words);
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "Maria").env(format!("GIT_{who}_EMAIL"), "maria@example.org");
        command.env(format!("GIT_{who}_DATE"), "2026-11-25T08:00:00Z");
    }
    only_our_settings(&mut command);
    command
}
