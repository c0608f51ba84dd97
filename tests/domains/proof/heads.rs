//! The chain of tree heads, and the walks that check all seals at once.

use colibri::domains::proof::{
    SessionState, Signers, each_session, session_state, tip_of_task_after, verify_head_chain,
    verify_sealed_records,
};
use colibri_canonical::HexDigest;
use colibri_proof::envelope::LeafEnvelope;
use colibri_proof::head::{ChainTip, SignedTreeHead, chain_tips_hash};
use colibri_proof::keys::TrustedKeys;
use colibri_proof::record::Preimage;
use serde_json::json;

use crate::proof::world::{SEED, World, codes, key_file, launch};

/// Three sessions of one record each, of tasks of their own.
fn seal_three(world: &mut World) {
    for (session, task) in [("A", "ta"), ("B", "tb"), ("C", "tc")] {
        world.sealed(session, task, &[session]);
    }
}

/// Rewrites the one record of session `B` and everything that says anything of it, but for the signature.
fn rewrite_the_middle_one(world: &World) {
    world.disarm();
    let (id, timestamp): (String, String) = world
        .sql
        .query_row("SELECT id, timestamp FROM thought_records WHERE session_id = 'B'", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    let preimage = Preimage {
        content: "forged",
        id: &id,
        prev_hash: HexDigest::ZERO.as_str(),
        task_id: "tb",
        timestamp: &timestamp,
        kind: "analysis",
    };
    let hash = preimage.hash(&mut Vec::new());
    let content_hash = HexDigest::of(b"forged");
    let envelope = LeafEnvelope {
        agent_id: "a1",
        content_hash: content_hash.as_str(),
        hash: hash.as_str(),
        id: &id,
        prev_hash: HexDigest::ZERO.as_str(),
        session_id: "B",
        task_id: "tb",
        timestamp: &timestamp,
        kind: "analysis",
    };
    let leaf = HexDigest::from_raw(&envelope.leaf_hash(&mut Vec::new()));
    let tip = ChainTip { task_id: "tb".into(), chain_length: 1, tip_hash: hash.as_str().into() };
    let hash = hash.as_str();
    world.tamper("UPDATE thought_records SET content = 'forged', hash = ?1 WHERE session_id = 'B'", &[&hash]);
    world.tamper("UPDATE trail_heads SET tip_hash = ?1 WHERE task_id = 'tb'", &[&hash]);
    world.tamper("UPDATE merkle_roots SET root = ?1 WHERE session_id = 'B'", &[&hash]);
    world.tamper(
        "UPDATE merkle_leaves SET hash = ?1, leaf_hash = ?2 WHERE session_id = 'B'",
        &[&hash, &leaf.as_str()],
    );
    world.tamper("UPDATE tree_head_tips SET tip_hash = ?1 WHERE task_id = 'tb'", &[&hash]);
    let mut head = stored_head(world, "B");
    head.head.root_hash = leaf.as_str().into();
    head.head.legacy_root = hash.into();
    head.head.chain_tips_hash = chain_tips_hash(&mut [tip]).as_str().into();
    world.tamper(
        "UPDATE tree_heads SET root_hash = ?1, legacy_root = ?2, chain_tips_hash = ?3, head_hash = ?4 \
         WHERE session_id = 'B'",
        &[&head.head.root_hash, &hash, &head.head.chain_tips_hash, &head.head.hash().as_str()],
    );
}

fn stored_head(world: &World, session_id: &str) -> SignedTreeHead {
    let db = world.db();
    let (_, head) = colibri::domains::proof::service::get_merkle_root(&db, session_id).unwrap();
    head.unwrap()
}

#[test]
fn a_seal_rewritten_as_a_whole_does_not_fit_between_its_neighbours() {
    let mut world = World::new();
    seal_three(&mut world);
    rewrite_the_middle_one(&world);
    assert_eq!(codes(&world.verify("B")), ["HEAD_LINK_BROKEN"]);
    assert_eq!(codes(&world.verify("C")), ["HEAD_LINK_BROKEN"]);
    assert_eq!(world.verify("A")["valid"], true);
    let mut found = Vec::new();
    verify_head_chain(&world.db(), unrequired(&TrustedKeys::default()), &mut |issue| found.push(issue))
        .unwrap();
    let found: Vec<_> = found.iter().map(|issue| (issue.code.as_str(), issue.index)).collect();
    assert_eq!(found, [("HEAD_LINK_BROKEN", Some(2))]);
}

#[test]
fn with_a_key_it_would_have_to_be_signed_too() {
    let mut world = World::signing();
    seal_three(&mut world);
    rewrite_the_middle_one(&world);
    assert_eq!(codes(&world.verify("B")), ["SIGNATURE_INVALID", "HEAD_LINK_BROKEN"]);
}

#[test]
fn one_changed_character_of_a_signature_is_seen() {
    let mut world = World::signing();
    seal_three(&mut world);
    world.disarm();
    for column in ["signature", "key_id", "public_key"] {
        let read = format!("SELECT {column} FROM tree_heads WHERE session_id = 'B'");
        let sound = world.text(&read, &[]);
        for place in [0, sound.len() / 2, sound.len() - 1] {
            let mut forged = sound.clone();
            let other = if &sound[place..=place] == "0" { "1" } else { "0" };
            forged.replace_range(place..=place, other);
            let write = format!("UPDATE tree_heads SET {column} = ?1 WHERE session_id = 'B'");
            world.tamper(&write, &[&forged]);
            let sealed = world.verify("B");
            assert_eq!(codes(&sealed), ["SIGNATURE_INVALID"], "{column} {place}");
            assert_eq!(sealed["session"]["signature"], "invalid");
            assert_eq!(sealed["session"]["tree_head_match"], false);
            world.tamper(&write, &[&sound]);
        }
    }
    assert_eq!(world.verify("B")["valid"], true);
}

#[test]
fn a_key_that_nobody_trusts_is_no_failure() {
    let mut world = World::signing();
    seal_three(&mut world);
    let folder = world.server.shared_folder();
    let old = stored_head(&world, "A").signature.unwrap().public_key;
    let World { server, sql } = world;
    drop(sql);
    assert_eq!(server.finish().code(), 0);

    let path = key_file(folder.path(), "new-key", &SEED.replace("00", "aa"));
    let another = || launch().in_folder(folder.clone()).env("COLIBRI_PROOF_SIGNING_KEY_FILE", &path);
    for (launch, status) in [
        (another(), "unknown_key"),
        (another().env("COLIBRI_PROOF_TRUSTED_KEYS", &old), "valid"),
        (launch().in_folder(folder.clone()), "unknown_key"),
        (launch().in_folder(folder.clone()).env("COLIBRI_PROOF_TRUSTED_KEYS", &old), "valid"),
    ] {
        let mut world = World::around(launch.start());
        let sealed = world.verify("B");
        assert_eq!((&sealed["valid"], &sealed["session"]["signature"]), (&json!(true), &json!(status)));
        assert_eq!(sealed["session"]["tree_head_match"], true);
    }
}

#[test]
fn all_heads_are_walked_in_order() {
    let mut world = World::signing();
    seal_three(&mut world);
    let mut trusted = TrustedKeys::default();
    let walk = |trusted: &TrustedKeys| {
        let report =
            verify_head_chain(&world.db(), unrequired(trusted), &mut |issue| panic!("{issue:?}")).unwrap();
        assert_eq!((report.heads, report.issues, report.invalid, report.unsigned), (3, 0, 0, 0));
        assert_eq!(report.tip, Some((2, stored_head(&world, "C").head_hash)));
        (report.valid, report.unknown_key)
    };
    assert_eq!(walk(&trusted), (0, 3));
    let key = stored_head(&world, "A").signature.unwrap().public_key;
    trusted.trust(colibri_proof::keys::PublicKey::parse(&key).unwrap());
    assert_eq!(walk(&trusted), (3, 0));
}

#[test]
fn a_head_that_is_gone_is_missed_by_the_one_after_it() {
    for (index, missed) in [(0, Some(1)), (1, Some(2)), (2, None)] {
        let mut world = World::new();
        seal_three(&mut world);
        world.disarm();
        world.tamper("DELETE FROM tree_heads WHERE head_index = ?1", &[&index]);
        let mut found = Vec::new();
        let report = verify_head_chain(&world.db(), unrequired(&TrustedKeys::default()), &mut |issue| {
            found.push(issue)
        })
        .unwrap();
        let found: Vec<_> = found.iter().map(|issue| (issue.code.as_str(), issue.index)).collect();
        let expected: Vec<_> = missed.map(|index| ("HEAD_LINK_BROKEN", Some(index))).into_iter().collect();
        assert_eq!(found, expected);
        assert_eq!(report.issues, expected.len() as i64);
        // The newest one is missed only by its session, or by who kept its hash elsewhere (proof#layers).
        let session = ["A", "B", "C"][usize::try_from(index).unwrap()];
        let mut codes = Vec::new();
        verify_sealed_records(&world.db(), session, &mut |issue| codes.push(issue.code.as_str())).unwrap();
        assert_eq!(codes, ["TREE_HEAD_MISSING"]);
    }
}

#[test]
fn every_session_is_walked_whatever_is_left_of_it() {
    let mut world = World::new();
    seal_three(&mut world);
    world.start("open");
    let walk = |world: &World| {
        let mut seen = Vec::new();
        let db = world.db();
        each_session(&db, |session| {
            seen.push((session.to_owned(), session_state(&db, session)?));
            Ok(true)
        })
        .unwrap();
        seen
    };
    let state = |session: &str, state| (session.to_owned(), Some(state));
    let expected = [
        state("A", SessionState::Finalized),
        state("B", SessionState::Finalized),
        state("C", SessionState::Finalized),
        state("open", SessionState::Open),
    ];
    assert_eq!(walk(&world), expected);
    world.disarm();
    world.tamper("DELETE FROM audit_sessions WHERE session_id = 'A'", &[]);
    world.tamper("DELETE FROM merkle_roots WHERE session_id IN ('A', 'B')", &[]);
    world.tamper("DELETE FROM tree_heads WHERE session_id = 'A'", &[]);
    assert_eq!(walk(&world), expected);
}

#[test]
fn the_tips_of_a_chain_come_in_its_order() {
    const SEALS: i64 = 20;
    let mut world = World::new();
    for seal in 0..SEALS {
        world.sealed(&format!("S{seal}"), "T", &["x"]);
    }
    let db = world.db();
    let mut after = (i64::MIN, i64::MIN);
    for seal in 0..SEALS {
        let tip = tip_of_task_after(&db, "T", after).unwrap().unwrap();
        after = (tip.tip.chain_length, tip.head_index);
        assert_eq!((tip.head_index, tip.tip.chain_length), (seal, seal + 1));
        assert_eq!(tip.session_id, Some(format!("S{seal}")));
    }
    assert_eq!(tip_of_task_after(&db, "T", after).unwrap(), None);
    assert_eq!(tip_of_task_after(&db, "U", (i64::MIN, i64::MIN)).unwrap(), None);
}

#[test]
fn leaves_are_walked_page_by_page() {
    let mut world = World::new();
    world.start("S");
    for number in 0..600 {
        world.server.send_call("thought_record", crate::proof::world::thought("S", "T", &number.to_string()));
    }
    for _ in 0..600 {
        world.server.receive();
    }
    assert_eq!(world.seal("S")["record_count"], 600);
    assert_eq!(world.verify("S")["valid"], true);
    world.disarm();
    world.tamper("DELETE FROM merkle_leaves WHERE leaf_index = 555", &[]);
    let sealed = world.verify("S");
    assert_eq!(codes(&sealed), ["SESSION_RECORDS_MISMATCH"]);
    assert_eq!(sealed["issues"][0]["index"], 555);
}

/// No signature is required.
fn unrequired(trusted: &TrustedKeys) -> Signers<'_> {
    Signers { trusted, required: false }
}
