//! The kernel of the simulated machine: a clock that the scheduler moves, ids that follow from the seed.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use colibri_runtime::kernel::{Clock, Ids};
use colibri_test_support::dice::Dice;

/// Where every run begins: 2026-11-21T10:00:00Z.
const BEGINNING_MS: i64 = 1_795_255_200_000;
const DAY_MS: i64 = 86_400_000;

/// The one clock of the machine. Each look may take a while, so that batches outlast their transactions.
pub struct SimClock {
    wall_ms: AtomicI64,
    monotonic_us: AtomicU64,
    look_us: AtomicU64,
}

impl SimClock {
    pub fn new() -> Arc<Self> {
        let (monotonic_us, look_us) = (AtomicU64::new(5_000_000), AtomicU64::new(0));
        Arc::new(Self { wall_ms: AtomicI64::new(BEGINNING_MS), monotonic_us, look_us })
    }

    /// Lets time pass. The wall clock may stand still, jump ahead or jump back; the other one never goes back.
    pub fn shift(&self, dice: &Dice) {
        self.look_us.store(*dice.pick(&[0, 0, 1, 500, 20_000, 60_000]), Ordering::Relaxed);
        let passed_ms = *dice.pick(&[0, 0, 1, 7, 250, 90_000]);
        self.monotonic_us.fetch_add(passed_ms * 1000, Ordering::Relaxed);
        let jump = match dice.below(20) {
            0 => -(dice.below(3000) as i64),
            1 => -(dice.below(3) as i64 * DAY_MS),
            2 => dice.below(40) as i64 * DAY_MS,
            3 | 4 => 0,
            _ => passed_ms as i64,
        };
        self.wall_ms.fetch_add(jump, Ordering::Relaxed);
    }
}

impl Clock for SimClock {
    fn monotonic_ms(&self) -> f64 {
        self.monotonic_us.fetch_add(self.look_us.load(Ordering::Relaxed), Ordering::Relaxed) as f64 / 1000.0
    }

    fn wall_ms(&self) -> i64 {
        self.wall_ms.load(Ordering::Relaxed)
    }
}

/// The correlation ids that a process has given out, in order.
pub type Issued = Arc<Mutex<Vec<String>>>;

/// Ids that follow from a seed; ordered ones ascend like the server's own.
pub struct SimIds {
    dice: Mutex<Dice>,
    last_ms: u64,
    counter: u64,
    issued: Issued,
}

impl SimIds {
    pub fn new(seed: u64) -> Self {
        Self { dice: Mutex::new(Dice::new(seed)), last_ms: 0, counter: 0, issued: Issued::default() }
    }

    /// What [`Ids::v4`] gives is noted there as well.
    pub fn noted(seed: u64, issued: Issued) -> Self {
        Self { issued, ..Self::new(seed) }
    }

    fn random(&mut self) -> u64 {
        self.dice.get_mut().unwrap().roll()
    }
}

/// The layout of RFC 9562.
fn uuid(high: u64, low: u64, version: u64) -> String {
    let high = (high & !0xf000) | (version << 12);
    let low = (low & !(3 << 62)) | (2 << 62);
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    )
}

impl Ids for SimIds {
    fn v4(&mut self) -> String {
        let id = uuid(self.random(), self.random(), 4);
        self.issued.lock().unwrap().push(id.clone());
        id
    }

    fn v7(&mut self, wall_ms: i64) -> String {
        let now = wall_ms as u64;
        if now > self.last_ms {
            (self.last_ms, self.counter) = (now, 0);
        } else {
            self.counter += 1;
        }
        assert!(self.counter < 1 << 12, "a busy millisecond");
        uuid((self.last_ms << 16) | self.counter, self.random(), 7)
    }

    fn secret(&mut self) -> Option<[u8; 32]> {
        let mut secret = [0; 32];
        secret.chunks_mut(8).for_each(|part| part.copy_from_slice(&self.random().to_le_bytes()));
        Some(secret)
    }
}
