//! Walks over many rows: why one ends early.

use colibri_runtime::handler::Fault;

/// Why a walk ended before its last row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// It was asked to stop.
    Interrupted,
    /// The database could not be read.
    Fault(Fault),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// Returns whether a walk's callback lets it go on; stores the reason if not.
pub fn goes_on(stop: &mut Option<Stop>, step: Result<(), Stop>) -> bool {
    match step {
        Ok(()) => true,
        Err(reason) => {
            *stop = Some(reason);
            false
        }
    }
}
