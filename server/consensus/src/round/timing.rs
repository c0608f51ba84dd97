//! How long a view's phases may take (consensus#limits). The values belong to the governed rules: changing one changes
//! `rule_version_hash`.

/// How often a wish to leave view 0 is sent again, in milliseconds.
pub(crate) const T_ROUND_MS: u64 = 30_000;
/// How long view 0 waits for commitments, in milliseconds.
pub(crate) const T_COMMIT_PHASE_MS: u64 = 10_000;
/// How long view 0 waits for votes, in milliseconds.
pub(crate) const T_REVEAL_PHASE_MS: u64 = 10_000;
/// How long view 0 lasts at most, in milliseconds.
pub(crate) const T_TIMEOUT_MS: u64 = 2 * T_ROUND_MS;
/// The view from which times no longer double.
pub(crate) const VIEW_BACKOFF_CAP: u64 = 6;

/// Returns the time that view `view` has if view 0 has `base_ms`: twice as much in each view, so that some view is long enough
/// for any network that delivers at all.
pub(crate) const fn scaled(base_ms: u64, view: u64) -> u64 {
    let doublings = if view < VIEW_BACKOFF_CAP { view } else { VIEW_BACKOFF_CAP };
    base_ms << doublings
}
