//! The verifiable random function, private keys and the choice of leaders, without a server (theta §3.4 and §9).

mod choice;
mod golden;
mod negative;
mod private_keys;
mod properties;
mod support;
