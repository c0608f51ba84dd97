//! Scores models for a prompt (router#scoring): seven dimensions in whole basis points. Pure.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::candidates::{Candidate, LatencyTier, Snapshot};
use super::model_id::{MODELS, ModelId};
use super::rules::{
    BALANCED_MS, BYTES_PER_TOKEN, DOMAIN_FLOOR_BPS, DOMAIN_NEUTRAL_BPS, Dimension, FAST_MS, FULL_BPS,
    FULL_FIT_DIVISOR, HALF_SCORE_COST_BPS, OPEN_BALANCED_BPS, OPEN_FAST_BPS, OPEN_SLOW_BPS,
    PREFERENCE_NEUTRAL_BPS, PROMPT_WORDS, SLOW_MS, VOCABULARY, Weights,
};

/// The known facts about the work behind a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Task {
    /// Its domain, in the caller's words.
    pub domain: Option<String>,
    /// The number of tokens of the prompt, if the caller has counted them.
    pub tokens: Option<u64>,
    /// Milliseconds within which an answer is useful.
    pub deadline_ms: Option<u64>,
    /// Skills the work needs.
    pub skill: Vec<String>,
}

/// The inputs of scoring besides the prompt.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ScoreContext {
    /// The work behind the prompt.
    pub task: Task,
    /// The operator's preferences, 0 to 1 by model id; other names are ignored.
    pub operator_preference: BTreeMap<String, f64>,
}

/// A score for each model, and the winner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scores {
    /// Basis points, in the order of [`MODELS`].
    bps: [u64; MODELS.len()],
    /// The model to ask first.
    pub winner: ModelId,
}

/// The fixed result without candidates, for every prompt.
pub static WITHOUT_CANDIDATES: Scores =
    Scores { bps: [FULL_BPS, 0, 0, 0, 0, 0, 0, 0, 0], winner: ModelId::Claude };

impl Scores {
    /// Returns a model's score in basis points.
    pub fn bps(&self, model: ModelId) -> u64 {
        let found = self.each().find(|(other, _)| *other == model);
        found.map_or(0, |(_, bps)| bps)
    }

    /// Iterates over the models with their scores in basis points, in order.
    pub fn each(&self) -> impl Iterator<Item = (ModelId, u64)> {
        MODELS.into_iter().zip(self.bps)
    }

    /// Returns the models to ask, in order: the winner, then every model with a score above 0, best first
    /// (router#chain). The router never spends money on a model with score 0.
    pub fn chain(&self) -> Vec<ModelId> {
        let mut others: Vec<_> =
            self.each().filter(|&(model, bps)| bps > 0 && model != self.winner).collect();
        others.sort_by_key(|&(model, bps)| (Reverse(bps), model.as_str()));
        let others = others.into_iter().map(|(model, _)| model);
        std::iter::once(self.winner).chain(others).collect()
    }
}

/// Converts a score for clients: 0 to 1, four decimals at most.
pub fn as_fraction(bps: u64) -> f64 {
    bps as f64 / FULL_BPS as f64
}

/// Scores the candidates for a prompt. Without an enabled candidate it returns [`WITHOUT_CANDIDATES`].
pub fn score_intent(prompt: &str, context: &ScoreContext, snapshot: Option<&Snapshot>) -> Scores {
    let Some(snapshot) = snapshot else { return WITHOUT_CANDIDATES };
    let wanted = Wanted::of(prompt, context);
    let judged = |row| (row, wanted.total(row, snapshot.weights()));
    let totals: Vec<(&Candidate, u64)> = snapshot.enabled().map(judged).collect();
    let Some(winner) = winner(&totals) else { return WITHOUT_CANDIDATES };
    let total = |model| totals.iter().find(|(row, _)| row.model_id == model).map_or(0, |&(_, total)| total);
    Scores { bps: MODELS.map(total), winner }
}

/// Returns the best candidate, or the cheaper of equals. If all scores are 0, returns the one with the largest
/// window.
fn winner(totals: &[(&Candidate, u64)]) -> Option<ModelId> {
    let best = if totals.iter().all(|&(_, total)| total == 0) {
        totals.iter().min_by_key(|(row, _)| (Reverse(row.context_window_tokens), row.model_id.as_str()))
    } else {
        totals
            .iter()
            .min_by_key(|&&(row, total)| (Reverse(total), row.cost_bps_per_kilotoken, row.model_id.as_str()))
    };
    best.map(|(row, _)| row.model_id)
}

/// The requirements for every candidate, computed once.
struct Wanted<'a> {
    /// The task's domain, normalised; empty if the task has none.
    domain: String,
    /// The domains that its words, or the prompt's, indicate.
    bits: u8,
    /// Tokens that the window must hold.
    tokens: u64,
    deadline_ms: Option<u64>,
    skills: BTreeSet<String>,
    preference: &'a BTreeMap<String, f64>,
}

