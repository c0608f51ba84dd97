//! Refused arguments in words: what is wrong, where, and what would be right (catalogue#validation).
//!
//! This runs after a refusal only. It follows the path of each issue through table and arguments again, so that the walk
//! which checks the arguments keeps nothing for it.

use std::fmt::Write as _;

use colibri_suggest::closest;
use serde_json::Value;

use super::check::NOT_UNIQUE;
use super::issue::{Issue, Issues};
use super::path::PathPart;
use crate::schema::{Literal, ObjectRule, Schema, Shape, StringRule};
use crate::spec::{ToolSpec, fill};

/// How many problems a message names.
const MAX_PROBLEMS: usize = 8;
/// How many characters of a received value or name a message shows.
const SHOWN_CHARACTERS: usize = 40;

/// What is said of refused arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// For the client.
    pub message: String,
    /// For the audit row. It shows no received value, because arguments may hold secrets.
    pub stored: String,
}

/// One thing that is wrong.
struct Problem {
    /// What should be there, and where.
    wanted: String,
    /// What came instead, and what it may mean. The audit row leaves this out.
    came: String,
}

/// Describes the issues that [`validate`](super::validate) found in the arguments of a tool. The form names the places `{tool}` and
/// `{problems}`.
pub fn invalid_params(form: &str, tool: &ToolSpec, arguments: &Value, issues: &Issues) -> Refusal {
    let mut refusal = Refusal { message: String::new(), stored: String::new() };
    let mut count = 0;
    let mut closed: Vec<(String, &ObjectRule)> = Vec::new();
    let mut before: Option<&Issue> = None;
    for issue in issues.iter() {
        // A text of the catalogue stands for every rule of its field, so it is said once.
        if before.replace(issue).is_some_and(|last| last.path == issue.path && last.message == issue.message)
        {
            continue;
        }
        let place = Place::find(tool, arguments, issue);
        match place.object() {
            Some(rule) if issue.code == "unrecognized_keys" => {
                if count < MAX_PROBLEMS && !closed.iter().any(|(_, other)| std::ptr::eq(*other, rule)) {
                    closed.push((place.path.clone(), rule));
                }
                place
                    .unknown_keys(rule)
                    .for_each(|key| refusal.push(&mut count, || place.unknown(rule, key)));
            }
            _ => refusal.push(&mut count, || place.problem(issue)),
        }
    }
    if count > MAX_PROBLEMS {
        let mut more = format!("; and {} more in details.issues", count - MAX_PROBLEMS);
        if issues.more > 0 {
            // Writing to a String cannot fail.
            let _ = write!(more, ", which leaves out another {}", issues.more);
        }
        refusal.message.push_str(&more);
        refusal.stored.push_str(&more);
    }
    for (path, rule) in closed {
        let holder = if path.is_empty() { tool.name } else { &path };
        let stop = if refusal.message.ends_with(['?', '.']) { "" } else { "." };
        // Writing to a String cannot fail.
        let _ = write!(refusal.message, "{stop} {holder} takes {}.", parameters(rule));
    }
    let filled = |problems: &str| fill(form, &[("tool", tool.name), ("problems", problems)]);
    Refusal { message: filled(&refusal.message), stored: filled(&refusal.stored) }
}

/// Describes parameters that could not be read, and the one issue with them.
pub(crate) fn unreadable_params(form: &str, tool: &ToolSpec, problem: &str) -> (Refusal, Issue) {
    let message = fill(form, &[("tool", tool.name), ("problems", problem)]);
    let issue = Issue { code: "custom", path: Vec::new(), message: problem.to_owned(), extra: Vec::new() };
    (Refusal { stored: message.clone(), message }, issue)
}

impl Refusal {
    /// Adds a problem, unless there are enough.
    fn push(&mut self, count: &mut usize, problem: impl FnOnce() -> Problem) {
        *count += 1;
        if *count <= MAX_PROBLEMS {
            let Problem { wanted, came } = problem();
            let joint = if *count == 1 { "" } else { "; " };
            self.message.extend([joint, &wanted, &came]);
            self.stored.extend([joint, &wanted]);
        }
    }
}

/// The place of an issue in the table and in the arguments.
struct Place<'a> {
    /// As messages write it: `patch.status`, `lines[3].epoch`.
    path: String,
    /// The last step, if it is a key.
    key: Option<&'a str>,
    schema: Option<&'static Schema>,
    /// The rule for the key, if it is a name in a map.
    names: Option<StringRule>,
    value: Option<&'a Value>,
    /// Nothing is shown of a sensitive argument.
    sensitive: bool,
}

