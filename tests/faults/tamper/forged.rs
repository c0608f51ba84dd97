//! What an attacker who recomputes everything in the file can do, and what a checkpoint from before makes of it.

use colibri_test_support::dice::Dice;
use colibri_test_support::forger::recompute;

use crate::tamper::kinds::{Kind, case};
use crate::tamper::table;
use crate::tamper::verifier::Verifier;
use crate::tamper::world::World;

/// Changes that the file alone cannot tell once everything is recomputed.
const FORGERIES: &[(&str, &[&str])] = &[
    ("another title", &["UPDATE tasks SET title = 'another' WHERE rowid = 2"]),
    ("another state", &["UPDATE tasks SET status = 'DONE' WHERE rowid = 3"]),
    ("no dependencies", &["DELETE FROM task_dependencies"]),
    ("another thought", &["UPDATE thought_records SET content = 'never meant it' WHERE seq = 2"]),
    ("another author", &["UPDATE thought_records SET agent_id = 'somebody' WHERE seq = 3"]),
    ("another time", &["UPDATE thought_records SET timestamp = '2026-01-01T00:00:00.000Z' WHERE seq = 4"]),
    ("another intent", &["UPDATE audit_sessions SET intent = 'harmless' WHERE intent = 'second'"]),
    (
        "a seal of another time",
        &[
            "UPDATE merkle_roots SET finalized_at = '2026-01-01T00:00:00.000Z' WHERE rowid = 1",
            "UPDATE tree_heads SET finalized_at = '2026-01-01T00:00:00.000Z' WHERE head_index = 0",
        ],
    ),
    ("another tool", &["UPDATE actions SET tool = 'server_ping' WHERE outcome = 'invalid'"]),
    ("another argument", &["UPDATE actions SET args_hash = row_hash WHERE exit_no = 5"]),
    ("a failed call less", &["DELETE FROM actions WHERE outcome = 'running'"]),
    (
        "the newest task less, with its calls",
        &[
            "DELETE FROM actions WHERE outcome = 'running' OR subject = (SELECT id FROM tasks ORDER BY rowid DESC LIMIT 1)",
            "DELETE FROM tasks WHERE rowid = (SELECT max(rowid) FROM tasks)",
        ],
    ),
    (
        "the newest thought less, with its call",
        &[
            "DELETE FROM actions WHERE outcome = 'running' OR sequence_no >= \
             (SELECT sequence_no FROM thought_records ORDER BY seq DESC LIMIT 1)",
            "DELETE FROM tasks WHERE rowid = (SELECT max(rowid) FROM tasks)",
            "DELETE FROM thought_records WHERE seq = (SELECT max(seq) FROM thought_records)",
        ],
    ),
    (
        "the newest entry of the ledger less, with all it left",
        &[
            "UPDATE reputations SET (score, last_activity_epoch) = \
             (SELECT l.score_before, (SELECT max(epoch) FROM reputation_history WHERE node_id = h.node_id \
              AND domain = h.domain AND id < h.id) FROM reputation_ledger AS l JOIN reputation_history AS h \
              ON h.id = l.history_id ORDER BY h.id DESC LIMIT 1) \
             WHERE (node_id, domain) = (SELECT node_id, domain FROM reputation_history ORDER BY id DESC LIMIT 1)",
            "DELETE FROM reputation_ledger WHERE history_id = (SELECT max(history_id) FROM reputation_ledger)",
            "DELETE FROM reputation_history WHERE id = (SELECT max(id) FROM reputation_history)",
            "UPDATE sqlite_sequence SET seq = seq - 1 WHERE name = 'reputation_history'",
        ],
    ),
];

#[test]
fn a_history_that_was_recomputed_as_a_whole_is_told_by_the_checkpoint_alone() {
    let world = World::small();
    let (_folder, path) = world.copy();
    let verifier = Verifier::open(&path);
    let checkpoint_of_the_same = verifier
        .tampered(&["UPDATE tasks SET title = title".to_owned()], |verifier| {
            recompute(&verifier.db);
            verifier.inside()
        })
        .unwrap();
    assert!(
        checkpoint_of_the_same.is_sound(),
        "the forger computes as the server does: {:#?}",
        checkpoint_of_the_same.findings
    );
    for (what, sql) in FORGERIES {
        let sql: Vec<String> = sql.iter().map(|sql| (*sql).to_owned()).collect();
        let (inside, outside) = verifier
            .tampered(&sql, |verifier| {
                recompute(&verifier.db);
                (verifier.inside(), verifier.with_checkpoint())
            })
            .unwrap_or_else(|| panic!("{what}: refused"));
        assert!(inside.is_sound(), "{what}: the forgery is not perfect: {:#?}", inside.findings);
        let told: Vec<_> = outside.findings.kinds().iter().map(|found| found.first.check).collect();
        assert!(!told.is_empty() && told.iter().all(|check| *check == "checkpoint"), "{what}: {told:?}");
    }
}

/// What a forger may change at will and still recompute.
const LOOSE: &[(&str, &[&str])] = &[
    (
        "tasks",
        &[
            "title",
            "project_id",
            "description",
            "priority",
            "assignee",
            "created_at",
            "updated_at",
            "deleted_at",
        ],
    ),
    ("audit_sessions", &["intent", "task_id", "started_at"]),
    ("thought_records", &["agent_id", "timestamp"]),
    (
        "actions",
        &["correlation_id", "boot_id", "request_id", "args_hash", "trace_context", "enter_ms", "entered_at"],
    ),
];

#[test]
fn random_forgeries_are_told_by_the_checkpoint() {
    let world = World::small();
    let (_folder, path) = world.copy();
    let tables = table::all(&rusqlite::Connection::open(&path).unwrap());
    let verifier = Verifier::open(&path);
    let mut done = 0;
    let forgeries = super::tampers() / 25;
    for seed in (0xF0_0000..).take(forgeries) {
        let dice = Dice::new(seed);
        let (name, columns) = *dice.pick(LOOSE);
        let table = tables.iter().find(|table| table.name == name).unwrap();
        let turn = table.column(columns[dice.place(columns.len())]);
        let Some(case) = case(Kind::Edit, table, turn, &dice) else { continue };
        let told = verifier.tampered(&case.sql, |verifier| {
            recompute(&verifier.db);
            !verifier.with_checkpoint().is_sound()
        });
        assert_ne!(told, Some(false), "seed {seed}: {case:?}");
        done += usize::from(told.is_some());
    }
    assert!(done * 5 > forgeries * 4, "{done} of {forgeries}");
}
