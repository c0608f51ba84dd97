//! A schema of the catalogue as a typed tree: the portable subset of JSON Schema, `$ref` by name,
//! every way of saying "or null" turned into one flag.

use serde_json::{Map, Number, Value};

use super::{Problem, names};
use crate::catalogue::Place;

/// A schema node.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    /// What a value that is not `null` looks like.
    pub kind: Kind,
    /// `null` is accepted too.
    pub nullable: bool,
    /// What the value means.
    pub description: Option<String>,
    /// Taken when the property is absent.
    pub default: Option<Value>,
    /// `x-message`: replaces the standard issue texts (catalogue#validation). Never published.
    pub message: Option<String>,
}

/// The shapes of the portable subset.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// The empty schema.
    Any,
    /// `type: null`.
    Null,
    /// `type: boolean`.
    Boolean,
    /// `type: integer`, bounds inclusive.
    Integer(IntegerBounds),
    /// `type: number`.
    Number(NumberBounds),
    /// `type: string`.
    String(StringBounds),
    /// `enum`, or `const` when `constant`; `null` is in [`Schema::nullable`], not here.
    Enum {
        /// The literals as written.
        values: Vec<Value>,
        /// It was written as `const`.
        constant: bool,
    },
    /// `type: array`.
    Array {
        /// Every item's schema.
        items: Box<Schema>,
        /// `minItems`.
        min: Option<u32>,
        /// `maxItems`.
        max: Option<u32>,
        /// `uniqueItems`.
        unique: bool,
    },
    /// `type: object` with declared properties.
    Object {
        /// The properties in declared order.
        properties: Vec<Property>,
        /// `additionalProperties: false`.
        closed: bool,
    },
    /// `type: object` used as a map.
    Record {
        /// `propertyNames`.
        keys: Option<StringBounds>,
        /// `additionalProperties`.
        values: Box<Schema>,
        /// `minProperties`.
        min: Option<u32>,
        /// `maxProperties`.
        max: Option<u32>,
    },
    /// `anyOf`, or `oneOf` when `exclusive`.
    Union {
        /// The branches in declared order.
        branches: Vec<Schema>,
        /// Exactly one may match.
        exclusive: bool,
    },
    /// `$ref` to a named type.
    Ref(String),
}

/// Bounds of an integer, inclusive.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct IntegerBounds {
    /// `minimum`.
    pub min: Option<i64>,
    /// `maximum`.
    pub max: Option<i64>,
    /// `multipleOf`.
    pub multiple_of: Option<i64>,
}

/// Bounds of a number; the flag says whether the bound itself is allowed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NumberBounds {
    /// Lower bound.
    pub min: Option<(Number, bool)>,
    /// Upper bound.
    pub max: Option<(Number, bool)>,
}

/// Length in Unicode scalar values, and pattern.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StringBounds {
    /// `minLength`.
    pub min: Option<u32>,
    /// `maxLength`.
    pub max: Option<u32>,
    /// `pattern`.
    pub pattern: Option<String>,
}

/// A declared property.
#[derive(Debug, Clone, PartialEq)]
pub struct Property {
    /// Its key.
    pub name: String,
    /// Its schema.
    pub schema: Schema,
    /// Whether it must be there.
    pub required: bool,
}

impl Schema {
    /// A schema of this kind, nothing else said.
    #[must_use]
    pub fn of(kind: Kind) -> Self {
        Self { kind, nullable: false, description: None, default: None, message: None }
    }

    /// Reads a schema as written in the catalogue.
    ///
    /// # Errors
    /// A form outside the portable subset, with its place.
    pub fn parse(written: &Value, place: &Place) -> Result<Self, Problem> {
        let Some(map) = written.as_object() else {
            return Err(Problem::new(place, "a schema must be a mapping", "write e.g. `{ type: string }`"));
        };
        let reader = Reader { map, place };
        let (mut kind, mut nullable) = reader.kind()?;
        if let Kind::Union { branches, .. } = &mut kind {
            nullable |= branches.iter().any(|branch| branch.nullable || branch.kind == Kind::Null);
            branches.retain(|branch| branch.kind != Kind::Null);
            branches.iter_mut().for_each(|branch| branch.nullable = false);
            if branches.len() == 1 {
                let only = branches.remove(0);
                return Ok(reader.finish(Self { nullable, ..only }));
            }
        }
        Ok(reader.finish(Self { nullable, ..Self::of(kind) }))
    }

