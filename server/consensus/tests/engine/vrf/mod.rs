//! The verifiable random function, private keys and the choice of leaders, without a server (consensus#private-keys, consensus#vrf).

mod choice;
mod golden;
mod negative;
mod private_keys;
mod properties;
mod support;
