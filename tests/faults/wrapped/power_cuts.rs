//! Power cuts: what relays did to their files and passed on is recorded, the disk is rebuilt as it may be after a cut at any point, and
//! then each call that its server could read has a row, each reply that its client could read a closed one.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use colibri_test_support::client::Launch;
use serde_json::json;
use tempfile::TempDir;

use super::judge::{Finding, What, is_closed, rows_of};
use super::kills::undisturbed;
use super::load;
use super::peer::{COLIBRI, Relay, Setup};
use crate::crash::dice::Dice;
use crate::crash::layer::campaign::{Tally, campaign};
use crate::crash::layer::check::{self, sound};
use crate::crash::layer::disk::Disk;
use crate::crash::layer::load::plant;
use crate::crash::layer::record::{self, Entry, Operation};
use crate::crash::layer::shim::{Layer, Syncs};

/// Cuts of one recording.
const CUTS: usize = 20;
/// Of so many cuts, one is also started on.
const STARTS: u64 = 5;

/// What left a relay whole.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Left {
    /// A call, for the server.
    Call(u64),
    /// A reply with that hash, for the client.
    Reply(u64, String),
}

/// What relays did, beside one another on one database.
struct Recording {
    before: Disk,
    entries: Vec<Entry>,
    names: Vec<String>,
    /// After which entry, and which relay.
    left: Vec<(usize, usize, Left)>,
}

fn recording(dice: &mut Dice, relay: Relay) -> Result<Recording, Finding> {
    let folder = Arc::new(TempDir::new().unwrap());
    let beside = TempDir::new().unwrap();
    let file = beside.path().join("record");
    plant(&folder);
    let before = Disk::of(folder.path());
    let drawn: Vec<(Setup, Dice)> = (0..1 + dice.place(2))
        .map(|number| {
            let mut setup = Setup::new(relay, &format!("odd{number}"), &folder);
            setup.pin = ["off", "warn"][dice.place(2)];
            let layer = Layer::over(folder.path()).record(&file).syncs(Syncs::Skipped).pipes();
            setup.layer = Some(layer);
            (setup, Dice::of_run(dice.below(1 << 40)))
        })
        .collect();
    let told = std::thread::scope(|scope| {
        let talk = |(setup, mut dice): (Setup, Dice)| scope.spawn(move || undisturbed(setup, &mut dice));
        let talks: Vec<_> = drawn.into_iter().map(talk).collect();
        talks.into_iter().map(|talk| talk.join().expect("the conversation")).collect::<Result<Vec<_>, _>>()
    })?;
    let names = told.iter().map(|told| told.setup.name.clone()).collect();
    let processes: Vec<u32> = told.iter().map(|told| told.process).collect();
    let entries = record::read(&file);
    let left = left(&entries, &processes);
    Ok(Recording { before, entries, names, left })
}

/// What left the relays, line by line.
fn left(entries: &[Entry], processes: &[u32]) -> Vec<(usize, usize, Left)> {
    let mut streams: HashMap<(usize, bool), Vec<u8>> = HashMap::new();
    let mut left = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let (to_client, bytes) = match &entry.operation {
            Operation::Sent(bytes) => (false, bytes),
            Operation::Reply(bytes) => (true, bytes),
            _ => continue,
        };
        let Some(relay) = processes.iter().position(|process| *process == entry.process) else { continue };
        let rest = streams.entry((relay, to_client)).or_default();
        rest.extend_from_slice(bytes);
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = rest.drain(..=end).collect();
            match to_client {
                false => left.extend(load::calls(&line).into_iter().map(|id| (at, relay, Left::Call(id)))),
                true => {
                    let answer = load::answer(&line);
                    left.extend(answer.map(|answer| (at, relay, Left::Reply(answer.id, answer.hash))));
                }
            }
        }
    }
    left
}

/// Points of a recording, in order: half of them right after something left, when it is easiest to have left too early.
fn points(recording: &Recording, dice: &mut Dice) -> Vec<usize> {
    let mut points: Vec<usize> = (0..CUTS)
        .map(|number| match number % 2 {
            0 => dice.place(recording.entries.len() + 1),
            _ => dice.pick(&recording.left).0 + 1,
        })
        .collect();
    points.sort_unstable();
    points
}

