//! Agreement of a committee of arbiters on a Merkle root: signed messages, rounds of commit and reveal, levels of finality,
//! proofs of equivocation, and a verifiable random function. The engine is pure: clocks, salts, keys and the network are
//! arguments, so equal votes lead to equal bytes on every node.
//!
//! Four arbiters tolerate one faulty member, and three votes on one tuple are a quorum:
//!
//! ```
//! use colibri_consensus::{Ed25519Signer, FinalityLevel, FinalityMachine, SignedMessage, Signer, StrictEd25519, Vote, VoteType};
//!
//! let arbiters = [1, 2, 3, 4].map(|seed| Ed25519Signer::from_seed(&[seed; 32]));
//! let committee: Vec<_> = arbiters.iter().map(Signer::sender_id).collect();
//! let mut round = FinalityMachine::new(1, &committee, 100)?;
//! for arbiter in &arbiters[..3] {
//!     let vote = Vote {
//!         round_id: 1,
//!         merkle_root: [0xaa; 32],
//!         rule_version_hash: [0xbb; 32],
//!         sender_id: arbiter.sender_id(),
//!         vote_type: VoteType::Accept,
//!         timestamp_logical: 1,
//!         signature: [0; 64],
//!     };
//!     let vote = vote.signed_by(arbiter)?;
//!     assert!(vote.is_signed_by(&arbiter.public_key(), &StrictEd25519));
//!     round.receive_vote(&vote, 1)?;
//! }
//! assert_eq!(round.current(), FinalityLevel::Quorum);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The modules build on one another in this order:
//!
//! ```text
//! canonical, identity, clock, signing   bytes, names, times and signatures
//! level -> messages                     how final a round is, and what arbiters send to one another
//! quorum -> finality                    how many votes are enough, and how far a round has come
//! equivocation                          one arbiter, one round, two tuples: proven
//! private_key, ecvrf -> vrf             randomness that its owner cannot choose and anyone can check
//! leader -> round                       who proposes, and how a committee votes
//! history, stored -> replay -> cache    a round's history from its votes, and replayed from its rows
//! ```

pub mod cache;
pub mod canonical;
pub mod clock;
pub mod ecvrf;
pub mod equivocation;
pub mod finality;
pub mod history;
pub mod identity;
pub mod leader;
mod level;
pub mod messages;
pub mod private_key;
pub mod quorum;
pub mod replay;
pub mod round;
pub mod signing;
pub mod stored;
pub mod vrf;

pub use finality::{FinalityLevel, FinalityMachine};
pub use messages::{SignedMessage, Vote, VoteType};
pub use replay::replay;
pub use round::{Committee, Round};
pub use signing::{Ed25519Signer, Signer, StrictEd25519, Verifier};
pub use vrf::{vrf_eval, vrf_verify};
