//! Did you mean: finds the known name that an unknown one most likely means. Catalogues, arguments of calls, commands and
//! settings all ask here, so that a misspelling is judged the same way everywhere.

/// Longer names do not count as typing slips, and comparing them would take long.
const MAX_LETTERS: usize = 64;

/// The most edits of a typing slip.
const MAX_DISTANCE: usize = 4;

/// Returns the candidate that `unknown` most likely means: one that shares its words (`COLIBRI_DB` for
/// `COLIBRI_DB_PATH`), else the nearest by edit distance. At most a third of the letters may differ, without the words that
/// both names begin or end with. Takes the first of several equally near candidates.
pub fn closest<'a>(unknown: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = unknown.chars().take(MAX_LETTERS + 1).count();
    if !(3..=MAX_LETTERS).contains(&letters) {
        return None;
    }
    candidates
        .into_iter()
        .filter_map(|candidate| Some((score(unknown, candidate)?, candidate)))
        .min_by_key(|(score, _)| *score)
        .map(|(_, candidate)| candidate)
}

/// Scores a pair of names: 0 for equal names, small for related ones, `None` for unrelated ones.
fn score(unknown: &str, candidate: &str) -> Option<usize> {
    let distance = distance(unknown, candidate);
    if distance > 2 && (words_within(unknown, candidate) || words_within(candidate, unknown)) {
        let difference = unknown.split('_').count().abs_diff(candidate.split('_').count());
        return Some(distance.min(1 + difference)).filter(|score| *score <= MAX_DISTANCE);
    }
    // A short name is not a misspelling of a long one, and shared words do not make two others alike.
    let (own, other) = differing(unknown, candidate);
    let longest = own.chars().count().max(other.chars().count());
    (distance <= MAX_DISTANCE && distance * 3 <= longest).then_some(distance)
}

/// Returns both names without the words that they share at the beginning and at the end.
fn differing<'a>(mut a: &'a str, mut b: &'a str) -> (&'a str, &'a str) {
    while let (Some((word, rest)), Some((other, other_rest))) = (a.split_once('_'), b.split_once('_'))
        && word == other
    {
        (a, b) = (rest, other_rest);
    }
    while let (Some((rest, word)), Some((other_rest, other))) = (a.rsplit_once('_'), b.rsplit_once('_'))
        && word == other
    {
        (a, b) = (rest, other_rest);
    }
    (a, b)
}

/// Returns whether `part` has at least two words and `whole` contains all of them.
fn words_within(part: &str, whole: &str) -> bool {
    part.split('_').count() > 1 && part.split('_').all(|word| whole.split('_').any(|other| other == word))
}

/// Counts the edits between two names: insertions, deletions, replacements and swaps of neighbours. A change of letter case
/// counts as one edit for the whole name. Takes time in proportion to the product of both lengths.
#[must_use]
pub fn distance(a: &str, b: &str) -> usize {
    if a.eq_ignore_ascii_case(b) {
        return usize::from(a != b);
    }
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let mut least = (row[j] + 1).min(last[j + 1] + 1).min(last[j] + usize::from(x != y));
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                least = least.min(before_last[j - 1] + 1);
            }
            row.push(least);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_suggested_and_far_ones_are_not() {
        let names = ["note_create", "note_get", "note_list", "bell_ring", "bell_health"];
        assert_eq!(closest("note_creat", names), Some("note_create"));
        assert_eq!(closest("bell_rang", names), Some("bell_ring"));
        assert_eq!(closest("frobnicate", names), None);
        // Without `note_` they have little in common.
        assert_eq!(closest("note_erase", names), None);
        assert_eq!(closest("", names), None);
        assert_eq!(closest(&"note_".repeat(1_000_000), names), None);
    }

    #[test]
    fn swapped_letters_and_letter_case_are_one_edit() {
        let known = ["minLength", "maxLength", "pattern"];
        assert_eq!(closest("minLenght", known), Some("minLength"));
        assert_eq!(closest("minlength", known), Some("minLength"));
        assert_eq!(closest("patern", known), Some("pattern"));
        assert_eq!(closest("format", known), None);
        assert_eq!(closest("init", ["INIT", "GATHER"]), Some("INIT"));
        assert_eq!(closest("C", ["A", "B"]), None);
    }

    #[test]
    fn names_that_share_words_are_related() {
        let names = ["COLIBRI_DB_PATH", "COLIBRI_MODE"];
        assert_eq!(closest("COLIBRI_DB", names), Some("COLIBRI_DB_PATH"));
        assert_eq!(closest("COLIBRI_WATCH_MODE", names), Some("COLIBRI_MODE"));
    }

    #[test]
    fn distances_count_edits() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("same", "same"), 0);
    }
}
