//! Gossip, time anchors and the fork hook, without a server (theta §10 to §12, cases 55 to 57).

mod anchors;
mod bloom;
mod fanout;
mod fork_hook;
mod fuzz;
mod receive;
mod support;
mod wire;
