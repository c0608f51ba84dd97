//! The operator's file of candidates (router#candidates): strict JSON; every fault names its place. Pure.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use colibri_canonical::MAX_SAFE_INTEGER;
use colibri_runtime::members::Members;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, de};

use super::candidates::{Candidate, LatencyTier, Snapshot, SplitPrice};
use super::model_id::ModelId;
use super::rules::Weights;

/// The file as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    weights: Option<Members<String, Whole>>,
    candidates: Vec<Object<WrittenRow>>,
}

/// A row as written; errors name its missing fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRow {
    model_id: ModelId,
    provider: String,
    context_window_tokens: Whole,
    latency_tier: LatencyTier,
    cost_bps_per_kilotoken: Whole,
    domain_fit_profile: Whole,
    enabled: bool,
    reliability_bps: Option<Whole>,
    #[serde(default)]
    strengths: Vec<String>,
    #[serde(default)]
    task_domains: Vec<String>,
    input_microusd_per_kilotoken: Option<Whole>,
    output_microusd_per_kilotoken: Option<Whole>,
}

/// Parses the snapshot that a file describes.
///
/// # Errors
/// The fault, on one line.
pub fn parse(text: &str) -> Result<Snapshot, String> {
    let Object(written): Object<Written> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let mut rows: Vec<Candidate> = Vec::with_capacity(written.candidates.len());
    for (index, Object(row)) in written.candidates.into_iter().enumerate() {
        let row = row.candidate().map_err(|fault| format!("candidates[{index}]: {fault}"))?;
        if rows.iter().any(|other| other.model_id == row.model_id) {
            return Err(format!("candidates[{index}]: {} is there already", row.model_id));
        }
        rows.push(row);
    }
    let weights = written.weights.map_or_else(|| Ok(Weights::default()), weights)?;
    Ok(Snapshot::new(rows, weights))
}

fn weights(written: Members<String, Whole>) -> Result<Weights, String> {
    let count = written.len();
    let named: BTreeMap<String, i64> =
        written.into_iter().map(|(name, Whole(weight))| (name, weight)).collect();
    if named.len() < count {
        return Err("weights: a name is there twice".to_owned());
    }
    Weights::new(&named).map_err(|error| format!("weights: {}", error.0))
}

impl WrittenRow {
    fn candidate(self) -> Result<Candidate, String> {
        let split_price = match (self.input_microusd_per_kilotoken, self.output_microusd_per_kilotoken) {
            (None, None) => None,
            (Some(input), Some(output)) => Some(SplitPrice {
                input: input.at_least("input_microusd_per_kilotoken", 0)?,
                output: output.at_least("output_microusd_per_kilotoken", 0)?,
            }),
            _ => {
                return Err(
                    "input_microusd_per_kilotoken and output_microusd_per_kilotoken go together".to_owned()
                );
            }
        };
        let Whole(profile) = self.domain_fit_profile;
        Ok(Candidate {
            model_id: self.model_id,
            provider: self.provider,
            context_window_tokens: self.context_window_tokens.at_least("context_window_tokens", 1)?,
            latency_tier: self.latency_tier,
            cost_bps_per_kilotoken: self.cost_bps_per_kilotoken.at_least("cost_bps_per_kilotoken", 0)?,
            domain_fit_profile: u8::try_from(profile)
                .map_err(|_| "domain_fit_profile must be 0 to 255".to_owned())?,
            enabled: self.enabled,
            reliability_bps: self.reliability_bps.map_or(0, |Whole(bps)| bps),
            strengths: self.strengths,
            task_domains: self.task_domains,
            split_price,
        })
    }
}

/// Accepts only an object: serde would also accept a list of the values in the right order.
struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectOnly(PhantomData))
    }
}

struct ObjectOnly<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectOnly<T> {
    type Value = Object<T>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Object<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(members)).map(Object)
    }
}

/// An integer as the router accepts it: no fractional part, within ±(2^53-1); `3.0` is one (router#bad-candidates).
#[derive(Clone, Copy)]
struct Whole(i64);

impl Whole {
    fn at_least(self, name: &str, least: u64) -> Result<u64, String> {
        let value = u64::try_from(self.0).ok().filter(|value| *value >= least);
        value.ok_or_else(|| format!("{name} must be at least {least}"))
    }
}

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WholeNumber)
    }
}

struct WholeNumber;

impl Visitor<'_> for WholeNumber {
    type Value = Whole;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an integer")
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Whole, E> {
        match value.unsigned_abs() <= MAX_SAFE_INTEGER.unsigned_abs() {
            true => Ok(Whole(value)),
            false => Err(E::custom("an integer beyond 2^53-1")),
        }
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Whole, E> {
        self.visit_i64(i64::try_from(value).unwrap_or(i64::MAX))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Whole, E> {
        if value.fract() != 0.0 {
            return Err(E::custom("a fraction where an integer is due"));
        }
        // The cast saturates, and a value beyond the range is refused like any other.
        self.visit_i64(value as i64)
    }
}
