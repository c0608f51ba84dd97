//! `waivers`: a waiver that accepts a finding of the drift gate must give a reason.

use crate::lint::{Context, Report};

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    for (index, waiver) in context.catalogue.head.drift.waivers.iter().enumerate() {
        let place = context.catalogue.head_place().child("drift").child("waivers").child(index);
        for (key, text) in
            [("rule", &waiver.rule), ("fingerprint", &waiver.fingerprint), ("reason", &waiver.reason)]
        {
            if text.trim().is_empty() {
                let message = format!("the waiver's `{key}` is empty");
                report.value(
                    &place.child(key),
                    message,
                    "name rule and fingerprint, and say why it is accepted",
                );
            }
        }
    }
}
