//! `colibri log`, and how the commands that read a database say what is wrong with it (chain#commands).

use colibri_test_support::engine;
use colibri_test_support::shell::Shell;
use colibri_test_support::sql::Value as Stored;
use colibri_test_support::sql::dialect;
use colibri_test_support::sqlite_only;
use serde_json::Value;

/// A task made, one refused by stage 2, one refused by the tool: calls 2, 4, 6, each in a process of its own, whose first call
/// stores who calls. The task's id.
fn three_calls(shell: &Shell) -> String {
    let made = shell.run(&["call", "task_create", "{\"title\": \"A\"}"]);
    let id = made.json()["data"]["id"].as_str().unwrap().to_owned();
    shell.run(&["call", "task_create", "{\"title\": \"\"}"]);
    shell.run(&["call", "task_update", &format!("{{\"id\": \"{id}\", \"status\": \"DONE\"}}")]);
    id
}

fn numbers(shell: &Shell, options: &[&str]) -> Vec<i64> {
    let run = shell.run(&[&["log", "--json"], options].concat());
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{options:?}");
    let rows = run.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    rows.map(|row| row["sequence_no"].as_i64().unwrap()).collect()
}

#[test]
fn every_filter_of_the_log_selects_its_calls_newest_last() {
    let shell = super::shell();
    let id = three_calls(&shell);
    let last = shell.run(&["log", "--json", "--limit", "1"]).json();
    let (boot, time) = (last["boot_id"].as_str().unwrap(), last["entered_at"].as_str().unwrap());
    let cases: [(&[&str], &[i64]); 12] = [
        (&[], &[1, 2, 3, 4, 5, 6]),
        (&["--tool", "task_create"], &[2, 4]),
        (&["--outcome", "ok"], &[1, 2, 3, 5]),
        (&["--outcome", "domain_error"], &[6]),
        (&["--subject", &id], &[2]),
        (&["--boot", boot], &[5, 6]),
        (&["--since", time], &[5, 6]),
        (&["--until", time], &[1, 2, 3, 4]),
        (&["--since", "2020", "--until", "9999-12-31T23:59"], &[1, 2, 3, 4, 5, 6]),
        (&["--since", "9999"], &[]),
        (&["--limit", "2"], &[5, 6]),
        (&["--tool", "task_create", "--limit", "1"], &[4]),
    ];
    for (options, expected) in cases {
        assert_eq!(numbers(&shell, options), expected, "{options:?}");
    }
}

#[test]
fn a_row_of_the_log_has_every_column_of_the_table_and_then_the_caller() {
    let shell = super::shell();
    three_calls(&shell);
    let shown = shell.run(&["log", "--json", "--limit", "1"]).json();
    let conn = engine::open(shell.path().join("data/colibri.db"));
    let mut statement = conn.prepare("SELECT * FROM actions WHERE sequence_no = 6").unwrap();
    let stored = statement.query([]).unwrap().remove(0);
    let shown = shown.as_object().unwrap();
    assert_eq!(shown.keys().map(String::as_str).collect::<Vec<_>>()[20..], ["caller_no", "caller"]);
    for name in stored.columns() {
        let value = match stored.get(name.as_str()).unwrap() {
            Stored::Null => Value::Null,
            Stored::Integer(number) => number.into(),
            _ => stored.get::<_, String>(name.as_str()).unwrap().into(),
        };
        assert_eq!(shown[name], value, "{name}");
    }
    assert_eq!((&shown["caller_no"], &shown["caller"]["client_name"]), (&3.into(), &"colibri-call".into()));
}

#[test]
fn the_log_reads_as_a_table_with_subjects_and_refusals() {
    let shell = super::shell();
    let id = three_calls(&shell);
    let run = shell.run(&["log"]);
    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!(lines.len(), 8, "{}", run.out);
    assert!(lines[0].contains("ENTERED"), "{}", run.out);
    assert!(
        lines[1].contains("  -               1"),
        "the first call of a process has no caller: {}",
        run.out
    );
    assert!(lines[2].ends_with(&format!("  \"colibri-call\"  {id}")), "{}", run.out);
    assert!(lines[6].contains("ERR_INVALID_TRANSITION: "), "{}", run.out);
    assert_eq!(
        lines[7],
        "Names in quotes are as clients and agents give them; the server checks none of them."
    );
    let none = shell.run(&["log", "--tool", "task_creat"]);
    assert_eq!(
        (none.code, none.out.as_str()),
        (Some(0), "No call matches; did you mean --tool task_create?\n")
    );
}

#[test]
fn a_stored_name_cannot_command_the_terminal() {
    let shell = super::shell();
    three_calls(&shell);
    let conn = engine::open(shell.path().join("data/colibri.db"));
    conn.tamper(&format!("UPDATE {} SET tool = 'a\u{1b}[2Jb\u{202e}'", dialect::enters()));
    let run = shell.run(&["log"]);
    assert!(run.out.contains("a\\u{1b}[2Jb\\u{202e}"), "{}", run.out);
    assert!(!run.out.contains(['\u{1b}', '\u{202e}']));
}

