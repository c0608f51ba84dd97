//! Network and scan tools: they run beside the loop, and their rows are closed by themselves.

use std::future::poll_fn;

use super::*;
use crate::chain::audit::NoOpSink;
use crate::chain::network::{Flight, ToolLocks};
use crate::chain::scan::ScanFlight;

type Tested = Chain<FaultyStore, Handlers>;

async fn take_off(chain: &mut Tested, key: &str) -> Flight {
    let mut replies = Vec::new();
    let mut flights = chain.run(vec![keyed("network", key)], &mut replies).await;
    assert!(replies.is_empty());
    flights.pop().unwrap()
}

async fn fly(chain: &mut Tested, key: &str) -> Vec<Reply> {
    let mut flight = take_off(chain, key).await;
    assert_eq!((&*flight.reply_to().id, flight.tool()), ("1", "network"));
    let result = poll_fn(|cx| flight.poll(cx)).await;
    let mut replies = Vec::new();
    chain.land(flight, result, &mut replies).await;
    replies
}

#[tokio::test]
async fn a_network_call_is_on_disk_before_it_starts_and_closed_when_it_ends() {
    let mut chain = chain(FaultyStore::sound());
    let flight = take_off(&mut chain, "x").await;
    assert_eq!((chain.store.synced, outcomes(&chain)), (1, vec![None]));
    drop(flight);
    assert!(succeeded(&fly(&mut chain, "x").await[0]));
    assert_eq!(outcomes(&chain), [None, Some("ok")]);
    let mut beside_a_sink = chain_with(FaultyStore::sound(), Audit::Sink(Box::new(NoOpSink)));
    assert!(succeeded(&fly(&mut beside_a_sink, "x").await[0]));
}

#[tokio::test]
async fn a_network_handler_may_panic_at_any_time() {
    let mut chain = chain(FaultyStore::sound());
    for key in ["early panic", "panic"] {
        assert_eq!(message(&fly(&mut chain, key).await), "handler panicked");
    }
    assert_eq!(outcomes(&chain), [Some("error"); 2]);
}

#[tokio::test]
async fn a_cancelled_network_call_is_aborted_and_not_answered() {
    let mut chain = chain(FaultyStore::sound());
    let mut flight = take_off(&mut chain, "wait").await;
    let waiting = poll_fn(|cx| std::task::Poll::Ready(flight.poll(cx).is_pending())).await;
    assert!(waiting);
    let mut replies = Vec::new();
    chain.cancel(flight, &mut replies).await;
    assert!(replies.is_empty());
    assert_eq!(outcomes(&chain), [Some("aborted")]);
}

#[tokio::test]
async fn a_network_row_that_stays_open_is_closed_before_anything_else_runs() {
    let mut chain = chain(FaultyStore::sound());
    let flight = take_off(&mut chain, "x").await;
    // Its exit row: begin works, the row does not.
    let step = chain.store.step;
    chain.store.fails = vec![step + 1..step + 2];
    let mut replies = Vec::new();
    chain.land(flight, Ok(Dispatched::Value(json!({}))), &mut replies).await;
    assert!(succeeded(&replies[0]), "what has happened outside is not denied");
    assert_eq!(outcomes(&chain), [None]);
    // The next call: begin and savepoint work, the pending row does not.
    let step = chain.store.step;
    chain.store.fails = vec![step + 2..step + 3];
    let refused = run(&mut chain, vec![call(2, "keep")]).await;
    assert_eq!(
        message(&refused),
        "the call could not be entered in the audit log, so it was not run: the disk is full"
    );
    assert!(chain.store.inner.data().is_empty());
    assert!(succeeded(&run(&mut chain, vec![call(3, "keep")]).await[0]));
    assert_eq!(outcomes(&chain), [Some("ok"), Some("ok")]);
}

#[tokio::test]
async fn finding_a12_a_call_that_ends_after_a_failed_sync_begins_nothing() {
    for cancelled in [false, true] {
        let mut chain = chain(FaultyStore::sound());
        let flight = take_off(&mut chain, "x").await;
        chain.store.sync_fails = true;
        assert!(!succeeded(&run(&mut chain, vec![call(2, "keep")]).await[0]));
        let (begun, synced) = (chain.store.begun, chain.store.synced);
        let mut replies = Vec::new();
        if cancelled {
            chain.cancel(flight, &mut replies).await;
            assert!(replies.is_empty());
        } else {
            chain.land(flight, Ok(Dispatched::Value(json!({}))), &mut replies).await;
            assert_eq!(message(&replies), "UNCOMMITTED: the disk is gone");
        }
        assert_eq!(outcomes(&chain)[0], None, "the next start closes it");
        assert_eq!((chain.store.begun, chain.store.synced), (begun, synced));
        chain.close_pending();
        assert_eq!((chain.store.begun, chain.store.synced), (begun, synced));
    }
}

