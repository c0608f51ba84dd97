//! Every string that a host may show a model, gathered from schemas and entries, and which of them are new.
//!
//! A string is known by its place, its member and its text: the nearest property's name stands for the place, so that another way
//! to write the same schema (`$defs`, unions, references) moves nothing.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use colibri_visible::first_hidden;
use serde_json::{Map, Value};

/// What a string is for; it decides how much a new one matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Sort {
    /// Sentences for the model.
    Prose,
    /// A title or a value: a few words at most.
    Label,
    /// A name, an address, a pattern.
    Mark,
}

/// One string.
#[derive(Debug, Clone)]
pub(super) struct Text<'a> {
    pub sort: Sort,
    pub text: &'a str,
    pub pointer: String,
    place: String,
    member: String,
}

impl Text<'_> {
    /// Whether it is a name, which has one line.
    pub(super) fn is_name(&self) -> bool {
        self.member.starts_with("the name of")
    }

    /// What it is, at the beginning of a sentence.
    pub(super) fn title(&self) -> String {
        match self.member.strip_prefix("the name") {
            Some(of) => format!("The name{of}"),
            None if self.member == "value" => "A value".to_owned(),
            None => format!("The text of `{}`", self.member.trim_start_matches('/')),
        }
    }
}

/// A string that one state has and the other has not.
#[derive(Debug)]
pub(super) struct Fresh<'a> {
    pub text: Text<'a>,
    /// What stood there before, if it is there no longer.
    pub before: Option<&'a str>,
}

/// Finds the strings that are new, in the order of the new state.
pub(super) fn fresh<'a>(old: &[Text<'a>], new: Vec<Text<'a>>) -> Vec<Fresh<'a>> {
    let key = |text: &Text<'a>| (text.place.clone(), text.member.clone(), text.text);
    let (known, present): (HashSet<_>, HashSet<_>) =
        (old.iter().map(key).collect(), new.iter().map(key).collect());
    let gone: Vec<&Text<'a>> = old.iter().filter(|text| !present.contains(&key(text))).collect();
    let mut told = HashSet::new();
    let places: HashSet<String> = new.iter().map(|text| text.place.clone()).collect();
    let moved: HashSet<_> = gone
        .iter()
        .filter(|text| !places.contains(&text.place))
        .map(|text| (text.member.clone(), text.text))
        .collect();
    // A property that has another name keeps its texts.
    let is_new =
        |text: &Text<'a>| !known.contains(&key(text)) && !moved.contains(&(text.member.clone(), text.text));
    let mut before: HashMap<_, VecDeque<&'a str>> = HashMap::new();
    let spot = |text: &Text<'a>| (text.place.clone(), text.member.clone());
    for text in gone {
        before.entry(spot(text)).or_default().push_back(text.text);
    }
    let new = new.into_iter().filter(|text| is_new(text) && told.insert(key(text)));
    new.map(|text| {
        let before = before.get_mut(&spot(&text)).and_then(VecDeque::pop_front);
        Fresh { text, before }
    })
    .collect()
}

/// Gathers the strings of an entry that is not a schema; its descriptions are sentences.
pub(super) fn of_value<'a>(value: &'a Value, pointer: &str, sort: Sort) -> Vec<Text<'a>> {
    let mut out = Vec::new();
    leaves(value, pointer, &Owner { place: "", member: None, inner: "", sort }, &mut out);
    out
}

/// One string that stands alone.
pub(super) fn alone<'a>(text: &'a str, pointer: &str) -> Text<'a> {
    Text {
        sort: Sort::Label,
        text,
        pointer: pointer.to_owned(),
        place: String::new(),
        member: pointer.to_owned(),
    }
}

/// What the strings of a value belong to.
struct Owner<'o> {
    place: &'o str,
    /// A keyword, for all strings of its value. Without one it is an entry, where each string belongs to the nearest member.
    member: Option<&'o str>,
    /// That nearest member.
    inner: &'o str,
    sort: Sort,
}

