//! The folder of a cluster, which goes when the last process that uses it ends.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::programs::Programs;

/// How long the cluster of a run outlives the test that used it last, in seconds: the next test may be about to start.
const GRACE: u32 = 10;
/// How many bytes the cluster of a run may need: its log, and the databases of the tests that run at a time.
const ROOM: u64 = 2 << 30;
/// A server's user must be able to enter the folder, and only the tests' user may list it.
const RIGHTS: u32 = 0o711;

/// A folder and a lock on it.
#[derive(Debug)]
pub struct Place {
    /// The folder. Servers whose data are in a folder of it end with it.
    pub folder: PathBuf,
    grace: u32,
    /// Held until the process ends; a keeper waits for it.
    _lock: File,
}

impl Place {
    /// The folder that all processes of this build share.
    pub(super) fn shared(programs: &Programs) -> Self {
        let mut hasher = DefaultHasher::new();
        (env!("CARGO_MANIFEST_DIR"), programs.folder(), programs.version).hash(&mut hasher);
        let folder = quick_folder().join(format!("colibri-postgres-{:016x}", hasher.finish()));
        loop {
            match DirBuilder::new().mode(RIGHTS).create(&folder) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::AlreadyExists => own(&folder),
                Err(error) => panic!("{}: {error}", folder.display()),
            }
            // A keeper may remove the folder at any moment before the lock is held.
            if let Some(place) = Self::enter(&folder, GRACE) {
                return place;
            }
        }
    }

    /// A folder for this process alone.
    pub fn private() -> Self {
        let folder = tempfile::Builder::new().prefix("colibri-postgres-").tempdir().expect("a folder").keep();
        std::fs::set_permissions(&folder, Permissions::from_mode(RIGHTS)).expect("the folder is ours");
        let folder = folder.canonicalize().expect("the folder is there");
        Self::enter(&folder, 0).expect("no other process knows the folder")
    }

    /// `None` if a keeper removes the folder at this moment.
    pub(super) fn enter(folder: &Path, grace: u32) -> Option<Self> {
        let path = folder.join("lock");
        let lock = OpenOptions::new().write(true).create(true).truncate(false).open(&path).ok()?;
        lock.lock_shared().expect("the lock can be waited for");
        let locked = lock.metadata().expect("the lock is open");
        let now = std::fs::metadata(&path).ok()?;
        let same = (now.dev(), now.ino()) == (locked.dev(), locked.ino());
        same.then(|| Self { folder: folder.to_owned(), grace, _lock: lock })
    }

    /// Starts a keeper, before anything is put into the folder. A second one does no harm.
    pub fn keep(&self) {
        let mut keeper = Command::new("setsid");
        keeper.args(["--fork", "sh", "-c", include_str!("keeper.sh"), "keeper"]);
        keeper.arg(&self.folder).arg(self.grace.to_string()).current_dir("/");
        let status = keeper.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        assert!(status.expect("setsid starts").success(), "the keeper starts");
    }

    /// Runs one process after the other.
    pub(super) fn alone<T>(&self, work: impl FnOnce() -> T) -> T {
        let making = File::create(self.folder.join("making")).expect("the folder is ours");
        making.lock().expect("the lock can be waited for");
        work()
    }
}

/// A file system in memory, where there is one with room: a new database takes 25 ms there, and 120 ms on a disk. A server
/// that is stopped at once loses nothing there either; only a machine does, and no test stops a machine.
fn quick_folder() -> PathBuf {
    let memory = Path::new("/dev/shm");
    let room = rustix::fs::statvfs(memory).map_or(0, |free| free.f_bavail * free.f_frsize);
    if room >= ROOM && tempfile::tempdir_in(memory).is_ok() {
        return memory.to_owned();
    }
    std::env::temp_dir().canonicalize().expect("the temporary folder is there")
}

/// Another user's folder of that name would lead our passwords to them.
fn own(folder: &Path) {
    let Ok(there) = std::fs::symlink_metadata(folder) else { return };
    let us = std::fs::metadata("/proc/self").expect("Linux").uid();
    assert!(there.is_dir() && there.uid() == us, "{} is another user's: remove it", folder.display());
}
