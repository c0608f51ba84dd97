//! JSON numbers without rounding: integers exactly, other numbers by their decimal text.

use std::cmp::Ordering;
use std::collections::HashSet;

use serde_json::{Number, Value};

/// Whole floats up to here are turned into integers; all of them are exact.
const EXACT: f64 = 1e30;

/// A number; an integer is always an `Int`, unless it is too large to be useful.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Num {
    Int(i128),
    Float(f64),
}

impl Num {
    pub(crate) fn of(value: &Value) -> Option<Self> {
        let number = value.as_number()?;
        if let Some(whole) = number.as_i64() {
            return Some(Self::Int(i128::from(whole)));
        }
        if let Some(whole) = number.as_u64() {
            return Some(Self::Int(i128::from(whole)));
        }
        number.as_f64().map(Self::of_float)
    }

    #[allow(clippy::cast_possible_truncation)] // whole and within ±1e30
    fn of_float(float: f64) -> Self {
        if float.fract() == 0.0 && float.abs() <= EXACT {
            Self::Int(float as i128)
        } else {
            Self::Float(float)
        }
    }

    /// Returns it as a JSON value; `None` if no JSON number of this crate can represent it.
    pub(crate) fn value(self) -> Option<Value> {
        match self {
            Self::Int(whole) => i64::try_from(whole)
                .map(Value::from)
                .or_else(|_| u64::try_from(whole).map(Value::from))
                .ok()
                .or_else(|| self.float_value()),
            Self::Float(float) => Number::from_f64(float).map(Value::Number),
        }
    }

    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)] // checked by the way back
    fn float_value(self) -> Option<Value> {
        let Self::Int(whole) = self else { return None };
        let float = whole as f64;
        (float as i128 == whole).then(|| Number::from_f64(float).map(Value::Number)).flatten()
    }

    pub(crate) fn is_whole(self) -> bool {
        match self {
            Self::Int(_) => true,
            Self::Float(float) => float.fract() == 0.0,
        }
    }

    /// The greatest whole number that is not above it; `None` when out of reach.
    pub(crate) fn floor(self) -> Option<i128> {
        match self {
            Self::Int(whole) => Some(whole),
            Self::Float(float) => match Self::of_float(float.floor()) {
                Self::Int(whole) => Some(whole),
                Self::Float(_) => None,
            },
        }
    }

    pub(crate) fn compare(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Int(one), Self::Int(two)) => one.cmp(&two),
            (Self::Float(one), Self::Float(two)) => one.total_cmp(&two),
            (Self::Int(one), Self::Float(two)) => compare_mixed(one, two),
            (Self::Float(one), Self::Int(two)) => compare_mixed(two, one).reverse(),
        }
    }

    /// Whether it is a multiple of `step`, as decimal numbers; `None` when out of reach.
    pub(crate) fn is_multiple_of(self, step: Self) -> Option<bool> {
        if let (Self::Int(whole), Self::Int(step)) = (self, step) {
            return (step != 0).then(|| whole % step == 0);
        }
        let ((digits, scale), (step, step_scale)) = (self.decimal()?, step.decimal()?);
        let common = scale.max(step_scale);
        let digits = digits.checked_mul(10_i128.checked_pow(common - scale)?)?;
        let step = step.checked_mul(10_i128.checked_pow(common - step_scale)?)?;
        (step != 0).then(|| digits % step == 0)
    }

    /// Returns the digits, and how many of them follow the decimal point, in the shortest text.
    fn decimal(self) -> Option<(i128, u32)> {
        match self {
            Self::Int(whole) => Some((whole, 0)),
            Self::Float(float) => {
                let text = float.to_string();
                let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
                let digits = format!("{whole}{fraction}").parse().ok()?;
                Some((digits, u32::try_from(fraction.len()).ok()?))
            }
        }
    }

    /// The sum, rounded as floats round.
    #[allow(clippy::cast_precision_loss)] // only proposals for witnesses are made of it
    pub(crate) fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::Int(one), Self::Int(two)) => Self::Int(one.saturating_add(two)),
            (Self::Int(one), Self::Float(two)) | (Self::Float(two), Self::Int(one)) => {
                Self::of_float(one as f64 + two)
            }
            (Self::Float(one), Self::Float(two)) => Self::of_float(one + two),
        }
    }

    pub(crate) fn negated(self) -> Self {
        match self {
            Self::Int(whole) => Self::Int(whole.saturating_neg()),
            Self::Float(float) => Self::Float(-float),
        }
    }

    #[allow(clippy::cast_precision_loss)] // as `plus`
    pub(crate) fn float(self) -> f64 {
        match self {
            Self::Int(whole) => whole as f64,
            Self::Float(float) => float,
        }
    }

    /// The nearest multiple of `step` that is not below it.
    #[allow(clippy::cast_precision_loss)] // as `plus`
    pub(crate) fn up_to_multiple(self, step: Self) -> Self {
        match (self, step) {
            (Self::Int(whole), Self::Int(step)) if step != 0 => {
                let step = step.abs();
                Self::Int(whole.saturating_add((step - whole.rem_euclid(step)) % step))
            }
            _ => Self::of_float((self.float() / step.float()).ceil() * step.float()),
        }
    }
}

