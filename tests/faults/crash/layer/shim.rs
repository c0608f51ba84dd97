//! Puts the file layer under a server; `tests/shim/files.c` explains the variables.

use std::path::{Path, PathBuf};

use colibri_test_support::client::Launch;

/// Where the build script has put it.
const LIBRARY: &str = env!("COLIBRI_FILE_LAYER");

/// What the layer is to do.
#[derive(Debug, Clone)]
pub struct Layer(Vec<(&'static str, String)>);

/// Operations that fail.
#[derive(Debug, Clone)]
pub struct Fault {
    /// `write`, `sync`, `create`, `open`, `rename` or `unlink`.
    pub class: &'static str,
    /// The error's number.
    pub errno: i32,
    /// The first operation of the class that fails.
    pub first: u64,
    /// How many fail; 0 means all from then on.
    pub count: u64,
    /// The first one writes a half instead.
    pub short: bool,
    /// The end of the file's name, `*` for any.
    pub name: &'static str,
}

/// How syncs are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syncs {
    /// As asked.
    Real,
    /// Recorded, and not waited for.
    Skipped,
    /// Neither done nor recorded.
    Lies,
}

impl Layer {
    /// Over the files of that folder.
    pub fn over(folder: &Path) -> Self {
        let folder = folder.canonicalize().expect("the folder is there");
        Self(vec![("LD_PRELOAD", LIBRARY.to_owned()), ("SHIM_FOLDER", text(folder))])
    }

    /// Appends every operation to that file.
    pub fn record(self, file: &Path) -> Self {
        self.with("SHIM_RECORD", text(file.to_owned()))
    }

    pub fn syncs(self, how: Syncs) -> Self {
        match how {
            Syncs::Real => self,
            Syncs::Skipped => self.with("SHIM_SYNC", "skip".to_owned()),
            Syncs::Lies => self.with("SHIM_SYNC", "lie".to_owned()),
        }
    }

    /// Faults and kills count from that many writes of replies on.
    pub fn armed_after(self, replies: u64) -> Self {
        self.with("SHIM_ARM", replies.to_string())
    }

    pub fn fault(self, fault: &Fault) -> Self {
        let Fault { class, errno, first, count, short, name } = fault;
        self.with("SHIM_FAULT", format!("{class} {errno} {first} {count} {} {name}", u8::from(*short)))
    }

    /// No file grows beyond that.
    pub fn quota(self, bytes: u64) -> Self {
        self.with("SHIM_QUOTA", bytes.to_string())
    }

    /// Every write fails for want of room while that file is there.
    pub fn full_while(self, file: &Path) -> Self {
        self.with("SHIM_FULL", text(file.to_owned()))
    }

    /// No sync begins while that file is there.
    pub fn hold_while(self, file: &Path) -> Self {
        self.with("SHIM_HOLD", text(file.to_owned()))
    }

    /// Records what is written to pipes other than the standard streams.
    pub fn pipes(self) -> Self {
        self.with("SHIM_PIPES", "1".to_owned())
    }

    /// The process ends at its operation of that number, having written half of it if that is a write.
    pub fn kill_at(self, operation: u64, torn: bool) -> Self {
        self.with("SHIM_KILL", format!("{operation} {}", u8::from(torn)))
    }

    /// At these looks at the wall clock it jumps by these milliseconds.
    pub fn clock(self, jumps: &[(u64, i64)]) -> Self {
        let jumps: Vec<String> = jumps.iter().map(|(at, by)| format!("{at} {by}")).collect();
        self.with("SHIM_CLOCK", jumps.join(" "))
    }

    /// The launch of a server over it.
    pub fn under(&self, launch: Launch) -> Launch {
        self.0.iter().fold(launch, |launch, (name, value)| launch.env(name, value))
    }

    fn with(mut self, name: &'static str, value: String) -> Self {
        self.0.push((name, value));
        self
    }
}

fn text(path: PathBuf) -> String {
    path.into_os_string().into_string().expect("UTF-8")
}
