//! What an import does.

use colibri_test_support::engine;
use std::process::Stdio;

use serde_json::json;

use super::world::{World, counts, gain, lines, penalty};

#[test]
fn the_same_file_twice_adds_nothing_and_a_dry_run_never_does() {
    let world = World::new();
    let now = world.epoch();
    let events = [
        gain("e1", "alice", "bob", 500, now - 2),
        gain("e2", "alice", "alice", 500, now),
        penalty("e3", "alice", "social", "minor", now - 1),
        gain("e4", "bob", "alice", -500, now),
    ];
    let text = lines(&events);
    let rehearsed = world.import_text(&text, &["--dry-run"]).ends(0);
    assert_eq!(rehearsed.json(), counts(2, 0, 2));
    let counter = (!engine::is_postgres()).then_some("sqlite_sequence");
    let tables = ["reputations", "reputation_history", "reputation_ledger", "reputation_clock"];
    for table in tables.into_iter().chain(counter) {
        assert_eq!(world.count(table), 0, "{table} after a dry run");
    }
    assert_eq!(world.import(&events).ends(0).json(), counts(2, 0, 2));
    let standings = world.standings();
    // The ignored events leave no trace, so they are ignored again and do not count as duplicates.
    assert_eq!(world.import(&events).ends(0).json(), counts(0, 2, 2));
    assert_eq!(world.import_text(&text, &["--dry-run"]).ends(0).json(), counts(0, 2, 2));
    assert_eq!(world.standings(), standings);
    assert_eq!(world.count("reputation_ledger"), 2);
    world.run(&["verify"]).ends(0);
}

#[test]
fn a_dry_run_counts_duplicates_within_the_file_as_the_import_does() {
    let world = World::new();
    let now = world.epoch();
    let events = [
        gain("e1", "alice", "bob", 500, now),
        gain("e1", "alice", "carol", 300, now),
        json!(null),
        gain("e1", "bob", "x", 1, now),
    ];
    let text = lines(&events).replace("null", "");
    assert_eq!(world.import_text(&text, &["--dry-run"]).ends(0).json(), counts(2, 1, 0));
    assert_eq!(world.import_text(&text, &[]).ends(0).json(), counts(2, 1, 0));
}

#[test]
fn fraud_in_all_domains_lowers_every_ceiling_for_good() {
    let world = World::new();
    let now = world.epoch();
    let start = now - 20;
    world.import(&[penalty("case", "mallory", "*", "fraud", start)]).ends(0);
    let domains = ["arbitration", "commissioning", "execution", "governance", "social"];
    let expected: Vec<_> = domains
        .iter()
        .map(|domain| ("mallory".to_owned(), (*domain).to_owned(), 0, 5000, Some(start + 100), start))
        .collect();
    assert_eq!(world.standings(), expected);

    // Bob's word is strong: it lifts an agent without a scar beyond 5000.
    let mut events = Vec::new();
    for round in 0..12 {
        let epoch = start + 1 + round;
        let event = |what: &str| format!("{what}-{round}");
        events.push(gain(&event("bob"), "bob", "nobody", 10_000, epoch));
        if round >= 5 {
            events.push(gain(&event("mallory"), "mallory", "bob", 10_000, epoch));
            events.push(gain(&event("carol"), "carol", "bob", 10_000, epoch));
        }
    }
    assert_eq!(world.import(&events).ends(0).json(), counts(26, 0, 0));
    let social: Vec<_> = world.standings().into_iter().filter(|row| row.1 == "social").collect();
    let scores: Vec<_> = social.iter().map(|row| (row.0.as_str(), row.2, row.3)).collect();
    assert_eq!(scores, [("bob", 5000, 0), ("carol", 7000, 0), ("mallory", 5000, 5000)]);
    world.run(&["verify"]).ends(0);
}

#[test]
fn lines_are_applied_by_epoch_and_then_by_line() {
    let world = World::new();
    let now = world.epoch();
    // Backwards in the file: each would be out of order as it stands.
    let events: Vec<_> = (0..4).map(|age| gain(&format!("e{age}"), "alice", "bob", 100, now - age)).collect();
    assert_eq!(world.import(&events).ends(0).json(), counts(4, 0, 0));
    let sql = world.sql();
    let mut events = sql.prepare("SELECT event_id FROM reputation_history ORDER BY id").unwrap();
    let order: Vec<String> = events.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert_eq!(order, ["e3", "e2", "e1", "e0"]);
}

#[test]
fn blank_lines_and_windows_line_ends_are_no_fault() {
    let world = World::new();
    let now = world.epoch();
    let text = format!(
        "\u{feff}\r\n{}\r\n   \n\n{}",
        gain("a", "alice", "bob", 100, now),
        gain("b", "alice", "bob", 100, now)
    );
    assert_eq!(world.import_text(&text, &[]).ends(0).json(), counts(2, 0, 0));
    assert_eq!(world.import_text("", &[]).ends(0).json(), counts(0, 0, 0));
}

#[test]
fn an_import_runs_beside_a_server() {
    let world = World::new();
    let mut server = world.server();
    server.data("task_list", json!({}));
    let now = world.epoch();
    world.import(&[gain("e1", "alice", "bob", 500, now)]).ends(0);
    let reply = server
        .data("reputation_get", json!({ "node_id": "alice", "domain": "social", "current_epoch": now }));
    assert_eq!(reply["row"]["score"], 50);
    assert_eq!(server.finish().code(), 0);
    world.run(&["verify"]).ends(0);
}

#[test]
fn an_interrupted_import_leaves_all_or_nothing() {
    for signal in ["-INT", "-TERM", "-KILL"] {
        let world = World::new();
        let now = world.epoch();
        let events: Vec<_> = (0..3000).map(|n| gain(&format!("e{n}"), "alice", "bob", 100, now)).collect();
        let path = world.path("many.jsonl");
        std::fs::write(&path, lines(&events)).unwrap();
        world.import(&[]).ends(0);
        let conn = world.sql();
        let mut command = world.launch().command();
        command.args(["reputation", "import"]).arg(&path).stdout(Stdio::null());
        let mut child = command.spawn().unwrap();
        // As soon as the call is in the log its effects are on their way.
        let running = || -> bool {
            let sql = "SELECT EXISTS (SELECT 1 FROM actions WHERE outcome = 'running')";
            conn.query_row(sql, [], |row| row.get(0)).unwrap()
        };
        while !running() && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        // It may have ended by itself meanwhile, which is as good.
        let pid = child.id().to_string();
        let _ = std::process::Command::new("kill").args([signal, &pid]).output().unwrap();
        child.wait().unwrap();
        let entries = world.count("reputation_ledger");
        assert!(entries == 0 || entries == 3000, "{signal}: {entries} entries");
        world.run(&["verify"]).ends(0);
        // What came first still works, and the next import closes what was left open, where machines share the database when
        // the lease of the process has ended.
        let open = "SELECT boot_id FROM actions WHERE outcome = 'running'";
        let mut open = conn.prepare(open).unwrap();
        for boot_id in open.query_map([], |row| row.get::<_, String>(0)).unwrap() {
            conn.end_lease(&boot_id.unwrap());
        }
        world.import(&events).ends(0);
        assert_eq!(world.count("reputation_ledger"), 3000, "{signal}");
        assert_eq!(world.count("actions WHERE outcome = 'running'"), 0, "{signal}");
        world.run(&["verify"]).ends(0);
    }
}
