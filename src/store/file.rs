//! The database's files: private to their owner, and the lock beside them. Must never widen a permission.

use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

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

/// A file that was opened: its path, and which file that was.
#[derive(Clone, Debug)]
pub struct Opened {
    path: PathBuf,
    identity: Option<(u64, u64)>,
}

impl Opened {
    /// The file that is at `path` now.
    pub fn at(path: &Path) -> Self {
        Self { path: path.to_owned(), identity: identity(path) }
    }

    /// Refuses once another file, or none, is at the path: what is written to the old one, nobody will ever read.
    pub fn check(&self) -> Result<()> {
        if identity(&self.path) == self.identity {
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
}

/// Which file is at a path; where the platform does not tell, every file is taken for the same.
#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    path.metadata().ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(_path: &Path) -> Option<(u64, u64)> {
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
pub fn keep_private(database: &Path) -> Result<()> {
    #[cfg(unix)]
    for path in [database.to_owned(), beside(database, "wal"), beside(database, "shm")] {
        use std::os::unix::fs::PermissionsExt;
        let Ok(metadata) = path.metadata() else { continue };
        let mode = metadata.permissions().mode();
        if mode & 0o077 != 0 {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode & 0o700))
                .map_err(|error| failed("make private", &path, &error))?;
        }
    }
    Ok(())
}

fn private(options: &mut OpenOptions) {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
}

fn beside(database: &Path, ending: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(format!("-{ending}"));
    PathBuf::from(name)
}
