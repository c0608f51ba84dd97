//! Experience tokens (reputation#tokens): evidence of work, never moved, changed or removed. Pure: the caller
//! provides ids, times and the existing tokens.

mod promotion;

use serde_json::json;

use super::domain::Domain;
use crate::rules::canonical::{CanonicalSerializationError, canonicalize};
use colibri_canonical::HexDigest;

pub use promotion::{promote_to_l1, promote_to_l1_5, promote_to_l2a, promote_to_l2b};

/// The least standing of a node whose testimony counts, in basis points.
pub const WITNESS_MIN_BPS: i64 = 200;
/// The greatest weight of a witness, in percent.
pub const WITNESS_WEIGHT_CAP_PERCENT: i64 = 30;
/// The number of tokens of one kind that make a pattern.
pub const PATTERN_TOKENS_MIN: usize = 5;
/// The number of counterparties, and of scenarios, that free a pattern of its context.
pub const DIVERSITY_MIN: usize = 3;

/// Stands for a missing scenario or counterparty.
const ANY: &str = "*";

/// The degree of a token's confirmation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Level {
    /// Raw.
    L0,
    /// A confirmed cycle.
    L1,
    /// Witnessed.
    L1_5,
    /// A repeated pattern.
    L2a,
    /// A pattern independent of context.
    L2b,
}

impl Level {
    /// Returns the level as stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::L0 => "L0",
            Self::L1 => "L1",
            Self::L1_5 => "L1.5",
            Self::L2a => "L2a",
            Self::L2b => "L2b",
        }
    }

    /// Returns the level that a stored text names; `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let all = [Self::L0, Self::L1, Self::L1_5, Self::L2a, Self::L2b];
        all.into_iter().find(|level| level.as_str() == text)
    }
}

/// A row of `experience_tokens`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // The columns of reputation#tokens, under their names.
pub struct Token {
    pub id: String,
    pub node_id: String,
    pub level: Level,
    pub domain: Domain,
    pub scenario: Option<String>,
    pub counterparty: Option<String>,
    pub action: String,
    pub outcome_class: String,
    pub outcome_delta: i64,
    pub witnesses: Vec<String>,
    /// Seconds since the Unix epoch.
    pub created_at: i64,
    pub promoted_from: Option<String>,
    pub feature_hash: Option<String>,
}

/// The result of the work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkOutcome {
    /// Its kind, such as `success`.
    pub class: String,
    /// Its value.
    pub delta: i64,
    /// The circumstances of the work.
    pub scenario: Option<String>,
    /// The partner in the work.
    pub counterparty: Option<String>,
}

/// The id (`tok_` and a ULID) and time of a new token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    /// The id.
    pub id: String,
    /// Seconds since the Unix epoch.
    pub created_at: i64,
}

/// The proof that raises a raw token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CycleProof {
    /// The work was completed.
    pub cycle_complete: bool,
    /// The counterparty confirms the work.
    pub counterparty_confirmed: bool,
}

/// A witness of the work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Witness {
    /// `wit_` and a ULID.
    pub witness_id: String,
    /// Its node.
    pub agent_id: String,
    /// That node's score in the token's domain, in basis points.
    pub reputation_bps: i64,
}

/// Why a token is not raised.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenPromotionError {
    /// The token has another level.
    #[error("TokenPromotionError: expected {expected}, got {}", actual.as_str())]
    WrongLevel {
        /// The level, or levels, that this step can raise.
        expected: &'static str,
        /// The token's level.
        actual: Level,
    },
    /// The token was already raised to this level.
    #[error("TokenPromotionError: already promoted")]
    AlreadyPromoted,
    /// The proof is incomplete.
    #[error("TokenPromotionError: {flag} is not true")]
    Unproven {
        /// The missing part.
        flag: &'static str,
    },
    /// The tokens do not form a pattern.
    #[error("TokenPromotionError: {why}")]
    NoPattern {
        /// The missing part.
        why: &'static str,
    },
    /// The token has no canonical text.
    #[error(transparent)]
    Canonical(#[from] CanonicalSerializationError),
}

/// Makes a raw token.
pub fn mint_l0(stamp: Stamp, node_id: &str, domain: Domain, action: &str, outcome: WorkOutcome) -> Token {
    Token {
        id: stamp.id,
        node_id: node_id.to_owned(),
        level: Level::L0,
        domain,
        scenario: outcome.scenario,
        counterparty: outcome.counterparty,
        action: action.to_owned(),
        outcome_class: outcome.class,
        outcome_delta: outcome.delta,
        witnesses: Vec::new(),
        created_at: stamp.created_at,
        promoted_from: None,
        feature_hash: None,
    }
}

/// Hashes the subject of a token, independent of its node: SHA-256 over canonical JSON of action, counterparty,
/// domain, outcome class and scenario. `*` stands for a missing value.
///
/// # Errors
/// A token's texts cannot cause one, although the encoder's type allows it.
pub fn feature_hash(
    token: &Token,
    counterparty: Option<&str>,
    scenario: Option<&str>,
) -> Result<HexDigest, CanonicalSerializationError> {
    let features = json!({
        "action": token.action,
        "counterparty": counterparty.unwrap_or(ANY),
        "domain": token.domain.as_str(),
        "outcome_class": token.outcome_class,
        "scenario": scenario.unwrap_or(ANY),
    });
    Ok(HexDigest::of(canonicalize(&features)?.as_bytes()))
}

/// Returns the hash that compares tokens independent of their scenario and counterparty.
///
/// # Errors
/// As [`feature_hash`].
pub fn pattern_hash(token: &Token) -> Result<HexDigest, CanonicalSerializationError> {
    feature_hash(token, None, None)
}
