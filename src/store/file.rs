//! The database's files: private to their owner, and the lock beside them. Must never widen a permission.

use std::fs::{self, File, OpenOptions};
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

/// Makes a new file readable by its owner only; refuses to overwrite.
pub fn new_private(path: &Path) -> Result<()> {
    let mut options = OpenOptions::new();
    options.create_new(true).write(true);
    private(&mut options);
    options.open(path).map(drop).map_err(|error| failed("make the new file", path, &error))
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
