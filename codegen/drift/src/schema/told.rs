//! What a form of a schema takes, in words.

use serde_json::Value;

use super::difference::brief;
use super::node::{Body, Bound, Case, Numbers, Objects, Texts};
use super::store::Store;

/// The most names and values that are told.
const MOST: usize = 6;

impl Store<'_> {
    /// Tells the values of a case: "an object with `kind` `\"url\"` and `href`".
    pub(crate) fn told(&self, case: &Case) -> String {
        match &case.body {
            Body::Values(values) => some(values.iter().map(brief).collect(), " or "),
            Body::Number(numbers) => of_numbers(numbers),
            Body::Text(texts) => of_texts(texts),
            Body::Array(arrays) => {
                let mut kinds: Vec<&str> = Vec::new();
                for case in &self.normal(arrays.items).cases {
                    if !kinds.contains(&case.kind.name()) {
                        kinds.push(case.kind.name());
                    }
                }
                match kinds.len() {
                    1 => format!("a list of {}s", kinds.concat()),
                    _ => "a list".to_owned(),
                }
            }
            Body::Object(objects) => self.of_objects(objects),
        }
    }

    fn of_objects(&self, objects: &Objects) -> String {
        let named = |is_required: bool| -> Vec<String> {
            let names =
                objects.properties.keys().filter(|name| objects.required.contains(*name) == is_required);
            names.map(|name| self.property(objects, name)).collect()
        };
        let (required, optional) = (named(true), named(false));
        match (required.is_empty(), optional.is_empty()) {
            (true, true) => "any object".to_owned(),
            (true, false) => format!("an object that may have {}", some(optional, " and ")),
            (false, _) => format!("an object with {}", some(required, " and ")),
        }
    }

    /// A property, with its value if it can have one only.
    fn property(&self, objects: &Objects, name: &str) -> String {
        match &self.normal(self.child(objects, name)).cases[..] {
            [Case { body: Body::Values(values), .. }] if values.len() == 1 => {
                format!("`{name}` {}", values.first().map(brief).unwrap_or_default())
            }
            _ => format!("`{name}`"),
        }
    }
}

/// The first of several, and how many more there are.
fn some(mut all: Vec<String>, between: &str) -> String {
    let more = all.len().saturating_sub(MOST);
    all.truncate(MOST);
    if more > 0 {
        all.push(format!("{more} more"));
    }
    match all.split_last() {
        Some((last, first)) if !first.is_empty() => format!("{}{between}{last}", first.join(", ")),
        _ => all.concat(),
    }
}

fn of_numbers(numbers: &Numbers) -> String {
    let noun = if numbers.whole { "an integer" } else { "a number" };
    let bound = |bound: Option<Bound>, closed: &str, open: &str| {
        bound.and_then(|bound| {
            Some(format!(" {} {}", if bound.open { open } else { closed }, bound.at.value()?))
        })
    };
    let least = bound(numbers.least, "from", "above").unwrap_or_default();
    let most = bound(numbers.most, "up to", "below").unwrap_or_default();
    format!("{noun}{least}{most}")
}

fn of_texts(texts: &Texts) -> String {
    let length = match (texts.least, texts.most) {
        (0, None) => String::new(),
        (0, Some(most)) => format!(" of at most {most} characters"),
        (least, None) => format!(" of at least {least} characters"),
        (least, Some(most)) => format!(" of {least} to {most} characters"),
    };
    let patterns: Vec<String> =
        texts.patterns.iter().map(|pattern| brief(&Value::from(pattern.as_str()))).collect();
    let patterns =
        if patterns.is_empty() { String::new() } else { format!(" like {}", patterns.join(" and ")) };
    format!("a text{length}{patterns}")
}
