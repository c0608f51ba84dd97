//! Two of the chapter's arbiters, and messages of theirs.

use colibri::domains::consensus::canonical::Hash;
use colibri::domains::consensus::gossip::{Ihave, KnownSenders};
use colibri::domains::consensus::identity::SenderId;
use colibri::domains::consensus::messages::{Message, SignedMessage};
use colibri::domains::consensus::signing::{Ed25519Signer, Signer};
use colibri_canonical::hex;

pub const RULES: Hash = [0xbb; 32];
pub const ROOT: Hash = [0xaa; 32];
pub const FORK: Hash = [0; 32];

pub fn arbiter(name: char) -> Ed25519Signer {
    let seed = match name {
        'A' => "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        _ => "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
    };
    Ed25519Signer::from_seed(&hex::decode_array(seed).unwrap())
}

/// A sender without a private key, for what no signature is needed for.
pub fn somebody(number: u8) -> SenderId {
    SenderId::of(&[number; 32])
}

/// The node knows A only.
pub fn senders() -> KnownSenders {
    KnownSenders::from([(arbiter('A').sender_id(), arbiter('A').public_key())])
}

/// The IHAVE of theta §10.1, signed by A.
pub fn ihave() -> Ihave {
    signed(Ihave {
        event_ids: vec![[1; 32], [2; 32]],
        state_root_pre: ROOT,
        rule_version_hash: RULES,
        fork_id: FORK,
        msg_epoch: 5,
        sender_id: arbiter('A').sender_id(),
        timestamp_logical: 7,
        signature: [0; 64],
    })
}

/// Signed by A, whoever it names.
pub fn signed<M: SignedMessage>(message: M) -> M {
    message.signed_by(&arbiter('A')).unwrap()
}

pub fn bytes(message: &impl Message) -> Vec<u8> {
    message.canonical().unwrap()
}

pub fn hex(bytes: &[u8]) -> String {
    hex::encode(bytes)
}
