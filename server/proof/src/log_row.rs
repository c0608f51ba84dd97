//! The columns that a closed row's `row_hash` covers: the canonical JSON (RFC 8785, number rule `wire`) of every
//! column but `row_hash` itself (chain#audit-row, chain#hashes). Pure.

use colibri_canonical::HexDigest;
use colibri_canonical::object::{number, text};

/// A closed row of `actions`, in the order of its canonical keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // The columns of chain#audit-row, under their names.
pub struct ClosedRow<'a> {
    pub args_hash: &'a str,
    pub boot_id: &'a str,
    pub correlation_id: &'a str,
    pub duration_ms: Option<i64>,
    pub enter_ms: i64,
    pub entered_at: &'a str,
    pub error_code: Option<&'a str>,
    pub error_message: Option<&'a str>,
    pub exit_no: i64,
    pub exited_at: &'a str,
    pub mode: &'a str,
    pub outcome: &'a str,
    pub prev_hash: &'a str,
    pub request_id: Option<&'a str>,
    pub result_hash: Option<&'a str>,
    pub sequence_no: i64,
    pub subject: Option<&'a str>,
    pub tool: &'a str,
    pub trace_context: Option<&'a str>,
}

/// The columns of a call's row from its start on, which may never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // The columns of chain#audit-row, under their names.
pub struct OpenRow<'a> {
    pub args_hash: &'a str,
    pub boot_id: &'a str,
    pub correlation_id: &'a str,
    pub enter_ms: i64,
    pub entered_at: &'a str,
    pub mode: &'a str,
    pub request_id: Option<&'a str>,
    pub sequence_no: i64,
    pub tool: &'a str,
    pub trace_context: Option<&'a str>,
}

impl OpenRow<'_> {
    /// Returns what a checkpoint keeps of a running call: SHA-256 of the canonical JSON of these columns.
    pub fn hash(&self) -> HexDigest {
        let mut out = Vec::with_capacity(512);
        text(&mut out, b"{\"args_hash\":", Some(self.args_hash));
        text(&mut out, b",\"boot_id\":", Some(self.boot_id));
        text(&mut out, b",\"correlation_id\":", Some(self.correlation_id));
        number(&mut out, b",\"enter_ms\":", Some(self.enter_ms));
        text(&mut out, b",\"entered_at\":", Some(self.entered_at));
        text(&mut out, b",\"mode\":", Some(self.mode));
        text(&mut out, b",\"request_id\":", self.request_id);
        number(&mut out, b",\"sequence_no\":", Some(self.sequence_no));
        text(&mut out, b",\"tool\":", Some(self.tool));
        text(&mut out, b",\"trace_context\":", self.trace_context);
        out.push(b'}');
        HexDigest::of(&out)
    }
}

impl ClosedRow<'_> {
    /// Returns how many bytes its texts have, by column.
    pub fn lengths(&self) -> [(&'static str, usize); 14] {
        let length = |text: Option<&str>| text.map_or(0, str::len);
        [
            ("args_hash", self.args_hash.len()),
            ("boot_id", self.boot_id.len()),
            ("correlation_id", self.correlation_id.len()),
            ("entered_at", self.entered_at.len()),
            ("error_code", length(self.error_code)),
            ("error_message", length(self.error_message)),
            ("exited_at", self.exited_at.len()),
            ("outcome", self.outcome.len()),
            ("prev_hash", self.prev_hash.len()),
            ("request_id", length(self.request_id)),
            ("result_hash", length(self.result_hash)),
            ("subject", length(self.subject)),
            ("tool", self.tool.len()),
            ("trace_context", length(self.trace_context)),
        ]
    }

    /// Returns the row's hash.
    pub fn hash(&self) -> HexDigest {
        HexDigest::of(&self.canonical())
    }

    /// Returns the bytes that are hashed. The keys below are sorted already, which saves the general encoder's map;
    /// a test compares the two.
    pub fn canonical(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(1024);
        text(&mut out, b"{\"args_hash\":", Some(self.args_hash));
        text(&mut out, b",\"boot_id\":", Some(self.boot_id));
        text(&mut out, b",\"correlation_id\":", Some(self.correlation_id));
        number(&mut out, b",\"duration_ms\":", self.duration_ms);
        number(&mut out, b",\"enter_ms\":", Some(self.enter_ms));
        text(&mut out, b",\"entered_at\":", Some(self.entered_at));
        text(&mut out, b",\"error_code\":", self.error_code);
        text(&mut out, b",\"error_message\":", self.error_message);
        number(&mut out, b",\"exit_no\":", Some(self.exit_no));
        text(&mut out, b",\"exited_at\":", Some(self.exited_at));
        text(&mut out, b",\"mode\":", Some(self.mode));
        text(&mut out, b",\"outcome\":", Some(self.outcome));
        text(&mut out, b",\"prev_hash\":", Some(self.prev_hash));
        text(&mut out, b",\"request_id\":", self.request_id);
        text(&mut out, b",\"result_hash\":", self.result_hash);
        number(&mut out, b",\"sequence_no\":", Some(self.sequence_no));
        text(&mut out, b",\"subject\":", self.subject);
        text(&mut out, b",\"tool\":", Some(self.tool));
        text(&mut out, b",\"trace_context\":", self.trace_context);
        out.push(b'}');
        out
    }
}
