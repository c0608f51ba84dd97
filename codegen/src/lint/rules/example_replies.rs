//! `example-replies`: the reply of an example is an envelope that the tool can answer with: its
//! payload, one of its declared errors under its pattern, or one of the chain's.

use serde_json::{Map, Value};

use crate::catalogue::{ChainError, Envelope, ErrorPattern, Example, Place, ToolEntry, ToolErrorEntry};
use crate::ir::message::{self, Piece, With};
use crate::lint::conforms;
use crate::lint::{Context, Report};

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    for entry in context.catalogue.tools() {
        for (index, example) in entry.tool.examples.iter().enumerate() {
            let place = entry.place.child("examples").child(index).child("reply");
            let mut judge = Judge { context, entry: &entry, report };
            judge.envelope(example, &place);
        }
    }
}

struct Judge<'a, 'c, 'r> {
    context: &'a Context<'c>,
    entry: &'a ToolEntry<'c>,
    report: &'a mut Report<'r>,
}

impl Judge<'_, '_, '_> {
    fn envelope(&mut self, example: &Example, place: &Place) {
        let reply = &example.reply;
        if self.entry.tool.envelope == Envelope::None {
            return match self.entry.tool.is_failure(reply) {
                true => self.flat(&reply["error"], &place.child("error")),
                false => self.payload(reply, place),
            };
        }
        let keys: Vec<&str> = reply.as_object().into_iter().flat_map(Map::keys).map(String::as_str).collect();
        match (reply.get("ok").and_then(Value::as_bool), reply.get("data"), reply.get("error")) {
            (Some(true), Some(data), None) if keys.len() == 2 => self.data(data, &place.child("data")),
            (Some(false), None, Some(error))
                if keys.len() == 2 && self.entry.tool.pattern == ErrorPattern::C =>
            {
                self.flat(error, &place.child("error"));
            }
            (Some(false), None, Some(error)) if keys.len() == 2 => self.outer(error, &place.child("error")),
            _ => {
                let help = "write `{ ok: true, data: … }` or `{ ok: false, error: { code: …, message: … } }`";
                self.report.key(place, "the reply is not an envelope", help);
            }
        }
    }

    fn data(&mut self, data: &Value, place: &Place) {
        let refused =
            data.get("ok") == Some(&Value::Bool(false)) && data.get("error").is_some_and(Value::is_object);
        if refused && self.entry.tool.pattern == ErrorPattern::B {
            if data.as_object().is_some_and(|members| members.len() != 2) {
                let help = "write `{ ok: false, error: { … } }`";
                self.report.key(place, "a refusal holds `ok` and `error` only", help);
            }
            return self.inner(&data["error"], &place.child("error"));
        }
        self.payload(data, place);
    }

    fn payload(&mut self, data: &Value, place: &Place) {
        let Err(misfits) = conforms::check(self.context.catalogue, &self.entry.tool.output, data) else {
            return;
        };
        for misfit in misfits {
            let place = below(place, &misfit.pointer);
            let message = format!("the reply does not fit the output: {}", misfit.message);
            self.report.value(&place, message, "write what the tool's output schema describes");
        }
    }

    /// An error under Pattern C: a declared one, or the chain's, with everything beside its code.
    fn flat(&mut self, error: &Value, place: &Place) {
        let code = error["code"].as_str().unwrap_or_default();
        let text = error["message"].as_str().unwrap_or_default();
        let chain = &self.context.catalogue.head.chain;
        let storage = [&chain.storage_failure, &chain.store_commit_failed, &chain.startup_failed];
        let fault = storage.into_iter().find(|fault| fits_form(&fault.message, text));
        let own = [&chain.invalid_params, &chain.audit_enter_failed, &chain.not_admitted];
        match own.into_iter().find(|own| own.code == code) {
            None if code == chain.handler_error.code => {
                if let Some(remedy) = fault.and_then(|fault| fault.remedy.as_deref()) {
                    self.remedy(remedy, error, place);
                }
            }
            None => self.inner(error, place),
            Some(own) if !fits_form(&own.message, text) => {
                let help = format!("the form is `{}`", own.message);
                self.report.value(&place.child("message"), "the message is not what its form gives", help);
            }
            Some(own) => {
                if let Some(remedy) = &own.remedy {
                    self.remedy(remedy, error, place);
                }
            }
        }
    }

    /// An error under Patterns B and C: a declared code with all its fields.
    fn inner(&mut self, error: &Value, place: &Place) {
        let code = error.get("code").and_then(Value::as_str).unwrap_or_default();
        let Some(declared) = self.entry.tool.errors.iter().find(|declared| declared.code == code) else {
            return self.undeclared(code, &place.child("code"));
        };
        self.members(declared, error, &["code", "message"], place);
        let text = error.get("message").and_then(Value::as_str).unwrap_or_default();
        if let Some(wanted) = shown(&declared.message, error).filter(|wanted| wanted != text) {
            let help = format!("write `{wanted}`");
            self.report.value(&place.child("message"), "the message is not what its form gives", help);
        }
    }

    /// The declared fields, the remedy and the suggested calls, beside the envelope's `own` members: in the error under
    /// Pattern B, in its details under Pattern A.
    fn members(&mut self, declared: &ToolErrorEntry, error: &Value, own: &[&str], place: &Place) {
        let code = &declared.code;
        for (name, schema) in &declared.fields {
            match (error.get(name), schema.as_object()) {
                (None, _) => {
                    let message = format!("the error lacks its field `{name}`");
                    self.report.key(place, message, "all declared fields are always there: add it");
                }
                (Some(value), Some(schema)) => self.field(name, schema, value, &place.child(name)),
                (Some(_), None) => {}
            }
        }
        for name in error.as_object().into_iter().flat_map(Map::keys) {
            let suggests = name == "next" && !declared.next.is_empty();
            let known = name == "remedy" || suggests || own.contains(&name.as_str());
            if !known && !declared.fields.contains_key(name) {
                let message = format!("the error `{code}` declares no field `{name}`");
                self.report.key(
                    &place.child(name),
                    message,
                    "declare it under the error's `fields`, or remove it",
                );
            }
        }
        if let Some(wanted) = shown(&declared.remedy, error) {
            self.remedy(&wanted, error, place);
        }
    }

    fn remedy(&mut self, wanted: &str, of: &Value, place: &Place) {
        if of.get("remedy").and_then(Value::as_str) != Some(wanted) {
            let help = format!("write `remedy: {wanted}`");
            self.report.value(&place.child("remedy"), "the reply does not have the error's remedy", help);
        }
    }

    fn field(&mut self, name: &str, schema: &Map<String, Value>, value: &Value, place: &Place) {
        for misfit in conforms::check(self.context.catalogue, schema, value).err().into_iter().flatten() {
            let message = format!("the error's field `{name}` does not fit: {}", misfit.message);
            self.report.value(
                &below(place, &misfit.pointer),
                message,
                "write what the field's schema describes",
            );
        }
    }

    /// An error of the chain, or a declared one under Pattern A.
    fn outer(&mut self, error: &Value, place: &Place) {
        let chain = &self.context.catalogue.head.chain;
        let code = error.get("code").and_then(Value::as_str).unwrap_or_default();
        let text = error.get("message").and_then(Value::as_str);
        for name in error.as_object().into_iter().flat_map(Map::keys) {
            if !matches!(name.as_str(), "code" | "message" | "details") {
                let message = format!("an error's envelope has no member `{name}`");
                self.report.key(
                    &place.child(name),
                    message,
                    "write `code`, `message` and, if any, `details`",
                );
            }
        }
        let Some(text) = text else {
            return self.report.key(place, "the error has no message", "add `message`");
        };
        let details = error.get("details").unwrap_or(&Value::Null);
        if code == chain.handler_error.code {
            return self.handler_error(text, details, place);
        }
        let own = [&chain.invalid_params, &chain.audit_enter_failed, &chain.not_admitted];
        match own.into_iter().find(|error| error.code == code) {
            None => self.undeclared(code, &place.child("code")),
            Some(declared) if !fits_form(&declared.message, text) => {
                let help = format!("the form is `{}`", declared.message);
                self.report.value(&place.child("message"), "the message is not what its form gives", help);
            }
            Some(declared) => self.chain_remedy(declared, details, place),
        }
    }

    fn chain_remedy(&mut self, declared: &ChainError, details: &Value, place: &Place) {
        if let Some(wanted) = &declared.remedy {
            self.remedy(wanted, details, &place.child("details"));
        }
    }

    fn handler_error(&mut self, text: &str, details: &Value, place: &Place) {
        let chain = &self.context.catalogue.head.chain;
        let storage = [&chain.storage_failure, &chain.store_commit_failed, &chain.startup_failed];
        if let Some(fault) = storage.into_iter().find(|error| fits_form(&error.message, text)) {
            return self.chain_remedy(fault, details, place);
        }
        let declared: &[ToolErrorEntry] =
            if self.entry.tool.pattern == ErrorPattern::A { &self.entry.tool.errors } else { &[] };
        let fits = |error: &ToolErrorEntry| {
            let bare =
                if error.prefix { text.strip_prefix(&format!("{}: ", error.code)) } else { Some(text) };
            bare.is_some_and(|bare| fits_form(&error.message, bare))
        };
        match declared.iter().find(|error| fits(error)) {
            Some(error) => {
                self.members(error, details, &["code"], &place.child("details"));
                if details.get("code").and_then(Value::as_str) != Some(&error.code) {
                    let help = format!("write `code: {}`", error.code);
                    self.report.key(&place.child("details").child("code"), "the details lack the code", help);
                }
            }
            None => {
                let help = "write `CODE: ` and the message of an error the tool declares under pattern A";
                self.report.value(
                    &place.child("message"),
                    "the message is of no error the tool declares",
                    help,
                );
            }
        }
    }

    fn undeclared(&mut self, code: &str, place: &Place) {
        let known: Vec<&str> = self.entry.tool.errors.iter().map(|error| error.code.as_str()).collect();
        if known.contains(&code) && self.entry.tool.pattern == ErrorPattern::A {
            let chain = &self.context.catalogue.head.chain.handler_error.code;
            let help = format!("write `code: {chain}` and `message: \"{code}: …\"`");
            let message = format!("under pattern A the code `{code}` stands in the message");
            return self.report.value(place, message, help);
        }
        let help = match crate::catalogue::suggest::closest(code, known) {
            Some(near) => format!("write `{near}`"),
            None => "declare it under the tool's `errors`, or take one that is".to_owned(),
        };
        self.report.value(place, format!("the tool does not answer with the code `{code}` here"), help);
    }
}

