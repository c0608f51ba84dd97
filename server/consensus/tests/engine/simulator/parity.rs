//! The parity harness (consensus#simulator): four fixed scenarios whose verdicts any implementation must reach.

use colibri_canonical::hex;
use colibri_consensus::canonical::{Fields, Hash, encode, sha256};
use colibri_consensus::clock::LogicalClock;
use colibri_consensus::equivocation::{EquivocationDetector, verify_equivocation_proof};
use colibri_consensus::finality::{
    DISPUTE_WINDOW_EPOCHS_DEFAULT, FinalityLevel, FinalityMachine, Transition,
};
use colibri_consensus::messages::{SignedMessage, Vote, VoteType};
use colibri_consensus::signing::{Ed25519Signer, Signer, StrictEd25519};
use serde_json::Value;
use sha2::{Digest, Sha512};

const DEFAULT_SEED: u64 = 42;
const ROUND: u64 = 1;
const EPOCH: u64 = 1;

/// The behaviour of a scenario's arbiter.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// Votes for the proposed root.
    Honest { tag: &'static str },
    /// Votes for another root.
    Byzantine { tag: &'static str },
    /// Votes for both.
    Equivocator { tag_a: &'static str, tag_b: &'static str },
}

const HONEST: Kind = Kind::Honest { tag: "root" };

/// Each scenario: its arbiters, and how many of them are proven to equivocate. All reach QUORUM.
const SCENARIOS: [(&str, &[Kind], usize); 4] = [
    ("SCENARIO_1", &[HONEST], 0),
    ("SCENARIO_2", &[HONEST, HONEST, HONEST, HONEST], 0),
    ("SCENARIO_3", &[HONEST, HONEST, HONEST, Kind::Byzantine { tag: "other" }], 0),
    ("SCENARIO_4", &[HONEST, HONEST, HONEST, Kind::Equivocator { tag_a: "root", tag_b: "other" }], 1),
];

/// Returns a tag's UTF-8 bytes, padded with zeros.
fn tag_to_bytes(tag: &str) -> Hash {
    let mut bytes = [0; 32];
    bytes[..tag.len()].copy_from_slice(tag.as_bytes());
    bytes
}

/// HMAC-SHA512 (RFC 2104) under a key that is shorter than a block.
fn hmac_sha512(key: &[u8], message: &[u8]) -> [u8; 64] {
    let padded = |byte: u8| {
        let mut block = [byte; 128];
        block.iter_mut().zip(key).for_each(|(place, key)| *place ^= key);
        block
    };
    let inner = Sha512::new().chain_update(padded(0x36)).chain_update(message).finalize();
    Sha512::new().chain_update(padded(0x5c)).chain_update(inner).finalize().into()
}

fn seed_root(seed: u64) -> Hash {
    sha256(&[b"colibri-parity-v1", &seed.to_be_bytes()])
}

/// Returns the arbiter `label`, of `A` to `D`.
fn arbiter(seed: u64, label: &str) -> Ed25519Signer {
    let derived = hmac_sha512(&seed_root(seed), label.as_bytes());
    Ed25519Signer::from_seed(derived[..32].try_into().unwrap())
}

/// The result of a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Verdict {
    level: FinalityLevel,
    transitions: Vec<Transition>,
    group: Option<String>,
    evidence: Vec<String>,
}

fn votes_of(kind: Kind, signer: &Ed25519Signer) -> Vec<Vote> {
    let mut clock = LogicalClock::default();
    let mut vote = |tag| {
        let vote = Vote {
            round_id: ROUND,
            merkle_root: tag_to_bytes(tag),
            rule_version_hash: tag_to_bytes("rules"),
            sender_id: signer.sender_id(),
            vote_type: VoteType::Accept,
            timestamp_logical: clock.next().unwrap(),
            signature: [0; 64],
        };
        vote.signed_by(signer).unwrap()
    };
    match kind {
        Kind::Honest { tag } | Kind::Byzantine { tag } => vec![vote(tag)],
        Kind::Equivocator { tag_a, tag_b } => vec![vote(tag_a), vote(tag_b)],
    }
}

/// Passes all votes through verification, detection and finality.
fn verdict(kinds: &[Kind], seed: u64) -> Verdict {
    let signers: Vec<_> = ["A", "B", "C", "D"].iter().map(|label| arbiter(seed, label)).collect();
    let signers = &signers[..kinds.len()];
    let committee: Vec<_> = signers.iter().map(Signer::sender_id).collect();
    let mut machine = FinalityMachine::new(ROUND, &committee, DISPUTE_WINDOW_EPOCHS_DEFAULT).unwrap();
    let (mut detector, mut evidence) = (EquivocationDetector::default(), Vec::new());
    for (signer, kind) in signers.iter().zip(kinds) {
        let key = signer.public_key();
        for vote in votes_of(*kind, signer) {
            assert!(vote.is_signed_by(&key, &StrictEd25519));
            if let Some(proof) = detector.observe(&vote, machine.current()).unwrap() {
                machine.observe_equivocation(EPOCH, &vote.sender_id).unwrap();
                assert_eq!(verify_equivocation_proof(&proof, &key, &StrictEd25519), Ok(()));
                evidence.push(hex::encode(&proof.evidence_hash));
            }
            machine.receive_vote(&vote, EPOCH).unwrap();
        }
    }
    Verdict {
        level: machine.current(),
        transitions: machine.transitions().to_vec(),
        group: machine.anchor_group().map(|group| group.to_string()),
        evidence,
    }
}

