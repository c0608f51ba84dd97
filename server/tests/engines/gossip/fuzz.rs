//! Bytes from a hostile network never make the decoder panic, and nothing is taken that would be written otherwise.
//! `COLIBRI_FUZZ_RUNS` says how many are tried.

use colibri::domains::consensus::anchors::TimeAnchor;
use colibri::domains::consensus::gossip::{Ihave, Iwant, ReceiverState, receive_ihave, receive_iwant};
use colibri::domains::consensus::messages::Message;
use colibri::domains::consensus::signing::StrictEd25519;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::gossip::support::{FORK, ROOT, RULES, bytes, ihave, senders, somebody};

fn runs() -> ProptestConfig {
    let runs = std::env::var("COLIBRI_FUZZ_RUNS").ok().and_then(|runs| runs.parse().ok());
    ProptestConfig::with_cases(runs.unwrap_or(256))
}

fn state() -> ReceiverState {
    ReceiverState::new(RULES, FORK, ROOT, 5)
}

/// Reads bytes as everything; whatever is taken must be written as it was read.
fn read(bytes: &[u8]) -> Result<(), TestCaseError> {
    fn check<M: Message>(bytes: &[u8]) -> Result<bool, TestCaseError> {
        let Ok(message) = M::decode(bytes) else { return Ok(false) };
        prop_assert_eq!(message.canonical().unwrap(), bytes);
        Ok(true)
    }
    let kinds = [check::<Ihave>(bytes)?, check::<Iwant>(bytes)?, check::<TimeAnchor>(bytes)?];
    prop_assert!(kinds.iter().filter(|taken| **taken).count() <= 1, "bytes of two kinds of messages");
    receive_ihave(bytes, &state(), &senders(), &StrictEd25519).ok();
    receive_iwant(bytes, &senders(), &StrictEd25519);
    Ok(())
}

fn any_ihave() -> impl Strategy<Value = Ihave> {
    let ids = proptest::collection::btree_set(any::<[u8; 32]>(), 1..20);
    let fields = (ids, any::<[[u8; 32]; 3]>(), 0..=i64::MAX as u64, 0..=i64::MAX as u64, any::<u8>());
    fields.prop_map(|(ids, [root, rules, fork], msg_epoch, timestamp_logical, sender)| Ihave {
        event_ids: ids.into_iter().rev().collect(),
        state_root_pre: root,
        rule_version_hash: rules,
        fork_id: fork,
        msg_epoch,
        sender_id: somebody(sender),
        timestamp_logical,
        signature: [[sender; 32], root].concat().try_into().unwrap(),
    })
}

proptest! {
    #![proptest_config(runs())]

    #[test]
    fn theta_55_messages_come_back(ihave in any_ihave()) {
        prop_assert_eq!(Ihave::decode(&bytes(&ihave)), Ok(ihave.clone()));
        let iwant = Iwant {
            event_ids: ihave.event_ids,
            sender_id: ihave.sender_id,
            timestamp_logical: ihave.timestamp_logical,
            signature: ihave.signature,
        };
        prop_assert_eq!(Iwant::decode(&bytes(&iwant)), Ok(iwant.clone()));
        let anchor = TimeAnchor {
            publisher: iwant.sender_id,
            timestamp_ms: ihave.msg_epoch,
            epoch: iwant.timestamp_logical,
            signature: iwant.signature,
        };
        prop_assert_eq!(TimeAnchor::decode(&bytes(&anchor)), Ok(anchor));
    }

    #[test]
    fn theta_55_any_bytes(bytes in vec(any::<u8>(), 0..400)) {
        read(&bytes)?;
    }

    /// Pieces of JSON, which come further than bytes do.
    #[test]
    fn theta_55_any_pieces(pieces in vec("[\\[\\]{},:]|\"(event_ids|msg_type|IHAVE|IWANT|signature|[0-9a-f]{0,4})\"|-?[0-9]{1,20}|null|1e9", 0..60)) {
        read(pieces.concat().as_bytes())?;
    }

    /// A sound message of which some bytes were changed, removed, doubled or put in.
    #[test]
    fn theta_55_any_damage(damage in vec((any::<prop::sample::Index>(), 0..4_u8, any::<u8>()), 1..6)) {
        let mut message = bytes(&ihave());
        for (at, kind, byte) in damage {
            let at = at.index(message.len());
            match kind {
                0 => message[at] = byte,
                1 => drop(message.remove(at)),
                2 => message.insert(at, byte),
                _ => message.insert(at, message[at]),
            }
        }
        read(&message)?;
        let taken = receive_ihave(&message, &state(), &senders(), &StrictEd25519);
        prop_assert_eq!(taken.is_ok(), message == bytes(&ihave()), "damaged and taken");
    }
}

/// JSON may nest; the parser's limit answers, not the stack.
#[test]
fn theta_55_deep_nesting_is_refused() {
    for depth in [10, 1_000, 100_000] {
        for (open, close) in [("[", "]"), ("{\"event_ids\":", "}")] {
            let text = format!("{}1{}", open.repeat(depth), close.repeat(depth));
            assert!(Ihave::decode(text.as_bytes()).is_err());
        }
    }
}
