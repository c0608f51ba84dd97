//! Every statement of the server prepares on PostgreSQL, with the types of its parameters, and the roles have the rights for
//! it. The statements are those that a server and the commands execute on SQLite.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use colibri_codegen::catalogue::{Example, Runs};
use colibri_codegen::examples::bound;
use colibri_test_support::client::{Launch, Server};
use colibri_test_support::postgres::{Database, Role};
use serde_json::{Value, json};

use crate::catalogue_examples::catalogue;

/// What only SQLite is asked, by the modules that know the engine: its own tables, and what it knows of itself.
const OF_SQLITE: [&str; 3] = ["sqlite_", "pragma_", "PRAGMA "];

/// The least number of statements. A scenario that lost its way would collect fewer.
const LEAST: usize = 180;

fn launch(file: &Path) -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_colibri-under-test"))
        .env("PROBE_STATEMENTS", file)
        .env("COLIBRI_DB_PATH", "colibri.db")
        .env("COLIBRI_ROUTER_CANDIDATES", "db")
}

/// Makes the calls of an example as far as they can be bound; what they answer does not matter.
fn play(server: &mut Server, tool: &str, example: &Example) {
    let mut kept = BTreeMap::new();
    for step in &example.before {
        if step.bind.values().any(|name| !kept.contains_key(name)) {
            return;
        }
        let envelope = server.call(&step.tool, bound(&step.arguments, &step.bind, &kept).unwrap());
        for (name, pointer) in &step.keep {
            kept.extend(envelope.pointer(pointer).map(|value: &Value| (name.clone(), value.clone())));
        }
    }
    if example.bind.values().all(|name| kept.contains_key(name)) {
        let _answer = server.call(tool, bound(&example.arguments, &example.bind, &kept).unwrap());
    }
}

/// A job with everything in it that the examples leave out.
fn work(server: &mut Server) -> (String, String) {
    let ids: Vec<Value> = ["one", "two"]
        .map(|title| server.data("task_create", json!({ "title": title, "project": "p" }))["id"].clone())
        .into();
    let session = json!({ "intent": "why", "session_id": "S-all", "task_id": ids[0] });
    server.data("audit_session_start", session);
    let mut record = Value::Null;
    for (agent_id, kind) in [("a", "plan"), ("b", "reflection")] {
        let thought = json!({
            "type": kind, "task_id": ids[0], "agent_id": agent_id, "content": "x", "session_id": "S-all"
        });
        record = server.data("thought_record", thought)["id"].clone();
    }
    server.call(
        "task_update",
        json!({ "id": ids[0], "patch": { "depends_on": [ids[1]], "priority": "p0", "assignee": null } }),
    );
    server.call("task_update", json!({ "id": ids[0], "patch": { "depends_on": [], "description": "d" } }));
    server.walk(&ids[0], "DONE");
    for filter in [
        json!({}),
        json!({ "status": "DONE", "project_id": "p", "include_deleted": true, "detail": "brief" }),
        json!({ "project_id": null, "limit": 1 }),
    ] {
        server.call("task_list", filter);
    }
    for filter in [
        json!({ "project_id": "p", "assignee": "a", "show_blocked": true }),
        json!({ "project_id": null, "assignee": null, "unclaimed": true }),
    ] {
        server.call("task_next_actions", filter);
    }
    server.call("task_history", json!({ "id": ids[0] }));
    server.call("audit_session_list", json!({ "task_id": ids[0] }));
    for filter in [
        json!({ "task_id": ids[0] }),
        json!({ "session_id": "S-all" }),
        json!({ "task_id": ids[0], "session_id": "S-all", "after": record }),
    ] {
        server.call("thought_record_list", filter);
    }
    server.data("merkle_finalize", json!({ "session_id": "S-all" }));
    let claimed = server.data("task_claim", json!({ "agent_id": "a", "project_id": "p" }));
    server.call("task_claim", json!({ "agent_id": "b", "id": ids[1] }));
    server.call("task_claim", json!({ "agent_id": "b", "project_id": "p" }));
    server.call("task_claim", json!({ "agent_id": "b", "project_id": null }));
    server.call("task_list", json!({ "project_id": "p" }));
    server.data("task_release", json!({ "id": ids[1], "claim": claimed["claim"] }));
    for filter in
        [json!({}), json!({ "task_id": ids[0] }), json!({ "session_id": "S-all", "task_id": ids[0] })]
    {
        server.call("audit_verify_chain", filter);
    }
    ("S-all".to_owned(), record.as_str().unwrap().to_owned())
}

