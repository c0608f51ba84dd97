//! The rule about waivers: one that accepts nothing, no longer counts, or gives no reason fails.

use serde_json::{Value, json};

use super::C10;
use crate::version::version;
use crate::{Finding, Severity, Waiver};

/// The placeholder reason in waivers that reports print for pasting. It is not accepted as a reason.
pub(crate) const REASON: &str = "WHY CLIENTS CAN LIVE WITH IT";

/// Judges one waiver. `used` says whether it accepts a finding of this comparison.
pub fn check(index: usize, waiver: &Waiver, used: bool, current: Option<&str>) -> Option<Finding> {
    let id = format!("{} {}", waiver.rule, waiver.fingerprint);
    let (message, help) = if !says_something(&waiver.reason) {
        let help = "say in a sentence why clients can live with the change";
        (format!("The waiver {id} gives no reason."), help.to_owned())
    } else if is_expired(waiver, current) {
        let until = waiver.until.as_deref().unwrap_or_default();
        let help = "take the change back, or say anew why it is accepted and until when";
        (format!("The waiver {id} counted until {until}."), help.to_owned())
    } else if !used {
        let help = "remove it; its change is no longer there, or is already in what is compared with";
        (format!("The waiver {id} accepts nothing that changed."), help.to_owned())
    } else {
        return None;
    };
    let pointer = format!("/drift/waivers/{index}");
    Some(C10.finding(Severity::Break, pointer, (Value::Null, json!(waiver)), message).help(help))
}

/// Returns whether a waiver can accept a finding at all.
pub fn is_sound(waiver: &Waiver, current: Option<&str>) -> bool {
    says_something(&waiver.reason) && !is_expired(waiver, current)
}

/// Returns whether a reason was given; the placeholder that reports print does not count.
fn says_something(reason: &str) -> bool {
    !matches!(reason.trim(), "" | REASON)
}

fn is_expired(waiver: &Waiver, current: Option<&str>) -> bool {
    let until = waiver.until.as_deref().and_then(version);
    matches!((until, current.and_then(version)), (Some(until), Some(current)) if until <= current)
}
