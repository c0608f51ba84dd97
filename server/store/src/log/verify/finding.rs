//! What can be wrong with the log.

use std::fmt;

/// Something in the log that Colibri cannot have written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActionsFinding {
    /// The stored hash of a closed row does not match its columns.
    RowChanged {
        /// The call.
        sequence_no: i64,
    },
    /// A closed row does not follow the one before.
    LinkBroken {
        /// The call.
        sequence_no: i64,
    },
    /// A row holds a value that no call leaves there, even if its hash is right.
    Implausible {
        /// The call.
        sequence_no: i64,
        /// The first such column.
        column: &'static str,
    },
    /// A closed row is missing.
    ExitMissing {
        /// The missing number.
        exit_no: i64,
    },
    /// A closed row holds a value that its column cannot have.
    Unreadable {
        /// Its place in the chain, as far as the walk had come.
        exit_no: i64,
    },
    /// Rows that are neither running nor closed.
    NeitherOpenNorClosed {
        /// How many.
        rows: i64,
    },
    /// A call's row is missing.
    SequenceMissing {
        /// The missing number.
        sequence_no: i64,
    },
    /// The head's row is missing or unreadable.
    HeadMissing,
    /// The head is not the one row, numbered 1, that the table has.
    HeadRows,
    /// The log does not end where its head says: rows were removed or added.
    HeadMismatch {
        /// The head's numbers: last call, last closed row.
        head: (i64, i64),
        /// The log's numbers.
        log: (i64, i64),
    },
    /// The head names another last row.
    HeadHash,
}

impl ActionsFinding {
    /// Returns its kind, for machines.
    pub fn code(&self) -> &'static str {
        match self {
            Self::RowChanged { .. } => "ROW_CHANGED",
            Self::LinkBroken { .. } => "LINK_BROKEN",
            Self::Implausible { .. } => "IMPLAUSIBLE_VALUE",
            Self::ExitMissing { .. } => "EXIT_MISSING",
            Self::Unreadable { .. } => "ROW_UNREADABLE",
            Self::NeitherOpenNorClosed { .. } => "NEITHER_OPEN_NOR_CLOSED",
            Self::SequenceMissing { .. } => "CALL_MISSING",
            Self::HeadMissing => "HEAD_MISSING",
            Self::HeadRows => "HEAD_ROWS",
            Self::HeadMismatch { .. } => "HEAD_MISMATCH",
            Self::HeadHash => "HEAD_HASH_MISMATCH",
        }
    }

    /// Returns the row that it is about.
    pub fn subject(&self) -> String {
        match self {
            Self::RowChanged { sequence_no }
            | Self::LinkBroken { sequence_no }
            | Self::Implausible { sequence_no, .. }
            | Self::SequenceMissing { sequence_no } => format!("actions {sequence_no}"),
            Self::ExitMissing { exit_no } | Self::Unreadable { exit_no } => {
                format!("actions exit_no {exit_no}")
            }
            Self::NeitherOpenNorClosed { .. } => "actions".to_owned(),
            Self::HeadMissing | Self::HeadRows | Self::HeadMismatch { .. } | Self::HeadHash => {
                "actions_head".to_owned()
            }
        }
    }
}

impl fmt::Display for ActionsFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RowChanged { sequence_no } => {
                write!(f, "actions row {sequence_no}: its columns do not give its row_hash")
            }
            Self::LinkBroken { sequence_no } => {
                write!(f, "actions row {sequence_no}: prev_hash is not the row before's row_hash")
            }
            Self::Implausible { sequence_no, column } => {
                write!(f, "actions row {sequence_no}: no call leaves such a value in {column}")
            }
            Self::ExitMissing { exit_no } => write!(f, "actions: no row has exit_no {exit_no}"),
            Self::Unreadable { exit_no } => {
                write!(f, "actions: the row with exit_no {exit_no} holds a value of a wrong type")
            }
            Self::NeitherOpenNorClosed { rows } => {
                write!(f, "actions: {rows} rows are neither running nor closed")
            }
            Self::SequenceMissing { sequence_no } => {
                write!(f, "actions: no row has sequence_no {sequence_no}")
            }
            Self::HeadMissing => write!(f, "actions_head: its row is missing or unreadable"),
            Self::HeadRows => write!(f, "actions_head: it holds another row than the one with id 1"),
            Self::HeadMismatch { head, log } => write!(
                f,
                "actions_head: says the log ends at sequence_no {} and exit_no {}, but it ends at {} and {}",
                head.0, head.1, log.0, log.1
            ),
            Self::HeadHash => write!(f, "actions_head: last_row_hash is not the last closed row's"),
        }
    }
}
