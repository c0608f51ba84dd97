//! Files that their owner alone can read (mode 0600 where the system has modes): the database, the files beside it, and
//! every file that a command writes. What is in the database is in an export or a backup too. No other code of the server
//! creates files.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// Creates a file. One that is there already is left as it is.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`], and the operating system's other reasons.
pub fn create_new(path: &Path) -> io::Result<File> {
    options().create_new(true).open(path)
}

/// Opens a file with what it holds, or creates an empty one.
///
/// # Errors
/// The operating system's.
pub(crate) fn open_or_create(path: &Path) -> io::Result<File> {
    options().create(true).truncate(false).open(path)
}

/// Creates a folder. One that is there already belongs to another process, and is left as it is.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`], and the operating system's other reasons.
pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(path)
}

/// Checks that a path is a folder, not a link to one, and belongs to the user of this process.
#[cfg(unix)]
pub(crate) fn is_own_folder(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let own = rustix::process::geteuid().as_raw();
    path.symlink_metadata().is_ok_and(|found| found.is_dir() && found.uid() == own)
}

/// Checks that a path is a folder. Temporary folders of such systems belong to one user.
#[cfg(not(unix))]
pub(crate) fn is_own_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_dir())
}

/// Checks that this process may create files in a folder.
///
/// # Errors
/// The operating system's refusal.
#[cfg(unix)]
pub fn takes_files(folder: &Path) -> io::Result<()> {
    use rustix::fs::{Access, AtFlags, CWD, accessat};

    Ok(accessat(CWD, folder, Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS)?)
}

/// Creating the file will report what is refused.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn takes_files(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Returns the most bytes that a file may have which this process writes (`ulimit -f`); `None` without a limit.
#[cfg(unix)]
pub fn longest() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Fsize).current
}

/// Returns `None`: such systems have no limit.
#[cfg(not(unix))]
pub fn longest() -> Option<u64> {
    None
}

/// Renames a file unless the new name is taken.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`], and the operating system's other reasons.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
pub(crate) fn move_new(new: &Path, file: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, new, CWD, file, RenameFlags::NOREPLACE)?)
}

/// Renames a file unless the new name is taken.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`], and the operating system's other reasons.
#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
pub(crate) fn move_new(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options
}
