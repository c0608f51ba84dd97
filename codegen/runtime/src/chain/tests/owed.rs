//! Rows that answered calls are owed, batches that are dropped before their turn, and rows that others have closed.

use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::turn::World;
use super::*;
use crate::chain::audit::{NoOpSink, RowOutcome};
use crate::chain::log::Level;
use crate::chain::store::Store as _;

/// What was logged.
#[derive(Default)]
pub(super) struct Lines(Mutex<Vec<String>>);

impl Log for Lines {
    fn enabled(&self, _: Level) -> bool {
        true
    }
    fn write(&self, _: Level, message: &str) {
        self.0.lock().unwrap().push(message.to_owned());
    }
}

impl Lines {
    pub(super) fn hold(&self, text: &str) -> bool {
        self.0.lock().unwrap().iter().any(|line| line.contains(text))
    }
}

fn logged(audit: Audit) -> (Chain<FaultyStore, Handlers>, Arc<Lines>) {
    let log = Arc::new(Lines::default());
    (chain_over(FaultyStore::sound(), audit, Arc::new(Stopped), log.clone()), log)
}

/// Two calls that were answered before their rows could be written.
async fn owing(chain: &mut Chain<FaultyStore, Handlers>) {
    let mut replies: Vec<Reply> = Vec::new();
    drop(chain.run(vec![call(1, "early"), call(2, "early")], &mut replies).await);
    assert_eq!((replies.len(), chain.has_buffered()), (2, true));
}

#[test]
fn a_batch_that_waits_for_its_turn_can_lose_its_calls() {
    for audit in [Audit::Store { kind: "memory" }, Audit::Sink(Box::new(NoOpSink))] {
        let mut chain = chain_with(FaultyStore::sound(), audit);
        let mut batch = chain.check_batch(vec![call(1, "keep"), call(2, "keep"), call(3, "keep")]);
        assert!(batch.remove("9").is_empty() && !batch.is_empty());
        assert_eq!(batch.remove("2").iter().map(|to| &*to.id).collect::<Vec<_>>(), ["2"]);
        assert_eq!(batch.drop_all().iter().map(|to| &*to.id).collect::<Vec<_>>(), ["1", "3"]);
        let mut batch = chain.check_batch(vec![call(4, "keep")]);
        drop(batch.remove("4"));
        assert!(batch.is_empty());
    }
}

#[tokio::test]
async fn calls_whose_rows_cannot_come_any_more_are_named_in_the_log() {
    let (mut chain, log) = logged(Audit::Buffer);
    assert!(chain.answers_early());
    chain.give_up_rows();
    assert!(!log.hold("have no row"), "none is owed");
    owing(&mut chain).await;
    chain.set_answers_early(false);
    assert!(!chain.answers_early());
    chain.give_up_rows();
    assert!(log.hold("answered before the database was open and without a row (2): early"));
    assert!(!chain.has_buffered());
}

#[tokio::test]
async fn a_gate_whose_rows_cannot_be_synced_stays_closed() {
    let (mut chain, _) = logged(Audit::Buffer);
    owing(&mut chain).await;
    let store = FaultyStore { sync_fails: true, ..FaultyStore::sound() };
    assert_eq!(chain.open(store, "memory").unwrap_err().0, "the disk is gone");
    assert!(!chain.is_ready());
}

#[tokio::test]
async fn owed_rows_that_the_store_refuses_are_kept_and_at_the_end_said_to_be_missing() {
    let (mut chain, log) = logged(Audit::Store { kind: "memory" });
    let mut replies: Vec<Reply> = Vec::new();
    let mut batch = chain.check_batch(vec![call(1, "early"), call(2, "early")]);
    chain.answer_without_store(&mut batch, &mut replies);
    assert_eq!((replies.len(), batch.is_empty()), (2, true));
    chain.store.fail_next(1);
    assert!(!chain.write_buffered() && chain.has_buffered());
    assert!(log.hold("rows of answered calls are pending: the disk is full"));
    chain.store.fail_next(1);
    chain.close_pending();
    assert!(log.hold("2 answered calls have no row"));
    assert!(chain.write_buffered() && !chain.has_buffered());
    assert_eq!(outcomes(&chain), [Some("ok"), Some("ok")]);
}

static NOBODY: Client = Client::unnamed(Source::None);

/// Closes the only row as aborted.
pub(super) fn close_as_another_start(store: &mut MemoryStore<Data>) {
    let sequence_no = store.rows().next().unwrap().sequence_no;
    let enter = EnterEvent {
        tool: "network",
        args: &Value::Null,
        timestamp: 0.0,
        correlation_id: "",
        request_id: None,
        args_hash: "",
        trace_context: None,
        entered_at: "",
        client: &NOBODY,
    };
    let exit = ExitEvent {
        tool: "network",
        correlation_id: "",
        duration_ms: 0,
        result: None,
        error: None,
        outcome: RowOutcome::Aborted,
        error_code: Some("DIED"),
        error_message: None,
        result_hash: None,
        exited_at: "",
    };
    store.begin(Access::Write).unwrap();
    store.audit_exit(sequence_no, &enter, &exit).unwrap();
    store.commit().unwrap();
}

#[tokio::test]
async fn a_row_that_another_start_has_closed_stays_and_the_reply_says_so() {
    for cancelled in [false, true] {
        let (mut chain, log) = logged(Audit::Store { kind: "memory" });
        let mut replies: Vec<Reply> = Vec::new();
        let mut flight = chain.run(vec![call(1, "network")], &mut replies).await.pop().unwrap();
        close_as_another_start(&mut chain.store.inner);
        if cancelled {
            chain.cancel(flight, &mut replies).await;
            assert!(replies.is_empty(), "a call that was cancelled stays unanswered");
        } else {
            let result = std::future::poll_fn(|cx| flight.poll(cx)).await;
            chain.land(flight, result, &mut replies).await;
            assert!(message(&replies).starts_with("DIED: another start has closed this call"), "{replies:?}");
        }
        assert_eq!(outcomes(&chain), [Some("aborted")]);
        assert!(log.hold("network was closed by another start"));
    }
}

#[test]
fn who_waits_for_the_turn_is_woken_and_told_at_the_limit_what_is_in_the_way() {
    assert_eq!(MemoryStore::<Data>::new(Vec::new()).wait_turn(Duration::ZERO), Ok(()));
    let world = Arc::new(World::default());
    world.held.store(true, Ordering::SeqCst);
    let mut store = FaultyStore { world: Some(world.clone()), ..FaultyStore::sound() };
    let limit = Duration::from_millis(20);
    assert_eq!(store.wait_turn(limit).unwrap_err().0, "the store cannot be written to");
    let later = world.clone();
    let releasing = std::thread::spawn(move || later.held.store(false, Ordering::SeqCst));
    assert_eq!(store.wait_turn(Duration::from_secs(60)), Ok(()));
    releasing.join().unwrap();
}