#[test]
fn locks_are_held_per_tool_and_given_in_order() {
    let mut locks = ToolLocks::default();
    assert!(locks.is_free("network", 1));
    for id in 1..=3 {
        locks.enqueue("network", 1, call(id, "network"));
    }
    assert_eq!(&*locks.acquire(0.0)[0].reply_to.id, "1");
    assert!(locks.acquire(0.0).is_empty() && !locks.is_free("network", 1));
    assert!(!locks.remove("2").is_empty() && locks.remove("2").is_empty());
    locks.release("network");
    assert_eq!(&*locks.acquire(0.0)[0].reply_to.id, "3");
    locks.enqueue("network", 1, call(4, "network"));
    assert_eq!((locks.waiting(), locks.bytes()), (1, 10));
    assert_eq!((locks.drain().len(), locks.waiting(), locks.bytes()), (1, 0, 0));
}

#[test]
fn as_many_calls_hold_a_lock_as_the_tool_states() {
    let mut locks = ToolLocks::default();
    for id in 1..=5 {
        locks.enqueue("network", 3, call(id, "network"));
    }
    locks.enqueue("other", 1, call(6, "other"));
    let started = |locks: &mut ToolLocks| {
        let mut ids: Vec<String> =
            locks.acquire(0.0).iter().map(|call| call.reply_to.id.to_string()).collect();
        ids.sort();
        ids
    };
    assert_eq!(started(&mut locks), ["1", "2", "3", "6"]);
    assert!(started(&mut locks).is_empty());
    assert_eq!((locks.waiting(), locks.oldest_ms()), (2, None));
    locks.release("network");
    assert_eq!(locks.oldest_ms(), Some(0.0));
    assert_eq!(started(&mut locks), ["4"], "one call has ended, so one begins");
    assert!(!locks.is_free("network", 3));
    locks.remove("5");
    locks.release("network");
    assert!(locks.is_free("network", 3) && !locks.is_free("other", 1));
}

async fn scan(chain: &mut Tested, key: &str) -> Result<ScanFlight, Vec<Reply>> {
    let mut replies = Vec::new();
    chain.start_scan(keyed("scan", key), &mut replies).await.ok_or(replies)
}

async fn land(chain: &mut Tested, mut flight: ScanFlight) -> Vec<Reply> {
    let result = (&mut flight.done).await.unwrap();
    let mut replies = Vec::new();
    chain.land_scan(flight, result, &mut replies).await;
    replies
}

#[tokio::test]
async fn a_scan_reads_in_its_thread_and_stops_when_asked() {
    for audit in [Audit::Store { kind: "memory" }, Audit::Sink(Box::new(NoOpSink))] {
        let mut chain = chain_with(FaultyStore::sound(), audit);
        run(&mut chain, vec![call(1, "keep")]).await;
        let flight = scan(&mut chain, "x").await.ok().unwrap();
        assert_eq!(&*flight.reply_to().id, "1");
        assert_eq!(envelope(&land(&mut chain, flight).await[0])["data"]["rows"], 1);
        let flight = scan(&mut chain, "wait").await.ok().unwrap();
        flight.interrupt.raise();
        assert!(succeeded(&land(&mut chain, flight).await[0]));
        let flight = scan(&mut chain, "panic").await.ok().unwrap();
        assert_eq!(message(&land(&mut chain, flight).await), "handler panicked");
    }
}

#[tokio::test]
async fn a_scan_that_cannot_begin_says_why() {
    let mut chain = chain(FaultyStore::sound());
    chain.store.scan_fails = true;
    let replies = scan(&mut chain, "x").await.err().unwrap();
    assert_eq!(message(&replies), "STORAGE: no second connection");
    chain.store.fail_next(1);
    let replies = scan(&mut chain, "x").await.err().unwrap();
    assert_eq!(
        message(&replies),
        "the call could not be entered in the audit log, so it was not run: the disk is full"
    );
    assert_eq!(outcomes(&chain), [Some("error")]);
}