impl<'a> Place<'a> {
    fn find(tool: &ToolSpec, arguments: &'a Value, issue: &'a Issue) -> Self {
        let top = issue.path.first();
        let mut place = Self {
            path: String::new(),
            key: None,
            schema: Some(tool.input),
            names: None,
            value: Some(arguments),
            sensitive: tool
                .sensitive
                .iter()
                .any(|name| matches!(top, Some(PathPart::Key(key)) if key == name)),
        };
        issue.path.iter().for_each(|part| place.enter(part));
        place
    }

    fn enter(&mut self, part: &'a PathPart) {
        let shape = self.schema.map(|schema| &schema.shape);
        (self.key, self.schema, self.names) = (None, None, None);
        match part {
            PathPart::Key(key) => {
                let joint = if self.path.is_empty() { "" } else { "." };
                self.path.extend([joint, &cut(key)]);
                self.key = Some(key);
                self.value = self.value.and_then(|value| value.get(key));
                match shape {
                    Some(Shape::Object(rule)) => {
                        let property = rule.properties.iter().find(|property| property.name == key);
                        self.schema = property.map(|property| &property.schema);
                    }
                    Some(Shape::Record(rule)) => (self.schema, self.names) = (Some(&rule.values), rule.keys),
                    _ => {}
                }
            }
            PathPart::Index(index) => {
                let _ = write!(self.path, "[{index}]");
                self.value = self.value.and_then(|value| value.get(index));
                if let Some(Shape::Array(rule)) = shape {
                    self.schema = Some(&rule.items);
                }
            }
        }
    }

    fn object(&self) -> Option<&'static ObjectRule> {
        match self.schema?.shape {
            Shape::Object(rule) => Some(rule),
            _ => None,
        }
    }

    fn unknown_keys(&self, rule: &'static ObjectRule) -> impl Iterator<Item = &'a str> + use<'a> {
        let members = self.value.and_then(Value::as_object).into_iter().flatten();
        members
            .map(|(key, _)| key.as_str())
            .filter(|key| rule.properties.iter().all(|known| known.name != *key))
    }

    fn unknown(&self, rule: &ObjectRule, key: &str) -> Problem {
        let before = if self.path.is_empty() { String::new() } else { format!("{}.", self.path) };
        let close = closest(key, rule.properties.iter().map(|property| property.name));
        Problem {
            wanted: format!("there is no parameter \"{before}{}\"", cut(key)),
            came: close.map_or_else(String::new, |name| format!(", did you mean \"{before}{name}\"?")),
        }
    }

    fn problem(&self, issue: &Issue) -> Problem {
        let Some(value) = self.value else { return self.missing() };
        let schema = match (issue.code, self.schema) {
            ("invalid_key", _) => return self.refused_name(&issue.message),
            (_, Some(schema)) if schema.message.is_none() => schema,
            _ => return self.own_text(&issue.message),
        };
        let (wanted, came) = match (issue.code, &schema.shape) {
            ("invalid_value", Shape::Enum(literals)) => {
                (options(literals, schema.nullable), self.choice(literals, value))
            }
            ("invalid_type", shape) => (kind_wanted(shape, schema.nullable), self.kind(shape, value)),
            ("too_small" | "too_big", _) => (bound(issue, value), self.amount(value)),
            ("not_multiple_of", _) => {
                (format!("must be a multiple of {}", extra(issue, "divisor")), self.amount(value))
            }
            ("invalid_format", Shape::String(rule)) => (pattern(rule), String::new()),
            ("invalid_union", _) => (variants(issue).to_owned(), String::new()),
            (_, Shape::Array(_)) if issue.message == NOT_UNIQUE => {
                ("must hold no item twice".to_owned(), String::new())
            }
            _ => return self.own_text(&issue.message),
        };
        Problem { wanted: format!("{} {wanted}", self.subject()), came }
    }

    fn subject(&self) -> String {
        if self.path.is_empty() { "the arguments".to_owned() } else { format!("\"{}\"", self.path) }
    }

    fn missing(&self) -> Problem {
        let choice = match self.schema.map(|schema| (&schema.shape, schema.nullable)) {
            Some((Shape::Enum(literals), nullable)) => format!(" and {}", options(literals, nullable)),
            _ => String::new(),
        };
        Problem { wanted: format!("{} is missing{choice}", self.subject()), came: String::new() }
    }

    /// A text of the catalogue. The place comes first, unless the text names the parameter itself.
    fn own_text(&self, text: &str) -> Problem {
        let named = self.key.is_some_and(|key| text.contains(key));
        let wanted = if named { text.to_owned() } else { format!("{}: {text}", self.subject()) };
        Problem { wanted, came: String::new() }
    }

    /// A name in a map that the rule for names refuses.
    fn refused_name(&self, text: &str) -> Problem {
        let wanted = self.names.as_ref().filter(|rule| rule.pattern.is_some()).map(pattern);
        let wanted = wanted.unwrap_or_else(|| format!("is refused: {text}"));
        Problem { wanted: format!("the name {} {wanted}", self.subject()), came: String::new() }
    }

    fn choice(&self, literals: &[Literal], value: &Value) -> String {
        let names = literals.iter().filter_map(|literal| match literal {
            Literal::String(name) => Some(*name),
            _ => None,
        });
        match (value.as_str().and_then(|text| closest(text, names)), self.sensitive) {
            (_, true) => String::new(),
            (Some(name), false) => format!(", and {} came, did you mean {name}?", shown(value)),
            (None, false) => format!(", and {} came", shown(value)),
        }
    }

    fn kind(&self, wanted: &Shape, value: &Value) -> String {
        match wanted {
            _ if self.sensitive => String::new(),
            Shape::Boolean | Shape::Integer(_) | Shape::Number(_) => format!(", and {} came", shown(value)),
            _ => format!(", and {} came", kind_of(value)),
        }
    }

    /// A number as it is; of everything else only how much there is.
    fn amount(&self, value: &Value) -> String {
        let amount = match value {
            _ if self.sensitive => return String::new(),
            Value::Number(_) => shown(value),
            Value::String(text) => text.chars().count().to_string(),
            Value::Array(items) => items.len().to_string(),
            Value::Object(members) => members.len().to_string(),
            Value::Null | Value::Bool(_) => return String::new(),
        };
        format!(", and {amount} came")
    }
}