fn commands(launch: &Launch, session: &str, record: &str) {
    let every = [
        "--outcome",
        "ok",
        "--boot",
        "b",
        "--actor",
        "me",
        "--client",
        "c",
        "--caller",
        "1",
        "--subject",
        "s",
    ];
    let times = ["--tool", "task_create", "--since", "2026", "--until", "2999", "--limit", "3", "--json"];
    for arguments in [
        &["verify", "--write-checkpoint", "checkpoint.json"][..],
        &["verify", "--checkpoint", "checkpoint.json"],
        &["doctor"],
        &["log"],
        &[&["log"][..], &every, &times].concat(),
        &["export", session],
        &["report", session, "--html", "page.html"],
        &["proof", session, record],
        &["retention"],
        &["reputation", "import", "events.jsonl"],
        &["reputation", "export"],
        &["reputation", "verify"],
        &["reputation", "epoch"],
        &["verify", "--checkpoint", "checkpoint.json"],
    ] {
        let output = launch.command().args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Returns the statements with the kinds of their parameters.
fn collected() -> BTreeSet<(String, String)> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("statements");
    std::fs::write(&file, "").unwrap();
    let launch = launch(&file);
    let skill = launch.folder().path().join(".agents/skills/colibri-pm");
    std::fs::create_dir_all(&skill).unwrap();
    std::fs::write(skill.join("SKILL.md"), "---\nname: colibri-pm\ndescription: d\n---\nBody.\n").unwrap();
    let event = json!({
        "kind": "gain", "event_id": "e", "node_id": "n", "domain": "social", "epoch": 0, "reason": "r", "delta": 5, "acker_id": "a"
    });
    std::fs::write(launch.folder().path().join("events.jsonl"), format!("{event}\n")).unwrap();
    let folder = launch.folder();
    let mut server = launch.start();
    server.ready_by("task_list", json!({}));
    for entry in catalogue().tools() {
        if entry.tool.runs != Runs::Operator {
            entry.tool.examples.iter().for_each(|example| play(&mut server, &entry.tool.name, example));
        }
    }
    let (session, record) = work(&mut server);
    server.finish();
    commands(&self::launch(&file).in_folder(folder), &session, &record);
    let text = std::fs::read_to_string(file).unwrap();
    text.lines()
        .map(|line| line.split_once('\t').unwrap())
        .map(|(kinds, sql)| (kinds.into(), sql.into()))
        .collect()
}

/// Returns the statement as PostgreSQL takes it: by a second, simpler translation than the server's.
fn translated(sql: &str) -> String {
    let sql = sql.replace('?', "$").replace(" OR FAIL ", " ");
    match sql.split_once(" INDEXED BY ") {
        None => sql,
        Some((before, after)) => format!("{before} {}", after.split_once(' ').map_or("", |(_, rest)| rest)),
    }
}

#[test]
fn every_statement_prepares_with_its_types_and_the_roles_may_run_it() {
    let Some(database) = Database::new() else { return };
    let statements: Vec<(String, String)> =
        collected().into_iter().filter(|(_, sql)| !OF_SQLITE.iter().any(|own| sql.contains(own))).collect();
    assert!(statements.len() > LEAST, "{} statements", statements.len());
    let (mut app, mut read) = (database.client(Role::App), database.client(Role::Read));
    let mut wrong = Vec::new();
    for client in [&mut app, &mut read] {
        client.batch_execute("SET search_path = colibri").unwrap();
    }
    for (at, (kinds, sql)) in statements.iter().enumerate() {
        let types: Vec<&str> =
            kinds.chars().map(|kind| if kind == 'i' { "bigint" } else { "unknown" }).collect();
        let types = if types.is_empty() { String::new() } else { format!("({})", types.join(", ")) };
        let nulls = vec!["NULL"; kinds.len()].join(", ");
        let nulls = if nulls.is_empty() { nulls } else { format!("({nulls})") };
        let prepare = format!("PREPARE s{at}{types} AS {}; EXPLAIN EXECUTE s{at}{nulls}", translated(sql));
        let reads = sql.starts_with("SELECT") || sql.starts_with("WITH");
        for client in [Some(&mut app), Some(&mut read).filter(|_| reads)].into_iter().flatten() {
            if let Err(error) = client.batch_execute(&prepare) {
                wrong.push(format!("{error:?}: {sql}"));
            }
        }
        let known = app
            .query_opt(
                "SELECT parameter_types::text[] FROM pg_prepared_statements WHERE name = $1",
                &[&format!("s{at}")],
            )
            .unwrap();
        let found: Vec<String> = known.map_or_else(Vec::new, |row| row.get(0));
        // A text goes as its bytes, which only text and bytea take.
        let unfit = kinds.chars().zip(&found).any(|(kind, found)| match kind {
            't' => found != "text" && found != "bytea",
            'b' => found != "bytea",
            _ => false,
        });
        if unfit {
            wrong.push(format!("{kinds} is taken as {found:?}: {sql}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
