//! Real time, for the loop's thread.

use std::time::Duration;

use super::completion::{Pending, Sleeper};

/// A sleeper on the loop's timer.
#[derive(Debug, Clone, Copy, Default)]
pub struct Timer;

impl Sleeper for Timer {
    fn sleep(&self, ms: u64) -> Pending<'static, ()> {
        Box::pin(tokio::time::sleep(Duration::from_millis(ms)))
    }
}
