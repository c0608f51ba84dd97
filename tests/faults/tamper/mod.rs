//! Verification finds any change of a database behind the server's back (proof#layers, store#fault-tests): every table and
//! column, edited, deleted, inserted, swapped and cut at random, and in pairs that fit each other.

mod command;
mod forged;
mod hidden;
mod kinds;
mod outside;
mod pairs;
mod random;
mod table;
mod verifier;
mod world;

use verifier::Verifier;
use world::World;

/// How many random tamperings with any table; the variable asks for more. Other random tests here take a part of it.
fn tampers() -> usize {
    variable("COLIBRI_TAMPERS").map_or(3_200, |count| usize::try_from(count).unwrap())
}

/// Their first seed.
fn first_seed() -> u64 {
    variable("COLIBRI_TAMPER_SEED").unwrap_or(0x5EED_0000)
}

fn variable(name: &str) -> Option<u64> {
    std::env::var(name)
        .ok()
        .map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is no number: {text}")))
}

#[test]
fn a_database_of_the_real_server_is_sound() {
    for world in [World::small(), World::archived()] {
        let verifier = Verifier::open(&world.database());
        let report = verifier.with_checkpoint();
        assert!(report.is_sound(), "{:#?}", report.findings);
    }
}

#[test]
fn a_run_stops_when_it_is_told_to() {
    assert!(Verifier::open(&World::archived().database()).stops_when_told());
}

#[test]
fn chains_walked_one_after_the_other_give_the_same_findings() {
    let (_folder, path) = World::small().copy();
    let verifier = Verifier::open(&path);
    assert_eq!(verifier.trail(1), []);
    for sql in [
        "UPDATE thought_records SET content = 'x' WHERE seq IN (2, 5)",
        "DELETE FROM thought_records WHERE seq IN (3, 9)",
        "DELETE FROM trail_heads",
        "DELETE FROM thought_records WHERE task_id = 'T-4'",
        "UPDATE tree_head_tips SET chain_length = chain_length + 1",
        "UPDATE thought_records SET hash = upper(hash), timestamp = 'x' WHERE seq = 4",
    ] {
        let (at_once, one_by_one) = verifier
            .tampered(&[sql.to_owned()], |verifier| (verifier.trail(50_000), verifier.trail(1)))
            .unwrap();
        let sorted = |findings: Vec<colibri::verification::finding::Found>| {
            let mut kinds: Vec<_> = findings
                .into_iter()
                .map(|found| (found.first.check, found.first.code, found.count))
                .collect();
            kinds.sort_unstable();
            kinds
        };
        let (at_once, one_by_one) = (sorted(at_once), sorted(one_by_one));
        assert!(!at_once.is_empty(), "{sql}");
        assert_eq!(at_once, one_by_one, "{sql}");
    }
}

#[test]
fn random_tampering_with_any_table_is_reported() {
    let world = World::small();
    let tally = random::tamper(&world, tampers(), first_seed(), &[]);
    assert!(tally.missed.is_empty(), "{} missed:\n{}", tally.missed.len(), tally.missed.join("\n"));
    assert_eq!(tally.done, tampers());
    assert!(tally.outside > 0, "not one was left to the checkpoint: it was not needed");
    let tables = table::all(&rusqlite::Connection::open(world.database()).unwrap());
    for name in
        ["reputations", "reputation_history", "reputation_ledger", "reputation_clock", "experience_tokens"]
    {
        assert!(tables.iter().any(|table| table.name == name), "{name} is empty");
    }
    for name in ["rounds", "committee", "votes", "transitions", "equivocations"] {
        assert!(tables.iter().any(|table| table.name == format!("mcp_consensus_{name}")), "{name} is empty");
    }
    for table in &tables {
        for column in &table.columns {
            let key = (table.name.clone(), column.name.clone());
            assert!(tally.kinds.contains_key(&key), "{key:?} was never edited");
        }
    }
}

#[test]
fn random_tampering_with_archived_records_is_reported() {
    let tally = random::tamper(&World::archived(), tampers() / 16, 0xA7C4_0000, &["thought_records"]);
    assert!(tally.outside > 0, "not one was left to the checkpoint: it was not needed");
    assert!(tally.missed.is_empty(), "{} missed:\n{}", tally.missed.len(), tally.missed.join("\n"));
}

