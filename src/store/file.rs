//! The database's files: private to their owner, and the lock beside them. Must never widen a permission.

use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
#[cfg(unix)]
use std::sync::{Mutex, PoisonError};

use crate::error::{Code, Refusal, Result};

/// A file operation that failed, in our words.
pub fn failed(what: &str, path: &Path, error: &std::io::Error) -> Refusal {
    Refusal::new(
        Code::Unavailable,
        format!("cannot {what} {}: {error}", path.display()),
        "Check the path, its permissions and the free space.",
    )
}

/// Makes the folder of the database, readable by its owner only if it is new.
pub fn prepare_folder(database: &Path) -> Result<()> {
    let Some(folder) = database.parent().filter(|folder| !folder.as_os_str().is_empty()) else {
        return Ok(());
    };
    if folder.is_dir() {
        return Ok(());
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|error| failed("make the folder", folder, &error))
}

/// Opens or makes the lock file beside the database.
pub fn lock_file(database: &Path) -> Result<File> {
    let path = beside(database, "lock");
    let mut options = OpenOptions::new();
    options.create(true).write(true).truncate(false);
    private(&mut options);
    options.open(&path).map_err(|error| failed("open", &path, &error))
}

/// A database that was opened: its path, and which files those were, the database's, its log's and the log's index.
///
/// The log and its index appear with the first connection and stay the same files until the last one closes: checkpoints
/// empty the log in place. So another file at their paths, or none, is always a stranger's doing.
#[derive(Clone, Debug)]
pub struct Opened {
    path: PathBuf,
    log: PathBuf,
    index: PathBuf,
    database_identity: Option<Identity>,
    log_identity: Option<Identity>,
    index_identity: Option<Identity>,
    header: Option<Arc<File>>,
}

impl Opened {
    /// The database that is at `path` now. A connection that has read from it must be open: then its log is there.
    pub fn at(path: &Path) -> Self {
        let (log, index) = (beside(path, "wal"), beside(path, "shm"));
        Self {
            database_identity: identity(path),
            log_identity: identity(&log),
            index_identity: identity(&index),
            header: header_of(path),
            path: path.to_owned(),
            log,
            index,
        }
    }

    /// The database.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Refuses once another database, or none, is at the path: what is written to the old one, nobody will ever read.
    pub fn check(&self) -> Result<()> {
        if identity(&self.path) == self.database_identity {
            return Ok(());
        }
        Err(Refusal::new(
            Code::Unavailable,
            format!("the database {} was deleted or replaced while it was in use", self.path.display()),
            "Nothing was written. Call again to use the file that is there now; compare server_identity with the \
             connection profile first.",
        )
        .with("retry_after_seconds", 1))
    }

    /// Refuses, too, once the log is another file: then other processes read and write without what is in ours. Readers
    /// ask this before they read: a look at a log that nobody else writes any more would be stale.
    pub fn check_log(&self) -> Result<()> {
        self.check()?;
        is_same(&self.log, self.log_identity)
    }

    /// Refuses, too, once the index of the log is another file: two indexes of one log know nothing of each other's
    /// writes, and overwrite them.
    pub fn check_files(&self) -> Result<()> {
        self.check_log()?;
        is_same(&self.index, self.index_identity)
    }

    /// Refuses, too, once another database was copied over this one: the same file, and no longer one with a log. Only
    /// what says of itself that it has none is told from what was here, as all copies of `heyaira backup` do.
    ///
    /// The writer asks this under the file lock, before a transaction and after its commit. Every process does, so what
    /// was acknowledged is where all others find it, or the files were taken away later, which the next writer sees.
    pub fn check_content(&self) -> Result<()> {
        self.check_files()?;
        match &self.header {
            Some(header) if says_logged(header) == Some(false) => Err(Refusal::new(
                Code::Damaged,
                format!("the database {} was overwritten while it was in use", self.path.display()),
                format!("Nothing was written. {}", mend(&self.path)),
            )),
            _ => Ok(()),
        }
    }

    /// What is to be told of a group that was committed into files that are no longer the ones at the path.
    pub fn check_after_commit(&self) -> Result<()> {
        let uncertain = "Whether this was written is uncertain: once heyaira runs again, read before you write again.";
        self.check()?;
        self.check_content()
            .map_err(|refusal| Refusal { next: refusal.next.replace("Nothing was written.", uncertain), ..refusal })
    }

    /// True if the database is the one that was opened, and its log is not.
    pub fn log_is_lost(&self) -> bool {
        self.check().is_ok() && self.check_log().is_err()
    }

    /// True if somebody has written into a log that is not ours.
    pub fn log_is_in_use(&self) -> bool {
        self.log.metadata().is_ok_and(|log| log.len() > 0)
    }
}

/// Refuses once another file, or none, is where one beside the database was.
fn is_same(path: &Path, opened: Option<Identity>) -> Result<()> {
    if identity(path) == opened {
        return Ok(());
    }
    Err(Refusal::new(
        Code::Unavailable,
        format!("{}, which belongs to the database, was deleted or replaced while it was in use", path.display()),
        "Nothing was written. Stop every heyaira process that uses this database, then start again. If what was written \
         last is not there then, it is in a copy beside the database, of the name that the server's log tells.",
    ))
}