fn leaves<'a>(value: &'a Value, pointer: &str, owner: &Owner<'_>, out: &mut Vec<Text<'a>>) {
    let text = |text: &'a str, pointer: &str, member: &str, sort| Text {
        sort,
        text,
        pointer: pointer.to_owned(),
        place: owner.place.to_owned(),
        member: member.to_owned(),
    };
    match value {
        Value::String(string) => {
            out.push(text(string, pointer, owner.member.unwrap_or(owner.inner), owner.sort));
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                // Entries with names keep their place in another order.
                let place = item.get("name").and_then(Value::as_str).unwrap_or(owner.place);
                leaves(item, &format!("{pointer}/{index}"), &Owner { place, ..*owner }, out);
            }
        }
        Value::Object(members) => {
            let is_entry = owner.member.is_none();
            for (name, value) in members {
                let pointer = format!("{pointer}/{}", segment(name));
                // In an entry, names of members are the protocol's.
                let is_free = name.contains(char::is_whitespace) || first_hidden(name).is_some();
                if !is_entry || is_free {
                    out.push(text(name, &pointer, "the name of a member", Sort::Mark));
                }
                let is_prose = is_entry && name == "description" && owner.sort == Sort::Label;
                let sort = if is_prose { Sort::Prose } else { owner.sort };
                leaves(value, &pointer, &Owner { inner: name, sort, ..*owner }, out);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Gathers the strings of a schema.
pub(super) fn of_schema<'a>(schema: &'a Value, pointer: &str) -> Vec<Text<'a>> {
    let mut walk = Walk {
        root: schema,
        top: pointer,
        out: Vec::new(),
        seen: HashSet::new(),
        read: HashSet::new(),
        defs: Vec::new(),
    };
    walk.schema(schema, pointer, "", 0);
    // Definitions that no reference led to; each may hold others.
    while let Some((pointer, definition)) = walk.defs.pop() {
        if !walk.read.contains(&std::ptr::from_ref(definition)) {
            walk.schema(definition, &pointer, "", 0);
        }
    }
    walk.out
}

/// References deeper than this are not followed; the definitions are read on their own.
const MAX_DEPTH: usize = 64;

/// Schemas that are read for references, under different properties.
const MAX_SEEN: usize = 20_000;

const NAMES_OF_TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

struct Walk<'a, 't> {
    root: &'a Value,
    top: &'t str,
    out: Vec<Text<'a>>,
    /// Schemas that were read, each with its place.
    seen: HashSet<(*const Value, String)>,
    /// Schemas that were read at any place.
    read: HashSet<*const Value>,
    defs: Vec<(String, &'a Value)>,
}

impl<'a> Walk<'a, '_> {
    fn schema(&mut self, schema: &'a Value, pointer: &str, place: &str, depth: usize) {
        let Value::Object(members) = schema else { return };
        if !self.seen.insert((std::ptr::from_ref(schema), place.to_owned())) {
            return;
        }
        self.read.insert(std::ptr::from_ref(schema));
        for (keyword, operand) in members {
            self.keyword(keyword, operand, &format!("{pointer}/{}", segment(keyword)), place, depth);
        }
    }

