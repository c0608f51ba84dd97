//! Changes each thing that a seal keeps by itself.

use colibri_test_support::sql::dialect;
use serde_json::{Value, json};

use crate::proof::world::{World, codes, issue};

/// Session `S` with two records, between two other seals, so that there are heads on both sides.
fn world_of_three_seals() -> World {
    let mut world = World::signing();
    world.sealed("R", "T", &["zero"]);
    world.sealed("S", "T", &["one", "two"]);
    world.sealed("U", "T", &["three"]);
    world.disarm();
    world
}

/// What a statement leads to: the codes found in `S`.
struct Case {
    sql: &'static str,
    codes: &'static [&'static str],
    root_match: bool,
    tree_head_match: bool,
}

/// A digest that belongs to no record.
const FORGED: &str = "'00000000000000000000000000000000000000000000000000000000000000ff'";

const CASES: [Case; 20] = [
    Case {
        sql: "UPDATE merkle_roots SET root = FORGED WHERE session_id = 'S'",
        codes: &["LEGACY_ROOT_MISMATCH"],
        root_match: false,
        tree_head_match: true,
    },
    Case {
        sql: "UPDATE merkle_roots SET record_count = 3 WHERE session_id = 'S'",
        codes: &["ROOT_COUNT_MISMATCH"],
        root_match: false,
        tree_head_match: true,
    },
    Case {
        sql: "UPDATE merkle_roots SET finalized_at = '2026-01-01T00:00:00.000Z' WHERE session_id = 'S'",
        codes: &["SESSION_META_MISMATCH"],
        root_match: true,
        tree_head_match: false,
    },
    Case {
        sql: "DELETE FROM merkle_roots WHERE session_id = 'S'",
        codes: &["LEGACY_ROOT_MISMATCH", "ROOT_COUNT_MISMATCH"],
        root_match: false,
        tree_head_match: true,
    },
    Case {
        sql: "UPDATE audit_sessions SET intent = 'another' WHERE session_id = 'S'",
        codes: &["SESSION_META_MISMATCH"],
        root_match: true,
        tree_head_match: false,
    },
    Case {
        sql: "UPDATE audit_sessions SET task_id = 'T' WHERE session_id = 'S'",
        codes: &["SESSION_META_MISMATCH"],
        root_match: true,
        tree_head_match: false,
    },
    Case {
        sql: "UPDATE audit_sessions SET started_at = '2026-01-01T00:00:00.000Z' WHERE session_id = 'S'",
        codes: &["SESSION_META_MISMATCH"],
        root_match: true,
        tree_head_match: false,
    },
    Case {
        sql: "DELETE FROM audit_sessions WHERE session_id = 'S'",
        codes: &["SESSION_META_MISMATCH"],
        root_match: true,
        tree_head_match: false,
    },
    Case {
        sql: "UPDATE merkle_leaves SET record_id = 'x' WHERE session_id = 'S' AND leaf_index = 1",
        codes: &["SESSION_RECORDS_MISMATCH"],
        root_match: true,
        tree_head_match: false,
    },
    Case {
        sql: "UPDATE merkle_leaves SET hash = FORGED WHERE session_id = 'S' AND leaf_index = 1",
        codes: &["SESSION_RECORDS_MISMATCH"],
        root_match: true,
        tree_head_match: false,
    },
    Case {
        sql: "UPDATE merkle_leaves SET leaf_hash = FORGED WHERE session_id = 'S' AND leaf_index = 1",
        codes: &["SESSION_RECORDS_MISMATCH"],
        root_match: true,
        tree_head_match: false,
    },
    Case {
        sql: "DELETE FROM merkle_leaves WHERE session_id = 'S' AND leaf_index = 0",
        codes: &["SESSION_RECORDS_MISMATCH"],
        root_match: true,
        tree_head_match: false,
    },
    Case {
        sql: "INSERT INTO merkle_leaves VALUES ('S', 2, 'x', FORGED, FORGED)",
        codes: &["SESSION_RECORDS_MISMATCH"],
        root_match: true,
        tree_head_match: false,
    },
    Case {
        sql: "DELETE FROM tree_heads WHERE session_id = 'S'",
        codes: &["TREE_HEAD_MISSING"],
        root_match: true,
        tree_head_match: false,
    },
    Case {
        sql: "UPDATE tree_heads SET head_hash = FORGED WHERE session_id = 'S'",
        codes: &["HEAD_HASH_MISMATCH", "HEAD_LINK_BROKEN"],
        root_match: true,
        tree_head_match: false,
    },
    Case {
        sql: "UPDATE tree_heads SET prev_head_hash = FORGED WHERE session_id = 'S'",
        codes: &["HEAD_HASH_MISMATCH", "SIGNATURE_INVALID", "HEAD_LINK_BROKEN"],
        root_match: true,
        tree_head_match: false,
    },
    Case {
        sql: "DELETE FROM tree_heads WHERE session_id = 'R'",
        codes: &["HEAD_LINK_BROKEN"],
        root_match: true,
        tree_head_match: false,
    },
    Case {
        sql: "UPDATE tree_head_tips SET tip_hash = FORGED WHERE head_index = 1",
        codes: &["CHAIN_TIPS_MISMATCH", "TIP_REGRESSION"],
        root_match: true,
        tree_head_match: false,
    },
    Case {
        sql: "DELETE FROM tree_head_tips WHERE head_index = 1",
        codes: &["CHAIN_TIPS_MISMATCH"],
        root_match: true,
        tree_head_match: false,
    },
    Case {
        sql: "UPDATE EXITS SET row_hash = FORGED \
              WHERE exit_no = (SELECT log_exit_no FROM tree_heads WHERE session_id = 'S')",
        codes: &["LOG_TIP_MISMATCH"],
        root_match: true,
        tree_head_match: false,
    },
];

