//! How people see who made a call (people#callers).

use std::borrow::Cow;

use colibri_store::callers::CallerRow;
use colibri_visible::printable;

/// What each command that shows callers says below them.
pub const UNCHECKED: &str = "Names are as callers give them; the server checks none of them.";

/// Returns who a call comes from: the actor and the client, else the user and the machine. `-` for a call without a caller.
pub fn who(caller: Option<&CallerRow>) -> String {
    let Some(caller) = caller else { return "-".to_owned() };
    let client = caller.client_title.as_deref().or(caller.client_name.as_deref()).map(printable);
    match (caller.actor.as_deref().map(printable), client) {
        (Some(actor), Some(client)) => format!("{actor} ({client})"),
        (Some(name), None) | (None, Some(name)) => Cow::into_owned(name),
        (None, None) => format!("{}@{}", printable(&caller.os_user), printable(&caller.host)),
    }
}
