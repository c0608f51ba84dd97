//! The verifiable random function as consensus uses it (consensus#vrf): how a seed and an input are combined, one interface
//! to evaluate and verify, and a committee drawn by it. Pure.

use super::ecvrf::{Output, Proof, VrfError, ecvrf_prove, ecvrf_verify};
use super::private_key::PrivateKey;

/// What an alpha made from a seed begins with.
pub(crate) const VRF_ALPHA_TAG: &[u8; 20] = b"colibri-vrf-alpha-v1";

/// Returns the bytes that are proven for a seed and an input (consensus#vrf). The seed's length stands before it, so that no
/// two pairs with a seed give the same bytes. Without a seed it is the input alone, for the vectors of RFC 9381; no
/// protocol uses that.
pub fn alpha(seed: &[u8], input: &[u8]) -> Vec<u8> {
    if seed.is_empty() {
        return input.to_vec();
    }
    let length = u64::try_from(seed.len()).unwrap_or(u64::MAX).to_be_bytes();
    [VRF_ALPHA_TAG, &length[..], seed, input].concat()
}

/// What an evaluation yields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Evaluation {
    /// The 64 bytes that only the key's holder could compute before.
    pub output: Output,
    /// The proof that they are the key's for that input.
    pub proof: Proof,
}

/// Evaluates and verifies.
pub(crate) trait VrfProvider {
    /// Returns the output and proof of `key` for `seed` and `input`.
    ///
    /// # Errors
    /// See [`ecvrf_prove`].
    fn eval(&self, seed: &[u8], input: &[u8], key: &PrivateKey) -> Result<Evaluation, VrfError>;

    /// Checks whether `proof` shows that `output` is that of the holder of `public_key` for `seed` and `input`.
    fn verify(&self, seed: &[u8], input: &[u8], output: &[u8], proof: &[u8], public_key: &[u8; 32]) -> bool;
}

/// The one provider: [`super::ecvrf`].
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Ecvrf;

impl VrfProvider for Ecvrf {
    fn eval(&self, seed: &[u8], input: &[u8], key: &PrivateKey) -> Result<Evaluation, VrfError> {
        let alpha = alpha(seed, input);
        let proof = ecvrf_prove(key, &alpha)?;
        // A wrongly computed proof can reveal the key, so every proof is verified before it is returned.
        let output = ecvrf_verify(&key.public_key(), &alpha, &proof)?;
        Ok(Evaluation { output, proof })
    }

    fn verify(&self, seed: &[u8], input: &[u8], output: &[u8], proof: &[u8], public_key: &[u8; 32]) -> bool {
        ecvrf_verify(public_key, &alpha(seed, input), proof).is_ok_and(|proven| proven == output)
    }
}

/// See [`VrfProvider::eval`].
///
/// # Errors
/// See [`ecvrf_prove`].
pub fn vrf_eval(seed: &[u8], input: &[u8], key: &PrivateKey) -> Result<Evaluation, VrfError> {
    Ecvrf.eval(seed, input, key)
}

/// See [`VrfProvider::verify`].
pub fn vrf_verify(seed: &[u8], input: &[u8], output: &[u8], proof: &[u8], public_key: &[u8; 32]) -> bool {
    Ecvrf.verify(seed, input, output, proof, public_key)
}

/// A candidate of a drawing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Who.
    pub id: String,
    /// The key that the candidate is known by.
    pub public_key: [u8; 32],
    /// The candidate's proof for the drawing's seed and input.
    pub proof: Proof,
}

/// Who was drawn, and by which output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drawn {
    /// Who.
    pub id: String,
    /// The output that gave the place.
    pub output: Output,
}

/// Draws `count` of the candidates, those with the smallest outputs (consensus#vrf). A candidate whose proof does not
/// verify is out, and an id that is listed several times gets one place. The caller must have known the keys
/// before the seed: a key made afterwards can be made to win.
pub fn vrf_sortition(candidates: &[Candidate], seed: &[u8], input: &[u8], count: usize) -> Vec<Drawn> {
    let alpha = alpha(seed, input);
    let proven = candidates.iter().filter_map(|candidate| {
        let output = ecvrf_verify(&candidate.public_key, &alpha, &candidate.proof).ok()?;
        Some(Drawn { id: candidate.id.clone(), output })
    });
    let mut drawn: Vec<Drawn> = proven.collect();
    drawn.sort_by(|a, b| a.output.cmp(&b.output).then_with(|| a.id.cmp(&b.id)));
    let mut places: Vec<Drawn> = Vec::new();
    for candidate in drawn {
        if places.len() < count && places.iter().all(|place| place.id != candidate.id) {
            places.push(candidate);
        }
    }
    places
}
