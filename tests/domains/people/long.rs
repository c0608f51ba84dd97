//! Long commands: what Ctrl-C leaves, and what a terminal shows meanwhile.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use colibri_test_support::client::{Launch, Server};
use colibri_test_support::dice::Dice;
use colibri_test_support::engine;
use colibri_test_support::shell::Run;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tempfile::TempDir;

use super::era::launch;

const SEED: u64 = 66;
const MOMENTS: u64 = 200;
/// How many of them must have fallen inside of the work.
const INSIDE: u64 = 60;
const WORKERS: u64 = 4;
const RECORDS: usize = 1_500;
const EVENTS: usize = 400;
const TASKS: usize = 150;

/// The long commands. DB is the database, OUT a new file, EVENTS a file of new events.
const COMMANDS: [&str; 11] = [
    "verify",
    "verify --write-checkpoint OUT",
    "backup OUT",
    "copy DB OUT",
    "export s --out OUT",
    "report s --html OUT",
    "overview --html OUT",
    "graph --all --svg --out OUT",
    "doctor",
    "reputation export --out OUT",
    "reputation import EVENTS",
];

/// A folder with a database that takes a while.
struct World {
    folder: Arc<TempDir>,
    epoch: i64,
}

impl World {
    fn new() -> Self {
        let launch = launch();
        let folder = launch.folder();
        let mut server = launch.start();
        server.data("audit_session_start", json!({ "session_id": "s", "intent": "measure" }));
        for begun in (0..RECORDS).step_by(100) {
            for number in begun..begun + 100 {
                let thought = json!({ "type": "plan", "task_id": format!("t{}", number % 7), "agent_id": "a",
                    "content": format!("thought {number}"), "session_id": "s" });
                server.send_call("thought_record", thought);
            }
            (0..100).for_each(|_| succeeded(&mut server));
        }
        server.data("merkle_finalize", json!({ "session_id": "s" }));
        let mut needed: Option<String> = None;
        for number in 0..TASKS {
            let depends_on: Vec<&String> = needed.iter().collect();
            let task = json!({ "title": format!("task {number}"), "depends_on": depends_on });
            let created = server.data("task_create", task);
            // Three tasks wait for each that others wait for.
            if number % 3 == 0 {
                needed = created["id"].as_str().map(str::to_owned);
            }
        }
        assert_eq!(server.finish().code(), 0);
        let mut world = Self { folder, epoch: 0 };
        world.epoch = world.run(&["reputation", "epoch"]).ends(0).out.trim_end().parse().unwrap();
        world
    }

    fn launch(&self) -> Launch {
        launch().in_folder(self.folder.clone())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, arguments: &[&str]) -> Run {
        Run::of(self.launch().command().args(arguments).stdin(Stdio::null()).output().unwrap())
    }

    /// The command, with names that end with this number.
    fn command(&self, words: &str, number: u64) -> Command {
        let mut command = self.launch().command();
        for word in words.split(' ') {
            match word {
                "DB" => command.arg(engine::locator(&self.path("colibri.db"))),
                "OUT" => command.arg(format!("out-{number}.")),
                "EVENTS" => command.arg(self.events(number)),
                word => command.arg(word),
            };
        }
        command.stdin(Stdio::null());
        command
    }

    fn events(&self, number: u64) -> PathBuf {
        let path = self.path(&format!("events-{number}.jsonl"));
        let event = |event: usize| {
            json!({ "event_id": format!("{number}-{event}"), "node_id": "alice", "domain": "social", "kind": "gain",
                "delta": 1, "acker_id": "bob", "epoch": self.epoch, "reason": "helped" })
        };
        let lines: String = (0..EVENTS).map(|number| format!("{}\n", event(number))).collect();
        std::fs::write(&path, lines).unwrap();
        path
    }

    /// The files whose names begin so.
    fn files(&self, beginning: &str) -> Vec<String> {
        let names = std::fs::read_dir(self.folder.path()).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with(beginning)).collect()
    }

    /// Runs a command to its end; returns how long it took.
    fn whole(&self, words: &str, number: u64) -> Duration {
        let began = Instant::now();
        let child =
            self.command(words, number).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let run = ended(child).ends(0);
        assert_eq!(run.err, "", "{words}");
        began.elapsed()
    }

    fn entries(&self) -> usize {
        let sql = "SELECT count(*) FROM reputation_ledger";
        let count: i64 = engine::open(self.path("colibri.db")).query_row(sql, [], |row| row.get(0)).unwrap();
        usize::try_from(count).unwrap()
    }
}

