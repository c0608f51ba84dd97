//! Who calls come from: what a process stores of it, and when (people#callers).

use colibri_canonical::{NumberRule, canonical_json, sha256_hex};
use colibri_test_support::actions::actions;
use colibri_test_support::client::{Launch, Server, envelope};
use colibri_test_support::sql::Connection;
use serde_json::{Value, json};

use super::era::{Client, ERAS, Era};

fn colibri() -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_colibri-under-test"))
}

/// The rows of `callers`, every column.
pub(super) fn callers(conn: &Connection) -> Vec<Value> {
    let sql = "SELECT caller_no, boot_id, source, client_name, client_title, client_version, protocol, actor, os_user, \
               host, pid, first_seen, sequence_no FROM callers ORDER BY caller_no";
    let rows = conn.prepare(sql).unwrap().query([]).unwrap();
    rows.iter().map(|row| Value::Object(row.object())).collect()
}

/// The tool of each call and the number of its caller, in the order of the calls.
fn called_by(conn: &Connection) -> Vec<(String, Option<i64>)> {
    let sql = "SELECT tool, (SELECT caller_no FROM callers AS c WHERE c.boot_id = a.boot_id AND \
               c.sequence_no < a.sequence_no ORDER BY c.sequence_no DESC LIMIT 1) FROM actions AS a \
               WHERE tool <> 'caller_begin' ORDER BY sequence_no";
    let mut statement = conn.prepare(sql).unwrap();
    statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect()
}

pub(super) fn initialize(server: &mut Server, revision: &str, client: Value) -> Value {
    let hello = json!({ "protocolVersion": revision, "capabilities": {}, "clientInfo": client });
    server.request("initialize", hello)["result"]["protocolVersion"].clone()
}

/// A call of the stateless era; `client` is what it says about its sender.
pub(super) fn stateless(client: Option<&Value>, tool: &str, arguments: Value) -> Value {
    let mut meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    if let Some(client) = client {
        meta["io.modelcontextprotocol/clientInfo"] = client.clone();
    }
    json!({ "name": tool, "arguments": arguments, "_meta": meta })
}

fn names(rows: &[Value]) -> Vec<(&str, Option<&str>)> {
    rows.iter().map(|row| (row["source"].as_str().unwrap(), row["client_name"].as_str())).collect()
}

#[test]
fn people_01_one_row_a_connection_with_what_initialize_said() {
    for (asked, answered) in [("2025-06-18", "2025-06-18"), ("1999-01-01", "2025-11-25")] {
        let mut server = colibri().start();
        let client = json!({ "name": "claude-code", "title": "Claude Code", "version": "2.1.0" });
        assert_eq!(initialize(&mut server, asked, client), answered);
        server.data("task_create", json!({ "title": "A" }));
        server.data("task_list", json!({}));
        let conn = server.sql();
        let rows = callers(&conn);
        assert_eq!(rows.len(), 1, "{rows:?}");
        let row = &rows[0];
        assert_eq!((&row["source"], &row["protocol"]), (&json!("initialize"), &json!(answered)));
        assert_eq!(
            (&row["client_name"], &row["client_title"], &row["client_version"]),
            (&json!("claude-code"), &json!("Claude Code"), &json!("2.1.0"))
        );
        assert_eq!(row["pid"], json!(server.pid()));
        assert_eq!(row["actor"], Value::Null);
        let begun: Vec<_> = actions(&conn).into_iter().filter(|call| call.tool == "caller_begin").collect();
        assert_eq!((begun.len(), begun[0].sequence_no), (1, row["sequence_no"].as_i64().unwrap()));
        assert_eq!(row["boot_id"], json!(begun[0].boot_id));
        let expected = ["task_create", "task_list"].map(|tool| (tool.to_owned(), Some(1)));
        assert_eq!(called_by(&conn), expected);
    }
}

