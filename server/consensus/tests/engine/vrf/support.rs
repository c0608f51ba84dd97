//! The four identities of consensus#identity and the way from hex and back.

pub use colibri_canonical::hex::encode as hex;

use colibri_consensus::private_key::{PrivateKey, parse_private_key};
use sha2::{Digest, Sha256};

pub const SEED_A: &str = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
pub const SEED_B: &str = "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb";
pub const SEED_C: &str = "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7";
pub const SEED_D: &str = "f5e5767cf153319517630f226876b86c8160cc583bc013744c6bf255f5cc0ee5";
pub const SEEDS: [&str; 4] = [SEED_A, SEED_B, SEED_C, SEED_D];

/// `aa` 32 times, the seed of most vectors.
pub const AA: [u8; 32] = [0xaa; 32];

pub fn key(seed: &str) -> PrivateKey {
    parse_private_key(seed).unwrap()
}

pub fn sender_id(seed: &str) -> String {
    format!("soul:{}", hex(&Sha256::digest(key(seed).public_key())))
}

pub fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

pub fn array<const N: usize>(text: &str) -> [u8; N] {
    unhex(text).try_into().unwrap()
}
