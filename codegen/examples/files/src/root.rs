//! The folder that is served, and the way to what is below it.
//!
//! A path is opened name by name, each below the folder before it, and no name may be a symbolic link. So no path leads out of the
//! root, even if another program puts a link in its way meanwhile.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

use colibri_runtime::handler::{Failure, Fault};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, openat, statat};
use rustix::io::Errno;

use crate::catalogue::{BadPath, Kind, NotAFolder, NotFound};

/// Where trashed entries go. No path of a client may name it.
pub const TRASH: &str = ".trash";

/// The folder that is served.
#[derive(Debug, Clone)]
pub struct Root(Arc<OwnedFd>);

/// An entry: the folder that holds it, and its name in there.
pub struct Entry<'a> {
    /// The path as the client wrote it.
    pub path: &'a str,
    /// The folder.
    pub folder: OwnedFd,
    /// The name.
    pub name: &'a str,
}

/// Why a path leads nowhere: what all tools answer with.
#[derive(Debug)]
pub enum Refusal {
    BadPath(BadPath),
    NotFound(NotFound),
    NotAFolder(NotAFolder),
    Failed(io::Error),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

impl From<Errno> for Refusal {
    fn from(error: Errno) -> Self {
        Self::Failed(error.into())
    }
}

/// Each tool's error takes the three that every tool declares.
impl<E: From<BadPath> + From<NotFound> + From<NotAFolder>> From<Refusal> for Failure<E> {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::BadPath(error) => Self::Domain(error.into()),
            Refusal::NotFound(error) => Self::Domain(error.into()),
            Refusal::NotAFolder(error) => Self::Domain(error.into()),
            Refusal::Failed(error) => Self::Fault(Fault::Other(format!("the system refused: {error}"))),
        }
    }
}

impl Root {
    /// Opens the folder.
    pub fn open(path: &Path) -> io::Result<Self> {
        let folder = rustix::fs::open(path, FOLDER, Mode::empty());
        let folder = folder.map_err(|error| io::Error::other(format!("{}: {error}", path.display())))?;
        Ok(Self(Arc::new(folder)))
    }

    /// Opens a folder by its path; a dot is the root itself.
    pub fn folder(&self, path: &str) -> Result<OwnedFd, Refusal> {
        if path == "." {
            return Ok(self.0.try_clone()?);
        }
        let Entry { folder, name, .. } = self.entry(path)?;
        let walk = Walk { path, done: path.rfind('/').map_or("", |end| &path[..end]) };
        walk.step(&folder, name)
    }

    /// Finds the folder of an entry, which need not be there itself.
    pub fn entry<'a>(&self, path: &'a str) -> Result<Entry<'a>, Refusal> {
        if let Some(reason) = fault_of(path) {
            return Err(Refusal::BadPath(BadPath { path: path.to_owned(), reason: reason.to_owned() }));
        }
        let mut folder = self.0.try_clone()?;
        let mut done = 0;
        let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
        for step in above.split('/').filter(|step| !step.is_empty()) {
            folder = Walk { path, done: &path[..done] }.step(&folder, step)?;
            done += step.len() + usize::from(done > 0);
        }
        Ok(Entry { path, folder, name })
    }

    /// Opens the folder of the trash, and makes it if it is not there yet.
    pub fn trash(&self) -> Result<OwnedFd, Refusal> {
        match rustix::fs::mkdirat(&self.0, TRASH, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => Walk { path: TRASH, done: "" }.step(&self.0, TRASH),
            Err(error) => Err(error.into()),
        }
    }
}

impl Entry<'_> {
    /// Looks at the entry itself. A symbolic link is refused.
    pub fn look(&self) -> Result<Stat, Refusal> {
        let found = self.peek()?;
        found.ok_or_else(|| {
            let folder = self.path.rsplit_once('/').map_or(".", |(above, _)| above);
            Refusal::NotFound(NotFound { path: self.path.to_owned(), folder: folder.to_owned() })
        })
    }

    /// Looks at the entry, which may be missing.
    pub fn peek(&self) -> Result<Option<Stat>, Refusal> {
        match statat(&self.folder, self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if kind_of(&stat) == FileType::Symlink => Err(linked(self.path)),
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens the entry. A symbolic link that has come meanwhile is refused.
    pub fn open(&self, flags: OFlags) -> Result<OwnedFd, Refusal> {
        // Without O_NONBLOCK, opening a pipe would wait for its other end.
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        match openat(&self.folder, self.name, flags, Mode::from_raw_mode(0o644)) {
            Ok(file) => Ok(file),
            Err(Errno::LOOP) => Err(linked(self.path)),
            Err(error) => Err(error.into()),
        }
    }
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// On the way along a path.
struct Walk<'a> {
    path: &'a str,
    /// The part that leads to the folder that was reached.
    done: &'a str,
}

impl Walk<'_> {
    fn step(&self, folder: impl AsFd, name: &str) -> Result<OwnedFd, Refusal> {
        let folder = folder.as_fd();
        let error = match openat(folder, name, FOLDER | OFlags::NOFOLLOW, Mode::empty()) {
            Ok(next) => return Ok(next),
            Err(error) => error,
        };
        let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
        let path = self.path.to_owned();
        Err(match (error, stat) {
            (_, Ok(stat)) if kind_of(&stat) == FileType::Symlink => linked(self.path),
            (Errno::NOENT, _) => {
                let folder = if self.done.is_empty() { "." } else { self.done };
                Refusal::NotFound(NotFound { path, folder: folder.to_owned() })
            }
            (Errno::NOTDIR, _) => Refusal::NotAFolder(NotAFolder { path }),
            (error, _) => error.into(),
        })
    }
}

fn linked(path: &str) -> Refusal {
    Refusal::BadPath(BadPath { path: path.to_owned(), reason: "leads through a symbolic link".to_owned() })
}

/// Why no client may write the path.
fn fault_of(path: &str) -> Option<&'static str> {
    let mut names = path.split('/');
    let first = names.clone().next();
    match () {
        () if path.starts_with('/') => Some("is absolute"),
        () if path.contains('\0') => Some("holds U+0000"),
        () if names.clone().any(|name| name == "..") => Some("holds .."),
        () if names.any(|name| name.is_empty() || name == ".") => Some("holds an empty name or a dot"),
        () if first == Some(TRASH) => Some("is in the trash"),
        () => None,
    }
}

/// Returns what an entry is.
pub fn kind_of(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

/// Returns what an entry is, as clients read it.
pub fn kind(stat: &Stat) -> Kind {
    match kind_of(stat) {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Folder,
        _ => Kind::Other,
    }
}

/// Returns how many bytes a file has; other entries have none.
pub fn bytes(stat: &Stat) -> i64 {
    if kind(stat) == Kind::File { stat.st_size } else { 0 }
}
