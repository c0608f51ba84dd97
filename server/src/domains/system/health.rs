//! The health report: the context's facts and a probe of the database. A database that does not answer
//! makes the report say so; it never makes the call fail.

use colibri_runtime::handler::{CallStatus, STAGES};

use super::published_mode;
use super::store::{Probe, probe};
use crate::catalogue::{
    ServerHealthOutput, ServerHealthOutputCapabilities, ServerHealthOutputDatabase,
    ServerHealthOutputDatabaseStatus, ServerHealthOutputMiddleware, ServerHealthOutputMiddlewareAuditSink,
    ServerHealthOutputPhase, ServerHealthOutputStatus,
};
use crate::context::Cx;
use crate::domains::system::facts::{DatabaseStatus, Phase};
use crate::settings::mode::{Mode, capabilities_for};

/// Why a report from before the end of the start is degraded.
const STARTING: &str = "the server is still starting; ask again";

/// The report of this moment.
pub fn report(cx: &Cx) -> ServerHealthOutput {
    let facts = cx.facts();
    let (status, probe) = look(cx);
    let degraded = !cx.status().ready || matches!(status, DatabaseStatus::Error(_));
    ServerHealthOutput {
        status: if degraded { ServerHealthOutputStatus::Degraded } else { ServerHealthOutputStatus::Ok },
        version: facts.version.clone(),
        uptime_ms: facts.uptime_ms(cx.monotonic_ms()),
        db_tables: probe.as_ref().map_or(0, |probe| probe.tables),
        phase: match facts.phase {
            Phase::Phase1 => ServerHealthOutputPhase::Phase1,
            Phase::Phase2 => ServerHealthOutputPhase::Phase2,
        },
        mode: published_mode(cx.config().mode),
        skill_count: probe.as_ref().map_or(0, |probe| probe.skills),
        database: database(cx, status, probe),
        middleware: middleware(cx.status()),
        tool_count: count(facts.tool_count),
        admitted_tool_count: count(facts.admitted_tool_count),
        capabilities: capabilities(cx.config().mode),
    }
}

/// What became of the database by now, and what the probe found if it is open.
fn look(cx: &Cx) -> (DatabaseStatus, Option<Probe>) {
    match &cx.facts().database.status {
        DatabaseStatus::Open => match cx.db().and_then(|db| probe(db, cx.skills_root())) {
            Ok(probe) => (DatabaseStatus::Open, Some(probe)),
            Err(fault) => (DatabaseStatus::Error(fault.to_string()), None),
        },
        other => (other.clone(), None),
    }
}

fn database(cx: &Cx, status: DatabaseStatus, probe: Option<Probe>) -> ServerHealthOutputDatabase {
    let state = &cx.facts().database;
    let starting = (!cx.status().ready).then(|| STARTING.to_owned());
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
        schema_version: probe.as_ref().map_or(0, |probe| probe.schema_version),
        journal_mode: probe.map(|probe| probe.journal_mode),
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

/// The published word for the sink; a word the catalogue does not know is an embedder's own sink.
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

/// A count as the catalogue's integers have it.
fn count(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
