//! I15 for what no schema says: arguments declared as secrets, or no longer.

use serde_json::Value;

use super::i15::RULE;
use crate::pairing::Comparison;
use crate::{Finding, Severity};

pub(super) fn check(change: &Comparison<'_>, found: &mut Vec<Finding>) {
    for pair in &change.pairs {
        let Some((old, new)) = pair.contracts() else { continue };
        for name in new.sensitive.iter().filter(|name| !old.sensitive.contains(name)) {
            let message = format!("The argument `{name}` holds a secret now.");
            let values = (Value::Null, name.as_str());
            let finding = RULE.finding(Severity::Ack, "/sensitive", values, message);
            let help = "take secrets from the environment, where no model sees them";
            found.push(finding.of(pair.name()).secure().help(help));
        }
        for name in old.sensitive.iter().filter(|name| !new.sensitive.contains(name)) {
            let message =
                format!("The argument `{name}` is no longer kept secret: it will stand in records.");
            let values = (name.as_str(), Value::Null);
            let finding = RULE.finding(Severity::Ack, "/sensitive", values, message);
            found
                .push(finding.of(pair.name()).secure().help("leave it in `sensitive` while it can hold one"));
        }
    }
}
