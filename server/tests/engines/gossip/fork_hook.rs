//! Who is told of a divided committee (theta §12, case 57).

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use colibri::domains::consensus::fork_hook::{
    FailedHandler, ForkHandler, ForkHookRegistry, ForkReason, ForkTriggerEvent,
};

fn event() -> ForkTriggerEvent {
    ForkTriggerEvent {
        round_id: 7,
        divergent_roots: BTreeSet::from([[0xcc; 32], [0xaa; 32]]),
        reason: ForkReason::ConsensusSplit,
        rule_version_hash: [0xbb; 32],
        timestamp_logical: 3,
    }
}

/// What the handlers were told, with their names.
type Told = Arc<Mutex<Vec<(&'static str, ForkTriggerEvent)>>>;

fn telling(told: &Told, name: &'static str) -> ForkHandler {
    let told = told.clone();
    Arc::new(move |event| {
        told.lock().unwrap().push((name, event.clone()));
        Ok(())
    })
}

fn names(told: &Told) -> Vec<&'static str> {
    told.lock().unwrap().iter().map(|(name, _)| *name).collect()
}

#[test]
fn theta_57_a_failing_handler_keeps_nobody_from_being_told() {
    let failing: [(ForkHandler, &str); 2] =
        [(Arc::new(|_| Err("no disk".into())), "no disk"), (Arc::new(|_| panic!("a bug")), "panicked")];
    for (handler, what) in failing {
        let (told, mut registry) = (Told::default(), ForkHookRegistry::empty());
        registry.register(telling(&told, "first"));
        registry.register(handler);
        registry.register(telling(&told, "third"));
        assert_eq!(registry.fire(&event()), [FailedHandler { place: 1, what: what.to_owned() }]);
        assert_eq!(*told.lock().unwrap(), [("first", event()), ("third", event())]);
    }
}

#[test]
fn theta_57_a_handler_that_is_added_twice_runs_twice() {
    let (told, mut registry) = (Told::default(), ForkHookRegistry::empty());
    let handler = telling(&told, "again");
    registry.register(handler.clone());
    registry.register(handler);
    registry.register(telling(&told, "last"));
    assert_eq!(registry.handlers().len(), 3);
    assert_eq!(registry.fire(&event()), []);
    assert_eq!(names(&told), ["again", "again", "last"]);
    registry.clear();
    assert_eq!(registry.handlers().len(), 0);
    assert_eq!(registry.fire(&event()), []);
    assert_eq!(names(&told).len(), 3, "nobody is told after that");
}

#[test]
fn theta_57_the_default_registry_does_nothing() {
    let registry = ForkHookRegistry::default();
    assert_eq!(registry.handlers().len(), 1);
    assert_eq!(registry.fire(&event()), []);
    assert_eq!(ForkHookRegistry::empty().fire(&event()), []);
    let reasons = [ForkReason::ConsensusSplit, ForkReason::PartitionRecovery].map(ForkReason::as_str);
    assert_eq!(reasons, ["CONSENSUS_SPLIT", "PARTITION_RECOVERY"]);
    assert_eq!(event().divergent_roots.first(), Some(&[0xaa; 32]), "roots are in order");
}
