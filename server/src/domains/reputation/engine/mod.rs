//! The pure code of reputation: standings, events, the ledger and its replay, tokens. Same input, same output.

pub(crate) mod automatic;
pub mod decay;
pub mod domain;
pub mod event;
pub(crate) mod fading;
pub mod gain;
pub(crate) mod gates;
pub(super) mod import;
pub mod ledger;
pub mod pack;
pub mod penalty;
pub mod replay;
pub mod standing;
pub(crate) mod tokens;
pub(crate) mod ulid;