#[test]
fn people_18_any_change_of_a_history_or_a_claim_is_named() {
    let world = World::small();
    let tables = ["task_events", "task_claims", "claim_clock", "tasks", "task_dependencies"];
    let tally = random::tamper(&world, tampers() / 5, 0x18_0000, &tables);
    assert!(tally.missed.is_empty(), "{} missed:\n{}", tally.missed.len(), tally.missed.join("\n"));
    assert_eq!(tally.outside, 0, "the file alone tells of each");

    let (_folder, path) = world.copy();
    let verifier = Verifier::open(&path);
    let most = "(SELECT task_id FROM task_events GROUP BY task_id ORDER BY count(*) DESC LIMIT 1)";
    let newest = format!("(SELECT max(event_no) FROM task_events WHERE task_id = {most})");
    for (code, sql) in [
        ("EVENT_MISSING", vec![format!("DELETE FROM task_events WHERE task_id = {most}")]),
        ("EVENT_MISSING", vec![format!("DELETE FROM task_events WHERE task_id = {most} AND event_no = {newest}")]),
        // The task is set back to the state before, and its last event goes with it.
        (
            "EVENT_MISSING",
            vec![
                format!(
                    "UPDATE tasks SET (status, updated_at, sequence_no) = (SELECT to_status, at, task_call FROM task_events \
                     WHERE task_id = {most} AND event_no = {newest} - 1) WHERE id = {most}"
                ),
                format!("DELETE FROM task_events WHERE task_id = {most} AND event_no = {newest}"),
            ],
        ),
        ("EVENT_GAP", vec![format!("DELETE FROM task_events WHERE task_id = {most} AND event_no = 2")]),
        ("EVENT_GAP", vec![format!("UPDATE task_events SET kind = 'created', from_status = NULL WHERE event_no = 2 AND task_id = {most}")]),
        ("EVENT_STATE", vec![format!("UPDATE task_events SET from_status = 'PLAN' WHERE event_no = 2 AND task_id = {most}")]),
        ("EVENT_STEP", vec![format!("UPDATE task_events SET to_status = 'VERIFY' WHERE event_no = 2 AND task_id = {most}")]),
        ("EVENT_CALL", vec![format!("UPDATE task_events SET sequence_no = 1, task_call = 1 WHERE event_no = 2 AND task_id = {most}")]),
        ("EVENT_REPLY", vec![format!("UPDATE task_events SET at = '2026-01-01T00:00:00.000Z' WHERE event_no = 1 AND task_id = {most}")]),
        // The fields of the row and of the whole history are exchanged together.
        (
            "EVENT_REPLY",
            vec![
                format!("UPDATE tasks SET title = 'another' WHERE id = {most}"),
                format!(
                    "UPDATE task_events SET changes = json_set(changes, '$.title', json_array(NULL, 'another')) \
                     WHERE event_no = 1 AND task_id = {most}"
                ),
            ],
        ),
        ("TASK_STATE", vec![format!("UPDATE tasks SET title = 'another' WHERE id = {most}")]),
        ("CLAIM_STATE", vec!["UPDATE task_claims SET lease_until = '2030-01-01T00:00:00.000Z'".to_owned()]),
        ("CLAIM_STATE", vec!["UPDATE task_claims SET caller_no = caller_no + 1".to_owned()]),
        ("CLAIM_STATE", vec!["DELETE FROM task_claims".to_owned()]),
        ("CLAIM_STATE", vec!["UPDATE claim_clock SET latest = '2020-01-01T00:00:00.000Z'".to_owned()]),
        (
            "STRAY_ROW",
            vec!["INSERT INTO task_claims SELECT 'nothing', claim_no, agent_id, caller_no, claimed_at, lease_until, \
                  released_at, sequence_no FROM task_claims LIMIT 1".to_owned()],
        ),
        (
            "STRAY_ROW",
            vec!["INSERT INTO task_events SELECT task_id, event_no, sequence_no, sequence_no, kind, from_status, to_status, at, \
                  changes, claim_no, agent_id, lease_until FROM task_event_list WHERE stored = 0".to_owned()],
        ),
        ("STRAY_ROW", vec![format!("UPDATE task_events SET task_id = 'nothing' WHERE event_no = 1 AND task_id = {most}")]),
    ] {
        let report = verifier.tampered(&sql, Verifier::inside).unwrap_or_else(|| panic!("refused: {sql:?}"));
        let found: Vec<_> = report.findings.kinds().iter().map(|found| found.first.code).collect();
        assert!(found.contains(&code), "{code} is not among {found:?}: {sql:?}");
    }
}
