//! Experience tokens (reputation#tokens): evidence of work, never moved, changed or removed. Pure: the caller
//! provides ids, times and the existing tokens.

use super::domain::Domain;

/// The degree of a token's confirmation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Level {
    /// Raw.
    L0,
    /// A confirmed cycle.
    L1,
    /// Witnessed. Nothing raises a token to this level or above; the schema has room for them.
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

/// Why a token is not raised.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenPromotionError {
    /// The token has another level.
    #[error("TokenPromotionError: expected {expected}, got {}", actual.as_str())]
    WrongLevel {
        /// The level that this step can raise.
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

/// Raises a raw token: makes a new one that names it; the old one stays. `raised` are tokens promoted from it before.
///
/// # Errors
/// The token has another level or was promoted before, or a flag of the proof is not true.
pub fn promote_to_l1(
    l0: &Token,
    proof: CycleProof,
    stamp: Stamp,
    raised: &[Token],
) -> Result<Token, TokenPromotionError> {
    if l0.level != Level::L0 {
        return Err(TokenPromotionError::WrongLevel { expected: Level::L0.as_str(), actual: l0.level });
    }
    if raised.iter().any(|other| other.level == Level::L1 && other.promoted_from.as_ref() == Some(&l0.id)) {
        return Err(TokenPromotionError::AlreadyPromoted);
    }
    let flags =
        [("cycle_complete", proof.cycle_complete), ("counterparty_confirmed", proof.counterparty_confirmed)];
    if let Some((flag, _)) = flags.into_iter().find(|(_, proven)| !proven) {
        return Err(TokenPromotionError::Unproven { flag });
    }
    Ok(Token {
        id: stamp.id,
        level: Level::L1,
        created_at: stamp.created_at,
        promoted_from: Some(l0.id.clone()),
        feature_hash: None,
        ..l0.clone()
    })
}
