//! Tree heads and signatures: the vectors of proof#golden-vectors, and what a signature is worth.

use colibri_canonical::{NumberRule, canonical_json};
use colibri_proof::head::{
    ChainTip, SessionFacts, SignedTreeHead, TreeHead, chain_tips_hash, chain_tips_message,
};
use colibri_proof::keys::{
    KeyTextError, PublicKey, SignatureStatus, SigningKey, TrustedKeys, check_signature,
};
use proptest::prelude::*;
use serde_json::json;

use crate::proof::support::{FACTS, TASK, head, key, sealed};

const PUBLIC_KEY: &str = "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8";
const HEAD_HASH: &str = "13fb61cea6cbb185c02e1d6a862be1444fe8cdf3064d544af95726a798399fa2";

fn trusting(keys: &[&SigningKey]) -> TrustedKeys {
    let mut trusted = TrustedKeys::default();
    keys.iter().for_each(|key| trusted.trust(key.public_key()));
    trusted
}

#[test]
fn every_hash_of_the_head_is_the_chapters() {
    let head = head();
    assert_eq!(head.session_hash, "323cc53d23dd1b703988f1b8879e386350a0a0cef686e0a786aaacf646949d72");
    assert_eq!(head.chain_tips_hash, "f5463028a4d30141c3fd33c5a4c22dbd52674afb26f56e3739be6aa797d70906");
    assert_eq!(head.root_hash, "41e1ee33de22d60cea5295541f98a2d847f4d103c7827a414db92ac4af052339");
    assert_eq!(head.log_row_hash, "3f18324a0fc22d594e5a75190c2eb0dc0a5fe8240c776c4a0749ef18afcad487");
    assert_eq!(head.message().len(), 627);
    assert!(head.message().starts_with(b"colibri-tree-head-v1\n{\"chain_tips_hash\":\"f5463028"));
    assert_eq!(head.hash().as_str(), HEAD_HASH);
}

#[test]
fn the_key_and_its_signatures_are_the_chapters() {
    let signed = key().sign(&head());
    assert_eq!(signed.public_key, PUBLIC_KEY);
    assert_eq!(signed.key_id, "56475aa75463474c0285df5dbf2bcab7");
    let signature = concat!(
        "305f6ec8447448a3c4e33d1a5ff7f4a76bde571197413c5dcb83e3f92deab8a3",
        "d33013785c225a271cad73278596e0e3857b5db9ee0f0aec295f7faa3ca46800"
    );
    assert_eq!(signed.signature, signature);

    let second = TreeHead {
        session_id: "S-2".to_owned(),
        head_index: 1,
        prev_head_hash: HEAD_HASH.to_owned(),
        ..head()
    };
    assert_eq!(second.hash().as_str(), "219d0169c9ddf0119e6a49e25beec6199686102b69a49ae95247aebf7fb4eb49");
    let signature = concat!(
        "a472a1e8ee981ada78d626c079878480632787727be5a1bbfa8be6eb2b1e5793",
        "65720cb8b488f42f3782c2fb122b6a5cbfd7065189ea725e3dc30d33ddaf8f0f"
    );
    assert_eq!(key().sign(&second).signature, signature);
}

#[test]
fn without_a_key_only_the_signature_is_missing() {
    let unsigned = sealed(head(), None);
    assert_eq!(unsigned.head_hash, HEAD_HASH);
    let json = serde_json::to_value(&unsigned).unwrap();
    for member in ["signature", "key_id", "public_key"] {
        assert_eq!(json[member], json!(null), "{member}");
    }
    assert_eq!(json.as_object().unwrap().len(), 16);
    assert_eq!(serde_json::from_value::<SignedTreeHead>(json).unwrap(), unsigned);
    assert_eq!(check_signature(&unsigned, &trusting(&[&key()])), SignatureStatus::Unsigned);
}