    /// Whether the enum consists of strings with names of their own in Rust, which makes it a Rust enum.
    #[must_use]
    pub fn is_string_enum(&self) -> bool {
        matches!(&self.kind, Kind::Enum { values, .. } if values.iter().all(Value::is_string) && names::are_variants(values))
    }
}

/// One mapping of the catalogue that is read as a schema.
struct Reader<'a> {
    map: &'a Map<String, Value>,
    place: &'a Place,
}

impl Reader<'_> {
    fn finish(&self, schema: Schema) -> Schema {
        Schema {
            description: self.text("description").or(schema.description),
            default: self.map.get("default").cloned().or(schema.default),
            message: self.text("x-message").or(schema.message),
            ..schema
        }
    }

    fn kind(&self) -> Result<(Kind, bool), Problem> {
        if let Some(target) = self.map.get("$ref") {
            let name = target.as_str().ok_or_else(|| self.problem("$ref", "must be a type's name"))?;
            return Ok((Kind::Ref(name.to_owned()), false));
        }
        for (key, exclusive) in [("anyOf", false), ("oneOf", true)] {
            if self.map.contains_key(key) {
                return Ok((Kind::Union { branches: self.branches(key)?, exclusive }, false));
            }
        }
        let (name, mut nullable) = self.type_name()?;
        if self.map.contains_key("enum") || self.map.contains_key("const") {
            let (kind, lists_null) = self.literals()?;
            return Ok((kind, lists_null));
        }
        let kind = match name {
            None => Kind::Any,
            Some("null") => {
                nullable = false;
                Kind::Null
            }
            Some("boolean") => Kind::Boolean,
            Some("integer") => Kind::Integer(self.integer()?),
            Some("number") => Kind::Number(self.number()),
            Some("string") => Kind::String(self.string()?),
            Some("array") => self.array()?,
            Some("object") => self.object()?,
            Some(other) => return Err(self.problem("type", &format!("`{other}` is not a JSON type"))),
        };
        Ok((kind, nullable))
    }

    fn type_name(&self) -> Result<(Option<&str>, bool), Problem> {
        match self.map.get("type") {
            None => Ok((None, false)),
            Some(Value::String(name)) => Ok((Some(name), name == "null")),
            Some(Value::Array(names)) => {
                let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
                match names.as_slice() {
                    [one] => Ok((Some(one), false)),
                    [one, "null"] | ["null", one] => Ok((Some(one), true)),
                    _ => Err(self.problem("type", "may name one type, or one type and \"null\"")),
                }
            }
            Some(_) => Err(self.problem("type", "must be a name or a list of two")),
        }
    }

    fn literals(&self) -> Result<(Kind, bool), Problem> {
        let (written, constant) = match (self.map.get("enum"), self.map.get("const")) {
            (Some(Value::Array(values)), _) => (values.clone(), false),
            (None, Some(value)) => (vec![value.clone()], true),
            _ => return Err(self.problem("enum", "must be a list")),
        };
        let values: Vec<Value> = written.iter().filter(|value| !value.is_null()).cloned().collect();
        if values.iter().any(|value| value.as_i64().is_none() && !value.is_string() && !value.is_boolean()) {
            return Err(self.problem("enum", "may hold strings, integers, booleans and null"));
        }
        let lists_null = values.len() != written.len();
        if values.is_empty() {
            return Ok((Kind::Null, false));
        }
        Ok((Kind::Enum { values, constant }, lists_null))
    }

    fn branches(&self, key: &str) -> Result<Vec<Schema>, Problem> {
        let Some(Value::Array(written)) = self.map.get(key) else {
            return Err(self.problem(key, "must be a list of schemas"));
        };
        let place = self.place.child(key);
        written.iter().enumerate().map(|(index, branch)| Schema::parse(branch, &place.child(index))).collect()
    }

    fn integer(&self) -> Result<IntegerBounds, Problem> {
        let above = self.whole("exclusiveMinimum")?.map(|bound| bound.saturating_add(1));
        let below = self.whole("exclusiveMaximum")?.map(|bound| bound.saturating_sub(1));
        Ok(IntegerBounds {
            min: self.whole("minimum")?.max(above),
            max: match (self.whole("maximum")?, below) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            },
            multiple_of: self.whole("multipleOf")?,
        })
    }

    fn number(&self) -> NumberBounds {
        let bound = |inclusive: &str, exclusive: &str| {
            let written = |key: &str, flag| match self.map.get(key) {
                Some(Value::Number(value)) => Some((value.clone(), flag)),
                _ => None,
            };
            written(exclusive, false).or_else(|| written(inclusive, true))
        };
        NumberBounds { min: bound("minimum", "exclusiveMinimum"), max: bound("maximum", "exclusiveMaximum") }
    }

    fn string(&self) -> Result<StringBounds, Problem> {
        let (min, max) = (self.count("minLength")?, self.count("maxLength")?);
        Ok(StringBounds { min, max, pattern: self.text("pattern") })
    }

    fn array(&self) -> Result<Kind, Problem> {
        let items = match self.map.get("items") {
            Some(written) => Schema::parse(written, &self.place.child("items"))?,
            None => Schema::of(Kind::Any),
        };
        Ok(Kind::Array {
            items: Box::new(items),
            min: self.count("minItems")?,
            max: self.count("maxItems")?,
            unique: self.map.get("uniqueItems") == Some(&Value::Bool(true)),
        })
    }

    fn object(&self) -> Result<Kind, Problem> {
        let additional = self.map.get("additionalProperties");
        let declared = self.map.get("properties").and_then(Value::as_object);
        if let (None, Some(written @ Value::Object(_))) = (declared, additional) {
            let names = self.map.get("propertyNames").and_then(Value::as_object);
            let place = self.place.child("propertyNames");
            let keys = names.map(|map| Reader { map, place: &place }.string()).transpose()?;
            return Ok(Kind::Record {
                keys,
                values: Box::new(Schema::parse(written, &self.place.child("additionalProperties"))?),
                min: self.count("minProperties")?,
                max: self.count("maxProperties")?,
            });
        }
        let required: Vec<&str> = match self.map.get("required") {
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let place = self.place.child("properties");
        let properties = declared.into_iter().flatten().map(|(name, written)| {
            let schema = Schema::parse(written, &place.child(name))?;
            Ok(Property { name: name.clone(), schema, required: required.contains(&name.as_str()) })
        });
        let properties = properties.collect::<Result<Vec<_>, Problem>>()?;
        if let Some(name) = required.iter().find(|name| !properties.iter().any(|p| p.name == **name)) {
            return Err(self.problem("required", &format!("`{name}` is not among the properties")));
        }
        Ok(Kind::Object { properties, closed: additional == Some(&Value::Bool(false)) })
    }

    fn text(&self, key: &str) -> Option<String> {
        self.map.get(key).and_then(Value::as_str).map(str::to_owned)
    }

    fn whole(&self, key: &str) -> Result<Option<i64>, Problem> {
        let Some(value) = self.map.get(key) else { return Ok(None) };
        let whole = value.as_i64().or_else(|| {
            let float = value.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < 9.0e15)?;
            Some(float as i64)
        });
        whole.map(Some).ok_or_else(|| self.problem(key, "must be a whole number inside ±(2^53-1)"))
    }

    fn count(&self, key: &str) -> Result<Option<u32>, Problem> {
        let Some(whole) = self.whole(key)? else { return Ok(None) };
        u32::try_from(whole).map(Some).map_err(|_| self.problem(key, "must be a count from 0 to 2^32-1"))
    }

    fn problem(&self, key: &str, what: &str) -> Problem {
        let help = "write it in the portable subset of JSON Schema 2020-12 that the guide lists";
        Problem::new(&self.place.child(key), &format!("`{key}` {what}"), help)
    }
}
