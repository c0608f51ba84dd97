//! Calls of other servers' tools: whichever step of the store fails, each row is there and closed exactly if the exchange says so.

use super::*;
use crate::chain::audit::RowOutcome;
use crate::chain::foreign::{Exchanged, ForeignCall, ForeignEnd, Ticket};
use crate::memory::MemoryStore;

fn foreign(name: &str) -> ForeignCall {
    ForeignCall {
        tool: format!("files/{name}"),
        request_id: "7".into(),
        args_hash: "0".repeat(64),
        trace_context: None,
        client: Arc::new(Client::unnamed(Source::None)),
    }
}

fn done() -> ForeignEnd {
    ForeignEnd { outcome: RowOutcome::Ok, code: None, message: None, result_hash: Some("1".repeat(64)) }
}

fn denied() -> ForeignEnd {
    ForeignEnd {
        outcome: RowOutcome::Denied,
        code: Some("NOT_HERE"),
        message: Some("not here".to_owned()),
        result_hash: None,
    }
}

/// A chain with three open rows.
fn entered(store: FaultyStore) -> (Chain<FaultyStore, Handlers>, Vec<Ticket>) {
    let mut chain = chain(store);
    let calls = ["a", "b", "c"].map(|name| (foreign(name), None)).into();
    let tickets = chain.exchange(Vec::new(), calls).calls;
    (chain, tickets.into_iter().map(|ticket| ticket.unwrap().unwrap()).collect())
}

/// Closes the three and enters four more, one of which is refused.
fn trade(chain: &mut Chain<FaultyStore, Handlers>, tickets: Vec<Ticket>) -> Exchanged {
    let exits = tickets.into_iter().map(|ticket| (ticket, done())).collect();
    let calls = ["d", "e", "no", "f"].map(|name| (foreign(name), (name == "no").then(denied))).into();
    chain.exchange(exits, calls)
}

fn outcome_of<'a>(store: &'a MemoryStore<Data>, name: &str) -> Option<Option<&'a str>> {
    let row = store.rows().find(|row| row.tool == format!("files/{name}"))?;
    Some(row.outcome.map(RowOutcome::as_str))
}

/// What the exchange says is what the store holds.
fn assert_told(case: &str, chain: &Chain<FaultyStore, Handlers>, exchanged: &Exchanged) {
    let store = &chain.store.inner;
    assert!(!chain.store.in_transaction(), "{case}: a transaction is left open");
    for (name, exit) in ["a", "b", "c"].into_iter().zip(&exchanged.exits) {
        // A row that could not be closed may be closed, as one whose commit failed, by a later transaction of the same exchange.
        let told: &[_] = if exit.is_ok() { &[Some("ok")] } else { &[None, Some("error")] };
        let outcome = outcome_of(store, name).unwrap();
        assert!(told.contains(&outcome), "{case}: {name} is {outcome:?}");
    }
    for (name, call) in ["d", "e", "no", "f"].into_iter().zip(&exchanged.calls) {
        let expected = match call {
            Ok(Some(_)) => Some(None),
            Ok(None) => Some(Some("denied")),
            Err(_) => None,
        };
        assert_eq!(outcome_of(store, name), expected, "{case}: {name}");
    }
}

#[test]
fn an_exchange_is_one_transaction_and_one_sync() {
    let (mut chain, tickets) = entered(FaultyStore::sound());
    let numbers: Vec<_> = tickets.iter().map(Ticket::sequence_no).collect();
    assert_eq!(numbers, [Some(1), Some(2), Some(3)]);
    let before = (chain.store.begun, chain.store.synced);
    let exchanged = trade(&mut chain, tickets);
    assert_eq!((chain.store.begun, chain.store.synced), (before.0 + 1, before.1 + 1));
    assert!(exchanged.exits.iter().all(Result::is_ok) && exchanged.calls.iter().all(Result::is_ok));
    assert_told("sound", &chain, &exchanged);
}

#[test]
fn whatever_step_of_the_store_fails_an_exchange_says_what_is_stored() {
    let (mut clean, tickets) = entered(FaultyStore::sound());
    let first = clean.store.step;
    trade(&mut clean, tickets);
    let steps = clean.store.step - first;
    assert!(steps > 8, "{steps}");
    let mut lost = 0;
    for mode in [Mode::Refuse, Mode::Drop] {
        for postpones in [false, true] {
            for begin in 0..4 * steps {
                for length in [1, 2, 3, steps, 100] {
                    let case = format!("{mode:?}, postponed: {postpones}, steps {begin}..{}", begin + length);
                    let fails = first + begin..first + begin + length;
                    let (mut chain, tickets) =
                        entered(FaultyStore { postpones, ..FaultyStore::new(&[0..0, fails], mode) });
                    let exchanged = trade(&mut chain, tickets);
                    assert_told(&case, &chain, &exchanged);
                    lost += exchanged.exits.iter().filter(|exit| exit.is_err()).count();
                    // With room again, the rows are closed before anything else is written.
                    chain.store.fails.clear();
                    assert!(chain.exchange(Vec::new(), vec![(foreign("last"), None)]).calls[0].is_ok());
                    for (name, exit) in ["a", "b", "c"].into_iter().zip(&exchanged.exits) {
                        let expected = if exit.is_ok() { "ok" } else { "error" };
                        assert_eq!(
                            outcome_of(&chain.store.inner, name),
                            Some(Some(expected)),
                            "{case}: {name}"
                        );
                    }
                    let lost_codes = chain.store.inner.rows().filter_map(|row| row.error_code.as_deref());
                    assert!(lost_codes.filter(|code| *code != "NOT_HERE").all(|code| code == "UNCOMMITTED"));
                }
            }
        }
    }
    assert!(lost > 100, "{lost}");
}

#[test]
fn a_row_that_another_start_has_closed_is_not_closed_again() {
    let mut chain = chain(FaultyStore::sound());
    let ticket = chain.exchange(Vec::new(), vec![(foreign("a"), None)]).calls.remove(0).unwrap().unwrap();
    owed::close_as_another_start(&mut chain.store.inner);
    let exchanged = chain.exchange(vec![(ticket, done())], vec![(foreign("b"), None)]);
    assert!(exchanged.exits[0].is_err() && exchanged.calls[0].is_ok());
    assert_eq!(outcome_of(&chain.store.inner, "a"), Some(Some("aborted")));
}

#[test]
fn after_a_failed_sync_an_exchange_writes_nothing_more() {
    let (mut chain, tickets) = entered(FaultyStore::sound());
    chain.store.sync_fails = true;
    trade(&mut chain, tickets);
    assert_eq!(chain.fatal(), Some("the disk is gone"));
    let rows = chain.store.inner.rows().count();
    let exchanged = chain.exchange(Vec::new(), vec![(foreign("late"), None)]);
    assert!(exchanged.calls[0].is_err());
    assert_eq!((chain.store.inner.rows().count(), chain.store.synced), (rows, 2));
}

#[test]
fn a_row_keeps_no_secret_and_at_most_128_characters_of_a_name() {
    let mut chain = chain(FaultyStore::sound());
    let long = format!("hunter2hunter2{}", "x".repeat(500));
    chain.exchange(Vec::new(), vec![(foreign(&long), None)]);
    let tool = &chain.store.inner.rows().next().unwrap().tool;
    assert!(!tool.contains("hunter2") && tool.starts_with("files/"), "{tool}");
    assert_eq!(tool.chars().count(), 128);
}