#[test]
fn heads_in_json_are_flat_whole_and_nothing_else() {
    let signed = sealed(head(), Some(&key()));
    let json = serde_json::to_value(&signed).unwrap();
    assert_eq!((json["v"].as_i64(), json["session_id"].as_str()), (Some(1), Some("S-1")));
    assert_eq!(serde_json::from_value::<SignedTreeHead>(json.clone()).unwrap(), signed);
    for member in json.as_object().unwrap().keys() {
        let mut missing = json.clone();
        missing.as_object_mut().unwrap().remove(member);
        assert!(serde_json::from_value::<SignedTreeHead>(missing).is_err(), "without {member}");
    }
    for (member, value) in [("v", json!(2)), ("tree_size", json!(4.0)), ("more", json!(1))] {
        let mut other = json.clone();
        other[member] = value;
        assert!(serde_json::from_value::<SignedTreeHead>(other).is_err(), "{member}");
    }
}

#[test]
fn what_a_signature_is_worth() {
    let other = SigningKey::generate([7; 32]);
    let good = sealed(head(), Some(&key()));
    let status =
        |head: &SignedTreeHead, keys: &[&SigningKey]| check_signature(head, &trusting(keys)).as_str();
    assert_eq!(status(&good, &[&key()]), "valid");
    assert_eq!(status(&good, &[&other, &key()]), "valid");
    assert_eq!(status(&good, &[&other]), "unknown_key");
    assert_eq!(status(&good, &[]), "unknown_key");

    let spoiled = |spoil: fn(&mut SignedTreeHead)| {
        let mut head = good.clone();
        spoil(&mut head);
        head
    };
    let spoils: [fn(&mut SignedTreeHead); 8] = [
        |head| head.signature.as_mut().unwrap().signature.replace_range(0..1, "4"),
        |head| head.signature.as_mut().unwrap().signature.make_ascii_uppercase(),
        |head| head.signature.as_mut().unwrap().signature.truncate(126),
        |head| head.signature.as_mut().unwrap().key_id.replace_range(0..1, "6"),
        |head| head.signature.as_mut().unwrap().public_key.make_ascii_uppercase(),
        |head| head.signature.as_mut().unwrap().public_key = "0".repeat(64),
        |head| head.signature.as_mut().unwrap().public_key = SigningKey::generate([7; 32]).public_key().hex(),
        |head| head.head.tree_size += 1,
    ];
    for (number, spoil) in spoils.into_iter().enumerate() {
        // A verifier that trusts no key still sees that the head contradicts itself.
        for keys in [&[&key()] as &[&SigningKey], &[&other], &[]] {
            assert_eq!(status(&spoiled(spoil), keys), "invalid", "spoil {number}");
        }
    }
}

#[test]
fn signatures_have_one_form_and_weak_keys_none() {
    // S + L verifies by the plain equation; strict verification refuses it.
    let good = sealed(head(), Some(&key()));
    let signed = good.signature.clone().unwrap();
    let mut bytes = crate::proof::support::unhex(&signed.signature);
    let order = "edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010";
    let mut carry = 0_u16;
    for (byte, added) in bytes[32..].iter_mut().zip(crate::proof::support::unhex(order)) {
        let sum = u16::from(*byte) + u16::from(added) + carry;
        *byte = (sum & 0xff) as u8;
        carry = sum >> 8;
    }
    let malleated: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let key = PublicKey::parse(PUBLIC_KEY).unwrap();
    assert!(key.verifies(&good.head.message(), &signed.signature));
    assert!(!key.verifies(&good.head.message(), &malleated));

    let identity = format!("01{}", "0".repeat(62));
    for weak in [identity.as_str(), &"0".repeat(64)] {
        assert_eq!(PublicKey::parse(weak), Err(KeyTextError::NotAKey), "{weak}");
    }
}

