//! Handlers that write and fail, wait, scan and panic, on the real store.

#![allow(missing_docs, clippy::panic)]

use colibri_store::params;
use std::time::{Duration, Instant};

use colibri::domains::callers::Asserted;
use colibri::tools::callers::begin_caller;
use colibri::tools::cx::{Cx, NetworkCx, ScanCx};
use colibri::tools::notes::add_note;
use colibri_runtime::chain::Interrupt;
use colibri_runtime::handler::{Fault, NetworkOutcome, Outcome};
use colibri_store::db::Db;

use crate::engine::is_postgres;

include!(concat!(env!("OUT_DIR"), "/catalogue.rs"));

/// The handlers.
pub struct Probe;

/// The table that [`Probe`] writes. A shared database has it from its template: a server may create nothing there.
pub fn table() -> &'static str {
    let shared = is_postgres() || std::env::var_os("COLIBRI_DATABASE_URL").is_some();
    if shared { "public.probe" } else { "probe" }
}

/// Creates the table that [`Probe`] writes.
///
/// # Errors
/// The store's.
pub fn prepare(db: &Db) -> Result<(), Fault> {
    if table() != "probe" {
        return Ok(());
    }
    db.execute("CREATE TABLE IF NOT EXISTS probe (key TEXT PRIMARY KEY, value BLOB NOT NULL)", &[]).map(drop)
}

fn rows(db: &Db) -> Result<i64, Fault> {
    db.query_one(&format!("SELECT count(*) FROM {}", table()), &[], |row| row.get(0))
}

fn milliseconds(ms: i64) -> Duration {
    Duration::from_millis(ms.unsigned_abs())
}

impl Handlers<Cx> for Probe {}

impl ProbeTools<Cx> for Probe {
    fn probe_status(
        &mut self,
        cx: &mut Cx,
        _: ProbeStatusInput,
    ) -> Outcome<ProbeStatusOutput, ProbeStatusError> {
        let status = cx.status();
        Ok(ProbeStatusOutput {
            ready: status.ready,
            audit_sink: status.audit_sink.to_owned(),
            last_sequence_no: status.sequence_no,
            exit_failures: i64::try_from(status.exit_failures).unwrap_or(i64::MAX),
            queue_depth: i64::try_from(status.queue_depth).unwrap_or(i64::MAX),
        })
    }

    fn caller_begin(
        &mut self,
        cx: &mut Cx,
        input: CallerBeginInput,
    ) -> Outcome<CallerBeginOutput, CallerBeginError> {
        let CallerBeginInput { source, client_name, client_title, client_version, protocol } = input;
        let asserted = Asserted { source, client_name, client_title, client_version, protocol };
        let row = begin_caller(cx, asserted)?;
        Ok(CallerBeginOutput {
            caller_no: row.caller_no,
            boot_id: row.boot_id,
            source: row.source,
            client_name: row.client_name,
            client_title: row.client_title,
            client_version: row.client_version,
            protocol: row.protocol,
            actor: row.actor,
            os_user: row.os_user,
            host: row.host,
            pid: row.pid,
            first_seen: row.first_seen,
            sequence_no: row.sequence_no,
        })
    }

    fn call_note(&mut self, cx: &mut Cx, input: CallNoteInput) -> Outcome<CallNoteOutput, CallNoteError> {
        let body = serde_json::Value::Object(input.body.into_iter().collect());
        let row = add_note(cx, input.about, input.kind, &body)?;
        Ok(CallNoteOutput {
            note_no: row.note_no,
            about: row.about,
            kind: row.kind,
            noted_at: row.noted_at,
            body: row.body,
        })
    }

    fn probe_echo(&mut self, _: &mut Cx, input: ProbeEchoInput) -> Outcome<ProbeEchoOutput, ProbeEchoError> {
        Ok(ProbeEchoOutput { given: input.required })
    }

    fn probe_fail_a(
        &mut self,
        _: &mut Cx,
        input: ProbeFailAInput,
    ) -> Outcome<ProbeFailAOutput, ProbeFailAError> {
        Err(ProbeFailAError::RoundNotFound { round: input.round }.into())
    }

    fn probe_fail_b(&mut self, _: &mut Cx, _: ProbeFailBInput) -> Outcome<ProbeFailBOutput, ProbeFailBError> {
        Err(ProbeFailBError::ErrNotFound {}.into())
    }

    fn probe_fault(
        &mut self,
        _: &mut Cx,
        input: ProbeFaultInput,
    ) -> Outcome<ProbeFaultOutput, ProbeFaultError> {
        if input.panic {
            panic!("{}", input.text);
        }
        if input.text.is_empty() {
            return Ok(ProbeFaultOutput {});
        }
        Err(Fault::Other(input.text).into())
    }

    fn probe_write(
        &mut self,
        cx: &mut Cx,
        input: ProbeWriteInput,
    ) -> Outcome<ProbeWriteOutput, ProbeWriteError> {
        let value = vec![7_u8; usize::try_from(input.bytes).unwrap_or(0)];
        let sql = format!("INSERT INTO {} (key, value) VALUES (?1, ?2)", table());
        cx.db()?.execute(&sql, params![&input.key, value])?;
        match input.then {
            ProbeWriteInputThen::Ok => Ok(ProbeWriteOutput { rows: rows(cx.db()?)? }),
            ProbeWriteInputThen::Error => Err(ProbeWriteError::ErrAskedFor { key: input.key }.into()),
            ProbeWriteInputThen::Fault => Err(Fault::Other(input.key).into()),
            ProbeWriteInputThen::Panic => panic!("as asked"),
        }
    }

    fn probe_sleep(
        &mut self,
        _: &mut Cx,
        input: ProbeSleepInput,
    ) -> Outcome<ProbeSleepOutput, ProbeSleepError> {
        std::thread::sleep(milliseconds(input.ms));
        Ok(ProbeSleepOutput {})
    }

    fn probe_network(
        &mut self,
        _: NetworkCx,
        input: ProbeNetworkInput,
    ) -> NetworkOutcome<ProbeNetworkOutput, ProbeNetworkError> {
        Box::pin(async move {
            tokio::time::sleep(milliseconds(input.ms)).await;
            match input.then {
                ProbeNetworkInputThen::Ok => Ok(ProbeNetworkOutput { waited_ms: input.ms }),
                ProbeNetworkInputThen::Fault => Err(Fault::Other("nobody answers".to_owned()).into()),
                ProbeNetworkInputThen::Panic => panic!("as asked"),
            }
        })
    }

    fn probe_scan(
        cx: &mut ScanCx,
        interrupt: &Interrupt,
        input: ProbeScanInput,
    ) -> Outcome<ProbeScanOutput, ProbeScanError> {
        let until = Instant::now() + milliseconds(input.ms);
        while Instant::now() < until && !interrupt.is_raised() {
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(ProbeScanOutput { rows: rows(cx.db())?, interrupted: interrupt.is_raised() })
    }

    fn probe_secret(
        &mut self,
        _: &mut Cx,
        _: ProbeSecretInput,
    ) -> Outcome<ProbeSecretOutput, ProbeSecretError> {
        Ok(ProbeSecretOutput {})
    }
}
