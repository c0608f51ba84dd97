//! The state machine alone.

use crate::catalogue::TaskStatus::{self, *};
use crate::domains::tasks::state::{
    InvalidTransition, TASK_STATES, allowed, can_transition, check, parse_state,
};

/// The final states.
const ENDS: [TaskStatus; 2] = [Done, Cancelled];

/// The table of tasks#states, written down once more: rows and columns in canonical order.
const LEGAL: [&str; 8] = [
    ".*.....*", // INIT
    "..*....*", // GATHER
    "...*...*", // ANALYZE
    "....*..*", // PLAN
    ".....*.*", // APPLY
    ".*....**", // VERIFY
    "........", // DONE
    "........", // CANCELLED
];

#[test]
fn exactly_the_thirteen_steps_are_legal() {
    let mut legal = 0;
    for (row, from) in TASK_STATES.into_iter().enumerate() {
        for (column, to) in TASK_STATES.into_iter().enumerate() {
            let expected = LEGAL[row].as_bytes()[column] == b'*';
            assert_eq!(can_transition(from, to), expected, "{from} -> {to}");
            legal += usize::from(expected);
        }
    }
    assert_eq!(legal, 13);
}

#[test]
fn the_table_lists_targets_in_canonical_order() {
    for (row, from) in TASK_STATES.into_iter().enumerate() {
        let expected: Vec<TaskStatus> = TASK_STATES
            .into_iter()
            .enumerate()
            .filter(|(column, _)| LEGAL[row].as_bytes()[*column] == b'*')
            .map(|(_, to)| to)
            .collect();
        assert_eq!(allowed(from), expected, "{from}");
        assert_eq!(expected.is_empty(), ENDS.contains(&from), "{from}");
    }
}

#[test]
fn no_state_steps_to_itself() {
    for state in TASK_STATES {
        assert!(!can_transition(state, state), "{state}");
    }
}

#[test]
fn an_illegal_step_says_whose_from_where_and_to_what() {
    let refused = check("x", Done, Gather).unwrap_err();
    assert_eq!(refused, InvalidTransition { task_id: "x".into(), from: Done, to: Gather });
    assert_eq!(refused.to_string(), "Task x cannot go from DONE to GATHER");
}

#[test]
fn state_names_are_exact() {
    for text in ["done", "Done", " DONE", "DONE ", "", "PLAN ", "BACKLOG"] {
        let refused = parse_state(text).unwrap_err().to_string();
        let names = "INIT, GATHER, ANALYZE, PLAN, APPLY, VERIFY, DONE, CANCELLED";
        assert_eq!(refused, format!("unknown task state {text:?}; use one of {names}"));
    }
    for state in TASK_STATES {
        assert_eq!(parse_state(&state.to_string()), Ok(state));
    }
}

#[test]
fn every_live_state_can_still_reach_both_ends_and_done_is_six_steps_away() {
    for state in TASK_STATES.into_iter().filter(|state| !ENDS.contains(state)) {
        for end in ENDS {
            assert!(steps(state, end).is_some(), "{state} -> {end}");
        }
    }
    assert_eq!(steps(Init, Done), Some(6));
    assert_eq!(steps(Done, Init), None);
}

/// Length of the shortest walk.
fn steps(from: TaskStatus, to: TaskStatus) -> Option<usize> {
    let mut reached = vec![from];
    for length in 0..TASK_STATES.len() {
        if reached.contains(&to) {
            return Some(length);
        }
        reached = TASK_STATES
            .into_iter()
            .filter(|next| reached.iter().any(|state| can_transition(*state, *next)))
            .collect();
    }
    None
}
