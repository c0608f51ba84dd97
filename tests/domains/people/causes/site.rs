//! A set-up of a user who is not root: a folder with a database, a backup of it, and variables.

use std::cell::{Cell, Ref, RefCell};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use colibri_test_support::client::{Launch, PATIENCE, steps};
use colibri_test_support::other_user::{NOBODY, as_nobody, copy_program, is_root};
use colibri_test_support::postgres::{Database, Role};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::Start;

const PROGRAM: &str = env!("CARGO_BIN_EXE_colibri-under-test");
pub const DATABASE: &str = "colibri.db";
pub const BACKUP: &str = "backup.db";

/// The program and a sound database with its backup, made once.
fn original() -> &'static Path {
    static ORIGINAL: OnceLock<TempDir> = OnceLock::new();
    let made = || {
        let folder = TempDir::new().unwrap();
        let launch = Launch::new(PROGRAM);
        let file = launch.folder().path().join(DATABASE);
        // A file, whichever engine the other tests of the run use.
        let mut server = launch.env("COLIBRI_DB_PATH", file).start();
        server.data("audit_session_start", json!({ "session_id": "S-1", "intent": "Look" }));
        let id =
            server.data("task_create", json!({ "title": "Look closely", "assignee": "a" }))["id"].clone();
        let thought = json!({ "type": "plan", "task_id": id, "agent_id": "a", "content": "First this.", "session_id": "S-1" });
        server.data("thought_record", thought);
        for state in steps("DONE") {
            server.data("task_update", json!({ "id": id, "status": state }));
        }
        let from = server.shared_folder();
        assert_eq!(server.finish().code(), 0);
        for entry in fs::read_dir(from.path()).unwrap().map(Result::unwrap) {
            fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
        }
        fs::copy(folder.path().join(DATABASE), folder.path().join(BACKUP)).unwrap();
        let bin = folder.path().join("bin");
        fs::create_dir(&bin).unwrap();
        // The other user may not reach the folder that it was built in.
        copy_program(PROGRAM, &bin.join("colibri"));
        for path in [folder.path(), &bin] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        folder
    };
    ORIGINAL.get_or_init(made).path()
}

/// One set-up.
pub struct Site {
    name: &'static str,
    folder: Arc<TempDir>,
    variables: RefCell<BTreeMap<String, OsString>>,
    /// What the shell does before it runs the program: limits.
    before: Cell<&'static str>,
    held: RefCell<Vec<Box<dyn std::any::Any>>>,
    shared: RefCell<Option<Database>>,
}

/// A finding of doctor.
#[derive(Debug, Clone)]
pub struct Finding {
    pub level: String,
    pub check: String,
    pub message: String,
    pub advice: String,
}

/// What doctor says.
#[derive(Debug)]
pub struct Report {
    pub code: Option<i32>,
    pub findings: Vec<Finding>,
}

/// How a server ended, or what it had logged when it was asked to end.
pub struct Started {
    pub code: Option<i32>,
    pub log: String,
    answer: String,
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Site {
    pub fn new(name: &'static str) -> Self {
        let folder = Arc::new(TempDir::new().unwrap());
        for entry in
            fs::read_dir(original()).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_file())
        {
            fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
        }
        let site = Self {
            name,
            folder,
            variables: RefCell::default(),
            before: Cell::new(""),
            held: RefCell::default(),
            shared: RefCell::default(),
        };
        site.set("COLIBRI_DB_PATH", DATABASE);
        site
    }

    /// Uses a database of PostgreSQL in place of the file, which goes with the set-up.
    pub fn share(&self, database: Database, role: Role) {
        self.unset("COLIBRI_DB_PATH");
        self.set("COLIBRI_DATABASE_URL", database.url(role));
        self.shared.replace(Some(database));
    }

