//! Stored ids in commands that a reader may copy. Pure.

/// Returns any text as one word of a POSIX shell.
pub fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_shell_reads_one_word() {
        for (text, word) in
            [("S-1.a_b", "S-1.a_b"), ("a b", "'a b'"), ("$(x)'; y", "'$(x)'\\''; y'"), ("", "''")]
        {
            assert_eq!(quoted(text), word);
        }
    }
}
