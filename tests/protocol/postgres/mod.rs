//! The schema of a shared database beside SQLite's: the same tables, the same refusals, the same texts, and rights that
//! keep the log. Without PostgreSQL these tests are skipped.

mod altered;
mod engines;
mod guide;
mod history_view;
mod reading;
mod refusals;
mod rights;
mod rows;
mod schema;
mod setup;
mod standbys;
mod statements;
mod witness;
