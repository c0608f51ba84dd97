//! What a run depends on besides its input: clocks, ids and the environment's secrets. The caller passes all of
//! it in, so that a test can replay any run.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Time, as the chain and the handlers see it.
pub trait Clock: Send + Sync {
    /// Returns monotonic milliseconds since an origin of the clock's own.
    fn monotonic_ms(&self) -> f64;
    /// Returns milliseconds since the Unix epoch, UTC: from 0 to [`LAST_MS`], so that a timestamp can show each.
    fn wall_ms(&self) -> i64;
}

/// The machine's clocks.
#[derive(Debug)]
pub struct SystemClock {
    origin: Instant,
}

impl Default for SystemClock {
    fn default() -> Self {
        Self { origin: Instant::now() }
    }
}

impl Clock for SystemClock {
    fn monotonic_ms(&self) -> f64 {
        self.origin.elapsed().as_secs_f64() * 1000.0
    }

    fn wall_ms(&self) -> i64 {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_millis().min(LAST_MS as u128) as i64)
    }
}

/// The last time that a four-digit year can show, 9999-12-31T23:59:59.999Z, in milliseconds since the epoch.
pub const LAST_MS: i64 = 253_402_300_799_999;

/// Writes milliseconds since the epoch as `YYYY-MM-DDTHH:MM:SS.mmmZ`. Times before the epoch are shown as the epoch, and
/// times after the year 9999 as its end, because a clock may show anything.
pub fn rfc3339_ms(wall_ms: i64) -> String {
    let time = UNIX_EPOCH + std::time::Duration::from_millis(wall_ms.clamp(0, LAST_MS) as u64);
    humantime::format_rfc3339_millis(time).to_string()
}

/// Reads what [`rfc3339_ms`] writes; `None` for any other text.
pub fn ms_of_rfc3339(text: &str) -> Option<i64> {
    let since = humantime::parse_rfc3339(text).ok()?.duration_since(UNIX_EPOCH).ok()?;
    let ms = i64::try_from(since.as_millis()).ok()?;
    (rfc3339_ms(ms) == text).then_some(ms)
}

/// Identifiers (chain#kernel).
pub trait Ids: Send {
    /// A random UUID, version 4, for correlation.
    fn v4(&mut self) -> String;
    /// An ordered UUID, version 7 (RFC 9562 §6.2), for stored things: ascending within a process even
    /// when `wall_ms` stands still or steps back.
    fn v7(&mut self, wall_ms: i64) -> String;
    /// Returns 32 bytes that cannot be guessed, for keys and salts. `None` if there is no such source: ids can do without
    /// one, secrets cannot.
    fn secret(&mut self) -> Option<[u8; 32]> {
        None
    }
}

/// Ids from the operating system's randomness, drawn a page at a time.
pub struct SystemIds {
    pool: [u8; 1024],
    used: usize,
    last_ms: u64,
    counter: u64,
}

impl Default for SystemIds {
    fn default() -> Self {
        Self { pool: [0; 1024], used: 1024, last_ms: 0, counter: 0 }
    }
}

/// Width of the counter that follows the time stamp: `rand_a` and the first 30 bits of `rand_b`
/// (RFC 9562 §6.2, method 1).
const COUNTER_BITS: u32 = 42;

impl SystemIds {
    fn random<const N: usize>(&mut self) -> [u8; N] {
        if self.used + N > self.pool.len() {
            // Without randomness ids become predictable; the clock keeps them distinct.
            if getrandom::getrandom(&mut self.pool).is_err() {
                let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
                for (place, byte) in self.pool.iter_mut().zip(nanos.to_le_bytes().into_iter().cycle()) {
                    *place ^= byte;
                }
            }
            self.used = 0;
        }
        let mut out = [0; N];
        out.copy_from_slice(&self.pool[self.used..self.used + N]);
        self.used += N;
        out
    }
}

impl Ids for SystemIds {
    fn v4(&mut self) -> String {
        uuid::Builder::from_random_bytes(self.random()).into_uuid().to_string()
    }

    fn v7(&mut self, wall_ms: i64) -> String {
        let now = wall_ms.max(0) as u64;
        if now > self.last_ms {
            self.last_ms = now;
            // The top bit stays free, so that a busy millisecond cannot run out of counter.
            self.counter = u64::from_le_bytes(self.random()) >> (65 - COUNTER_BITS);
        } else {
            self.counter += 1;
            if self.counter >> COUNTER_BITS != 0 {
                self.last_ms += 1;
                self.counter = 0;
            }
        }
        let tail: [u8; 4] = self.random();
        let bits = (u128::from(self.last_ms & 0xffff_ffff_ffff) << 80)
            | (u128::from(self.counter >> 30) << 64)
            | (u128::from(self.counter & 0x3fff_ffff) << 32)
            | u128::from(u32::from_le_bytes(tail));
        let mut bytes = bits.to_be_bytes();
        bytes[6] = 0x70 | (bytes[6] & 0x0f);
        bytes[8] = 0x80 | (bytes[8] & 0x3f);
        uuid::Uuid::from_bytes(bytes).to_string()
    }

    fn secret(&mut self) -> Option<[u8; 32]> {
        // Not from the pool, which would keep a copy.
        let mut secret = [0; 32];
        getrandom::getrandom(&mut secret).is_ok().then_some(secret)
    }
}