    /// The database of PostgreSQL.
    pub fn shared(&self) -> Ref<'_, Database> {
        Ref::map(self.shared.borrow(), |database| database.as_ref().expect("the set-up shares one"))
    }

    /// A variable that is text.
    pub fn value(&self, name: &str) -> String {
        self.variables.borrow()[name].to_str().unwrap().to_owned()
    }

    /// Where a name of the set-up is.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn set(&self, name: &str, value: impl Into<OsString>) {
        self.variables.borrow_mut().insert(name.to_owned(), value.into());
    }

    pub fn unset(&self, name: &str) {
        self.variables.borrow_mut().remove(name);
    }

    /// Writes a file.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub fn mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    pub fn rename(&self, from: &str, to: &str) {
        let to = self.path(to);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::rename(self.path(from), to).unwrap();
    }

    /// Changes the database as another program would.
    pub fn sql(&self, statements: &str) {
        let conn = rusqlite::Connection::open(self.path(DATABASE)).unwrap();
        conn.execute_batch(statements).unwrap();
    }

    /// What the shell does before it runs the program.
    pub fn limit(&self, before: &'static str) {
        self.before.set(before);
    }

    /// Keeps something, such as a lock, until [`Site::let_go`].
    pub fn hold(&self, what: impl std::any::Any) {
        self.held.borrow_mut().push(Box::new(what));
    }

    pub fn let_go(&self) {
        self.held.borrow_mut().clear();
    }

    /// A server of the test's own user, on the same database.
    pub fn launch(&self) -> Launch {
        Launch::new(PROGRAM).in_folder(self.folder.clone())
    }

    /// Makes all of it the other user's.
    pub fn hand_over(&self) {
        if is_root() {
            give(self.folder.path());
        }
    }

    fn shell(&self, line: &str) -> Command {
        let mut command = Command::new("bash");
        command
            .args(["-c", &format!("{} {line}", self.before.get())])
            .current_dir(self.folder.path())
            .env_clear();
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", original().join("bin").display()));
        command.envs(self.variables.borrow().iter());
        as_nobody(&command)
    }

    /// Types a command, as the server's user; it must succeed.
    pub fn types(&self, line: &str) {
        let output = self.shell(line).stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{self}: {line}: {output:?}");
    }

    /// Types the command of the advice that begins with the word.
    pub fn types_advised(&self, found: &Finding, word: &str) {
        self.types(&found.command(word).replace("BACKUP", BACKUP));
    }

    pub fn doctor(&self) -> Report {
        let output = self.run("exec colibri doctor --json");
        let report: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{self}: {error}: {output:?}"));
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let findings = report["findings"].as_array().unwrap().iter().map(|found| Finding {
            level: text(&found["level"]),
            check: text(&found["check"]),
            message: text(&found["message"]),
            advice: text(&found["advice"]),
        });
        Report { code: output.status.code(), findings: findings.collect() }
    }

    pub fn doctor_in_words(&self) -> String {
        String::from_utf8(self.run("exec colibri doctor").stdout).unwrap()
    }

    fn run(&self, line: &str) -> Output {
        self.shell(line).stdin(Stdio::null()).output().unwrap()
    }

    /// Starts a server with one call; waits for its end, or for a text in its log if it is to serve.
    pub fn start(&self, says: &str, start: Start) -> Started {
        let started = self.served(|log| start == Start::Warns && warned(log, says));
        assert!(
            if start == Start::Warns { warned(&started.log, says) } else { started.log.contains(says) },
            "{self}: the start does not say {says:?}:\n{}",
            started.log
        );
        started
    }

    pub fn assert_serves(&self) {
        let served = self.served(|log| log.contains("Phase 2 ready"));
        assert!(
            served.code == Some(0) && served.answer.contains(r#""structuredContent":{"ok":true"#),
            "{self}: {} {}",
            served.answer,
            served.log
        );
    }

    /// Runs a server with one call, and ends its input once its log is as wished.
    fn served(&self, enough: impl Fn(&str) -> bool) -> Started {
        let log = self.path("../").join(format!("{}.log", self.folder.path().file_name().unwrap().display()));
        let mut command = self.shell("exec colibri");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(fs::File::create(&log).unwrap());
        let mut child = command.spawn().unwrap();
        let params = json!({ "name": "task_list", "arguments": {} });
        let mut stdin = child.stdin.take();
        // The server may be gone before it reads.
        let _ = writeln!(
            stdin.as_mut().unwrap(),
            "{}",
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params })
        );
        let began = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if began.elapsed() > PATIENCE / 2 || enough(&fs::read_to_string(&log).unwrap()) {
                stdin = None;
            }
            assert!(began.elapsed() < PATIENCE, "{self}: {}", fs::read_to_string(&log).unwrap());
            std::thread::sleep(Duration::from_millis(10));
        };
        drop(stdin);
        let mut answer = String::new();
        child.stdout.take().unwrap().read_to_string(&mut answer).unwrap();
        let said = fs::read_to_string(&log).unwrap();
        fs::remove_file(&log).unwrap();
        Started { code: status.code(), log: said, answer }
    }

    /// What is in the folder, and below: content, mode and time of change.
    pub fn state(&self) -> BTreeMap<PathBuf, (Vec<u8>, u32, i64, i64)> {
        let mut found = BTreeMap::new();
        // A file that this process has locked would lose its locks if this process opened and closed it.
        look(self.folder.path(), self.held.borrow().is_empty(), &mut found);
        // SQLite keeps these beside a database that is open for reading. The log's content counts.
        found.retain(|path, (content, ..)| {
            let name = path.to_string_lossy();
            !(name.ends_with("-shm") || name.ends_with("-wal") && content.is_empty())
        });
        found
    }

    /// That a look has changed no byte and no time of a file.
    pub fn assert_same(&self, before: &BTreeMap<PathBuf, (Vec<u8>, u32, i64, i64)>) {
        let after = self.state();
        let names = |state: &BTreeMap<PathBuf, _>| state.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(before), names(&after), "{self}: a file came or went");
        for (path, was) in before {
            assert!(after[path] == *was, "{self}: {} has changed", path.display());
        }
    }

    /// The finding without what differs from run to run.
    pub fn shown(&self, found: Finding) -> Finding {
        let folder = self.folder.path().canonicalize().unwrap();
        let here = |text: String| match text.split_once("process ").filter(|_| text.contains(" on host ")) {
            Some((before, _)) => format!("{before}process … on host …"),
            None => text.replace(&folder.display().to_string(), "…"),
        };
        Finding { message: here(found.message), advice: here(found.advice), ..found }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        // A user who is not root removes only what it may write.
        let _ = Command::new("chmod").args(["-R", "u+rwx"]).arg(self.folder.path()).output();
    }
}

