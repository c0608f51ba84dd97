//! Audit events, and the sinks that receive them outside the store's transaction (chain#audit-sinks).

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use serde_json::Value;

use crate::chain::client::Client;

/// How a call ended (chain#outcomes).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowOutcome {
    /// Success.
    Ok,
    /// A Pattern B error.
    DomainError,
    /// A failed handler.
    Error,
    /// Refused by stage 2.
    Invalid,
    /// Unknown tool, or not admitted.
    Denied,
    /// A network call cancelled in flight.
    Aborted,
}

impl RowOutcome {
    /// Returns the text stored in the row.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::DomainError => "domain_error",
            Self::Error => "error",
            Self::Invalid => "invalid",
            Self::Denied => "denied",
            Self::Aborted => "aborted",
        }
    }
}

/// A call has reached stage 3.
#[derive(Debug, Clone, PartialEq, Copy)]
pub struct EnterEvent<'a> {
    /// The name that was called, at most 128 characters.
    pub tool: &'a str,
    /// Typed arguments when valid, the raw ones otherwise, with `sensitive` values replaced.
    pub args: &'a Value,
    /// Monotonic milliseconds.
    pub timestamp: f64,
    /// UUID v4, joins enter and exit.
    pub correlation_id: &'a str,
    /// JSON text of the JSON-RPC id.
    pub request_id: Option<&'a str>,
    /// SHA-256 (hex) of the canonical arguments as received.
    pub args_hash: &'a str,
    /// Canonical JSON of the request's trace headers.
    pub trace_context: Option<&'a str>,
    /// Wall clock, RFC 3339 with milliseconds.
    pub entered_at: &'a str,
    /// Who the call says it comes from.
    pub client: &'a Client,
}

/// A call has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct ExitEvent<'a> {
    /// As in the enter event.
    pub tool: &'a str,
    /// As in the enter event.
    pub correlation_id: &'a str,
    /// Whole milliseconds since the call's own enter event.
    pub duration_ms: i64,
    /// The payload, for sinks outside the store; present there exactly when the call has no error.
    pub result: Option<&'a Value>,
    /// Code and message; present exactly on failure.
    pub error: Option<(&'a str, &'a str)>,
    /// How the row is closed.
    pub outcome: RowOutcome,
    /// The code stored beside the outcome. Also set for Pattern B errors, whose `error` is absent.
    pub error_code: Option<&'a str>,
    /// The message stored in the row, at most 500 characters.
    pub error_message: Option<&'a str>,
    /// SHA-256 (hex) of the canonical envelope; `None` when nothing was sent.
    pub result_hash: Option<&'a str>,
    /// Wall clock, RFC 3339 with milliseconds.
    pub exited_at: &'a str,
}

/// What a sink's method returns: the result, or a future to await.
pub enum SinkResult<'a> {
    /// Finished.
    Ready(Result<(), String>),
    /// To be awaited by the chain.
    Pending(Pin<Box<dyn Future<Output = Result<(), String>> + 'a>>),
}

/// An audit sink outside the store's transaction (chain#audit-sinks). The chain awaits both methods and
/// passes it the calls one by one.
pub trait AuditSink {
    /// The word a health report shows for it.
    fn kind(&self) -> &'static str {
        "custom"
    }
    /// A call has been admitted to the log.
    fn enter<'a>(&'a mut self, event: &'a EnterEvent<'a>) -> SinkResult<'a>;
    /// A call has ended.
    fn exit<'a>(&'a mut self, event: &'a ExitEvent<'a>) -> SinkResult<'a>;
    /// Returns the sequence number it gave to the last entered call, if it counts.
    fn last_sequence_no(&self) -> Option<i64> {
        None
    }
}

impl SinkResult<'_> {
    /// Awaits the result.
    pub(super) async fn finished(self) -> Result<(), String> {
        match self {
            Self::Ready(result) => result,
            Self::Pending(future) => future.await,
        }
    }
}

