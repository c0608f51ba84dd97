//! Both engines refuse the same rows: each column of each table with values at the borders of its rules, each way to close a
//! call, and what SQLite's triggers refuse.

use std::collections::{BTreeMap, BTreeSet};

use super::engines::{Both, Cell, Engines};
use super::rows::{number, rows, stage, staged, text};

/// Numbers at the borders of the tables' rules.
const NUMBERS: [i64; 17] =
    [i64::MIN, -1, 0, 1, 2, 3, 30, 31, 199, 200, 255, 256, 10_000, 10_001, 31_536_000, 31_536_001, i64::MAX];
const LENGTHS: [usize; 11] = [0, 1, 31, 32, 33, 35, 36, 63, 64, 65, 128];
/// Texts of another form: a prefix, which SQLite takes in either case.
const FORMS: [&str; 6] = ["TOK_1x", "tokx1", "WIT_x", "witx1", "tok_", "0"];

/// The words that the tables' rules name.
fn words(engines: &Engines) -> BTreeSet<String> {
    let mut statement = engines
        .sqlite
        .prepare("SELECT sql FROM sqlite_schema WHERE type = 'table' AND sql IS NOT NULL")
        .unwrap();
    let texts: Vec<String> =
        statement.query_map([], |row| row.get(0)).unwrap().map(|text| text.unwrap()).collect();
    let quoted = |sql: &String| sql.split('\'').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    let plain = |word: &String| word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
    texts.iter().flat_map(quoted).filter(plain).collect()
}

/// What is tried in place of a value.
fn instead(column: &str, cell: &Cell, words: &BTreeSet<String>) -> Vec<Cell> {
    let mut tried = vec![Cell::Null];
    match cell {
        Cell::Blob(_) => tried.extend(LENGTHS.map(Cell::Blob)),
        Cell::Integer(_) => tried.extend(NUMBERS.map(number)),
        Cell::Null if column == "ban_after" => tried.extend(NUMBERS.map(number)),
        Cell::Text(_) | Cell::Null => {
            tried.extend(words.iter().map(|word| text(word)));
            tried.extend(FORMS.map(text));
            tried.extend(LENGTHS.map(|length| Cell::Text("b".repeat(length))));
        }
    }
    tried
}

/// Keys that SQLite numbers if they are NULL or left out. PostgreSQL wants them from the server, which brings them.
const NUMBERED_BY_SQLITE: [&str; 7] = [
    "callers.caller_no",
    "claim_clock.id",
    "mcp_consensus_rounds.round_id",
    "mcp_consensus_votes.seq",
    "reputation_clock.id",
    "reputation_ledger.history_id",
    "tree_heads.head_index",
];

#[test]
fn both_engines_take_the_same_values_in_every_column() {
    let Some(mut engines) = stage() else { return };
    let words = words(&engines);
    let (mut tried, mut what) = (Vec::new(), Vec::new());
    for (table, row) in rows().into_iter().skip(2) {
        tried.push(Both::insert(table, &row));
        what.push((table.to_owned(), "as it is".to_owned()));
        for (at, (column, cell)) in row.iter().enumerate() {
            for other in instead(column, cell, &words) {
                let mut row = row.clone();
                what.push((
                    format!("{table}.{column}"),
                    if other == Cell::Null { "NULL".to_owned() } else { format!("{other:?}") },
                ));
                row[at].1 = other;
                tried.push(Both::insert(table, &row));
            }
            let mut row = row.clone();
            row.remove(at);
            what.push((format!("{table}.{column}"), "left out".to_owned()));
            tried.push(Both::insert(table, &row));
        }
    }
    let verdicts = engines.judge(&tried);
    let mut numbered = BTreeSet::new();
    for ((both, (place, value)), verdict) in tried.iter().zip(&what).zip(&verdicts) {
        match verdict {
            (true, false) if value == "left out" => {
                numbered.insert(place.as_str());
            }
            // As a value that is left out; but the history's own default does not replace a NULL.
            (true, false) if value == "NULL" => {
                assert!(
                    NUMBERED_BY_SQLITE.contains(&place.as_str()) || place == "reputation_history.id",
                    "{place}"
                );
            }
            (sqlite, postgres) => assert_eq!(sqlite, postgres, "{place} = {value}: {}", both.sqlite),
        }
        assert!(value != "as it is" || *verdict == (true, true), "{place}: {}", both.sqlite);
    }
    let taken = verdicts.iter().filter(|verdict| verdict.1).count();
    assert!(taken > 1000 && verdicts.len() - taken > 1000, "{taken} of {} were taken", verdicts.len());
    assert_eq!(numbered, BTreeSet::from(NUMBERED_BY_SQLITE));
}

