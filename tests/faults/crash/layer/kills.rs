//! Kill -9, with several processes on one database: at a moment, or in the middle of an operation.

use std::sync::Arc;

use tempfile::TempDir;

use super::campaign::{Tally, campaign};
use super::check::{Finding, check, sound};
use super::load::{PLANTED, Script, plant, planted};
use super::server::{self, Kill, Served};
use super::shim::{Layer, Syncs};
use crate::crash::dice::Dice;

/// A server of a run.
struct Part {
    script: Script,
    layer: Option<Layer>,
    kill: Option<Kill>,
}

/// One that is killed, or one that works on beside it.
fn part(dice: &mut Dice, folder: &TempDir, number: usize, dies: bool, has_tasks: bool) -> Part {
    let tasks = &planted().tasks[number * PLANTED / 3..(number + 1) * PLANTED / 3];
    let length = 30 + dice.place(120);
    let script =
        Script::drawn(dice, &format!("server-{number}"), if has_tasks { tasks } else { &[] }, length);
    let (mut layer, mut kill) = (None, None);
    if dies && dice.below(2) == 0 {
        kill = Some(Kill { replies: dice.place(length), delay: dice.microseconds(5_000) });
    } else if dies {
        let syncs = *dice.pick(&[Syncs::Real, Syncs::Skipped]);
        let over = Layer::over(folder.path()).syncs(syncs).armed_after(dice.below(3));
        layer = Some(over.kill_at(1 + dice.below(150), dice.below(2) == 0));
    }
    Part { script, layer, kill }
}

/// Runs two or three servers beside one another; kills the first, and perhaps each other one.
fn run(seed: u64) -> Result<Tally, Finding> {
    let mut dice = Dice::of_run(seed);
    let folder = Arc::new(TempDir::new().unwrap());
    let is_planted = dice.below(4) > 0;
    if is_planted {
        plant(&folder);
    }
    let parts: Vec<Part> = (0..2 + dice.place(2))
        .map(|number| {
            let dies = number == 0 || dice.below(3) == 0;
            part(&mut dice, &folder, number, dies, is_planted)
        })
        .collect();
    let served: Vec<Served> = std::thread::scope(|scope| {
        let drive = |part: &Part| {
            server::drive(&server::launch(&folder, part.layer.as_ref()), &part.script, part.kill)
        };
        let threads: Vec<_> = parts.iter().map(|part| scope.spawn(move || drive(part))).collect();
        threads.into_iter().map(|thread| thread.join().expect("the conversation")).collect()
    });
    for (part, served) in parts.iter().zip(&served) {
        let lives = part.layer.is_none() && part.kill.is_none();
        if lives && served.status.code() != Some(0) {
            return Err(Finding::Broken(format!("a kill beside it ended a server: {served:?}")));
        }
    }
    let acknowledged: usize = served.iter().map(Served::acknowledged).sum();
    if acknowledged > 0 {
        // The file as it is, before another process has recovered it.
        sound(folder.path())?;
    }
    let calls: Vec<_> =
        parts.iter().zip(&served).map(|(part, served)| (&part.script, served.fates.as_slice())).collect();
    let found = check(&folder, &calls)?;
    let killed = served.iter().filter(|served| served.status.code().is_none()).count();
    Ok(Tally { done: 1, met: killed as u64, found: found as u64 })
}

#[test]
fn kills_of_several_processes_lose_nothing_that_was_acknowledged() {
    let sum = campaign("layer::kills::kills_of_several", 10, run);
    assert!(2 * sum.met > sum.done, "the kills came too late: {sum:?}");
    assert!(sum.found > sum.done, "the kills hardly met acknowledged calls: {sum:?}");
}
