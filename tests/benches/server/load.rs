//! The two ways of asking: one call at a time, and many in flight.

use std::time::Instant;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::process::Process;
use crate::stats::percentile;
use crate::target::{Target, Tool};

/// As much of an answer as a loop under measure looks at.
#[derive(Deserialize)]
struct Answer<'a> {
    id: Option<u64>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

/// The id of an answer to a call that succeeded; `None` for a notification.
fn succeeded(line: &str) -> Option<u64> {
    let answer: Answer = serde_json::from_str(line).expect("JSON");
    let id = answer.id?;
    let sound = answer.result.is_some_and(|result| !result.get().contains(r#""isError":true"#));
    assert!(sound, "a call failed: {line}");
    Some(id)
}

/// One call at a time.
pub struct Serial {
    /// The median, in microseconds.
    pub p50_us: f64,
    /// The 99th percentile.
    pub p99_us: f64,
    /// Processor time of the server a call, in microseconds.
    pub cpu_us: f64,
}

/// `calls` calls, each sent when the one before has been answered, after `warm_up` that are not counted.
pub fn serial(process: &mut Process, target: &Target, tool: Tool, calls: usize, warm_up: usize) -> Serial {
    let mut number = 0..;
    let mut next = || target.arguments(tool, number.next().expect("endless"));
    one_by_one(process, tool, warm_up, &mut next);
    let before = process.cpu();
    let mut laps = one_by_one(process, tool, calls, &mut next);
    let cpu_us = process.cpu().since(&before) / calls as f64;
    Serial { p50_us: percentile(&mut laps, 0.5), p99_us: percentile(&mut laps, 0.99), cpu_us }
}

/// The time of each call, in microseconds.
pub fn one_by_one(
    process: &mut Process,
    tool: Tool,
    calls: usize,
    arguments: &mut impl FnMut() -> String,
) -> Vec<f64> {
    let mut laps = Vec::with_capacity(calls);
    for _ in 0..calls {
        let id = process.next_id();
        let line = process.call_line(tool, &arguments());
        let sent = Instant::now();
        process.send(&line);
        while succeeded(process.receive()) != Some(id) {}
        laps.push(sent.elapsed().as_secs_f64() * 1e6);
    }
    laps
}

/// How many calls are made, how many of them are in flight, and from which one on it counts.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// All calls.
    pub calls: usize,
    /// The first ones, which are not counted.
    pub leave_out: usize,
    /// In flight.
    pub window: usize,
    /// Requests for all answers that came together are written together, instead of one by one.
    pub together: bool,
}

/// Many calls in flight.
pub struct Pipelined {
    /// Calls a second.
    pub per_second: f64,
    /// The 99th percentile of a call's time, in microseconds.
    pub p99_us: f64,
    /// Processor time of the server a call, in microseconds.
    pub cpu_us: f64,
}

/// Keeps `plan.window` of the lines in flight until all are answered, in any order. Their ids count up
/// from `first`.
pub fn pipelined(process: &mut Process, lines: &[String], first: u64, plan: Plan) -> Pipelined {
    let mut sent_at = Vec::with_capacity(lines.len());
    let mut laps = Vec::with_capacity(lines.len());
    let (mut began, mut cpu_before) = (Instant::now(), process.cpu());
    let mut unsent = String::new();
    for line in lines.iter().take(plan.window) {
        sent_at.push(Instant::now());
        process.send(line);
    }
    while laps.len() < lines.len() {
        let Some(id) = succeeded(process.receive()) else { continue };
        let index = id.checked_sub(first).and_then(|index| usize::try_from(index).ok());
        let at: &Instant = index.and_then(|index| sent_at.get(index)).expect("an id that was sent");
        laps.push(at.elapsed().as_secs_f64() * 1e6);
        if laps.len() == plan.leave_out {
            cpu_before = process.cpu();
            began = Instant::now();
        }
        if let Some(line) = lines.get(sent_at.len()) {
            sent_at.push(Instant::now());
            if plan.together { unsent.push_str(line) } else { process.send(line) }
        }
        if !unsent.is_empty() && !process.has_more() {
            process.send(&unsent);
            unsent.clear();
        }
    }
    let counted = (lines.len() - plan.leave_out) as f64;
    Pipelined {
        per_second: counted / began.elapsed().as_secs_f64(),
        cpu_us: process.cpu().since(&cpu_before) / counted,
        p99_us: percentile(&mut laps[plan.leave_out..], 0.99),
    }
}

/// The lines of `calls` calls, and the id of the first.
pub fn lines(process: &mut Process, target: &Target, tool: Tool, calls: usize) -> (Vec<String>, u64) {
    let first = process.next_id();
    let lines = (0..calls).map(|n| process.call_line(tool, &target.arguments(tool, n))).collect();
    (lines, first)
}
