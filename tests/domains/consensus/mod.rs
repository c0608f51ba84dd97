//! Consensus (consensus#purpose) against the real binary, over pipes. Restarts are in `consensus_restart`, the engine's tests
//! in `server/consensus/tests`.

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
