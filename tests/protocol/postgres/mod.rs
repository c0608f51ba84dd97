//! The schema of a shared database beside SQLite's: the same tables, the same refusals, the same texts, and rights that
//! keep the log. Without PostgreSQL these tests are skipped.

mod altered;
mod conditions;
mod engines;
mod guide;
mod history_view;
mod logins;
mod poolers;
mod reading;
mod refusals;
mod rights;
mod rows;
mod schema;
mod setup;
mod standbys;
mod statements;
mod witness;
