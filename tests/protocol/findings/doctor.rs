//! E: `doctor` names what would stop or degrade a start, and the start agrees.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use colibri_test_support::other_user::{as_nobody, copy_program};
use colibri_test_support::{engine, sqlite_only};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::start_checks::launch;

const SEED: &str = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60\n";

/// A folder with a database of two calls and a thought.
struct Place {
    folder: std::sync::Arc<TempDir>,
}

impl Place {
    fn new() -> Self {
        let mut server = launch().start();
        server.data("audit_session_start", json!({ "session_id": "S-1", "intent": "Look" }));
        let task = server.data("task_create", json!({ "title": "Look closely" }));
        let thought = json!({ "type": "plan", "task_id": task["id"], "agent_id": "a", "content": "First this.", "session_id": "S-1" });
        server.data("thought_record", thought);
        let folder = server.shared_folder();
        assert_eq!(server.finish().code(), 0);
        Self { folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn database(&self) -> PathBuf {
        self.path().join("colibri.db")
    }

    fn sql(&self, statements: &str) {
        engine::open(self.database()).execute_batch(statements).unwrap();
    }

    fn command(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Command {
        let launch =
            arguments.iter().fold(launch().in_folder(self.folder.clone()), |launch, word| launch.arg(word));
        variables.iter().fold(launch, |launch, (name, value)| launch.env(name, value)).command()
    }

    fn doctor(&self, variables: &[(&str, &str)]) -> Report {
        Report::of(self.command(&["doctor", "--json"], variables).output().unwrap())
    }

    /// Starts a server, whose input ends after one call; its exit code and log.
    fn start(&self, variables: &[(&str, &str)]) -> (Option<i32>, String) {
        started(self.command(&[], variables))
    }
}

fn started(mut command: Command) -> (Option<i32>, String) {
    use std::io::Write;
    use std::process::Stdio;
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "task_list", "arguments": {} } });
    // The server may be gone before it reads.
    let _ = writeln!(child.stdin.take().unwrap(), "{call}");
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

struct Report {
    code: Option<i32>,
    findings: Vec<Value>,
}

impl Report {
    fn of(output: Output) -> Self {
        let report: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
        Self { code: output.status.code(), findings: report["findings"].as_array().unwrap().clone() }
    }

    /// The messages at a level, each of which must come with advice unless all is well.
    fn at(&self, level: &str) -> Vec<String> {
        let chosen = self.findings.iter().filter(|finding| finding["level"] == level);
        chosen
            .map(|finding| {
                let advised = finding["advice"].as_str().is_some_and(|advice| !advice.is_empty());
                assert_eq!(advised, level != "ok", "{finding}");
                format!("{}: {}", finding["check"].as_str().unwrap(), finding["message"].as_str().unwrap())
            })
            .collect()
    }

