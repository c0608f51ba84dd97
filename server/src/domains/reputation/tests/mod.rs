//! Reputation's engine and the rules it stands on, without a database: the acceptance cases of reputation#gains that need none,
//! and properties over random histories.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod encoding;
mod gains;
mod gates;
mod histories;
mod model;
mod numbers;
mod pack;
mod penalties;
mod replay;
mod run;
mod scores;
mod support;
mod tokens;
