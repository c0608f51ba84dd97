//! The machine on which the processes run, and which decides what happens next.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fs::File;
use std::path::PathBuf;
use std::rc::{Rc, Weak};
use std::sync::Arc;

use colibri_runtime::chain::call::Call;
use colibri_test_support::dice::Dice;
use rusqlite::{Connection, OpenFlags};
use tempfile::TempDir;

use crate::clients::Known;
use crate::faults::{Control, Defect, HandlerKind, Kind, StorePlan};
use crate::history::Record;
use crate::kernel::SimClock;
use crate::process::{Inbox, Life, Machine, Process};

/// How deep processes run within the pauses of others.
const DEEPEST: u32 = 2;

/// What is at a place for a process.
enum Slot {
    Empty,
    Up(Box<Process>),
    /// It is in the middle of something.
    Busy,
}

/// A promise that was not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    pub step: u64,
    pub what: String,
}

/// One run.
pub struct World {
    folder: TempDir,
    pub path: PathBuf,
    clock: Arc<SimClock>,
    pub dice: Dice,
    defect: Defect,
    durable: bool,
    slots: RefCell<Vec<Slot>>,
    living: RefCell<BTreeSet<String>>,
    pub known: RefCell<Known>,
    pub history: RefCell<Vec<Record>>,
    /// Network calls that are out, by their place in the history.
    pub flying: RefCell<BTreeSet<usize>>,
    /// What is said and done, line by line.
    pub transcript: RefCell<Vec<String>>,
    violation: RefCell<Option<Violation>>,
    step: Cell<u64>,
    pub kills: Cell<u64>,
    time: Cell<u64>,
    depth: Cell<u32>,
    ending: Cell<bool>,
}

impl World {
    pub fn new(seed: u64, defect: Defect) -> Rc<Self> {
        let dice = Dice::new(seed);
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("colibri.db");
        let slots = (0..1 + dice.below(4)).map(|_| Slot::Empty).collect();
        let durable = dice.one_in(8);
        Rc::new(Self {
            folder,
            path,
            clock: SimClock::new(),
            dice,
            defect,
            durable,
            slots: RefCell::new(slots),
            living: RefCell::default(),
            known: RefCell::default(),
            history: RefCell::default(),
            flying: RefCell::default(),
            transcript: RefCell::default(),
            violation: RefCell::default(),
            step: Cell::new(0),
            kills: Cell::new(0),
            time: Cell::new(0),
            depth: Cell::new(0),
            ending: Cell::new(false),
        })
    }

    /// Runs the whole simulation, up to a file that no process has open.
    pub fn run(self: &Rc<Self>, steps: u64) -> Result<(), Violation> {
        for _ in 0..steps {
            self.take_step();
            if let Some(violation) = self.violation.take() {
                return Err(violation);
            }
        }
        self.ending.set(true);
        for at in 0..self.places() {
            if let Slot::Up(process) = self.take(at) {
                if self.dice.one_in(2) { self.stop(*process) } else { self.kill(*process) }
            }
        }
        // The last process tidies up.
        match self.boot() {
            Slot::Up(process) => self.stop(*process),
            _ => self.violated("the last boot failed"),
        }
        self.violation.take().map_or(Ok(()), Err)
    }

    pub fn step(&self) -> u64 {
        self.step.get()
    }

    pub fn violated(&self, what: impl Into<String>) {
        let violation = Violation { step: self.step.get(), what: what.into() };
        self.violation.borrow_mut().get_or_insert(violation);
    }

    pub fn say(&self, line: String) {
        self.transcript.borrow_mut().push(line);
    }

    pub fn tick(&self) -> u64 {
        self.time.set(self.time.get() + 1);
        self.time.get()
    }

    fn places(&self) -> usize {
        self.slots.borrow().len()
    }

    fn take(&self, at: usize) -> Slot {
        std::mem::replace(&mut self.slots.borrow_mut()[at], Slot::Busy)
    }

