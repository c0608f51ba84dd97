//! Power cuts (store#fault-tests): what servers did is recorded, the disk is rebuilt as it may be after a cut at any point, and
//! the next server starts on it.

use std::sync::Arc;

use tempfile::TempDir;

use super::campaign::{Tally, campaign};
use super::check::{Finding, check};
use super::disk::Disk;
use super::load::{PLANTED, Script, plant, planted};
use super::record::{self, Entry, Operation};
use super::replies::{Fate, Streams};
use super::server::{self, Served};
use super::shim::{Layer, Syncs};
use crate::crash::dice::Dice;

/// Cuts of one recording.
const CUTS: usize = 20;

/// How servers are recorded.
#[derive(Clone, Copy)]
struct Setting {
    syncs: Syncs,
    durability: &'static str,
}

const HONEST: Setting = Setting { syncs: Syncs::Skipped, durability: "full" };

/// What servers did, one after another and beside one another, on one database.
pub(super) struct Recording {
    pub before: Disk,
    pub entries: Vec<Entry>,
    pub scripts: Vec<Script>,
    /// An answer: after which entry, by which script's server, to which call.
    pub answers: Vec<(usize, usize, usize, Fate)>,
}

/// Some generations of one or two servers each; a process may die in one.
fn recording(dice: &mut Dice, setting: Setting) -> Recording {
    let folder = Arc::new(TempDir::new().unwrap());
    let beside = TempDir::new().unwrap();
    let file = beside.path().join("record");
    // Without one, the record has the first start, with its migrations, in it.
    let is_planted = dice.below(4) > 0;
    if is_planted {
        plant(&folder);
    }
    let before = Disk::of(folder.path());
    let (mut scripts, mut processes) = (Vec::new(), Vec::new());
    for generation in 0..1 + dice.below(3) {
        let servers = 1 + dice.place(2);
        let drawn: Vec<(Script, Layer)> = (0..servers)
            .map(|number| {
                let tasks = &planted().tasks[number * PLANTED / 2..(number + 1) * PLANTED / 2];
                let tasks = if is_planted { tasks } else { &[] };
                let length = 20 + dice.place(100);
                let script = Script::drawn(dice, &format!("{generation}-{number}"), tasks, length);
                let layer = Layer::over(folder.path()).record(&file).syncs(setting.syncs);
                let dies = dice.below(4) == 0;
                let layer = if dies { layer.kill_at(1 + dice.below(300), dice.below(2) == 0) } else { layer };
                (script, layer)
            })
            .collect();
        let served: Vec<Served> = std::thread::scope(|scope| {
            let drive = |(script, layer): &(Script, Layer)| {
                let launch =
                    server::launch(&folder, Some(layer)).env("COLIBRI_DURABILITY", setting.durability);
                server::drive(&launch, script, None)
            };
            let threads: Vec<_> = drawn.iter().map(|drawn| scope.spawn(move || drive(drawn))).collect();
            threads.into_iter().map(|thread| thread.join().expect("the conversation")).collect()
        });
        processes.extend(served.iter().map(|served| served.process));
        scripts.extend(drawn.into_iter().map(|(script, _)| script));
    }
    let entries = record::read(&file);
    let answers = answers(&entries, &processes);
    Recording { before, entries, scripts, answers }
}

pub(super) fn answers(entries: &[Entry], processes: &[u32]) -> Vec<(usize, usize, usize, Fate)> {
    let mut streams = Streams::default();
    let mut answers = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let Operation::Reply(piece) = &entry.operation else { continue };
        let script =
            processes.iter().position(|process| *process == entry.process).expect("a server of ours");
        let fates = streams.add(entry.process, piece);
        answers.extend(fates.into_iter().map(|(call, fate)| (at, script, call, fate)));
    }
    answers
}

/// Points of a recording, in order: half of them right after an answer, when it is easiest to have promised too much.
fn points(recording: &Recording, dice: &mut Dice, count: usize) -> Vec<usize> {
    let mut points: Vec<usize> = (0..count)
        .map(|number| match recording.answers.is_empty() || number % 2 == 0 {
            true => dice.place(recording.entries.len() + 1),
            false => dice.pick(&recording.answers).0 + 1,
        })
        .collect();
    points.sort_unstable();
    points
}

/// Cuts the recording at these points, which are in order; what was found at each.
pub(super) fn cut(
    mut recording: Recording,
    dice: &mut Dice,
    points: Vec<usize>,
) -> Vec<Result<usize, Finding>> {
    let mut fates: Vec<Vec<Fate>> =
        recording.scripts.iter().map(|script| vec![Fate::Open; script.calls.len()]).collect();
    let (mut replayed, mut answered) = (0, 0);
    let mut results = Vec::new();
    for point in points {
        for entry in &recording.entries[replayed..point] {
            recording.before.apply(entry, dice);
        }
        replayed = point;
        while let Some((at, script, call, fate)) = recording.answers.get(answered)
            && *at < point
        {
            fates[*script][*call] = fate.clone();
            answered += 1;
        }
        let folder = Arc::new(TempDir::new().unwrap());
        recording.before.cut(folder.path(), dice);
        let calls: Vec<_> =
            recording.scripts.iter().zip(&fates).map(|(script, fates)| (script, fates.as_slice())).collect();
        results.push(check(&folder, &calls));
    }
    results
}

#[test]
fn a_power_cut_loses_nothing_that_was_acknowledged() {
    let sum = campaign("layer::power_cuts::a_power_cut_loses", 40, |seed| {
        let mut dice = Dice::of_run(seed);
        let recording = recording(&mut dice, HONEST);
        let points = points(&recording, &mut dice, CUTS);
        let found = cut(recording, &mut dice, points).into_iter().collect::<Result<Vec<_>, _>>()?;
        let met = found.iter().filter(|found| **found > 0).count();
        Ok(Tally { done: CUTS as u64, met: met as u64, found: found.iter().sum::<usize>() as u64 })
    });
    assert!(sum.met > 0 && sum.found > sum.done, "the cuts hardly met acknowledged calls: {sum:?}");
}

/// The controls: without its syncs the server must lose what it has acknowledged, and this harness must see it.
fn losses(setting: Setting, seed: u64) -> (usize, Vec<Finding>) {
    let mut dice = Dice::of_run(seed);
    let (mut lost, mut broken) = (0, Vec::new());
    for _ in 0..2 {
        let recording = recording(&mut dice, setting);
        let points = points(&recording, &mut dice, 8);
        for result in cut(recording, &mut dice, points) {
            match result {
                Ok(_) => {}
                Err(Finding::Lost(_)) => lost += 1,
                Err(finding) => broken.push(finding),
            }
        }
    }
    (lost, broken)
}

/// `COLIBRI_DURABILITY=normal` promises less: acknowledged calls may be lost, the database stays sound.
#[test]
fn without_its_own_sync_the_server_loses_calls_and_nothing_else() {
    let (lost, broken) = losses(Setting { durability: "normal", ..HONEST }, 2000);
    assert!(lost > 0, "the harness does not see what a missing sync loses");
    assert_eq!(broken, [], "a lost call is all that a missing sync costs");
}

#[test]
fn on_a_disk_that_lies_about_syncs_calls_are_lost() {
    let (lost, _) = losses(Setting { syncs: Syncs::Lies, ..HONEST }, 3000);
    assert!(lost > 0, "the harness does not see what missing syncs lose");
}
