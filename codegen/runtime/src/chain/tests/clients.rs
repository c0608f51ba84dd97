//! Who calls: stored before the first call of each new identity, in the transaction that enters that call.

use super::*;
use crate::chain::client::MOST_CLIENTS;

fn named(id: usize, tool: &str, client: &str) -> Call {
    let client = Client { name: Some(client.to_owned()), ..Client::unnamed(Source::Meta) };
    Call { client: Arc::new(client), ..call(id, tool) }
}

fn introducing(store: FaultyStore) -> Chain<FaultyStore, Handlers> {
    let mut chain = chain(store);
    chain.set_introduction("introduce");
    chain
}

fn tools(chain: &Chain<FaultyStore, Handlers>) -> Vec<String> {
    chain.store.inner.rows().map(|row| row.tool.clone()).collect()
}

/// What the handlers have stored of clients, in order.
fn known(chain: &Chain<FaultyStore, Handlers>) -> Vec<&str> {
    chain.store.inner.data().iter().filter_map(|key| key.strip_prefix("client ")).collect()
}

#[tokio::test]
async fn each_new_identity_is_stored_before_its_first_call() {
    let mut chain = introducing(FaultyStore::sound());
    let calls =
        vec![named(1, "keep", "a"), named(2, "keep", "a"), named(3, "early", "b"), named(4, "keep", "a")];
    let replies = run(&mut chain, calls).await;
    assert!(replies.iter().all(succeeded), "{replies:?}");
    let expected = ["introduce", "keep", "keep", "introduce", "early", "introduce", "keep"];
    assert_eq!(tools(&chain), expected);
    assert_eq!(known(&chain), ["a", "b", "a"]);
    assert_eq!((chain.store.begun, chain.store.synced), (2, 1), "no transaction more than without");
    run(&mut chain, vec![named(5, "early", "a"), named(6, "network", "a"), named(7, "early", "c")]).await;
    assert_eq!(known(&chain), ["a", "b", "a", "c"]);
}

#[tokio::test]
async fn a_transaction_that_fails_takes_the_caller_with_it() {
    // Every step of the first enter transaction fails in turn.
    for step in 0..7 {
        for mode in [Mode::Refuse, Mode::Drop] {
            let mut chain = introducing(FaultyStore::new(&[step..step + 1], mode));
            run(&mut chain, vec![named(1, "keep", "a")]).await;
            let replies = run(&mut chain, vec![named(2, "keep", "a")]).await;
            assert!(succeeded(&replies[0]), "step {step}: {replies:?}");
            assert_eq!(known(&chain), ["a"], "step {step}, {mode:?}: {:?}", tools(&chain));
            assert_eq!(tools(&chain)[0], "introduce");
        }
    }
}

#[tokio::test]
async fn a_call_whose_caller_cannot_be_stored_is_not_run() {
    let mut chain = introducing(FaultyStore::sound());
    let replies = run(&mut chain, vec![named(1, "keep", "refuse")]).await;
    assert_eq!(envelope(&replies[0])["error"]["code"], "NOT_ENTERED");
    assert_eq!(
        message(&replies),
        "the call could not be entered in the audit log, so it was not run: introduce failed: STORAGE: refused"
    );
    assert!(tools(&chain).is_empty() && chain.store.inner.data().is_empty());
    assert!(succeeded(&run(&mut chain, vec![named(2, "keep", "a")]).await[0]));
}

#[tokio::test]
async fn calls_of_the_first_phase_keep_theirs_until_the_buffer_is_flushed() {
    let mut chain = chain_with(FaultyStore::sound(), Audit::Buffer);
    chain.set_introduction("introduce");
    run(&mut chain, vec![named(1, "early", "a"), named(2, "early", "b")]).await;
    assert!(tools(&chain).is_empty());
    chain.open(FaultyStore::sound(), "memory").unwrap();
    assert_eq!(tools(&chain), ["introduce", "early", "introduce", "early"]);
    run(&mut chain, vec![named(3, "keep", "b")]).await;
    assert_eq!(known(&chain), ["a", "b"]);
}

#[tokio::test]
async fn too_many_identities_share_one_row() {
    let mut chain = introducing(FaultyStore::sound());
    for number in 0..MOST_CLIENTS + 50 {
        run(&mut chain, vec![named(number, "early", &number.to_string())]).await;
    }
    let known = known(&chain);
    assert_eq!(known.len(), MOST_CLIENTS + 1);
    assert_eq!(known[MOST_CLIENTS - 1..], ["999", "many"]);
}

#[tokio::test]
async fn without_the_operation_no_client_is_stored() {
    let mut chain = chain(FaultyStore::sound());
    run(&mut chain, vec![named(1, "keep", "a")]).await;
    assert_eq!(tools(&chain), ["keep"]);
}

#[test]
fn the_words_of_sources_are_those_of_the_format() {
    for (source, word) in [
        (Source::Initialize, "initialize"),
        (Source::Meta, "meta"),
        (Source::None, "none"),
        (Source::Command, "command"),
        (Source::Many, "many"),
    ] {
        assert_eq!(source.as_str(), word);
    }
}
