//! How a long read is asked to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Tells a long-running scan that it may stop early (shutdown). Checked between pages of rows.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Asks the scan to stop.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked to.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
