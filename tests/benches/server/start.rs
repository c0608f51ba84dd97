//! From the spawn to the first answer, and to the answer of the first call that has to be stored: on a file that is not
//! there yet, and on one that is.

use std::time::Instant;

use crate::options::Options;
use crate::process::{Process, fresh_folder};
use crate::stats::load_average;
use crate::table::Samples;
use crate::target::{Setting, Target, Tool};

const METRICS: [&str; 4] = [
    "new file: first answer, ms",
    "new file: first stored call answered, ms",
    "file that is there: first answer, ms",
    "file that is there: first stored call answered, ms",
];

/// Measures and prints.
pub fn run(options: &Options) {
    let targets = options.targets();
    for setting in &options.settings {
        let mut samples = Samples::new(&METRICS, targets.iter().map(|target| target.name.clone()));
        let load_before = load_average();
        for round in 0..options.rounds {
            for turn in 0..targets.len() {
                let server = (round + turn) % targets.len();
                samples.push(server, &sample(options, targets[server], *setting));
            }
        }
        println!("## Start, {}\n", setting.title());
        println!(
            "{} alternating rounds, medians (least–greatest). Load average {load_before} before, {} after.\n",
            options.rounds,
            load_average()
        );
        samples.print_values();
        samples.print_ratios();
    }
}

fn sample(options: &Options, target: &Target, setting: Setting) -> [f64; METRICS.len()] {
    let folder = fresh_folder(options.folder(setting));
    let [new, there] = [(), ()].map(|()| {
        let began = Instant::now();
        let mut process = Process::start(target, setting, folder.clone());
        process.call(Tool::Task.name(), &target.arguments(Tool::Task, 0));
        let stored = began.elapsed().as_secs_f64() * 1e3;
        let answered = process.start_ms;
        process.stop();
        (answered, stored)
    });
    [new.0, new.1, there.0, there.1]
}
