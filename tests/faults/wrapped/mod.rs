//! `colibri wrap` under kills, power cuts, disks that are full, fail or stand still, and clients and servers that do not read.
//!
//! ```text
//! peer          `colibri wrap` or the careless relay in front of the scripted server, and its client
//! load          calls whose replies follow from their ids
//! kills         rounds of kill -9, with several relays and a server on one file
//!    |- judge         what must hold afterwards
//!    '- controls      what a careless relay does wrong is noticed
//! power_cuts    a recording, cut at many points; and the controls without syncs
//! disks         a disk that is full or fails, a sync that does not end
//! sharing       relays and servers beside one another
//! floods        sides that do not read
//! ```

mod controls;
mod disks;
mod floods;
mod judge;
mod kills;
mod load;
mod peer;
mod power_cuts;
mod sharing;
