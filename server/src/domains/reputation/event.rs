//! What moves a standing (reputation#events, reputation#gains, reputation#penalties): gains, which others acknowledge, and penalties; and what becomes of
//! a standing through one of them. Pure.

use super::domain::Domain;
use super::penalty::Band;
use super::standing::Standing;
use crate::rules::integer::{BPS_MAX, IntegerError};

/// What the ids of the system's own nodes begin with. They own no rows and acknowledge nothing.
pub const RESERVED_PREFIX: &str = "colibri:";

/// The two kinds of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Acknowledged work, or its contrary: an acknowledged loss.
    Gain,
    /// A proven offence.
    Penalty,
}

impl Kind {
    /// The kind as it is stored and hashed.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Gain => "gain",
            Self::Penalty => "penalty",
        }
    }

    /// The kind that a stored text names; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Gain, Self::Penalty].into_iter().find(|kind| kind.as_str() == text)
    }
}

/// Who reported an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// A task that was done.
    Task,
    /// A session that was sealed.
    Session,
    /// A writer inside the server that does not exist yet.
    Equivocation,
    /// A line of an imported file.
    Import,
}

impl Source {
    /// The source as it is stored and hashed.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Session => "session",
            Self::Equivocation => "equivocation",
            Self::Import => "import",
        }
    }

    /// The source that a stored text names; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let all = [Self::Task, Self::Session, Self::Equivocation, Self::Import];
        all.into_iter().find(|source| source.as_str() == text)
    }
}

/// Who vouches for a gain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acker<'a> {
    /// The system has seen it itself: a fixed weight in basis points, which never lifts anyone above 5000.
    System {
        /// The rule's weight.
        weight_bps: i64,
    },
    /// Another node, whose own standing is the weight.
    Peer(&'a str),
}

impl<'a> Acker<'a> {
    /// The acknowledging node as it is stored; `None` for the system.
    pub const fn id(self) -> Option<&'a str> {
        match self {
            Self::System { .. } => None,
            Self::Peer(id) => Some(id),
        }
    }
}

/// An event that others acknowledge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gain<'a> {
    /// The causing event, free-form.
    pub event_id: &'a str,
    /// Who is credited.
    pub node_id: &'a str,
    /// In which domain.
    pub domain: Domain,
    /// What it is worth unweighed, in basis points: -10000 to 10000, not 0.
    pub nominal_delta: i64,
    /// Who vouches for it.
    pub acker: Acker<'a>,
    /// When.
    pub epoch: i64,
    /// A free label.
    pub reason: &'a str,
    /// Who reported it.
    pub source: Source,
}

/// A proven offence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Penalty<'a> {
    /// The causing event, free-form.
    pub event_id: &'a str,
    /// Who is punished.
    pub node_id: &'a str,
    /// In which domain.
    pub domain: Domain,
    /// How severely.
    pub band: Band,
    /// Whether a scar is left even if the band leaves none.
    pub scar: bool,
    /// When.
    pub epoch: i64,
    /// A free label; `penalty:<band>:` is put before it.
    pub reason: &'a str,
    /// Who reported it.
    pub source: Source,
}

/// What one event made of one standing. The ledger keeps every number of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The standing after it.
    pub row: Standing,
    /// How far it moved the settled score.
    pub delta: i64,
    /// What its acknowledgement weighed, in basis points; 10000 for a penalty.
    pub weight_bps: i64,
    /// How many idle epochs were settled before it.
    pub idle_epochs: i64,
    /// The score that was stored.
    pub score_before: i64,
    /// The score without those idle epochs' share.
    pub score_settled: i64,
    /// The scar that was stored.
    pub scar_before: i64,
}

/// An event that cannot be recorded. The codes are those of reputation#errors.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EventError {
    /// Nobody's event.
    #[error("ERR_NODE_EMPTY: the event names no node")]
    NodeEmpty,
    /// The system's own.
    #[error("ERR_NODE_RESERVED: {node_id}: names beginning {RESERVED_PREFIX} are the system's")]
    NodeReserved {
        /// The name.
        node_id: String,
    },
    /// Older than what the node was last active at.
    #[error(
        "ERR_EPOCH_ORDER: {node_id}/{domain}: epoch {epoch} is before {last_activity_epoch}, the last one"
    )]
    EpochOrder {
        /// The node.
        node_id: String,
        /// The domain.
        domain: Domain,
        /// The event's epoch.
        epoch: i64,
        /// The row's last one.
        last_activity_epoch: i64,
    },
    /// A number that no event may carry.
    #[error("ERR_SCHEMA: {field}: {value} is outside what an event may say")]
    Schema {
        /// Which one.
        field: &'static str,
        /// What it is.
        value: i64,
    },
    /// A number left its range; only a corrupt row leads here.
    #[error(transparent)]
    Integer(#[from] IntegerError),
}

/// Whether `id` is one of the system's own names.
pub fn is_reserved(id: &str) -> bool {
    id.starts_with(RESERVED_PREFIX)
}

/// Checks what every event must satisfy: a node that may own rows, an epoch not before its row's last one.
pub(super) fn admit(
    node_id: &str,
    domain: Domain,
    epoch: i64,
    row: Option<&Standing>,
) -> Result<(), EventError> {
    if node_id.is_empty() {
        return Err(EventError::NodeEmpty);
    }
    if is_reserved(node_id) {
        return Err(EventError::NodeReserved { node_id: node_id.to_owned() });
    }
    if epoch < 0 {
        return Err(EventError::Schema { field: "epoch", value: epoch });
    }
    match row.map(|row| row.last_activity_epoch) {
        Some(last_activity_epoch) if epoch < last_activity_epoch => {
            Err(EventError::EpochOrder { node_id: node_id.to_owned(), domain, epoch, last_activity_epoch })
        }
        _ => Ok(()),
    }
}

/// Checks the range of a gain's worth.
pub(super) fn check_nominal(nominal_delta: i64) -> Result<(), EventError> {
    if nominal_delta == 0 || !(-BPS_MAX..=BPS_MAX).contains(&nominal_delta) {
        return Err(EventError::Schema { field: "delta", value: nominal_delta });
    }
    Ok(())
}
