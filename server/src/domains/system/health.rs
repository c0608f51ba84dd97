//! The health report: facts and a probe of the database. If the database does not answer, the report says so; the
//! call does not fail.

use colibri_runtime::handler::{CallStatus, Fault, STAGES};

use super::published_mode;
use super::store::{Probe, probe};
use crate::catalogue::{
    ServerHealthOutput, ServerHealthOutputCapabilities, ServerHealthOutputDatabase,
    ServerHealthOutputDatabaseStatus, ServerHealthOutputMiddleware, ServerHealthOutputMiddlewareAuditSink,
    ServerHealthOutputPhase, ServerHealthOutputStatus,
};
use crate::domains::system::facts::{DatabaseStatus, Phase, SystemFacts};
use crate::settings::mode::{Mode, capabilities_for};
use colibri_store::db::Db;

/// The reason for a degraded report before the end of the start.
const STARTING: &str = "the server is still starting; ask again";

/// The inputs of a report.
pub struct Moment<'a> {
    /// The server's knowledge about itself.
    pub facts: &'a SystemFacts,
    /// The chain's own status.
    pub call: CallStatus,
    /// Monotonic milliseconds.
    pub now_ms: f64,
    /// The server's mode.
    pub mode: Mode,
    /// The database, if this process has opened one.
    pub db: Result<&'a Db, Fault>,
    /// The root whose skills are counted.
    pub skills_root: &'a str,
}

/// Makes the report of this moment.
pub fn report(moment: &Moment<'_>) -> ServerHealthOutput {
    let facts = moment.facts;
    let (status, probe) = look(moment);
    let degraded = !moment.call.ready || matches!(status, DatabaseStatus::Error(_));
    ServerHealthOutput {
        status: if degraded { ServerHealthOutputStatus::Degraded } else { ServerHealthOutputStatus::Ok },
        version: facts.version.clone(),
        uptime_ms: facts.uptime_ms(moment.now_ms),
        db_tables: probe.as_ref().map_or(0, |probe| probe.facts.tables),
        phase: match facts.phase {
            Phase::Phase1 => ServerHealthOutputPhase::Phase1,
            Phase::Phase2 => ServerHealthOutputPhase::Phase2,
        },
        mode: published_mode(moment.mode),
        skill_count: probe.as_ref().map_or(0, |probe| probe.skills),
        database: database(moment, status, probe),
        middleware: middleware(moment.call),
        tool_count: count(facts.tool_count),
        admitted_tool_count: count(facts.admitted_tool_count),
        capabilities: capabilities(moment.mode),
    }
}

/// Returns the state of the database, and the result of the probe if it is open.
fn look(moment: &Moment<'_>) -> (DatabaseStatus, Option<Probe>) {
    match &moment.facts.database.status {
        DatabaseStatus::Open => match moment.db.clone().and_then(|db| probe(db, moment.skills_root)) {
            Ok(probe) => (DatabaseStatus::Open, Some(probe)),
            Err(fault) => (DatabaseStatus::Error(fault.to_string()), None),
        },
        other => (other.clone(), None),
    }
}

fn database(moment: &Moment<'_>, status: DatabaseStatus, probe: Option<Probe>) -> ServerHealthOutputDatabase {
    let state = &moment.facts.database;
    let starting = (!moment.call.ready).then(|| STARTING.to_owned());
    let (status, error) = match status {
        DatabaseStatus::Opening => (ServerHealthOutputDatabaseStatus::Opening, starting),
        DatabaseStatus::Open => (ServerHealthOutputDatabaseStatus::Open, starting),
        DatabaseStatus::Skipped => (ServerHealthOutputDatabaseStatus::Skipped, starting),
        DatabaseStatus::Error(text) => (ServerHealthOutputDatabaseStatus::Error, Some(text)),
    };
    ServerHealthOutputDatabase {
        status,
        path: state.path.clone(),
        read_only: state.read_only,
        schema_version: probe.as_ref().map_or(0, |probe| probe.facts.schema_version),
        journal_mode: probe.and_then(|probe| probe.facts.journal_mode),
        latest_schema_version: i64::from(state.latest_schema_version),
        error,
    }
}

fn middleware(call: CallStatus) -> ServerHealthOutputMiddleware {
    ServerHealthOutputMiddleware {
        ready: call.ready,
        stages: STAGES.map(str::to_owned).to_vec(),
        audit_sink: sink(call.audit_sink),
        last_sequence_no: call.sequence_no,
        exit_failures: i64::try_from(call.exit_failures).unwrap_or(i64::MAX),
        queue_depth: count(call.queue_depth),
    }
}

/// Returns the published word for the sink. An unknown word means an embedder's own sink.
fn sink(kind: &str) -> ServerHealthOutputMiddlewareAuditSink {
    kind.parse().unwrap_or(ServerHealthOutputMiddlewareAuditSink::Custom)
}

fn capabilities(mode: Mode) -> ServerHealthOutputCapabilities {
    let capabilities = capabilities_for(mode);
    ServerHealthOutputCapabilities {
        can_write_database: capabilities.write_database,
        can_accept_mcp_connections: capabilities.accept_mcp_connections,
        can_dispatch_external_io: capabilities.dispatch_external_io,
        can_run_integration_tests: capabilities.run_integration_tests,
    }
}

/// Converts a count to the catalogue's integer type.
fn count(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
