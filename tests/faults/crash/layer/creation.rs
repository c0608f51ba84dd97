//! Faults, kills and power cuts while the database is made: the next start serves, in any state they leave behind.

use std::path::Path;
use std::sync::Arc;

use tempfile::TempDir;

use super::campaign::{Tally, campaign};
use super::check::{Finding, check};
use super::disk::Disk;
use super::faults::{EACCES, EIO, ENOSPC, EROFS};
use super::load::{Script, database};
use super::power_cuts::{Recording, answers, cut};
use super::record::{self, Operation};
use super::server::{self, Served};
use super::shim::{Fault, Layer, Syncs};
use crate::crash::dice::Dice;

/// Power cuts of one recording.
const CUTS: usize = 4;
/// What a file system answers that has no rename without replacing.
const EINVAL: i32 = 22;
/// Operations of a start that makes its database, and a few more.
const OPERATIONS: u64 = 45;

/// What goes wrong with one start.
#[derive(Debug)]
enum Trouble {
    Fault(Fault),
    Quota(u64),
    Kill(u64, bool),
}

impl Trouble {
    fn drawn(dice: &mut Dice) -> Self {
        let name = *dice.pick(&["*", "*", ".db", ".new", "-wal"]);
        let class = *dice.pick(&["create", "open"]);
        let any = Fault {
            class: "write",
            errno: *dice.pick(&[EIO, ENOSPC]),
            first: 1 + dice.below(8),
            count: *dice.pick(&[0, 1, 1, 3]),
            short: dice.below(2) == 0,
            name,
        };
        Self::Fault(match dice.below(12) {
            0 | 1 => any,
            2..=4 => Fault { class: "sync", first: 1 + dice.below(4), ..any },
            5 => Fault { class, errno: *dice.pick(&[EACCES, EROFS]), ..any },
            6 | 7 => {
                let errno = *dice.pick(&[EINVAL, EINVAL, EIO]);
                Fault { class: "rename", errno, first: 1, count: 0, name: "*", ..any }
            }
            8 => Fault { class: "unlink", first: 1, ..any },
            9 => return Self::Quota(dice.below(250_000)),
            _ => return Self::Kill(1 + dice.below(OPERATIONS), dice.below(2) == 0),
        })
    }

    fn on(&self, layer: Layer) -> Layer {
        match self {
            Self::Fault(fault) => layer.fault(fault),
            Self::Quota(bytes) => layer.quota(*bytes),
            Self::Kill(operation, torn) => layer.kill_at(*operation, *torn),
        }
    }

    /// Linux tells every process that has the file open of a failed sync; the layer tells one.
    fn is_of_one_process(&self) -> bool {
        matches!(self, Self::Fault(Fault { class: "sync", .. }))
    }
}

/// What may lie there before the first start: mostly nothing; an empty file; what a dead creator left.
fn prepare(folder: &Path, dice: &mut Dice) {
    if dice.below(4) == 0 {
        std::fs::write(database(folder), b"").unwrap();
    }
    if dice.below(3) == 0 {
        let left = vec![u8::try_from(dice.below(256)).unwrap(); dice.place(9000)];
        std::fs::write(folder.join("colibri.db.creation.new"), left).unwrap();
    }
}

/// A start in trouble, perhaps others beside it and after it.
fn run(seed: u64) -> Result<Tally, Finding> {
    let mut dice = Dice::of_run(seed);
    let (folder, beside) = (Arc::new(TempDir::new().unwrap()), TempDir::new().unwrap());
    let file = beside.path().join("record");
    prepare(folder.path(), &mut dice);
    let before = Disk::of(folder.path());
    let over = Layer::over(folder.path()).record(&file).syncs(Syncs::Skipped);
    let trouble = Trouble::drawn(&mut dice);
    let mut generations = vec![vec![trouble.on(over.clone())]];
    if !trouble.is_of_one_process() {
        generations[0].extend(vec![over.clone(); dice.place(3)]);
    }
    if dice.below(2) == 0 {
        generations.push(vec![over]);
    }
    let (mut scripts, mut served): (Vec<Script>, Vec<Served>) = (Vec::new(), Vec::new());
    for layers in generations {
        let drawn: Vec<(Script, Layer)> = layers
            .into_iter()
            .enumerate()
            .map(|(at, layer)| {
                let tag = format!("{}-{at}", scripts.len());
                let length = 1 + dice.place(4);
                (Script::drawn(&mut dice, &tag, &[], length), layer)
            })
            .collect();
        served.extend(std::thread::scope(|scope| {
            let drive = |(script, layer): &(Script, Layer)| {
                server::drive(&server::launch(&folder, Some(layer)), script, None)
            };
            let threads: Vec<_> = drawn.iter().map(|drawn| scope.spawn(move || drive(drawn))).collect();
            threads.into_iter().map(|thread| thread.join().expect("the conversation")).collect::<Vec<_>>()
        }));
        scripts.extend(drawn.into_iter().map(|(script, _)| script));
    }
    let troubled = served[0].status.code().is_none();
    if let Some(beside) = served[1..].iter().find(|served| served.status.code() != Some(0)) {
        return Err(Finding::Broken(format!("{trouble:?} of another start ended this one: {beside:?}")));
    }
    let entries = record::read(&file);
    let met = troubled || entries.iter().any(|entry| matches!(entry.operation, Operation::Fault(..)));
    let processes: Vec<u32> = served.iter().map(|served| served.process).collect();
    let calls: Vec<_> =
        scripts.iter().zip(&served).map(|(script, served)| (script, served.fates.as_slice())).collect();
    let about = |finding| match finding {
        Finding::Lost(what) => Finding::Lost(format!("{what}; {trouble:?}")),
        Finding::Broken(what) => Finding::Broken(format!("{what}; {trouble:?} {:?}", served[0].stderr)),
    };
    let mut found = check(&folder, &calls).map_err(about)?;
    let answers = answers(&entries, &processes);
    // Most cuts come before the first answer.
    let until = answers.first().map_or(entries.len(), |answer| answer.0);
    let mut points: Vec<usize> =
        (0..CUTS).map(|number| dice.place(if number == 0 { entries.len() } else { until } + 1)).collect();
    points.sort_unstable();
    let recording = Recording { before, entries, scripts: scripts.clone(), answers };
    for result in cut(recording, &mut dice, points) {
        found += result.map_err(about)?;
    }
    Ok(Tally { done: 1 + CUTS as u64, met: u64::from(met), found: found as u64 })
}

#[test]
fn finding_a11_whatever_happens_while_the_database_is_made_the_next_start_serves() {
    let sum = campaign("layer::creation::finding_a11", 50, run);
    assert!(4 * sum.met * (1 + CUTS as u64) > sum.done, "the faults missed the creation: {sum:?}");
    assert!(sum.found > 0, "no call was acknowledged: {sum:?}");
}
