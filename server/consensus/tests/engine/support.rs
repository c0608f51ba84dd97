//! The four arbiters and the common values of the golden data (consensus#identity, consensus#messages).

use colibri_canonical::hex;
use colibri_consensus::canonical::Hash;
use colibri_consensus::identity::SenderId;
use colibri_consensus::messages::{SignedMessage, Vote, VoteType};
use colibri_consensus::signing::{Ed25519Signer, Signer};

pub const AA: Hash = [0xaa; 32];
pub const BB: Hash = [0xbb; 32];
pub const CC: Hash = [0xcc; 32];

const SEEDS: [&str; 4] = [
    "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
    "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
    "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
    "f5e5767cf153319517630f226876b86c8160cc583bc013744c6bf255f5cc0ee5",
];

/// Returns one of the arbiters A to D.
pub fn arbiter(name: char) -> Ed25519Signer {
    let index = "ABCD".find(name).expect("one of the four");
    Ed25519Signer::from_seed(&hex::decode_array(SEEDS[index]).expect("a seed"))
}

pub fn id(name: char) -> SenderId {
    arbiter(name).sender_id()
}

/// Returns a signed ACCEPT vote in round 1.
pub fn vote(name: char, merkle_root: Hash, timestamp_logical: u64) -> Vote {
    vote_of(name, merkle_root, VoteType::Accept, timestamp_logical)
}

/// Returns any signed vote in round 1.
pub fn vote_of(name: char, merkle_root: Hash, vote_type: VoteType, timestamp_logical: u64) -> Vote {
    let signer = arbiter(name);
    let vote = Vote {
        round_id: 1,
        merkle_root,
        rule_version_hash: BB,
        sender_id: signer.sender_id(),
        vote_type,
        timestamp_logical,
        signature: [0; 64],
    };
    vote.signed_by(&signer).expect("a vote has a canonical form")
}

/// Returns bytes as hex, to compare with the golden data.
pub fn hex(bytes: &[u8]) -> String {
    colibri_canonical::hex::encode(bytes)
}