fn succeeded(server: &mut Server) {
    let answer = server.receive();
    assert_eq!(answer["result"]["structuredContent"]["ok"], json!(true), "{answer}");
}

fn signal(child: &Child, signal: Signal) {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).unwrap();
    // It may have ended by itself.
    let _ = kill_process(pid, signal);
}

/// Runs to its end a command that was started, without the advice on URLs of shared databases, which `copy` must name.
fn ended(child: Child) -> Run {
    let mut run = Run::of(child.wait_with_output().unwrap());
    let advice = "colibri: other users of this machine can read the password";
    run.err =
        run.err.lines().filter(|line| !line.starts_with(advice)).map(|line| format!("{line}\n")).collect();
    run
}

/// How a command ended that was sent a signal.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
enum Ended {
    /// The signal came before the command listened.
    Early,
    Inside,
    /// The command was done before.
    Late,
}

/// Runs a command, and sends it a signal once that moment has come.
fn interrupted(world: &World, words: &str, number: u64, moment: impl Fn(&Child), with: Signal) -> Ended {
    let out = format!("out-{number}.");
    let mut command = world.command(words, number);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    moment(&child);
    signal(&child, with);
    let run = ended(child);
    let said = format!("{words} ({number}): {:?} {}{}", run.code, run.out, run.err);
    let product = match run.code {
        Some(0) if words.contains("OUT") => vec![out.clone()],
        _ => Vec::new(),
    };
    // No product but a whole one, and no part of one.
    assert_eq!(world.files(&out), product, "{said}");
    match run.code {
        None => assert_eq!(run.err, "", "{said}"),
        Some(130) => assert_eq!(run.err, "colibri: interrupted; nothing was written\n", "{said}"),
        Some(0) => assert_eq!(run.err, "", "{said}"),
        _ => panic!("{said}"),
    }
    if words.starts_with("export") && run.code == Some(0) {
        assert_eq!(
            std::fs::read(world.path(&out)).unwrap(),
            std::fs::read(world.path("whole")).unwrap(),
            "{said}"
        );
    }
    for product in product {
        std::fs::remove_file(world.path(&product)).unwrap();
    }
    match run.code {
        None => Ended::Early,
        Some(130) => Ended::Inside,
        _ => Ended::Late,
    }
}

/// Sends the signal as soon as the command listens, since few moments hit a short command while other tests run; returns whether one
/// fell inside of its work.
fn falls_inside(world: &World, command: usize, imported: &AtomicU64) -> bool {
    (2_000..2_100).any(|number| {
        let ended = interrupted(world, COMMANDS[command], number, await_listening, Signal::INT);
        if ended == Ended::Late {
            imported.fetch_add(u64::from(COMMANDS[command].ends_with("EVENTS")), Ordering::Relaxed);
        }
        ended == Ended::Inside
    })
}

/// Waits until a process catches SIGINT, or has ended.
fn await_listening(child: &Child) {
    let catches = |status: String| {
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).map(str::trim);
        // A process that has ended has no memory, and catches nothing any more.
        !status.contains("VmSize:")
            || mask.is_some_and(|mask| u64::from_str_radix(mask, 16).unwrap() & 2 != 0)
    };
    let status = format!("/proc/{}/status", child.id());
    while !std::fs::read_to_string(&status).map_or(true, catches) {
        std::thread::yield_now();
    }
}

