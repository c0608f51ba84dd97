//! The engine with golden data, properties and a reference model; the random function and private keys in `vrf`; rounds of
//! committees of any size, with faulty members, in `simulator`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod cache;
mod codec;
mod equivocation;
mod finality;
mod golden;
mod properties;
mod quorum;
mod reference;
mod simulator;
mod support;
mod time;
mod vrf;
