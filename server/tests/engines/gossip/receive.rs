//! What an IHAVE is held against, and in which order (theta §10.2).

use colibri::domains::consensus::gossip::{
    Ihave, IhaveRefusal, ReceiverState, receive_ihave, within_retention_horizon,
};
use colibri::domains::consensus::signing::{Signer, StrictEd25519};

use crate::gossip::support::{FORK, ROOT, RULES, arbiter, bytes, ihave, senders, signed};

/// A node in epoch 5 that knows a root of each epoch: `ROOT` of 5, and `[n; 32]` of `n`.
fn state() -> ReceiverState {
    let mut state = ReceiverState::new(RULES, FORK, ROOT, 5);
    (0..9).for_each(|epoch| state.verified([u8::try_from(epoch).unwrap(); 32], epoch));
    state
}

fn verdict(ihave: &Ihave) -> &'static str {
    match receive_ihave(&bytes(ihave), &state(), &senders(), &StrictEd25519) {
        Ok(taken) => {
            assert_eq!(taken, *ihave);
            "taken"
        }
        Err(refusal) => refusal.as_str(),
    }
}

/// The IHAVE with a change, signed again.
fn changed(change: impl FnOnce(&mut Ihave)) -> Ihave {
    let mut ihave = ihave();
    change(&mut ihave);
    signed(ihave)
}

#[test]
fn theta_55_each_anchor_is_asked_for_by_its_name() {
    assert_eq!(verdict(&ihave()), "taken");
    assert_eq!(verdict(&changed(|ihave| ihave.rule_version_hash = [1; 32])), "rule_version");
    assert_eq!(verdict(&changed(|ihave| ihave.state_root_pre = [0xee; 32])), "state_root");
    assert_eq!(verdict(&changed(|ihave| ihave.fork_id = [1; 32])), "fork_id");
}

/// Every combination of the five things that can be wrong: the first in order is named.
#[test]
fn theta_55_the_first_that_is_wrong_is_named() {
    let order = ["bad_signature", "outside_retention", "rule_version", "state_root", "fork_id"];
    for wrong in 0..32_u32 {
        let is = |number: u32| wrong & 1 << number != 0;
        let mut ihave = changed(|ihave| {
            if is(1) {
                ihave.msg_epoch = 2;
                ihave.state_root_pre = [2; 32];
            }
            if is(2) {
                ihave.rule_version_hash = [1; 32];
            }
            if is(3) {
                ihave.state_root_pre = [0xee; 32];
            }
            if is(4) {
                ihave.fork_id = [1; 32];
            }
        });
        if is(0) {
            ihave.signature[0] ^= 1;
        }
        let first = (0..5).find(|number| is(*number)).map_or("taken", |number| order[number as usize]);
        assert_eq!(verdict(&ihave), first, "{wrong:05b}");
    }
}

#[test]
fn theta_55_signatures_are_those_of_known_senders() {
    let stranger = Ihave { sender_id: arbiter('B').sender_id(), ..ihave() };
    assert_eq!(verdict(&signed(stranger)), "bad_signature", "an id that is not known");
    let bytes = bytes(&ihave());
    for broken in [&bytes[1..], &bytes[..bytes.len() - 1], b"", b"{}", b"[]"] {
        let refused = receive_ihave(broken, &state(), &senders(), &StrictEd25519);
        assert_eq!(refused, Err(IhaveRefusal::BadSignature));
    }
}

#[test]
fn theta_55_two_epochs_back_and_one_ahead() {
    for (epoch, expected) in [
        (1, "outside_retention"),
        (2, "outside_retention"),
        (3, "taken"),
        (4, "taken"),
        (5, "taken"),
        (6, "taken"),
        (7, "outside_retention"),
        (i64::MAX as u64, "outside_retention"),
    ] {
        let root = u8::try_from(epoch).map_or(ROOT, |epoch| [epoch; 32]);
        let ihave = changed(|ihave| (ihave.msg_epoch, ihave.state_root_pre) = (epoch, root));
        assert_eq!(verdict(&ihave), expected, "epoch {epoch}");
    }
    for (message, current, within) in
        [(0, 0, true), (1, 0, true), (2, 0, false), (u64::MAX, u64::MAX, true), (0, u64::MAX, false)]
    {
        assert_eq!(within_retention_horizon(message, current, 2), within, "{message} at {current}");
    }
}

#[test]
fn theta_55_a_root_is_of_the_messages_epoch_or_its_neighbour() {
    for (root, expected) in [(3, "state_root"), (4, "taken"), (5, "taken"), (6, "taken"), (7, "state_root")] {
        let ihave = changed(|ihave| ihave.state_root_pre = [root; 32]);
        assert_eq!(verdict(&ihave), expected, "a root of epoch {root} for a message of epoch 5");
    }
}

/// Whatever a message within the retention may build on is kept, and no more.
#[test]
fn theta_55_old_roots_are_forgotten_but_for_the_checkpoint() {
    let mut state = state();
    assert_eq!(state.roots(), 10);
    state.enter_epoch(8);
    assert_eq!((state.roots(), *state.last_checkpoint_state_root()), (5, ROOT), "5 to 8 and the checkpoint");
    let oldest = changed(|ihave| (ihave.msg_epoch, ihave.state_root_pre) = (6, [5; 32]));
    let taken = receive_ihave(&bytes(&oldest), &state, &senders(), &StrictEd25519);
    assert!(taken.is_ok(), "{taken:?}");
    state.enter_epoch(1_000_000);
    assert_eq!(state.roots(), 1);
    state.checkpoint([0xdd; 32], 1_000_000);
    state.enter_epoch(1_000_001);
    assert_eq!((state.roots(), *state.last_checkpoint_state_root()), (1, [0xdd; 32]));
}