#[test]
fn people_02_each_stateless_call_has_its_own_caller() {
    let mut server = colibri().start();
    let (one, other) = (json!({ "name": "one", "version": "1" }), json!({ "name": "other", "version": "1" }));
    let turns = [Some(&one), Some(&one), Some(&other), None, None, Some(&one)];
    for client in turns {
        server.request("tools/call", stateless(client, "task_list", json!({})));
    }
    // Calls of one batch have each their own, too.
    let together: String = [&one, &other, &one]
        .iter()
        .enumerate()
        .map(|(id, client)| {
            let params = stateless(Some(client), "task_create", json!({ "title": "A" }));
            format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }))
        })
        .collect();
    server.send_bytes(together.as_bytes());
    for _ in 0..3 {
        assert_eq!(envelope(&server.receive())["ok"], json!(true));
    }
    let conn = server.sql();
    let rows = callers(&conn);
    let meta = |name| ("meta", name);
    let expected = [Some("one"), Some("other"), None, Some("one"), Some("other"), Some("one")].map(meta);
    assert_eq!(names(&rows), expected);
    assert!(rows.iter().all(|row| row["protocol"] == "2026-07-28"), "{rows:?}");
    let numbers: Vec<_> = called_by(&conn).into_iter().map(|(_, caller)| caller).collect();
    assert_eq!(numbers, [1, 1, 2, 3, 3, 4, 4, 5, 6].map(Some));
}

#[test]
fn people_03_calls_before_and_after_initialize() {
    let mut server = colibri().start();
    let before = server.data("task_list", json!({}));
    initialize(&mut server, "2025-11-25", json!({ "name": "first", "version": "1" }));
    let between = server.data("task_list", json!({}));
    initialize(&mut server, "2025-11-25", json!({ "name": "second", "title": 7, "version": "" }));
    let after = server.data("task_list", json!({}));
    assert_eq!((&before, &before), (&between, &after), "replies are the same");
    let conn = server.sql();
    let rows = callers(&conn);
    assert_eq!(names(&rows), [("none", None), ("initialize", Some("first")), ("initialize", Some("second"))]);
    assert_eq!((&rows[0]["protocol"], &rows[2]["client_title"]), (&Value::Null, &Value::Null));
    assert_eq!(rows[2]["client_version"], Value::Null);
    let numbers: Vec<_> = called_by(&conn).into_iter().map(|(_, caller)| caller).collect();
    assert_eq!(numbers, [1, 2, 3].map(Some));
}

#[test]
fn people_04_the_actor_is_the_operators_and_the_user_the_kernels() {
    let [row, stateless] = ERAS.map(|era| {
        let mut client = Client::of(colibri().env("COLIBRI_ACTOR", "alice").env("USER", "mallory"), era);
        client.data("task_list", json!({}));
        callers(&client.server.sql())[0].clone()
    });
    assert_eq!((&row["actor"], &row["actor"]), (&stateless["actor"], &json!("alice")));
    assert_eq!((&row["os_user"], &row["host"]), (&stateless["os_user"], &stateless["host"]));
    assert_ne!(row["os_user"], "mallory");
    let uid = rustix::process::getuid().as_raw();
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let name = users.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        (fields.get(2) == Some(&uid.to_string().as_str())).then(|| fields[0].to_owned())
    });
    assert_eq!(row["os_user"], name.unwrap_or_else(|| format!("uid:{uid}")));

    for bad in ["x".repeat(129), " ".to_owned(), "a\u{1b}[2J".to_owned(), "a\nb".to_owned()] {
        let ended = colibri().env("COLIBRI_ACTOR", &bad).start().wait();
        assert_eq!(ended.code(), 1, "{bad:?}");
        let expected = "[colibri] fatal: COLIBRI_ACTOR must be 1 to 128 printable characters, not all of them blank; unset it to name none";
        assert_eq!(ended.last_message(), expected, "{bad:?}");
    }
    let mut longest = colibri().env("COLIBRI_ACTOR", "é".repeat(128)).start();
    longest.data("task_list", json!({}));
    assert_eq!(callers(&longest.sql())[0]["actor"], "é".repeat(128));
}

