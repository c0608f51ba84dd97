//! `cross-rules`: rules across fields name fields of the input, of the kind the rule is about.

use crate::catalogue::{Place, Rule, ToolEntry, suggest};
use crate::lint::schemas::{is_required, property, property_names, resolve, type_of};
use crate::lint::{Context, Report};

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    for entry in context.catalogue.tools() {
        for (index, rule) in entry.tool.rules.iter().enumerate() {
            let place = entry.place.child("rules").child(index);
            let mut judge = Judge { context, entry: &entry, report };
            judge.rule(rule, &place);
        }
    }
}

struct Judge<'a, 'c, 'r> {
    context: &'a Context<'c>,
    entry: &'a ToolEntry<'c>,
    report: &'a mut Report<'r>,
}

impl Judge<'_, '_, '_> {
    fn rule(&mut self, rule: &Rule, place: &Place) {
        let (place, message) = match rule {
            Rule::AliasEqual { field, alias, message } => {
                let place = place.child("alias_equal");
                self.field(field, &place.child("field"));
                self.field(alias, &place.child("alias"));
                if field == alias {
                    let help = "name the other field, or remove the rule";
                    self.report.value(&place.child("alias"), "a field is its own alias", help);
                }
                (place, message)
            }
            Rule::Either { field, others, message } => {
                let place = place.child("either");
                self.either(field, others, &place);
                (place, message)
            }
            Rule::Needs { field, other, message } => {
                let place = place.child("needs");
                self.needs(field, other, &place);
                (place, message)
            }
            Rule::MaxBytes { field, message, .. } => {
                let place = place.child("max_bytes");
                self.bytes(field, &place);
                (place, message)
            }
            Rule::NoNul { message } => (place.child("no_nul"), message),
        };
        if message.trim().is_empty() {
            let help = "say what the caller must change";
            self.report.value(&place.child("message"), "the rule has no message", help);
        }
    }

    fn either(&mut self, field: &str, others: &[String], place: &Place) {
        self.optional(field, &place.child("field"));
        if others.is_empty() {
            let help = "list the fields it excludes, or remove the rule";
            self.report.key(&place.child("others"), "the rule excludes nothing", help);
        }
        for (index, other) in others.iter().enumerate() {
            let place = place.child("others").child(index);
            self.optional(other, &place);
            if other == field {
                self.report.value(&place, "a field excludes itself", "remove it from `others`");
            }
        }
    }

    fn needs(&mut self, field: &str, other: &str, place: &Place) {
        self.optional(field, &place.child("field"));
        self.field(other, &place.child("other"));
        if field == other {
            let help = "name the other field, or remove the rule";
            self.report.value(&place.child("other"), "a field needs itself", help);
        }
    }

    fn bytes(&mut self, field: &str, place: &Place) {
        let place = place.child("field");
        self.field(field, &place);
        let schema = property(self.context.catalogue, &self.entry.tool.input, field);
        if schema.is_some_and(|schema| !matches!(type_of(schema), Some(("string", _)))) {
            let help = "name a string; bound other values in their schemas";
            self.report.value(&place, format!("`{field}` is not a string and has no bytes"), help);
        }
    }

    fn optional(&mut self, name: &str, place: &Place) {
        self.field(name, place);
        let input = resolve(self.context.catalogue, &self.entry.tool.input);
        if input.is_some_and(|input| is_required(input, name)) {
            let help = "take it out of `required`, or remove the rule";
            self.report.value(
                place,
                format!("`{name}` is required, so it excludes or is excluded always"),
                help,
            );
        }
    }

    fn field(&mut self, name: &str, place: &Place) {
        let names = property_names(self.context.catalogue, &self.entry.tool.input);
        if !names.contains(&name) {
            let help = match suggest::closest(name, names) {
                Some(near) => format!("write `{near}`"),
                None => "write the name of a top-level property of the input".to_owned(),
            };
            self.report.value(place, format!("the input has no property `{name}`"), help);
        }
    }
}