#[test]
fn each_part_of_a_seal_is_held_against_the_others() {
    for case in &CASES {
        let mut world = world_of_three_seals();
        world.tamper(&case.sql.replace("FORGED", FORGED).replace("EXITS", dialect::exits()), &[]);
        let sealed = world.verify("S");
        assert_eq!(codes(&sealed), case.codes, "{}", case.sql);
        assert_eq!(sealed["broken_count"], case.codes.len(), "{}", case.sql);
        let session = &sealed["session"];
        assert_eq!(session["root_match"], case.root_match, "{}: {sealed}", case.sql);
        assert_eq!(session["tree_head_match"], case.tree_head_match, "{}: {sealed}", case.sql);
        assert!(sealed["first_broken_at"].is_string(), "{sealed}");
    }
}

/// Every column of a head except the three of its signature.
const HEAD_COLUMNS: [(&str, &str); 8] = [
    ("tree_size", "3"),
    ("root_hash", FORGED),
    ("legacy_root", FORGED),
    ("session_hash", FORGED),
    ("chain_tips_hash", FORGED),
    ("log_exit_no", "1"),
    ("log_row_hash", FORGED),
    ("finalized_at", "'2026-01-01T00:00:00.000Z'"),
];

#[test]
fn each_column_of_a_head_is_under_its_hash_and_its_signature() {
    for (column, value) in HEAD_COLUMNS {
        let mut world = world_of_three_seals();
        world.tamper(&format!("UPDATE tree_heads SET {column} = {value} WHERE session_id = 'S'"), &[]);
        let codes = codes(&world.verify("S"));
        for code in ["HEAD_HASH_MISMATCH", "SIGNATURE_INVALID"] {
            assert!(codes.iter().any(|found| found == code), "{column}: {codes:?}");
        }
    }
}

#[test]
fn a_chain_cut_below_a_tip_is_told_although_its_end_was_mended() {
    let mut world = World::new();
    world.start("S");
    world.think("S", "T", "sealed");
    world.start("other");
    world.think("other", "T", "outside");
    world.seal("S");
    world.disarm();
    world.tamper("DELETE FROM thought_records WHERE content = 'outside'", &[]);
    world.tamper(
        "UPDATE trail_heads SET chain_length = 1, tip_id = r.id, tip_hash = r.hash \
         FROM thought_records AS r WHERE r.task_id = trail_heads.task_id",
        &[],
    );
    let chain = world.server.data("audit_verify_chain", json!({ "task_id": "T" }));
    assert_eq!(chain["valid"], true, "the chain alone does not know: {chain}");
    let sealed = world.verify("S");
    assert_eq!(codes(&sealed), ["TIP_REGRESSION"]);
    assert_eq!(sealed["session"]["root_match"], true);
    assert_eq!(sealed["session"]["tree_head_match"], false);
    let found = issue(&sealed, "TIP_REGRESSION");
    assert_eq!((&found["task_id"], &found["record_id"]), (&json!("T"), &Value::Null));
}