#[test]
fn people_05_a_client_that_changes_its_name_with_every_call_does_not_fill_the_file() {
    let mut server = colibri().start();
    for number in 0..1200 {
        let client = json!({ "name": format!("client {number}"), "version": "1" });
        let params = stateless(Some(&client), "task_list", json!({}));
        let answer = server.request("tools/call", params);
        assert_eq!(envelope(&answer)["ok"], json!(true));
    }
    let conn = server.sql();
    let rows = callers(&conn);
    assert_eq!(rows.len(), 1001);
    assert_eq!(names(&rows)[999..], [("meta", Some("client 999")), ("many", None)]);
    assert_eq!(rows[1000]["protocol"], Value::Null);
    assert_eq!(called_by(&conn).len(), 1200);
    let ended = server.finish();
    let warnings = ended.warnings();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("more than 1000 changes of client"), "{warnings:?}");
}

#[test]
fn people_06_a_long_name_with_a_secret_and_an_escape_is_stored_and_shown_safely() {
    let key = "sk-ant-0123456789abcdef";
    let mut server = colibri().env("COLIBRI_ANTHROPIC_API_KEY", key).start();
    let name = format!("a\u{1b}[2J{key}{}", "é".repeat(10_000));
    initialize(&mut server, "2025-11-25", json!({ "name": name, "title": name, "version": name }));
    server.data("task_list", json!({}));
    let row = &callers(&server.sql())[0];
    let cut = |most: usize| -> String {
        format!("a\u{1b}[2J[redacted]{}", "é".repeat(most)).chars().take(most).collect()
    };
    assert_eq!((&row["client_name"], &row["client_title"]), (&json!(cut(128)), &json!(cut(128))));
    assert_eq!(row["client_version"], cut(64));
    // The same in a stateless call.
    let params = stateless(Some(&json!({ "name": name, "version": "1" })), "task_list", json!({}));
    assert_eq!(envelope(&server.request("tools/call", params))["ok"], json!(true));
    assert_eq!(callers(&server.sql())[1]["client_name"], json!(cut(128)));
    let folder = server.shared_folder();
    assert_eq!(server.finish().code(), 0);
    let output = colibri().in_folder(folder).arg("log").command().output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    assert_eq!(shown.matches("a\\u{1b}[2J[redacted]").count(), 2, "{shown}");
    assert!(!shown.contains('\u{1b}') && !shown.contains(key), "{shown}");
}

#[test]
fn people_07_the_row_of_a_caller_gives_the_reply_of_its_call() {
    for (era, source, protocol) in
        [(Era::Handshake, "initialize", "2025-06-18"), (Era::Stateless, "meta", "2026-07-28")]
    {
        let mut client = Client::of(colibri().env("COLIBRI_ACTOR", "alice"), era);
        client.data("task_list", json!({}));
        its_reply_is_the_row(&client.server.sql(), source, protocol);
    }
}

fn its_reply_is_the_row(conn: &Connection, source: &str, protocol: &str) {
    let row = &callers(conn)[0];
    let reply = json!({ "ok": true, "data": row });
    let begun = &actions(conn)[0];
    let hash = sha256_hex(canonical_json(&reply, NumberRule::Wire).unwrap().as_bytes());
    assert_eq!((begun.tool.as_str(), begun.result_hash.as_deref()), ("caller_begin", Some(&*hash)));
    let arguments = json!({
        "source": source, "client_name": "people", "client_title": null, "client_version": "1", "protocol": protocol,
    });
    let hash = sha256_hex(canonical_json(&arguments, NumberRule::Wire).unwrap().as_bytes());
    assert_eq!(begun.args_hash, hash);
    let subject: String = conn
        .query_row("SELECT subject FROM actions WHERE sequence_no = ?1", [begun.sequence_no], |row| {
            row.get(0)
        })
        .unwrap();
    assert_eq!(subject, "1");
}