    fn keyword(&mut self, keyword: &'a str, operand: &'a Value, pointer: &str, place: &str, depth: usize) {
        match (keyword, operand) {
            (
                "properties" | "patternProperties" | "dependentSchemas" | "dependencies",
                Value::Object(parts),
            ) => {
                for (name, part) in parts {
                    let (at, inner) = (format!("{pointer}/{}", segment(name)), keyword.starts_with('p'));
                    self.push(Sort::Mark, name, &at, place, "the name of a property");
                    match part {
                        Value::Array(_) => self.leaves(part, &at, place, keyword, Sort::Mark),
                        part => self.schema(part, &at, if inner { name.as_str() } else { place }, depth),
                    }
                }
            }
            ("$defs" | "definitions", Value::Object(parts)) => self.definitions(parts, pointer, place),
            ("items" | "prefixItems" | "additionalItems" | "contains" | "unevaluatedItems", _) => {
                let place = format!("{}[]", place.trim_end_matches("[]"));
                self.parts(operand, pointer, &place, depth);
            }
            ("allOf" | "anyOf" | "oneOf", Value::Array(_)) => self.parts(operand, pointer, place, depth),
            (
                "additionalProperties"
                | "unevaluatedProperties"
                | "propertyNames"
                | "not"
                | "if"
                | "then"
                | "else",
                Value::Object(_),
            ) => self.schema(operand, pointer, place, depth),
            ("$ref", Value::String(reference)) => self.reference(reference, pointer, place, depth),
            ("description" | "$comment", Value::String(text)) => {
                self.push(Sort::Prose, text, pointer, place, keyword)
            }
            ("enum" | "const", _) => self.leaves(operand, pointer, place, "value", Sort::Label),
            ("title" | "default" | "examples" | "example", _) => {
                self.leaves(operand, pointer, place, keyword, Sort::Label);
            }
            ("type", Value::String(name)) if NAMES_OF_TYPES.contains(&name.as_str()) => {}
            ("type", Value::Array(names)) if names.iter().all(is_type) => {}
            (
                "$schema" | "$id" | "id" | "$anchor" | "$dynamicAnchor" | "$dynamicRef" | "$recursiveRef"
                | "$vocabulary" | "type" | "format" | "pattern" | "required" | "dependentRequired"
                | "contentEncoding" | "contentMediaType" | "contentSchema",
                _,
            ) => self.leaves(operand, pointer, place, keyword, Sort::Mark),
            // What the gate does not know may hold sentences.
            _ => self.leaves(operand, pointer, place, keyword, Sort::Prose),
        }
    }

    fn definitions(&mut self, parts: &'a Map<String, Value>, pointer: &str, place: &str) {
        for (name, part) in parts {
            let at = format!("{pointer}/{}", segment(name));
            self.push(Sort::Mark, name, &at, place, "the name of a definition");
            self.defs.push((at, part));
        }
    }

    /// One schema or a list of them.
    fn parts(&mut self, operand: &'a Value, pointer: &str, place: &str, depth: usize) {
        match operand {
            Value::Array(parts) => {
                for (index, part) in parts.iter().enumerate() {
                    self.schema(part, &format!("{pointer}/{index}"), place, depth);
                }
            }
            part => self.schema(part, pointer, place, depth),
        }
    }

    /// The names of definitions count on their own; a reference that leads elsewhere is a string like others.
    fn reference(&mut self, reference: &'a str, pointer: &str, place: &str, depth: usize) {
        let target =
            reference.strip_prefix('#').and_then(|inside| Some((inside, self.root.pointer(inside)?)));
        match target {
            Some((inside, target)) if depth < MAX_DEPTH && self.seen.len() < MAX_SEEN => {
                self.schema(target, &format!("{}{inside}", self.top), place, depth + 1);
            }
            Some(_) => {}
            None => self.push(Sort::Mark, reference, pointer, place, "$ref"),
        }
    }

    fn push(&mut self, sort: Sort, text: &'a str, pointer: &str, place: &str, member: &str) {
        let (pointer, place, member) = (pointer.to_owned(), place.to_owned(), member.to_owned());
        self.out.push(Text { sort, text, pointer, place, member });
    }

    fn leaves(&mut self, value: &'a Value, pointer: &str, place: &str, member: &str, sort: Sort) {
        let owner = Owner { place, member: Some(member), inner: "", sort };
        leaves(value, pointer, &owner, &mut self.out);
    }
}

fn is_type(name: &Value) -> bool {
    name.as_str().is_some_and(|name| NAMES_OF_TYPES.contains(&name))
}

/// Collects the strings of a value, and the names of its members.
pub(super) fn strings<'a>(value: &'a Value, out: &mut BTreeSet<&'a str>) {
    match value {
        Value::String(text) => drop(out.insert(text)),
        Value::Array(items) => items.iter().for_each(|item| strings(item, out)),
        Value::Object(members) => {
            for (name, value) in members {
                out.insert(name);
                strings(value, out);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Whether two texts differ in white space only.
pub(crate) fn same_words(old: &str, new: &str) -> bool {
    old.split_whitespace().eq(new.split_whitespace())
}

/// Returns a part of a pointer.
pub(super) fn segment(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
