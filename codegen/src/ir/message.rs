//! Message forms: `There is no task {task_id}`, `{task_id or "(new)"}`, `{missing join ", "}`.

/// A piece of a message form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Plain text.
    Text(String),
    /// A field's value.
    Field {
        /// The field.
        name: String,
        /// What is done when a plain value is not enough.
        with: With,
    },
}

/// How a field is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum With {
    /// As it is.
    Plain,
    /// `or "text"`: what stands for null.
    Or(String),
    /// `join "text"`: what stands between a list's items.
    Join(String),
}

/// Reads a message form.
///
/// # Errors
/// What is wrong with it, for a person.
pub fn parse(form: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut rest = form;
    while let Some(open) = rest.find('{') {
        let (text, tail) = rest.split_at(open);
        if !text.is_empty() {
            pieces.push(Piece::Text(text.to_owned()));
        }
        let close = closing(tail).ok_or("a `{` is not closed")?;
        pieces.push(placeholder(tail[1..close].trim())?);
        rest = &tail[close + 1..];
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest.to_owned()));
    }
    Ok(pieces)
}

/// Index of the `}` that ends a placeholder; one inside quotes does not.
fn closing(tail: &str) -> Option<usize> {
    let mut quoted = false;
    tail.char_indices().find_map(|(at, c)| {
        quoted ^= c == '"';
        (c == '}' && !quoted).then_some(at)
    })
}

fn placeholder(inside: &str) -> Result<Piece, String> {
    let (name, how) = inside.split_once(' ').unwrap_or((inside, ""));
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Err(format!("`{{{inside}}}` does not start with a field's name"));
    }
    let with = match how.trim().split_once(' ') {
        None if how.trim().is_empty() => With::Plain,
        Some(("or", text)) => With::Or(quoted(text)?),
        Some(("join", text)) => With::Join(quoted(text)?),
        _ => return Err(format!("`{{{inside}}}` may only say `or \"text\"` or `join \"text\"`")),
    };
    Ok(Piece::Field { name: name.to_owned(), with })
}

fn quoted(text: &str) -> Result<String, String> {
    let inner = text.trim().strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    inner.map(str::to_owned).ok_or_else(|| format!("`{text}` must stand in double quotes"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::{Piece, With, parse};

    #[test]
    fn forms_are_split_into_text_and_fields() {
        let field = |name: &str, with| Piece::Field { name: name.into(), with };
        assert_eq!(
            parse("a {x}, {y or \"}\"}: {z join \" -> \"}").unwrap(),
            [
                Piece::Text("a ".into()),
                field("x", With::Plain),
                Piece::Text(", ".into()),
                field("y", With::Or("}".into())),
                Piece::Text(": ".into()),
                field("z", With::Join(" -> ".into())),
            ]
        );
    }

    #[test]
    fn malformed_placeholders_are_refused() {
        for form in ["{x", "{}", "{x else \"y\"}", "{x or y}"] {
            assert!(parse(form).is_err(), "{form}");
        }
    }
}
