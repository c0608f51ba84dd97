//! How much the server writes to its log.

use colibri_runtime::chain::log::Level;

/// How much is written: lines of this level and more important ones, or none at all.
pub type LogLevel = Option<Level>;

/// The words of the setting, most silent first.
pub const LOG_LEVELS: [(&str, LogLevel); 6] = [
    ("silent", None),
    ("error", Some(Level::Error)),
    ("warn", Some(Level::Warn)),
    ("info", Some(Level::Info)),
    ("debug", Some(Level::Debug)),
    ("trace", Some(Level::Trace)),
];