impl Finding {
    /// The command in backticks that begins with the word.
    pub fn command(&self, word: &str) -> String {
        let mut spans = self.advice.split('`').skip(1).step_by(2);
        spans
            .find(|span| span.starts_with(word))
            .unwrap_or_else(|| panic!("no `{word} …` in {:?}", self.advice))
            .to_owned()
    }

    /// What stands behind the words of the message, up to the next one of these characters.
    pub fn word_behind(&self, words: &str, until: &[char]) -> String {
        let (_, rest) = self
            .message
            .split_once(words)
            .unwrap_or_else(|| panic!("{words:?} is not in {:?}", self.message));
        rest.split(until).next().unwrap().to_owned()
    }
}

impl Report {
    pub fn has(&self, level: &str) -> bool {
        self.findings.iter().any(|found| found.level == level)
    }

    /// The one finding that names the cause.
    #[track_caller]
    pub fn finding(&self, level: &str, says: &str) -> Finding {
        let named: Vec<_> = self
            .findings
            .iter()
            .filter(|found| found.level == level && found.message.contains(says))
            .collect();
        assert_eq!(named.len(), 1, "{level} {says:?}: {:#?}", self.findings);
        assert!(!named[0].advice.is_empty(), "{:?} has no remedy", named[0]);
        named[0].clone()
    }
}

fn warned(log: &str, says: &str) -> bool {
    log.lines().any(|line| line.contains(" WARN ") && line.contains(says))
}

fn give(path: &Path) {
    let _ = std::os::unix::fs::lchown(path, Some(NOBODY), Some(NOBODY));
    for entry in fs::read_dir(path).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            give(&path);
        } else {
            let _ = std::os::unix::fs::lchown(path, Some(NOBODY), Some(NOBODY));
        }
    }
}

fn look(folder: &Path, content: bool, found: &mut BTreeMap<PathBuf, (Vec<u8>, u32, i64, i64)>) {
    for entry in fs::read_dir(folder).into_iter().flatten().map(Result::unwrap) {
        let (path, about) = (entry.path(), entry.metadata().unwrap());
        if about.is_dir() {
            look(&path, content, found);
        } else {
            let bytes = match content && about.is_file() {
                true => fs::read(&path).unwrap_or_default(),
                false => Vec::new(),
            };
            found.insert(path, (bytes, about.mode(), about.mtime(), about.mtime_nsec()));
        }
    }
}
