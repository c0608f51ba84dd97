//! B1, B3 to B5: files made to mislead or to hang those who check them.

mod beside;
mod endless;
mod journal;
mod memory;
mod place;
mod schemas;
mod statistics;
