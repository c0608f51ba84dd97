//! The one text of a statement, as PostgreSQL takes it: `?1` and `?` become `$1`, and SQLite's `INDEXED BY name`, `NOT INDEXED` and
//! `OR FAIL` go. Literals, quoted names and comments stay as they are.

/// Returns a statement as PostgreSQL takes it.
pub(super) fn translate(sql: &str) -> String {
    let mut out = String::with_capacity(sql.len() + 8);
    let mut rest = sql;
    // SQLite numbers a bare `?` one above the largest number so far.
    let mut largest = 0_usize;
    while let Some(first) = rest.chars().next() {
        let taken = match first {
            '\'' | '"' => quoted(rest, first),
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => block_comment(rest),
            '?' => {
                let digits = rest[1..].bytes().take_while(u8::is_ascii_digit).count();
                let number = rest[1..=digits].parse().unwrap_or_else(|_| largest.saturating_add(1));
                largest = largest.max(number);
                out.push('$');
                out.push_str(&number.to_string());
                rest = &rest[1 + digits..];
                continue;
            }
            _ if first.is_alphabetic() || first == '_' => {
                let word = word_at(rest);
                if let Some(length) = sqlites_own(rest, word) {
                    rest = &rest[length..];
                    continue;
                }
                word.len()
            }
            // A digit starts no name, so `1OR` is not looked at; the rest of the number is taken as it is.
            _ => first.len_utf8(),
        };
        out.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    out
}

/// Returns the length of a quoted part. A doubled quote inside starts the next one, so that both are passed over.
fn quoted(text: &str, quote: char) -> usize {
    text[1..].find(quote).map_or(text.len(), |at| at + 2)
}

/// Returns the length of a comment. PostgreSQL nests them and SQLite does not; the statements have none that differ.
fn block_comment(text: &str) -> usize {
    text[2..].find("*/").map_or(text.len(), |at| at + 4)
}

fn word_at(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// Returns the word behind a word, and where it ends.
fn word_after(text: &str, from: usize) -> Option<(&str, usize)> {
    let blank = text[from..].find(|c: char| !c.is_whitespace())?;
    let word = word_at(&text[from + blank..]);
    (blank > 0 && !word.is_empty()).then_some((word, from + blank + word.len()))
}

/// Returns the length of a phrase that only SQLite has, if one starts here.
fn sqlites_own(text: &str, first: &str) -> Option<usize> {
    let follows = |from: usize, wanted: &str| {
        word_after(text, from).filter(|(word, _)| word.eq_ignore_ascii_case(wanted)).map(|(_, end)| end)
    };
    if first.eq_ignore_ascii_case("INDEXED") {
        return word_after(text, follows(first.len(), "BY")?).map(|(_, end)| end);
    }
    if first.eq_ignore_ascii_case("NOT") {
        return follows(first.len(), "INDEXED");
    }
    if first.eq_ignore_ascii_case("OR") {
        return follows(first.len(), "FAIL");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parameters_are_numbered_outside_of_literals_names_and_comments() {
        for (sqlite, postgres) in [
            ("SELECT ?1, ?2, ?12", "SELECT $1, $2, $12"),
            ("SELECT ?, ?", "SELECT $1, $2"),
            ("SELECT ?3, ?, ?1, ?", "SELECT $3, $4, $1, $5"),
            ("SELECT 'what?1 it''s ?2' || ?1", "SELECT 'what?1 it''s ?2' || $1"),
            ("SELECT \"odd ?1\" -- why?1\n, ?1 /* ?2 */", "SELECT \"odd ?1\" -- why?1\n, $1 /* ?2 */"),
            ("SELECT 'open ?1", "SELECT 'open ?1"),
            ("SELECT $1", "SELECT $1"),
            ("SELECT ?99999999999999999999999", "SELECT $1"),
        ] {
            assert_eq!(translate(sqlite), postgres, "{sqlite}");
        }
    }

    #[test]
    fn phrases_that_only_sqlite_has_go() {
        for (sqlite, postgres) in [
            ("SELECT a FROM t INDEXED BY i_t WHERE b = ?1", "SELECT a FROM t  WHERE b = $1"),
            ("SELECT a FROM t indexed  by\ni_t", "SELECT a FROM t "),
            ("SELECT a FROM t NOT INDEXED", "SELECT a FROM t "),
            ("INSERT OR FAIL INTO t VALUES (?1)", "INSERT  INTO t VALUES ($1)"),
            ("SELECT 'INDEXED BY x' WHERE a OR failed", "SELECT 'INDEXED BY x' WHERE a OR failed"),
            ("SELECT reindexed BY", "SELECT reindexed BY"),
            ("SELECT indexed FROM t", "SELECT indexed FROM t"),
            ("INSERT OR IGNORE INTO t", "INSERT OR IGNORE INTO t"),
        ] {
            assert_eq!(translate(sqlite), postgres, "{sqlite}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_translated(sql in "\\PC*") {
            let _translated = translate(&sql);
        }

        #[test]
        fn a_translated_statement_stays_as_it_is(sql in "[ ?'\"a-zA-Z0-9_/*\\n-]*") {
            let once = translate(&sql);
            // What a cut leaves behind may be such a phrase again: `INDEXED INDEXED BY x BY y`.
            if !once.to_ascii_uppercase().contains("INDEXED") && !once.to_ascii_uppercase().contains("FAIL") {
                prop_assert_eq!(translate(&once), once);
            }
        }

        #[test]
        fn literals_are_never_changed(before in "[a-z ]{0,9}", inside in "[^']{0,20}", after in "[a-z ]{0,9}") {
            let literal = format!("'{inside}'");
            let kept = translate(&format!("{before} {literal} {after}")).contains(&literal);
            prop_assert!(kept);
        }
    }
}
