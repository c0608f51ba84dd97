//! How a command's reads are asked to stop: at the next row, in every connection of its process. Servers never ask.

use std::sync::OnceLock;

use colibri_runtime::chain::scan::Interrupt;

static ASKED: OnceLock<Interrupt> = OnceLock::new();

/// Returns what stops all reads of this process once it is raised. They fail then, which says nothing about the data.
pub fn of_all_reads() -> Interrupt {
    ASKED.get_or_init(Interrupt::default).clone()
}

/// Returns whether the reads of this process are to stop.
pub fn is_asked() -> bool {
    ASKED.get().is_some_and(Interrupt::is_raised)
}
