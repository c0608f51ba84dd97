//! One call at a time beside its floor: a bare commit of the same rows ([`crate::bare`]) and a pipe there and back
//! ([`crate::echo`]). The three take turns in small slices, so that each slice of a call has its floor beside it in time.

use crate::bare::Bare;
use crate::load::one_by_one;
use crate::options::Options;
use crate::peers::quoted;
use crate::process::{Process, fresh_folder};
use crate::stats::{Spread, load_average, median, percentile, short};
use crate::target::{Setting, Shapes, Target, Tool};

/// Calls before the first that counts: the server's log has grown by then.
const WARM_UP: usize = 1000;

/// One round's medians, in microseconds, and the ratio within each turn of the three.
struct Round {
    call: f64,
    commit: f64,
    sync: f64,
    bare: f64,
    echo: f64,
    turns: Vec<f64>,
}

impl Round {
    fn ratio(&self) -> f64 {
        self.call / (self.bare + self.echo)
    }
}

/// Measures and prints.
pub fn run(options: &Options) {
    for setting in &options.settings {
        measure(options, *setting);
    }
}

fn measure(options: &Options, setting: Setting) {
    let load_before = load_average();
    let rounds: Vec<Round> = (0..options.rounds)
        .map(|number| {
            let round = round(options, setting);
            eprintln!("floor round {number}: {:.2}", round.ratio());
            round
        })
        .collect();
    let row =
        |title: &str, of: fn(&Round) -> f64| println!("| {title} | {} |", Spread::of(rounds.iter().map(of)));
    println!("## `task_create` one at a time beside its floor, {}\n", setting.title());
    println!(
        "{} rounds of {} calls, in turns of {}. Medians of the rounds' medians (least–greatest). Load average \
         {load_before} before, {} after.\n\n| | µs |\n| --- | --: |",
        options.rounds,
        options.serial,
        options.slice,
        load_average(),
    );
    row("a: Colibri", |round| round.call);
    row("b: bare commit of the same rows, log grown", |round| round.bare);
    row("– its statements", |round| round.commit);
    row("– its sync", |round| round.sync);
    row("c: echo over pipes", |round| round.echo);
    row("**ratio a / (b + c)**, round by round", Round::ratio);
    let mut turns: Vec<f64> = rounds.iter().flat_map(|round| round.turns.iter().copied()).collect();
    let [least, middle, most] = [0.25, 0.5, 0.75].map(|share| short(percentile(&mut turns, share)));
    println!("| the same turn by turn: median (quartiles) | {middle} ({least}–{most}) |\n");
}

fn round(options: &Options, setting: Setting) -> Round {
    let root = options.folder(setting);
    let made = made_by_colibri(options, setting);
    let mut bare = Bare::open(&made.path().join("colibri.db"), setting);
    let mut server = Process::start(&options.colibri, setting, fresh_folder(root));
    let program = std::env::current_exe().expect("a path");
    let command = format!("{} echo", quoted(&program.to_string_lossy()));
    let echo = Target::new("echo", &command, &[], Shapes::default(), false);
    let mut echo_server = Process::start(&echo, setting, fresh_folder(root));

    let mut numbers = 0..;
    let mut arguments = || options.colibri.arguments(Tool::Task, numbers.next().expect("endless"));
    one_by_one(&mut server, Tool::Task, WARM_UP, &mut arguments);
    one_by_one(&mut echo_server, Tool::Task, WARM_UP, &mut arguments);
    let mut laps = Laps::default();
    let mut turns = Vec::new();
    while laps.calls.len() < options.serial {
        let mut turn = Laps {
            calls: one_by_one(&mut server, Tool::Task, options.slice, &mut arguments),
            ..Laps::default()
        };
        for _ in 0..options.slice {
            let lap = bare.store();
            turn.commits.push(lap.commit_us);
            turn.syncs.push(lap.sync_us);
            turn.both.push(lap.commit_us + lap.sync_us);
        }
        turn.echoes = one_by_one(&mut echo_server, Tool::Task, options.slice, &mut arguments);
        bare.rest(options.slice);
        laps.extend(&turn);
        turns.push(median(&mut turn.calls) / (median(&mut turn.both) + median(&mut turn.echoes)));
    }
    server.stop();
    echo_server.stop();
    let Laps { calls, commits, syncs, both, echoes } = laps;
    let [call, commit, sync, bare, echo] =
        [calls, commits, syncs, both, echoes].map(|mut laps| median(&mut laps));
    Round { call, commit, sync, bare, echo, turns }
}

/// What each took, in microseconds.
#[derive(Default)]
struct Laps {
    calls: Vec<f64>,
    commits: Vec<f64>,
    syncs: Vec<f64>,
    both: Vec<f64>,
    echoes: Vec<f64>,
}

impl Laps {
    fn extend(&mut self, turn: &Self) {
        self.calls.extend(&turn.calls);
        self.commits.extend(&turn.commits);
        self.syncs.extend(&turn.syncs);
        self.both.extend(&turn.both);
        self.echoes.extend(&turn.echoes);
    }
}

/// A folder with a file that Colibri has made, written one task to, and closed.
fn made_by_colibri(options: &Options, setting: Setting) -> std::sync::Arc<tempfile::TempDir> {
    let folder = fresh_folder(options.folder(setting));
    let mut server = Process::start(&options.colibri, setting, folder.clone());
    server.call(Tool::Task.name(), &options.colibri.arguments(Tool::Task, 0));
    server.stop();
    folder
}
