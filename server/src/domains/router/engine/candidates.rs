//! The models that may be chosen, and their known properties (router#candidates). Pure.

use super::model_id::ModelId;
use super::rules::Weights;

/// How fast a model usually answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LatencyTier {
    /// Within about a second.
    Fast,
    /// Within about three.
    Balanced,
    /// Within about eight.
    Slow,
}

impl LatencyTier {
    /// Returns the tier with exactly this name.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "fast" => Some(Self::Fast),
            "balanced" => Some(Self::Balanced),
            "slow" => Some(Self::Slow),
            _ => None,
        }
    }
}

/// List prices of reading and writing, in millionths of a dollar per 1,000 tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SplitPrice {
    /// For tokens read.
    pub input: u64,
    /// For tokens written.
    pub output: u64,
}

/// A model that may be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The model.
    pub model_id: ModelId,
    /// The provider; informative.
    pub provider: String,
    /// How many tokens it reads at once, at least 1.
    pub context_window_tokens: u64,
    /// How fast it usually answers.
    pub latency_tier: LatencyTier,
    /// Price of 1,000 tokens, read and written ones blended, in ten-thousandths of a dollar.
    pub cost_bps_per_kilotoken: u64,
    /// Its domains: a bit for each, as [`VOCABULARY`](super::rules::VOCABULARY) lists them.
    pub domain_fit_profile: u8,
    /// Whether it may be chosen at all.
    pub enabled: bool,
    /// How often it answers, in basis points; scoring takes it as 0 to 10,000.
    pub reliability_bps: i64,
    /// Its skills.
    pub strengths: Vec<String>,
    /// The only domains it serves; empty if it serves all.
    pub task_domains: Vec<String>,
    /// Exact prices, for costing only.
    pub split_price: Option<SplitPrice>,
}

/// The input of scoring and the chain, loaded once and never changed: the rows, each model at most once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Snapshot {
    rows: Vec<Candidate>,
    weights: Weights,
}

impl Snapshot {
    /// Makes a snapshot of these rows. Of several rows for one model the first counts.
    pub fn new(rows: impl IntoIterator<Item = Candidate>, weights: Weights) -> Self {
        let mut kept: Vec<Candidate> = Vec::new();
        for row in rows {
            if kept.iter().all(|other| other.model_id != row.model_id) {
                kept.push(row);
            }
        }
        Self { rows: kept, weights }
    }

    /// Returns the rows that may be chosen.
    pub fn enabled(&self) -> impl Iterator<Item = &Candidate> {
        self.rows.iter().filter(|row| row.enabled)
    }

    /// Returns a model's row, enabled or not.
    pub fn row(&self, model: ModelId) -> Option<&Candidate> {
        self.rows.iter().find(|row| row.model_id == model)
    }

    /// Returns the weights of the dimensions.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }
}

/// Returns a model's list price (router#cost): the cost of an answer of [`ModelId::default_upstream`] unless a row
/// sets another.
pub const fn list_price(model: ModelId) -> SplitPrice {
    let (input, output) = match model {
        ModelId::Claude | ModelId::ClaudeSonnet35 => (3000, 15_000),
        ModelId::ClaudeHaiku35 => (1000, 5000),
        ModelId::Gpt4o => (2500, 10_000),
        ModelId::Gpt4oMini => (150, 600),
        ModelId::Gemini15Pro => (1500, 7500),
        ModelId::Llama3370b => (880, 880),
        ModelId::Mixtral8x22b => (1500, 7500),
        ModelId::KimiK2 => (950, 4000),
    };
    SplitPrice { input, output }
}

/// Returns the built-in rows of router#candidates with list prices; `enabled` decides which are enabled. The table's
/// seed rows repeat them. Scoring takes the cost of the model that an id is named after, even if another upstream
/// model is in use today, so a score means the same in every release.
pub fn built_in(enabled: impl Fn(ModelId) -> bool) -> Vec<Candidate> {
    let row =
        |model_id: ModelId, provider: &str, window, tier, cost, profile, strengths: &[&str]| Candidate {
            model_id,
            provider: provider.to_owned(),
            context_window_tokens: window,
            latency_tier: tier,
            cost_bps_per_kilotoken: cost,
            domain_fit_profile: profile,
            enabled: enabled(model_id),
            reliability_bps: 0,
            strengths: strengths.iter().map(|&strength| strength.to_owned()).collect(),
            task_domains: Vec::new(),
            split_price: Some(list_price(model_id)),
        };
    use LatencyTier::{Balanced, Fast, Slow};
    use ModelId::{
        ClaudeHaiku35, ClaudeSonnet35, Gemini15Pro, Gpt4o, Gpt4oMini, KimiK2, Llama3370b, Mixtral8x22b,
    };
    let all_round = ["coding", "reasoning", "tool_use", "vision"];
    vec![
        row(ClaudeSonnet35, "anthropic", 200_000, Balanced, 60, 59, &all_round),
        row(ClaudeHaiku35, "anthropic", 200_000, Fast, 16, 200, &["speed", "tool_use"]),
        row(Gpt4o, "openai", 128_000, Balanced, 44, 103, &all_round),
        row(Gpt4oMini, "openai", 128_000, Fast, 3, 192, &["speed", "tool_use", "vision"]),
        row(Gemini15Pro, "google", 1_000_000, Slow, 22, 46, &["long_context", "reasoning", "vision"]),
        row(Llama3370b, "meta", 131_072, Fast, 9, 73, &["open_weights", "speed"]),
        row(Mixtral8x22b, "mistral", 65_536, Balanced, 30, 72, &["multilingual", "open_weights"]),
        row(KimiK2, "moonshot", 262_144, Slow, 11, 161, &["coding", "long_context", "tool_use"]),
    ]
}
