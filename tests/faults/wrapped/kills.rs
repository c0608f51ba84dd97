//! Rounds of kill -9 under load: of relays, of their servers, of both, with up to four relays and one of Colibri's own servers on one
//! file. `COLIBRI_CRASH_RUNS` says how many rounds, `COLIBRI_CRASH_SEED` which comes first.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use colibri_test_support::client::{Launch, PATIENCE};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tempfile::TempDir;

use super::judge::{Finding, Told, What, judge};
use super::load::{self, Kind, PASSED};
use super::peer::{COLIBRI, Client, Heard, Relay, Setup, end_process, holds_within, read_pid};
use crate::crash::dice::Dice;
use crate::crash::layer::campaign::{Tally, campaign};
use crate::crash::layer::check;
use crate::crash::layer::load::plant;
use crate::crash::victim;

/// The most calls in flight.
const WINDOW: usize = 16;
/// How long a control may hold a reply up.
const HELD: Duration = Duration::from_secs(3);

/// What is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Victim {
    None,
    Relay,
    Server,
    Both,
}

/// What happens to a relay and its server.
struct Plan {
    calls: u64,
    window: u64,
    victim: Victim,
    /// The kill comes after so many answers
    after: u64,
    /// and so long.
    delay: Duration,
    /// The relay is killed so long after its start, before its first call.
    early: Option<Duration>,
    /// Of both, the server dies first.
    server_first: bool,
}

impl Plan {
    fn drawn(dice: &mut Dice, victims: &[Victim]) -> Self {
        let victim = *dice.pick(victims);
        let calls = 10 + dice.below(40);
        let early = victim == Victim::Relay && dice.below(12) == 0;
        Self {
            calls,
            window: 1 + dice.below(WINDOW as u64),
            victim,
            after: dice.below(calls),
            delay: dice.microseconds(8_000),
            early: early.then(|| dice.microseconds(30_000)),
            server_first: dice.below(2) == 0,
        }
    }

    /// What the server does first: a relay that is killed has to take along a server that would stay, and one whose server is killed
    /// what that has left behind.
    fn start(&self, dice: &mut Dice, setup: &Setup) -> Option<String> {
        let steps = match (self.victim, dice.below(6)) {
            (Victim::Relay, 0 | 1) => json!([{ "stay": null }]),
            (Victim::Server, 0 | 1) | (Victim::None, 0) => {
                json!([{ "grandchild": setup.beside("grandchild") }])
            }
            _ => return None,
        };
        Some(steps.to_string())
    }

    fn kills(&self) -> u64 {
        match self.victim {
            Victim::None => 0,
            Victim::Relay | Victim::Server => 1,
            Victim::Both => 2,
        }
    }
}

/// What a round has seen.
#[derive(Debug, Default, Clone, Copy)]
pub struct Counts {
    pub calls: u64,
    pub kills: u64,
    pub replies: u64,
}

/// Lets a client and a relay talk until one of them has ended.
fn converse(setup: Setup, plan: &Plan) -> Result<Told, Finding> {
    let mut client = setup.start();
    let told = |setup, sent, lines, client: &mut Client| Told {
        setup,
        victim: plan.victim,
        sent,
        process: client.pid(),
        lines,
        status: client.wait(),
    };
    if let Some(after) = plan.early {
        std::thread::sleep(after);
        client.kill();
        return Ok(told(setup, 0, Vec::new(), &mut client));
    }
    if !client.greet() {
        return Err(Finding::new(What::Failed, format!("it ended at once: {}", client.stderr())));
    }
    let limit = match setup.relay {
        Relay::Wrap | Relay::Careless("none") => PATIENCE,
        Relay::Careless(_) => HELD,
    };
    let (mut sent, mut answered, mut lines) = (0, 0, Vec::new());
    let (mut reads, mut due) = (true, plan.victim != Victim::None);
    loop {
        while reads && sent < plan.calls && sent - answered < plan.window {
            reads = client.write(load::call(&setup, sent).as_bytes());
            sent += 1;
        }
        if due && answered >= plan.after {
            std::thread::sleep(plan.delay);
            strike(&setup, plan, &mut client);
            due = false;
        }
        match client.hear(limit) {
            Heard::Line(line) => {
                answered += u64::from(load::answer(&line).is_some());
                lines.push(line);
            }
            Heard::Part if client.rest.len() > PASSED => {
                // The server writes its replies in the order of the calls.
                let long = (answered..sent).find(|id| load::kind(*id) == Kind::Long);
                long.into_iter().for_each(|id| drop(std::fs::File::create(load::gate(&setup, id)).unwrap()));
            }
            Heard::Part => {}
            Heard::Nothing => return Err(silent(&setup, plan, &client)),
            Heard::End => return Ok(told(setup, sent, lines, &mut client)),
        }
        if answered == plan.calls {
            client.close();
        }
    }
}

