//! What the tools do: one folder a domain, each with the generated trait's implementation in `mod.rs`,
//! pure engine files, and its SQL in `store.rs`.

pub mod proof;
pub mod reputation;
pub mod router;
pub mod skills;
pub mod system;
pub mod tasks;
pub mod trail;

use crate::catalogue::Handlers;
use crate::context::Cx;
use crate::verification::tied::TiedTable;

/// The tables whose rows are tied to calls (design R17), for [`crate::verification`].
pub const TIED_TABLES: &[&dyn TiedTable] =
    &[&tasks::tie::TaskTie, &proof::tie::SessionTie, &trail::tie::RecordTie, &proof::tie::SealTie];

/// The handlers of every domain. They keep nothing between calls: what lasts is in the database, or in
/// the context.
#[derive(Debug, Default, Clone, Copy)]
pub struct Domains;

impl Handlers<Cx> for Domains {}
