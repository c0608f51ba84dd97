//! The table of candidates (router#candidates): read once, at the start.

use colibri_runtime::handler::Fault;

use colibri_store::db::Db;

/// A row as stored. The table's constraints do not check the window and the names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredCandidate {
    /// The primary key.
    pub model_id: String,
    /// The provider.
    pub provider: String,
    /// The tokens that it reads at once.
    pub context_window_tokens: i64,
    /// `fast`, `balanced` or `slow`.
    pub latency_tier: String,
    /// Blended price, not negative.
    pub cost_bps_per_kilotoken: i64,
    /// 0 to 255.
    pub domain_fit_profile: u8,
    /// Whether it may be chosen.
    pub enabled: bool,
}

/// Returns every row, by id.
///
/// # Errors
/// [`Fault::Storage`].
pub fn candidates(db: &Db) -> Result<Vec<StoredCandidate>, Fault> {
    db.query_all(
        "SELECT model_id, provider, context_window_tokens, latency_tier, cost_bps_per_kilotoken,
                domain_fit_profile, enabled
         FROM mcp_model_candidates ORDER BY model_id",
        &[],
        |row| {
            Ok(StoredCandidate {
                model_id: row.get(0)?,
                provider: row.get(1)?,
                context_window_tokens: row.get(2)?,
                latency_tier: row.get(3)?,
                cost_bps_per_kilotoken: row.get(4)?,
                domain_fit_profile: row.get(5)?,
                enabled: row.get(6)?,
            })
        },
    )
}