impl PartialEq for Num {
    fn eq(&self, other: &Self) -> bool {
        self.compare(*other) == Ordering::Equal
    }
}

fn compare_mixed(whole: i128, float: f64) -> Ordering {
    let below = match Num::of_float(float.floor()) {
        Num::Int(below) => below,
        Num::Float(_) if float > 0.0 => return Ordering::Less,
        Num::Float(_) => return Ordering::Greater,
    };
    match whole.cmp(&below) {
        Ordering::Equal if float.fract() != 0.0 => Ordering::Less,
        order => order,
    }
}

/// Equality as JSON Schema has it: numbers by value, members in any order.
pub(crate) fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(_), Value::Number(_)) => match (Num::of(one), Num::of(other)) {
            (Some(one), Some(other)) => one == other,
            _ => one == other,
        },
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, one)| other.get(key).is_some_and(|other| same(one, other)))
        }
        _ => one == other,
    }
}

/// Values to look up, in time that does not grow with their number. Equal are those that [`same`] calls so.
#[derive(Debug, Default)]
pub(crate) struct Known(HashSet<String>);

impl Known {
    pub(crate) fn of<'v>(values: impl IntoIterator<Item = &'v Value>) -> Self {
        Self(values.into_iter().map(key).collect())
    }

    pub(crate) fn contains(&self, value: &Value) -> bool {
        self.0.contains(&key(value))
    }

    /// Returns whether the value was new.
    pub(crate) fn insert(&mut self, value: &Value) -> bool {
        self.0.insert(key(value))
    }
}

/// Returns whether two lists have a value in common.
pub(crate) fn overlap(one: &[Value], other: &[Value]) -> bool {
    const FEW: usize = 8;
    if one.len().min(other.len()) < FEW {
        return one.iter().any(|one| other.iter().any(|other| same(one, other)));
    }
    let known = Known::of(other);
    one.iter().any(|value| known.contains(value))
}

/// A text that two values share if and only if they are the [`same`].
fn key(value: &Value) -> String {
    match value {
        Value::Number(number) => match Num::of(value) {
            Some(Num::Int(whole)) => whole.to_string(),
            Some(Num::Float(float)) => format!("{float:?}"),
            None => number.to_string(),
        },
        Value::Array(items) => format!("[{}]", items.iter().map(key).collect::<Vec<_>>().join(",")),
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| format!("{}:{}", json_text(name), key(value));
            let mut members: Vec<String> = members.iter().map(member).collect();
            members.sort_unstable();
            format!("{{{}}}", members.join(","))
        }
        other => other.to_string(),
    }
}

fn json_text(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use serde_json::json;

    fn num(value: &Value) -> Num {
        Num::of(value).unwrap()
    }

    #[test]
    fn numbers_compare_by_value() {
        assert!(same(&json!([1, {"a": 2.0, "b": null}]), &json!([1.0, {"b": null, "a": 2}])));
        assert!(!same(&json!(9_007_199_254_740_993_i64), &json!(9_007_199_254_740_992.0)));
        assert_eq!(num(&json!(2)).compare(num(&json!(2.5))), Ordering::Less);
        assert_eq!(num(&json!(-3)).compare(num(&json!(-2.5))), Ordering::Less);
        assert_eq!(num(&json!(1e300)).compare(num(&json!(7))), Ordering::Greater);
    }

    #[test]
    fn values_are_known_by_what_they_are() {
        let values = [
            json!(1),
            json!(1.0),
            json!(1.5),
            json!("1"),
            json!(-0.0),
            json!(0),
            json!(1e40),
            json!(null),
            json!("null"),
            json!([1, 2]),
            json!([1, 2.0]),
            json!(["1,2"]),
            json!({"a": 1, "b": 2}),
            json!({"b": 2.0, "a": 1}),
            json!({"a:1,b": 2}),
        ];
        for one in &values {
            for other in &values {
                assert_eq!(Known::of([one]).contains(other), same(one, other), "{one} {other}");
            }
        }
    }

    #[test]
    fn multiples_are_decimal() {
        for (value, step, verdict) in [
            (json!(0.3), json!(0.1), true),
            (json!(19.99), json!(0.01), true),
            (json!(7), json!(2), false),
            (json!(7.5), json!(2.5), true),
            (json!(-6), json!(4), false),
        ] {
            assert_eq!(num(&value).is_multiple_of(num(&step)), Some(verdict), "{value} {step}");
        }
        assert_eq!(num(&json!(7)).up_to_multiple(Num::Int(5)), Num::Int(10));
        assert_eq!(num(&json!(-7)).up_to_multiple(Num::Int(5)), Num::Int(-5));
    }
}
