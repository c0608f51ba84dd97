//! Values that no call leaves in a column of the log: the table's own rules (chain#audit-row), which anyone with the file
//! can switch off, and the forms of the values. Pure.

use colibri_canonical::HexDigest;
use colibri_proof::log_row::{ClosedRow, OpenRow};

const MODES: [&str; 4] = ["FULL", "READONLY", "TEST", "MINIMAL"];
const ENDS: [&str; 6] = ["ok", "domain_error", "error", "invalid", "denied", "aborted"];
/// `YYYY-MM-DDTHH:MM:SS.mmmZ`, a zero for each digit.
const TIME: &[u8; 24] = b"0000-00-00T00:00:00.000Z";
const BOOT_ID_BYTES: std::ops::RangeInclusive<usize> = 36..=165;

/// Returns the first column of a running row with a value that no call leaves.
pub(super) fn open(row: &OpenRow<'_>) -> Option<&'static str> {
    first([
        ("correlation_id", row.correlation_id.len() == 36),
        ("boot_id", BOOT_ID_BYTES.contains(&row.boot_id.chars().count())),
        ("mode", MODES.contains(&row.mode)),
        ("args_hash", is_digest(row.args_hash)),
        ("entered_at", is_time(row.entered_at)),
        ("enter_ms", row.enter_ms >= 0),
    ])
}

/// Returns the first column of a closed row with a value that no call leaves.
pub(super) fn closed(row: &ClosedRow<'_>) -> Option<&'static str> {
    let ok = row.outcome == "ok";
    let aborted = row.outcome == "aborted";
    let entered = OpenRow {
        args_hash: row.args_hash,
        boot_id: row.boot_id,
        correlation_id: row.correlation_id,
        enter_ms: row.enter_ms,
        entered_at: row.entered_at,
        mode: row.mode,
        request_id: row.request_id,
        sequence_no: row.sequence_no,
        tool: row.tool,
        trace_context: row.trace_context,
    };
    open(&entered).or_else(|| {
        first([
            ("outcome", ENDS.contains(&row.outcome)),
            ("error_code", row.error_code.is_none() == ok),
            ("error_message", row.error_message.is_none() || !ok),
            ("result_hash", row.result_hash.is_none() == aborted && row.result_hash.is_none_or(is_digest)),
            ("duration_ms", row.duration_ms.is_none() == aborted && row.duration_ms.is_none_or(|ms| ms >= 0)),
            ("exited_at", is_time(row.exited_at)),
            ("subject", row.subject.is_none() || ok),
        ])
    })
}

fn first<const N: usize>(columns: [(&'static str, bool); N]) -> Option<&'static str> {
    columns.into_iter().find(|(_, fits)| !fits).map(|(column, _)| column)
}

fn is_digest(text: &str) -> bool {
    HexDigest::parse(text).is_some()
}

/// Checks whether a text has the form of a stored time; not whether its day exists.
fn is_time(text: &str) -> bool {
    text.len() == TIME.len()
        && text.bytes().zip(TIME).all(|(byte, form)| match form {
            b'0' => byte.is_ascii_digit(),
            other => byte == *other,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_24_characters_of_one_form() {
        assert!(is_time("2026-05-01T10:00:00.000Z"));
        for bad in ["2026-05-01T10:00:00.00Z", "2026-05-01 10:00:00.000Z", "2026-05-01T10:00:00.000z", ""] {
            assert!(!is_time(bad), "{bad}");
        }
    }
}
