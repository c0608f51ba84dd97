//! The server's knowledge about itself; boot fills it in, and the system tools show it.

/// The progress of the start (chain#life-cycle).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The transport is up, the database is not.
    Phase1,
    /// The gate is open.
    Phase2,
}

/// The state of the database connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DatabaseStatus {
    /// Phase 2 is still opening it.
    Opening,
    /// It is in use.
    Open,
    /// The mode opens no database.
    Skipped,
    /// It could not be opened, or was lost; the text contains no SQL.
    Error(String),
}

/// The database after boot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseState {
    /// Its status.
    pub status: DatabaseStatus,
    /// Its path as configured; `None` if the mode opens no database.
    pub path: Option<String>,
    /// Whether it was opened read-only.
    pub read_only: bool,
    /// The highest migration compiled in.
    pub latest_schema_version: u32,
}

/// The facts behind the system tools.
#[derive(Debug, Clone, PartialEq)]
pub struct SystemFacts {
    /// The server's version: the package's, or what a test injects.
    pub version: String,
    /// Monotonic milliseconds of the clock at the start of the process.
    pub boot_start_ms: f64,
    /// The progress of the start.
    pub phase: Phase,
    /// The database.
    pub database: DatabaseState,
    /// Tools that clients are shown.
    pub tool_count: usize,
    /// Offered tools that the mode admits.
    pub admitted_tool_count: usize,
}

impl SystemFacts {
    /// Returns the whole milliseconds since the start, for a monotonic time of the same clock (chain#system-tools).
    pub fn uptime_ms(&self, monotonic_ms: f64) -> i64 {
        (monotonic_ms - self.boot_start_ms).max(0.0).floor() as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uptime_is_floored() {
        let facts = SystemFacts {
            version: "9.9.9-test".into(),
            boot_start_ms: 1.2,
            phase: Phase::Phase1,
            database: DatabaseState {
                status: DatabaseStatus::Opening,
                path: None,
                read_only: false,
                latest_schema_version: 1,
            },
            tool_count: 0,
            admitted_tool_count: 0,
        };
        assert_eq!(facts.uptime_ms(1284.7), 1283);
        assert_eq!(facts.uptime_ms(0.0), 0);
    }
}
