//! The ledger's entries (reputation#ledger): all inputs of one step of a standing, and the hash that chains it to the
//! step before. Pure.

use colibri_canonical::escape::push_string;

use super::domain::Domain;
use super::event::{Gain, Kind, Penalty, Source, Step};
use super::pack::LAMBDA_RULES_HASH;
use super::penalty::{Band, stored_reason};
use colibri_canonical::HexDigest;
use colibri_canonical::object::{number, text};

/// An entry: a row of `reputation_ledger` with its row of `reputation_history`. The two hashes are texts, because a
/// stored entry is untrusted until checked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // The fields of reputation#ledger, under their names.
pub struct Entry {
    pub history_id: i64,
    pub event_id: String,
    pub node_id: String,
    pub domain: Domain,
    pub epoch: i64,
    pub delta: i64,
    pub reason: String,
    pub kind: Kind,
    pub source: Source,
    pub band: Option<Band>,
    pub nominal_delta: i64,
    pub acker_id: Option<String>,
    pub weight_bps: i64,
    pub idle_epochs: i64,
    pub score_before: i64,
    pub score_settled: i64,
    pub score_after: i64,
    pub scar_before: i64,
    pub scar_after: i64,
    pub ban_after: Option<i64>,
    pub rule_version_hash: String,
    pub prev_hash: String,
}

/// An entry's values besides the step itself.
struct Facts<'a> {
    event_id: &'a str,
    epoch: i64,
    reason: String,
    kind: Kind,
    source: Source,
    band: Option<Band>,
    nominal_delta: i64,
    acker_id: Option<&'a str>,
}

impl Entry {
    /// Makes the entry of a gain, at `history_id`, after the entry whose hash is `prev_hash`.
    pub fn of_gain(gain: &Gain<'_>, step: &Step, history_id: i64, prev_hash: &str) -> Self {
        let facts = Facts {
            event_id: gain.event_id,
            epoch: gain.epoch,
            reason: gain.reason.to_owned(),
            kind: Kind::Gain,
            source: gain.source,
            band: None,
            nominal_delta: gain.nominal_delta,
            acker_id: gain.acker.id(),
        };
        Self::of(facts, step, history_id, prev_hash)
    }

    /// Makes the entry of a penalty, at `history_id`, after the entry whose hash is `prev_hash`.
    pub(crate) fn of_penalty(penalty: &Penalty<'_>, step: &Step, history_id: i64, prev_hash: &str) -> Self {
        let facts = Facts {
            event_id: penalty.event_id,
            epoch: penalty.epoch,
            reason: stored_reason(penalty.band, penalty.reason),
            kind: Kind::Penalty,
            source: penalty.source,
            band: Some(penalty.band),
            nominal_delta: 0,
            acker_id: None,
        };
        Self::of(facts, step, history_id, prev_hash)
    }

    fn of(facts: Facts<'_>, step: &Step, history_id: i64, prev_hash: &str) -> Self {
        Self {
            history_id,
            event_id: facts.event_id.to_owned(),
            node_id: step.row.node_id.clone(),
            domain: step.row.domain,
            epoch: facts.epoch,
            delta: step.delta,
            reason: facts.reason,
            kind: facts.kind,
            source: facts.source,
            band: facts.band,
            nominal_delta: facts.nominal_delta,
            acker_id: facts.acker_id.map(str::to_owned),
            weight_bps: step.weight_bps,
            idle_epochs: step.idle_epochs,
            score_before: step.score_before,
            score_settled: step.score_settled,
            score_after: step.row.score,
            scar_before: step.scar_before,
            scar_after: step.row.scar_bps,
            ban_after: step.row.ban_until_epoch,
            rule_version_hash: LAMBDA_RULES_HASH.to_owned(),
            prev_hash: prev_hash.to_owned(),
        }
    }

    /// Returns the bytes to hash: canonical JSON of the 22 fields.
    pub fn message(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(768);
        text(&mut out, b"{\"acker_id\":", self.acker_id.as_deref());
        number(&mut out, b",\"ban_after\":", self.ban_after);
        text(&mut out, b",\"band\":", self.band.map(Band::as_str));
        number(&mut out, b",\"delta\":", Some(self.delta));
        text(&mut out, b",\"domain\":", Some(self.domain.as_str()));
        number(&mut out, b",\"epoch\":", Some(self.epoch));
        text(&mut out, b",\"event_id\":", Some(&self.event_id));
        number(&mut out, b",\"history_id\":", Some(self.history_id));
        number(&mut out, b",\"idle_epochs\":", Some(self.idle_epochs));
        text(&mut out, b",\"kind\":", Some(self.kind.as_str()));
        text(&mut out, b",\"node_id\":", Some(&self.node_id));
        number(&mut out, b",\"nominal_delta\":", Some(self.nominal_delta));
        text(&mut out, b",\"prev_hash\":", Some(&self.prev_hash));
        text(&mut out, b",\"reason\":", Some(&self.reason));
        text(&mut out, b",\"rule_version_hash\":", Some(&self.rule_version_hash));
        number(&mut out, b",\"scar_after\":", Some(self.scar_after));
        number(&mut out, b",\"scar_before\":", Some(self.scar_before));
        number(&mut out, b",\"score_after\":", Some(self.score_after));
        number(&mut out, b",\"score_before\":", Some(self.score_before));
        number(&mut out, b",\"score_settled\":", Some(self.score_settled));
        text(&mut out, b",\"source\":", Some(self.source.as_str()));
        number(&mut out, b",\"weight_bps\":", Some(self.weight_bps));
        out.push(b'}');
        out
    }

    /// Returns the entry's hash, which the next entry carries as its `prev_hash`.
    pub fn hash(&self) -> HexDigest {
        HexDigest::of(&self.message())
    }

    /// Returns the key under which this entry may be recorded once.
    pub fn dedupe_key(&self) -> String {
        dedupe_key(&self.event_id, &self.node_id, self.domain, self.kind, self.band)
    }
}

/// Returns the key under which an event may be recorded once (reputation#ledger): canonical JSON of event, node,
/// domain, kind and band.
pub fn dedupe_key(event_id: &str, node_id: &str, domain: Domain, kind: Kind, band: Option<Band>) -> String {
    let band = band.map_or("", Band::as_str);
    let mut key = String::with_capacity(event_id.len() + node_id.len() + 48);
    for (index, part) in [event_id, node_id, domain.as_str(), kind.as_str(), band].into_iter().enumerate() {
        key.push(if index == 0 { '[' } else { ',' });
        push_string(&mut key, part);
    }
    key.push(']');
    key
}
