//! The session of proof#golden-vectors.

use colibri_proof::head::{ChainTip, SessionFacts};
use colibri_proof::keys::SignatureStatus;
use colibri_proof::session_export::{ExportHeader, ExportState, head_line, tips_line};

use crate::exports::support::{GOLDEN, GOLDEN_KEY, check, check_with, is_valid, trusting};

const TASK: &str = "11111111-1111-4111-8111-111111111111";
const HEAD_HASH: &str = "13fb61cea6cbb185c02e1d6a862be1444fe8cdf3064d544af95726a798399fa2";

#[test]
fn the_chapters_session_is_valid_and_its_signature_is_the_stated_keys() {
    let verdict = check_with(GOLDEN.as_bytes(), &trusting(&[GOLDEN_KEY])).unwrap();
    assert!(verdict.valid && verdict.issues.is_empty() && verdict.fault.is_none(), "{verdict:?}");
    assert_eq!(verdict.signature, Some(SignatureStatus::Valid));
    assert_eq!(verdict.head.as_ref().map(|head| head.head_hash.as_str()), Some(HEAD_HASH));
    assert_eq!((verdict.record_count, verdict.cold_count), (4, 0));
    assert_eq!((verdict.links_inside, verdict.links_outside), (3, 0));
    let checks = verdict.checks;
    let all = [
        checks.content_hashes,
        checks.record_hashes,
        checks.session_records,
        checks.links,
        checks.legacy_root,
        checks.root_hash,
        checks.tree_size,
        checks.session_hash,
        checks.chain_tips,
        checks.head_hash,
    ];
    assert_eq!(all, [Some(true); 10]);
    assert!(checks.form);
}

#[test]
fn without_a_trusted_key_the_signature_is_somebodys() {
    let verdict = check(GOLDEN.as_bytes()).unwrap();
    assert!(verdict.valid);
    assert_eq!(verdict.signature, Some(SignatureStatus::UnknownKey));
}

#[test]
fn if_keys_are_given_one_of_them_must_have_signed() {
    let other = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
    let verdict = check_with(GOLDEN.as_bytes(), &trusting(&[other])).unwrap();
    assert_eq!((verdict.valid, verdict.signature), (false, Some(SignatureStatus::UnknownKey)));
    assert!(check_with(GOLDEN.as_bytes(), &trusting(&[other, GOLDEN_KEY])).unwrap().valid);
    let stripped = GOLDEN.split("\"key_id\":").next().unwrap().to_owned();
    let legacy = GOLDEN.split_once(",\"legacy_root\":").unwrap().1;
    let (legacy, rest) = legacy.split_once(",\"public_key\":").unwrap();
    let rest = rest.split_once(",\"root_hash\":").unwrap().1.split_once(",\"signature\":").unwrap().0;
    let (root, rest) = rest.split_once(",\"session_hash\":").unwrap();
    let stripped = format!(
        "{stripped}\"key_id\":null,\"legacy_root\":{legacy},\"public_key\":null,\"root_hash\":{root},\
         \"session_hash\":{rest},\"signature\":null,\"tree_size\":4,\"v\":1}}}}\n"
    );
    assert!(is_valid(stripped.as_bytes()));
    let verdict = check_with(stripped.as_bytes(), &trusting(&[GOLDEN_KEY])).unwrap();
    assert_eq!((verdict.valid, verdict.signature), (false, Some(SignatureStatus::Unsigned)));
}

#[test]
fn the_writers_make_the_lines_that_stand_in_the_file() {
    let verdict = check(GOLDEN.as_bytes()).unwrap();
    let session = SessionFacts {
        session_id: "S-1",
        intent: "Build the verifier",
        task_id: Some(TASK),
        started_at: "2026-05-01T09:59:59.000Z",
    };
    let tip = ChainTip {
        task_id: TASK.to_owned(),
        chain_length: 4,
        tip_hash: "9c7f434b834c8fae6ecf1bb7ded1ed6ad7790dfa407c8d324bb78184ffb4f69e".to_owned(),
    };
    let lines: Vec<&str> = GOLDEN.lines().collect();
    assert_eq!(ExportHeader::new(&session, ExportState::Sealed, 4).line().as_deref(), Some(lines[0]));
    assert_eq!(tips_line(&mut [tip]).as_deref(), Some(lines[5]));
    assert_eq!(head_line(&verdict.head.unwrap()).as_deref(), Some(lines[6]));
}

#[test]
fn the_example_on_the_page_of_formats_is_valid() {
    let page = include_str!("../../../../../docs/reference/formats.md");
    let (_, rest) = page.split_once("```export\n").unwrap();
    let (file, _) = rest.split_once("```").unwrap();
    assert!(is_valid(file.as_bytes()), "{:?}", check(file.as_bytes()));
}