const ENTER: [(&str, &str); 9] = [
    ("correlation_id", "c"),
    ("boot_id", "b"),
    ("request_id", "1"),
    ("tool", "task_create"),
    ("mode", "FULL"),
    ("args_hash", "h"),
    ("trace_context", "{}"),
    ("entered_at", "t"),
    ("enter_ms", ""),
];

#[test]
fn both_engines_take_the_same_enters() {
    let Some(mut engines) = Engines::new() else { return };
    let words = words(&engines);
    let row: Vec<(&str, Cell)> = ENTER
        .map(|(column, value)| (column, if column == "enter_ms" { number(0) } else { text(value) }))
        .into_iter()
        .chain([("sequence_no", number(1))])
        .collect();
    let mut tried = Vec::new();
    for (at, (column, cell)) in row.iter().enumerate() {
        // SQLite numbers a row without a number, and PostgreSQL's server never leaves it out.
        for other in instead(column, cell, &words)
            .into_iter()
            .filter(|other| *column != "sequence_no" || *other != Cell::Null)
        {
            let mut row = row.clone();
            row[at].1 = other;
            let sqlite = Both::insert("actions", &row).sqlite;
            tried.push(Both { sqlite, postgres: Both::insert("enters", &row).postgres });
        }
    }
    for (both, (sqlite, postgres)) in tried.iter().zip(engines.judge(&tried)) {
        assert_eq!(sqlite, postgres, "{}", both.postgres);
    }
}

#[test]
fn both_engines_close_a_call_in_the_same_ways() {
    let Some(mut engines) = Engines::new() else { return };
    let columns = "(sequence_no, correlation_id, boot_id, tool, mode, args_hash, entered_at, enter_ms)";
    let values = "VALUES (1, 'c', 'b', 't', 'FULL', 'h', 't', 0)";
    engines.run_both(&Both {
        sqlite: format!("INSERT INTO actions {columns} {values}"),
        postgres: format!("INSERT INTO enters {columns} {values}"),
    });
    let outcomes = ["running", "ok", "domain_error", "error", "invalid", "denied", "aborted", "other"];
    let filled = ["'CODE'", "'said'", "'r'", "5", "'t'", "1", "'p'", "'h'", "'id'"];
    let mut tried = Vec::new();
    for outcome in outcomes {
        for mask in 0..1 << filled.len() {
            let values: Vec<&str> = filled
                .iter()
                .enumerate()
                .map(|(at, value)| if mask >> at & 1 == 1 { value } else { "NULL" })
                .collect();
            tried.push(closing(outcome, &values));
        }
        for (at, odd) in [(3, "-1"), (3, "0"), (5, "0"), (5, "-1"), (5, "2")] {
            let mut values = filled.to_vec();
            values[at] = odd;
            for nothing in [&[0, 1][..], &[2, 3, 8], &[8]] {
                let mut values = values.clone();
                nothing.iter().filter(|place| **place != at).for_each(|place| values[*place] = "NULL");
                tried.push(closing(outcome, &values));
            }
        }
    }
    let verdicts = engines.judge(&tried);
    for (both, (sqlite, postgres)) in tried.iter().zip(&verdicts) {
        assert_eq!(sqlite, postgres, "{}", both.postgres);
    }
    assert!(verdicts.iter().filter(|verdict| verdict.1).count() > 20);
}

fn closing(outcome: &str, values: &[&str]) -> Both {
    let columns = [
        "error_code",
        "error_message",
        "result_hash",
        "duration_ms",
        "exited_at",
        "exit_no",
        "prev_hash",
        "row_hash",
        "subject",
    ];
    let set: Vec<String> =
        columns.iter().zip(values).map(|(column, value)| format!("{column} = {value}")).collect();
    let (names, list) = (columns.join(", "), values.join(", "));
    Both {
        sqlite: format!("UPDATE actions SET outcome = '{outcome}', {} WHERE sequence_no = 1", set.join(", ")),
        postgres: format!(
            "INSERT INTO exits (sequence_no, outcome, {names}) VALUES (1, '{outcome}', {list})"
        ),
    }
}

