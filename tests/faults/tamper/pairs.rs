//! Tampering that fits: several tables changed together, so that each looks right beside the others. The attacker
//! knows the server, but does not compute hashes.

use crate::tamper::verifier::Verifier;
use crate::tamper::world::World;

/// What must be found, and what was done.
struct Case {
    /// Check and code of a finding that must be reported; `None`: only a checkpoint reveals it.
    finding: Option<(&'static str, &'static str)>,
    what: &'static str,
    sql: &'static [&'static str],
}

const CASES: &[Case] = &[
    Case {
        finding: Some(("ties", "CALL_MISSING")),
        what: "the log is cut and its head follows",
        sql: &[
            "DELETE FROM actions WHERE exit_no > (SELECT max(exit_no) - 3 FROM actions) OR exit_no IS NULL",
            HEAD_FOLLOWS,
        ],
    },
    Case {
        finding: None,
        what: "a call that wrote nothing and still ran is cut off, and the head follows",
        sql: &["DELETE FROM actions WHERE outcome = 'running'", HEAD_FOLLOWS],
    },
    Case {
        finding: Some(("ties", "ROW_MISSING")),
        what: "the last record of a chain is cut off, and the head follows",
        sql: &[
            "DELETE FROM trail_heads WHERE task_id = 'T-5'",
            "DELETE FROM thought_records WHERE task_id = 'T-5'",
        ],
    },
    Case {
        finding: Some(("ties", "ROW_MISSING")),
        what: "the newest record is cut off, and its chain's head goes back with it",
        sql: &[
            "DELETE FROM thought_records WHERE seq = (SELECT max(seq) FROM thought_records)",
            "UPDATE trail_heads SET chain_length = chain_length - 1, \
             tip_id = (SELECT id FROM thought_records AS r WHERE r.task_id = trail_heads.task_id ORDER BY seq DESC LIMIT 1), \
             tip_hash = (SELECT hash FROM thought_records AS r WHERE r.task_id = trail_heads.task_id ORDER BY seq DESC LIMIT 1) \
             WHERE task_id = 'T-4'",
        ],
    },
    Case {
        finding: Some(("ties", "ROW_MISSING")),
        what: "the newest seal is taken away with head, tips and leaves: the session is open again",
        sql: &[
            "DELETE FROM merkle_leaves WHERE session_id = (SELECT session_id FROM tree_heads ORDER BY head_index DESC LIMIT 1)",
            "DELETE FROM merkle_roots WHERE session_id = (SELECT session_id FROM tree_heads ORDER BY head_index DESC LIMIT 1)",
            "DELETE FROM tree_head_tips WHERE head_index = (SELECT max(head_index) FROM tree_heads)",
            "DELETE FROM tree_heads WHERE head_index = (SELECT max(head_index) FROM tree_heads)",
        ],
    },
    Case {
        finding: Some(("ties", "ROW_MISSING")),
        what: "a session without records is taken away",
        sql: &[
            "INSERT INTO audit_sessions (session_id, intent, started_at, sequence_no) \
             SELECT session_id || 'x', intent, started_at, sequence_no FROM audit_sessions WHERE intent = 'left open'",
            "UPDATE thought_records SET session_id = session_id || 'x' WHERE session_id = \
             (SELECT session_id FROM audit_sessions WHERE intent = 'left open')",
            "DELETE FROM audit_sessions WHERE intent = 'left open' AND session_id NOT LIKE '%x'",
        ],
    },
    Case {
        finding: Some(("ties", "ROW_MISSING")),
        what: "a task is taken away with all that names it",
        sql: &[
            "DELETE FROM task_dependencies WHERE task_id = (SELECT id FROM tasks ORDER BY rowid DESC LIMIT 1)",
            "DELETE FROM tasks WHERE id = (SELECT id FROM tasks ORDER BY rowid DESC LIMIT 1)",
        ],
    },
    Case {
        finding: Some(("ties", "ROW_SET_BACK")),
        what: "a task is set back to what it once was, its call's number with it",
        sql: &["UPDATE tasks SET title = 'the last one', updated_at = created_at, sequence_no = \
                (SELECT sequence_no FROM actions WHERE subject = tasks.id ORDER BY sequence_no LIMIT 1) \
                WHERE title = 'the very last one'"],
    },
    Case {
        finding: Some(("ties", "CALL_MISMATCH")),
        what: "two tasks exchange everything but their ids",
        sql: &[
            "UPDATE tasks SET title = 'swapped', sequence_no = (SELECT sequence_no FROM tasks ORDER BY rowid LIMIT 1) \
             WHERE id = (SELECT id FROM tasks ORDER BY rowid DESC LIMIT 1)",
        ],
    },
    Case {
        finding: Some(("ties", "ROW_MOVED")),
        what: "two tasks exchange their places in the order of the table",
        sql: &[
            "UPDATE tasks SET rowid = -5 WHERE rowid = 2",
            "UPDATE tasks SET rowid = 2 WHERE rowid = 3",
            "UPDATE tasks SET rowid = 3 WHERE rowid = -5",
        ],
    },
    Case {
        finding: Some(("ties", "ROW_MOVED")),
        what: "two records of different chains exchange their places",
        sql: &[
            "UPDATE thought_records SET seq = -5 WHERE seq = 2",
            "UPDATE thought_records SET seq = 2 WHERE seq = 3",
            "UPDATE thought_records SET seq = 3 WHERE seq = -5",
        ],
    },
    Case {
        finding: Some(("trail", "SEQ_GAP")),
        what: "the last record moves on",
        sql: &["UPDATE thought_records SET seq = seq + 7 WHERE seq = (SELECT max(seq) FROM thought_records)"],
    },
    Case {
        finding: Some(("trail", "CREATED_AT")),
        what: "a record's created_at is not when it was written",
        sql: &["UPDATE thought_records SET created_at = '2026-01-01T00:00:00.000Z' WHERE seq = 1"],
    },
    Case {
        finding: Some(("trail", "ZONE_NAMED_HOT")),
        what: "a record names the zone that it is in anyway",
        sql: &["UPDATE thought_records SET zone = 'hot' WHERE seq = 1"],
    },
    Case {
        finding: Some(("ties", "ROW_CHANGED")),
        what: "a record gets another author",
        sql: &["UPDATE thought_records SET agent_id = 'somebody' WHERE task_id = 'T-5'"],
    },
    Case {
        finding: Some(("ties", "STRAY_ROW")),
        what: "a task that does not exist waits for one",
        sql: &[
            "INSERT INTO task_dependencies SELECT '00000000-0000-7000-8000-000000000000', id FROM tasks LIMIT 1",
        ],
    },
    Case {
        finding: Some(("ties", "NO_CALL")),
        what: "a task is put in that no call made",
        sql: &["INSERT INTO tasks (id, title, created_at, updated_at) \
                VALUES ('00000000-0000-7000-8000-000000000000', 'mine', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')"],
    },
    Case {
        finding: Some(("log", "IMPLAUSIBLE_VALUE")),
        what: "a running call gets a mode that there is none of",
        sql: &["UPDATE actions SET mode = 'SECRET' WHERE outcome = 'running'"],
    },
    Case {
        finding: Some(("schema", "USER_VERSION")),
        what: "the header says another version",
        sql: &["UPDATE tasks SET title = title WHERE rowid = 1", "PRAGMA user_version = 3"],
    },
    Case {
        finding: Some(("schema", "OBJECT_MISSING")),
        what: "a guard is dropped and stays so",
        sql: &["UPDATE tasks SET title = title WHERE rowid = 1", "DROP TRIGGER actions_keep"],
    },
    Case {
        finding: Some(("schema", "OBJECT_CHANGED")),
        what: "a guard is weakened",
        sql: &[
            "UPDATE tasks SET title = title WHERE rowid = 1",
            "DROP TRIGGER actions_keep",
            "CREATE TRIGGER actions_keep BEFORE DELETE ON actions BEGIN SELECT 1; END",
        ],
    },
    Case {
        finding: Some(("skills", "SKILLS_CHANGED")),
        what: "a skill is taken away and the count follows",
        sql: &[
            "DELETE FROM skills WHERE name = 'colibri-one'",
            "UPDATE skill_roots SET skill_count = skill_count - 1",
        ],
    },
    Case {
        finding: Some(("skills", "LOAD_TIME")),
        what: "the record of the load is dated back",
        sql: &["UPDATE skill_roots SET loaded_at = '2026-01-01T00:00:00.000Z'"],
    },
    Case {
        finding: Some(("reputation", "STANDING_CHANGED")),
        what: "a standing is raised",
        sql: &["UPDATE reputations SET score = score + 1 WHERE score > 0"],
    },
    Case {
        finding: Some(("reputation", "STANDING_CHANGED")),
        what: "a ban is lifted and its scar with it",
        sql: &["UPDATE reputations SET ban_until_epoch = NULL, scar_bps = 0 WHERE scar_bps > 0"],
    },
    Case {
        finding: Some(("reputation", "ENTRY_CHANGED")),
        what: "an event is worth more, in history, ledger and standing alike",
        sql: &[
            "UPDATE reputation_history SET delta = delta + 5 WHERE id = (SELECT max(id) FROM reputation_history WHERE delta > 0)",
            "UPDATE reputation_ledger SET score_after = score_after + 5 WHERE history_id = \
             (SELECT max(id) FROM reputation_history WHERE delta > 0)",
            "UPDATE reputations SET score = score + 5 WHERE (node_id, domain) = \
             (SELECT node_id, domain FROM reputation_history WHERE delta > 0 ORDER BY id DESC LIMIT 1)",
        ],
    },
    Case {
        finding: Some(("reputation", "ENTRY_MISSING")),
        what: "an entry is taken out with its event, and the chain is closed over it",
        sql: &[
            "UPDATE reputation_ledger SET prev_hash = 'x' WHERE history_id = 2",
            "UPDATE reputation_ledger SET prev_hash = (SELECT entry_hash FROM reputation_ledger WHERE history_id = 1) \
             WHERE history_id = 3",
            "DELETE FROM reputation_ledger WHERE history_id = 2",
            "DELETE FROM reputation_history WHERE id = 2",
        ],
    },
    Case {
        finding: Some(("reputation", "SEQ_COUNTER")),
        what: "the ledger's last entry is cut off with its event",
        sql: &[
            "DELETE FROM reputation_ledger WHERE history_id = (SELECT max(history_id) FROM reputation_ledger)",
            "DELETE FROM reputation_history WHERE id = (SELECT max(id) FROM reputation_history)",
        ],
    },
    Case {
        finding: Some(("reputation", "ENTRIES_MISSING")),
        what: "everything after an import goes, and the import's last entry, with counter and standing",
        sql: &[
            "DELETE FROM reputation_ledger WHERE history_id >= (SELECT max(history_id) FROM reputation_ledger WHERE source = 'import')",
            "DELETE FROM reputation_history WHERE id > (SELECT max(history_id) FROM reputation_ledger)",
            "UPDATE sqlite_sequence SET seq = (SELECT max(id) FROM reputation_history) WHERE name = 'reputation_history'",
        ],
    },
    Case {
        finding: Some(("reputation", "CALL_MISMATCH")),
        what: "an entry names another call, which finished another task",
        sql: &[
            "UPDATE reputation_ledger SET sequence_no = (SELECT max(sequence_no) FROM actions WHERE tool = 'task_update' \
                AND outcome = 'ok') WHERE source = 'session'",
        ],
    },
    Case {
        finding: Some(("reputation", "CLOCK_CHANGED")),
        what: "the clock was set at another time",
        sql: &["UPDATE reputation_clock SET set_at = set_at + 1"],
    },
    Case {
        finding: Some(("reputation", "EPOCH_MISMATCH")),
        what: "epochs are twice as long",
        sql: &["UPDATE reputation_clock SET epoch_seconds = 2 * epoch_seconds"],
    },
    Case {
        finding: Some(("reputation", "RECORDED_AT")),
        what: "entries were recorded an hour later, clock and tokens with them",
        sql: &[
            "UPDATE reputation_ledger SET recorded_at = recorded_at + 3600000",
            "UPDATE reputation_clock SET set_at = set_at + 3600000",
            "UPDATE experience_tokens SET created_at = created_at + 3600",
        ],
    },
    Case {
        finding: Some(("reputation", "TOKEN_CHANGED")),
        what: "a token becomes somebody else's",
        sql: &["UPDATE experience_tokens SET node_id = 'somebody'"],
    },
    Case {
        finding: Some(("reputation", "TOKEN_STRAY")),
        what: "a token is put in that no event left",
        sql: &[
            "INSERT INTO experience_tokens SELECT id || 'x', node_id, level, domain, scenario, counterparty, action, \
                outcome_class, outcome_delta, witnesses, created_at, promoted_from, feature_hash FROM experience_tokens \
                WHERE level = 'L0' LIMIT 1",
        ],
    },
    Case {
        finding: Some(("reputation", "WITNESS_STRAY")),
        what: "a witness is put in",
        sql: &[
            "INSERT INTO mcp_witnesses SELECT 'wit_x', 'somebody', id, domain, 200, 30, created_at FROM experience_tokens LIMIT 1",
        ],
    },
    Case {
        finding: Some(("reputation", "DEDUPE_KEY")),
        what: "an entry makes room for its event to be recorded again",
        sql: &["UPDATE reputation_ledger SET dedupe_key = '[]' WHERE history_id = 2"],
    },
    Case {
        finding: Some(("ties", "ROW_MISSING")),
        what: "the last round is cut off with all that belongs to it",
        sql: &[
            "DELETE FROM mcp_consensus_equivocations WHERE round_id = 3",
            "DELETE FROM mcp_consensus_transitions WHERE round_id = 3",
            "DELETE FROM mcp_consensus_committee WHERE round_id = 3",
            "DELETE FROM mcp_consensus_votes WHERE round_id = 3",
            "DELETE FROM mcp_consensus_rounds WHERE round_id = 3",
        ],
    },
    Case {
        finding: Some(("ties", "ROW_MISSING")),
        what: "the last vote, which changed nothing, is taken away",
        sql: &["DELETE FROM mcp_consensus_votes WHERE seq = (SELECT max(seq) FROM mcp_consensus_votes)"],
    },
    Case {
        finding: Some(("consensus", "ROUND_CORRUPT")),
        what: "an equivocation is hidden with the vote that proves it, and the votes after it move up",
        sql: &[
            "DELETE FROM mcp_consensus_equivocations WHERE round_id = 2",
            "DELETE FROM mcp_consensus_votes WHERE round_id = 2 AND vote_type = 'REJECT'",
            "UPDATE mcp_consensus_votes SET seq = seq - 1 WHERE seq > 5",
        ],
    },
    Case {
        finding: Some(("consensus", "ROUND_LINK")),
        what: "a round hangs on another root",
        sql: &["UPDATE mcp_consensus_rounds SET prev_merkle_root = zeroblob(32) WHERE round_id = 2"],
    },
    Case {
        finding: Some(("consensus", "VOTE_TIME")),
        what: "the proposals of two rounds exchange their places among the votes",
        sql: &[
            "UPDATE mcp_consensus_votes SET seq = -1 WHERE seq = 1",
            "UPDATE mcp_consensus_votes SET seq = 1 WHERE seq = 2",
            "UPDATE mcp_consensus_votes SET seq = 2 WHERE seq = -1",
        ],
    },
];

const HEAD_FOLLOWS: &str = "UPDATE actions_head SET last_sequence_no = (SELECT max(sequence_no) FROM actions), \
    last_exit_no = (SELECT max(exit_no) FROM actions), \
    last_row_hash = (SELECT row_hash FROM actions ORDER BY exit_no DESC LIMIT 1)";

#[test]
fn tampering_that_fits_is_reported() {
    let world = World::small();
    let (_folder, path) = world.copy();
    let verifier = Verifier::open(&path);
    for Case { finding, what, sql } in CASES {
        let sql: Vec<String> = sql.iter().map(|sql| (*sql).to_owned()).collect();
        let (inside, outside) = verifier
            .tampered(&sql, |verifier| (verifier.inside(), verifier.with_checkpoint()))
            .unwrap_or_else(|| panic!("{what}: refused"));
        let found: Vec<_> =
            inside.findings.kinds().iter().map(|found| (found.first.check, found.first.code)).collect();
        match finding {
            Some(finding) => assert!(found.contains(finding), "{what}: {found:?}"),
            None => assert!(found.is_empty(), "{what}: {found:?}"),
        }
        assert!(!outside.is_sound(), "{what}");
    }
    assert!(verifier.inside().is_sound());
}