fn below(place: &Place, pointer: &str) -> Place {
    Place { file: place.file, pointer: format!("{}{pointer}", place.pointer) }
}

/// The text that the form gives with the error's own fields; `None` when they do not allow it.
fn shown(form: &str, error: &Value) -> Option<String> {
    let mut text = String::new();
    for piece in message::parse(form).ok()? {
        match piece {
            Piece::Text(plain) => text.push_str(&plain),
            Piece::Field { name, with } => text.push_str(&value_text(error.get(&name)?, &with)?),
        }
    }
    Some(text)
}

fn value_text(value: &Value, with: &With) -> Option<String> {
    match (value, with) {
        (Value::String(text), _) => Some(text.clone()),
        (Value::Number(number), _) => Some(number.to_string()),
        (Value::Null, With::Or(text)) => Some(text.clone()),
        (Value::Array(items), With::Join(between)) => {
            let items: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
            Some(items?.join(between))
        }
        _ => None,
    }
}

/// Whether the text can come from the form: its plain pieces stand there in their order.
fn fits_form(form: &str, text: &str) -> bool {
    let Ok(pieces) = message::parse(form) else { return true };
    let mut rest = text;
    let mut after_field = false;
    for piece in &pieces {
        let Piece::Text(plain) = piece else {
            after_field = true;
            continue;
        };
        match rest.find(plain.as_str()) {
            Some(at) if at == 0 || after_field => rest = &rest[at + plain.len()..],
            _ => return false,
        }
        after_field = false;
    }
    rest.is_empty() || after_field
}

#[cfg(test)]
mod tests {
    use super::fits_form;

    #[test]
    fn texts_are_told_from_their_forms() {
        for (form, text, fits) in [
            ("No note {id}", "No note n-1", true),
            ("No note {id}", "No such note", false),
            ("{a}: {b}!", "x: y!", true),
            ("{a}: {b}!", "x: y", false),
            ("plain", "plain", true),
            ("plain", "plainer", false),
        ] {
            assert_eq!(fits_form(form, text), fits, "{form} / {text}");
        }
    }
}