#[test]
fn keys_are_read_strictly_and_shown_by_their_id() {
    let seed: String = (0..32).map(|byte| format!("{byte:02x}")).collect();
    for text in [seed.clone(), format!("{seed}\n"), format!("{seed}\r\n"), seed.to_uppercase()] {
        assert_eq!(SigningKey::from_seed_text(&text).unwrap().public_key().hex(), PUBLIC_KEY, "{text:?}");
    }
    for text in
        ["", &seed[1..], &format!("{seed}0"), &format!("{seed}\n\n"), &format!(" {seed}"), &"é".repeat(32)]
    {
        assert_eq!(SigningKey::from_seed_text(text).err(), Some(KeyTextError::NotHex), "{text:?}");
    }
    assert_eq!(key().seed_text().expose(), seed);
    assert_eq!(format!("{:?}", key()), "SigningKey(56475aa75463474c0285df5dbf2bcab7)");

    let other = SigningKey::generate([7; 32]).public_key();
    let trusted = TrustedKeys::parse(&format!(" {PUBLIC_KEY}, {},{PUBLIC_KEY},", other.hex())).unwrap();
    assert_eq!(trusted.iter().cloned().collect::<Vec<_>>(), [key().public_key(), other]);
    assert!(TrustedKeys::parse("").unwrap().is_empty());
    assert_eq!(TrustedKeys::parse(&format!("{PUBLIC_KEY},zz")), Err(KeyTextError::NotHex));
}

#[test]
fn tips_are_sorted_by_utf_16() {
    let tip = |task: &str| ChainTip { task_id: task.to_owned(), chain_length: 1, tip_hash: "0".repeat(64) };
    let mut tips = [tip("\u{fb33}"), tip("\u{1f600}"), tip("a")];
    let message = chain_tips_message(&mut tips);
    assert_eq!(tips.map(|tip| tip.task_id), ["a", "\u{1f600}", "\u{fb33}"]);
    assert!(message.starts_with(b"colibri-chain-tips-v1\n[{\"chain_length\":1,\"task_id\":\"a\","));
    assert_eq!(chain_tips_message(&mut []), b"colibri-chain-tips-v1\n[]");
}

proptest! {
    /// The output written by hand equals that of the project's one encoder.
    #[test]
    fn messages_are_canonical(texts in prop::array::uniform4(any::<String>()), number in 0_i64..1 << 53, absent: bool) {
        let [a, b, c, d] = &texts;
        let task_id = (!absent).then_some(c.as_str());
        let facts = SessionFacts { session_id: a, intent: b, task_id, started_at: d };
        let object = json!({"session_id": a, "intent": b, "task_id": task_id, "started_at": d});
        let canonical = canonical_json(&object, NumberRule::Trail).unwrap();
        prop_assert_eq!(facts.message(), format!("colibri-session-v1\n{canonical}").into_bytes());

        let mut tips = [ChainTip { task_id: a.clone(), chain_length: number, tip_hash: b.clone() }];
        let array = json!([{"task_id": a, "chain_length": number, "tip_hash": b}]);
        let canonical = canonical_json(&array, NumberRule::Trail).unwrap();
        prop_assert_eq!(chain_tips_message(&mut tips), format!("colibri-chain-tips-v1\n{canonical}").into_bytes());

        let head = TreeHead { session_id: a.clone(), finalized_at: b.clone(), log_exit_no: number, ..head() };
        let mut object = serde_json::to_value(sealed(head.clone(), None)).unwrap();
        for member in ["head_hash", "signature", "key_id", "public_key"] {
            object.as_object_mut().unwrap().remove(member);
        }
        prop_assert_eq!(object.as_object().unwrap().len(), 12);
        let canonical = canonical_json(&object, NumberRule::Trail).unwrap();
        prop_assert_eq!(head.message(), format!("colibri-tree-head-v1\n{canonical}").into_bytes());
    }

    /// The order in which tips come does not matter.
    #[test]
    fn tips_hash_alike_in_any_order(tasks in prop::collection::hash_set(any::<String>(), 0..6)) {
        let tip = |task: String| ChainTip { task_id: task, chain_length: 2, tip_hash: TASK.to_owned() };
        let mut forwards: Vec<ChainTip> = tasks.into_iter().map(tip).collect();
        let mut backwards: Vec<ChainTip> = forwards.iter().rev().cloned().collect();
        prop_assert_eq!(chain_tips_hash(&mut forwards), chain_tips_hash(&mut backwards));
    }
}

#[test]
fn a_session_without_a_task_says_null() {
    let without = SessionFacts { task_id: None, ..FACTS };
    assert!(without.message().ends_with(b",\"task_id\":null}"));
    assert_ne!(without.hash(), FACTS.hash());
}
