//! The `args_hash` of a wrapped call.

use std::fmt;

use colibri_canonical::{HexDigest, NumberRule, canonical_text, escape};
use colibri_runtime::wire::params::raw_form;
use serde::Deserializer as _;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Stands before the canonical form of a call's members where its arguments are not all of it.
const CALL_FORM: &str = "colibri-call-v1\n";

/// Returns the hash of a call's arguments: of their canonical form, as for Colibri's own calls, so that a client's transcript can be
/// held against it. Arguments that are absent or null are an empty object. If `params` has `others` besides name, arguments and
/// `_meta`, of all members but name and `_meta`. If an object names a member twice, half a surrogate pair is escaped, or more than 127
/// levels are nested, of the bytes as they were written.
pub(super) fn args_hash(params: Option<&RawValue>, arguments: Option<&RawValue>, others: bool) -> HexDigest {
    let canonical = |text: &str| canonical_text(text, NumberRule::Sent);
    let params = params.map_or("{}", RawValue::get);
    let text = if others {
        members(params).and_then(|members| Some(format!("{CALL_FORM}{}", canonical(&members)?)))
    } else {
        let arguments = arguments.map(RawValue::get).filter(|text| *text != "null");
        canonical(arguments.unwrap_or("{}"))
    };
    HexDigest::of(text.unwrap_or_else(|| raw_form(params)).as_bytes())
}

/// The same for parameters that readers understand differently.
pub(super) fn raw_hash(params: Option<&RawValue>) -> HexDigest {
    HexDigest::of(raw_form(params.map_or("{}", RawValue::get)).as_bytes())
}

/// Returns the text of `params` without `name` and `_meta`. `None` if it is not an object, or a name in it is not Unicode.
fn members(params: &str) -> Option<String> {
    let mut text = serde_json::Deserializer::from_str(params).deserialize_map(Members).ok()?;
    text.push('}');
    Some(text)
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<String, A::Error> {
        let (mut text, mut before) = (String::new(), '{');
        while let Some(name) = map.next_key::<String>()? {
            if name == "name" || name == "_meta" {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            text.push(std::mem::replace(&mut before, ','));
            escape::push_string(&mut text, &name);
            text.push(':');
            text.push_str(map.next_value::<&RawValue>()?.get());
        }
        Ok(text)
    }
}