/// A sink that keeps nothing.
#[derive(Debug, Default)]
pub struct NoOpSink;

impl AuditSink for NoOpSink {
    fn kind(&self) -> &'static str {
        "noop"
    }
    fn enter<'a>(&'a mut self, _: &'a EnterEvent<'a>) -> SinkResult<'a> {
        SinkResult::Ready(Ok(()))
    }
    fn exit<'a>(&'a mut self, _: &'a ExitEvent<'a>) -> SinkResult<'a> {
        SinkResult::Ready(Ok(()))
    }
}

/// A closed or running call in the [`MemorySink`]: the columns of the table, as texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryRow {
    /// 1, 2, 3, … in this process.
    pub sequence_no: i64,
    /// The tool's name.
    pub tool: String,
    /// UUID v4.
    pub correlation_id: String,
    /// SHA-256 (hex) of the canonical arguments.
    pub args_hash: String,
    /// `None` while running.
    pub outcome: Option<RowOutcome>,
    /// The code, if it failed.
    pub error_code: Option<String>,
    /// SHA-256 (hex) of the canonical envelope.
    pub result_hash: Option<String>,
    /// Whole milliseconds.
    pub duration_ms: Option<i64>,
}

impl MemoryRow {
    /// A running row.
    pub(crate) fn entered(sequence_no: i64, event: &EnterEvent<'_>) -> Self {
        Self {
            sequence_no,
            tool: event.tool.to_owned(),
            correlation_id: event.correlation_id.to_owned(),
            args_hash: event.args_hash.to_owned(),
            outcome: None,
            error_code: None,
            result_hash: None,
            duration_ms: None,
        }
    }

    /// Removes the exit half again.
    pub(crate) fn reopen(&mut self) {
        self.outcome = None;
        self.error_code = None;
        self.result_hash = None;
        self.duration_ms = None;
    }

    /// Fills in the exit half.
    pub(crate) fn close(&mut self, event: &ExitEvent<'_>) {
        self.outcome = Some(event.outcome);
        self.error_code = event.error_code.map(str::to_owned);
        self.result_hash = event.result_hash.map(str::to_owned);
        self.duration_ms = Some(event.duration_ms);
    }
}

/// How many calls the memory sink remembers (chain#audit-sinks).
pub(crate) const MEMORY_SINK_ROWS: usize = 10_000;

/// Remembers the last [`MEMORY_SINK_ROWS`] calls; for modes that may not write. Clones share rows.
#[derive(Debug, Clone, Default)]
pub struct MemorySink {
    rows: Rc<RefCell<VecDeque<MemoryRow>>>,
    last: i64,
}

impl MemorySink {
    /// Returns the remembered calls, oldest first.
    pub fn rows(&self) -> Vec<MemoryRow> {
        self.rows.borrow().iter().cloned().collect()
    }
}

impl AuditSink for MemorySink {
    fn kind(&self) -> &'static str {
        "memory"
    }

    fn enter<'a>(&'a mut self, event: &'a EnterEvent<'a>) -> SinkResult<'a> {
        self.last += 1;
        let mut rows = self.rows.borrow_mut();
        if rows.len() == MEMORY_SINK_ROWS {
            rows.pop_front();
        }
        rows.push_back(MemoryRow::entered(self.last, event));
        SinkResult::Ready(Ok(()))
    }

    fn exit<'a>(&'a mut self, event: &'a ExitEvent<'a>) -> SinkResult<'a> {
        let mut rows = self.rows.borrow_mut();
        // Newest first: the call that ends is almost always the last that was entered.
        if let Some(row) = rows.iter_mut().rev().find(|row| row.correlation_id == event.correlation_id) {
            row.close(event);
        }
        SinkResult::Ready(Ok(()))
    }

    fn last_sequence_no(&self) -> Option<i64> {
        (self.last > 0).then_some(self.last)
    }
}
