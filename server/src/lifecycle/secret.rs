//! Values that must never be shown. What filters them out of texts that leave the process is
//! [`Redactor`](colibri_runtime::chain::redact::Redactor).

/// A secret value. It has neither `Debug` nor `Display`, so it cannot end up in a log, an error or a
/// panic message by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a value.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The value itself, for the one place that sends it to its owner.
    pub fn expose(&self) -> &str {
        &self.0
    }
}
