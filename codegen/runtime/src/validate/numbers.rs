//! Numbers. As in JSON Schema and in ECMAScript, `10.0` and `1e1` are integers.

use serde_json::{Number, Value};

use super::check::{At, Checker};
use crate::schema::{Bound, IntegerRule, NumberRule, Schema};
use colibri_canonical::MAX_SAFE_INTEGER;

/// An integer as received: exact while it is within 64 bits, otherwise as the parser rounded it.
#[derive(Clone, Copy)]
enum Whole {
    Exact(i128),
    Rounded(f64),
}

impl Whole {
    fn of(number: &Number) -> Option<Self> {
        if let Some(integer) = number.as_i64() {
            return Some(Self::Exact(integer.into()));
        }
        if let Some(integer) = number.as_u64() {
            return Some(Self::Exact(integer.into()));
        }
        let float = number.as_f64().filter(|float| float.fract() == 0.0)?;
        if float.abs() <= MAX_SAFE_INTEGER as f64 {
            return Some(Self::Exact(float as i128));
        }
        Some(Self::Rounded(float))
    }

    fn below(self, bound: i64) -> bool {
        match self {
            Self::Exact(integer) => integer < i128::from(bound),
            Self::Rounded(float) => float < bound as f64,
        }
    }

    fn above(self, bound: i64) -> bool {
        match self {
            Self::Exact(integer) => integer > i128::from(bound),
            Self::Rounded(float) => float > bound as f64,
        }
    }

    fn divides(self, divisor: i64) -> bool {
        match self {
            _ if divisor == 0 => false,
            Self::Exact(integer) => integer % i128::from(divisor) == 0,
            Self::Rounded(float) => float % divisor as f64 == 0.0,
        }
    }
}

/// Returns the integer that a valid number means; `None` when it is not an integer within 64 bits.
pub(super) fn as_integer(number: &Number) -> Option<i64> {
    match Whole::of(number)? {
        Whole::Exact(integer) => i64::try_from(integer).ok(),
        Whole::Rounded(_) => None,
    }
}

impl Checker<'_> {
    pub(super) fn integer(&mut self, schema: &Schema, rule: &IntegerRule, number: &Number, at: At<'_>) {
        let Some(whole) = Whole::of(number) else {
            return self.report(Some(schema), at, "invalid_type", || {
                let message = "Invalid input: expected int, received number".to_owned();
                (message, vec![("expected", "int".into()), ("format", "safeint".into())])
            });
        };
        if number.is_f64() {
            self.mark_untidy();
        }
        if whole.above(MAX_SAFE_INTEGER) {
            self.bound(schema, "int", Side::Max, MAX_SAFE_INTEGER.into(), true, at);
        } else if whole.below(-MAX_SAFE_INTEGER) {
            self.bound(schema, "int", Side::Min, (-MAX_SAFE_INTEGER).into(), true, at);
        }
        if let Some(min) = rule.min.filter(|min| whole.below(*min)) {
            self.bound(schema, "number", Side::Min, min.into(), true, at);
        }
        if let Some(max) = rule.max.filter(|max| whole.above(*max)) {
            self.bound(schema, "number", Side::Max, max.into(), true, at);
        }
        if let Some(divisor) = rule.multiple_of.filter(|divisor| !whole.divides(*divisor)) {
            self.report(Some(schema), at, "not_multiple_of", || {
                let message = format!("Invalid number: must be a multiple of {divisor}");
                (message, vec![("origin", "number".into()), ("divisor", divisor.into())])
            });
        }
    }

    pub(super) fn number(&mut self, schema: &Schema, rule: &NumberRule, number: &Number, at: At<'_>) {
        let Some(value) = number.as_f64() else { return };
        let below = |bound: &Bound| value < bound.value || (!bound.inclusive && value == bound.value);
        let above = |bound: &Bound| value > bound.value || (!bound.inclusive && value == bound.value);
        if let Some(min) = rule.min.filter(below) {
            self.bound(schema, "number", Side::Min, plain(min.value), min.inclusive, at);
        }
        if let Some(max) = rule.max.filter(above) {
            self.bound(schema, "number", Side::Max, plain(max.value), max.inclusive, at);
        }
    }

    fn bound(
        &mut self,
        schema: &Schema,
        origin: &str,
        side: Side,
        bound: Value,
        inclusive: bool,
        at: At<'_>,
    ) {
        self.report(Some(schema), at, side.code(), || {
            let equal = if inclusive { "=" } else { "" };
            let message = format!("{}: expected {origin} to be {}{equal}{bound}", side.word(), side.sign());
            (
                message,
                vec![("origin", origin.into()), (side.member(), bound), ("inclusive", inclusive.into())],
            )
        });
    }

    /// Checks how many characters, items or properties there are.
    pub(super) fn size(
        &mut self,
        schema: &Schema,
        origin: &str,
        unit: &str,
        (min, max): (Option<u32>, Option<u32>),
        size: usize,
        at: At<'_>,
    ) {
        let broken = match (min, max) {
            (Some(min), _) if size < min as usize => Some((Side::Min, min)),
            (_, Some(max)) if size > max as usize => Some((Side::Max, max)),
            _ => None,
        };
        let Some((side, bound)) = broken else { return };
        self.report(Some(schema), at, side.code(), || {
            let message =
                format!("{}: expected {origin} to have {}={bound} {unit}", side.word(), side.sign());
            (
                message,
                vec![("origin", origin.into()), (side.member(), bound.into()), ("inclusive", true.into())],
            )
        });
    }
}

/// Which end of a range was exceeded.
#[derive(Clone, Copy)]
enum Side {
    Min,
    Max,
}

impl Side {
    fn code(self) -> &'static str {
        match self {
            Self::Min => "too_small",
            Self::Max => "too_big",
        }
    }

    fn member(self) -> &'static str {
        match self {
            Self::Min => "minimum",
            Self::Max => "maximum",
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Min => "Too small",
            Self::Max => "Too big",
        }
    }

    fn sign(self) -> char {
        match self {
            Self::Min => '>',
            Self::Max => '<',
        }
    }
}

/// Writes a bound as ECMAScript prints it: `1`, not `1.0`.
fn plain(bound: f64) -> Value {
    if bound.fract() == 0.0 && bound.abs() <= MAX_SAFE_INTEGER as f64 {
        return Value::from(bound as i64);
    }
    Value::from(bound)
}
