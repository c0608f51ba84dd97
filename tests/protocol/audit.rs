//! chain#audit-row: the table of calls, and what survives failures.
//!
//! `router_call` is not in the catalogue yet; the probe's network tool stands in for it (34, 62), its
//! tool with a sensitive argument for `consensus_vote` (37), and a deferred foreign key makes COMMIT
//! itself fail (63).

use colibri_test_support::sql::Refused;
use colibri_test_support::sqlite_only;
use std::path::Path;

use colibri_canonical::{NumberRule, canonical_json, sha256_hex};
use colibri_test_support::actions::{action_of, actions, await_running, client_calls};
use colibri_test_support::client::{Launch, envelope, warnings};
use colibri_test_support::embed::{ManualClock, Recorder, Seen, Spy, Wire, block_on, converse, options};
use colibri_test_support::engine;
use colibri_test_support::probe;
use serde_json::{Value, json};

fn colibri() -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_colibri-under-test"))
}

fn probe() -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_probe"))
}

fn canonical_hash(value: &Value) -> String {
    sha256_hex(canonical_json(value, NumberRule::Wire).unwrap().as_bytes())
}

#[test]
fn every_call_has_one_closed_row_and_two_events() {
    let mut server = colibri().start();
    let calls = [
        ("server_ping", json!({})),
        ("task_create", json!({ "title": "A" })),
        ("task_create", json!({})),
        ("task_get", json!({ "id": "nope" })),
        ("task_delete", json!({})),
        ("server_health", json!({})),
    ];
    server.ready_by("task_list", json!({}));
    for (tool, arguments) in &calls {
        server.send_call(tool, arguments.clone());
        server.receive();
    }
    // One more stores who calls.
    let count = calls.len() as i64 + 2;
    let conn = server.sql();
    let rows = actions(&conn);
    assert_eq!(rows.iter().map(|row| row.sequence_no).collect::<Vec<_>>(), (1..=count).collect::<Vec<_>>());
    let ends: Vec<_> = rows.iter().map(|row| row.end()).collect();
    let expected = [
        ("ok", None),
        ("ok", None),
        ("ok", None),
        ("ok", None),
        ("invalid", Some("INVALID_PARAMS")),
        ("domain_error", Some("ERR_NOT_FOUND")),
        ("denied", Some("UNKNOWN_TOOL")),
        ("ok", None),
    ];
    assert_eq!(ends, expected);
    let mut events = conn.prepare("SELECT sequence_no, event FROM action_events ORDER BY 1, 2").unwrap();
    let events: Vec<(i64, String)> =
        events.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect();
    let twice = |no: i64| [(no, "enter".to_owned()), (no, "exit".to_owned())];
    assert_eq!(events, (1..=count).flat_map(twice).collect::<Vec<_>>());
}

