//! Files of a run's folder, in which a harness may have put anything: regular files alone. Must never follow a link, wait for
//! whoever is at the other end of a pipe, or change a file that has another name elsewhere.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// How much of a file is read; what is larger is none of ours.
const MOST: u64 = 64 * 1024 * 1024;
/// How often it is tried again to make a file where somebody else makes one.
const AGAIN: usize = 5;

/// All of a file.
pub(super) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    open(path)?.take(MOST + 1).read_to_end(&mut text)?;
    if text.len() as u64 > MOST { Err(io::Error::new(ErrorKind::FileTooLarge, "it is too large")) } else { Ok(text) }
}

/// Opens a file for reading.
pub(super) fn open(path: &Path) -> io::Result<File> {
    match at_once(path, OpenOptions::new().read(true)) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied && make_usable(path) => {
            at_once(path, OpenOptions::new().read(true))
        }
        opened => opened,
    }
}

/// Opens a file for reading and for writing at its end.
#[cfg(unix)]
pub(super) fn open_to_append(path: &Path) -> io::Result<File> {
    at_once(path, OpenOptions::new().read(true).append(true))
}

/// Makes a new file, which can be read too, in the place of whatever is there: only its user reads it.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    for _ in 0..AGAIN {
        take_away(path)?;
        match options.open(path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            opened => return opened,
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// Opens a file that is only locked, and makes it where there is none.
#[cfg(unix)]
pub(super) fn lock(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match at_once(path, &mut options) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied && make_usable(path) => at_once(path, &mut options),
        Err(error) if error.kind() != ErrorKind::NotFound && !is_regular(path) => create(path),
        opened => opened,
    }
}

/// True for a regular file, and not for a link to one.
pub(super) fn is_regular(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_file())
}

/// True while that path leads to this very file.
#[cfg(unix)]
pub(super) fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let names = |found: &fs::Metadata| (found.dev(), found.ino());
    let (Ok(own), Ok(there)) = (file.metadata(), path.symlink_metadata()) else { return false };
    names(&own) == names(&there)
}

/// True for a file that has no other name, anywhere.
#[cfg(unix)]
pub(super) fn is_alone(file: &File) -> bool {
    file.metadata().is_ok_and(|found| std::os::unix::fs::MetadataExt::nlink(&found) <= 1)
}

/// Makes a folder, for this user alone, in the place of what is no folder.
pub(super) fn make_folder(path: &Path) -> io::Result<()> {
    if path.symlink_metadata().is_ok_and(|found| !found.is_dir()) {
        fs::remove_file(path)?;
    }
    super::folder::private().create(path)?;
    allow(path, 0o700)
}

/// Takes away what is there, of whatever sort it is. A device is no file that anybody made here.
fn take_away(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(found) if is_device(&found) => Err(io::Error::new(ErrorKind::InvalidInput, "it is a device")),
        Ok(_) => fs::remove_file(path),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(unix)]
fn is_device(found: &fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    found.file_type().is_block_device() || found.file_type().is_char_device()
}

#[cfg(not(unix))]
fn is_device(_found: &fs::Metadata) -> bool {
    false
}

/// Opens a regular file without waiting for anybody.
fn at_once(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
        std::os::unix::fs::OpenOptionsExt::custom_flags(options, flags.cast_signed());
    }
    if !cfg!(unix) && path.symlink_metadata().is_ok_and(|found| !found.is_file()) {
        return Err(no_file());
    }
    let file = options.open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(no_file()) }
}

fn no_file() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, "it is no regular file")
}

/// Gives this user back what a harness took from them: the rights to their own file and to the folder that it is in.
fn make_usable(path: &Path) -> bool {
    let folder = path.parent().is_none_or(|folder| allow(folder, 0o700).is_ok());
    folder && (!is_regular(path) || allow(path, 0o600).is_ok())
}

#[cfg(unix)]
fn allow(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let found = path.symlink_metadata()?;
    if found.is_symlink() || found.permissions().mode() & 0o777 == mode {
        return Ok(());
    }
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "it stands for what Unix has")]
fn allow(_path: &Path, _mode: u32) -> io::Result<()> {
    Ok(())
}