/// Lets a client talk to a relay that lives on.
pub fn undisturbed(setup: Setup, dice: &mut Dice) -> Result<Told, Finding> {
    converse(setup, &Plan::drawn(dice, &[Victim::None]))
}

fn silent(setup: &Setup, plan: &Plan, client: &Client) -> Finding {
    let text =
        format!("{} after {:?}: {} bytes: {}", setup.name, plan.victim, client.rest.len(), client.stderr());
    Finding::new(What::Held, text)
}

/// Kills.
fn strike(setup: &Setup, plan: &Plan, client: &mut Client) {
    let server = |setup: &Setup| {
        holds_within(PATIENCE, || read_pid(&setup.pid()).is_some());
        let pid = read_pid(&setup.pid()).and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
        // It may have ended with its relay.
        let _ = kill_process(pid.expect("the server has started"), Signal::KILL);
    };
    match plan.victim {
        Victim::None => {}
        Victim::Relay => client.kill(),
        Victim::Server => server(setup),
        Victim::Both if plan.server_first => {
            server(setup);
            client.kill();
        }
        Victim::Both => {
            client.kill();
            server(setup);
        }
    }
}

/// Runs relays beside one another and beside one of Colibri's own servers, which is killed, too.
pub fn round(seed: u64, relay: Relay, durability: &'static str) -> Result<Counts, Finding> {
    const ALL: [Victim; 4] = [Victim::None, Victim::Relay, Victim::Server, Victim::Both];
    let mut dice = Dice::of_run(seed);
    let folder = Arc::new(TempDir::new().unwrap());
    if dice.below(8) > 0 {
        plant(&folder);
    }
    let parts: Vec<(Setup, Plan)> = (0..1 + dice.place(4))
        .map(|number| {
            let plan = Plan::drawn(&mut dice, if number == 0 { &ALL[1..] } else { &ALL });
            let mut setup = Setup::new(relay, &format!("odd{number}"), &folder);
            setup.durability = durability;
            setup.pin = ["off", "warn", "refuse"][dice.place(3)];
            setup.start = plan.start(&mut dice, &setup);
            (setup, plan)
        })
        .collect();
    let (acknowledged, pause) = (dice.below(120), dice.microseconds(20_000));
    let launch = Launch::new(COLIBRI).in_folder(folder.clone()).env("COLIBRI_DURABILITY", durability);
    let kills = 1 + parts.iter().map(|(_, plan)| plan.kills()).sum::<u64>();
    let leftovers: Vec<_> =
        parts.iter().flat_map(|(setup, _)| ["pid", "grandchild"].map(|kind| setup.beside(kind))).collect();
    let (told, tasks) = std::thread::scope(|scope| {
        let server = scope.spawn(|| {
            let server = victim::Victim::under_load(&launch, 1000);
            let mut tasks: Vec<String> = (0..acknowledged).map(|_| server.acknowledged()).collect();
            std::thread::sleep(pause);
            tasks.extend(server.kill());
            tasks
        });
        let talk = |(setup, plan): (Setup, Plan)| scope.spawn(move || converse(setup, &plan));
        let talks: Vec<_> = parts.into_iter().map(talk).collect();
        let told: Vec<_> = talks.into_iter().map(|talk| talk.join().expect("the conversation")).collect();
        (told, server.join().expect("the server's load"))
    });
    let judged = told.into_iter().collect::<Result<Vec<_>, _>>().and_then(|told| {
        let replies = judge(&folder, &told, &tasks)?;
        let calls = told.iter().map(|told| told.sent).sum();
        Ok(Counts { calls, kills, replies: replies as u64 })
    });
    leftovers.iter().for_each(|file| end_process(file));
    judged
}

fn rounds(test: &str, durability: &'static str) {
    let calls = Cell::new(0);
    let sum = campaign(&format!("wrapped::kills::{test}"), 8, |seed| {
        let counts = round(seed, Relay::Wrap, durability)
            .map_err(|finding| check::Finding::Broken(format!("{finding:?}")))?;
        calls.set(calls.get() + counts.calls);
        Ok(Tally { done: 1, met: counts.kills, found: counts.replies })
    });
    assert!(sum.found > 10 * sum.done, "the kills came too early: {sum:?}");
    assert!(calls.get() > sum.found, "no kill met a call in flight: {sum:?} of {} calls", calls.get());
    if std::env::var_os("COLIBRI_CRASH_RUNS").is_some() {
        let first = std::env::var("COLIBRI_CRASH_SEED").unwrap_or_default();
        let (calls, Tally { met, found, .. }) = (calls.get(), sum);
        let line = format!("from seed {first}: {calls} calls, {met} kills, {found} replies checked\n");
        std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes()).unwrap();
    }
}

#[test]
fn wrap_38_kills_lose_no_row_of_what_was_passed_on() {
    rounds("wrap_38_kills_lose_no_row_of", "full");
}

#[test]
fn wrap_38_kills_lose_no_row_with_durability_normal() {
    rounds("wrap_38_kills_lose_no_row_with", "normal");
}
