//! The constants of scoring, and the hash that identifies them (router#scoring, rules#version-hash). Pure.
//!
//! Scoring uses only these constants, and all of them are in the pack, so that no number can change without the hash.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::rules::version::{VersionHashError, rule_version_hash};
use colibri_canonical::HexDigest;

/// The algorithm's version, which increases with the algorithm rather than with a constant.
pub const SCORING_ENGINE: &str = "delta-scoring/1.0.0";
/// Basis points of the whole.
pub const FULL_BPS: u64 = 10_000;

/// A prompt that fills less than this part of the window fits in full.
pub const FULL_FIT_DIVISOR: u64 = 2;
/// Bytes of UTF-8 that count as a token if the caller gives no count.
pub const BYTES_PER_TOKEN: u64 = 4;
/// The price in bps per kilotoken at which half of the cost value remains.
pub const HALF_SCORE_COST_BPS: u64 = 50;
/// The value of a candidate whose profile contains none of the words found.
pub const DOMAIN_FLOOR_BPS: u64 = 2500;
/// The value of every candidate if the domain is unknown.
pub const DOMAIN_NEUTRAL_BPS: u64 = 5000;
/// The number of words of the prompt that scoring reads.
pub const PROMPT_WORDS: usize = 64;
/// Expected milliseconds of an answer of the fast tier.
pub const FAST_MS: u64 = 1000;
/// Expected milliseconds of the middle tier.
pub const BALANCED_MS: u64 = 3000;
/// Expected milliseconds of the slow tier.
pub const SLOW_MS: u64 = 8000;
/// The value of the fast tier without a deadline.
pub const OPEN_FAST_BPS: u64 = 10_000;
/// The value of the middle tier without a deadline.
pub const OPEN_BALANCED_BPS: u64 = 7500;
/// The value of the slow tier without a deadline.
pub const OPEN_SLOW_BPS: u64 = 5000;
/// The value of a candidate without an operator's preference.
pub const PREFERENCE_NEUTRAL_BPS: u64 = 5000;

/// The words that stand for the eight domains: bit 0 BUILDER, then JUDGE, INVESTOR, MENTOR, GUARDIAN, INNOVATOR,
/// DIPLOMAT, and bit 7 STEWARD.
pub const VOCABULARY: [&[&str]; 8] = [
    &[
        "build",
        "builder",
        "code",
        "coding",
        "debug",
        "execution",
        "implement",
        "implementation",
        "refactor",
        "test",
        "testing",
    ],
    &[
        "arbitration",
        "audit",
        "compliance",
        "evaluate",
        "evaluation",
        "judge",
        "review",
        "verification",
        "verify",
    ],
    &["budget", "commissioning", "estimate", "finance", "financial", "investor", "planning", "pricing"],
    &["docs", "documentation", "explain", "mentor", "summarize", "summary", "teach", "tutorial"],
    &["governance", "guardian", "privacy", "safety", "security", "threat"],
    &["architecture", "brainstorm", "creative", "design", "ideation", "innovator", "research"],
    &["chat", "diplomat", "negotiation", "social", "support", "translate", "translation", "writing"],
    &["cleanup", "data", "maintenance", "migration", "monitoring", "operations", "ops", "steward"],
];

/// A criterion for candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dimension {
    /// Whether it is good at the task's domain.
    TaskDomainMatch,
    /// Whether its window can hold the prompt.
    ContextWindowFit,
    /// Its cost.
    CostEfficiency,
    /// Whether it answers in time.
    LatencyFit,
    /// How often it answers.
    Reliability,
    /// Whether it has the skills asked for.
    SkillMatch,
    /// The operator's preference.
    OperatorPreference,
}

/// Every dimension, in the order in which router#scoring lists them.
pub const DIMENSIONS: [Dimension; 7] = [
    Dimension::TaskDomainMatch,
    Dimension::ContextWindowFit,
    Dimension::CostEfficiency,
    Dimension::LatencyFit,
    Dimension::Reliability,
    Dimension::SkillMatch,
    Dimension::OperatorPreference,
];

