//! The rule about waivers: one that accepts nothing, no longer counts, or gives no reason fails.

use serde_json::{Value, json};

use super::C10;
use crate::version::version;
use crate::{Finding, Severity, Waiver};

/// The placeholder reason in waivers that reports print for pasting. It is not accepted as a reason.
pub(crate) const REASON: &str = "WHY CLIENTS CAN LIVE WITH IT";

/// When waivers are judged.
#[derive(Debug, Clone, Copy)]
pub struct Now<'a> {
    /// The version of the new state.
    pub version: Option<&'a str>,
    /// The day.
    pub today: Option<&'a str>,
}

/// Judges one waiver. `used` says whether it accepts a finding of this comparison.
pub fn check(index: usize, waiver: &Waiver, used: bool, now: &Now<'_>) -> Option<Finding> {
    let id = waiver.title();
    let (message, help) = if !says_something(&waiver.reason) {
        let help = "say in a sentence why clients can live with the change";
        (format!("The waiver {id} gives no reason."), help.to_owned())
    } else if let Some(until) = expired(waiver, now) {
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
pub fn is_sound(waiver: &Waiver, now: &Now<'_>) -> bool {
    says_something(&waiver.reason) && expired(waiver, now).is_none()
}

/// Returns whether a reason was given; the placeholder that reports print does not count.
fn says_something(reason: &str) -> bool {
    !matches!(reason.trim(), "" | REASON)
}

/// Returns the version or the day until which a waiver counted, if that is over.
fn expired<'w>(waiver: &'w Waiver, now: &Now<'_>) -> Option<&'w str> {
    let until = waiver.until.as_deref();
    let is_reached = |until: &&str| {
        let versions = (version(until), now.version.and_then(version));
        matches!(versions, (Some(until), Some(current)) if until <= current)
    };
    let day = waiver.expires.as_deref();
    // Days are written so that they compare as texts.
    let is_over = |day: &&str| now.today.is_some_and(|today| *day <= today);
    until.filter(is_reached).or_else(|| day.filter(is_over))
}
