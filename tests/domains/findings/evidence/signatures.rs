//! B2: with `--key`, a database, an export or a proof that the key has not signed does not hold.

use colibri_test_support::engine;

use super::desk::{Desk, finish, key, public, sealed};
use super::histories::{FORGER, History, NEXT, OWNER};

/// Taken from the head by plain SQL; the replies in the log still tell.
const STRIP: &str = "UPDATE tree_heads SET signature = NULL, key_id = NULL, public_key = NULL";

#[test]
fn finding_b2_a_signed_history_holds_by_its_key_and_by_no_other() {
    History::sealed_by([Some(OWNER), Some(OWNER)]).is_judged(&[
        (&[], 3, &[], [3, 3], [3, 3]),
        (&[OWNER], 0, &[], [0, 0], [0, 0]),
        (&[FORGER, OWNER], 0, &[], [0, 0], [0, 0]),
        (&[FORGER], 0, &["SIGNER_NOT_TRUSTED"], [1, 1], [1, 1]),
    ]);
}

#[test]
fn finding_b2_an_unsigned_history_holds_by_no_key() {
    History::sealed_by([None, None])
        .is_judged(&[(&[], 0, &[], [3, 3], [3, 3]), (&[OWNER], 0, &["NOTHING_SIGNED"], [1, 1], [1, 1])]);
}

#[test]
fn finding_b2_a_mixed_history_holds_as_a_whole_and_its_unsigned_files_do_not() {
    let history = History::sealed_by([None, Some(OWNER)]);
    history.is_judged(&[
        (&[], 3, &[], [3, 3], [3, 3]),
        (&[OWNER], 0, &[], [1, 0], [1, 0]),
        (&[FORGER], 0, &["SIGNER_NOT_TRUSTED"], [1, 1], [1, 1]),
    ]);
    // Unsigned heads before the first signed one are counted and explained.
    let verify = history.desk.run(&["verify", "--key", &public(OWNER)]).ends(0);
    let verify = verify.says("signatures 1 by a trusted key, 1 missing, 0 by an untrusted key");
    verify.says("The 1 unsigned head comes before the first signed one, which commits to it");
}

#[test]
fn finding_b2_a_stripped_history_is_named_by_its_log_and_holds_by_no_key() {
    History::sealed_by([Some(OWNER), Some(OWNER)]).tampered(STRIP).is_judged(&[
        (&[], 0, &["ROW_CHANGED"], [3, 3], [3, 3]),
        (&[OWNER], 0, &["NOTHING_SIGNED", "ROW_CHANGED"], [1, 1], [1, 1]),
    ]);
}

#[test]
fn finding_b2_a_stripped_history_that_was_recomputed_is_told_by_the_key_alone() {
    History::sealed_by([Some(OWNER), Some(OWNER)])
        .recomputed(None)
        .is_judged(&[(&[], 0, &[], [3, 3], [3, 3]), (&[OWNER], 0, &["NOTHING_SIGNED"], [1, 1], [1, 1])]);
}

#[test]
fn finding_b2_a_history_stripped_at_its_end_does_not_hold_by_its_key() {
    let stripped = format!("{STRIP} WHERE head_index = 1");
    History::sealed_by([Some(OWNER), Some(OWNER)]).tampered(&stripped).is_judged(&[
        (&[], 3, &["ROW_CHANGED"], [3, 3], [3, 3]),
        (&[OWNER], 0, &["SIGNATURE_MISSING", "ROW_CHANGED"], [0, 1], [0, 1]),
    ]);
}

#[test]
fn finding_b2_a_history_signed_again_by_another_key_is_told_by_the_key_alone() {
    History::sealed_by([Some(OWNER), Some(OWNER)]).recomputed(Some(&key(FORGER))).is_judged(&[
        (&[], 3, &[], [3, 3], [3, 3]),
        (&[OWNER], 0, &["SIGNER_NOT_TRUSTED"], [1, 1], [1, 1]),
        (&[FORGER], 0, &[], [0, 0], [0, 0]),
    ]);
}

#[test]
fn finding_b2_a_history_whose_key_was_replaced_holds_by_both_keys() {
    let history = History::sealed_by([Some(OWNER), Some(NEXT)]);
    history.is_judged(&[
        (&[], 3, &[], [3, 3], [3, 3]),
        (&[OWNER, NEXT], 0, &[], [0, 0], [0, 0]),
        (&[OWNER], 0, &["SIGNER_NOT_TRUSTED"], [0, 1], [0, 1]),
        (&[NEXT], 0, &["SIGNER_NOT_TRUSTED"], [1, 0], [1, 0]),
    ]);
    let verify = history.desk.run(&["verify", "--key", &public(OWNER)]).ends(1);
    let verify = verify.says(&format!("trusted {}, signed by {}", id(OWNER), id(NEXT)));
    verify.says("If one key replaced another, name both with --key");
}

#[test]
fn finding_b2_a_history_whose_key_was_taken_away_does_not_hold_by_it() {
    History::sealed_by([Some(OWNER), None])
        .is_judged(&[(&[], 3, &[], [3, 3], [3, 3]), (&[OWNER], 0, &["SIGNATURE_MISSING"], [0, 1], [0, 1])]);
}

#[test]
fn finding_b2_keys_of_the_environment_do_not_count_beside_a_key() {
    let history = History::sealed_by([Some(OWNER), Some(OWNER)]).recomputed(Some(&key(FORGER)));
    let (database, forgers) = (history.desk.database(), history.desk.key_file(FORGER));
    let (name, database) = engine::variable(&database);
    let variables = [(name, database.as_os_str()), ("COLIBRI_PROOF_SIGNING_KEY_FILE", forgers.as_os_str())];
    history.desk.run_with(&variables, &["verify"]).ends(0).says("signatures 2 by a trusted key");
    history.desk.run_with(&variables, &["verify", "--key", &public(OWNER)]).ends(1);
}

#[test]
fn finding_b2_where_nothing_is_sealed_a_key_has_nothing_to_say() {
    let desk = Desk::new();
    finish(desk.serve(Some(OWNER)));
    desk.run(&["verify", "--key", &public(OWNER)]).ends(0).says("No session is sealed, so nothing is signed");
}

#[test]
fn finding_b2_the_file_of_the_signing_key_is_never_taken_for_a_public_key() {
    let desk = Desk::new();
    let mut server = desk.serve(Some(OWNER));
    let record = sealed(&mut server, "S");
    finish(server);
    desk.run(&["export", "S", "--out", "s.jsonl"]).ends(0);
    desk.run(&["proof", "S", &record, "--out", "s.json"]).ends(0);
    let key = desk.key_file(OWNER);
    let key = key.to_str().unwrap();
    for command in [
        &["verify"] as &[&str],
        &["verify", "--json"],
        &["verify-export", "s.jsonl"],
        &["check-proof", "s.json"],
    ] {
        let run = desk.run(&[command, &["--key", key]].concat()).ends(2);
        assert_eq!(run.out, "", "{command:?}");
        assert!(
            run.err.contains("--key names the file of the signing key itself"),
            "{command:?}: {}",
            run.err
        );
        assert!(run.err.contains("`colibri keys show`"), "{command:?}: {}", run.err);
    }
    desk.run(&["verify", "--key", &public(OWNER)]).ends(0);
    // Another's seed is told by nothing from another's public key.
    let other = desk.key_file(FORGER);
    desk.run(&["verify", "--key", other.to_str().unwrap()]).ends(1).says("SIGNER_NOT_TRUSTED");
}

fn id(seed: u8) -> String {
    key(seed).key_id()
}
