//! How much the server writes to its log.

use colibri_runtime::chain::log::Level;

/// The lowest level that is written; `None` writes nothing.
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
