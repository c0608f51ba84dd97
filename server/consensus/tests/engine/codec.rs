//! Reading messages back: strictly, and never as something else (consensus#messages, consensus#signatures).

use std::collections::BTreeSet;

use colibri_consensus::canonical::ConsensusSerializationError;
use colibri_consensus::equivocation::build_equivocation_proof;
use colibri_consensus::finality::FinalityLevel;
use colibri_consensus::messages::{
    Certificate, Commit, EquivocationProof, Message, Reveal, SignedMessage, ViewChange, ViewChangeReason,
    Vote,
};
use colibri_consensus::signing::{Signer, StrictEd25519, Verifier};

use crate::support::{AA, CC, arbiter, id, vote};

fn commit() -> Commit {
    let (sender_id, signature) = (id('A'), [0; 64]);
    let commit =
        Commit { round_id: 1, view: 0, commit_hash: [9; 32], sender_id, timestamp_logical: 2, signature };
    commit.signed_by(&arbiter('A')).unwrap()
}

fn reveal() -> Reveal {
    let reveal = Reveal {
        round_id: 1,
        view: 0,
        vote: vote('A', AA, 1),
        salt: [0x11; 32],
        sender_id: id('A'),
        timestamp_logical: 3,
        signature: [0; 64],
    };
    reveal.signed_by(&arbiter('A')).unwrap()
}

fn view_change() -> ViewChange {
    let change = ViewChange {
        round_id: 1,
        view: 3,
        current_leader: id('B'),
        reason: ViewChangeReason::MalformedProposal,
        sender_id: id('A'),
        timestamp_logical: 4,
        signature: [0; 64],
    };
    change.signed_by(&arbiter('A')).unwrap()
}

fn proof() -> EquivocationProof {
    build_equivocation_proof(&vote('A', AA, 1), &vote('A', CC, 2), FinalityLevel::Soft).unwrap()
}

fn certificate() -> Certificate {
    Certificate { round_id: 1, votes: vec![vote('A', AA, 1), vote('B', AA, 1)] }
}

fn round_trips<M: Message + PartialEq + std::fmt::Debug>(message: &M) {
    let bytes = message.canonical().unwrap();
    for _ in 0..1_000 {
        let read = M::decode(&bytes).unwrap();
        assert_eq!(&read, message);
        assert_eq!(read.canonical().unwrap(), bytes);
    }
}

#[test]
fn what_is_written_is_read_back_a_thousand_times() {
    round_trips(&vote('A', AA, 1));
    round_trips(&commit());
    round_trips(&reveal());
    round_trips(&view_change());
    round_trips(&proof());
    round_trips(&certificate());
}

type Alter = fn(&str) -> String;

#[test]
fn a_decoder_takes_one_form_only() {
    let sound = String::from_utf8(vote('A', AA, 1).canonical().unwrap()).unwrap();
    let cases: [(&str, Alter); 15] = [
        ("uppercase hex", |text| text.replacen("aaaa", "AAAA", 1)),
        ("unknown key", |text| text.replacen('{', "{\"a\":1,", 1)),
        ("missing key", |text| text.replacen(",\"vote_type\":\"ACCEPT\"", "", 1)),
        ("duplicate key", |text| text.replacen("\"round_id\":1", "\"round_id\":1,\"round_id\":1", 1)),
        ("leading zero", |text| text.replacen("\"round_id\":1", "\"round_id\":01", 1)),
        ("sign", |text| text.replacen("\"round_id\":1", "\"round_id\":-1", 1)),
        ("fraction", |text| text.replacen("\"round_id\":1", "\"round_id\":1.0", 1)),
        ("exponent", |text| text.replacen("\"round_id\":1", "\"round_id\":1e0", 1)),
        ("beyond 2^63-1", |text| text.replacen("\"round_id\":1", "\"round_id\":9223372036854775808", 1)),
        ("31-byte root", |text| text.replacen("aa", "", 1)),
        ("trailing bytes", |text| format!("{text} ")),
        ("blanks", |text| text.replacen(':', ": ", 1)),
        ("escapes", |text| text.replacen("ACCEPT", "\\u0041CCEPT", 1)),
        ("order of keys", |text| {
            text.replacen("\"round_id\":1,", "", 1).replacen('{', "{\"round_id\":1,", 1)
        }),
        ("null for an absent key", |text| text.replacen("\"ACCEPT\"", "null", 1)),
    ];
    for (name, alter) in cases {
        let altered = alter(&sound);
        assert_ne!(altered, sound, "{name} changes nothing");
        assert!(Vote::decode(altered.as_bytes()).is_err(), "{name}: {altered}");
    }
    assert!(Vote::decode(sound.as_bytes()).is_ok());
}

