//! A home and a repository of their own for each test, and the set-up of a client in them by library calls.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use heyaira::client::Client;
use heyaira::client::place::{Places, Platform};
use heyaira::client::setup::execution::{Ready, Step, Undoing, carry_out, prepare, prepare_undo, undo};
use heyaira::client::setup::record::{Record, User};
use heyaira::client::setup::server::Server;
use heyaira::client::setup::{Change, Part, Repository, Request, Scope, plan};
use heyaira::error::Result;

/// Every file, folder and link below a folder: what it holds and its mode.
pub type Snapshot = BTreeMap<PathBuf, (String, Vec<u8>)>;

/// A home with a repository in it.
pub struct Ground {
    folder: tempfile::TempDir,
    /// Who is set up.
    pub client: Client,
    /// For whom.
    pub scope: Scope,
    /// The program that entries start.
    pub program: &'static str,
}

impl Ground {
    /// An empty home.
    pub fn new(client: Client, scope: Scope) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir_all(folder.path().join("home/repo/.git")).expect("a repository");
        Self { folder, client, scope, program: "heyaira" }
    }

    /// The home folder.
    pub fn home(&self) -> PathBuf {
        fs::canonicalize(self.folder.path()).expect("a path").join("home")
    }

    /// The repository.
    pub fn repository(&self) -> PathBuf {
        self.home().join("repo")
    }

    fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    /// The plan of the set-up.
    pub fn plan(&self) -> Vec<Change> {
        let places = Places::new(Platform::Linux, &self.home(), |_| None);
        let root = self.repository();
        let profile = Some((root.join("heyaira.toml"), "project = \"ledger\"\n".to_owned()));
        let repository = Repository { root, block: Some("The profile.\n\n- project: ledger".to_owned()), profile };
        let none = || Vec::new();
        let server =
            Server { program: self.program.to_owned(), arguments: none(), variables: none(), hook_arguments: none() };
        plan(&Request {
            client: self.client,
            scope: self.scope,
            places: &places,
            repository: Some(&repository),
            server: &server,
            without: &[],
            read: &|path| fs::read_to_string(path).ok(),
        })
    }

    /// The file of the entry that starts the server.
    pub fn servers(&self) -> PathBuf {
        let found = self.plan().into_iter().find(|change| change.part == Part::Server);
        found.expect("an entry of a server").path
    }

    /// What would be written.
    pub fn prepare(&self, force: bool) -> Result<Vec<Ready>> {
        prepare(&self.plan(), &Record::read(&self.state())?, force)
    }

    /// Sets up.
    pub fn set_up(&self) -> Result<()> {
        self.set_up_until(usize::MAX)
    }

    /// Sets up and is interrupted after so many steps.
    pub fn set_up_until(&self, steps: usize) -> Result<()> {
        let mut record = Record::hold(&self.state())?;
        let ready = prepare(&self.plan(), &record, false)?;
        carry_out(&ready, &mut record, &mut interrupt(steps))
    }

    /// Takes the set-up back.
    pub fn undo(&self) -> Result<Vec<(PathBuf, Undoing)>> {
        self.undo_until(usize::MAX)
    }

    /// Takes back and is interrupted after so many steps.
    pub fn undo_until(&self, steps: usize) -> Result<Vec<(PathBuf, Undoing)>> {
        let mut record = Record::hold(&self.state())?;
        let is_undone = |user: &User| user.client == self.client.name();
        let plan = prepare_undo(&record, &is_undone)?;
        undo(&plan, &mut record, &is_undone, &mut interrupt(steps))?;
        Ok(plan.into_iter().map(|(one, undoing)| (one.path, undoing)).collect())
    }

    /// Everything in the home.
    pub fn snapshot(&self) -> Snapshot {
        let mut found = Snapshot::new();
        add(&self.home(), &mut found);
        found
    }

    /// The names of the files in the record's folder.
    pub fn kept(&self) -> Vec<String> {
        let entries = fs::read_dir(self.state()).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().into_string().ok()).filter(|name| name != "lock").collect()
    }
}

/// Puts a file into its place.
pub fn put(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
    fs::write(path, bytes).expect("a file");
}

/// Ends the work after so many steps.
fn interrupt(steps: usize) -> impl FnMut(&Ready, Step) -> Result<()> {
    let mut left = steps;
    move |_, _| {
        left = left.checked_sub(1).ok_or_else(|| heyaira::error::Refusal::argument("interrupted"))?;
        Ok(())
    }
}

fn add(folder: &Path, found: &mut Snapshot) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        let metadata = fs::symlink_metadata(&path).expect("metadata");
        let told = format!("{:?} {:?}", metadata.file_type(), metadata.permissions());
        let bytes = if metadata.is_file() {
            fs::read(&path).expect("a file")
        } else if metadata.is_symlink() {
            fs::read_link(&path).expect("a link").into_os_string().into_encoded_bytes()
        } else {
            add(&path, found);
            Vec::new()
        };
        found.insert(path, (told, bytes));
    }
}
