//! Rows of `actions`: what is stored, what is refused, what is hashed (chain#audit-row).

use colibri_canonical::{NumberRule, canonical_json};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use colibri_canonical::HexDigest;
use colibri_proof::log_row::ClosedRow;

#[test]
fn numbers_run_from_1_and_every_call_has_two_events() {
    let place = Place::new();
    let mut store = place.store();
    for expected in 1..=7 {
        assert_eq!(call(&mut store, "any_tool"), expected);
    }
    let conn = conn(&mut store);
    assert_eq!(
        text(conn, "SELECT group_concat(sequence_no) FROM actions WHERE outcome = 'ok'"),
        "1,2,3,4,5,6,7"
    );
    assert_eq!(number(conn, "SELECT count(*) FROM action_events"), 14);
    let sides = "SELECT count(*) FROM (SELECT sequence_no FROM action_events GROUP BY sequence_no \
                 HAVING sum(event = 'enter' AND outcome = 'running') = 1 AND sum(event = 'exit' AND outcome = 'ok') = 1)";
    assert_eq!(number(conn, sides), 7);
    let report = verify(&place.path());
    assert_sound(&report, 7, 0);
}

#[test]
fn a_row_is_stored_as_the_chapter_lists_it() {
    let place = Place::new();
    let mut store = place.store();
    call(&mut store, "any_tool");
    let row = "SELECT json_array(request_id, tool, mode, args_hash, trace_context, entered_at, enter_ms, outcome, \
               error_code, result_hash, duration_ms, exited_at, exit_no, prev_hash) FROM actions";
    let stored: Value = serde_json::from_str(&text(conn(&mut store), row)).unwrap();
    assert_eq!(
        stored,
        // Entered at 100.2 with the boot at 90.5: floor(9.7).
        json!([
            "\"call-1\"",
            "any_tool",
            "FULL",
            "a".repeat(64),
            null,
            NOW,
            9,
            "ok",
            null,
            "b".repeat(64),
            5,
            "2026-05-01T10:00:00.005Z",
            1,
            "0".repeat(64)
        ])
    );
}

#[test]
fn a_row_names_what_its_call_changed_only_if_the_call_succeeded() {
    let place = Place::new();
    let mut store = place.store();
    for outcome in [RowOutcome::Ok, RowOutcome::DomainError, RowOutcome::Ok] {
        store.begin(Access::Write).unwrap();
        let sequence_no = enter(&mut store, "any_tool").unwrap();
        // The third call has no subject: that of the second must not stick to it.
        if sequence_no < 3 {
            store.cx().set_subject("row-1");
        }
        exit(&mut store, sequence_no, outcome).unwrap();
        store.commit().unwrap();
        store.leave_queue();
    }
    let subjects = "SELECT group_concat(coalesce(subject, '-')) FROM actions";
    assert_eq!(text(conn(&mut store), subjects), "row-1,-,-");
    drop(store);
    assert_sound(&verify(&place.path()), 3, 0);
}

#[test]
fn rows_are_append_only_and_closed_once() {
    let place = Place::new();
    let mut store = place.store();
    call(&mut store, "any_tool");
    leave_running(&mut store);
    let insert = "INSERT INTO actions (sequence_no, correlation_id, boot_id, tool, mode, args_hash, entered_at, \
                  enter_ms, outcome) VALUES (9, hex(randomblob(18)), (SELECT boot_id FROM callers), 't', 'FULL', \
                  hex(randomblob(32)), '', 0, ";
    for (sql, expected) in [
        (format!("{insert} 'ok')"), "actions rows start as running"),
        ("UPDATE actions SET error_message = 'x' WHERE sequence_no = 1".into(), "actions row already closed"),
        ("UPDATE actions SET tool = 'x' WHERE sequence_no = 1".into(), "actions row already closed"),
        ("UPDATE actions SET error_message = 'x' WHERE sequence_no = 2".into(), "actions row already closed"),
        ("UPDATE actions SET tool = 'x' WHERE sequence_no = 2".into(), "actions enter fields are immutable"),
        (
            "UPDATE actions SET request_id = NULL WHERE sequence_no = 2".into(),
            "actions enter fields are immutable",
        ),
        (
            "UPDATE actions SET sequence_no = 3 WHERE sequence_no = 2".into(),
            "actions enter fields are immutable",
        ),
        ("DELETE FROM actions WHERE sequence_no = 1".into(), "actions is append-only"),
        ("DELETE FROM actions WHERE sequence_no = 2".into(), "actions is append-only"),
        (insert.replace("INSERT", "REPLACE").replace("(9,", "(1,") + "'running')", "actions is append-only"),
    ] {
        let error = conn(&mut store).execute_batch(&sql).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{sql}: {error}");
    }
    // The same insert is fine when it starts as it must.
    conn(&mut store).execute_batch(&format!("{insert} 'running')")).unwrap();
}

