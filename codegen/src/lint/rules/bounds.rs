//! `bounds`: lower bounds are not above upper ones, and integers stay where every JSON reader
//! keeps them exact (±(2^53-1), RFC 8785).

use serde_json::Value;

use crate::lint::schemas::{Node, type_of};
use crate::lint::{Context, Report};

const PAIRS: [(&str, &str, bool); 7] = [
    ("minLength", "maxLength", false),
    ("minItems", "maxItems", false),
    ("minProperties", "maxProperties", false),
    ("minimum", "maximum", false),
    ("exclusiveMinimum", "maximum", true),
    ("minimum", "exclusiveMaximum", true),
    ("exclusiveMinimum", "exclusiveMaximum", true),
];
const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    for node in &context.schemas.nodes {
        for (lower, upper, open) in PAIRS {
            let (Some(least), Some(most)) = (bound(node, lower), bound(node, upper)) else { continue };
            if least > most || open && least >= most {
                let message = format!("`{upper}` {most} leaves nothing above `{lower}` {least}");
                report.value(&node.place.child(upper), message, "swap them, or widen the range");
            }
        }
        for [one, other] in [["minimum", "exclusiveMinimum"], ["maximum", "exclusiveMaximum"]] {
            if node.schema.contains_key(one) && node.schema.contains_key(other) {
                let message = format!("`{other}` cannot be combined with `{one}`");
                report.key(&node.place.child(other), message, "keep the narrower of the two");
            }
        }
        if matches!(type_of(node.schema), Some(("integer", _))) {
            integer(node, report);
        }
    }
}

fn bound(node: &Node<'_>, keyword: &str) -> Option<f64> {
    node.schema.get(keyword).and_then(Value::as_f64)
}

fn integer(node: &Node<'_>, report: &mut Report<'_>) {
    for keyword in ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"] {
        let Some(value) = bound(node, keyword) else { continue };
        let place = node.place.child(keyword);
        if value.fract() != 0.0 {
            let message = format!("the `{keyword}` of an integer is {value}");
            report.value(&place, message, "write a whole number, or `type: number`");
        } else if value.abs() > MAX_SAFE_INTEGER {
            let message = format!("the `{keyword}` of an integer is beyond 2^53-1");
            report.value(&place, message, "stay within -9007199254740991 and 9007199254740991");
        }
    }
}
