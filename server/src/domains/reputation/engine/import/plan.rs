//! Converts the lines of a file to events in the order in which they are recorded. Pure.

use crate::catalogue::{
    ReputationImportError, ReputationImportInputLinesItem, ReputationImportInputLinesItemKind,
};
use crate::domains::reputation::domain::{DOMAINS, Domain};
use crate::domains::reputation::event::is_reserved;
use crate::domains::reputation::penalty::Band;

/// The name that means all five domains.
const EVERY_DOMAIN: &str = "*";

/// An event of one domain, and the line it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// The line, from 1.
    pub line: i64,
    /// The causing event, free-form.
    pub event_id: String,
    /// The node whose standing changes.
    pub node_id: String,
    /// The domain.
    pub domain: Domain,
    /// The epoch.
    pub epoch: i64,
    /// A free label.
    pub reason: String,
    /// The gain or penalty.
    pub deed: Deed,
}

/// The subject of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deed {
    /// Acknowledged work, or an acknowledged loss.
    Gain {
        /// Basis points before weighting.
        delta: i64,
        /// The acknowledging node.
        acker_id: String,
    },
    /// A proven offence.
    Penalty {
        /// The severity.
        band: Band,
        /// Whether it leaves a scar even if the band leaves none.
        scar: bool,
    },
}

/// Checks each line and returns the events in stable order of epoch and line. `present` is the present
/// epoch; blank lines are `None`.
///
/// # Errors
/// The fault of the first bad line.
pub fn plan(
    lines: Vec<Option<ReputationImportInputLinesItem>>,
    present: i64,
) -> Result<Vec<Planned>, ReputationImportError> {
    let mut events = Vec::with_capacity(lines.len());
    for (line, item) in (1..).zip(lines) {
        if let Some(item) = item {
            take(line, item, present, &mut events)?;
        }
    }
    // The sort is stable, so lines of one epoch keep their order, and so do domains.
    events.sort_by_key(|event| event.epoch);
    Ok(events)
}

fn take(
    line: i64,
    item: ReputationImportInputLinesItem,
    present: i64,
    events: &mut Vec<Planned>,
) -> Result<(), ReputationImportError> {
    let epoch = item.epoch;
    let deed = deed(&item).map_err(|reason| schema(line, reason))?;
    let domains = domains(&item.domain, &deed).map_err(|reason| schema(line, reason))?;
    let acker = match &deed {
        Deed::Gain { acker_id, .. } => Some(acker_id),
        Deed::Penalty { .. } => None,
    };
    if let Some(node_id) = [Some(&item.node_id), acker].into_iter().flatten().find(|id| is_reserved(id)) {
        return Err(ReputationImportError::ErrNodeReserved { line, node_id: node_id.clone() });
    }
    if epoch > present {
        return Err(ReputationImportError::ErrEpochFuture { line, epoch, present_epoch: present });
    }
    events.extend(domains.into_iter().map(|domain| Planned {
        line,
        event_id: item.event_id.clone(),
        node_id: item.node_id.clone(),
        domain,
        epoch,
        reason: item.reason.clone(),
        deed: deed.clone(),
    }));
    Ok(())
}

fn schema(line: i64, reason: &str) -> ReputationImportError {
    ReputationImportError::ErrSchema { line, reason: reason.to_owned() }
}

/// Returns the line's gain or penalty. The line must have the fields of its kind and none of the other.
fn deed(item: &ReputationImportInputLinesItem) -> Result<Deed, &'static str> {
    match item.kind {
        ReputationImportInputLinesItemKind::Gain => {
            if item.band.is_some() || item.scar {
                return Err("a gain takes neither band nor scar");
            }
            let delta = item.delta.ok_or("a gain needs delta")?;
            if delta == 0 {
                return Err("delta: a gain of 0 is none");
            }
            let acker_id = item.acker_id.clone().ok_or("a gain needs acker_id")?;
            Ok(Deed::Gain { delta, acker_id })
        }
        ReputationImportInputLinesItemKind::Penalty => {
            if item.delta.is_some() || item.acker_id.is_some() {
                return Err("a penalty takes neither delta nor acker_id");
            }
            let band = item.band.as_ref().ok_or("a penalty needs band")?;
            let band = Band::parse(band.as_str()).ok_or("band: there is no such band")?;
            Ok(Deed::Penalty { band, scar: item.scar })
        }
    }
}

/// Returns the domains of the line.
fn domains(named: &str, deed: &Deed) -> Result<Vec<Domain>, &'static str> {
    if named == EVERY_DOMAIN {
        return match deed {
            Deed::Penalty { band: Band::Fraud, .. } => Ok(DOMAINS.to_vec()),
            _ => Err("domain: only a penalty of band fraud is one in all domains"),
        };
    }
    Domain::parse(named).map(|domain| vec![domain]).ok_or("domain: there is no such domain")
}
