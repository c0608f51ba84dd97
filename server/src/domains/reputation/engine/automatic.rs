//! The events that the server reports itself (reputation#events): the value, domain and id of each. Pure.

use super::domain::Domain;
use super::event::Source;

/// Who may vouch for an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vouching {
    /// The server, which observed it.
    System,
    /// Another node; the server if no other node does.
    PeerOrSystem,
    /// Another node only.
    Peer,
}

/// A rule for one kind of event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AutomaticEvent {
    /// The rule's name in the pack.
    pub rule_name: &'static str,
    /// The stored reason.
    pub reason: &'static str,
    /// The stored source.
    pub source: Source,
    /// The domain that it counts in.
    pub domain: Domain,
    /// Its nominal value in basis points, before weighting.
    pub nominal_delta: i64,
    /// Who may vouch for it.
    pub vouching: Vouching,
    /// The weight of the system's acknowledgement if no peer acknowledges the event. For a commissioned task, which a
    /// peer always acknowledges, the greatest weight of that peer.
    pub weight_bps: i64,
}

/// A finished task credits its executor.
pub const TASK_DONE: AutomaticEvent = AutomaticEvent {
    rule_name: "lambda.event.task_done",
    reason: "task_done",
    source: Source::Task,
    domain: Domain::Execution,
    nominal_delta: 200,
    vouching: Vouching::PeerOrSystem,
    weight_bps: 2_500,
};

/// A finished task credits its creator. The server never reports this while tasks store no creator.
pub const TASK_COMMISSIONED: AutomaticEvent = AutomaticEvent {
    rule_name: "lambda.event.task_commissioned",
    reason: "task_commissioned",
    source: Source::Task,
    domain: Domain::Commissioning,
    nominal_delta: 100,
    vouching: Vouching::Peer,
    weight_bps: 10_000,
};

/// A sealed session credits each of its agents.
pub const SESSION_SEALED: AutomaticEvent = AutomaticEvent {
    rule_name: "lambda.event.session_sealed",
    reason: "session_sealed",
    source: Source::Session,
    domain: Domain::Execution,
    nominal_delta: 50,
    vouching: Vouching::System,
    weight_bps: 10_000,
};

/// All three.
pub const AUTOMATIC_EVENTS: [AutomaticEvent; 3] = [TASK_DONE, TASK_COMMISSIONED, SESSION_SEALED];

/// The event id of [`TASK_DONE`].
pub fn task_done_id(task_id: &str) -> String {
    format!("task:{task_id}:done")
}

/// The event id of [`TASK_COMMISSIONED`].
pub fn task_commissioned_id(task_id: &str) -> String {
    format!("task:{task_id}:commissioned")
}

/// The event id of [`SESSION_SEALED`].
pub fn session_sealed_id(session_id: &str, agent_id: &str) -> String {
    format!("session:{session_id}:{agent_id}")
}
