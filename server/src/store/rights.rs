//! Whether this process may use the database file and what lies beside it. Asked before anything is opened: SQLite would
//! say the same later, of one file at a time, and without its name.

use std::path::{Path, PathBuf};

use super::error::OpenError;
use super::side_file;

/// What stands beside the file and is written whenever the file is.
const BESIDE: [&str; 3] = ["-wal", "-shm", ".queue"];

/// What is asked of a file or folder.
#[derive(Clone, Copy)]
enum Right {
    Read,
    ReadAndWrite,
    /// Of a folder: put files into it.
    Create,
}

/// Asks for the rights that a server needs; with `read_only`, for those of READONLY. What is missing is no matter here, as
/// long as it could be made.
///
/// # Errors
/// [`OpenError::Unusable`] with the first file or folder that is refused.
pub(super) fn check(path: &Path, read_only: bool) -> Result<(), OpenError> {
    // The files beside a link stand beside what it leads to.
    let file = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if read_only {
        return ask(path, &file, Right::Read);
    }
    let folder = file.parent().unwrap_or(Path::new("/"));
    let nearest = folder.ancestors().map(here).find(|folder| folder.exists());
    ask(path, nearest.unwrap_or(Path::new("/")), Right::Create)?;
    ask(path, &file, Right::ReadAndWrite)?;
    for suffix in BESIDE {
        ask(path, &side_file::named(&file, suffix), Right::ReadAndWrite)?;
    }
    Ok(())
}

/// The file that keeps this process from reading a database, and why: the database itself, or what a waiting log is read with.
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

/// The folder that a relative path without a folder is in.
fn here(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

fn ask(path: &Path, target: &Path, right: Right) -> Result<(), OpenError> {
    let Some(error) = refusal(target, right) else { return Ok(()) };
    let (verb, remedy) = match right {
        Right::Read => ("read", "let the server's user read it"),
        Right::ReadAndWrite => {
            ("read and write", "let the server's user write it, or set COLIBRI_MODE to READONLY")
        }
        Right::Create => {
            ("write files in", "let the server's user write the folder, or set COLIBRI_DB_PATH to another")
        }
    };
    Err(OpenError::Unusable {
        path: path.display().to_string(),
        reason: format!("this process may not {verb} {}: {error}; {remedy}", target.display()),
    })
}

/// Why the operating system refuses the user of this process; `None` where it does not, or where it refuses for another
/// reason, which is for those who open the file to say.
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
