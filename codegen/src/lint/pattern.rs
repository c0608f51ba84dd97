//! Names as the catalogue's conventions have them.

/// `snake_case`: lower-case letters, digits and `_`, starting with a letter.
#[must_use]
pub(crate) fn is_snake_case(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase()) && lower(name)
}

/// What clients take as a tool's name: `^[a-z_][a-z0-9_]*$`.
#[must_use]
pub(crate) fn is_tool_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase() || first == '_') && lower(name)
}

/// What the protocol allows as a tool's name, if it has a letter or digit that makes a name in Rust.
#[must_use]
pub(crate) fn is_legal(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/'))
        && name.bytes().any(|byte| byte.is_ascii_alphanumeric())
}

fn lower(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// A property: `^[a-z][A-Za-z0-9_]*$`; `snake_case`, or the camelCase of a contract that has it.
#[must_use]
pub(crate) fn is_property_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// `PascalCase`: letters and digits, starting with an upper-case letter.
#[must_use]
pub(crate) fn is_pascal_case(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_uppercase())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// `SCREAMING_SNAKE_CASE`: words of upper-case letters and digits with single `_` between them.
#[must_use]
pub fn is_code(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_uppercase())
        && name.split('_').all(|word| {
            !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
        })
}

/// `MAJOR.MINOR.PATCH` of a semantic version; a pre-release or build part is cut off.
#[must_use]
pub fn version(text: &str) -> Option<[u64; 3]> {
    let (core, tail) = match text.find(['-', '+']) {
        Some(end) => (&text[..end], Some(&text[end + 1..])),
        None => (text, None),
    };
    let tail_is_sound = tail.is_none_or(|tail| {
        tail.split(['.', '+']).all(|part| {
            !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        })
    });
    let mut numbers = core.split('.').map(|part| {
        let canonical = part == "0" || !part.starts_with('0');
        let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if canonical && digits { part.parse().ok() } else { None }
    });
    let triple = [numbers.next()??, numbers.next()??, numbers.next()??];
    (tail_is_sound && numbers.next().is_none()).then_some(triple)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart() {
        assert!(
            is_snake_case("note_add2") && !is_snake_case("_a") && !is_snake_case("aB") && !is_snake_case("")
        );
        assert!(is_tool_name("_a") && !is_tool_name("2a") && !is_tool_name("a-b"));
        assert!(is_property_name("canWrite") && !is_property_name("CanWrite") && !is_property_name("a-b"));
        assert!(is_pascal_case("TaskStatus2") && !is_pascal_case("Task_Status") && !is_pascal_case("task"));
        assert!(is_code("ERR_A1") && !is_code("ERR__A") && !is_code("err") && !is_code("ERR_"));
    }

    #[test]
    fn versions_are_semantic() {
        assert_eq!(version("1.20.3"), Some([1, 20, 3]));
        assert_eq!(version("1.2.3-rc.1+build5"), Some([1, 2, 3]));
        for bad in ["", "1", "1.2", "1.2.3.4", "01.2.3", "1.2.x", "v1.2.3", "1.2.3-", "-1.2.3"] {
            assert_eq!(version(bad), None, "{bad}");
        }
    }
}
