//! The encoder of values: RFC 8785 with a number rule.

use std::cmp::Ordering;
use std::fmt::Write as _;

use serde_json::{Map, Number, Value};

use crate::error::Canonical;
use crate::escape::push_string;
use crate::{CanonicalError, MAX_SAFE_INTEGER, error};

/// How many arrays and objects may stand inside one another.
pub const MAX_DEPTH: usize = 128;

/// What the encoder does with the numbers on which readers of JSON disagree. On everything else,
/// integers within ±(2^53-1) included, the rules give the same bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberRule {
    /// Audit hashes: big integers are written exactly as far as the parser kept them, fractions in
    /// their shortest form.
    Wire,
    /// Hashes of arguments: as `Wire`, but [`canonical_text`](crate::canonical_text) writes numbers that 64 bits do not keep as
    /// they were sent. A value has none of them any more.
    Sent,
    /// Trail records: big integers are refused, fractions in their shortest form.
    Trail,
    /// Rules, reputation and consensus: big integers are written exactly, fractions are refused.
    Exact,
}

/// Writes `value` in canonical form.
///
/// # Errors
/// A number that `rule` refuses, or nesting deeper than [`MAX_DEPTH`]; the error names the place.
pub fn canonical_json(value: &Value, rule: NumberRule) -> Result<String, CanonicalError> {
    let mut encoder = Encoder::new(128, rule);
    encoder.value(value, 0).map_err(|unplaced| unplaced.finish())?;
    Ok(encoder.out)
}

pub(super) struct Encoder {
    pub(super) out: String,
    rule: NumberRule,
}

impl Encoder {
    pub(super) fn new(room: usize, rule: NumberRule) -> Self {
        Self { out: String::with_capacity(room), rule }
    }

    fn value(&mut self, value: &Value, depth: usize) -> Canonical {
        match value {
            Value::Null => self.out.push_str("null"),
            Value::Bool(true) => self.out.push_str("true"),
            Value::Bool(false) => self.out.push_str("false"),
            Value::Number(number) => self.number(number)?,
            Value::String(text) => push_string(&mut self.out, text),
            Value::Array(items) => self.array(items, depth + 1)?,
            Value::Object(members) => self.object(members, depth + 1)?,
        }
        Ok(())
    }

    fn array(&mut self, items: &[Value], depth: usize) -> Canonical {
        if depth > MAX_DEPTH {
            return Err(error::too_deep());
        }
        self.out.push('[');
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.out.push(',');
            }
            self.value(item, depth).map_err(|unplaced| unplaced.under_index(index))?;
        }
        self.out.push(']');
        Ok(())
    }

    fn object(&mut self, members: &Map<String, Value>, depth: usize) -> Canonical {
        if depth > MAX_DEPTH {
            return Err(error::too_deep());
        }
        let mut sorted: Vec<(&String, &Value)> = members.iter().collect();
        sort_members(&mut sorted, |(name, _)| name);
        self.out.push('{');
        for (index, (key, value)) in sorted.into_iter().enumerate() {
            if index > 0 {
                self.out.push(',');
            }
            push_string(&mut self.out, key);
            self.out.push(':');
            self.value(value, depth).map_err(|unplaced| unplaced.under_key(key))?;
        }
        self.out.push('}');
        Ok(())
    }

    pub(super) fn number(&mut self, number: &Number) -> Canonical {
        if let Some(integer) = number.as_i64() {
            return self.integer(integer, integer.unsigned_abs() <= MAX_SAFE_INTEGER as u64);
        }
        if let Some(integer) = number.as_u64() {
            return self.integer(integer, false);
        }
        let Some(float) = number.as_f64().filter(|float| float.is_finite()) else {
            return Err(error::not_finite());
        };
        if self.rule == NumberRule::Exact {
            if float.fract() != 0.0 {
                return Err(error::fraction(float));
            }
            // The parser rounded it: its digits are not known any more.
            if float.abs() > MAX_SAFE_INTEGER as f64 {
                return Err(error::rounded(float));
            }
        }
        self.out.push_str(ryu_js::Buffer::new().format_finite(float));
        Ok(())
    }

    fn integer(&mut self, integer: impl std::fmt::Display, safe: bool) -> Canonical {
        if !safe && self.rule == NumberRule::Trail {
            return Err(error::unsafe_integer(&integer));
        }
        // Writing to a String cannot fail.
        let _ = write!(self.out, "{integer}");
        Ok(())
    }
}

/// Sorts members by the UTF-16 code units of their names. For ASCII names, which is nearly all of them, bytes give the same order.
pub(super) fn sort_members<T>(members: &mut [T], name: impl Fn(&T) -> &str) {
    if members.iter().all(|member| name(member).is_ascii()) {
        members.sort_unstable_by(|left, right| name(left).cmp(name(right)));
    } else {
        members.sort_unstable_by(|left, right| cmp_utf16(name(left), name(right)));
    }
}

/// Orders two strings by their UTF-16 code units, as ECMAScript does. Differs from Rust's order only
/// above U+FFFF.
pub fn cmp_utf16(left: &str, right: &str) -> Ordering {
    left.encode_utf16().cmp(right.encode_utf16())
}
