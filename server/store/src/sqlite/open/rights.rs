//! Whether this process may use the database file and the files beside it. Checked before anything is opened: SQLite would
//! report the same later, for one file at a time, and without its name.

use std::path::{Path, PathBuf};

use crate::side_file;
use crate::sqlite::open::error::{OpenError, Right};

/// Files beside the database that are written whenever the database is.
const BESIDE: [&str; 3] = ["-wal", "-shm", ".queue"];

/// Checks the rights that a server needs; with `read_only`, those of READONLY. A missing file is accepted if it could be
/// created.
///
/// # Errors
/// [`OpenError::Denied`] with the first file or folder that is refused, [`OpenError::WorkingFolder`] or [`OpenError::NoFolder`].
pub(crate) fn check(path: &Path, read_only: bool) -> Result<(), OpenError> {
    // The files of a linked database lie beside the link's target.
    let file = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if read_only {
        ask(path, &file, Right::Read)?;
        let log = side_file::named(&file, "-wal");
        let has_calls = std::fs::metadata(&log).is_ok_and(|found| found.len() > 0);
        return if has_calls { ask(path, &log, Right::Read) } else { Ok(()) };
    }
    let folder = file.parent().unwrap_or(Path::new("/"));
    let nearest = folder.ancestors().map(here).find(|folder| folder.exists()).unwrap_or(Path::new("/"));
    if !nearest.is_dir() {
        let (path, target) = (path.display().to_string(), nearest.display().to_string());
        return Err(OpenError::NoFolder { path, target });
    }
    if nearest == Path::new(".")
        && let Some(error) = refusal(nearest, Right::Create)
    {
        let folder = std::env::current_dir().unwrap_or_else(|_| nearest.to_owned());
        let (path, folder) = (path.display().to_string(), folder.display().to_string());
        return Err(OpenError::WorkingFolder { path, folder, reason: error.to_string() });
    }
    ask(path, nearest, Right::Create)?;
    ask(path, &file, Right::ReadAndWrite)?;
    for suffix in BESIDE {
        ask(path, &side_file::named(&file, suffix), Right::ReadAndWrite)?;
    }
    Ok(())
}

/// Returns the file that this process may not read, and why: the database itself, or a file needed to read its log.
pub fn refused_to_read(path: &Path) -> Option<(PathBuf, std::io::Error)> {
    let file = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let log = side_file::named(&file, "-wal");
    let waits = std::fs::metadata(&log).is_ok_and(|found| found.len() > 0);
    let beside = if waits { vec![log, side_file::named(&file, "-shm")] } else { Vec::new() };
    let refused = |file: PathBuf| refusal(&file, Right::Read).map(|error| (file, error));
    refusal(&file, Right::Read)
        .map(|error| (path.to_owned(), error))
        .or_else(|| beside.into_iter().find_map(refused))
}

/// Returns the folder that a relative path without a folder is in.
fn here(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

fn ask(path: &Path, target: &Path, right: Right) -> Result<(), OpenError> {
    let Some(error) = refusal(target, right) else { return Ok(()) };
    let (path, target) = (path.display().to_string(), target.display().to_string());
    Err(OpenError::Denied { path, target, right, reason: error.to_string() })
}

/// Returns why the operating system refuses the user of this process. `None` if it does not, or if it refuses for another
/// reason, which opening the file will report.
#[cfg(unix)]
fn refusal(target: &Path, right: Right) -> Option<std::io::Error> {
    use rustix::fs::{Access, AtFlags, CWD, accessat};
    use rustix::io::Errno;

    let access = match right {
        Right::Read => Access::READ_OK,
        Right::ReadAndWrite => Access::READ_OK | Access::WRITE_OK,
        Right::Create => Access::WRITE_OK | Access::EXEC_OK,
    };
    match accessat(CWD, target, access, AtFlags::EACCESS) {
        Err(refused @ (Errno::ACCESS | Errno::PERM | Errno::ROFS)) => Some(refused.into()),
        _ => None,
    }
}

#[cfg(not(unix))]
fn refusal(_: &Path, _: Right) -> Option<std::io::Error> {
    None
}
