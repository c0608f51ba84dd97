//! The normal form of a schema, in which schemas are compared: a list of cases, each of one JSON
//! type. A schema accepts a value that fits at least one case.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::Value;

use super::number::Num;
use super::store::{NodeId, Site};

/// The JSON types; whole numbers are a property of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Type {
    Null,
    Boolean,
    Number,
    String,
    Array,
    Object,
}

pub(crate) const TYPES: [Type; 6] =
    [Type::Null, Type::Boolean, Type::Number, Type::String, Type::Array, Type::Object];

impl Type {
    pub(crate) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Boolean,
            Value::Number(_) => Self::Number,
            Value::String(_) => Self::String,
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Number => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        }
    }
}

/// A schema in normal form.
#[derive(Debug, Default)]
pub(crate) struct Normal {
    pub cases: Vec<Case>,
}

/// Values of one type: those of the body that also fit every residue.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Case {
    pub kind: Type,
    pub body: Body,
    /// Constraints that are known by their text only, by that text.
    pub residue: BTreeMap<Rc<str>, Residue>,
}

/// A keyword that can only be checked on a single value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Residue {
    pub site: Site,
    pub keyword: Rc<str>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Body {
    /// These values and no others.
    Values(Vec<Value>),
    Number(Numbers),
    Text(Texts),
    Array(Arrays),
    Object(Objects),
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Numbers {
    pub whole: bool,
    pub least: Option<Bound>,
    pub most: Option<Bound>,
    /// A number has to be a multiple of each.
    pub steps: Vec<Num>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bound {
    pub at: Num,
    /// The bound itself does not belong to the range.
    pub open: bool,
}

/// Strings; lengths are in characters.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Texts {
    pub least: u64,
    pub most: Option<u64>,
    pub patterns: BTreeSet<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Arrays {
    pub prefix: Vec<NodeId>,
    /// The schema of the items after the prefix.
    pub items: NodeId,
    pub least: u64,
    pub most: Option<u64>,
    pub unique: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Objects {
    pub properties: BTreeMap<String, NodeId>,
    pub required: BTreeSet<String>,
    /// `patternProperties`, sorted by pattern.
    pub patterns: Vec<(String, NodeId)>,
    /// The schema of properties that are neither named nor match a pattern.
    pub additional: NodeId,
    pub names: NodeId,
    pub least: u64,
    pub most: Option<u64>,
}

impl Case {
    /// All values of a type.
    pub(crate) fn all(kind: Type) -> Self {
        let body = match kind {
            Type::Null => Body::Values(vec![Value::Null]),
            Type::Boolean => Body::Values(vec![Value::Bool(false), Value::Bool(true)]),
            Type::Number => Body::Number(Numbers::default()),
            Type::String => Body::Text(Texts::default()),
            Type::Array => Body::Array(Arrays::default()),
            Type::Object => Body::Object(Objects::default()),
        };
        Self { kind, body, residue: BTreeMap::new() }
    }

    pub(crate) fn is_all(&self) -> bool {
        self.residue.is_empty() && *self == Self::all(self.kind)
    }
}

impl Default for Arrays {
    fn default() -> Self {
        Self { prefix: Vec::new(), items: NodeId::ANY, least: 0, most: None, unique: false }
    }
}

impl Default for Objects {
    fn default() -> Self {
        Self {
            properties: BTreeMap::new(),
            required: BTreeSet::new(),
            patterns: Vec::new(),
            additional: NodeId::ANY,
            names: NodeId::ANY,
            least: 0,
            most: None,
        }
    }
}

impl Arrays {
    /// Returns the schema of the item at `index`.
    pub(crate) fn item(&self, index: usize) -> NodeId {
        self.prefix.get(index).copied().unwrap_or(self.items)
    }
}

impl Bound {
    /// Checks whether a number satisfies a lower bound.
    pub(crate) fn allows_from_below(self, number: Num) -> bool {
        match number.compare(self.at) {
            std::cmp::Ordering::Less => false,
            std::cmp::Ordering::Equal => !self.open,
            std::cmp::Ordering::Greater => true,
        }
    }

    /// Checks whether a number satisfies an upper bound.
    pub(crate) fn allows_from_above(self, number: Num) -> bool {
        self.negated().allows_from_below(number.negated())
    }

    pub(crate) fn negated(self) -> Self {
        Self { at: self.at.negated(), open: self.open }
    }
}
