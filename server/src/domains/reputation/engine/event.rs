//! Events that change a standing (reputation#events, reputation#gains, reputation#penalties): acknowledged gains and
//! penalties, and the change that each causes. Pure.

use super::domain::Domain;
use super::penalty::Band;
use super::standing::Standing;
use crate::rules::integer::{BPS_MAX, IntegerError};

/// The prefix of the system's own node ids. These nodes own no rows and acknowledge nothing.
pub(crate) const RESERVED_PREFIX: &str = "colibri:";

/// The two kinds of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Acknowledged work, or an acknowledged loss.
    Gain,
    /// A proven offence.
    Penalty,
}

impl Kind {
    /// Returns the kind as stored and hashed.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Gain => "gain",
            Self::Penalty => "penalty",
        }
    }

    /// Returns the kind that a stored text names; `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Gain, Self::Penalty].into_iter().find(|kind| kind.as_str() == text)
    }
}

/// The origin of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// A task that was done.
    Task,
    /// A session that was sealed.
    Session,
    /// A planned writer inside the server.
    Equivocation,
    /// A line of an imported file.
    Import,
}

impl Source {
    /// Returns the source as stored and hashed.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Session => "session",
            Self::Equivocation => "equivocation",
            Self::Import => "import",
        }
    }

    /// Returns the source that a stored text names; `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let all = [Self::Task, Self::Session, Self::Equivocation, Self::Import];
        all.into_iter().find(|source| source.as_str() == text)
    }
}

/// Who vouches for a gain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acker<'a> {
    /// The system, which observed the event: a fixed weight in basis points, which never lifts a node above 5000.
    System {
        /// The rule's weight.
        weight_bps: i64,
    },
    /// Another node; its own standing is the weight.
    Peer(&'a str),
}

impl<'a> Acker<'a> {
    /// Returns the acknowledging node as stored; `None` for the system.
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
    /// The credited node.
    pub node_id: &'a str,
    /// The domain.
    pub domain: Domain,
    /// Its nominal value in basis points, before weighting: -10000 to 10000, not 0.
    pub nominal_delta: i64,
    /// The acknowledging node or the system.
    pub acker: Acker<'a>,
    /// Its epoch.
    pub epoch: i64,
    /// A free label.
    pub reason: &'a str,
    /// Its origin.
    pub source: Source,
}

/// A proven offence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Penalty<'a> {
    /// The causing event, free-form.
    pub event_id: &'a str,
    /// The penalised node.
    pub node_id: &'a str,
    /// The domain.
    pub domain: Domain,
    /// The severity.
    pub band: Band,
    /// Whether it leaves a scar even if the band leaves none.
    pub scar: bool,
    /// Its epoch.
    pub epoch: i64,
    /// A free label; `penalty:<band>:` is put before it.
    pub reason: &'a str,
    /// Its origin.
    pub source: Source,
}

/// The change that one event makes to a standing. The ledger keeps each of its numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The standing after it.
    pub row: Standing,
    /// The change of the settled score.
    pub delta: i64,
    /// The weight of its acknowledgement in basis points; 10000 for a penalty.
    pub weight_bps: i64,
    /// The number of idle epochs settled before it.
    pub idle_epochs: i64,
    /// The score stored before it.
    pub score_before: i64,
    /// The score after the idle epochs were settled.
    pub score_settled: i64,
    /// The scar stored before it.
    pub scar_before: i64,
}

/// An event that cannot be recorded. The catalogue has the codes for clients.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EventError {
    /// The event names no node.
    #[error("the event names no node")]
    NodeEmpty,
    /// The event names one of the system's nodes.
    #[error("{node_id}: names beginning {RESERVED_PREFIX} are the system's")]
    NodeReserved {
        /// The name.
        node_id: String,
    },
    /// The event is older than the node's last activity.
    #[error("{node_id}/{domain}: epoch {epoch} is before {last_activity_epoch}, the last one")]
    EpochOrder {
        /// The node.
        node_id: String,
        /// The domain.
        domain: Domain,
        /// The event's epoch.
        epoch: i64,
        /// The row's last epoch.
        last_activity_epoch: i64,
    },
    /// A number that no event may carry.
    #[error("{field}: {value} is outside what an event may say")]
    Schema {
        /// The field.
        field: &'static str,
        /// Its value.
        value: i64,
    },
    /// A number left its range, which only a corrupt row can cause.
    #[error(transparent)]
    Integer(#[from] IntegerError),
}

/// Whether `id` is one of the system's own names.
pub(crate) fn is_reserved(id: &str) -> bool {
    id.starts_with(RESERVED_PREFIX)
}

/// Checks the rules for every event: its node may own rows, and its epoch is not before the row's last one.
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

/// Checks the range of a gain's nominal value.
pub(super) fn check_nominal(nominal_delta: i64) -> Result<(), EventError> {
    if nominal_delta == 0 || !(-BPS_MAX..=BPS_MAX).contains(&nominal_delta) {
        return Err(EventError::Schema { field: "delta", value: nominal_delta });
    }
    Ok(())
}