/// Cuts a recording at many points; what was found at each: how much of what had left has its row.
fn cut(mut recording: Recording, dice: &mut Dice) -> Vec<Result<usize, Finding>> {
    let (mut replayed, mut results) = (0, Vec::new());
    for point in points(&recording, dice) {
        for entry in &recording.entries[replayed..point] {
            recording.before.apply(entry, dice);
        }
        replayed = point;
        let folder = Arc::new(TempDir::new().unwrap());
        recording.before.cut(folder.path(), dice);
        let left: Vec<_> = recording.left.iter().filter(|(at, ..)| *at < point).collect();
        let next = if dice.below(STARTS) == 0 { starts(&folder) } else { Ok(()) };
        let found = next.and_then(|()| all_there(folder.path(), &recording.names, &left));
        results.push(found);
    }
    results
}

/// A server starts on what the cut has left, and the database is sound then.
fn starts(folder: &Arc<TempDir>) -> Result<(), Finding> {
    let mut server = Launch::new(COLIBRI).in_folder(folder.clone()).start();
    server.data("task_list", json!({ "limit": 1 }));
    let ended = server.finish();
    match ended.code() {
        0 => Ok(sound(folder.path())?),
        _ => Err(Finding::new(What::Unsound, format!("the next start: {}", ended.stderr))),
    }
}

fn all_there(folder: &Path, names: &[String], left: &[&(usize, usize, Left)]) -> Result<usize, Finding> {
    for (number, name) in names.iter().enumerate() {
        let of_relay = left.iter().filter(|(_, relay, _)| *relay == number);
        let rows = rows_of(folder, name);
        for (_, _, left) in of_relay {
            let (what, is_there) = match left {
                Left::Call(id) => (What::NoRow, rows.contains_key(id)),
                Left::Reply(id, hash) => (What::NoReply, is_closed(&rows, *id, hash)),
            };
            if !is_there {
                return Err(Finding::new(what, format!("{left:?} of {name}")));
            }
        }
    }
    Ok(left.len())
}

#[test]
fn wrap_20_a_power_cut_leaves_a_row_of_each_call_and_each_reply_that_was_passed_on() {
    let sum = campaign("wrapped::power_cuts::wrap_20_a_power_cut", 60, |seed| {
        let mut dice = Dice::of_run(seed);
        let found = recording(&mut dice, Relay::Wrap)
            .and_then(|recording| cut(recording, &mut dice).into_iter().collect::<Result<Vec<_>, _>>())
            .map_err(|finding| check::Finding::Broken(format!("{finding:?}")))?;
        let met = found.iter().filter(|found| **found > 0).count();
        Ok(Tally { done: CUTS as u64, met: met as u64, found: found.iter().sum::<usize>() as u64 })
    });
    assert!(2 * sum.met > sum.done, "the cuts hardly met calls that had left: {sum:?}");
}

/// What a relay's cuts show, until they show something.
fn shown(fault: &'static str, recordings: u64) -> BTreeSet<String> {
    for seed in 0..recordings {
        let mut dice = Dice::of_run(9_000 + seed);
        let recording = recording(&mut dice, Relay::Careless(fault)).expect("a recording");
        let results = cut(recording, &mut dice).into_iter();
        let found: BTreeSet<_> =
            results.filter_map(Result::err).map(|finding| format!("{:?}", finding.what)).collect();
        if !found.is_empty() {
            return found;
        }
    }
    BTreeSet::new()
}

#[test]
fn wrap_20_a_relay_that_leaves_out_a_sync_loses_rows() {
    assert_eq!(shown("none", 2), BTreeSet::new());
    assert_eq!(shown("no-enter-sync", 10), BTreeSet::from(["NoRow".to_owned()]));
    assert_eq!(shown("no-exit-sync", 10), BTreeSet::from(["NoReply".to_owned()]));
    assert_eq!(shown("early-replies", 10), BTreeSet::from(["NoReply".to_owned()]));
}
