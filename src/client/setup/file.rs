//! Files of other programs: looked at, and replaced whole. Must never write through a temporary state that a reader could
//! meet, nor change a mode, an owner or a link.

use std::fs::{self, File, OpenOptions};
use std::io::{Error, ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::client::setup::edit::Problem;

/// A file of settings is never that large; what is may be something else.
const LARGEST: u64 = 64 << 20;

/// A file as it is now.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Where it is, behind all links.
    pub target: PathBuf,
    /// What it holds, or nothing if there is none.
    pub bytes: Option<Vec<u8>>,
}

/// Looks at a file; links are followed, and what cannot be edited is told.
pub fn look(path: &Path) -> Result<Seen, Problem> {
    let unreadable = |error: &Error| Problem::new(format!("cannot be read: {error}"), "Check its permissions.");
    let found = match fs::symlink_metadata(path) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound) => return Ok(absent(path)),
        Err(error) => return Err(unreadable(&error)),
        Ok(found) => found,
    };
    let target = match fs::canonicalize(path) {
        Err(error) if error.kind() == ErrorKind::NotFound && found.is_symlink() => {
            return Err(Problem::new("is a link to a file that is not there", "Make that file, or remove the link."));
        }
        target => target.map_err(|error| unreadable(&error))?,
    };
    let metadata = fs::metadata(&target).map_err(|error| unreadable(&error))?;
    if !metadata.is_file() {
        return Err(Problem::new("is no regular file", "Move it away."));
    }
    if metadata.len() > LARGEST {
        return Err(Problem::new("is larger than 64 MiB", "Check what it is; no file of settings is that large."));
    }
    let bytes = fs::read(&target).map_err(|error| unreadable(&error))?;
    Ok(Seen { target, bytes: Some(bytes) })
}

/// A file that is not there yet; the folders on the way to it may be links.
fn absent(path: &Path) -> Seen {
    let parent = path.ancestors().skip(1).find_map(|folder| Some((folder, fs::canonicalize(folder).ok()?)));
    let target = parent.and_then(|(folder, real)| path.strip_prefix(folder).ok().map(|rest| real.join(rest)));
    Seen { target: target.unwrap_or_else(|| path.to_owned()), bytes: None }
}

/// What hinders a change of a file: that it, or its folder, is read-only.
pub fn check_writable(seen: &Seen) -> Result<(), Problem> {
    let is_read_only = |path: &Path| fs::metadata(path).is_ok_and(|found| found.permissions().readonly());
    if seen.bytes.is_some() && is_read_only(&seen.target) {
        let next = format!("If you want it changed: chmod u+w {}", seen.target.display());
        return Err(Problem::new("is read-only", next));
    }
    let folder = seen.target.ancestors().skip(1).find(|folder| folder.exists());
    match folder {
        Some(folder) if !folder.is_dir() => {
            Err(Problem::new(format!("cannot be made: {} is no folder", folder.display()), "Move that away."))
        }
        Some(folder) if cfg!(unix) && is_read_only(folder) => {
            let next = format!("If you want it changed: chmod u+w {}", folder.display());
            Err(Problem::new("is in a read-only folder", next))
        }
        _ => Ok(()),
    }
}

/// The folders that must be made for a file, outermost first.
pub fn missing_folders(target: &Path) -> Vec<PathBuf> {
    let missing = target.ancestors().skip(1).take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
    let mut folders: Vec<PathBuf> = missing.map(Path::to_owned).collect();
    folders.reverse();
    folders
}

/// Puts a whole file in the place of another, or where none was; its mode and owner stay.
pub fn replace(target: &Path, bytes: &[u8]) -> Result<(), Error> {
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder)?;
    }
    let beside = beside(target);
    let written = write_beside(target, &beside, bytes).and_then(|()| fs::rename(&beside, target));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

fn write_beside(target: &Path, beside: &Path, bytes: &[u8]) -> Result<(), Error> {
    let found = fs::metadata(target).ok();
    let mut options = OpenOptions::new();
    options.create_new(true).write(true);
    // Whoever opens a file keeps it open: nobody else may until it has the mode of the one that it replaces.
    #[cfg(unix)]
    if found.is_some() {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    let mut file = options.open(beside)?;
    file.write_all(bytes)?;
    if let Some(found) = found {
        keep_owner(&found, &file);
        file.set_permissions(found.permissions())?;
    }
    file.sync_all()
}

/// Whoever sets up with the rights of another leaves that one's files with their owner.
#[cfg(unix)]
fn keep_owner(found: &fs::Metadata, beside: &File) {
    use std::os::unix::fs::MetadataExt;
    let differs = beside.metadata().is_ok_and(|made| (made.uid(), made.gid()) != (found.uid(), found.gid()));
    if differs && let Err(error) = std::os::unix::fs::fchown(beside, Some(found.uid()), Some(found.gid())) {
        tracing::warn!(%error, "the owner of a file cannot be kept");
    }
}

#[cfg(not(unix))]
fn keep_owner(_: &fs::Metadata, _: &File) {}

/// A name beside a file that no other process takes.
fn beside(target: &Path) -> PathBuf {
    let mut name = target.as_os_str().to_owned();
    name.push(format!(".heyaira-{}", std::process::id()));
    PathBuf::from(name)
}

/// Puts a file back that is gone, with its folders; only its owner can read it.
pub fn restore(target: &Path, bytes: &[u8]) -> Result<(), Error> {
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder)?;
    }
    write_private(target, bytes)
}

/// Writes a file that only its owner can read.
pub fn write_private(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let beside = beside(path);
    let written = open_private(&beside).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&beside, path)
    });
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

/// A new file, or an emptied one, of mode 0600.
pub fn open_private(path: &Path) -> Result<File, Error> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Makes a folder of mode 0700, with those on the way to it.
pub fn make_private_folder(path: &Path) -> Result<(), Error> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}