impl<'a> Wanted<'a> {
    fn of(prompt: &str, context: &'a ScoreContext) -> Self {
        let task = &context.task;
        let domain = task.domain.as_deref().map(normalised).unwrap_or_default();
        let bits = match domain.as_str() {
            "" => words(prompt).take(PROMPT_WORDS).fold(0, |bits, word| bits | bit(&word)),
            domain => domain.split('_').fold(0, |bits, word| bits | bit(word)),
        };
        Self {
            domain,
            bits,
            tokens: task.tokens.unwrap_or((prompt.len() as u64).div_ceil(BYTES_PER_TOKEN)),
            deadline_ms: task.deadline_ms,
            skills: skills(&task.skill),
            preference: &context.operator_preference,
        }
    }

    /// Returns the weighted mean in basis points; 0 for a candidate whose window is too small.
    fn total(&self, row: &Candidate, weights: &Weights) -> u64 {
        if self.tokens > row.context_window_tokens {
            return 0;
        }
        let weighted = weights.each().map(|(dimension, weight)| weight * self.value(dimension, row));
        // Seven weights and values of at most 10,000 each; the sum of the weights is never 0.
        weighted.sum::<u64>() / weights.sum()
    }

    fn value(&self, dimension: Dimension, row: &Candidate) -> u64 {
        match dimension {
            Dimension::TaskDomainMatch => self.domain_match(row),
            Dimension::ContextWindowFit => window_fit(self.tokens, row.context_window_tokens),
            Dimension::CostEfficiency => {
                let price = u128::from(HALF_SCORE_COST_BPS) + u128::from(row.cost_bps_per_kilotoken);
                part(u128::from(HALF_SCORE_COST_BPS), price)
            }
            Dimension::LatencyFit => latency_fit(row.latency_tier, self.deadline_ms),
            Dimension::Reliability => row.reliability_bps.clamp(0, FULL_BPS as i64).unsigned_abs(),
            Dimension::SkillMatch => self.skill_match(row),
            Dimension::OperatorPreference => self.preference.get(row.model_id.as_str()).map_or(
                PREFERENCE_NEUTRAL_BPS,
                // The cast drops the fraction and limits the value to the range 0 to 1.
                |preference| ((preference * FULL_BPS as f64 + 0.5).floor() as u64).min(FULL_BPS),
            ),
        }
    }

    fn domain_match(&self, row: &Candidate) -> u64 {
        if !row.task_domains.is_empty() {
            return match self.domain.as_str() {
                "" => DOMAIN_NEUTRAL_BPS,
                domain if row.task_domains.iter().any(|listed| normalised(listed) == domain) => FULL_BPS,
                _ => 0,
            };
        }
        match u64::from(self.bits.count_ones()) {
            0 => DOMAIN_NEUTRAL_BPS,
            found => {
                let shared = u64::from((self.bits & row.domain_fit_profile).count_ones());
                DOMAIN_FLOOR_BPS + (FULL_BPS - DOMAIN_FLOOR_BPS) * shared / found
            }
        }
    }

    fn skill_match(&self, row: &Candidate) -> u64 {
        let strengths = skills(&row.strengths);
        let shared = self.skills.intersection(&strengths).count();
        if self.skills.is_empty() { FULL_BPS } else { part(shared as u128, self.skills.len() as u128) }
    }
}

/// Returns `part` of `whole` in basis points; the maximum if `whole` is 0.
fn part(part: u128, whole: u128) -> u64 {
    let bps = u128::from(FULL_BPS).saturating_mul(part).checked_div(whole);
    bps.and_then(|bps| u64::try_from(bps).ok()).map_or(FULL_BPS, |bps| bps.min(FULL_BPS))
}

/// Returns the full value while enough of the window stays free, then falls to 0 at its edge.
fn window_fit(tokens: u64, window: u64) -> u64 {
    let free = u128::from(window.saturating_sub(tokens));
    part(u128::from(FULL_FIT_DIVISOR) * free, u128::from(window))
}

fn latency_fit(tier: LatencyTier, deadline_ms: Option<u64>) -> u64 {
    let (expected_ms, open) = match tier {
        LatencyTier::Fast => (FAST_MS, OPEN_FAST_BPS),
        LatencyTier::Balanced => (BALANCED_MS, OPEN_BALANCED_BPS),
        LatencyTier::Slow => (SLOW_MS, OPEN_SLOW_BPS),
    };
    deadline_ms.map_or(open, |deadline_ms| part(u128::from(deadline_ms), 2 * u128::from(expected_ms)))
}

/// Splits a text into words in ASCII lower case: runs of a to z and 0 to 9.
fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    let parts = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    parts.map(str::to_ascii_lowercase)
}

/// Normalises a domain for comparison: its [`words`], joined by underscores.
fn normalised(domain: &str) -> String {
    words(domain).collect::<Vec<_>>().join("_")
}

/// Returns the domain that a word indicates, as a bit; 0 for other words.
fn bit(word: &str) -> u8 {
    VOCABULARY.iter().position(|words| words.contains(&word)).map_or(0, |bit| 1 << bit)
}

/// Normalises skills for comparison, each once.
fn skills(listed: &[String]) -> BTreeSet<String> {
    let trimmed = listed.iter().map(|skill| skill.trim().to_ascii_lowercase());
    trimmed.filter(|skill| !skill.is_empty()).collect()
}
