//! Names as the catalogue has them into names as Rust has them.

use std::collections::HashSet;

use proc_macro2::{Ident, Span};
use serde_json::Value;

/// `make_note`, `ERR_NO_NOTE`, `canWrite` into `MakeNote`, `ErrNoNote`, `CanWrite`. Words of one letter that follow each other become one, as in
/// typify: `x.y` into `Xy`. A digit at the beginning gets a letter: `9lives` into `N9lives`.
#[must_use]
pub fn pascal(name: &str) -> String {
    let mut pascal = String::new();
    if name.starts_with(|first: char| first.is_ascii_digit()) {
        pascal.push('N');
    }
    let mut after_letter = false;
    for word in words(name) {
        let is_letter = word.len() == 1;
        pascal.push_str(&if is_letter && after_letter { word } else { capitalised(&word) });
        after_letter = is_letter;
    }
    pascal
}

/// `MakeNote`, `canWrite` into `make_note`, `can_write`.
#[must_use]
pub fn snake(name: &str) -> String {
    words(name).join("_")
}

/// `make_note` into `MAKE_NOTE`.
#[must_use]
pub fn screaming(name: &str) -> String {
    snake(name).to_uppercase()
}

/// An identifier of this text; keywords become raw, what cannot be raw or starts with a digit gets
/// an underscore.
#[must_use]
pub fn ident(name: &str) -> Ident {
    if syn::parse_str::<Ident>(name).is_ok() {
        return Ident::new(name, Span::call_site());
    }
    let plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    match name {
        "self" | "Self" | "super" | "crate" | "_" => Ident::new(&format!("{name}_"), Span::call_site()),
        _ if plain && !name.starts_with(|c: char| c.is_ascii_digit()) => {
            Ident::new_raw(name, Span::call_site())
        }
        _ => Ident::new(&format!("_{}", snake(name)), Span::call_site()),
    }
}

/// Whether a name of lower-case letters, digits and `_` is an identifier, or a keyword, as it stands.
#[must_use]
pub fn is_plain(name: &str) -> bool {
    !name.starts_with(|first: char| first.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// Whether each text has letters or digits that make a variant's name, and no two the same.
#[must_use]
pub fn are_variants(values: &[Value]) -> bool {
    let mut seen = HashSet::new();
    values.iter().filter_map(Value::as_str).all(|text| {
        let rust = text.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
        !rust.is_empty() && seen.insert(rust)
    })
}

/// The lower-case words of a name, split at anything but letters and digits and where a capital
/// follows a small letter.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_small = false;
    for c in name.chars() {
        let splits = !c.is_ascii_alphanumeric() || (c.is_ascii_uppercase() && after_small);
        if splits && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if c.is_ascii_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.push(c.to_ascii_lowercase());
        }
        after_small = c.is_ascii_lowercase() || c.is_ascii_digit();
    }
    words.retain(|word| !word.is_empty());
    words
}

fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map(|first| first.to_ascii_uppercase().to_string() + chars.as_str()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{ident, pascal, screaming, snake};

    #[test]
    fn names_are_split_at_signs_and_capitals() {
        for (written, in_pascal, in_snake) in [
            ("make_note", "MakeNote", "make_note"),
            ("ERR_NO_NOTE", "ErrNoNote", "err_no_note"),
            ("canWriteDatabase", "CanWriteDatabase", "can_write_database"),
            ("tool-lock", "ToolLock", "tool_lock"),
            ("x.y", "Xy", "x_y"),
            ("9lives", "N9lives", "9lives"),
        ] {
            assert_eq!(pascal(written), in_pascal, "{written}");
            assert_eq!(snake(written), in_snake, "{written}");
        }
        assert_eq!(screaming("make_note"), "MAKE_NOTE");
    }

    #[test]
    fn keywords_become_usable_identifiers() {
        for (written, rust) in [("type", "r#type"), ("self", "self_"), ("plain", "plain"), ("9x", "_9x")] {
            assert_eq!(ident(written).to_string(), rust);
        }
    }
}
