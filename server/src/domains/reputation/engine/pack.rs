//! The rules of reputation, by their hash (rules#version-hash). Every entry of the ledger carries it. Pure.

/// The hash of the rule pack in its wire form. A test builds the pack from the constants that the engine calculates with, and
/// recomputes the hash, so that no constant changes unnoticed.
pub const LAMBDA_RULES_HASH: &str = "245c4b805d8c805060f738863d241db27a5f9fc5b43988a4a9cc94e99b62ab1c";
