//! Merkle trees: that of RFC 9162, and the first design's, which published proofs refer to.

pub mod legacy;
mod peaks;
pub mod rfc9162;
