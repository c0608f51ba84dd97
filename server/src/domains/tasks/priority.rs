//! The urgency of a free-text priority (tasks#queue).
//!
//! The queue's SQL and its index repeat this ranking; tests compare them with this table.

/// The ranked words, most urgent first. Every other text ranks as [`DEFAULT_RANK`].
pub const RANKED: [(u8, &[&str]); 4] = [
    (0, &["critical", "urgent", "urgent_important", "p0"]),
    (1, &["high", "important", "not_urgent_important", "p1"]),
    (2, &["medium", "normal", "urgent_not_important", "p2"]),
    (3, &["low", "not_urgent_not_important", "p3"]),
];

/// The rank of a task without a priority, or with one that is not in [`RANKED`].
pub const DEFAULT_RANK: u8 = 2;

/// Returns the rank of a priority; 0 is the most urgent. Ignores ASCII case and nothing else.
pub fn rank(priority: Option<&str>) -> u8 {
    let Some(text) = priority else { return DEFAULT_RANK };
    RANKED
        .iter()
        .find(|(_, words)| words.iter().any(|word| word.eq_ignore_ascii_case(text)))
        .map_or(DEFAULT_RANK, |(rank, _)| *rank)
}