/// Lists what an object takes, as `title (required), description and project_id`.
fn parameters(rule: &ObjectRule) -> String {
    let named = rule.properties.iter().map(|property| {
        let required = if property.required { " (required)" } else { "" };
        format!("{}{required}", property.name)
    });
    let named: Vec<String> = named.collect();
    if named.is_empty() { "no parameters".to_owned() } else { named.join(", ") }
}

fn options(literals: &[Literal], nullable: bool) -> String {
    let mut names: Vec<String> = literals.iter().map(literal).collect();
    if nullable {
        names.push("null".to_owned());
    }
    match names.split_last() {
        Some((last, rest @ [_, ..])) => format!("must be one of {} or {last}", rest.join(", ")),
        _ => format!("must be {}", names.concat()),
    }
}

fn literal(literal: &Literal) -> String {
    match literal {
        Literal::Null => "null".to_owned(),
        Literal::Boolean(value) => value.to_string(),
        Literal::Integer(value) => value.to_string(),
        Literal::String(value) => (*value).to_owned(),
    }
}

fn kind_wanted(shape: &Shape, nullable: bool) -> String {
    let kind = match shape {
        Shape::Any | Shape::Enum(_) | Shape::Union(_) => "a value",
        Shape::Null => "null",
        Shape::Boolean => "true or false",
        Shape::Integer(_) => "a whole number",
        Shape::Number(_) => "a number",
        Shape::String(_) => "a string",
        Shape::Array(_) => "a list",
        Shape::Object(_) | Shape::Record(_) => "an object",
    };
    format!("must be {kind}{}", if nullable { " or null" } else { "" })
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// A bound of a number, or of the length of anything else.
fn bound(issue: &Issue, value: &Value) -> String {
    let (member, inclusive, beyond) = match issue.code {
        "too_small" => ("minimum", "at least", "more than"),
        _ => ("maximum", "at most", "less than"),
    };
    let limit = extra(issue, member);
    let side = if extra(issue, "inclusive") == "false" { beyond } else { inclusive };
    let unit = match value {
        Value::String(_) => "character",
        Value::Array(_) => "item",
        Value::Object(_) => "entry",
        _ => return format!("must be {side} {limit}"),
    };
    let unit = match (unit, limit.as_str()) {
        (unit, "1") => unit.to_owned(),
        ("entry", _) => "entries".to_owned(),
        (unit, _) => format!("{unit}s"),
    };
    format!("must have {side} {limit} {unit}")
}

fn pattern(rule: &StringRule) -> String {
    match rule.pattern.map_or("", |pattern| pattern.source) {
        r"\S" => "must not be blank".to_owned(),
        r"^[^\u0000-\u001f\u007f]*$" => "must have no control characters".to_owned(),
        source => format!("must match {source}"),
    }
}

/// A union that refuses a value says of each of its forms why; one that takes it twice has nothing to say.
fn variants(issue: &Issue) -> &'static str {
    match extra(issue, "errors").as_str() {
        "[]" => "fits more than one of the forms it may have",
        _ => "has none of the forms it may have",
    }
}

fn extra(issue: &Issue, member: &str) -> String {
    let found = issue.extra.iter().find(|(name, _)| *name == member);
    found.map_or_else(String::new, |(_, value)| value.to_string())
}

/// A scalar as JSON writes it, shortened; the kind of anything else.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => Value::String(cut(text)).to_string(),
        Value::Bool(_) | Value::Number(_) => cut(&value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => kind_of(value).to_owned(),
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
