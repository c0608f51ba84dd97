//! Errors that are declared once, in `types.yaml`: a tool names one by its code.

use serde_json::{Value, json};

use super::{Catalogue, Place, SharedTypes, suggest};

/// What is wrong with a name: pointer below the tool, message, help.
pub(super) type Unknown = (String, String, String);

/// Puts declarations in the place of the codes that a tool names. Returns the indices of these errors, and the codes that nothing
/// declares. Without types, because they are broken, nothing more is reported.
pub(super) fn put_in(tool: &mut Value, types: Option<&SharedTypes>) -> (Vec<usize>, Vec<Unknown>) {
    let (mut named, mut unknown) = (Vec::new(), Vec::new());
    let errors = tool.get_mut("errors").and_then(Value::as_array_mut);
    for (index, error) in errors.into_iter().flatten().enumerate() {
        let Some(code) = error.as_str().map(str::to_owned) else { continue };
        let declared = types.and_then(|types| types.errors.iter().find(|error| error.code == code));
        if let (None, Some(types)) = (declared, types) {
            let help = match suggest::closest(&code, types.errors.iter().map(|error| error.code.as_str())) {
                Some(near) => format!("write `{near}`"),
                None => "declare it under `errors` in types.yaml, or write the whole error here".to_owned(),
            };
            unknown.push((format!("/errors/{index}"), format!("there is no shared error `{code}`"), help));
        }
        // Something has to stand here, so that the rest of the tool is decoded, too.
        let missing = || json!({ "code": code, "message": "", "when": "", "remedy": "" });
        *error = declared.and_then(|declared| serde_json::to_value(declared).ok()).unwrap_or_else(missing);
        named.push(index);
    }
    (named, unknown)
}

/// Returns where `types.yaml` has a node that a tool's errors have only by name.
pub(super) fn declaration(catalogue: &Catalogue, place: &Place) -> Option<Place> {
    let mut parts = place.pointer.splitn(6, '/').skip(1);
    let (Some("tools"), Some(tool), Some("errors"), Some(error)) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return None;
    };
    let domain = catalogue.domains.iter().find(|domain| domain.file == place.file)?;
    let error =
        domain.data.tools.get(tool.parse::<usize>().ok()?)?.errors.get(error.parse::<usize>().ok()?)?;
    if !error.shared {
        return None;
    }
    let index = catalogue.types.errors.iter().position(|declared| declared.code == error.code)?;
    let Place { file, pointer } = catalogue.shared_error_place(index);
    // The name itself is the tool's.
    Some(Place { file, pointer: format!("{pointer}/{}", parts.next()?) })
}
