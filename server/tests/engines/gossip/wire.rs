//! The bytes of IHAVE and IWANT.

use std::collections::BTreeSet;

use colibri::domains::consensus::canonical::ConsensusSerializationError;
use colibri::domains::consensus::gossip::{GOSSIP_MAX_EVENT_IDS, Ihave, Iwant, build_iwant, receive_iwant};
use colibri::domains::consensus::messages::{Message, SignedMessage};
use colibri::domains::consensus::signing::{Signer, StrictEd25519};

use crate::gossip::support::{arbiter, bytes, hex, ihave, senders, signed};

const SIGNATURE: &str = "41ce8766e644a17ec3af7286142845d36a77fa199c006ec66bc63825e153fc61435c4c0964f078bd2547d21a876e75dbbc37e399f6db6c049fb0f65c274d0f07";

#[test]
fn theta_55_an_ihave_has_the_bytes_of_theta_10_1() {
    let ihave = ihave();
    let (one, two) = ("01".repeat(32), "02".repeat(32));
    let sender = arbiter('A').sender_id();
    let text = format!(
        "{{\"event_ids\":[\"{one}\",\"{two}\"],\"fork_id\":\"{}\",\"msg_epoch\":5,\"msg_type\":\"IHAVE\",\
         \"rule_version_hash\":\"{}\",\"sender_id\":\"{sender}\",\"signature\":\"{SIGNATURE}\",\
         \"state_root_pre\":\"{}\",\"timestamp_logical\":7}}",
        "00".repeat(32),
        "bb".repeat(32),
        "aa".repeat(32),
    );
    assert_eq!(String::from_utf8(bytes(&ihave)).unwrap(), text);
    let unsigned = text.replace(&format!("\"signature\":\"{SIGNATURE}\","), "");
    assert_eq!(String::from_utf8(ihave.signing_bytes().unwrap()).unwrap(), unsigned);
    assert_eq!(hex(&ihave.signature), SIGNATURE);
    assert_eq!(Ihave::decode(text.as_bytes()), Ok(ihave));
}

#[test]
fn theta_55_every_field_is_under_the_signature() {
    let sound = ihave();
    let changes: [fn(&mut Ihave); 7] = [
        |ihave| ihave.event_ids.reverse(),
        |ihave| ihave.state_root_pre[0] ^= 1,
        |ihave| ihave.rule_version_hash[0] ^= 1,
        |ihave| ihave.fork_id[0] ^= 1,
        |ihave| ihave.msg_epoch += 1,
        |ihave| ihave.timestamp_logical += 1,
        |ihave| ihave.sender_id = arbiter('B').sender_id(),
    ];
    let key = arbiter('A').public_key();
    assert!(sound.is_signed_by(&key, &StrictEd25519));
    for (number, change) in changes.iter().enumerate() {
        let mut other = sound.clone();
        change(&mut other);
        assert_ne!(other.signing_bytes(), sound.signing_bytes(), "change {number}");
        assert!(!other.is_signed_by(&key, &StrictEd25519), "change {number}");
    }
}

#[test]
fn theta_55_one_to_a_thousand_events_and_none_twice() {
    let ids = |count: usize| (0..count).map(|n| [n.to_be_bytes(); 4].concat().try_into().unwrap()).collect();
    for (count, taken) in
        [(0, false), (1, true), (GOSSIP_MAX_EVENT_IDS, true), (GOSSIP_MAX_EVENT_IDS + 1, false)]
    {
        let ihave = signed(Ihave { event_ids: ids(count), ..ihave() });
        assert_eq!(Ihave::decode(&bytes(&ihave)).is_ok(), taken, "{count} events");
        let iwant = signed(Iwant {
            event_ids: ids(count),
            sender_id: arbiter('A').sender_id(),
            timestamp_logical: 1,
            signature: [0; 64],
        });
        assert_eq!(receive_iwant(&bytes(&iwant), &senders(), &StrictEd25519).is_some(), taken, "{count}");
    }
    let twice = signed(Ihave { event_ids: vec![[1; 32], [2; 32], [1; 32]], ..ihave() });
    let refused = Ihave::decode(&bytes(&twice));
    assert!(matches!(&refused, Err(ConsensusSerializationError::Malformed(what)) if what.contains("twice")));
}

#[test]
fn theta_55_no_other_bytes_are_taken() {
    let text = String::from_utf8(bytes(&ihave())).unwrap();
    let (id, fork) = ("01".repeat(32), "00".repeat(32));
    let mutations = [
        text.replacen(':', ": ", 1),
        format!("{text}\n"),
        format!(" {text}"),
        text.replace(&id, &"AB".repeat(32)),
        text.replace(&id, &id[2..]),
        text.replace(&format!("\"{id}\""), "1"),
        text.replace(&format!("\"{fork}\""), "null"),
        text.replace("\"msg_epoch\":5", "\"msg_epoch\":05"),
        text.replace("\"msg_epoch\":5", "\"msg_epoch\":5.0"),
        text.replace("\"msg_epoch\":5", "\"msg_epoch\":-5"),
        text.replace("\"msg_epoch\":5", "\"msg_epoch\":9223372036854775808"),
        text.replace("\"msg_epoch\":5", "\"msg_epoch\":5,\"msg_epoch\":5"),
        text.replace("\"msg_epoch\":5", "\"msg_epoch\":5,\"more\":1"),
        text.replace("\"msg_epoch\":5,", ""),
        text.replace("IHAVE", "IWANT"),
        text.replace("\"msg_type\":\"IHAVE\",", ""),
        text.replace("soul:", "node:"),
        text[1..].to_owned(),
    ];
    for other in mutations {
        assert_ne!(other, text);
        assert!(Ihave::decode(other.as_bytes()).is_err(), "{other}");
    }
}

#[test]
fn theta_55_what_is_neither_held_nor_seen_is_asked_for_in_order() {
    let offered: Vec<_> = [4, 1, 3, 2, 5].map(|n| [n; 32]).into();
    let ihave = signed(Ihave { event_ids: offered, ..ihave() });
    let held = BTreeSet::from([[1; 32], [9; 32]]);
    let iwant = build_iwant(&ihave, &held, |id| *id == [5; 32], 8, &arbiter('A')).unwrap().unwrap();
    assert_eq!(iwant.event_ids, [[4; 32], [3; 32], [2; 32]]);
    assert_eq!(iwant.timestamp_logical, 8);
    assert_eq!(receive_iwant(&bytes(&iwant), &senders(), &StrictEd25519), Some(iwant.clone()));
    let nothing = build_iwant(&ihave, &held, |_| true, 8, &arbiter('A')).unwrap();
    assert_eq!(nothing, None, "an empty IWANT is not sent");

    let stranger = build_iwant(&ihave, &held, |_| false, 8, &arbiter('B')).unwrap().unwrap();
    assert_eq!(receive_iwant(&bytes(&stranger), &senders(), &StrictEd25519), None);
    let mut forged = iwant;
    forged.event_ids.pop();
    assert_eq!(receive_iwant(&bytes(&forged), &senders(), &StrictEd25519), None);
}
