//! Notes on calls: each is a whole call of the operation, and no call fails for one.

use super::*;
use crate::chain::audit::{NoOpSink, RowOutcome};
use crate::chain::foreign::{ForeignCall, ForeignEnd, Ticket};
use crate::chain::note::{About, Note, Withdrawal};

type Tested = Chain<FaultyStore, Handlers>;

/// The handler of `note`: it keeps kind and call, unless the body refuses.
pub(super) fn keep(cx: &mut MemoryCx<Data>, arguments: &Value) -> Dispatched {
    cx.data.push(format!("{} {}", arguments["kind"].as_str().unwrap(), arguments["about"]));
    match arguments["body"]["refuse"] == true {
        true => Dispatched::Fault(Fault::Storage("refused".to_owned())),
        false => Dispatched::Value(json!({})),
    }
}

fn noting(store: FaultyStore, log: Arc<dyn Log>) -> Tested {
    let mut chain = chain_over(store, Audit::Store { kind: "memory" }, Arc::new(Stopped), log);
    chain.set_notes("note", "withdrawn");
    chain
}

fn foreign() -> (ForeignCall, Option<ForeignEnd>) {
    let client = Arc::new(Client::unnamed(Source::None));
    let call = ForeignCall {
        tool: "files/a".to_owned(),
        request_id: "7".into(),
        args_hash: "0".repeat(64),
        trace_context: None,
        client,
    };
    (call, None)
}

fn done() -> ForeignEnd {
    ForeignEnd { outcome: RowOutcome::Ok, code: None, message: None, result_hash: Some("1".repeat(64)) }
}

/// An open row, and the call that notes are about.
fn passed_on(chain: &mut Tested) -> (Ticket, About) {
    let ticket = chain.exchange(Vec::new(), vec![foreign()]).calls.remove(0).unwrap().unwrap();
    let about = ticket.about().unwrap();
    (ticket, about)
}

fn note(about: &About, body: Value) -> Note {
    Note { about: about.clone(), kind: "later", body }
}

fn rows(chain: &Tested) -> Vec<(&str, Option<&'static str>)> {
    chain.store.inner.rows().map(|row| (row.tool.as_str(), row.outcome.map(RowOutcome::as_str))).collect()
}

#[test]
fn a_note_is_a_call_of_its_own_and_is_there_before_the_row_of_its_call_is_closed() {
    let mut chain = noting(FaultyStore::sound(), Arc::new(NoLog));
    let (ticket, about) = passed_on(&mut chain);
    assert_eq!((about.sequence_no, chain.has_notes()), (1, false));
    let withdrawal = Withdrawal { at: "2026-11-27T10:00:00.000Z".to_owned(), reason_hash: None };
    chain.note_withdrawn(about, &withdrawal);
    assert!(chain.has_notes());
    let before = (chain.store.begun, chain.store.synced);
    assert!(chain.exchange(vec![(ticket, done())], Vec::new()).exits[0].is_ok());
    assert_eq!(rows(&chain), [("files/a", Some("ok")), ("note", Some("ok"))]);
    assert_eq!(chain.store.inner.data(), &["withdrawn 1"]);
    assert_eq!((chain.store.begun, chain.store.synced), (before.0 + 2, before.1 + 1), "one sync for both");
    assert!(!chain.has_notes());
}

#[test]
fn a_note_that_cannot_be_written_is_lost_and_the_log_says_so() {
    // Every step of the note's transaction fails in turn, then its handler.
    for mode in [Mode::Refuse, Mode::Drop] {
        for step in 0..=4 {
            let log = Arc::new(owed::Lines::default());
            let mut chain = noting(FaultyStore { mode, ..FaultyStore::sound() }, log.clone());
            let (ticket, about) = passed_on(&mut chain);
            chain.note(note(&about, json!({ "refuse": step == 4 })));
            let first = chain.store.step + step;
            chain.store.fails = if step < 4 { vec![first..first + 1] } else { Vec::new() };
            assert!(chain.exchange(vec![(ticket, done())], Vec::new()).exits[0].is_ok(), "step {step}");
            assert_eq!(rows(&chain), [("files/a", Some("ok"))], "step {step}, {mode:?}");
            assert!(chain.store.inner.data().is_empty() && !chain.has_notes());
            let reason = if step == 4 { "STORAGE: refused" } else { "the disk is full" };
            assert!(log.hold(&format!("[audit] the note later on call 1 is lost: {reason}")), "step {step}");
        }
    }
}

#[tokio::test]
async fn notes_are_written_without_a_call_and_at_the_end() {
    let mut chain = noting(FaultyStore::sound(), Arc::new(NoLog));
    let (_open, about) = passed_on(&mut chain);
    chain.note(note(&about, json!({})));
    chain.note(note(&about, json!({ "refuse": true })));
    let synced = chain.store.synced;
    chain.write_notes();
    assert_eq!(chain.store.synced, synced + 1);
    assert_eq!(rows(&chain), [("files/a", None), ("note", Some("ok"))]);
    chain.note(note(&about, json!({})));
    chain.close_pending();
    assert_eq!(rows(&chain)[1..], [("note", Some("ok")); 2]);
    assert_eq!(chain.store.inner.data().len(), 2);
}

#[test]
fn without_the_operation_or_beside_another_sink_no_note_is_kept() {
    let mut without = chain(FaultyStore::sound());
    let (_open, about) = passed_on(&mut without);
    without.note(note(&about, json!({})));
    assert!(!without.has_notes());
    without.write_notes();
    assert_eq!(rows(&without).len(), 1);
    let mut elsewhere = chain_with(FaultyStore::sound(), Audit::Sink(Box::new(NoOpSink)));
    elsewhere.set_notes("note", "withdrawn");
    elsewhere.note(note(&about, json!({})));
    assert!(!elsewhere.has_notes());
}

#[tokio::test]
async fn calls_beside_the_loop_and_calls_that_wait_can_be_noted() {
    let mut chain = noting(FaultyStore::sound(), Arc::new(NoLog));
    let mut replies = Vec::new();
    let batch = chain.check_batch(vec![keyed("network", "x"), call(2, "keep")]);
    let flights = chain.run_prepared(batch, &mut replies).await;
    let number = |about: Option<About>| about.map(|about| about.sequence_no);
    assert_eq!(number(flights[0].about()), Some(1));
    assert_eq!((number(chain.entered("2")), number(chain.entered("3"))), (Some(2), None));
    chain.resume(&mut replies);
    assert_eq!(number(chain.entered("2")), None, "it has run");
    let scan = chain.start_scan(keyed("scan", "x"), &mut replies).await.unwrap();
    assert_eq!(number(scan.about()), Some(3));
}
