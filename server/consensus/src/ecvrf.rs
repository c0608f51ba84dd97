//! The verifiable random function ECVRF-EDWARDS25519-SHA512-TAI (RFC 9381 §5.5, suite 3): the holder of an
//! Ed25519 key turns any bytes into 64 that no one else can predict and anyone can check. Pure.
//!
//! ```text
//! key, alpha -> prove -> pi (80 bytes: Gamma, c, s) -> proof_to_hash -> beta (64 bytes)
//! public key, alpha, pi -> verify -> beta
//! ```
//!
//! Stricter than the curve crate, so that a proof has one form only: points are decoded as RFC 8032 §5.1.3 has it, `s`
//! must be below the group's order, and public keys of small order are refused (RFC 9381 §5.4.5).
//!
//! What depends on the key takes the same time for every key and is wiped. How long it takes to find `H` depends on
//! `alpha`, which is public, and on the public key.

use curve25519_dalek::Scalar;
use curve25519_dalek::edwards::{CompressedEdwardsY, EdwardsPoint};
use curve25519_dalek::scalar::clamp_integer;
use curve25519_dalek::traits::IsIdentity;
use sha2::{Digest, Sha512};
use zeroize::Zeroizing;

use super::private_key::PrivateKey;

/// How long a proof is: a point, half a digest and a scalar.
pub(crate) const PROOF_LEN: usize = 80;
/// How long an output is.
pub(crate) const OUTPUT_LEN: usize = 64;
const CHALLENGE_LEN: usize = 16;

/// The suite (RFC 9381 §5.5) and what separates its three uses of the hash.
const SUITE: u8 = 3;
const ENCODE_TO_CURVE: u8 = 1;
const CHALLENGE: u8 = 2;
const PROOF_TO_HASH: u8 = 3;
const END: u8 = 0;

/// A proof: Gamma, challenge and response.
pub type Proof = [u8; PROOF_LEN];
/// An output, which looks random to anyone without the key.
pub type Output = [u8; OUTPUT_LEN];

/// Why a function gives no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum VrfError {
    /// The public key is not a canonical point, or one of small order.
    #[error("the public key is not a canonical Ed25519 point of large order")]
    InvalidKey,
    /// The list of arbiters is empty.
    #[error("arbiters must be non-empty")]
    EmptyArbiters,
    /// None of 256 attempts hit the curve; each misses with probability one half.
    #[error("no attempt to hash the input to the curve succeeded")]
    EncodeExhausted,
    /// Not a proof by that key for that input.
    #[error("the proof is not valid for this key and input")]
    InvalidProof,
}

/// Proves the output of `key` for `alpha` (RFC 9381 §5.1).
///
/// # Errors
/// [`VrfError::EncodeExhausted`], with probability 2^-256.
pub fn ecvrf_prove(key: &PrivateKey, alpha: &[u8]) -> Result<Proof, VrfError> {
    let secret = Expanded::of(key);
    let public = EdwardsPoint::mul_base(&secret.x).compress().to_bytes();
    let (_, h) = encode_to_curve(&public, alpha)?;
    let gamma = h * *secret.x;
    let k = secret.nonce(&h);
    let c = challenge(&public, &h, &gamma, &EdwardsPoint::mul_base(&k), &(h * *k));
    let s = *k + scalar(&c) * *secret.x;
    let mut proof = [0; PROOF_LEN];
    let parts = gamma.compress().to_bytes().into_iter().chain(c).chain(s.to_bytes());
    proof.iter_mut().zip(parts).for_each(|(to, from)| *to = from);
    Ok(proof)
}

/// Returns the output that `proof` shows to be that of the holder of `public_key` for `alpha` (RFC 9381 §5.3).
///
/// # Errors
/// [`VrfError::InvalidKey`] and [`VrfError::InvalidProof`]; [`VrfError::EncodeExhausted`] with probability 2^-256.
pub fn ecvrf_verify(public_key: &[u8; 32], alpha: &[u8], proof: &[u8]) -> Result<Output, VrfError> {
    let y = decode_point(public_key).filter(|y| !y.is_small_order()).ok_or(VrfError::InvalidKey)?;
    let Parts { gamma, c, s } = Parts::of(proof)?;
    let (_, h) = encode_to_curve(public_key, alpha)?;
    let challenged = scalar(&c);
    let u = EdwardsPoint::vartime_double_scalar_mul_basepoint(&-challenged, &y, &s);
    let v = h * s - gamma * challenged;
    if challenge(public_key, &h, &gamma, &u, &v) == c {
        Ok(output(&gamma))
    } else {
        Err(VrfError::InvalidProof)
    }
}

/// Returns the output that a proof leads to (RFC 9381 §5.2). Says nothing about whose proof it is: verify it first.
///
/// # Errors
/// [`VrfError::InvalidProof`] if the bytes do not have a proof's form.
pub fn ecvrf_proof_to_hash(proof: &[u8]) -> Result<Output, VrfError> {
    Parts::of(proof).map(|parts| output(&parts.gamma))
}

