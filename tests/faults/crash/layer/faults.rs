//! Operations that fail under load, files that are locked or cannot be written, a clock that jumps. In each case
//! acknowledged calls are there, refused ones are not, and the next start works.

use std::path::Path;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rusqlite::Connection;
use tempfile::TempDir;

use super::campaign::{Tally, campaign};
use super::check::{Finding, check};
use super::disk::Disk;
use super::load::{PLANTED, Script, database, plant, planted};
use super::record::{self, Entry, Operation};
use super::replies::Fate;
use super::server::{self, Served};
use super::shim::{Fault, Layer, Syncs};
use crate::crash::dice::Dice;
use crate::crash::full_disk;

pub(super) const EACCES: i32 = 13;
pub(super) const EIO: i32 = 5;
pub(super) const ENOSPC: i32 = 28;
pub(super) const EROFS: i32 = 30;

/// What goes wrong in a run.
#[derive(Debug, Clone)]
enum Trouble {
    /// Operations fail, from that many replies on.
    Fault(Fault, u64),
    /// The disk is full when a file has so many bytes.
    Quota(u64),
    /// The wall clock jumps.
    Clock(Vec<(u64, i64)>),
    /// Another program takes the write lock now and then.
    Locks,
    /// The engine's own limit of pages, so many above those of an empty database (by the probe, 64 calls).
    Pages(u32),
}

impl Trouble {
    fn drawn(dice: &mut Dice) -> Self {
        let latest = *dice.pick(&[5, 40, 150]);
        let first = 1 + dice.below(latest);
        let count = *dice.pick(&[0, 1, 3]);
        let armed = dice.below(5);
        let any = Fault { class: "write", errno: EIO, first, count, short: false, name: "*" };
        let fault = match dice.below(16) {
            0..=2 => Fault { errno: ENOSPC, short: dice.below(2) == 0, ..any },
            3 | 4 => Fault { short: dice.below(2) == 0, ..any },
            5 => Fault { name: ".db", ..any },
            6..=8 => Fault { class: "sync", first: 1 + first / 4, name: "-wal", ..any },
            9 => Fault { class: "sync", first: 1 + first / 20, ..any },
            10 => {
                let class = *dice.pick(&["open", "create"]);
                let errno = *dice.pick(&[EACCES, EROFS, ENOSPC]);
                return Self::Fault(Fault { class, errno, first: 1 + dice.below(8), ..any }, 0);
            }
            11 => return Self::Quota(50_000 + dice.below(900_000)),
            12 | 13 => return Self::Clock((0..1 + dice.below(6)).map(|_| jump(dice)).collect()),
            14 => return Self::Locks,
            _ => return Self::Pages(1 + dice.below(90) as u32),
        };
        Self::Fault(fault, armed)
    }

    fn on(&self, layer: Layer) -> Layer {
        match self {
            Self::Fault(fault, armed) => layer.fault(fault).armed_after(*armed),
            Self::Quota(bytes) => layer.quota(*bytes),
            Self::Clock(jumps) => layer.clock(jumps),
            Self::Locks | Self::Pages(_) => layer,
        }
    }

    fn is_failing_sync(&self) -> bool {
        matches!(self, Self::Fault(Fault { class: "sync", .. }, _))
    }

    /// No call may notice it.
    fn is_harmless(&self) -> bool {
        matches!(self, Self::Clock(_) | Self::Locks)
    }
}

/// At some look at the clock, by a moment or by decades.
fn jump(dice: &mut Dice) -> (u64, i64) {
    const DAY: u64 = 86_400_000;
    let limit = *dice.pick(&[20, 3_600_000, 400 * DAY, 30_000 * DAY]);
    let by = dice.below(limit).cast_signed();
    (1 + dice.below(400), if dice.below(2) == 0 { by } else { -by })
}

/// One server in trouble, perhaps another one beside it.
fn run(seed: u64) -> Result<Tally, Finding> {
    let mut dice = Dice::of_run(seed);
    let trouble = Trouble::drawn(&mut dice);
    if let Trouble::Pages(more) = trouble {
        return Ok(pages(more));
    }
    let (folder, beside) = (Arc::new(TempDir::new().unwrap()), TempDir::new().unwrap());
    let file = beside.path().join("record");
    let is_planted = dice.below(4) > 0 || matches!(trouble, Trouble::Locks);
    if is_planted {
        plant(&folder);
    }
    // Linux tells every process that has the file open of a failed sync; the layer tells one.
    let has_neighbour = dice.below(3) == 0 && !trouble.is_failing_sync();
    let mut disk = Disk::of(folder.path());
    let over = Layer::over(folder.path()).record(&file).syncs(Syncs::Skipped);
    let layers = [Some(trouble.on(over.clone())), has_neighbour.then_some(over)];
    let parts: Vec<(Script, Layer)> = layers
        .into_iter()
        .flatten()
        .enumerate()
        .map(|(number, layer)| {
            let tasks = &planted().tasks[number * PLANTED / 2..(number + 1) * PLANTED / 2];
            let tasks = if is_planted { tasks } else { &[] };
            let length = 30 + dice.place(120);
            (Script::drawn(&mut dice, &format!("server-{number}"), tasks, length), layer)
        })
        .collect();
    let served = served(&folder, &parts, &trouble, &mut dice);
    let entries = record::read(&file);
    let met =
        trouble.is_harmless() || entries.iter().any(|entry| matches!(entry.operation, Operation::Fault(..)));
    judge(&trouble, &served[0], &entries).map_err(|why| Finding::Broken(format!("{trouble:?}: {why}")))?;
    let calls: Vec<_> =
        parts.iter().zip(&served).map(|((script, _), served)| (script, served.fates.as_slice())).collect();
    if trouble.is_failing_sync() {
        // The next start reads what the kernel still has in memory; after a power cut it has what reached the disk.
        entries.iter().for_each(|entry| disk.apply(entry, &mut dice));
        let cut = Arc::new(TempDir::new().unwrap());
        disk.cut(cut.path(), &mut dice);
        check(&cut, &calls).map_err(|finding| about(finding, "after a power cut", &trouble, &served))?;
    }
    let found = check(&folder, &calls).map_err(|finding| about(finding, "", &trouble, &served))?;
    Ok(Tally { done: 1, met: u64::from(met), found: found as u64 })
}

