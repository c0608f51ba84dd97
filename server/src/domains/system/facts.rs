//! What a running server knows about itself; filled in by boot, shown by the system tools.

/// How far the start has come (chain#life-cycle).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The transport is up, the database is not.
    Phase1,
    /// The gate is open.
    Phase2,
}

/// What became of the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DatabaseStatus {
    /// Phase 2 has not finished with it.
    Opening,
    /// It serves.
    Open,
    /// The mode opens none.
    Skipped,
    /// It could not be opened, or was lost; the text carries no SQL.
    Error(String),
}

/// The database as boot left it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseState {
    /// What became of it.
    pub status: DatabaseStatus,
    /// Its path as configured; `None` when the mode opens none.
    pub path: Option<String>,
    /// Whether it was opened for reading only.
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
    /// How far the start has come.
    pub phase: Phase,
    /// The database.
    pub database: DatabaseState,
    /// Registered tools.
    pub tool_count: usize,
    /// Tools the mode admits.
    pub admitted_tool_count: usize,
}

impl SystemFacts {
    /// Whole milliseconds since the start, for a monotonic time of the same clock (chain#system-tools).
    pub fn uptime_ms(&self, monotonic_ms: f64) -> i64 {
        (monotonic_ms - self.boot_start_ms).max(0.0).floor() as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alpha_67_uptime_is_floored() {
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
