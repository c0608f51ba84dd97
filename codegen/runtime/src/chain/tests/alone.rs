//! Sinks outside the store: calls one by one, each in a transaction of its own, and the buffer of the first
//! phase.

use std::cell::RefCell;
use std::rc::Rc;

use super::*;
use crate::chain::audit::{AuditSink, MEMORY_SINK_ROWS, MemorySink, NoOpSink, SinkResult};
use crate::chain::{Access, BUFFERED_CALLS};

/// What a sink was told, and what it refuses.
#[derive(Clone, Default)]
struct Told {
    seen: Rc<RefCell<Vec<String>>>,
    refuses: &'static str,
    waits: bool,
}

impl Told {
    fn take<'a>(&self, what: &str, tool: &str) -> SinkResult<'a> {
        self.seen.borrow_mut().push(format!("{what} {tool}"));
        let result = if self.refuses == what { Err("refused".to_owned()) } else { Ok(()) };
        if self.waits {
            return SinkResult::Pending(Box::pin(async move {
                tokio::task::yield_now().await;
                result
            }));
        }
        SinkResult::Ready(result)
    }
}

impl AuditSink for Told {
    fn enter<'a>(&'a mut self, event: &'a EnterEvent<'a>) -> SinkResult<'a> {
        self.take("enter", event.tool)
    }
    fn exit<'a>(&'a mut self, event: &'a ExitEvent<'a>) -> SinkResult<'a> {
        assert_eq!(event.result.is_none(), event.error.is_some());
        self.take("exit", event.tool)
    }
}

#[tokio::test]
async fn calls_go_to_a_sink_one_by_one() {
    for waits in [false, true] {
        let told = Told { waits, ..Told::default() };
        let mut chain = chain_with(FaultyStore::sound(), Audit::Sink(Box::new(told.clone())));
        let calls = vec![call(1, "keep"), call(2, "refuse"), call(3, "early"), call(4, "nobody")];
        let replies = run(&mut chain, calls).await;
        let good: Vec<bool> = replies.iter().map(succeeded).collect();
        assert_eq!(good, [true, false, true, false]);
        assert_eq!(chain.store.inner.data(), &["1"]);
        assert_eq!(chain.store.begun, 2, "a tool without a store opens no transaction");
        let pairs: Vec<String> = told.seen.borrow().clone();
        let names = ["keep", "refuse", "early", "nobody"];
        let expected: Vec<String> =
            names.iter().flat_map(|name| [format!("enter {name}"), format!("exit {name}")]).collect();
        assert_eq!(pairs, expected);
    }
}

#[tokio::test]
async fn a_sink_that_refuses_to_enter_stops_the_call_and_one_that_refuses_to_exit_does_not() {
    let told = Told { refuses: "enter", ..Told::default() };
    let mut chain = chain_with(FaultyStore::sound(), Audit::Sink(Box::new(told)));
    assert_eq!(
        message(&run(&mut chain, vec![call(1, "keep")]).await),
        "the call could not be entered in the audit log, so it was not run: refused"
    );
    assert_eq!(message(&run(&mut chain, vec![call(1, "nobody")]).await), "Unknown tool: nobody");
    assert!(chain.store.inner.data().is_empty());
    let told = Told { refuses: "exit", ..Told::default() };
    let mut chain = chain_with(FaultyStore::sound(), Audit::Sink(Box::new(told)));
    assert!(succeeded(&run(&mut chain, vec![call(1, "keep")]).await[0]));
    assert_eq!(chain.status(None).exit_failures, 1);
}

#[tokio::test]
async fn a_transaction_that_fails_beside_a_sink_is_said() {
    let mut chain = chain_with(FaultyStore::sound(), Audit::Sink(Box::new(NoOpSink)));
    chain.set_access(Access::Read);
    chain.store.fail_next(1);
    assert_eq!(message(&run(&mut chain, vec![call(1, "keep")]).await), "UNCOMMITTED: the disk is full");
    let step = chain.store.step;
    chain.store.fails = vec![step + 1..step + 2];
    assert_eq!(message(&run(&mut chain, vec![call(1, "keep")]).await), "UNCOMMITTED: the disk is full");
    assert!(chain.store.inner.data().is_empty());
    assert_eq!(chain.status(Some(7)).audit_sink, "noop");
    assert_eq!(chain.status(Some(7)).sequence_no, None);
}

#[tokio::test]
async fn the_buffer_keeps_calls_until_the_store_is_there() {
    let mut chain = chain_with(FaultyStore::sound(), Audit::Buffer);
    let mut replies = Vec::new();
    for id in 0..BUFFERED_CALLS {
        assert!(chain.may_answer_early());
        assert!(chain.run(vec![call(id, "early")], &mut replies).await.is_empty());
    }
    assert!(!chain.may_answer_early());
    assert_eq!(replies.len(), BUFFERED_CALLS);
    assert_eq!(chain.status(None).audit_sink, "buffer");
    chain.close_pending();
    assert!(chain.open(FaultyStore::new(&[0..1], Mode::Refuse), "memory").is_err());
    assert!(!chain.is_ready());
    chain.open(FaultyStore::sound(), "memory").unwrap();
    assert!(chain.is_ready() && chain.may_answer_early());
    assert_eq!(outcomes(&chain), vec![Some("ok"); BUFFERED_CALLS]);
    let mut empty = chain_with(FaultyStore::sound(), Audit::Buffer);
    empty.open(FaultyStore::sound(), "memory").unwrap();
    assert_eq!(empty.store.begun, 0);
}

#[tokio::test]
async fn the_memory_sink_forgets_the_oldest() {
    let sink = MemorySink::default();
    let mut chain = chain_with(FaultyStore::sound(), Audit::Sink(Box::new(sink.clone())));
    for id in 0..MEMORY_SINK_ROWS + 1 {
        run(&mut chain, vec![call(id, "early")]).await;
    }
    let rows = sink.rows();
    assert_eq!((rows.len(), rows[0].sequence_no), (MEMORY_SINK_ROWS, 2));
    assert_eq!(chain.status(None).sequence_no, Some(MEMORY_SINK_ROWS as i64 + 1));
    assert!(rows.iter().all(|row| row.outcome.is_some()));
}
