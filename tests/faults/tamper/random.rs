//! Thousands of random tamperings, each undone before the next.

use std::collections::BTreeMap;
use std::path::Path;

use colibri_test_support::dice::Dice;

use crate::tamper::kinds::{Case, KINDS, Kind, case};
use crate::tamper::outside::outside_only;
use crate::tamper::table::{self, Table};
use crate::tamper::verifier::Verifier;
use crate::tamper::world::World;

/// The results of the tamperings.
#[derive(Default, Debug)]
pub struct Tally {
    pub done: usize,
    pub outside: usize,
    pub missed: Vec<String>,
    /// Edits by table and column, and other kinds by table.
    pub kinds: BTreeMap<(String, String), usize>,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.done += other.done;
        self.outside += other.outside;
        self.missed.extend(other.missed);
        for (kind, count) in other.kinds {
            *self.kinds.entry(kind).or_default() += count;
        }
    }
}

/// Tampers `count` times with copies of a world, in as many threads as the machine has.
pub fn tamper(world: &World, count: usize, first_seed: u64, only: &[&str]) -> Tally {
    let threads = std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 8);
    let mut tally = Tally::default();
    std::thread::scope(|scope| {
        let shards: Vec<_> = (0..threads)
            .map(|shard| {
                let (folder, path) = world.copy();
                let seeds = (shard..count).step_by(threads).map(move |number| first_seed + number as u64);
                scope.spawn(move || {
                    let _folder = folder;
                    shard_of(&path, seeds, first_seed, only)
                })
            })
            .collect();
        for shard in shards {
            tally.add(shard.join().unwrap());
        }
    });
    tally
}

/// The table and the place of a column, counted through all tables that are wanted.
fn nth_column(tables: &[Table], only: &[&str], turn: usize) -> Option<(usize, usize)> {
    let wanted = tables.iter().filter(|table| only.is_empty() || only.contains(&table.name.as_str()));
    let columns =
        wanted.enumerate().flat_map(|(at, table)| (0..table.columns.len()).map(move |column| (at, column)));
    columns.into_iter().nth(turn)
}

fn shard_of(path: &Path, seeds: impl Iterator<Item = u64>, first_seed: u64, only: &[&str]) -> Tally {
    let tables = table::all(&rusqlite::Connection::open(path).unwrap());
    let verifier = Verifier::open(path);
    let mut tally = Tally::default();
    for seed in seeds {
        let dice = Dice::new(seed);
        // The first ones go through all columns, so that none is left to chance.
        let column = usize::try_from(seed - first_seed).ok().and_then(|turn| nth_column(&tables, only, turn));
        // A tampering that the engine refuses does not count; the next throw of the same dice is taken.
        while !one(&verifier, &tables, only, (seed, column), &dice, &mut tally) {}
    }
    assert!(verifier.inside().is_sound(), "a tampering was not undone");
    tally
}

/// Tries one tampering, and returns whether it changed anything.
fn one(
    verifier: &Verifier,
    tables: &[Table],
    only: &[&str],
    (seed, column): (u64, Option<(usize, usize)>),
    dice: &Dice,
    tally: &mut Tally,
) -> bool {
    let wanted: Vec<&Table> =
        tables.iter().filter(|table| only.is_empty() || only.contains(&table.name.as_str())).collect();
    let (table, kind, turn) = match column {
        Some((table, column)) => (wanted[table], Kind::Edit, column),
        None => {
            let table = wanted[dice.place(wanted.len())];
            let kind = if dice.one_in(2) { Kind::Edit } else { KINDS[dice.place(KINDS.len())] };
            (table, kind, dice.place(table.columns.len()))
        }
    };
    let Some(case) = case(kind, table, turn, dice) else { return false };
    let outside = outside_only(&case, tables);
    let seen = verifier.tampered(&case.sql, |verifier| {
        let inside = verifier.inside();
        // A standing that was put in by hand is named, and breaks nothing.
        let sound = inside.is_sound() && inside.warnings.is_empty();
        (sound, sound && !verifier.with_checkpoint().is_sound())
    });
    let Some((sound_inside, seen_outside)) = seen else { return false };
    let what = match case.kind {
        Kind::Edit => case.columns[0].clone(),
        kind => format!("{kind:?}"),
    };
    *tally.kinds.entry((case.table.clone(), what)).or_default() += 1;
    tally.done += 1;
    match (sound_inside, outside, seen_outside) {
        (false, ..) => {}
        (true, Some(_), true) => tally.outside += 1,
        (true, _, seen) => tally.missed.push(missed(seed, &case, seen)),
    }
    true
}

fn missed(seed: u64, case: &Case, seen_outside: bool) -> String {
    format!(
        "seed {seed}: {:?} of {} {:?} (seen with a checkpoint: {seen_outside}): {:?}",
        case.kind, case.table, case.columns, case.rows
    )
}
