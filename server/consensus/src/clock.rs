//! Logical time: a Lamport counter (consensus#logical-time). Pure.

use super::canonical::MAX_INTEGER;

/// The largest lead of a peer's logical time that is accepted, so that no faulty peer can use the counter up.
pub const MAX_CLOCK_JUMP: u64 = 1 << 32;

/// Why a logical time is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ClockError {
    /// A message's time is 0, or too far ahead.
    #[error("logical time {got} is 0 or more than 2^32 ahead of {at}")]
    ClockJump {
        /// The message's time.
        got: u64,
        /// This node's time.
        at: u64,
    },
    /// No time is left.
    #[error("logical time would pass 9223372036854775807")]
    Exhausted,
}

/// The counter; the first time it gives is 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LogicalClock {
    at: u64,
}

impl LogicalClock {
    /// Returns the last time given or observed, 0 before any.
    pub fn now(&self) -> u64 {
        self.at
    }

    /// Returns the next time, greater than all before it.
    ///
    /// # Errors
    /// [`ClockError::Exhausted`].
    #[expect(
        clippy::should_implement_trait,
        reason = "the protocol names it so, and times are no sequence to iterate"
    )]
    pub fn next(&mut self) -> Result<u64, ClockError> {
        if self.at >= MAX_INTEGER {
            return Err(ClockError::Exhausted);
        }
        self.at += 1;
        Ok(self.at)
    }

    /// Checks whether a message with time `got` may be accepted. Changes nothing.
    ///
    /// # Errors
    /// [`ClockError::ClockJump`].
    pub fn admit(&self, got: u64) -> Result<(), ClockError> {
        if got == 0 || got > MAX_INTEGER || got > self.at.saturating_add(MAX_CLOCK_JUMP) {
            return Err(ClockError::ClockJump { got, at: self.at });
        }
        Ok(())
    }

    /// Records the time of an accepted message, or of a stored one: the counter never falls behind it.
    pub fn observe(&mut self, seen: u64) {
        self.at = self.at.max(seen);
    }

    /// Resets the counter to 0. Only for tests: on a used database it would sign one time twice.
    pub fn reset(&mut self) {
        *self = Self::default();
    }
}