/// The key's scalar and the half of its digest that nonces come from (RFC 8032 §5.1.5).
struct Expanded {
    x: Zeroizing<Scalar>,
    prefix: Zeroizing<[u8; 32]>,
}

impl Expanded {
    fn of(key: &PrivateKey) -> Self {
        let digest = wiped_digest(&[key.seed()]);
        let (mut low, mut prefix) = (Zeroizing::new([0; 32]), Zeroizing::new([0; 32]));
        low.iter_mut().chain(prefix.iter_mut()).zip(digest.iter()).for_each(|(to, from)| *to = *from);
        let clamped = Zeroizing::new(clamp_integer(*low));
        // Reduced: every point that it multiplies is in the group of prime order.
        Self { x: Zeroizing::new(Scalar::from_bytes_mod_order(*clamped)), prefix }
    }

    /// Returns the nonce for a point (RFC 9381 §5.4.2.2). The key can be computed from the nonce and the proof.
    fn nonce(&self, h: &EdwardsPoint) -> Zeroizing<Scalar> {
        let digest = wiped_digest(&[&*self.prefix, h.compress().as_bytes()]);
        Zeroizing::new(Scalar::from_bytes_mod_order_wide(&digest))
    }
}

/// Returns SHA-512 of secrets. What the hash function itself leaves on the stack cannot be wiped here.
fn wiped_digest(parts: &[&[u8]]) -> Zeroizing<[u8; 64]> {
    let mut hash = Sha512::new();
    parts.iter().for_each(|part| hash.update(part));
    let mut digest = Zeroizing::new([0; 64]);
    hash.finalize_into((&mut *digest).into());
    digest
}

/// A proof taken apart (RFC 9381 §5.4.4).
struct Parts {
    gamma: EdwardsPoint,
    c: [u8; CHALLENGE_LEN],
    s: Scalar,
}

impl Parts {
    fn of(proof: &[u8]) -> Result<Self, VrfError> {
        let proof: &Proof = proof.try_into().map_err(|_| VrfError::InvalidProof)?;
        let (gamma, rest) = proof.split_first_chunk().ok_or(VrfError::InvalidProof)?;
        let (c, rest) = rest.split_first_chunk().ok_or(VrfError::InvalidProof)?;
        let s = rest.try_into().map_err(|_| VrfError::InvalidProof)?;
        let s = Option::from(Scalar::from_canonical_bytes(s)).ok_or(VrfError::InvalidProof)?;
        Ok(Self { gamma: decode_point(gamma).ok_or(VrfError::InvalidProof)?, c: *c, s })
    }
}

/// Decodes the point with that encoding (RFC 8032 §5.1.3). The curve crate also takes y not below p, and -0 for x = 0.
fn decode_point(bytes: &[u8; 32]) -> Option<EdwardsPoint> {
    CompressedEdwardsY(*bytes).decompress().filter(|point| point.compress().as_bytes() == bytes)
}

/// Finds the point `H` for an input by trying digests (RFC 9381 §5.4.1.1). Also returns how many digests were not points.
fn encode_to_curve(public_key: &[u8; 32], alpha: &[u8]) -> Result<(u8, EdwardsPoint), VrfError> {
    let start =
        Sha512::new().chain_update([SUITE, ENCODE_TO_CURVE]).chain_update(public_key).chain_update(alpha);
    for attempt in 0..=u8::MAX {
        let digest: [u8; 64] = start.clone().chain_update([attempt, END]).finalize().into();
        let point = digest.first_chunk().and_then(decode_point).map(|point| point.mul_by_cofactor());
        if let Some(point) = point.filter(|point| !point.is_identity()) {
            return Ok((attempt, point));
        }
    }
    Err(VrfError::EncodeExhausted)
}

/// Returns half a digest over everything public (RFC 9381 §5.4.3).
fn challenge(
    public_key: &[u8; 32],
    h: &EdwardsPoint,
    gamma: &EdwardsPoint,
    u: &EdwardsPoint,
    v: &EdwardsPoint,
) -> [u8; CHALLENGE_LEN] {
    let mut hash = Sha512::new().chain_update([SUITE, CHALLENGE]).chain_update(public_key);
    [h, gamma, u, v].iter().for_each(|point| hash.update(point.compress().as_bytes()));
    let digest: [u8; 64] = hash.chain_update([END]).finalize().into();
    let mut half = [0; CHALLENGE_LEN];
    half.iter_mut().zip(digest).for_each(|(to, from)| *to = from);
    half
}

/// Returns a challenge as a number, least significant byte first.
fn scalar(c: &[u8; CHALLENGE_LEN]) -> Scalar {
    let mut bytes = [0; 32];
    bytes.iter_mut().zip(c).for_each(|(to, from)| *to = *from);
    Scalar::from_bytes_mod_order(bytes)
}

fn output(gamma: &EdwardsPoint) -> Output {
    let gamma = gamma.mul_by_cofactor().compress();
    let hash = Sha512::new().chain_update([SUITE, PROOF_TO_HASH]).chain_update(gamma.as_bytes());
    hash.chain_update([END]).finalize().into()
}

#[cfg(test)]
mod tests;