/// A statement on the stage, and whether both take it.
const STEPS: [(&str, bool); 32] = [
    // A record follows the tip, or the last row where there is no tip, or zeros.
    (
        "INSERT INTO thought_records (id, type, task_id, agent_id, content, timestamp, prev_hash, hash, created_at) VALUES ('x', 'plan', 'T', 'a', 'x', 't', '#1', '#9', 't')",
        true,
    ),
    (
        "INSERT INTO thought_records (id, type, task_id, agent_id, content, timestamp, prev_hash, hash, created_at) VALUES ('x', 'plan', 'T', 'a', 'x', 't', '#0', '#9', 't')",
        false,
    ),
    (
        "INSERT INTO thought_records (id, type, task_id, agent_id, content, timestamp, prev_hash, hash, created_at) VALUES ('x', 'plan', 'bare', 'a', 'x', 't', '#2', '#9', 't')",
        true,
    ),
    (
        "INSERT INTO thought_records (id, type, task_id, agent_id, content, timestamp, prev_hash, hash, created_at) VALUES ('x', 'plan', 'bare', 'a', 'x', 't', '#0', '#9', 't')",
        false,
    ),
    (
        "INSERT INTO thought_records (id, type, task_id, agent_id, content, timestamp, prev_hash, hash, created_at) VALUES ('x', 'plan', 'fresh', 'a', 'x', 't', '#0', '#9', 't')",
        true,
    ),
    (
        "INSERT INTO thought_records (id, type, task_id, agent_id, content, timestamp, prev_hash, hash, created_at) VALUES ('x', 'plan', 'fresh', 'a', 'x', 't', '#1', '#9', 't')",
        false,
    ),
    (
        "INSERT INTO thought_records (id, type, task_id, agent_id, content, timestamp, prev_hash, hash, created_at) VALUES ('x', 'plan', 'fresh', 'a', 'x', 't', NULL, '#9', 't')",
        false,
    ),
    (
        "INSERT INTO thought_records (id, type, task_id, agent_id, content, timestamp, prev_hash, hash, created_at, session_id) VALUES ('x', 'plan', 'fresh', 'a', 'x', 't', '#0', '#9', 't', 'open')",
        true,
    ),
    (
        "INSERT INTO thought_records (id, type, task_id, agent_id, content, timestamp, prev_hash, hash, created_at, session_id) VALUES ('x', 'plan', 'fresh', 'a', 'x', 't', '#0', '#9', 't', 'sealed')",
        false,
    ),
    (
        "INSERT INTO thought_records (id, type, task_id, agent_id, content, timestamp, prev_hash, hash, created_at, session_id) VALUES ('x', 'plan', 'fresh', 'a', 'x', 't', '#0', '#9', 't', 'leaf')",
        false,
    ),
    (
        "INSERT INTO thought_records (id, type, task_id, agent_id, content, timestamp, prev_hash, hash, created_at, session_id) VALUES ('x', 'plan', 'fresh', 'a', 'x', 't', '#0', '#9', 't', 'none')",
        false,
    ),
    // Contents only move forward between zones, and keep their digest.
    (
        "UPDATE thought_records SET zone = 'warm', content = NULL, content_compressed = 'x', content_hash = '#d' WHERE id = 'R1'",
        true,
    ),
    ("UPDATE thought_records SET zone = 'cold', content = NULL, content_hash = '#d' WHERE id = 'R1'", true),
    ("UPDATE thought_records SET zone = 'hot' WHERE id = 'R1'", false),
    ("UPDATE thought_records SET content = 'other' WHERE id = 'R1'", false),
    (
        "UPDATE thought_records SET zone = 'warm', content = NULL, content_compressed = 'x' WHERE id = 'R1'",
        false,
    ),
    (
        "UPDATE thought_records SET zone = 'warm', content_compressed = 'x', content_hash = '#d' WHERE id = 'R1'",
        false,
    ),
    ("UPDATE thought_records SET zone = 'cold', content_compressed = NULL WHERE id = 'W'", true),
    (
        "UPDATE thought_records SET zone = 'cold', content_compressed = NULL, content_hash = '#e' WHERE id = 'W'",
        false,
    ),
    (
        "UPDATE thought_records SET zone = 'hot', content = 'x', content_compressed = NULL WHERE id = 'W'",
        false,
    ),
    ("UPDATE thought_records SET content_compressed = 'y' WHERE id = 'W'", false),
    // Heads advance by one.
    ("UPDATE trail_heads SET chain_length = 2, tip_id = 'x', tip_hash = '#9'", true),
    ("UPDATE trail_heads SET chain_length = 3", false),
    ("UPDATE trail_heads SET tip_hash = '#9'", false),
    ("UPDATE trail_heads SET chain_length = 2, task_id = 'U'", false),
    // Scars stay, and time goes on.
    ("UPDATE reputations SET score = 1, scar_bps = 60, last_activity_epoch = 6, ban_until_epoch = 9", true),
    ("UPDATE reputations SET scar_bps = 49", false),
    ("UPDATE reputations SET last_activity_epoch = 4", false),
    ("UPDATE reputations SET node_id = 'm'", false),
    // Claims rise.
    ("UPDATE task_claims SET claim_no = 3, agent_id = 'b', released_at = NULL", true),
    ("UPDATE task_claims SET claim_no = 1", false),
    ("UPDATE task_claims SET task_id = '000000000000000000000000000000000002'", false),
];

