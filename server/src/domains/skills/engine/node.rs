//! A YAML node as a value, and the meaning of a plain scalar in YAML 1.2's core schema. Pure.

use std::collections::BTreeMap;

use serde_json::Value;

/// The members of a mapping. A `BTreeMap` of strings is sorted bytewise, which `frontmatter_json` needs.
pub type Mapping = BTreeMap<String, Node>;

/// A node without anchors, tags or positions.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    /// `null`, `~` or an empty value.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer within the range.
    Integer(i64),
    /// A finite number with a fraction or an exponent.
    Float(f64),
    /// A number that JSON cannot represent exactly, such as `.inf` or one with too many digits. It keeps its
    /// spelling.
    Beyond(String),
    /// Text.
    Text(String),
    /// A sequence.
    List(Vec<Node>),
    /// A mapping.
    Map(Mapping),
}

impl Node {
    /// Interprets a plain (unquoted) scalar. Dates, `yes` and `no` are text.
    pub(crate) fn of_plain(text: &str) -> Self {
        match text {
            "" | "~" | "null" | "Null" | "NULL" => Self::Null,
            "true" | "True" | "TRUE" => Self::Bool(true),
            "false" | "False" | "FALSE" => Self::Bool(false),
            _ => number(text).unwrap_or_else(|| Self::Text(text.to_owned())),
        }
    }

    /// Returns the kind, in the words of messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Integer(_) | Self::Float(_) | Self::Beyond(_) => "a number",
            Self::Text(_) => "a string",
            Self::List(_) => "a list",
            Self::Map(_) => "a mapping",
        }
    }

    /// Converts the node to JSON; members keep the mapping's order.
    pub(crate) fn to_json(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::from(*value),
            Self::Integer(value) => Value::from(*value),
            Self::Float(value) => Value::from(*value),
            Self::Beyond(text) | Self::Text(text) => Value::from(text.as_str()),
            Self::List(items) => items.iter().map(Self::to_json).collect(),
            Self::Map(members) => members_to_json(members),
        }
    }
}

/// Converts a mapping to a JSON object.
pub fn members_to_json(members: &Mapping) -> Value {
    Value::Object(members.iter().map(|(key, node)| (key.clone(), node.to_json())).collect())
}

/// Returns the number that a plain scalar spells, if any (YAML 1.2.2 §10.3.2).
fn number(text: &str) -> Option<Node> {
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            let spelt = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
            return spelt.then(|| {
                i64::from_str_radix(digits, radix)
                    .map_or_else(|_| Node::Beyond(text.to_owned()), Node::Integer)
            });
        }
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if are_digits(unsigned) {
        return Some(text.parse().map_or_else(|_| Node::Beyond(text.to_owned()), Node::Integer));
    }
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Some(Node::Beyond(text.to_owned()));
    }
    is_float(unsigned).then(|| match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Node::Float(value),
        _ => Node::Beyond(text.to_owned()),
    })
}

/// Matches `( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`
fn is_float(unsigned: &str) -> bool {
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let exponent_fits =
        exponent.is_none_or(|digits| are_digits(digits.strip_prefix(['+', '-']).unwrap_or(digits)));
    let mantissa_fits = match mantissa.split_once('.') {
        Some(("", fraction)) => are_digits(fraction),
        Some((whole, fraction)) => are_digits(whole) && (fraction.is_empty() || are_digits(fraction)),
        None => are_digits(mantissa),
    };
    mantissa_fits && exponent_fits
}

fn are_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars_mean_what_the_core_schema_says() {
        let text = |text: &str| Node::Text(text.to_owned());
        let beyond = |text: &str| Node::Beyond(text.to_owned());
        for (plain, node) in [
            ("", Node::Null),
            ("~", Node::Null),
            ("nULL", text("nULL")),
            ("True", Node::Bool(true)),
            ("yes", text("yes")),
            ("no", text("no")),
            ("on", text("on")),
            ("2026-11-21", text("2026-11-21")),
            ("0", Node::Integer(0)),
            ("-12", Node::Integer(-12)),
            ("+12", Node::Integer(12)),
            ("012", Node::Integer(12)),
            ("0o17", Node::Integer(15)),
            ("0xFf", Node::Integer(255)),
            ("0x", text("0x")),
            ("-0x1", text("-0x1")),
            ("1_000", text("1_000")),
            ("1.0", Node::Float(1.0)),
            ("1.", Node::Float(1.0)),
            (".5", Node::Float(0.5)),
            ("-1.5e-3", Node::Float(-0.0015)),
            ("1e3", Node::Float(1000.0)),
            (".", text(".")),
            ("1.2.3", text("1.2.3")),
            ("e3", text("e3")),
            ("1e", text("1e")),
            ("+", text("+")),
            ("inf", text("inf")),
            ("nan", text("nan")),
            (".inf", beyond(".inf")),
            ("-.INF", beyond("-.INF")),
            (".NaN", beyond(".NaN")),
            ("-.nan", text("-.nan")),
            ("1e999", beyond("1e999")),
            ("9223372036854775807", Node::Integer(i64::MAX)),
            ("9223372036854775808", beyond("9223372036854775808")),
            ("0xFFFFFFFFFFFFFFFF", beyond("0xFFFFFFFFFFFFFFFF")),
        ] {
            assert_eq!(Node::of_plain(plain), node, "{plain:?}");
        }
    }
}
