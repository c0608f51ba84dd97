//! Static schema tables: what `colibri-codegen` turns every input and output schema into, and what
//! [`crate::validate`] walks. All of it is data in the binary; nothing is parsed at run time.

use std::collections::HashSet;
use std::sync::OnceLock;

use colibri_pattern::{Exhausted, Regex, Steps};

/// A schema node: a shape, whether `null` is also accepted, and the message that replaces the
/// standard ones when the catalogue gives one (`x-message`).
#[derive(Debug)]
pub struct Schema {
    /// What a value that is not `null` must look like.
    pub shape: Shape,
    /// `null` is accepted beside the shape.
    pub nullable: bool,
    /// Replaces the message of every issue this node reports itself (catalogue#validation).
    pub message: Option<&'static str>,
}

/// The kinds of schema that the portable subset of JSON Schema 2020-12 knows.
#[derive(Debug)]
pub enum Shape {
    /// Anything (the empty schema).
    Any,
    /// `type: null`.
    Null,
    /// `type: boolean`.
    Boolean,
    /// `type: integer`; always inside ±(2^53-1), narrower when the catalogue says so.
    Integer(IntegerRule),
    /// `type: number`.
    Number(NumberRule),
    /// `type: string`.
    String(StringRule),
    /// `enum` or `const`: the literals in the order they were written.
    Enum(&'static [Literal]),
    /// `type: array`.
    Array(&'static ArrayRule),
    /// `type: object` with declared properties.
    Object(&'static ObjectRule),
    /// `type: object` used as a map: no declared properties, a schema for the values.
    Record(&'static RecordRule),
    /// `anyOf` or `oneOf`.
    Union(&'static UnionRule),
}

impl Schema {
    /// Adds the names of members and the words of lists, at any depth.
    pub(crate) fn names(&self, names: &mut HashSet<&'static str>) {
        match self.shape {
            Shape::Enum(literals) => names.extend(literals.iter().filter_map(|literal| match literal {
                Literal::String(word) => Some(*word),
                Literal::Null | Literal::Boolean(_) | Literal::Integer(_) => None,
            })),
            Shape::Array(rule) => rule.items.names(names),
            Shape::Object(rule) => rule.properties.iter().for_each(|property| {
                names.insert(property.name);
                property.schema.names(names);
            }),
            Shape::Record(rule) => rule.values.names(names),
            Shape::Union(rule) => rule.branches.iter().for_each(|branch| branch.names(names)),
            Shape::Any
            | Shape::Null
            | Shape::Boolean
            | Shape::Integer(_)
            | Shape::Number(_)
            | Shape::String(_) => {}
        }
    }
}

/// A scalar of an `enum`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Literal {
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean(bool),
    /// An integer.
    Integer(i64),
    /// A string.
    String(&'static str),
}

/// Bounds of an integer, both inclusive.
#[derive(Debug, Clone, Copy)]
pub struct IntegerRule {
    /// `minimum` (`exclusiveMinimum` is turned into it by the generator).
    pub min: Option<i64>,
    /// `maximum`.
    pub max: Option<i64>,
    /// `multipleOf`.
    pub multiple_of: Option<i64>,
}

/// Bounds of a number.
#[derive(Debug, Clone, Copy)]
pub struct NumberRule {
    /// Lower bound.
    pub min: Option<Bound>,
    /// Upper bound.
    pub max: Option<Bound>,
}

/// One end of a range of numbers.
#[derive(Debug, Clone, Copy)]
pub struct Bound {
    /// The bound.
    pub value: f64,
    /// Whether the bound itself is allowed.
    pub inclusive: bool,
}

/// Length (in Unicode scalar values) and pattern of a string.
#[derive(Debug, Clone, Copy)]
pub struct StringRule {
    /// `minLength`.
    pub min: Option<u32>,
    /// `maxLength`.
    pub max: Option<u32>,
    /// `pattern`, unanchored as JSON Schema has it.
    pub pattern: Option<&'static Pattern>,
}

/// An ECMAScript regular expression, compiled when it is first needed and matched in linear time.
pub struct Pattern {
    /// The expression as published.
    pub source: &'static str,
    compiled: OnceLock<Option<Regex>>,
}

impl Pattern {
    /// A pattern that is not compiled yet.
    #[must_use]
    pub const fn new(source: &'static str) -> Self {
        Self { source, compiled: OnceLock::new() }
    }

    /// Returns whether the pattern matches in the text. One that does not compile, which the generator's lint rules out, matches
    /// nothing, and neither does a text that takes too many steps: what cannot be checked is not let through.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        self.matches_within(text, &Steps::default()).unwrap_or(false)
    }

    /// As [`Pattern::matches`], with the steps that are left of a call.
    pub(crate) fn matches_within(&self, text: &str, steps: &Steps) -> Result<bool, Exhausted> {
        let compiled = self.compiled.get_or_init(|| Regex::new(self.source).ok());
        compiled.as_ref().map_or(Ok(false), |regex| regex.is_match(text, steps))
    }
}

impl std::fmt::Debug for Pattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "/{}/", self.source)
    }
}

/// Items of an array.
#[derive(Debug)]
pub struct ArrayRule {
    /// Every item's schema.
    pub items: Schema,
    /// `minItems`.
    pub min: Option<u32>,
    /// `maxItems`.
    pub max: Option<u32>,
    /// `uniqueItems`.
    pub unique: bool,
}

/// Properties of an object, in declared order.
#[derive(Debug)]
pub struct ObjectRule {
    /// The declared properties.
    pub properties: &'static [Property],
    /// What happens to keys that are not declared.
    pub additional: Additional,
}

/// One declared property.
#[derive(Debug)]
pub struct Property {
    /// Its key.
    pub name: &'static str,
    /// Its schema.
    pub schema: Schema,
    /// Whether it must be there.
    pub required: bool,
    /// JSON text of its default, put in when the key is absent.
    pub default: Option<&'static str>,
}

/// What an object does with keys it does not declare.
#[derive(Debug)]
pub enum Additional {
    /// `additionalProperties: false`.
    Closed,
    /// Anything goes.
    Open,
}

/// A map from strings to values of one schema.
#[derive(Debug)]
pub struct RecordRule {
    /// `propertyNames`.
    pub keys: Option<StringRule>,
    /// `additionalProperties` as a schema.
    pub values: Schema,
    /// `minProperties`.
    pub min: Option<u32>,
    /// `maxProperties`.
    pub max: Option<u32>,
}

/// A choice between schemas.
#[derive(Debug)]
pub struct UnionRule {
    /// The branches in declared order.
    pub branches: &'static [Schema],
    /// `oneOf`: exactly one branch may match; otherwise at least one must.
    pub exclusive: bool,
}

/// A rule across fields that JSON Schema's portable subset cannot say; checked in stage 2 after
/// the structure has been found sound (catalogue#cross-rules).
#[derive(Debug)]
pub enum CrossRule {
    /// If both are given they must be equal.
    AliasEqual {
        /// The canonical field.
        field: &'static str,
        /// Its alias; the path.
        alias: &'static str,
        /// The text.
        message: &'static str,
    },
    /// `field` excludes each of `others`; the path is the other key.
    Either {
        /// The field that stands alone.
        field: &'static str,
        /// The fields it excludes.
        others: &'static [&'static str],
        /// The text.
        message: &'static str,
    },
    /// `field` is given only together with `other`; the path is `field`.
    Needs {
        /// The field that does not stand alone.
        field: &'static str,
        /// The field that it needs.
        other: &'static str,
        /// The text.
        message: &'static str,
    },
    /// A string's length in UTF-8 bytes is bounded.
    MaxBytes {
        /// The field.
        field: &'static str,
        /// The most bytes it may have.
        limit: u32,
        /// The text.
        message: &'static str,
    },
    /// No string anywhere in the input holds U+0000; the path leads to it.
    NoNul {
        /// The text.
        message: &'static str,
    },
}
