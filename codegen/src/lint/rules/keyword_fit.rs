//! `keyword-fit`: keywords go with the schema's type, and a schema says what it is.

use serde_json::Value;

use crate::catalogue::OF_TYPE;
use crate::lint::schemas::{Node, Position, type_of};
use crate::lint::{Context, Report};

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    for node in &context.schemas.nodes {
        if node.position == Position::MapKeys || node.schema.contains_key("$ref") {
            continue;
        }
        match type_of(node.schema) {
            Some((name, _)) => typed(node, name, report),
            None if node.schema.contains_key("type") => {}
            None => untyped(node, context.is_open(), report),
        }
    }
}

fn typed(node: &Node<'_>, name: &str, report: &mut Report<'_>) {
    for (keyword, types) in OF_TYPE {
        if node.schema.contains_key(keyword) && !types.contains(&name) {
            let message = format!("`{keyword}` does not go with the type `{name}`");
            report.key(
                &node.place.child(keyword),
                message,
                format!("it goes with `{}` only", types.join("` and `")),
            );
        }
    }
    for keyword in ["anyOf", "oneOf"] {
        if node.schema.contains_key(keyword) {
            let message = format!("`{keyword}` cannot be combined with `type`");
            report.key(&node.place.child(keyword), message, "put the type into each branch");
        }
    }
    if name == "array" && !node.schema.contains_key("items") {
        report.key(
            &node.place.child("type"),
            "the array does not say what it holds",
            "add `items` with a schema",
        );
    }
    let is_map = node.schema.get("additionalProperties").is_some_and(Value::is_object);
    for keyword in ["minProperties", "maxProperties", "propertyNames"] {
        if name == "object" && node.schema.contains_key(keyword) && !is_map {
            let message = format!("`{keyword}` goes with maps only");
            report.key(
                &node.place.child(keyword),
                message,
                "give `additionalProperties` a schema, or remove it",
            );
        }
    }
    if node.schema.contains_key("enum") && node.schema.contains_key("const") {
        let help = "keep one of the two";
        report.key(&node.place.child("const"), "`const` cannot be combined with `enum`", help);
    }
}

fn untyped(node: &Node<'_>, open: bool, report: &mut Report<'_>) {
    let unions: Vec<&str> =
        ["anyOf", "oneOf"].into_iter().filter(|keyword| node.schema.contains_key(*keyword)).collect();
    if let [_, second] = unions[..] {
        report.key(
            &node.place.child(second),
            "`oneOf` cannot be combined with `anyOf`",
            "keep one of the two",
        );
    }
    for keyword in node.schema.keys() {
        // Values of several types; where they share one, the portable form states it.
        let literals = (keyword == "enum" || keyword == "const") && !(open && unions.is_empty());
        let asks = OF_TYPE.iter().any(|(known, _)| known == keyword) || literals;
        if asks && unions.is_empty() {
            let message = format!("`{keyword}` needs a `type` beside it");
            return report.key(&node.place.child(keyword), message, "add `type`");
        }
        if asks {
            let message = format!("`{keyword}` cannot be combined with `{}`", unions[0]);
            report.key(&node.place.child(keyword), message, "put it into the branches");
        }
    }
}
