//! Soundness of the comparison of schemas, with the `jsonschema` crate as judge: schemas and edits are
//! random, values are made from the schema that gives them.
//!
//! 500 pairs by default; `COLIBRI_DRIFT_PAIRS` sets another number (5,000 in `.ci/run`, a million by hand), `COLIBRI_DRIFT_SEED` the first seed.
//! A failure prints the seed of the pair.

#![allow(clippy::print_stderr)]

mod dice;
mod edits;
mod schemas;
mod values;

use std::time::Instant;

use colibri_drift::Severity;
use colibri_drift::compare_schemas as compare;
use colibri_drift::schema::regex::Automaton;
use colibri_drift::schema::{Direction, SchemaChange};
use serde_json::Value;

use dice::Dice;

/// Values made for each pair.
const VALUES: usize = 24;

fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| text.parse().expect(name))
}

#[derive(Default)]
struct Tally {
    pairs: u64,
    values: u64,
    fitting: u64,
    silent: u64,
    info: u64,
    ack: u64,
    broken: u64,
    witnesses: u64,
    losses: u64,
    losses_named: u64,
}

impl Tally {
    fn and(self, other: Self) -> Self {
        Self {
            pairs: self.pairs + other.pairs,
            values: self.values + other.values,
            fitting: self.fitting + other.fitting,
            silent: self.silent + other.silent,
            info: self.info + other.info,
            ack: self.ack + other.ack,
            broken: self.broken + other.broken,
            witnesses: self.witnesses + other.witnesses,
            losses: self.losses + other.losses,
            losses_named: self.losses_named + other.losses_named,
        }
    }
}

fn worst(changes: &[SchemaChange]) -> Option<Severity> {
    changes.iter().map(|change| change.severity).max()
}

/// The judge. Its patterns run on the `regex` crate, for all of the generated ones are regular; its default engine,
/// fancy-regex 0.19.2, takes `a` for `^a+(b*c)?a+$` (one of a million pairs showed it).
fn validator(schema: &Value) -> Result<jsonschema::Validator, jsonschema::ValidationError<'static>> {
    jsonschema::draft202012::options()
        .should_validate_formats(false)
        .with_pattern_options(jsonschema::PatternOptions::regex())
        .build(schema)
}

fn check(seed: u64, tally: &mut Tally) {
    let mut dice = Dice::new(seed);
    let old = schemas::schema(&mut dice);
    let new = edits::edited(&old, &mut dice);
    let direction = if dice.one_in(2) { Direction::Input } else { Direction::Output };
    let changes = compare(&old, &new, direction);
    let (giver, taker) = match direction {
        Direction::Input => (&old, &new),
        Direction::Output => (&new, &old),
    };
    let show = || format!("seed {seed}, {direction:?}\nold {old}\nnew {new}\n{changes:#?}");
    let judge = |schema: &Value| validator(schema).unwrap_or_else(|e| panic!("{e}: {}", show()));
    let (gives, takes) = (judge(giver), judge(taker));
    let worst = worst(&changes);
    let mut loss = None;
    for value in values::values(giver, taker, VALUES, &mut dice) {
        tally.values += 1;
        if gives.is_valid(&value) {
            tally.fitting += 1;
            if !takes.is_valid(&value) {
                assert!(worst >= Some(Severity::Ack), "{value} is lost and not named\n{}", show());
                loss = Some(value);
            }
        }
    }
    for change in &changes {
        match &change.witness {
            Some(witness) => {
                assert!(
                    gives.is_valid(witness) && !takes.is_valid(witness),
                    "wrong witness {witness}\n{}",
                    show()
                );
                tally.witnesses += 1;
            }
            None => assert!(
                change.severity < Severity::Break || change.rule == "I12",
                "a break without a witness: {change:?}\n{}",
                show()
            ),
        }
    }
    tally.pairs += 1;
    tally.losses += u64::from(loss.is_some());
    tally.losses_named += u64::from(loss.is_some() && changes.iter().any(|change| change.witness.is_some()));
    match worst {
        None => tally.silent += 1,
        Some(Severity::Info) => tally.info += 1,
        Some(Severity::Ack) => tally.ack += 1,
        Some(Severity::Break) => tally.broken += 1,
    }
}

#[test]
fn no_loss_goes_unnamed_and_every_witness_holds() {
    let (pairs, first) = (setting("COLIBRI_DRIFT_PAIRS", 500), setting("COLIBRI_DRIFT_SEED", 1));
    let started = Instant::now();
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get() as u64);
    let tally = std::thread::scope(|scope| {
        let part = |offset| {
            let mut tally = Tally::default();
            (first + offset..first + pairs)
                .step_by(threads as usize)
                .for_each(|seed| check(seed, &mut tally));
            tally
        };
        let parts: Vec<_> = (0..threads).map(|offset| scope.spawn(move || part(offset))).collect();
        parts.into_iter().map(|part| part.join().unwrap()).fold(Tally::default(), Tally::and)
    });
    let share = |part: u64, whole: u64| 100.0 * part as f64 / whole.max(1) as f64;
    eprintln!("{:.1} s on {threads} threads", started.elapsed().as_secs_f64());
    eprintln!(
        "{} pairs: no finding {:.1} %, INFO {:.1} %, ACK {:.1} %, BREAK {:.1} %; {} witnesses confirmed",
        tally.pairs,
        share(tally.silent, tally.pairs),
        share(tally.info, tally.pairs),
        share(tally.ack, tally.pairs),
        share(tally.broken, tally.pairs),
        tally.witnesses,
    );
    eprintln!(
        "{} values, {:.1} % of them valid where they come from; of {} pairs with a loss among them {:.1} % have a witness",
        tally.values,
        share(tally.fitting, tally.values),
        tally.losses,
        share(tally.losses_named, tally.losses),
    );
    // A pair that is run again by its seed says nothing about shares.
    if tally.pairs < 1_000 {
        return;
    }
    assert!(tally.fitting * 2 >= tally.values, "too few values fit");
    // A gate that always says "look at it" would be sound and useless.
    assert!(tally.silent + tally.info > tally.pairs / 10 && tally.broken > tally.pairs / 10);
}

#[test]
fn automata_and_the_engine_agree() {
    const STRINGS: u32 = 100_000;
    const EACH: u32 = 50;
    let mut dice = Dice::new(setting("COLIBRI_DRIFT_SEED", 1));
    let (mut compared, mut taken, mut skipped) = (0, 0, 0);
    while compared < STRINGS {
        let pattern = schemas::pattern(&mut dice);
        let engine = regress::Regex::with_flags(&pattern, "u").unwrap_or_else(|e| panic!("{pattern}: {e}"));
        let Some(automaton) = Automaton::new(&pattern) else {
            skipped += 1;
            continue;
        };
        for _ in 0..EACH {
            let text = values::text_near(&pattern, &mut dice);
            let verdict = engine.find(&text).is_some();
            assert_eq!(automaton.takes(&text), verdict, "{pattern:?} on {text:?}");
            compared += 1;
            taken += u32::from(verdict);
        }
    }
    eprintln!(
        "{compared} strings compared, {taken} of them taken; {skipped} patterns too large or not portable"
    );
    assert!(taken > STRINGS / 5 && taken < STRINGS / 5 * 4, "{taken}");
    assert!(skipped < STRINGS / EACH / 20, "{skipped}");
}
