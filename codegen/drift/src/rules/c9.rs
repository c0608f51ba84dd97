//! C9: the version is not what the worst finding demands.

use crate::version::version;
use crate::{Direction, Finding, Rule, Severity};

/// The rule.
pub const RULE: Rule = Rule {
    id: "C9",
    direction: Direction::Catalogue,
    title: "version not bumped as the worst finding demands",
    why: "clients that pin a version must not get a break with it",
};

/// Judges the step from one version to the other. Without two semantic versions there is no step.
pub(crate) fn check(old: Option<&str>, new: Option<&str>, worst: Option<Severity>) -> Option<Finding> {
    let (old, new) = (old?, new?);
    let (from, to) = (version(old)?, version(new)?);
    let needed = next_major(from);
    let (message, help) = if to < from {
        (format!("The version went back from {old} to {new}."), format!("set the version to {old} or above"))
    } else if worst == Some(Severity::Break) && to < needed {
        let [major, minor, patch] = needed;
        let needed = format!("{major}.{minor}.{patch}");
        let message = match old == new {
            true => {
                format!("There is a BREAK, and the version is still {old}; it must be {needed} or above.")
            }
            false => format!("There is a BREAK, and {old} to {new} is too small a step; it takes {needed}."),
        };
        (message, format!("set the version to {needed}"))
    } else {
        return None;
    };
    Some(RULE.finding(Severity::Break, "/version", (old, new), message).help(help))
}

/// The version a break demands: a new major one, while it is 0.x a new minor one.
pub(crate) fn next_major([major, minor, _]: [u64; 3]) -> [u64; 3] {
    if major == 0 { [0, minor + 1, 0] } else { [major + 1, 0, 0] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breaks_take_a_major_step_and_a_minor_one_below_1() {
        let fails = |old, new, worst| check(Some(old), Some(new), worst).is_some();
        let broken = Some(Severity::Break);
        for (old, new) in [("0.1.0", "0.1.0"), ("0.1.0", "0.1.9"), ("1.2.3", "1.9.0")] {
            assert!(fails(old, new, broken), "{old} {new}");
            assert!(!fails(old, new, Some(Severity::Ack)), "{old} {new}");
            assert!(!fails(old, new, None), "{old} {new}");
        }
        for (old, new) in [("0.1.0", "0.2.0"), ("0.1.0", "1.0.0"), ("1.2.3", "2.0.0")] {
            assert!(!fails(old, new, broken), "{old} {new}");
        }
        assert!(fails("0.2.0", "0.1.0", None));
        assert!(check(None, Some("0.1.0"), broken).is_none());
    }
}
