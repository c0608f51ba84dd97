//! The acceptance cases of consensus (consensus#purpose) against the real binary, over pipes: 1 to 21, 28 to 37 and 60 to 64.
//! Cases 22 to 27 are in `consensus_restart`, the engine's in `server/consensus/tests`; the source scan of case 60 is a rule
//! of `tidy`.

mod finality;
mod gossip;
mod listing;
mod load;
mod propose;
mod secrets;
mod vote;
mod vote_keys;
mod vrf;
mod world;