fn about(finding: Finding, when: &str, trouble: &Trouble, served: &[Served]) -> Finding {
    let ends: Vec<_> = served.iter().map(|served| (served.status, &served.stderr)).collect();
    let text = |what: String| format!("{what}\n{when} {trouble:?} {ends:?}");
    match finding {
        Finding::Lost(what) => Finding::Lost(text(what)),
        Finding::Broken(what) => Finding::Broken(text(what)),
    }
}

/// Runs the servers beside one another, and beside the program that locks the file.
fn served(
    folder: &Arc<TempDir>,
    parts: &[(Script, Layer)],
    trouble: &Trouble,
    dice: &mut Dice,
) -> Vec<Served> {
    let done = AtomicBool::new(false);
    let pauses: Vec<Duration> = (0..40).map(|_| dice.microseconds(20_000)).collect();
    std::thread::scope(|scope| {
        let drive = |(script, layer): &(Script, Layer)| {
            server::drive(&server::launch(folder, Some(layer)), script, None)
        };
        if matches!(trouble, Trouble::Locks) {
            scope.spawn(|| locks(folder.path(), &pauses, &done));
        }
        let threads: Vec<_> = parts.iter().map(|part| scope.spawn(move || drive(part))).collect();
        let served = threads.into_iter().map(|thread| thread.join().expect("the conversation")).collect();
        done.store(true, Ordering::Relaxed);
        served
    })
}

/// Takes the write lock and releases it, as another program would.
fn locks(folder: &Path, pauses: &[Duration], done: &AtomicBool) {
    // Waits until a server has made the file: an empty file made here would not be a database.
    while !done.load(Ordering::Relaxed)
        && std::fs::metadata(database(folder)).map_or(0, |about| about.len()) == 0
    {
        std::thread::sleep(Duration::from_millis(1));
    }
    let Ok(conn) = Connection::open(database(folder)) else { return };
    for pause in pauses.iter().cycle() {
        if done.load(Ordering::Relaxed) {
            return;
        }
        let held = conn.execute_batch("BEGIN IMMEDIATE").is_ok();
        std::thread::sleep(*pause);
        if held {
            conn.execute_batch("COMMIT").unwrap();
        }
        std::thread::sleep(*pause / 4);
    }
}

/// What the server in trouble may say, and how it may end.
fn judge(trouble: &Trouble, served: &Served, entries: &[Entry]) -> Result<(), String> {
    if trouble.is_harmless() {
        // A session without thoughts cannot be sealed.
        let noticed = |fate: &&Fate| !matches!(fate, Fate::Done) && !is_unsealable(fate);
        let fate = served.fates.iter().find(noticed);
        let clean = served.status.code() == Some(0);
        return if fate.is_none() && clean { Ok(()) } else { Err(format!("{fate:?} {served:?}")) };
    }
    if served.fates.contains(&Fate::Unsure) && served.status.code() != Some(1) {
        return Err(format!("it goes on after a failed sync: {served:?}"));
    }
    // Calls are done and answered in their order.
    if let Some(first) = served.fates.iter().position(|fate| *fate == Fate::Unsure)
        && served.fates[first..].contains(&Fate::Done)
    {
        return Err(format!("acknowledged after a failed sync: {served:?}"));
    }
    let unanswered = served.fates.iter().any(|fate| *fate != Fate::Done && !is_unsealable(fate));
    if has_failed_sync(served.process, entries) && unanswered && served.status.code() != Some(1) {
        return Err(format!("a failed sync of the log did not end the process: {served:?}"));
    }
    Ok(())
}

fn is_unsealable(fate: &Fate) -> bool {
    matches!(fate, Fate::Failed(why) if why.contains("holds no thought record"))
}

/// Whether a sync of the log has failed.
fn has_failed_sync(process: u32, entries: &[Entry]) -> bool {
    let mut failed = false;
    entries.iter().filter(|entry| entry.process == process).any(|entry| {
        // The layer names the file right after the sync's end.
        let named = matches!(&entry.operation, Operation::Fault(_, name) if name.ends_with("-wal"));
        let found = failed && named;
        failed = matches!(entry.operation, Operation::Synced(1..));
        found
    })
}

/// `max_page_count` in the middle of a batch; that test asserts everything by itself.
fn pages(more: u32) -> Tally {
    static AT_START: OnceLock<u32> = OnceLock::new();
    let start = *AT_START.get_or_init(full_disk::pages_at_start);
    let stored = full_disk::fill_at(start + more);
    Tally { done: 1, met: u64::from(stored < full_disk::CALLS), found: stored as u64 }
}

#[test]
fn no_fault_loses_what_was_acknowledged_or_keeps_what_was_refused() {
    let sum = campaign("layer::faults::no_fault_loses", 20, run);
    assert!(2 * sum.met > sum.done, "the faults came too late: {sum:?}");
    assert!(sum.found > sum.done, "the faults hardly met acknowledged calls: {sum:?}");
}

/// The file's creation met failing syncs, and the power cut after it left a file that every later start refused.
#[test]
fn finding_a11_a_file_whose_creation_met_failing_syncs_and_a_power_cut_starts() {
    assert_eq!(run(900_308).map(|tally| tally.done), Ok(1));
}