#[test]
fn hashes_are_those_a_client_computes() {
    let mut server = colibri().start();
    let empty = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
    let two_keys = "24bcb649054e090c6d54107da78b71d5412a81957b8a08176a65aeb19b4c9aba";
    let calls = [
        ("task_list", "{}", empty),
        ("task_list", "null", empty),
        ("task_create", r#"{"title":"A","priority":"high"}"#, two_keys),
        ("task_create", r#"{ "priority": "high", "title": "\u0041" }"#, two_keys),
    ];
    let mut envelopes = Vec::new();
    for (id, (tool, arguments, _)) in calls.iter().enumerate() {
        let params = format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#);
        server
            .send_line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#));
        envelopes.push(envelope(&server.receive()));
    }
    for ((row, (tool, arguments, hash)), envelope) in
        client_calls(&server.sql()).iter().zip(calls).zip(envelopes)
    {
        assert_eq!(row.args_hash, hash, "{tool} {arguments}");
        assert_eq!(row.result_hash.as_deref(), Some(&*canonical_hash(&envelope)), "{tool} {arguments}");
    }
}

#[test]
fn the_table_is_append_only_and_closed_once() {
    sqlite_only!("in PostgreSQL privileges refuse what triggers refuse in SQLite");
    let mut server = colibri().start();
    server.data("task_list", json!({}));
    let conn = server.sql();
    let insert = |outcome: &str| {
        format!(
            "INSERT INTO actions (sequence_no, correlation_id, boot_id, tool, mode, args_hash, entered_at, \
             enter_ms, outcome) SELECT 3, correlation_id, boot_id, tool, mode, args_hash, entered_at, 0, \
             '{outcome}' FROM actions WHERE sequence_no = 2"
        )
    };
    let refused = |sql: &str| conn.execute(sql, ()).unwrap_err().to_string();
    for (sql, text) in [
        (insert("ok"), "actions rows start as running"),
        ("UPDATE actions SET duration_ms = 0".into(), "actions row already closed"),
        ("UPDATE actions SET outcome = 'running'".into(), "actions row already closed"),
        ("DELETE FROM actions".into(), "actions is append-only"),
        ("INSERT OR REPLACE INTO actions SELECT * FROM actions".into(), "actions rows start as running"),
    ] {
        assert_eq!(refused(&sql), text, "{sql}");
    }
    conn.execute(&insert("running"), ()).unwrap();
    for (sql, text) in [
        ("UPDATE actions SET tool = 'x' WHERE sequence_no = 3", "actions enter fields are immutable"),
        (
            "UPDATE actions SET args_hash = boot_id WHERE sequence_no = 3",
            "actions enter fields are immutable",
        ),
        ("UPDATE actions SET error_message = 'x' WHERE sequence_no = 3", "actions row already closed"),
        ("DELETE FROM actions WHERE sequence_no = 3", "actions is append-only"),
    ] {
        assert_eq!(refused(sql), text, "{sql}");
    }
}

#[test]
fn a_call_of_a_killed_process_is_aborted_and_numbers_go_on() {
    let mut server = probe().start();
    server.data("probe_echo", json!({ "required": "x" }));
    server.send_call("probe_network", json!({ "ms": 600_000 }));
    let left = await_running(&server, "probe_network");
    let (folder, sql) = (server.shared_folder(), server.sql());
    server.kill();
    sql.end_lease(&left.boot_id);

    let mut server = probe().in_folder(folder).start();
    server.data("probe_echo", json!({ "required": "y" }));
    let rows = actions(&server.sql());
    assert_eq!(rows.iter().map(|row| row.sequence_no).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    let rows = client_calls(&server.sql());
    let aborted = &rows[1];
    assert_eq!(aborted.sequence_no, left.sequence_no);
    assert_eq!(aborted.end(), ("aborted", Some("PROCESS_ABORTED")));
    // A lease that has run out says nothing of the process on another machine: it may have slept.
    let told = match engine::is_postgres() {
        true => "process gave no sign of life for longer than its lease before audit exit",
        false => "process ended before audit exit",
    };
    assert_eq!(aborted.error_message.as_deref(), Some(told));
    assert_eq!((&aborted.result_hash, aborted.duration_ms), (&None, None));
    assert_eq!(rows[2].end(), ("ok", None));
    assert_eq!(warnings(&server.stderr()).len(), 1, "{}", server.stderr());
}

#[test]
fn durations_are_floored_milliseconds_of_the_injected_clock() {
    let folder = tempfile::tempdir().unwrap();
    let (wire, streams) = Wire::pair();
    let (clock, sink) = (ManualClock::at(100.2), Recorder::default());
    let (spy, _) = Spy::new(probe::Dispatcher(probe::Probe));
    let at_work = clock.clone();
    let mut options = options(streams, folder.path());
    options.clock = clock;
    options.audit = sink.choice();
    let spy = spy.before(move || at_work.set(105.9));
    let mut server = colibri::lifecycle::server::create_server(&probe::CATALOGUE, spy, options).unwrap();
    block_on(converse(&mut server, wire, async |wire: &mut Wire| {
        wire.call("probe_echo", json!({ "required": "x" })).await;
    }));
    let durations: Vec<i64> = sink
        .seen()
        .iter()
        .filter_map(|seen| match seen {
            Seen::Exit { duration_ms, .. } => Some(*duration_ms),
            Seen::Enter(..) => None,
        })
        .collect();
    assert_eq!(durations, [5]);
}

#[test]
fn a_ping_of_phase_1_is_answered_at_once_and_stored_before_gated_calls() {
    let mut server = probe().env("PROBE_OPEN_DELAY_MS", "3000").start();
    let gated = server.send_call("probe_echo", json!({ "required": "x" }));
    let early = server.data("probe_status", json!({}));
    assert_eq!((&early["ready"], &early["audit_sink"]), (&json!(false), &json!("buffer")), "{early}");
    assert_eq!((&early["last_sequence_no"], &early["queue_depth"]), (&Value::Null, &json!(1)), "{early}");
    assert!(!server.stderr().contains("Phase 2 ready"), "{}", server.stderr());
    assert_eq!(server.receive()["id"], json!(gated));
    let late = server.data("probe_status", json!({}));
    let sink = if engine::is_postgres() { "postgres" } else { "sqlite" };
    assert_eq!((&late["audit_sink"], &late["last_sequence_no"]), (&json!(sink), &json!(4)), "{late}");
    let tools: Vec<String> = actions(&server.sql()).into_iter().map(|row| row.tool).collect();
    assert_eq!(tools, ["caller_begin", "probe_status", "probe_echo", "probe_status"]);
}

#[test]
fn a_private_key_is_in_no_column_and_no_log_line() {
    let key = "5f1d36f1e0c0ffee5f1d36f1e0c0ffee";
    let mut server = probe().env("COLIBRI_LOG_LEVEL", "trace").start();
    server.data("probe_secret", json!({ "privKey": key }));
    server.call("probe_secret", json!({ "privKey": key, "more": 1 }));
    server.call("probe_secret", json!({ "privKey": [key] }));
    let folder = server.shared_folder();
    let ended = server.finish();
    assert!(!ended.stderr.contains(key), "{}", ended.stderr);
    let conn = engine::open(folder.path().join("colibri.db"));
    assert_eq!(client_calls(&conn).len(), 3);
    drop(conn);
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        assert!(!bytes.windows(key.len()).any(|part| part == key.as_bytes()), "{}", path.display());
    }
}

#[test]
fn only_calls_of_dead_processes_are_closed_by_others() {
    let mut alive = probe().env("COLIBRI_SESSION_ID", "inherited").start();
    alive.data("probe_echo", json!({ "required": "x" }));
    let mut killed = probe().beside(&alive).env("COLIBRI_SESSION_ID", "inherited").start();
    let reply = alive.send_call("probe_network", json!({ "ms": 6000 }));
    let mine = await_running(&alive, "probe_network");
    killed.send_call("probe_network", json!({ "ms": 600_000 }));
    let conn = alive.sql();
    let theirs = loop {
        let found = actions(&conn).into_iter().find(|row| row.outcome == "running" && *row != mine);
        if let Some(row) = found {
            break row;
        }
    };
    assert_ne!(mine.boot_id, theirs.boot_id);
    for boot_id in [&mine.boot_id, &theirs.boot_id] {
        assert!(boot_id.starts_with("inherited:"), "{boot_id}");
    }
    killed.kill();
    conn.end_lease(&theirs.boot_id);

    let mut third = probe().beside(&alive).start();
    third.data("probe_echo", json!({ "required": "y" }));
    let row = |no: i64| actions(&conn).into_iter().find(|row| row.sequence_no == no).unwrap();
    assert_eq!(row(theirs.sequence_no).end(), ("aborted", Some("PROCESS_ABORTED")));
    assert_eq!(row(mine.sequence_no).end(), ("running", None));
    assert_eq!(alive.receive()["id"], json!(reply));
    assert_eq!(row(mine.sequence_no).end(), ("ok", None));
}

/// Commits in a write-ahead log: frames of its last round that say how large the database is now.
/// Source: the SQLite file format, "WAL File Format".
fn commits(log: &Path) -> usize {
    let bytes = std::fs::read(log).unwrap();
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    let (page_bytes, salts) = (number(8) as usize, (number(16), number(20)));
    (32..bytes.len())
        .step_by(24 + page_bytes)
        .filter(|at| (number(at + 8), number(at + 12)) == salts && number(at + 4) != 0)
        .count()
}

#[test]
fn pipelined_calls_share_two_commits() {
    sqlite_only!("it counts commits in SQLite's log");
    let mut server = colibri().start();
    server.ready_by("task_list", json!({}));
    let log = server.folder().join("colibri.db-wal");
    let before = commits(&log);
    let lines: String = (0..64)
        .map(|id| {
            let params = json!({ "name": "task_create", "arguments": { "title": format!("{id}") } });
            format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }))
        })
        .collect();
    server.send_bytes(lines.as_bytes());
    for id in 0..64 {
        let answer = server.receive();
        assert_eq!(answer["id"], json!(id));
        assert_eq!(envelope(&answer)["data"]["title"], json!(format!("{id}")));
    }
    assert_eq!(commits(&log) - before, 2);
    let conn = server.sql();
    let rows = actions(&conn);
    assert!(rows.len() == 66 && rows.iter().all(|row| row.outcome == "ok"), "{rows:?}");
    let tasks: i64 = conn.query_row("SELECT count(*) FROM tasks", [], |row| row.get(0)).unwrap();
    assert_eq!(tasks, 64);
}

