//! A strict reader of small XML documents: it takes what the server writes, and refuses what XML forbids.

use colibri_visible::is_hidden;

/// An element, with the text that it holds itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Element {
    /// Its name.
    pub name: String,
    /// Names and values, in their order.
    pub attributes: Vec<(String, String)>,
    /// What it holds itself, without the texts of inner elements.
    pub text: String,
}

/// Returns the elements of a document in the order of their ends.
///
/// # Errors
/// What is wrong, and the rest of the document from there on.
pub fn elements(document: &str) -> Result<Vec<Element>, String> {
    let (mut open, mut closed): (Vec<Element>, Vec<Element>) = (Vec::new(), Vec::new());
    let mut rest = document;
    while !rest.is_empty() {
        let (text, tag) = rest.split_at(rest.find('<').unwrap_or(rest.len()));
        let plain = unescaped(text).ok_or_else(|| wrong("text", rest))?;
        match open.last_mut() {
            Some(element) => element.text += &plain,
            None if plain.trim().is_empty() => {}
            None => return Err(wrong("text outside the root", rest)),
        }
        let Some(inside) = tag.strip_prefix('<') else { break };
        let (inside, after) = inside.split_once('>').ok_or_else(|| wrong("unclosed tag", tag))?;
        rest = after;
        if let Some(name) = inside.strip_prefix('/') {
            let element = open.pop().filter(|element| element.name == name);
            closed.push(element.ok_or_else(|| wrong("end without a beginning", tag))?);
            continue;
        }
        if open.is_empty() && !closed.is_empty() {
            return Err(wrong("second root", tag));
        }
        let empty = inside.strip_suffix('/');
        let element = beginning(empty.unwrap_or(inside)).ok_or_else(|| wrong("tag", tag))?;
        if empty.is_some() { closed.push(element) } else { open.push(element) }
    }
    match open.pop() {
        Some(element) => Err(format!("<{}> has no end", element.name)),
        None if closed.is_empty() => Err("there is no root".to_owned()),
        None => Ok(closed),
    }
}

fn wrong(what: &str, rest: &str) -> String {
    format!("{what}: {}", rest.chars().take(80).collect::<String>())
}

/// Reads a name and attributes, each in double quotes behind one blank.
fn beginning(tag: &str) -> Option<Element> {
    let (name, mut rest) = tag.split_at(tag.find(' ').unwrap_or(tag.len()));
    let mut element = Element { name: name_of(name)?, ..Element::default() };
    while !rest.is_empty() {
        let (name, value) = rest.strip_prefix(' ')?.split_once("=\"")?;
        let (value, after) = value.split_once('"')?;
        let name = name_of(name)?;
        if element.attributes.iter().any(|(known, _)| *known == name) {
            return None;
        }
        element.attributes.push((name, unescaped(value)?));
        rest = after;
    }
    Some(element)
}

fn name_of(text: &str) -> Option<String> {
    let first = text.chars().next()?;
    let is_name = first.is_ascii_alphabetic()
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | ':'));
    is_name.then(|| text.to_owned())
}

/// Reads text with references to characters. A character that nothing shows may not stand there raw.
fn unescaped(text: &str) -> Option<String> {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        if next == '&' {
            let (name, after) = rest[1..].split_once(';')?;
            plain.push(match name {
                "amp" => '&',
                "lt" => '<',
                "gt" => '>',
                "quot" => '"',
                "#39" => '\'',
                _ => return None,
            });
            rest = after;
            continue;
        }
        if matches!(next, '<' | '\u{fffe}' | '\u{ffff}') || next != '\n' && is_hidden(next) {
            return None;
        }
        plain.push(next);
        rest = &rest[next.len_utf8()..];
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::elements;

    #[test]
    fn only_well_formed_documents_are_read() -> Result<(), String> {
        let read = elements("<a b=\"&lt;\"><c/>x &amp; y</a>\n")?;
        assert_eq!((read[0].name.as_str(), read[1].text.as_str()), ("c", "x & y"));
        assert_eq!(read[1].attributes, [("b".to_owned(), "<".to_owned())]);
        for wrong in [
            "",
            "x",
            "<a>",
            "</a>",
            "<a></b>",
            "<a/><b/>",
            "<a>&nbsp;</a>",
            "<a>&</a>",
            "<a b=c/>",
            "<a b=\"1\" b=\"2\"/>",
            "<a b=\"<\"/>",
            "<a>\u{1b}</a>",
            "<a",
            "<1/>",
            "<a>\u{ffff}</a>",
        ] {
            assert!(elements(wrong).is_err(), "{wrong}");
        }
        Ok(())
    }
}
