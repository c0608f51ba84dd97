//! Did-you-mean: finds the known name closest to an unknown one.

/// The largest distance of a suggestion.
const MAX_DISTANCE: usize = 4;

/// Returns the candidate that `unknown` most likely means: one that shares its words (`COLIBRI_DB` for
/// `COLIBRI_DB_PATH`), else the nearest by edit distance.
pub fn closest<'a>(unknown: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (score(unknown, candidate), candidate))
        .min_by_key(|(score, _)| *score)
        .filter(|(score, _)| *score <= MAX_DISTANCE)
        .map(|(_, candidate)| candidate)
}

/// Scores a pair of names: 0 for equal names, small for related ones.
fn score(unknown: &str, candidate: &str) -> usize {
    let distance = distance(unknown, candidate);
    if distance > 2 && (words_within(unknown, candidate) || words_within(candidate, unknown)) {
        let difference = unknown.split('_').count().abs_diff(candidate.split('_').count());
        return distance.min(1 + difference);
    }
    // A short name is not a misspelling of a long one.
    if distance * 3 > candidate.len().max(unknown.len()) { usize::MAX } else { distance }
}

/// Returns whether `part` has at least two words and `whole` contains all of them.
fn words_within(part: &str, whole: &str) -> bool {
    part.split('_').count() > 1 && part.split('_').all(|word| whole.split('_').any(|other| other == word))
}

/// Computes the Levenshtein distance in characters.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_suggested_and_far_ones_are_not() {
        let names = ["task_create", "task_get", "task_list", "server_ping", "server_health"];
        assert_eq!(closest("task_creat", names), Some("task_create"));
        assert_eq!(closest("server_pong", names), Some("server_ping"));
        assert_eq!(closest("frobnicate", names), None);
        assert_eq!(closest("", names), None);
    }

    #[test]
    fn distances_count_edits() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("same", "same"), 0);
    }
}