impl Dimension {
    /// Returns the dimension's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TaskDomainMatch => "task_domain_match",
            Self::ContextWindowFit => "context_window_fit",
            Self::CostEfficiency => "cost_efficiency",
            Self::LatencyFit => "latency_fit",
            Self::Reliability => "reliability",
            Self::SkillMatch => "skill_match",
            Self::OperatorPreference => "operator_preference",
        }
    }
}

/// The weight of each dimension, in the order of [`DIMENSIONS`]; at least one is not 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weights([u64; 7]);

impl Default for Weights {
    fn default() -> Self {
        Self([2200, 2200, 1300, 1300, 1300, 1300, 400])
    }
}

/// Weights that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("KAPPA_RULES_UNAVAILABLE: {0}")]
pub struct KappaRulesUnavailableError(pub String);

impl Weights {
    /// Takes the weights by name: all seven, each 0 to 10,000, not all of them 0.
    ///
    /// # Errors
    /// [`KappaRulesUnavailableError`] names the missing or invalid weight.
    pub fn new(named: &BTreeMap<String, i64>) -> Result<Self, KappaRulesUnavailableError> {
        let known = DIMENSIONS.map(Dimension::as_str);
        let refuse = |problem: String| Err(KappaRulesUnavailableError(problem));
        if let Some(name) = named.keys().find(|name| !known.contains(&name.as_str())) {
            return refuse(format!("there is no weight {name:?}; the weights are {}", known.join(", ")));
        }
        let mut weights = [0; 7];
        for (weight, name) in weights.iter_mut().zip(known) {
            let Some(&given) = named.get(name) else {
                return refuse(format!("weight {name:?} is missing"));
            };
            *weight = match u64::try_from(given) {
                Ok(given) if given <= FULL_BPS => given,
                _ => return refuse(format!("weight {name:?} must be 0 to {FULL_BPS}")),
            };
        }
        if weights.iter().sum::<u64>() == 0 {
            return refuse("the weights must not all be 0".to_owned());
        }
        Ok(Self(weights))
    }

    /// Iterates over the dimensions with their weights.
    pub fn each(&self) -> impl Iterator<Item = (Dimension, u64)> {
        DIMENSIONS.into_iter().zip(self.0)
    }

    /// Returns the sum of all weights; never 0.
    pub fn sum(&self) -> u64 {
        self.0.iter().sum()
    }
}

/// Returns the pack: every constant by name, in no particular order.
pub fn pack(weights: &Weights) -> Vec<Value> {
    let rule = |name: &str, value: Value| json!({ "name": name, "value": value });
    let mut rules = vec![
        rule("context.full_fit_divisor", FULL_FIT_DIVISOR.into()),
        rule("cost.half_score_bps", HALF_SCORE_COST_BPS.into()),
        rule("domain.floor_bps", DOMAIN_FLOOR_BPS.into()),
        rule("domain.neutral_bps", DOMAIN_NEUTRAL_BPS.into()),
        rule("domain.prompt_words", PROMPT_WORDS.into()),
        rule("engine.scoring", SCORING_ENGINE.into()),
        rule("latency.fast_ms", FAST_MS.into()),
        rule("latency.balanced_ms", BALANCED_MS.into()),
        rule("latency.slow_ms", SLOW_MS.into()),
        rule("latency.open_fast_bps", OPEN_FAST_BPS.into()),
        rule("latency.open_balanced_bps", OPEN_BALANCED_BPS.into()),
        rule("latency.open_slow_bps", OPEN_SLOW_BPS.into()),
        rule("preference.neutral_bps", PREFERENCE_NEUTRAL_BPS.into()),
        rule("tokens.bytes_per_token", BYTES_PER_TOKEN.into()),
    ];
    let domains = VOCABULARY.iter().enumerate();
    rules
        .extend(domains.map(|(bit, words)| rule(&format!("domain.bit{bit}.tokens"), words.join(",").into())));
    let weights = weights.each();
    rules.extend(
        weights.map(|(dimension, weight)| rule(&format!("weight.{}", dimension.as_str()), weight.into())),
    );
    rules
}

/// Returns the hash of the pack with these weights; clients see its wire form. It covers rules, not candidates.
///
/// # Errors
/// A pack that cannot be hashed, which this one always can.
pub fn scoring_rule_version_hash(weights: &Weights) -> Result<HexDigest, VersionHashError> {
    rule_version_hash(&pack(weights))
}
