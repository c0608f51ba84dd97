//! Colibri beside peers. In each round every server runs twice, in a fresh process on a fresh file: one call at a time,
//! and with many in flight. Who begins moves on from round to round.

use crate::histogram::Histogram;
use crate::load::{lines, pipelined, serial};
use crate::options::Options;
use crate::process::{Process, fresh_folder};
use crate::stats::load_average;
use crate::table::Samples;
use crate::target::{Setting, Target, Tool};

const METRICS: [&str; 7] = [
    "one at a time: median µs",
    "one at a time: p99 µs",
    "one at a time: CPU µs a call",
    "in flight: calls a second",
    "in flight: p99 µs",
    "in flight: CPU µs a call",
    "in flight: peak memory KiB",
];

/// Measures and prints.
pub fn run(options: &Options) {
    let mut summary = Vec::new();
    for setting in &options.settings {
        for tool in &options.tools {
            summary.extend(measure(options, *setting, *tool));
        }
    }
    let names: Vec<&str> = options.peers.iter().map(|peer| peer.name.as_str()).collect();
    if !names.is_empty() {
        println!("## Colibri divided by …: medians of the rounds\n\n| | {} |", names.join(" | "));
        println!("| --- |{}\n{}", " --: |".repeat(names.len()), summary.join("\n"));
    }
}

/// One table; its ratios as rows of the summary.
fn measure(options: &Options, setting: Setting, tool: Tool) -> Vec<String> {
    let targets = options.targets();
    let mut samples = Samples::new(&METRICS, targets.iter().map(|target| target.name.clone()));
    let mut batches = Histogram::default();
    let load_before = load_average();
    for round in 0..options.rounds {
        for turn in 0..targets.len() {
            let server = (round + turn) % targets.len();
            let sample = sample(options, targets[server], setting, tool, &mut batches);
            eprintln!(
                "{} {} round {round} {}: {sample:.1?}",
                tool.name(),
                setting.title(),
                targets[server].name
            );
            samples.push(server, &sample);
        }
    }
    let (plan, rounds) = (options.plan, options.rounds);
    println!("## `{}`, {}\n", tool.name(), setting.title());
    println!(
        "{rounds} alternating rounds; {} calls one at a time; {} with {} in flight, the first {} not counted{}. \
         Medians (least–greatest). Load average {load_before} before, {} after.\n",
        options.serial,
        plan.calls,
        plan.window,
        plan.leave_out,
        if plan.together { ", requests written together" } else { "" },
        load_average(),
    );
    samples.print_values();
    samples.print_ratios();
    println!("Colibri's batches in the pipelined runs, by size: {batches}\n");
    samples.ratio_rows(&format!("`{}`, {}", tool.name(), setting.title()))
}

fn sample(
    options: &Options,
    target: &Target,
    setting: Setting,
    tool: Tool,
    batches: &mut Histogram,
) -> [f64; METRICS.len()] {
    let root = options.folder(setting);
    let mut process = Process::start(target, setting, fresh_folder(root));
    process.prepare(target);
    process.call(tool.name(), &target.arguments(tool, 0));
    let alone = serial(&mut process, target, tool, options.serial, options.serial.div_ceil(2));
    process.stop();

    let mut process = Process::start(target, setting, fresh_folder(root));
    process.prepare(target);
    let (lines, first) = lines(&mut process, target, tool, options.plan.calls);
    let crowd = pipelined(&mut process, &lines, first, options.plan);
    let peak = process.memory_kib("VmHWM");
    let log = process.stop();
    if target.ours {
        batches.add(&log);
    }
    [alone.p50_us, alone.p99_us, alone.cpu_us, crowd.per_second, crowd.p99_us, crowd.cpu_us, peak]
}