/// Refuses a database that has a log beside it which is not its own: `SQLite` would write the log of the file that was
/// there before into the one that is there now, which destroys it.
///
/// A database that has a log says so in its header before the log is made. One that says it has none was put there, as
/// every copy of `heyaira backup`, and what lies beside it belonged to another.
pub fn refuse_foreign_log(path: &Path) -> Result<()> {
    // Looked for first: a database that is being set up says that it has a log before it has one.
    let Some(beside) = [beside(path, "wal"), beside(path, "shm")].into_iter().find(|path| path.exists()) else {
        return Ok(());
    };
    if header_of(path).is_none_or(|header| says_logged(&header) != Some(false)) {
        return Ok(());
    }
    Err(Refusal::new(
        Code::Unavailable,
        format!("{} belongs to another database than the one that is at {} now", beside.display(), path.display()),
        format!("Nothing was changed. {}", mend(path)),
    ))
}

/// How a database is put right that was replaced by hand.
fn mend(path: &Path) -> String {
    format!(
        "Stop every heyaira process that uses it, move {0}-wal and {0}-shm away, with the database if it is damaged, \
         and start again; keep them, as they may hold the last writes of the database that was there before. A backup \
         is put back, also while servers run, with heyaira restore FILE --same-instance.",
        path.display()
    )
}

/// Which file something is: device and number.
type Identity = (u64, u64);

/// Which file is at a path; where the platform does not tell, every file is taken for the same.
#[cfg(unix)]
fn identity(path: &Path) -> Option<Identity> {
    path.metadata().ok().map(|metadata| number(&metadata))
}

#[cfg(not(unix))]
fn identity(_path: &Path) -> Option<Identity> {
    None
}

/// True if two paths lead to one file, whatever links are between.
pub fn is_one_file(one: &Path, other: &Path) -> bool {
    let whole = |path: &Path| path.canonicalize().ok();
    let by_identity = identity(one).is_some_and(|found| Some(found) == identity(other));
    by_identity || whole(one).is_some_and(|found| Some(found) == whole(other))
}

#[cfg(unix)]
fn number(metadata: &fs::Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

/// The database at a path, to read its header.
///
/// It is never closed: on Unix, closing a file takes away all locks that the process has on it, `SQLite`'s own
/// included. One is kept for each file that was ever at the path, which are as many as were put there.
#[cfg(unix)]
fn header_of(path: &Path) -> Option<Arc<File>> {
    static KEPT: Mutex<Vec<(Identity, Arc<File>)>> = Mutex::new(Vec::new());
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let wanted = identity(path)?;
    if let Some((_, file)) = kept.iter().find(|(identity, _)| *identity == wanted) {
        return Some(Arc::clone(file));
    }
    let file = Arc::new(File::open(path).ok()?);
    kept.push((number(&file.metadata().ok()?), Arc::clone(&file)));
    Some(file)
}

#[cfg(not(unix))]
fn header_of(_path: &Path) -> Option<Arc<File>> {
    None
}

/// Whether a database says that it has a log; `None` if it is none or is empty.
#[cfg(unix)]
fn says_logged(header: &File) -> Option<bool> {
    use std::os::unix::fs::FileExt;
    let mut bytes = [0; 20];
    header.read_exact_at(&mut bytes, 0).ok()?;
    bytes.starts_with(b"SQLite format 3\0").then(|| bytes[18..] != [1, 1])
}

#[cfg(not(unix))]
fn says_logged(_header: &File) -> Option<bool> {
    None
}

/// Makes a new file readable by its owner only; refuses to overwrite.
pub fn new_private(path: &Path) -> Result<()> {
    let mut options = OpenOptions::new();
    options.create_new(true).write(true);
    private(&mut options);
    options.open(path).map(drop).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Refusal::argument(format!("there is a file {} already", path.display())),
        _ => failed("make the new file", path, &error),
    })
}

/// Takes other people's permissions away from the database and the files beside it.
///
/// Elsewhere than on Unix a file has the permissions of its folder.
#[cfg(not(unix))]
pub fn keep_private(_database: &Path) -> Result<()> {
    Ok(())
}

/// Takes other people's permissions away from the database and the files beside it.
#[cfg(unix)]
pub fn keep_private(database: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    for path in [database.to_owned(), beside(database, "wal"), beside(database, "shm")] {
        let Ok(metadata) = path.metadata() else { continue };
        let mode = metadata.permissions().mode();
        if mode & 0o077 != 0 {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode & 0o700))
                .map_err(|error| failed("make private", &path, &error))?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn private(options: &mut OpenOptions) {
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
}

#[cfg(not(unix))]
fn private(_options: &mut OpenOptions) {}

/// A file beside the database.
pub fn beside(database: &Path, ending: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(format!("-{ending}"));
    PathBuf::from(name)
}
