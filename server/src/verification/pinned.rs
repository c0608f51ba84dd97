//! Compares a checkpoint, which an auditor kept outside the file, with the results of a run over the file.

use colibri_proof::checkpoint::{Checkpoint, RecordsPin, ReputationPin};

use super::run::Run;
use colibri_store::log::verify::{LogEnd, enter_hash};
use colibri_store::walk::Stop;

/// The check name for findings against a checkpoint.
pub const NAME: &str = "checkpoint";

/// Compares the log's row that was the last one at the checkpoint.
pub fn compare_log_row(checkpoint: &Checkpoint, run: &mut Run<'_>, exit_no: i64, row_hash: &str) {
    if exit_no == checkpoint.log.last_exit_no && row_hash != checkpoint.log.last_row_hash.as_str() {
        run.found_against(NAME, "LOG_REWRITTEN", || {
            let message = format!(
                "the log up to exit_no {exit_no} differs from the checkpoint: its hash is {row_hash}, not {}",
                checkpoint.log.last_row_hash.as_str()
            );
            (format!("actions exit_no {exit_no}"), message)
        });
    }
}

/// Compares the log's end, and the calls that were running at the checkpoint.
///
/// # Errors
/// The engine's error.
pub fn compare_log_end(checkpoint: &Checkpoint, run: &mut Run<'_>, end: &LogEnd) -> Result<(), Stop> {
    let (then, now) = (&checkpoint.log, (end.last_sequence_no, end.last_exit_no));
    if now.0 < then.last_sequence_no || now.1 < then.last_exit_no {
        run.found_against(NAME, "LOG_CUT", || {
            let message = format!(
                "the log ends at sequence_no {} and exit_no {}, before the checkpoint's {} and {}",
                now.0, now.1, then.last_sequence_no, then.last_exit_no
            );
            ("actions".to_owned(), message)
        });
    }
    for open in &checkpoint.open_calls {
        // An unreadable row counts as missing.
        if enter_hash(run.db, open.sequence_no).ok().flatten() != Some(open.enter_hash) {
            run.found_against(NAME, "CALL_CHANGED", || {
                let subject = format!("actions {}", open.sequence_no);
                let message = format!("{subject} was running at the checkpoint and is a different call now");
                (subject, message)
            });
        }
    }
    Ok(())
}

/// Compares the records up to the checkpoint with the stored ones.
pub fn compare_records(checkpoint: &Checkpoint, run: &mut Run<'_>, now: &RecordsPin) {
    if *now != checkpoint.records {
        run.found_against(NAME, "RECORDS_CHANGED", || {
            let then = &checkpoint.records;
            let message = format!(
                "the thought records up to seq {} differ from the checkpoint ({} now, {} then)",
                then.last_seq, now.count, then.count
            );
            ("thought_records".to_owned(), message)
        });
    }
}

/// Compares the tree heads: their present number, and the hash of the head that was the last at the checkpoint.
pub fn compare_heads(checkpoint: &Checkpoint, run: &mut Run<'_>, count: i64, hash_then: Option<&str>) {
    let then = &checkpoint.tree_heads;
    let kept = then.count == 0 || hash_then == Some(then.last_head_hash.as_str());
    if count < then.count || !kept {
        run.found_against(NAME, "HEADS_CHANGED", || {
            let message =
                format!("the first {} tree heads differ from the checkpoint ({count} now)", then.count);
            (format!("tree_heads {}", then.count.saturating_sub(1)), message)
        });
    }
}

/// Compares the ledger and the tokens up to the checkpoint with the stored ones.
pub fn compare_reputation(checkpoint: &Checkpoint, run: &mut Run<'_>, now: &ReputationPin) {
    let then = &checkpoint.reputation;
    if (now.entries, now.digest) != (then.entries, then.digest) {
        run.found_against(NAME, "LEDGER_CHANGED", || {
            let message = format!(
                "the first {} entries of the reputation ledger, or its clock, differ from the checkpoint \
                 ({} now)",
                then.entries, now.entries
            );
            ("reputation_ledger".to_owned(), message)
        });
    }
    if now.tokens != then.tokens {
        run.found_against(NAME, "TOKENS_CHANGED", || {
            let message = format!(
                "the first {} experience tokens differ from the checkpoint ({} now)",
                then.tokens.count, now.tokens.count
            );
            ("experience_tokens".to_owned(), message)
        });
    }
}