    fn machine(&self) -> Machine<'_> {
        Machine { path: &self.path, clock: &self.clock, durable: self.durable }
    }

    /// Makes something happen to one of the processes.
    fn take_step(self: &Rc<Self>) {
        self.step.set(self.step.get() + 1);
        self.clock.shift(&self.dice);
        let at = self.dice.place(self.places());
        let next = match self.take(at) {
            Slot::Busy => Slot::Busy,
            Slot::Empty => self.boot(),
            Slot::Up(process) => self.drive(process),
        };
        self.slots.borrow_mut()[at] = next;
    }

    /// Runs other processes while one of them is between two transactions.
    fn interleave(self: &Rc<Self>) {
        let due = self.depth.get() < DEEPEST && !self.ending.get() && self.dice.one_in(5);
        if due && self.queue_is_free() {
            self.depth.set(self.depth.get() + 1);
            self.take_step();
            self.depth.set(self.depth.get() - 1);
        }
    }

    /// Returns whether a writer would get in at once. If not, it would wait for a process that waits for it.
    fn queue_is_free(&self) -> bool {
        let queue = self.folder.path().join("colibri.db.queue");
        File::open(queue).is_ok_and(|file| file.try_lock().is_ok())
    }

    fn boot(self: &Rc<Self>) -> Slot {
        let seed = self.dice.roll();
        let world = Rc::downgrade(self);
        let pause = move || {
            if let Some(world) = Weak::upgrade(&world) {
                world.interleave();
            }
        };
        let control = Control::new(self.defect, Box::new(pause));
        let mut process = Process::start(&self.machine(), seed, control);
        self.say(format!("{} boot {}", self.step(), process.boot));
        let pings: Vec<Call> =
            (0..self.dice.below(3)).map(|_| self.known.borrow_mut().ping(&self.dice)).collect();
        let first = self.history.borrow().len();
        self.answer_early(&mut process, pings);
        let pinged = first..self.history.borrow().len();
        let store = match process.open(&self.machine(), seed) {
            Ok(store) => store,
            Err(reason) => {
                self.violated(format!("a process cannot open the database: {reason}"));
                return Slot::Empty;
            }
        };
        self.living.borrow_mut().insert(process.boot.clone());
        self.check_swept();
        self.arm(&process.control, 2);
        let mut opened = Ok(());
        let life = process.live(|process| opened = process.chain.open(store, "sqlite"));
        if life == Life::Alive && opened.is_ok() {
            process.control.arm(None, None);
            return Slot::Up(Box::new(process));
        }
        if !process.control.has_fired() {
            self.violated(format!("the gate stays closed although nothing failed: {opened:?}"));
        }
        pinged.for_each(|at| self.history.borrow_mut()[at].unclear = true);
        self.end(process, life);
        Slot::Empty
    }

    fn answer_early(&self, process: &mut Process, pings: Vec<Call>) {
        let (places, before) = (self.send(process, &pings), process.issued());
        let control = process.control.clone();
        let mut inbox = Inbox::new(&control, true);
        process.run(pings.clone(), &mut inbox);
        self.settle(process, (&pings, &places, before), inbox, Life::Alive);
        places.iter().for_each(|at| self.history.borrow_mut()[*at].early = true);
    }

    /// Checks that a boot has closed every row of dead processes, and none of a living one's.
    fn check_swept(&self) {
        let conn = Connection::open_with_flags(&self.path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        let running: Vec<(String, String)> = conn
            .prepare("SELECT boot_id, correlation_id FROM actions WHERE outcome = 'running'")
            .unwrap()
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        for (boot, correlation_id) in &running {
            if !self.living.borrow().contains(boot) {
                self.violated(format!("{correlation_id} of a dead process is still open after a boot"));
            }
        }
        for at in &*self.flying.borrow() {
            let record = &self.history.borrow()[*at];
            if !running.iter().any(|(_, id)| *id == record.correlation_id) {
                self.violated(format!("{} is under way in a living process and closed", record.name()));
            }
        }
    }

    /// Makes something happen to a process that is up.
    fn drive(self: &Rc<Self>, mut process: Box<Process>) -> Slot {
        match self.dice.below(100) {
            0..=3 => {
                self.stop(*process);
                return Slot::Empty;
            }
            4..=6 => {
                self.kill(*process);
                return Slot::Empty;
            }
            7 => {
                self.kill(*process);
                self.kill_everybody();
                return Slot::Empty;
            }
            8..=11 => {
                let pages = (!process.limited).then(|| self.dice.below(12) as i64);
                self.say(format!("{} limit {pages:?}", self.step()));
                if let Err(reason) = process.limit(pages) {
                    self.violated(reason);
                }
                return Slot::Up(process);
            }
            _ => {}
        }
        let life = self.work(&mut process);
        if life == Life::Alive && process.chain.fatal().is_none() {
            process.control.arm(None, None);
            return Slot::Up(process);
        }
        self.end(*process, life);
        Slot::Empty
    }

    /// Makes something fail during the next calls, or nothing.
    pub fn arm(&self, control: &Control, calls: u64) {
        if self.ending.get() {
            return control.arm(None, None);
        }
        let dice = &self.dice;
        let (store, handler) = match dice.below(100) {
            0..=27 => {
                let kinds = [
                    Kind::Refuse,
                    Kind::Refuse,
                    Kind::Drop,
                    Kind::CrashBefore,
                    Kind::CrashAfter,
                    Kind::Unclear,
                ];
                let (first, length) = (dice.below(5 * calls + 8), *dice.pick(&[1, 1, 1, 2, 3, 20, 500]));
                (Some(StorePlan { first, length, kind: *dice.pick(&kinds) }), None)
            }
            28..=37 => {
                use HandlerKind::{Crash, Drop, DropAndFail, Fail, Panic};
                (None, Some((dice.below(calls), *dice.pick(&[Fail, Panic, Crash, Drop, DropAndFail]))))
            }
            _ => (None, None),
        };
        control.arm(store, handler);
    }

    fn end(&self, process: Process, life: Life) {
        if life == Life::Dead || self.dice.one_in(2) { self.kill(process) } else { self.stop(process) }
    }

    /// Stops a process cleanly. Mostly it waits for calls under way.
    fn stop(&self, mut process: Process) {
        let whole = process.chain.fatal().is_none() && !self.dice.one_in(4);
        process.control.arm(None, None);
        let mut life = Life::Alive;
        if whole && process.scan.is_some() {
            life = self.end_scan(&mut process);
        }
        if whole && life == Life::Alive && process.flight.is_some() {
            life = self.end_flight(&mut process);
        }
        if life == Life::Dead || process.chain.fatal().is_some() {
            return self.kill(process);
        }
        self.say(format!("{} stop {}", self.step(), process.boot));
        process.control.arm(None, None);
        self.forget_calls(&process);
        let boot = process.boot.clone();
        if let Err(reason) = process.stop() {
            self.say(format!("{} stopped badly: {reason}", self.step()));
        }
        // Not earlier: the process lives while it stops, and others may run meanwhile.
        self.living.borrow_mut().remove(&boot);
    }

    fn kill(&self, process: Process) {
        self.say(format!("{} kill {}", self.step(), process.boot));
        self.kills.set(self.kills.get() + 1);
        process.control.arm(None, None);
        self.forget_calls(&process);
        self.living.borrow_mut().remove(&process.boot);
        process.kill(&self.path);
    }

    /// Takes the machine down, except processes that are in the middle of something.
    fn kill_everybody(&self) {
        for at in 0..self.places() {
            match self.take(at) {
                Slot::Up(process) => {
                    self.kill(*process);
                    self.slots.borrow_mut()[at] = Slot::Empty;
                }
                other => self.slots.borrow_mut()[at] = other,
            }
        }
    }

    /// Forgets the calls it had under way, which will never be answered.
    fn forget_calls(&self, process: &Process) {
        for (_, at) in process.flight.iter() {
            self.flying.borrow_mut().remove(at);
            self.history.borrow_mut()[*at].unclear = true;
        }
        for (_, at) in process.scan.iter() {
            self.history.borrow_mut()[*at].unclear = true;
        }
    }
}
