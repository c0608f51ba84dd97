//! The tables whose rows are tied to calls.

use crate::domains::ties::TiedTable;
use crate::domains::{callers, consensus, notes, proof, tasks, warnings, wrap};

/// The tables whose rows must produce the replies of the calls that wrote them.
pub const TIED_TABLES: &[&dyn TiedTable] = &[
    &callers::ties::CallerTie,
    &tasks::ties::TaskTie,
    &proof::ties::SessionTie,
    &warnings::RecordTie,
    &proof::ties::SealTie,
    &consensus::ties::RoundTie,
    &consensus::ties::VoteTie,
    &wrap::tie::RunTie,
    &wrap::tie::PinTie,
    &notes::tie::NoteTie,
];
