//! Measures how a database's size affects its speed: start, `task_create` and `thought_record` on files of 100,000 to 10,000,000 tasks, as
//! many thoughts, and the calls that made them.
//!
//!     cargo bench -p colibri-tests --bench growth -- [ROWS …] [--calls N] [--keep PATH]
//!
//! Grows one file step by step to ROWS tasks and ROWS thoughts each (default 100000 300000 1000000 3000000 10000000), on
//! ROWS / 100 chains, and twice as many rows in the log of calls. The rows are inserted in bulk, but are those that the server would have
//! written: at the first size `colibri verify` recomputes the file (up to a million rows) after the measured calls.
//! At each size it times starts, and N calls (default 1,000) of each tool one at a time, without sync and with full
//! durability. The newest data is still in the system's page cache, so all numbers are warm. Prints the curve as a
//! table, and exits with 1 when the largest size breaks a promise.
//!
//! The file lies in the build's folder for temporary files, 2 GB for each million of ROWS, and is removed at the end.
//! With `--keep` the file is PATH and stays, and a later run continues it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod history;
mod latencies;
mod measure;
mod store;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use self::history::{Extent, grow};
use self::latencies::Latencies;
use self::measure::Point;
use tempfile::TempDir;

const SIZES: [i64; 5] = [100_000, 300_000, 1_000_000, 3_000_000, 10_000_000];
/// Up to this size the whole file is verified.
const VERIFIED: i64 = 1_000_000;

/// The median at the largest size, in parts of that at the smallest.
const TASK_RATIO: f64 = 1.3;
const THOUGHT_RATIO: f64 = 3.0;
/// From the start of the program to the first reply.
const BOOT: Duration = Duration::from_secs(1);

struct Options {
    sizes: Vec<i64>,
    calls: usize,
    keep: Option<PathBuf>,
}

impl Options {
    fn read() -> Self {
        let mut options = Self { sizes: Vec::new(), calls: 1_000, keep: None };
        let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--calls" => options.calls = arguments.next().unwrap().parse().unwrap(),
                // The servers work in folders of their own.
                "--keep" => options.keep = Some(std::path::absolute(arguments.next().unwrap()).unwrap()),
                size => options.sizes.push(size.replace('_', "").parse().unwrap()),
            }
        }
        if options.sizes.is_empty() {
            options.sizes = SIZES.to_vec();
        }
        options.sizes.sort_unstable();
        options
    }
}

fn main() -> ExitCode {
    let options = Options::read();
    let folder = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let database = options.keep.clone().unwrap_or_else(|| folder.path().join("growth.db"));
    measure::create(&database);
    let mut points = Vec::new();
    let mut broken = Vec::new();
    for rows in options.sizes {
        build(&database, rows);
        let chains = usize::try_from(rows / 100).unwrap().max(1);
        let point = measure::measure(&database, rows, chains, options.calls);
        println!("{}", line(&point, points.first().unwrap_or(&point)));
        if points.is_empty() && rows <= VERIFIED && !measure::is_sound(&database) {
            broken.push(format!("the database of {rows} rows is not sound"));
        }
        points.push(point);
    }
    print(&points);
    broken.extend(judge(&points));
    for promise in &broken {
        println!("BROKEN: {promise}");
    }
    ExitCode::from(u8::from(!broken.is_empty()))
}

fn build(database: &Path, rows: i64) {
    let began = Instant::now();
    let calls = grow(database, Extent { tasks: rows, thoughts: rows }, Duration::ZERO);
    let took = began.elapsed().as_secs_f64();
    let rate = calls as f64 / took;
    println!("{calls} calls and their effects written in {took:.1} s: {rate:.0} calls/s");
}

/// The two modes of durability and the two tools, in the order of the table.
fn columns(point: &Point) -> [&Latencies; 4] {
    let Point { relaxed, full, .. } = point;
    [&relaxed.task, &full.task, &relaxed.thought, &full.thought]
}

fn line(point: &Point, first: &Point) -> String {
    let mut line = format!(
        "| {} | {:.0} MB | {:.1?} | {:.1?} |",
        point.rows,
        point.bytes as f64 / 1e6,
        point.boot.at(50),
        point.boot_after_kill.at(50)
    );
    for (column, first) in columns(point).into_iter().zip(columns(first)) {
        line += &format!(" {:.2?} / {:.2?} | {:.2} |", column.at(50), column.at(99), ratio(column, first));
    }
    line
}

fn ratio(column: &Latencies, first: &Latencies) -> f64 {
    column.at(50).as_secs_f64() / first.at(50).as_secs_f64()
}

fn print(points: &[Point]) {
    println!(
        "\nMedians of starts; p50 / p99 of calls one at a time, and the p50 as a multiple of the first size's.\n"
    );
    println!(
        "| tasks, thoughts | file | start | after kill -9 | `task_create`, no sync | × | synced | × \
         | `thought_record`, no sync | × | synced | × |"
    );
    println!("|{}", " ---: |".repeat(12));
    for point in points {
        println!("{}", line(point, &points[0]));
    }
}

/// Returns the promises that the largest size breaks.
fn judge(points: &[Point]) -> Vec<String> {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return Vec::new() };
    let mut broken = Vec::new();
    let names =
        ["task_create, no sync", "task_create, synced", "thought_record, no sync", "thought_record, synced"];
    let most = [TASK_RATIO, TASK_RATIO, THOUGHT_RATIO, THOUGHT_RATIO];
    for (place, (column, first)) in columns(last).into_iter().zip(columns(first)).enumerate() {
        let ratio = ratio(column, first);
        if ratio > most[place] {
            broken.push(format!(
                "{}: the median has grown {ratio:.2} times, at most {}",
                names[place], most[place]
            ));
        }
    }
    for (name, boots) in [("a start", &last.boot), ("a start after kill -9", &last.boot_after_kill)] {
        if boots.at(50) > BOOT {
            broken.push(format!("{name} takes {:.2?}, at most {BOOT:.0?}", boots.at(50)));
        }
    }
    broken
}