#[test]
fn what_sqlites_triggers_refuse_postgresql_refuses_by_its_own_or_by_missing_rights() {
    let Some(mut engines) = stage() else { return };
    engines.run(&staged(
        "INSERT INTO thought_records (id, type, task_id, agent_id, timestamp, prev_hash, hash, created_at, zone, \
         content_compressed, content_hash) VALUES ('W', 'plan', 'warm', 'a', 't', '#0', '#3', 't', 'warm', 'x', '#d')",
    ));
    engines.as_app();
    let tried: Vec<Both> = STEPS.map(|(sql, _)| Both::same(&staged(sql))).to_vec();
    for ((sql, taken), verdict) in STEPS.iter().zip(engines.judge(&tried)) {
        assert_eq!(verdict, (*taken, *taken), "{sql}");
    }
}

/// What a server may not do in PostgreSQL although no trigger of SQLite forbids it: no call does it.
const NARROWER: [(&str, &str); 9] = [
    ("claim_clock", "DELETE id"),
    ("mcp_consensus_equivocations", "slash_status"),
    (
        "mcp_model_candidates",
        "DELETE context_window_tokens cost_bps_per_kilotoken domain_fit_profile enabled latency_tier model_id provider",
    ),
    ("reputations", "domain node_id"),
    ("skill_roots", "root"),
    ("skills", "name root"),
    ("task_claims", "task_id"),
    ("task_dependencies", "depends_on_id task_id"),
    ("tasks", "created_at deleted_at id"),
];

#[test]
fn a_server_may_change_no_more_in_postgresql_than_in_sqlite() {
    let Some(mut engines) = stage() else { return };
    let (mut tried, mut what) = (Vec::new(), Vec::new());
    let mut filled = BTreeSet::new();
    for (at, (table, row)) in rows().into_iter().enumerate() {
        if at > 1 && filled.insert(table) {
            engines.run_both(&Both::insert(table, &row));
        }
        for (column, _) in row {
            what.push((table, column));
            tried.push(Both::same(&format!("UPDATE {table} SET {column} = {column}")));
        }
        what.push((table, "DELETE"));
        tried.push(Both::same(&format!("DELETE FROM {table}")));
    }
    engines.as_app();
    let mut narrower: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for ((table, column), (sqlite, postgres)) in what.into_iter().zip(engines.judge(&tried)) {
        assert!(sqlite || !postgres, "{table}: {column}: SQLite refuses it");
        if sqlite && !postgres {
            narrower.entry(table).or_default().insert(column);
        }
    }
    let found: BTreeSet<(&str, String)> = narrower
        .into_iter()
        .map(|(table, columns)| (table, columns.into_iter().collect::<Vec<_>>().join(" ")))
        .collect();
    assert_eq!(found, NARROWER.map(|(table, columns)| (table, columns.to_owned())).into());
}