/// Runs a scenario twice; returns the report's canonical bytes.
fn run_scenario(id: &str, kinds: &[Kind], seed: u64) -> Vec<u8> {
    let first = verdict(kinds, seed);
    let identical = first == verdict(kinds, seed);
    let step = |step: &Transition| {
        let levels = Fields::default().text("from", step.from.as_str()).text("to", step.to.as_str());
        let evidence = hex::encode(&sha256(&[&step.evidence]));
        levels.integer("epoch", step.epoch).text("evidence_sha256", &evidence).finish()
    };
    let check = Fields::default().value("second_run_identical", identical.into()).finish();
    let report = Fields::default()
        .text("scenario_id", id)
        .integer("seed", seed)
        .integer("n", kinds.len() as u64)
        .text("final_level", first.level.as_str())
        .value("transitions", first.transitions.iter().map(step).collect())
        .value("quorum_group_key", first.group.clone().map_or(Value::Null, Value::from))
        .value("evidence_hashes", first.evidence.iter().map(String::as_str).collect())
        .value("determinism_check", check);
    encode(&report.finish()).unwrap()
}

#[test]
fn keys_of_seed_42_are_the_chapters() {
    let root = hex::encode(&seed_root(DEFAULT_SEED));
    assert_eq!(root, "a752a0058cdc6e2a37b37b560220d9384503a9cf7c46a5103920ad869625bf12");
    let golden = [
        ("A", "977dab44164231c0fa128a101121f8e31b7a4d33ddefaa2354b206fa5deaaf69"),
        ("B", "b282311d7fa7360f5878fef7f9d8eb8c73a4b7f305ab64cc7887db3532d0eebf"),
        ("C", "78ce551ec6ae49186b3c00f478f2c70ddf692a929bfafa22b2498211e915efdc"),
        ("D", "995bcdd18ab03ae0eb38bf9f81a28b94930648a4cc4500728cdbd36dabf5a11b"),
    ];
    for (label, key) in golden {
        assert_eq!(hex::encode(&arbiter(DEFAULT_SEED, label).public_key()), key, "{label}");
    }
}

#[test]
fn hmac_is_rfc_4231s() {
    // Test case 2.
    let mac = hex::encode(&hmac_sha512(b"Jefe", b"what do ya want for nothing?"));
    assert!(mac.starts_with("164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554"));
}

#[test]
fn scenarios_end_as_the_chapter_says() {
    for (id, kinds, proven) in SCENARIOS {
        let bytes = run_scenario(id, kinds, DEFAULT_SEED);
        let report: Value = serde_json::from_slice(&bytes).unwrap();
        let of = |key: &str| report[key].clone();
        assert_eq!(of("final_level"), "QUORUM", "{id}");
        assert_eq!(of("evidence_hashes").as_array().map(Vec::len), Some(proven), "{id}");
        assert_eq!(of("n"), kinds.len(), "{id}");
        let group =
            format!("1|{}|{}", hex::encode(&tag_to_bytes("root")), hex::encode(&tag_to_bytes("rules")));
        assert_eq!(of("quorum_group_key"), group, "{id}");
        let levels: Vec<_> =
            of("transitions").as_array().unwrap().iter().map(|step| step["to"].clone()).collect();
        assert_eq!(levels, ["SOFT", "QUORUM"], "{id}");
        assert_eq!(report["determinism_check"]["second_run_identical"], true, "{id}");
    }
}

#[test]
fn equal_seeds_give_equal_reports_and_others_do_not() {
    for (id, kinds, _) in SCENARIOS {
        assert_eq!(run_scenario(id, kinds, DEFAULT_SEED), run_scenario(id, kinds, DEFAULT_SEED), "{id}");
    }
    let (id, kinds, _) = SCENARIOS[3];
    let without_seed = |seed: u64| {
        let report: Value = serde_json::from_slice(&run_scenario(id, kinds, seed)).unwrap();
        (report["evidence_hashes"].clone(), report["transitions"].clone())
    };
    let (evidence, transitions) = without_seed(42);
    let (other_evidence, other_transitions) = without_seed(43);
    assert_ne!(evidence, other_evidence);
    assert_ne!(transitions, other_transitions);
}