#[test]
fn a_failed_commit_stores_nothing_and_says_so_to_every_call() {
    let mut server = probe().start();
    server.ready_by("probe_echo", json!({ "required": "x" }));
    // What is looked at only when the batch commits.
    server.sql().refuse(Refused::Commits("probe"));
    let lines: String = (0..64)
        .map(|id| {
            let params = json!({ "name": "probe_write", "arguments": { "key": format!("{id}") } });
            format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }))
        })
        .collect();
    server.send_bytes(lines.as_bytes());
    for id in 0..64 {
        let answer = server.receive();
        assert_eq!(answer["id"], json!(id));
        let envelope = envelope(&answer);
        assert_eq!(envelope["error"]["code"], "HANDLER_ERROR", "{envelope}");
        let message = envelope["error"]["message"].as_str().unwrap();
        assert!(message.starts_with("STORE_COMMIT_FAILED: "), "{message}");
        let remedy = "Read before you repeat: it is stored whole or not at all.";
        assert_eq!(envelope["error"]["details"], json!({ "remedy": remedy }));
    }
    server.data("probe_echo", json!({ "required": "after" }));
    let conn = server.sql();
    let stored: i64 = conn.query_row("SELECT count(*) FROM probe", [], |row| row.get(0)).unwrap();
    assert_eq!(stored, 0);
    // Their rows were closed first thing in the next transaction (chain#two-transactions).
    let rows = actions(&conn);
    let failed: Vec<_> = rows.iter().filter(|row| row.tool == "probe_write").collect();
    assert_eq!(failed.len(), 64);
    for row in failed {
        assert_eq!(row.end(), ("error", Some("STORE_COMMIT_FAILED")), "{row:?}");
    }
}