    /// Exactly this failed, and nothing else was worth a word.
    #[track_caller]
    fn fails_with(&self, expected: &[&str]) {
        let failed = self.at("fail");
        assert_eq!((self.code, failed.len()), (Some(1), 1), "{:#?}", self.findings);
        for part in expected {
            assert!(failed[0].contains(part), "{part}: {failed:?}");
        }
    }
}

#[test]
fn finding_e_a_key_file_that_others_can_read_or_that_is_missing_is_named_and_stops_the_start() {
    let place = Place::new();
    let key = place.path().join("seal.key");
    let variable = [("COLIBRI_PROOF_SIGNING_KEY_FILE", "seal.key")];
    for (prepare, said) in [("none", "seal.key"), ("open", "0644")] {
        if prepare == "open" {
            fs::write(&key, SEED).unwrap();
            fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
        }
        let report = place.doctor(&variable);
        report.fails_with(&["COLIBRI_PROOF_SIGNING_KEY_FILE", said]);
        let (code, log) = place.start(&variable);
        assert_eq!(code, Some(1), "{log}");
        let same = report.at("fail")[0].split_once(": ").unwrap().1.to_owned();
        assert!(log.contains(&same), "the start says it in other words than {same:?}: {log}");
    }
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(place.doctor(&variable).code, Some(0));
    assert_eq!(place.start(&variable).0, Some(0));
}

#[test]
fn finding_e_a_consensus_key_that_cannot_be_made_is_named_by_doctor_and_start() {
    let place = Place::new();
    fs::write(place.path().join("file"), "").unwrap();
    for cannot in ["file/node.key", "no/such/folder/node.key"] {
        let variable = [("COLIBRI_CONSENSUS_KEY_FILE", cannot)];
        let report = place.doctor(&variable);
        let warned = report.at("warn");
        assert_eq!((report.code, warned.len()), (Some(0), 1), "{warned:?}");
        assert!(
            warned[0].starts_with("consensus: ") && warned[0].contains("COLIBRI_CONSENSUS_KEY_FILE"),
            "{warned:?}"
        );
        let (code, log) = place.start(&variable);
        assert_eq!(code, Some(0), "only consensus fails: {log}");
        let said = warned[0].split_once(": ").unwrap().1;
        assert!(log.lines().any(|line| line.contains("WARN") && line.contains(said)), "{said}: {log}");
    }
    // One that can be made is made when it is needed, not by a look.
    let report = place.doctor(&[("COLIBRI_CONSENSUS_KEY_FILE", "node.key")]);
    assert_eq!((report.code, report.at("fail").len()), (Some(0), 0));
    assert!(!place.path().join("node.key").exists());
}

#[test]
fn finding_e_dropped_and_changed_guards_are_named() {
    sqlite_only!(
        "PostgreSQL has few triggers, and a start refuses an altered schema; both have a test of their own"
    );
    let place = Place::new();
    place.sql("DROP TRIGGER actions_keep");
    place.doctor(&[]).fails_with(&["actions_keep", "missing"]);
    let place = Place::new();
    place.sql(
        "DROP TRIGGER actions_keep; CREATE TRIGGER actions_keep BEFORE DELETE ON actions BEGIN SELECT 1; END",
    );
    place.doctor(&[]).fails_with(&["actions_keep", "not what the migrations make"]);
    let (code, log) = place.start(&[]);
    assert_eq!(code, Some(0), "it works without: {log}");
}

#[test]
fn finding_e_changed_content_is_found() {
    for (edit, row) in [
        ("UPDATE thought_records SET content = 'First that.'", "thought"),
        ("UPDATE tasks SET title = 'Look away'", "task"),
    ] {
        let place = Place::new();
        // The guards are as before: only the row is changed.
        assert_eq!(engine::open(place.database()).tamper(edit), 1);
        let report = place.doctor(&[]);
        assert_eq!(report.code, Some(1), "{edit}: {:#?}", report.findings);
        assert!(report.at("fail").iter().any(|text| text.contains(row)), "{edit}: {:?}", report.at("fail"));
    }
}

/// Makes the folder and all in it the other user's, who can then also reach the program.
fn hand_over(place: &Place) -> PathBuf {
    let program = place.path().join("colibri");
    copy_program(env!("CARGO_BIN_EXE_colibri-under-test"), &program);
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
    for entry in fs::read_dir(place.path()).unwrap() {
        let _ = std::os::unix::fs::chown(entry.unwrap().path(), Some(65534), Some(65534));
    }
    let _ = std::os::unix::fs::chown(place.path(), Some(65534), Some(65534));
    program
}

#[test]
fn finding_e_what_the_servers_user_may_not_write_is_named_and_the_start_agrees() {
    sqlite_only!("it is about the rights of files");
    let cases: [(&str, &str, u32); 4] = [
        ("the folder", ".", 0o555),
        ("the file", "colibri.db", 0o444),
        ("the log", "colibri.db-wal", 0o444),
        ("the queue", "colibri.db.queue", 0o444),
    ];
    for (what, name, mode) in cases {
        let place = Place::new();
        for side in ["colibri.db-wal", "colibri.db.queue"] {
            if !place.path().join(side).exists() && side == name {
                fs::write(place.path().join(side), "").unwrap();
            }
        }
        let program = hand_over(&place);
        let run = |arguments: &[&str]| {
            let mut command = Command::new(&program);
            command.args(arguments).current_dir(place.path());
            command.env_clear().env("COLIBRI_DB_PATH", place.database());
            as_nobody(&command)
        };
        let fine = Report::of(run(&["doctor", "--json"]).output().unwrap());
        assert_eq!((fine.code, fine.at("fail")), (Some(0), vec![]), "{what}: before");
        fs::set_permissions(place.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
        let report = Report::of(run(&["doctor", "--json"]).output().unwrap());
        let (code, log) = started(run(&[]));
        fs::set_permissions(place.path().join(name), fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(report.code, Some(1), "{what}: {:#?}", report.findings);
        let failed = report.at("fail");
        assert!(failed[0].starts_with("database: ") && failed[0].contains("write"), "{what}: {failed:?}");
        assert_eq!(code, Some(1), "{what}: the start is of another opinion: {log}");
        let said = failed[0].split_once(": ").unwrap().1;
        assert!(log.contains(said), "{what}: the start has other words than {said:?}: {log}");
    }
}

#[test]
fn finding_a10_a_command_names_why_it_cannot_read_and_what_to_do() {
    sqlite_only!("it is about the rights of files");
    for (name, mode, expected) in [
        ("colibri.db", 0o000, "colibri.db cannot be read: Permission denied"),
        ("colibri.db-wal", 0o000, "colibri.db-wal cannot be read: Permission denied"),
        ("shut", 0o000, "shut/copy.db cannot be read: Permission denied"),
    ] {
        let place = Place::new();
        fs::create_dir(place.path().join("shut")).unwrap();
        fs::copy(place.database(), place.path().join("shut/copy.db")).unwrap();
        if name == "colibri.db-wal" {
            fs::write(place.path().join(name), "a log").unwrap();
        }
        let program = hand_over(&place);
        fs::set_permissions(place.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
        let database = if name == "shut" { "shut/copy.db" } else { "colibri.db" };
        let commands: [&[&str]; 5] = [
            &["verify", "--db", database],
            &["log", "--db", database],
            &["export", "S-1", "--db", database],
            &["backup", "new.db", "--db", database],
            &["restore", database, "--db", "new.db"],
        ];
        for command in commands {
            let mut run = Command::new(&program);
            run.args(command).current_dir(place.path()).env_clear();
            let output = as_nobody(&run).output().unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{command:?}: {said}");
            assert!(said.contains(expected), "{command:?}: {said}");
            assert!(
                said.contains("run the command as the file's owner, or let this user "),
                "{command:?}: {said}"
            );
        }
        assert!(!place.path().join("new.db").exists());
    }
}

#[test]
fn finding_e_a_folder_that_cannot_be_made_is_named() {
    let place = Place::new();
    let program = hand_over(&place);
    fs::create_dir(place.path().join("shut")).unwrap();
    fs::set_permissions(place.path().join("shut"), fs::Permissions::from_mode(0o555)).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.args(arguments).current_dir(place.path());
        command.env_clear().env("COLIBRI_DB_PATH", "shut/data/colibri.db");
        as_nobody(&command)
    };
    let report = Report::of(run(&["doctor", "--json"]).output().unwrap());
    report.fails_with(&["database: ", "shut"]);
    let (code, log) = started(run(&[]));
    assert_eq!(code, Some(1), "{log}");
    let report_said = report.at("fail")[0].split_once(": ").unwrap().1.to_owned();
    assert!(log.contains(&report_said), "{report_said}: {log}");
}

/// Hosts for desktops start a server in `/`. The relative path is at fault there, not the folder.
#[test]
fn in_a_working_directory_that_may_not_be_written_an_absolute_path_is_asked_for() {
    sqlite_only!("it is about the path of a file");
    let place = Place::new();
    let program = hand_over(&place);
    let run = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.args(arguments).current_dir("/").env_clear();
        as_nobody(&command)
    };
    let report = Report::of(run(&["doctor", "--json"]).output().unwrap());
    let failed = report.at("fail")[0].clone();
    let said = "the path begins at the working directory /, where this process may not write files";
    assert!(failed.starts_with("database: ") && failed.contains(said), "{failed}");
    let advice: Vec<&str> = report.findings.iter().filter_map(|finding| finding["advice"].as_str()).collect();
    assert!(advice.contains(&"set COLIBRI_DB_PATH to an absolute path"), "{advice:?}");
    let (code, log) = started(run(&[]));
    assert_eq!(code, Some(1), "{log}");
    assert!(log.contains(said) && log.contains("set COLIBRI_DB_PATH to an absolute path"), "{log}");
    assert!(!log.contains("chmod"), "{log}");
}

/// What is in a folder: content, mode and time of change of each file.
fn state(folder: &Path) -> BTreeMap<String, (Vec<u8>, u32, i64, i64)> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries
        .filter(|entry| entry.path().is_file())
        .map(|entry| {
            let about = entry.metadata().unwrap();
            let content = fs::read(entry.path()).unwrap();
            (
                entry.file_name().into_string().unwrap(),
                (content, about.mode(), about.mtime(), about.mtime_nsec()),
            )
        })
        .collect()
}

#[test]
fn finding_e_a_look_changes_nothing() {
    let place = Place::new();
    // Something to be found.
    engine::open(place.database()).tamper("UPDATE tasks SET title = 'Look away'");
    let rows = engine::contents(&place.database());
    let before = state(place.path());
    for variables in [&[][..], &[("COLIBRI_MODE", "READONLY")], &[("COLIBRI_PROOF_SIGNING_KEY_FILE", "none")]]
    {
        place.doctor(variables);
        let mut after = state(place.path());
        // SQLite keeps these beside a database that is open for reading; they hold nothing.
        after.remove("colibri.db-shm");
        assert!(after.remove("colibri.db-wal").is_none_or(|(log, ..)| log.is_empty()));
        assert_eq!(after.keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
        assert!(after == before, "{variables:?}: a byte or a time has changed");
        assert!(engine::contents(&place.database()) == rows, "{variables:?}: a row has changed");
    }
    let empty = launch();
    let folder = empty.folder();
    empty.arg("doctor").command().output().unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// That a look has changed nothing but the two files that SQLite keeps beside an open database.
#[track_caller]
fn assert_unchanged(place: &Place, before: &BTreeMap<String, (Vec<u8>, u32, i64, i64)>) {
    let but_sides = |mut found: BTreeMap<_, _>| {
        found.retain(|name: &String, _| !name.ends_with("-shm") && !name.ends_with("-wal"));
        found
    };
    assert!(but_sides(state(place.path())) == but_sides(before.clone()), "a byte or a time has changed");
}

#[cfg(target_os = "linux")]
#[test]
fn finding_e_the_process_that_holds_the_write_queue_is_named() {
    sqlite_only!("the write queue is a file");
    let place = Place::new();
    let queue = fs::File::open(place.path().join("colibri.db.queue")).unwrap();
    queue.lock().unwrap();
    let before = state(place.path());
    let own = format!("process {} on host ", std::process::id());
    place.doctor(&[]).fails_with(&["database: ", "write queue", &own]);
    assert_eq!(place.doctor(&[("COLIBRI_MODE", "READONLY")]).code, Some(0), "READONLY does not queue");
    assert_unchanged(&place, &before);
    drop(queue);
    assert_eq!(place.doctor(&[]).code, Some(0));
}

#[cfg(target_os = "linux")]
#[test]
fn finding_e_a_lock_of_another_program_is_named() {
    sqlite_only!("it is about locks of a file");
    let own = format!("process {} on host ", std::process::id());
    for mode in ["WAL", "DELETE"] {
        let place = Place::new();
        let conn = rusqlite::Connection::open(place.database()).unwrap();
        conn.execute_batch(&format!("PRAGMA journal_mode = {mode}; BEGIN EXCLUSIVE")).unwrap();
        place.doctor(&[]).fails_with(&["database: database is locked", "held by another program", &own]);
        conn.execute_batch("COMMIT").unwrap();
        assert_eq!(place.doctor(&[]).code, Some(0), "{mode}");
    }
}

#[test]
fn finding_e_a_remedy_fits_its_finding() {
    sqlite_only!("it is about damaged files");
    type Prepare = fn(&Place);
    let cases: [(&str, Prepare, bool); 4] = [
        (
            "hard links",
            |place| fs::hard_link(place.database(), place.path().join("other.db")).unwrap(),
            false,
        ),
        (
            "rollback journal",
            |place| fs::write(place.path().join("colibri.db-journal"), [1; 512]).unwrap(),
            true,
        ),
        (
            "not a Colibri database",
            |place| fs::write(place.database(), "no database at all, ".repeat(100)).unwrap(),
            true,
        ),
        ("malformed", damage_the_schema, true),
    ];
    for (said, prepare, wants_backup) in cases {
        let place = Place::new();
        prepare(&place);
        let report = place.doctor(&[]);
        report.fails_with(&[said]);
        let failed = report.findings.iter().find(|finding| finding["level"] == "fail").unwrap();
        let advice = failed["advice"].as_str().unwrap();
        assert_eq!(advice.contains("`colibri restore"), wants_backup, "{said}: {advice}");
        assert!(!advice.contains("if it is damaged"), "{said}: {advice}");
    }
}

/// The first b-tree page, which follows the header of the file.
fn damage_the_schema(place: &Place) {
    let mut file = fs::read(place.database()).unwrap();
    file[100..160].fill(0xff);
    fs::write(place.database(), file).unwrap();
}

#[test]
fn finding_e_what_doctor_says_of_the_database_is_true_of_the_mode() {
    sqlite_only!("it is about a file that is yet to be created");
    let doctor = |mode: &str, path: Option<&str>| {
        let launch = launch();
        let folder = launch.folder();
        fs::write(folder.path().join("broken.db"), "no database at all, ".repeat(100)).unwrap();
        let mut command = launch.arg("doctor").arg("--json").env("COLIBRI_MODE", mode).command();
        match path {
            Some(path) => command.env("COLIBRI_DB_PATH", path),
            None => command.env_remove("COLIBRI_DB_PATH"),
        };
        let report = Report::of(command.output().unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "{mode}: a look creates nothing");
        assert_eq!(report.code, Some(0), "{mode}: {:#?}", report.findings);
        let mut said = report.at("ok");
        said.retain(|text| text.starts_with("database: "));
        assert_eq!(said.len(), 1, "{mode}: {said:?}");
        said.remove(0)
    };
    let said = doctor("TEST", None);
    assert!(said.contains("TEST") && said.contains("removes it"), "{said}");
    assert!(!said.contains("FULL") && !said.contains(".test.db"), "{said}");
    let said = doctor("TEST", Some("kept.db"));
    assert!(said.contains("kept.db") && said.contains("the first start in TEST creates it"), "{said}");
    let said = doctor("FULL", Some("kept.db"));
    assert!(said.contains("the first start in FULL creates it"), "{said}");
    for path in [None, Some("broken.db")] {
        let said = doctor("MINIMAL", path);
        assert_eq!(said, "database: MINIMAL opens no database");
    }
}