#[test]
fn what_cannot_be_read_is_named_with_the_way_out() {
    sqlite_only!("it is about files that cannot be read");
    let shell = super::shell();
    three_calls(&shell);
    let conn = |name: &str| engine::open(shell.path().join(name));
    std::fs::write(shell.path().join("text.db"), "no database at all, ".repeat(100)).unwrap();
    conn("foreign.db").execute_batch("CREATE TABLE t (n)").unwrap();
    for (name, version) in [("newer.db", 999), ("older.db", 1)] {
        conn("data/colibri.db")
            .execute("VACUUM INTO ?1", [shell.path().join(name).to_str().unwrap()])
            .unwrap();
        conn(name).sqlite().pragma_update(None, "user_version", version).unwrap();
    }
    for (name, expected) in [
        (
            "none.db",
            "there is no database at none.db (the first start of a server creates it); check --db and COLIBRI_DB_PATH",
        ),
        ("text.db", "text.db is not a Colibri database"),
        ("foreign.db", "foreign.db is not a Colibri database"),
        ("newer.db", "newer.db has schema version 999"),
        ("older.db", "older.db has schema version 1"),
        ("data", "data is a folder; did you mean data/colibri.db?"),
        (".", ". is not a file; name the database's file with --db"),
    ] {
        let run = shell.run(&["log", "--db", name]);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{name}");
        assert!(run.err.contains(expected), "{name}: {}", run.err);
    }
    assert!(!shell.path().join("none.db").exists(), "a look creates nothing");
    std::fs::write(shell.path().join("empty.db"), "").unwrap();
    for (name, expected) in [
        ("empty.db", "empty.db is empty; the first start in FULL creates it"),
        ("data", "data is a folder; set COLIBRI_DB_PATH to data/colibri.db in it"),
    ] {
        let doctor = shell.run_with(&[("COLIBRI_DB_PATH", name)], &["doctor"]);
        assert!(doctor.out.contains(expected), "{}{}", doctor.out, doctor.err);
    }
    let memory = shell.run_with(&[("COLIBRI_DB_PATH", ":memory:")], &["log"]);
    assert_eq!(memory.code, Some(2));
    let mode = shell.run_with(&[("COLIBRI_MODE", "full")], &["log"]);
    assert!(
        mode.err.contains("MINIMAL, in capitals; correct the variable, or name the file with --db"),
        "{}",
        mode.err
    );
    let wrong = [("COLIBRI_DURABILITY", "loud")];
    assert!(shell.run_with(&wrong, &["log"]).err.contains("COLIBRI_DURABILITY must be one of"));
    assert_eq!(shell.run_with(&wrong, &["log", "--db", "data/colibri.db"]).code, Some(0), "not needed");
    let told = shell.run(&["log", "--caller", "alice"]);
    let said =
        "a caller has a number from 1, which `colibri log --json` shows as caller_no; --client takes a name";
    assert!(told.code == Some(2) && told.err.contains(said), "{}", told.err);
}

#[test]
fn a_mode_that_makes_no_file_promises_none() {
    for (mode, why) in [
        ("MINIMAL", "a server in MINIMAL opens none"),
        ("READONLY", "a server in READONLY creates none"),
        ("TEST", "each server in TEST creates its own and removes it when it stops"),
    ] {
        let shell = super::shell();
        let told = shell.run_with(
            &[("COLIBRI_MODE", mode), ("COLIBRI_DATABASE_URL", ""), ("COLIBRI_DB_PATH", "")],
            &["log"],
        );
        assert!(told.code == Some(2) && told.err.contains(why), "{mode}: {}", told.err);
        assert!(!told.err.contains("the first start"), "{mode}: {}", told.err);
    }
}

#[test]
fn a_locked_database_is_a_failure_not_a_wrong_command_line() {
    sqlite_only!("it is about locks of a file");
    let shell = super::shell();
    three_calls(&shell);
    // An exclusive lock in rollback mode keeps readers out; in WAL mode nothing a server does would.
    let conn = engine::open(shell.path().join("data/colibri.db"));
    conn.execute_batch("PRAGMA journal_mode = DELETE; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;")
        .unwrap();
    for command in ["log", "verify"] {
        let run = shell.run(&[command]);
        assert_eq!(run.code, Some(1), "{command}");
        let expected = "is locked by another program; run the command again when that program has finished\n";
        assert!(run.err.ends_with(expected), "{command}: {}", run.err);
    }
}

#[test]
fn wrong_options_of_the_log_end_with_2() {
    let shell = super::shell();
    for wrong in [&["log", "--since", "soon"][..], &["log", "--outcome", "fine"], &["log", "--limit", "0"]] {
        let run = shell.run(wrong);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{wrong:?}");
    }
}
