//! What becomes of the rows of callers: guarded, verified, shown (people#callers).

use colibri_test_support::sqlite_only;
use std::process::Output;

use colibri_test_support::actions::actions;
use colibri_test_support::sql::{Connection, Refused};
use serde_json::{Value, json};

use super::callers::{callers, initialize};
use super::era::{Client, ERAS, Era, launch};

/// Runs a command beside a server.
fn run(client: &Client, arguments: &[&str]) -> Output {
    let launch =
        arguments.iter().fold(launch().beside(&client.server), |launch, argument| launch.arg(argument));
    launch.command().output().unwrap()
}

/// What `colibri verify` finds: the code and the place of each finding.
fn findings(client: &Client) -> Vec<String> {
    let output = run(client, &["verify", "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let found = report["findings"].as_array().unwrap().iter();
    let found: Vec<String> = found
        .map(|found| format!("{} {}", found["code"].as_str().unwrap(), found["subject"].as_str().unwrap()))
        .collect();
    assert_eq!(output.status.code(), Some(i32::from(!found.is_empty())), "{found:?}");
    found
}

/// Two callers in one database: a client of the era, and a command.
fn two_callers(era: Era) -> Client {
    let mut client = Client::of(launch().env("COLIBRI_ACTOR", "alice"), era);
    client.data("task_create", json!({ "title": "A" }));
    let other = run(&client, &["call", "task_create", "{\"title\": \"B\"}"]);
    assert!(other.status.success());
    client
}

/// What a server of 0.1.0 does to a file that was upgraded beside it, this one does once its row is gone: it enters a call
/// without storing a caller.
#[test]
fn people_09_a_server_from_before_the_upgrade_is_told_to_restart() {
    sqlite_only!("no release before this one has served PostgreSQL");
    for era in ERAS {
        let mut client = Client::new(era);
        client.data("task_create", json!({ "title": "A" }));
        let conn = client.server.sql();
        conn.execute_batch("CREATE TEMP TABLE kept AS SELECT * FROM callers").unwrap();
        conn.tamper("DELETE FROM callers");
        for _ in 0..2 {
            let error = client.call("task_create", json!({ "title": "B" }))["error"].clone();
            assert_eq!(error["code"], "AUDIT_ENTER_FAILED", "{error}");
            let expected = "this database was upgraded by a newer Colibri: restart this server";
            assert!(error["message"].as_str().unwrap().contains(expected), "{error}");
        }
        assert_eq!(actions(&conn).len(), 2, "a refused call leaves no row");
        conn.execute_batch("INSERT INTO callers SELECT * FROM kept").unwrap();
        assert_eq!(findings(&client), [""; 0]);
        client.data("task_create", json!({ "title": "B" }));
    }
}

#[test]
fn people_10_a_changed_caller_is_named() {
    for era in ERAS {
        let client = two_callers(era);
        let conn = client.server.sql();
        assert_eq!(findings(&client), [""; 0]);
        let columns =
            ["boot_id", "source", "client_name", "client_title", "client_version", "protocol", "actor"];
        let columns = columns.iter().chain(&["os_user", "host", "pid", "first_seen"]);
        let edit = |column| match column {
            "source" => "source = CASE source WHEN 'none' THEN 'many' ELSE 'none' END".to_owned(),
            "pid" => "pid = pid + 1".to_owned(),
            column => format!("{column} = coalesce({column}, '') || 'x'"),
        };
        let mut cases: Vec<(String, &str)> = columns
            .map(|column| {
                (format!("UPDATE callers SET {} WHERE caller_no = 2", edit(column)), "CALLER_CHANGED")
            })
            .collect();
        let others = [
            ("UPDATE callers SET client_name = '\u{1b}' WHERE caller_no = 1", "CALLER_CHANGED"),
            ("UPDATE callers SET boot_id = 'x' WHERE caller_no = 2", "CALLER_MISSING"),
            ("UPDATE callers SET caller_no = 3 WHERE caller_no = 2", "CALLER_GAP"),
            ("UPDATE callers SET sequence_no = 2 WHERE caller_no = 1", "CALL_MISMATCH"),
            ("UPDATE callers SET sequence_no = 99 WHERE caller_no = 2", "CALL_MISSING"),
            ("DELETE FROM callers WHERE caller_no = 1", "CALLER_GAP"),
            ("DELETE FROM callers WHERE caller_no = 2", "CALLER_MISSING"),
            ("DELETE FROM callers", "ROW_MISSING"),
            (
                "INSERT INTO callers SELECT 3, boot_id, source, client_name, client_title, client_version, protocol, actor, \
                 os_user, host, pid, first_seen, sequence_no FROM callers WHERE caller_no = 2",
                "CALL_MISMATCH",
            ),
            (
                "UPDATE callers SET caller_no = -caller_no; UPDATE callers SET caller_no = 3 + caller_no",
                "CALL_MISMATCH",
            ),
        ];
        cases.extend(others.map(|(sql, code)| (sql.to_owned(), code)));
        for (sql, code) in cases {
            let found = tampered(&conn, &sql, || findings(&client));
            assert!(found.iter().any(|found| found.starts_with(code)), "{sql}: {found:?}");
            assert_eq!(findings(&client), [""; 0], "{sql} was undone");
        }
    }
}

/// Changes rows of callers without their guards, and puts them back.
fn tampered<T>(conn: &Connection, sql: &str, look: impl FnOnce() -> T) -> T {
    conn.execute_batch("CREATE TEMP TABLE kept AS SELECT * FROM callers").unwrap();
    conn.tamper(sql);
    let seen = look();
    for back in ["DELETE FROM callers", "INSERT INTO callers SELECT * FROM kept"] {
        conn.tamper(back);
    }
    conn.execute_batch("DROP TABLE kept").unwrap();
    seen
}

#[test]
fn people_11_an_enter_transaction_that_fails_takes_its_caller_with_it() {
    for era in ERAS {
        let mut client = Client::new(era);
        client.server.await_stderr("Phase 2 ready");
        let conn = client.server.sql();
        conn.refuse(Refused::Enters("task_create"));
        for _ in 0..2 {
            assert_eq!(client.refused("task_create", json!({ "title": "A" })), "AUDIT_ENTER_FAILED");
        }
        assert!(callers(&conn).is_empty() && actions(&conn).is_empty());
        conn.allow();
        client.data("task_create", json!({ "title": "A" }));
        let numbers: Vec<Value> = callers(&conn).iter().map(|row| row["caller_no"].clone()).collect();
        assert_eq!(numbers, [1]);
        assert_eq!(findings(&client), [""; 0]);
    }
}

/// The numbers of the calls that `colibri log` selects.
fn selected(client: &Client, options: &[&str]) -> Vec<i64> {
    let output = run(client, &[&["log", "--json"], options].concat());
    assert!(output.status.success(), "{options:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["sequence_no"].as_i64().unwrap())
        .collect()
}

#[test]
fn people_12_the_log_shows_and_selects_callers() {
    let mut client = Client::of(launch().env("COLIBRI_ACTOR", "alice"), Era::Stateless);
    client.data("task_list", json!({}));
    let titled = json!({ "name": "claude-code", "title": "Claude Code", "version": "2.1.0" });
    initialize(&mut client.server, "2025-11-25", titled);
    client.server.data("task_list", json!({}));
    client.server.data("task_list", json!({}));
    let mut other = launch().beside(&client.server).start();
    other.data("task_list", json!({}));
    // Calls: 2 is of people, 4 and 5 of claude-code, 7 of the other server. Before each caller's first the server stores it.
    for (options, expected) in [
        (&["--actor", "alice"][..], &[2, 4, 5][..]),
        (&["--actor", "ALICE"], &[]),
        (&["--client", "Claude Code"], &[4, 5]),
        (&["--client", "claude-code"], &[4, 5]),
        (&["--client", "claude"], &[]),
        (&["--client", "people"], &[2]),
        (&["--caller", "2"], &[4, 5]),
        (&["--caller", "3"], &[7]),
        (&["--actor", "alice", "--caller", "1"], &[2]),
        (&["--client", "claude-code", "--limit", "1"], &[5]),
        (&["--tool", "task_list"], &[2, 4, 5, 7]),
    ] {
        assert_eq!(selected(&client, options), expected, "{options:?}");
    }
    let conn = client.server.sql();
    let output = run(&client, &["log", "--json", "--caller", "2"]);
    let line = String::from_utf8(output.stdout).unwrap().lines().next().unwrap().to_owned();
    let shown: Value = serde_json::from_str(&line).unwrap();
    let members: Vec<&str> = shown.as_object().unwrap().keys().map(String::as_str).collect();
    let mut statement = conn.prepare("SELECT * FROM actions").unwrap();
    let rows = statement.query([]).unwrap();
    assert_eq!((members.len(), members[..20] == *rows[0].columns()), (22, true), "{members:?}");
    assert_eq!((&shown["caller_no"], &shown["caller"]), (&json!(2), &callers(&conn)[1]));
    let user = &callers(&conn)[2];
    let user = format!("{}@{}", user["os_user"].as_str().unwrap(), user["host"].as_str().unwrap());
    let text = String::from_utf8(run(&client, &["log"]).stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    for (number, who) in
        [(1, "-"), (2, "alice (\"people\")"), (3, "-"), (4, "alice (\"Claude Code\")"), (7, user.as_str())]
    {
        assert!(lines[number].contains(&format!("  {who}")), "{number}: {text}");
    }
    assert!(lines[0].contains("  WHO  "), "{text}");
    assert_eq!(
        lines[8],
        "Names in quotes are as clients and agents give them; the server checks none of them."
    );
}

/// Operations are calls, too: each command that makes one is a caller without a client.
#[test]
fn people_12_a_command_is_shown_by_its_actor() {
    let mut client = Client::new(Era::Handshake);
    client.data("task_list", json!({}));
    let epoch = String::from_utf8(run(&client, &["reputation", "epoch"]).stdout).unwrap();
    let event = json!({ "event_id": "e", "node_id": "n", "domain": "social", "kind": "gain", "delta": 1, "acker_id": "a",
        "epoch": epoch.trim().parse::<i64>().unwrap(), "reason": "told" });
    let path = client.server.folder().join("events.jsonl");
    std::fs::write(&path, format!("{event}\n")).unwrap();
    let launch = launch().beside(&client.server).env("COLIBRI_ACTOR", "operator");
    let output = launch.arg("reputation").arg("import").arg(&path).command().output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let rows = callers(&client.server.sql());
    assert_eq!((&rows[1]["source"], &rows[1]["actor"]), (&json!("command"), &json!("operator")));
    assert_eq!((&rows[1]["client_name"], &rows[1]["protocol"]), (&Value::Null, &Value::Null));
    let text = String::from_utf8(run(&client, &["log", "--caller", "2"]).stdout).unwrap();
    assert!(text.contains("  operator  ") || text.contains("  operator\n"), "{text}");
}

#[test]
fn people_13_modes_without_writing_store_no_callers() {
    for era in ERAS {
        let mut writer = Client::new(era);
        writer.data("task_create", json!({ "title": "A" }));
        for mode in ["READONLY", "MINIMAL"] {
            let mut reader = Client::of(launch().beside(&writer.server).env("COLIBRI_MODE", mode), era);
            assert_eq!(reader.call("server_ping", json!({}))["ok"], true);
            reader.call("task_list", json!({}));
            reader.call("task_create", json!({ "title": "B" }));
            let ended = reader.server.finish();
            let lines: Vec<&str> = ended.stderr.lines().filter(|line| line.contains("[audit]")).collect();
            assert_eq!(lines.len(), 3, "{mode}: {}", ended.stderr);
            assert!(lines.iter().all(|line| line.ends_with(" client=people")), "{lines:?}");
        }
        assert_eq!(callers(&writer.server.sql()).len(), 1);
    }
    let mut unnamed = launch().env("COLIBRI_MODE", "MINIMAL").start();
    unnamed.call("server_ping", json!({}));
    let ended = unnamed.finish();
    let line = ended.stderr.lines().find(|line| line.contains("[audit]")).unwrap();
    assert!(line.ends_with(" client=-"), "{line}");
}