#[test]
fn people_66_ctrl_c_at_any_moment_leaves_no_product_and_a_sound_database() {
    let world = World::new();
    world.run(&["export", "s", "--out", "whole"]).ends(0);
    let before = world.entries();
    let whole: Vec<Duration> =
        (0_u64..).zip(COMMANDS).map(|(number, words)| world.whole(words, 1_000 + number)).collect();
    let imported = AtomicU64::new(1);
    let next = AtomicU64::new(0);
    let dice = Dice::new(SEED);
    let moments: Vec<(usize, Duration, Signal)> = (0..MOMENTS)
        .map(|number| {
            let dice = dice.stream(number);
            let command = dice.place(COMMANDS.len());
            let micros = u64::try_from(whole[command].as_micros()).unwrap();
            let signal = if dice.one_in(4) { Signal::TERM } else { Signal::INT };
            (command, Duration::from_micros(dice.below(micros)), signal)
        })
        .collect();
    let work = || {
        let mut ended: BTreeMap<(usize, &str), u64> = BTreeMap::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some((command, after, signal)) = usize::try_from(number).ok().and_then(|at| moments.get(at))
            else {
                return ended;
            };
            let words = COMMANDS[*command];
            let how = interrupted(&world, words, number, |_| std::thread::sleep(*after), *signal);
            if how == Ended::Late && words.ends_with("EVENTS") {
                imported.fetch_add(1, Ordering::Relaxed);
            }
            let how = match how {
                Ended::Early => "early",
                Ended::Inside => "inside",
                Ended::Late => "late",
            };
            *ended.entry((*command, how)).or_default() += 1;
        }
    };
    let mut ended: BTreeMap<(usize, &str), u64> = BTreeMap::new();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(work)).collect();
        for (what, count) in workers.into_iter().flat_map(|worker| worker.join().unwrap()) {
            *ended.entry(what).or_default() += count;
        }
    });
    let inside: u64 = ended.iter().filter(|((_, how), _)| *how == "inside").map(|(_, count)| count).sum();
    assert!(inside >= INSIDE, "{inside} of {MOMENTS} moments fell inside of the work: {ended:?}");
    let never = (0..COMMANDS.len()).filter(|command| !ended.contains_key(&(*command, "inside")));
    let missed = never.filter(|command| !falls_inside(&world, *command, &imported));
    let missed: Vec<&str> = missed.map(|command| COMMANDS[command]).collect();
    assert!(missed.is_empty(), "never inside: {missed:?} {ended:?}");
    let left: Vec<String> = world.files("").into_iter().filter(|name| name.contains("part-")).collect();
    assert!(left.is_empty(), "{left:?}");
    let imported = usize::try_from(imported.into_inner()).unwrap();
    assert_eq!(world.entries() - before, imported * EVENTS);
    world.run(&["verify"]).ends(0);
}

#[test]
fn people_66_what_a_killed_command_left_is_removed_by_the_next() {
    let world = World::new();
    for (words, beginning) in [("export s --out OUT", "out-1."), ("backup OUT", "out-2.")] {
        let number = beginning.trim_start_matches("out-").trim_end_matches('.').parse().unwrap();
        let part = world.path(&format!("{beginning}.colibri-part-4194305"));
        std::fs::write(&part, "half").unwrap();
        // Names that another program may give.
        let others =
            ["part-1", "part-999999", "part-x", "colibri-part-x", "colibri-part-01", "colibri-part-"];
        let others = others.map(|name| format!("{beginning}.{name}"));
        others.iter().for_each(|name| std::fs::write(world.path(name), "not a part").unwrap());
        // A killed command leaves files only; opening the pipe would wait for another program.
        let pipe = world.path(&format!("{beginning}.colibri-part-4194306"));
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let link = world.path(&format!("{beginning}.colibri-part-4194307"));
        std::os::unix::fs::symlink(world.path(&others[0]), &link).unwrap();
        world.whole(words, number);
        assert!(!part.exists(), "{:?}", world.files(beginning));
        for name in &others {
            assert_eq!(std::fs::read_to_string(world.path(name)).unwrap(), "not a part", "{name}");
        }
        assert!(pipe.symlink_metadata().is_ok() && link.symlink_metadata().is_ok());
        // While a process writes it, the part is locked.
        let held = std::fs::File::create(&part).unwrap();
        held.lock().unwrap();
        std::fs::remove_file(world.path(beginning)).unwrap();
        let refused = Run::of(world.command(words, number).output().unwrap()).ends(1);
        let expected =
            format!("colibri: another command is writing {beginning}; wait for it, or choose another name\n");
        assert_eq!(refused.err, expected);
        assert!(part.exists());
    }
}

#[cfg(target_os = "linux")]
mod terminal {
    use colibri_test_support::pty::{CTRL_C, Pty, wait};

    use super::*;

    /// What is on the screen at the end: of all that a bar sends, these move or erase.
    fn screen(shown: &str) -> String {
        let (mut lines, mut line, mut column) = (vec![Vec::new()], 0, 0);
        let mut rest = shown.chars();
        while let Some(char) = rest.next() {
            match char {
                '\r' => column = 0,
                '\n' => {
                    line += 1;
                    if line == lines.len() {
                        lines.push(Vec::new());
                    }
                }
                '\u{1b}' => {
                    let mut code: String = rest.next().into_iter().collect();
                    for char in rest.by_ref() {
                        code.push(char);
                        if char.is_ascii_alphabetic() {
                            break;
                        }
                    }
                    let count = code[1..code.len() - 1].parse().unwrap_or(1);
                    match code.chars().last().unwrap() {
                        'K' if code == "[2K" => lines[line].clear(),
                        'K' => lines[line].truncate(column),
                        'A' => line -= count,
                        'B' => line += count,
                        _ => panic!("{code:?} in {shown:?}"),
                    }
                }
                char => {
                    let row: &mut Vec<char> = &mut lines[line];
                    row.resize(row.len().max(column + 1), ' ');
                    row[column] = char;
                    column += 1;
                }
            }
        }
        let lines = lines.iter().map(|line| line.iter().collect::<String>().trim_end().to_owned());
        lines.collect::<Vec<_>>().join("\n").trim_end().to_owned()
    }

