//! The record of a routing decision (router#decision-record): the models considered, the chosen one, and a hash of
//! the decision's inputs. It contains neither prompt nor answer. Pure.

use colibri_canonical::{CanonicalError, NumberRule, canonical_json, sha256_hex};
use serde_json::{Map, Value, json};

use super::model_id::ModelId;
use super::scoring::{Scores, as_fraction};

/// The type of a record.
pub const RECORD_TYPE: &str = "routing_decision";
/// The prefix of rule hashes inside a record.
const RULES_PREFIX: &str = "rv:";
/// The prefix of a rule hash in the registry's form.
const HASH_PREFIX: &str = "sha256:";

/// The outcome. `ensemble` and `pipeline` are reserved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoutingMode {
    /// One model answered.
    Single,
    /// No model answered.
    Fail,
}

impl RoutingMode {
    /// Returns the word in a record.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Fail => "fail",
        }
    }
}

/// One routing decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoutingDecision {
    /// The outcome.
    pub routing_mode: RoutingMode,
    /// The model that answered.
    pub chosen_model_id: Option<ModelId>,
    /// The chain, in order.
    pub candidates_considered: Vec<ModelId>,
    /// The scores behind the chain.
    pub scores: Scores,
    /// The number of failed attempts.
    pub fallback_attempts: u64,
    /// The rules behind the scores: `rv:sha256:` and 64 hex characters.
    pub rule_version_hash: String,
    /// 64 hex characters: the hash of prompt, options, rules, chain and chosen model.
    pub decision_hash: String,
}

/// The inputs of a decision.
#[derive(Debug, Clone, Copy)]
pub struct Grounds<'a> {
    /// The prompt.
    pub prompt: &'a str,
    /// The options exactly as received; `{}` if the caller sent none.
    pub options: &'a Value,
    /// The scores.
    pub scores: &'a Scores,
    /// The chain that follows from them.
    pub chain: &'a [ModelId],
    /// The rules' hash, in any of its forms.
    pub rule_version_hash: &'a str,
}

impl RoutingDecision {
    /// Makes the record of a walk that tried the `attempted` models and in which `chosen` answered.
    ///
    /// # Errors
    /// The encoder's error: the options contain a number that trail hashes refuse, or nest too deep.
    pub fn new(
        grounds: Grounds<'_>,
        chosen: Option<ModelId>,
        attempted: usize,
    ) -> Result<Self, CanonicalError> {
        let rule_version_hash = normalise_rule_version_hash(grounds.rule_version_hash);
        let inputs = json!({
            "prompt": grounds.prompt,
            "context": grounds.options,
            "rule_version_hash": rule_version_hash,
            "candidates_considered": names(grounds.chain),
        });
        let name = chosen.map_or("", ModelId::as_str);
        let preimage = format!("{} {name}", canonical_json(&inputs, NumberRule::Trail)?);
        Ok(Self {
            routing_mode: if chosen.is_some() { RoutingMode::Single } else { RoutingMode::Fail },
            chosen_model_id: chosen,
            candidates_considered: grounds.chain.to_vec(),
            scores: *grounds.scores,
            fallback_attempts: (attempted - usize::from(chosen.is_some() && attempted > 0)) as u64,
            rule_version_hash,
            decision_hash: sha256_hex(preimage.as_bytes()),
        })
    }

    /// Returns the record's eight fields. A thought record of type `decision` would hold their canonical JSON.
    pub fn to_json(&self) -> Value {
        let scores = self.scores.each().map(|(model, bps)| (model.to_string(), json!(as_fraction(bps))));
        json!({
            "type": RECORD_TYPE,
            "routing_mode": self.routing_mode.as_str(),
            "chosen_model_id": self.chosen_model_id.map_or("", ModelId::as_str),
            "candidates_considered": names(&self.candidates_considered),
            "scores": scores.collect::<Map<_, _>>(),
            "fallback_attempts": self.fallback_attempts,
            "rule_version_hash": self.rule_version_hash,
            "decision_hash": self.decision_hash,
        })
    }
}

/// Converts any of the three forms of a rule hash to the form inside a record; leaves another text unchanged.
pub fn normalise_rule_version_hash(hash: &str) -> String {
    let bare = |text: &str| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if hash.strip_prefix(HASH_PREFIX).is_some_and(bare) {
        format!("{RULES_PREFIX}{hash}")
    } else if bare(hash) {
        format!("{RULES_PREFIX}{HASH_PREFIX}{hash}")
    } else {
        hash.to_owned()
    }
}

fn names(models: &[ModelId]) -> Vec<&'static str> {
    models.iter().map(|model| model.as_str()).collect()
}

/// The recipient of records. The server discards them; an embedder may store them.
pub trait Emitter: Send + Sync {
    /// Takes a record. A failure is logged and changes nothing.
    ///
    /// # Errors
    /// Why the record was not kept.
    fn emit(&self, decision: &RoutingDecision) -> Result<(), String>;
}

/// Discards records.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoEmitter;

impl Emitter for NoEmitter {
    fn emit(&self, _: &RoutingDecision) -> Result<(), String> {
        Ok(())
    }
}