#[test]
fn what_is_null_follows_from_the_outcome() {
    let place = Place::new();
    let mut store = place.store();
    for outcome in [
        RowOutcome::Ok,
        RowOutcome::DomainError,
        RowOutcome::Error,
        RowOutcome::Invalid,
        RowOutcome::Denied,
        RowOutcome::Aborted,
    ] {
        store.begin(Access::Write).unwrap();
        let sequence_no = enter(&mut store, "any_tool").unwrap();
        exit(&mut store, sequence_no, outcome).unwrap();
        store.commit().unwrap();
        store.leave_queue();
        let nulls = text(
            conn(&mut store),
            "SELECT outcome || (error_code IS NULL) || (result_hash IS NULL) || (duration_ms IS NULL) \
             FROM actions ORDER BY sequence_no DESC LIMIT 1",
        );
        let expected = match outcome {
            RowOutcome::Ok => "100",
            RowOutcome::Aborted => "011",
            _ => "000",
        };
        assert_eq!(nulls, format!("{}{expected}", outcome.as_str()));
    }
    assert_sound(&verify(&place.path()), 6, 0);
}

#[test]
fn a_row_that_breaks_a_rule_is_not_closed() {
    let place = Place::new();
    let mut store = place.store();
    store.begin(Access::Write).unwrap();
    let sequence_no = enter(&mut store, "any_tool").unwrap();
    let bad = ExitEvent {
        tool: "any_tool",
        correlation_id: "",
        duration_ms: 5,
        result: None,
        error: None,
        outcome: RowOutcome::Error,
        error_code: None,
        error_message: None,
        result_hash: Some("short"),
        exited_at: NOW,
    };
    assert!(store.audit_exit(sequence_no, &entered("any_tool"), &bad).unwrap_err().0.contains("constraint"));
    assert!(store.in_transaction());
    exit(&mut store, sequence_no, RowOutcome::Error).unwrap();
    store.commit().unwrap();
    store.leave_queue();
    assert_sound(&verify(&place.path()), 1, 0);
}

fn golden() -> ClosedRow<'static> {
    ClosedRow {
        args_hash: "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
        boot_id: "00000000-0000-4000-8000-000000000001",
        correlation_id: "00000000-0000-4000-8000-000000000002",
        duration_ms: Some(5),
        enter_ms: 9,
        entered_at: NOW,
        error_code: Some("ERR_NOT_FOUND"),
        error_message: Some("task not found: \"é\"\n\u{1}\u{7f}"),
        exit_no: 1,
        exited_at: "2026-05-01T10:00:00.005Z",
        mode: "FULL",
        outcome: "domain_error",
        prev_hash: "0000000000000000000000000000000000000000000000000000000000000000",
        request_id: Some("\"call-1\""),
        result_hash: Some("14601b8963ddd8ea81789d7cf93c9839bbaedf0c778474c13e3d6332546c802c"),
        sequence_no: 3,
        subject: None,
        tool: "task_get",
        trace_context: None,
    }
}

/// The digest was computed with Python: `sha256(json.dumps(row, sort_keys=True, separators=(",", ":"),
/// ensure_ascii=False))`.
#[test]
fn the_row_hash_has_its_golden_value() {
    assert_eq!(golden().hash().as_str(), "bad656d9dd6cfe9051158cda0d80b8743cf63a9e1ad236266af5c4c242409351");
    let next = ClosedRow {
        prev_hash: "bad656d9dd6cfe9051158cda0d80b8743cf63a9e1ad236266af5c4c242409351",
        exit_no: 2,
        sequence_no: 4,
        outcome: "ok",
        error_code: None,
        error_message: None,
        subject: Some("019aa8c1-7d10-7b3e-8c11-0a4f5d2f9c01"),
        ..golden()
    };
    assert_eq!(next.hash().as_str(), "533772922eb421034564ccc27d27e0675936cf9689da878e28c22b9360f6b290");
}

proptest! {
    #[test]
    fn the_row_encoder_agrees_with_the_projects_canonical_json(
        tool in any::<String>(),
        message in proptest::option::of(any::<String>()),
        subject in proptest::option::of(any::<String>()),
        duration_ms in proptest::option::of(any::<i64>()),
        enter_ms in any::<i64>(),
    ) {
        let row = ClosedRow {
            tool: &tool,
            error_message: message.as_deref(),
            subject: subject.as_deref(),
            duration_ms,
            enter_ms,
            ..golden()
        };
        let value = json!({
            "sequence_no": row.sequence_no, "correlation_id": row.correlation_id, "boot_id": row.boot_id,
            "request_id": row.request_id, "tool": row.tool, "mode": row.mode, "args_hash": row.args_hash,
            "trace_context": row.trace_context, "entered_at": row.entered_at, "enter_ms": row.enter_ms,
            "outcome": row.outcome, "error_code": row.error_code, "error_message": row.error_message,
            "result_hash": row.result_hash, "duration_ms": row.duration_ms, "exited_at": row.exited_at,
            "exit_no": row.exit_no, "prev_hash": row.prev_hash, "subject": row.subject,
        });
        let canonical = canonical_json(&value, NumberRule::Wire).unwrap();
        prop_assert_eq!(&String::from_utf8(row.canonical()).unwrap(), &canonical);
        prop_assert_eq!(row.hash(), HexDigest::of(canonical.as_bytes()));
    }
}
