//! How urgent a free-text priority is (tasks#queue).
//!
//! The queue's SQL and its index state the same ranking; tests hold them to this table.

/// The words that are ranked, most urgent first. Every other text ranks as [`DEFAULT_RANK`].
pub const RANKED: [(u8, &[&str]); 4] = [
    (0, &["critical", "urgent", "urgent_important", "p0"]),
    (1, &["high", "important", "not_urgent_important", "p1"]),
    (2, &["medium", "normal", "urgent_not_important", "p2"]),
    (3, &["low", "not_urgent_not_important", "p3"]),
];

/// The rank of a task without a priority, or with one that is not in [`RANKED`].
pub const DEFAULT_RANK: u8 = 2;

/// The rank of a priority, 0 the most urgent. ASCII case does not count, everything else does.
pub fn rank(priority: Option<&str>) -> u8 {
    let Some(text) = priority else { return DEFAULT_RANK };
    RANKED
        .iter()
        .find(|(_, words)| words.iter().any(|word| word.eq_ignore_ascii_case(text)))
        .map_or(DEFAULT_RANK, |(rank, _)| *rank)
}