    /// Runs `verify` on a terminal, held up for longer than a short command takes; returns what appeared on stderr, and whether it
    /// was held up at work.
    fn held_up(world: &World, variables: &[(&str, &str)], part: u32) -> (String, bool) {
        let whole = world.whole("verify", 0);
        let terminal = Pty::open(80, 24);
        let mut command = world.command("verify", 0);
        command.env("TERM", "xterm").envs(variables.iter().copied());
        let mut command = terminal.session(&command);
        let mut child = command.stdout(Stdio::null()).spawn().unwrap();
        drop(command);
        std::thread::sleep(whole * part / 10);
        let working = child.try_wait().unwrap().is_none();
        signal(&child, Signal::STOP);
        std::thread::sleep(Duration::from_millis(700));
        signal(&child, Signal::CONT);
        assert_eq!(wait(&mut child).code(), Some(0));
        (terminal.closed(), working)
    }

    #[test]
    fn people_66_a_bar_shows_on_a_terminal_and_is_gone_at_the_end() {
        let world = World::new();
        for variables in [&[][..], &[("NO_COLOR", "1")]] {
            // Held up at one of the short parts, the bar shows no counts; the long one is met at some moment.
            let mut shown = (1..28).map(|part| held_up(&world, variables, part % 9 + 1).0);
            let shown = shown.find(|shown| shown.contains(" of ")).expect("a bar with counts");
            assert!(shown.contains("verify: "), "{shown:?}");
            assert_eq!(screen(&shown), "", "{shown:?}");
        }
        let mut dumb = (1..28).map(|part| held_up(&world, &[("TERM", "dumb")], part % 9 + 1));
        let shown = dumb.find_map(|(shown, working)| working.then_some(shown)).expect("one held up at work");
        assert_eq!(shown, "");
    }

    #[test]
    fn people_66_ctrl_c_on_a_terminal_takes_the_bar_away_and_says_that_nothing_was_written() {
        let world = World::new();
        let whole = world.whole("verify", 0);
        let ended = (1..28).map(|part| {
            let mut terminal = Pty::open(80, 24);
            let mut command = world.command("backup OUT", 1);
            let mut command = terminal.session(command.env("TERM", "xterm"));
            let mut child = command.spawn().unwrap();
            drop(command);
            std::thread::sleep(whole * (part % 9 + 1) / 10);
            signal(&child, Signal::STOP);
            std::thread::sleep(Duration::from_millis(700));
            signal(&child, Signal::CONT);
            std::thread::sleep(Duration::from_millis(5));
            terminal.press(CTRL_C);
            let code = wait(&mut child).code();
            let shown = terminal.closed();
            let _ = std::fs::remove_file(world.path("out-1."));
            assert!(world.files("out-1.").is_empty(), "{shown:?}");
            (code, shown)
        });
        let mut ended = ended.into_iter();
        let (_, shown) = ended.find(|(code, _)| *code == Some(130)).expect("one fell inside of the work");
        // The terminal itself echoes the key.
        let screen = screen(&shown).replace("^C", "");
        assert_eq!(screen, "colibri: interrupted; nothing was written", "{shown:?}");
    }

    #[test]
    fn people_66_a_short_command_shows_no_bar() {
        let folder = launch();
        let server = folder.start();
        let beside = launch().beside(&server);
        server.await_stderr("Phase 2 ready");
        for _ in 0..5 {
            let terminal = Pty::open(80, 24);
            let mut command = beside.command();
            command.arg("verify").env("TERM", "xterm");
            let began = Instant::now();
            let mut command = terminal.session(&command);
            let mut child = command.stdout(Stdio::null()).spawn().unwrap();
            drop(command);
            assert_eq!(wait(&mut child).code(), Some(0));
            let took = began.elapsed();
            let shown = terminal.closed();
            // A busy machine can make any command long, so the time says which of them were short.
            assert!(shown.is_empty() || took >= Duration::from_millis(500), "{took:?}: {shown:?}");
        }
        assert_eq!(server.finish().code(), 0);
    }
}
