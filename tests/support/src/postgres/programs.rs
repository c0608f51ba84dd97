//! PostgreSQL's programs on this machine, and how they are started.

use std::ffi::OsString;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Says where the programs are: a folder, or `require` for a run that must not skip their tests.
pub const VARIABLE: &str = "COLIBRI_TEST_POSTGRES";

/// Where Debian has a folder a version.
const DEBIAN: &str = "/usr/lib/postgresql";
/// The first version that Colibri supports.
const OLDEST: u32 = 15;
/// Root starts the programs as this user, `nobody`, since they refuse to run as root.
const UNPRIVILEGED: u32 = 65534;

/// PostgreSQL's programs in one version.
#[derive(Debug)]
pub struct Programs {
    folder: PathBuf,
    /// The major version.
    pub version: u32,
}

impl Programs {
    /// Returns the programs that the tests use. Without any it prints how to install them and returns `None`, and the
    /// test passes as skipped; with `COLIBRI_TEST_POSTGRES=require` it fails.
    pub fn find() -> Option<&'static Self> {
        static FOUND: OnceLock<Result<Programs, String>> = OnceLock::new();
        match FOUND.get_or_init(search) {
            Ok(programs) => Some(programs),
            Err(reason) => {
                let asked = std::env::var_os(VARIABLE).is_some();
                assert!(!asked, "{VARIABLE} is set, but {reason}");
                eprintln!(
                    "skipped: {reason}. Install PostgreSQL {OLDEST} or later (Debian: postgresql), or let {VARIABLE} \
                     name the folder of its programs"
                );
                None
            }
        }
    }

    /// The folder they are in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A command of that program, or of another one by its path, with no input, in a process group of its own: an interrupt at
    /// the terminal is for the tests, which then end the server. As root it is started for another user.
    pub fn command(&self, program: &str) -> Command {
        self.command_behind(&[], program)
    }

    /// The same behind other words, such as those that enter a namespace.
    pub(super) fn command_behind(&self, words: &[String], program: &str) -> Command {
        let user = UNPRIVILEGED.to_string();
        let unprivileged = ["setpriv", "--reuid", &user, "--regid", &user, "--clear-groups", "--"];
        let unprivileged = if is_root() { &unprivileged[..] } else { &[] };
        let words = words.iter().map(OsString::from).chain(unprivileged.iter().map(OsString::from));
        let words: Vec<OsString> = words.chain([self.folder.join(program).into_os_string()]).collect();
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        command.stdin(Stdio::null()).process_group(0).current_dir("/").env("LC_ALL", "C");
        // That user cannot read the certificates that lie in ours.
        command.env_remove("HOME");
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("PG")) {
            command.env_remove(name);
        }
        command
    }

    /// Gives a file to the user that the programs run as.
    pub fn give(path: &Path) {
        if is_root() {
            chown(path, Some(UNPRIVILEGED), Some(UNPRIVILEGED)).expect("root gives files away");
        }
    }
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

fn search() -> Result<Programs, String> {
    for program in ["flock", "setpriv", "setsid"] {
        let found = Command::new(program).arg("--version").stdout(Stdio::null()).status();
        found.map_err(|error| format!("the program {program} of util-linux does not start: {error}"))?;
    }
    let asked = std::env::var_os(VARIABLE).filter(|value| value != "require");
    if let Some(folder) = asked {
        return in_folder(&PathBuf::from(folder));
    }
    let mut found: Vec<Programs> = places().iter().filter_map(|folder| in_folder(folder).ok()).collect();
    found.sort_by_key(|programs| programs.version);
    found.pop().ok_or_else(|| format!("no PostgreSQL is in {DEBIAN} or in a folder of PATH"))
}

fn places() -> Vec<PathBuf> {
    let debian = std::fs::read_dir(DEBIAN).into_iter().flatten().flatten();
    let path = std::env::var_os("PATH").unwrap_or_default();
    debian.map(|version| version.path().join("bin")).chain(std::env::split_paths(&path)).collect()
}

fn in_folder(folder: &Path) -> Result<Programs, String> {
    let refused = |reason: String| format!("{} has no usable PostgreSQL: {reason}", folder.display());
    // Links lead to the folder that has the other programs.
    let program = folder.join("postgres").canonicalize().map_err(|error| refused(error.to_string()))?;
    let folder = program.parent().expect("a program is in a folder").to_owned();
    let mut programs = Programs { folder, version: 0 };
    for program in ["initdb", "postgres"] {
        let output = programs.command(program).arg("--version").output();
        let output = output.map_err(|error| refused(error.to_string()))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let number = text.split(' ').find_map(|word| word.split('.').next()?.trim().parse().ok());
        let said = String::from_utf8_lossy(&output.stderr);
        programs.version = number.ok_or_else(|| refused(format!("{program}: {said}")))?;
    }
    match programs.version {
        OLDEST.. => Ok(programs),
        version => Err(refused(format!("it is version {version}, older than {OLDEST}"))),
    }
}
