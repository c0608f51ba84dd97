//! Who proposes in a round's view (consensus#leader): drawn by a hash, so that all members know it beforehand and a silent
//! leader can be replaced without its help. Pure.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use super::ecvrf::VrfError;

/// What the hashed bytes begin with.
pub(crate) const LEADER_TAG: &[u8; 17] = b"colibri-leader-v1";

/// Returns the leader of view `view` of round `round_id` among `arbiters`. Their order and repetitions do not matter.
/// `seed` is the previous round's Merkle root, or zeros before the first.
///
/// # Errors
/// [`VrfError::EmptyArbiters`].
pub fn select_leader<'a, Id: AsRef<str> + 'a>(
    arbiters: impl IntoIterator<Item = &'a Id>,
    seed: &[u8; 32],
    round_id: u64,
    view: u64,
) -> Result<&'a Id, VrfError> {
    let ids: BTreeMap<&str, &Id> = arbiters.into_iter().map(|id| (id.as_ref(), id)).collect();
    let count = u64::try_from(ids.len()).unwrap_or(u64::MAX);
    let hash = Sha256::new().chain_update(LEADER_TAG).chain_update(seed);
    let digest = hash.chain_update(round_id.to_be_bytes()).chain_update(view.to_be_bytes()).finalize();
    // The digest as one big-endian number, modulo the count; the bias is below 2^-190 for any count.
    let step = |rest: u128, byte: &u8| (rest << 8 | u128::from(*byte)).checked_rem(count.into());
    let index = digest.iter().try_fold(0, step).ok_or(VrfError::EmptyArbiters)?;
    let leader = usize::try_from(index).ok().and_then(|index| ids.into_values().nth(index));
    leader.ok_or(VrfError::EmptyArbiters)
}
