//! Conversion of the engine's values for the tools, and of the domain that tools take.

use super::domain::Domain;
use super::gates::{DomainGate, Gates};
use super::pack::LAMBDA_RULES_HASH;
use super::service::HistoryPage;
use super::standing::Standing;
use super::store::HistoryEvent;
use crate::catalogue::{
    GateDomain, ReputationCheckGatesOutput, ReputationCheckGatesOutputDomains,
    ReputationCheckGatesOutputGates, ReputationDomain, ReputationHistoryOutput,
    ReputationHistoryOutputEventsItem, ReputationRow,
};

impl From<ReputationDomain> for Domain {
    fn from(domain: ReputationDomain) -> Self {
        match domain {
            ReputationDomain::Execution => Self::Execution,
            ReputationDomain::Commissioning => Self::Commissioning,
            ReputationDomain::Arbitration => Self::Arbitration,
            ReputationDomain::Governance => Self::Governance,
            ReputationDomain::Social => Self::Social,
        }
    }
}

impl From<Domain> for ReputationDomain {
    fn from(domain: Domain) -> Self {
        match domain {
            Domain::Execution => Self::Execution,
            Domain::Commissioning => Self::Commissioning,
            Domain::Arbitration => Self::Arbitration,
            Domain::Governance => Self::Governance,
            Domain::Social => Self::Social,
        }
    }
}

impl From<Standing> for ReputationRow {
    fn from(row: Standing) -> Self {
        Self {
            node_id: row.node_id,
            domain: row.domain.into(),
            score: row.score,
            scar_bps: row.scar_bps,
            ban_until_epoch: row.ban_until_epoch,
            last_activity_epoch: row.last_activity_epoch,
        }
    }
}

impl From<HistoryEvent> for ReputationHistoryOutputEventsItem {
    fn from(event: HistoryEvent) -> Self {
        Self {
            id: event.id,
            node_id: event.node_id,
            domain: event.domain.into(),
            epoch: event.epoch,
            delta: event.delta,
            reason: event.reason,
            event_id: event.event_id,
        }
    }
}

impl From<HistoryPage> for ReputationHistoryOutput {
    fn from(page: HistoryPage) -> Self {
        let events = page.events.into_iter().map(Into::into).collect();
        Self { events, next_offset: page.next_offset }
    }
}

impl From<DomainGate> for GateDomain {
    fn from(gate: DomainGate) -> Self {
        Self {
            present: gate.present,
            score: gate.row.score,
            ceiling: gate.row.ceiling(),
            banned: gate.banned,
            ban_until_epoch: gate.row.ban_until_epoch,
        }
    }
}

/// The gates of a node at an epoch.
pub fn checked(node_id: String, current_epoch: i64, gates: Gates) -> ReputationCheckGatesOutput {
    let [execution, commissioning, arbitration, governance, social] = gates.domains.map(GateDomain::from);
    ReputationCheckGatesOutput {
        node_id,
        current_epoch,
        gates: ReputationCheckGatesOutputGates {
            max_parallel_tasks: gates.max_parallel_tasks,
            rate_limit_bonus: gates.rate_limit_bonus,
            stake_discount: gates.stake_discount,
            can_arbitrate: gates.can_arbitrate,
            can_govern: gates.can_govern,
        },
        domains: ReputationCheckGatesOutputDomains {
            execution,
            commissioning,
            arbitration,
            governance,
            social,
        },
        rule_version_hash: LAMBDA_RULES_HASH.to_owned(),
    }
}