#[test]
fn acknowledged_calls_survive_a_kill_under_load() {
    let mut server = colibri().start();
    server.ready_by("task_list", json!({}));
    let window = 16;
    let mut acknowledged = Vec::new();
    for round in 0..window {
        server.send_call("task_create", json!({ "title": format!("{round}") }));
    }
    while acknowledged.len() < 200 {
        acknowledged.push(envelope(&server.receive())["data"]["id"].as_str().unwrap().to_owned());
        server.send_call("task_create", json!({ "title": "more" }));
    }
    let folder = server.shared_folder();
    let ended = server.kill();
    acknowledged.extend(ended.rest.iter().map(|a| envelope(a)["data"]["id"].as_str().unwrap().to_owned()));

    let sql = engine::open(folder.path().join("colibri.db"));
    for row in actions(&sql).iter().filter(|row| row.outcome == "running") {
        sql.end_lease(&row.boot_id);
    }
    let mut server = colibri().in_folder(folder).start();
    for id in &acknowledged {
        assert_eq!(server.data("task_get", json!({ "id": id }))["id"], json!(id));
    }
    let rows = actions(&server.sql());
    assert!(rows.iter().all(|row| row.outcome == "ok" || row.outcome == "aborted"), "{rows:?}");
}

#[test]
fn an_unknown_durability_is_refused() {
    let ended = colibri().env("COLIBRI_DURABILITY", "loud").start().wait();
    assert_eq!(ended.code(), 1);
    assert_eq!(
        ended.last_message(),
        "[colibri] fatal: COLIBRI_DURABILITY must be one of full, normal, replicated"
    );
    let mut relaxed = colibri().env("COLIBRI_DURABILITY", "normal").start();
    relaxed.data("task_create", json!({ "title": "A" }));
    assert_eq!(action_of(&relaxed.sql(), "task_create").end(), ("ok", None));
}
