//! "Did you mean": finds the known word nearest to an unknown one.

/// Longer words do not count as typing slips, and comparing them would take long.
const MAX_LETTERS: usize = 64;

/// Returns the word of `known` nearest to `word`, if it may be a typing slip: `word` has three letters or more,
/// and at most a third of them differ. Takes the first of several equally near words.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = word.chars().count();
    if !(3..=MAX_LETTERS).contains(&letters) {
        return None;
    }
    let allowed = letters / 3;
    let mut best: Option<(usize, &'a str)> = None;
    for candidate in known {
        let distance = distance(word, candidate);
        if distance <= allowed && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Counts the edits between two words: insertions, deletions, replacements and swaps of neighbours. A change of
/// letter case counts as one edit for the whole word.
fn distance(a: &str, b: &str) -> usize {
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

/// Joins the words as `` `a`, `b` or `c` ``.
#[must_use]
pub fn alternatives(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        None => String::new(),
        Some((only, [])) => only.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_finds_slips_and_nothing_else() {
        let known = ["minLength", "maxLength", "pattern"];
        assert_eq!(nearest("minLenght", known), Some("minLength"));
        assert_eq!(nearest("minlength", known), Some("minLength"));
        assert_eq!(nearest("patern", known), Some("pattern"));
        assert_eq!(nearest("format", known), None);
        assert_eq!(nearest("", known), None);
        assert_eq!(nearest("C", ["A", "B"]), None);
    }

    #[test]
    fn alternatives_read_as_a_sentence() {
        assert_eq!(alternatives(&["a"]), "`a`");
        assert_eq!(alternatives(&["a", "b", "c"]), "`a`, `b` or `c`");
    }
}
