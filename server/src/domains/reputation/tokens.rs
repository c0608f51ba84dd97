//! Experience tokens (reputation#tokens): evidence of work, never moved, changed or removed. Pure: ids and times are the
//! caller's, and so are the tokens that are there already.

mod promotion;

use serde_json::json;

use super::domain::Domain;
use crate::rules::canonical::{CanonicalSerializationError, canonicalize};
use colibri_canonical::HexDigest;

pub use promotion::{promote_to_l1, promote_to_l1_5, promote_to_l2a, promote_to_l2b};

/// The standing below which a node witnesses nothing, in basis points.
pub const WITNESS_MIN_BPS: i64 = 200;
/// How much a witness counts at most, in percent.
pub const WITNESS_WEIGHT_CAP_PERCENT: i64 = 30;
/// How many tokens of one kind make a pattern.
pub const PATTERN_TOKENS_MIN: usize = 5;
/// How many counterparties, and how many scenarios, free a pattern of its context.
pub const DIVERSITY_MIN: usize = 3;

/// What stands for a scenario or counterparty that is not said.
const ANY: &str = "*";

/// How much a token has been confirmed.
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
    /// A pattern whatever the context.
    L2b,
}

impl Level {
    /// The level as it is stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::L0 => "L0",
            Self::L1 => "L1",
            Self::L1_5 => "L1.5",
            Self::L2a => "L2a",
            Self::L2b => "L2b",
        }
    }

    /// The level that a stored text names; `None` for anything else.
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

/// What came of the work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkOutcome {
    /// Its kind, such as `success`.
    pub class: String,
    /// What it was worth.
    pub delta: i64,
    /// Under which circumstances.
    pub scenario: Option<String>,
    /// With whom.
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

/// What raises a raw token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CycleProof {
    /// The work came to its end.
    pub cycle_complete: bool,
    /// Whom it was for says so.
    pub counterparty_confirmed: bool,
}

/// Who saw the work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Witness {
    /// `wit_` and a ULID.
    pub witness_id: String,
    /// Which node it is.
    pub agent_id: String,
    /// That node's score in the token's domain, in basis points.
    pub reputation_bps: i64,
}

/// A token that is not raised.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenPromotionError {
    /// The token stands on another level.
    #[error("TokenPromotionError: expected {expected}, got {}", actual.as_str())]
    WrongLevel {
        /// The level, or levels, that can be raised so.
        expected: &'static str,
        /// Where it stands.
        actual: Level,
    },
    /// It was raised to this level before.
    #[error("TokenPromotionError: already promoted")]
    AlreadyPromoted,
    /// A proof that proves too little.
    #[error("TokenPromotionError: {flag} is not true")]
    Unproven {
        /// What is missing.
        flag: &'static str,
    },
    /// Tokens that are no pattern.
    #[error("TokenPromotionError: {why}")]
    NoPattern {
        /// What is missing.
        why: &'static str,
    },
    /// A token without a canonical text.
    #[error(transparent)]
    Canonical(#[from] CanonicalSerializationError),
}

/// A raw token.
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

/// What a token is about, whoever did it: SHA-256 over canonical JSON of action, counterparty, domain, outcome class and
/// scenario; `*` stands for what is not said.
///
/// # Errors
/// None that a token's texts can cause; the encoder's own type says otherwise.
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

/// The hash by which tokens are compared: whatever their scenario and counterparty.
///
/// # Errors
/// As [`feature_hash`].
pub fn pattern_hash(token: &Token) -> Result<HexDigest, CanonicalSerializationError> {
    feature_hash(token, None, None)
}
