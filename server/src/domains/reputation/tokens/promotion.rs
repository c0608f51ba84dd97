//! Promotion of tokens: each step makes a new token that names its predecessor; the old one stays. Pure.

use super::{
    CycleProof, DIVERSITY_MIN, Level, PATTERN_TOKENS_MIN, Stamp, Token, TokenPromotionError, WITNESS_MIN_BPS,
    Witness, feature_hash, pattern_hash,
};

/// Raises a raw token. `raised` are tokens promoted from it before.
///
/// # Errors
/// The token has another level or was promoted before, or a flag of the proof is not true.
pub fn promote_to_l1(
    l0: &Token,
    proof: CycleProof,
    stamp: Stamp,
    raised: &[Token],
) -> Result<Token, TokenPromotionError> {
    raisable(l0, Level::L0, Level::L1, raised)?;
    let flags =
        [("cycle_complete", proof.cycle_complete), ("counterparty_confirmed", proof.counterparty_confirmed)];
    match flags.into_iter().find(|(_, proven)| !proven) {
        Some((flag, _)) => Err(TokenPromotionError::Unproven { flag }),
        None => Ok(raise(l0, Level::L1, stamp)),
    }
}

/// Raises a confirmed token that other nodes witnessed. Without a witness, or with one that does not count, it
/// returns the token unchanged, which is not an error (reputation#tokens). `raised` are tokens promoted from it
/// before.
///
/// # Errors
/// The token has another level or was promoted before.
pub fn promote_to_l1_5(
    l1: &Token,
    witnesses: &[Witness],
    stamp: Stamp,
    raised: &[Token],
) -> Result<Token, TokenPromotionError> {
    raisable(l1, Level::L1, Level::L1_5, raised)?;
    let counts = |(place, witness): (usize, &Witness)| {
        let stranger = witness.agent_id != l1.node_id && Some(&witness.agent_id) != l1.counterparty.as_ref();
        let first = witnesses[..place].iter().all(|other| other.agent_id != witness.agent_id);
        stranger && first && witness.reputation_bps >= WITNESS_MIN_BPS
    };
    if witnesses.is_empty() || !witnesses.iter().enumerate().all(counts) {
        return Ok(l1.clone());
    }
    let hash = feature_hash(l1, l1.counterparty.as_deref(), l1.scenario.as_deref())?;
    Ok(Token {
        witnesses: witnesses.iter().map(|witness| witness.witness_id.clone()).collect(),
        feature_hash: Some(hash.as_str().to_owned()),
        ..raise(l1, Level::L1_5, stamp)
    })
}

/// Makes a pattern of at least [`PATTERN_TOKENS_MIN`] distinct tokens of one node that differ only in scenario and
/// counterparty. The pattern names the last of them and has the value of the least. `raised` are the node's tokens of
/// level L2a: a pattern is raised once.
///
/// # Errors
/// There are too few tokens, one has another level, node or kind, or the pattern exists already.
pub fn promote_to_l2a(
    tokens: &[Token],
    stamp: Stamp,
    raised: &[Token],
) -> Result<Token, TokenPromotionError> {
    let no_pattern = |why| TokenPromotionError::NoPattern { why };
    if let Some(token) = tokens.iter().find(|token| !matches!(token.level, Level::L1 | Level::L1_5)) {
        return Err(TokenPromotionError::WrongLevel { expected: "L1 or L1.5", actual: token.level });
    }
    let mut cycles: Vec<&str> = tokens.iter().map(cycle).collect();
    cycles.sort_unstable();
    cycles.dedup();
    let Some(last) = tokens.last().filter(|_| cycles.len() >= PATTERN_TOKENS_MIN) else {
        return Err(no_pattern("a pattern needs five tokens"));
    };
    let pattern = pattern_hash(last)?;
    for token in tokens {
        if token.node_id != last.node_id || pattern_hash(token)? != pattern {
            return Err(no_pattern("the tokens are not of one node and kind"));
        }
    }
    let same = |token: &Token| token.feature_hash.as_deref() == Some(pattern.as_str());
    if raised.iter().any(|token| token.level == Level::L2a && token.node_id == last.node_id && same(token)) {
        return Err(TokenPromotionError::AlreadyPromoted);
    }
    Ok(Token {
        scenario: None,
        counterparty: None,
        outcome_delta: tokens.iter().map(|token| token.outcome_delta).min().unwrap_or(last.outcome_delta),
        witnesses: Vec::new(),
        feature_hash: Some(pattern.as_str().to_owned()),
        ..raise(last, Level::L2a, stamp)
    })
}

/// Frees a pattern of its context. Its `tokens` must show at least [`DIVERSITY_MIN`] counterparties and as many
/// scenarios, and no loss. `raised` are tokens promoted from the pattern before.
///
/// # Errors
/// The token has another level, the tokens belong to another pattern or are not diverse enough, an outcome is not
/// above 0, or the pattern was promoted before.
pub fn promote_to_l2b(
    l2a: &Token,
    tokens: &[Token],
    stamp: Stamp,
    raised: &[Token],
) -> Result<Token, TokenPromotionError> {
    raisable(l2a, Level::L2a, Level::L2b, raised)?;
    let no_pattern = |why| TokenPromotionError::NoPattern { why };
    for token in tokens {
        let hash = pattern_hash(token)?;
        if token.node_id != l2a.node_id || Some(hash.as_str()) != l2a.feature_hash.as_deref() {
            return Err(no_pattern("the tokens are not the pattern's"));
        }
    }
    if distinct(tokens.iter().map(|token| token.counterparty.as_deref())) < DIVERSITY_MIN {
        return Err(no_pattern("three counterparties are needed"));
    }
    if distinct(tokens.iter().map(|token| token.scenario.as_deref())) < DIVERSITY_MIN {
        return Err(no_pattern("three scenarios are needed"));
    }
    if tokens.iter().any(|token| token.outcome_delta <= 0) {
        return Err(no_pattern("every outcome must be above 0"));
    }
    Ok(Token { feature_hash: l2a.feature_hash.clone(), ..raise(l2a, Level::L2b, stamp) })
}

/// Returns the confirmed cycle of a token: an L1 and the L1.5 promoted from it are the same work.
fn cycle(token: &Token) -> &str {
    match (&token.promoted_from, token.level) {
        (Some(l1), Level::L1_5) => l1,
        _ => &token.id,
    }
}

/// Counts the different texts. A missing text does not count.
fn distinct<'a>(texts: impl Iterator<Item = Option<&'a str>>) -> usize {
    let mut said: Vec<&str> = texts.flatten().collect();
    said.sort_unstable();
    said.dedup();
    said.len()
}

fn raisable(token: &Token, from: Level, to: Level, raised: &[Token]) -> Result<(), TokenPromotionError> {
    if token.level != from {
        return Err(TokenPromotionError::WrongLevel { expected: from.as_str(), actual: token.level });
    }
    let came_from = |other: &Token| other.level == to && other.promoted_from.as_ref() == Some(&token.id);
    if raised.iter().any(came_from) {
        return Err(TokenPromotionError::AlreadyPromoted);
    }
    Ok(())
}

/// Copies the token, one level up.
fn raise(token: &Token, level: Level, stamp: Stamp) -> Token {
    Token {
        id: stamp.id,
        level,
        created_at: stamp.created_at,
        promoted_from: Some(token.id.clone()),
        feature_hash: None,
        ..token.clone()
    }
}