#[test]
fn errors_name_the_field() {
    let mut far = vote('A', AA, 1);
    far.round_id = 1 << 63;
    let range = |field: &str| ConsensusSerializationError::IntegerRange { field: field.to_owned() };
    assert_eq!(far.canonical(), Err(range("round_id")));
    assert_eq!(far.signing_bytes(), Err(range("round_id")));
    let sound = String::from_utf8(vote('A', AA, 1).canonical().unwrap()).unwrap();
    let short = sound.replacen("aa", "", 1);
    let expected = ConsensusSerializationError::BadLength { field: "merkle_root".to_owned(), expected: 32 };
    assert_eq!(Vote::decode(short.as_bytes()), Err(expected));
}

#[test]
fn a_signature_is_of_one_kind_of_message_only() {
    let key = arbiter('A').public_key();
    let mut as_commit = commit();
    as_commit.signature = vote('A', AA, 1).signature;
    assert!(!as_commit.is_signed_by(&key, &StrictEd25519));
    let mut as_reveal = reveal();
    as_reveal.signature = commit().signature;
    assert!(!as_reveal.is_signed_by(&key, &StrictEd25519));
    assert!(commit().is_signed_by(&key, &StrictEd25519) && reveal().is_signed_by(&key, &StrictEd25519));
    assert!(!commit().is_signed_by(&arbiter('B').public_key(), &StrictEd25519));
}

/// The keys of a signed body and its `msg_type`: what keeps kinds apart.
fn kind<M: SignedMessage>(message: &M) -> (BTreeSet<String>, Option<String>) {
    let body: serde_json::Value = serde_json::from_slice(&message.signing_bytes().unwrap()).unwrap();
    let members = body.as_object().unwrap();
    let msg_type = members.get("msg_type").and_then(|value| value.as_str()).map(str::to_owned);
    (members.keys().cloned().collect(), msg_type)
}

#[test]
fn signed_bodies_differ_in_their_keys_or_type() {
    let kinds = [kind(&vote('A', AA, 1)), kind(&commit()), kind(&reveal()), kind(&view_change())];
    let distinct: BTreeSet<_> = kinds.iter().collect();
    assert_eq!(distinct.len(), kinds.len());
    for (keys, msg_type) in &kinds {
        assert_eq!(keys.contains("vote_type"), msg_type.is_none(), "a vote has no msg_type, others do");
    }
}

/// ℓ, the order of the group, in little-endian: adding it to S gives the same equation and another signature.
const ORDER: [u8; 32] = [
    0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
];

#[test]
fn signatures_are_checked_strictly() {
    let message = vote('A', AA, 1).signing_bytes().unwrap();
    let (key, signature) = (arbiter('A').public_key(), vote('A', AA, 1).signature);
    assert!(StrictEd25519.verifies(&key, &message, &signature));
    let mut malleable = signature;
    let mut carry = 0;
    for (byte, order) in malleable[32..].iter_mut().zip(ORDER) {
        let sum = u16::from(*byte) + u16::from(order) + carry;
        [*byte, _] = sum.to_le_bytes();
        carry = sum >> 8;
    }
    assert!(!StrictEd25519.verifies(&key, &message, &malleable), "S + ℓ");
    // Keys of small order, for which S = 0 and R = A satisfy the equation of many messages, in both encodings.
    let identity = {
        let mut key = [0; 32];
        key[0] = 1;
        key
    };
    let p_plus_one = {
        let mut key = [0xff; 32];
        key[0] = 0xee;
        key[31] = 0x7f;
        key
    };
    for small in [identity, p_plus_one, [0; 32]] {
        let mut forged = [0; 64];
        forged[..32].copy_from_slice(&small);
        assert!(!StrictEd25519.verifies(&small, &message, &forged), "{small:?}");
    }
}

/// y = p + 3 decodes to the point with y = 3, which is of large order; only its canonical form is a key.
#[test]
fn keys_have_one_encoding() {
    let mut canonical = [0; 32];
    canonical[0] = 3;
    let mut other = [0xff; 32];
    (other[0], other[31]) = (0xf0, 0x7f);
    assert!(ed25519_dalek::VerifyingKey::from_bytes(&other).is_ok_and(|key| !key.is_weak()));
    assert!(ed25519_dalek::VerifyingKey::from_bytes(&canonical).is_ok());
    assert!(!StrictEd25519.verifies(&other, b"message", &[0; 64]));
}
