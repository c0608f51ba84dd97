//! The operation that stores who calls come from.

use super::cx::Cx;
use crate::domains::callers::{Asserted, Beginning, begin};
use colibri_runtime::chain::redact::Redactor;
use colibri_runtime::handler::Fault;
use colibri_runtime::kernel::rfc3339_ms;
use colibri_store::callers::CallerRow;

/// Stores the caller, and names it as the call's subject.
///
/// # Errors
/// Storage faults.
pub fn begin_caller(cx: &mut Cx, asserted: Asserted) -> Result<CallerRow, Fault> {
    let entered_at = rfc3339_ms(cx.called_ms());
    let observed = cx.parts.observed();
    // The client's texts are redacted already.
    let actor = cx.parts.config.actor.as_deref();
    let actor = actor.map(|actor| Redactor::new(cx.parts.config.secrets()).redact(actor).into_owned());
    let call = Beginning {
        boot_id: cx.boot_id(),
        sequence_no: cx.sequence_no(),
        entered_at: &entered_at,
        actor: actor.as_deref(),
    };
    let caller = begin(cx.db()?, &call, asserted, observed)?;
    cx.set_subject(&caller.caller_no.to_string());
    cx.caller_changes();
    Ok(caller)
}
