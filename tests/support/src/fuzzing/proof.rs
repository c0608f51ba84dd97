//! Inclusion proofs: what the signer's key vouches for is what was sealed, to the byte.

use colibri_proof::bundle::{BundleError, InclusionBundle, parse_bundle, verify_bundle};
use colibri_proof::keys::{SignatureStatus, TrustedKeys};
use colibri_proof::tree::legacy::Side;

use super::command::judge;
use super::genuine::{BUNDLES, TRUSTED};
use crate::dice::Dice;

/// Members and values of a proof.
pub const TOKENS: &[&str] = &[
    "null",
    "0",
    "1",
    "4",
    "-1",
    "\"left\"",
    "\"right\"",
    "[]",
    "{}",
    ",",
    "\"",
    "\\u001b",
    "\\n",
    "\u{202e}",
    "\"content\":null,",
    "\"content\":\"\",",
    "\"signature\":null,",
    "\"leaf_index\":0",
    "\"tree_size\":1",
    "\"audit_path\":[],",
    "\"proof\":[]",
    "\"plan\"",
    "\"decision\"",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "\n",
    " ",
];

/// Reads a proof and checks it, with the signer's key and without any.
pub fn check(bytes: &[u8]) -> bool {
    let read = parse_bundle(bytes);
    let trusting = read.as_ref().is_ok_and(vouched);
    // The command takes its time. Most inputs are not proofs at all, and a few of those are enough.
    let dice = Dice::of(bytes);
    if read.is_ok() || dice.one_in(20) {
        let code = judge("check-proof", bytes, dice.one_in(2));
        let expected = match read {
            Err(BundleError::NotABundle(_)) => 2,
            _ => u8::from(!trusting),
        };
        assert_eq!(code, expected);
    }
    if let Ok(bundle) = &read {
        assert_eq!(
            bundle.to_file().expect("it was a file").as_bytes(),
            bytes,
            "there is one way to write it"
        );
    }
    trusting
}

/// Whether a proof holds by the key; then it must be one of those that were made.
fn vouched(bundle: &InclusionBundle) -> bool {
    let alone = verify_bundle(bundle, &TrustedKeys::default(), false);
    let trusting = verify_bundle(bundle, &TRUSTED, true);
    assert_ne!(alone.signature, SignatureStatus::Valid, "nobody is trusted");
    assert!(alone.valid || !trusting.valid, "a key makes no proof better: {alone:?}, {trusting:?}");
    if trusting.valid {
        assert_eq!(trusting.signature, SignatureStatus::Valid);
        let meant = |genuine: &InclusionBundle| meaning(genuine, bundle) == meaning(bundle, bundle);
        assert!(BUNDLES.iter().any(meant), "it says something that nobody has signed: {bundle:?}");
    }
    trusting.valid
}

/// A proof without what does not count: the sides of the legacy proof's steps, and the content where `like` has none.
fn meaning(bundle: &InclusionBundle, like: &InclusionBundle) -> InclusionBundle {
    let mut meaning = bundle.clone();
    meaning.legacy.proof.iter_mut().for_each(|step| step.position = Side::Left);
    if like.record.content.is_none() {
        meaning.record.content = None;
    }
    meaning
}
