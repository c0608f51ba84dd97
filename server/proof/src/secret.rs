//! Values that must never be shown. The server's redactor filters them out of texts that leave the process.

use std::sync::Arc;

use zeroize::Zeroizing;

/// A secret value. It has neither `Debug` nor `Display`, so it cannot end up in a log, an error or a
/// panic message by accident. Clones share one buffer, which is overwritten when the last of them is dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<Zeroizing<String>>);

impl Secret {
    /// Wraps a value.
    pub fn new(value: impl Into<String>) -> Self {
        Self(Arc::new(Zeroizing::new(value.into())))
    }

    /// Returns the value itself, for the one place that sends it to its owner.
    pub fn expose(&self) -> &str {
        &self.0
    }
}
