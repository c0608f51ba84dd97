//! Findings, waivers and versions together: may the change land?

use super::finding::{Finding, Severity, grouped, together};
use super::rules::catalogue::{next_major, version_step};
use super::rules::{C9, waivers as waiving};
use super::snapshot::Snapshot;
use super::version::version;
use super::waiver::Waiver;

/// A judged comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// Version compared with.
    pub old_version: Option<String>,
    /// Version judged.
    pub new_version: Option<String>,
    /// Findings that fail, the worst first.
    pub blocking: Vec<Finding>,
    /// Findings that a waiver accepts, with its reason.
    pub waived: Vec<(Finding, String)>,
    /// Findings that are listed only.
    pub listed: Vec<Finding>,
    /// What is wrong with the version (C9) and with waivers (C10); nothing waives these.
    pub failures: Vec<Finding>,
}

impl Verdict {
    /// Whether the change may land.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.blocking.is_empty() && self.failures.is_empty()
    }

    /// Puts the same change of one or more tools where it belongs. A waiver accepts the group, or one of its tools.
    fn sort_in(&mut self, group: Vec<Finding>, accepted: &mut impl FnMut(&Finding) -> Option<String>) {
        let Some(whole) = together(&group) else { return };
        if let Some(reason) = accepted(&whole) {
            return self.waived.push((whole, reason));
        }
        let mut left = Vec::new();
        for finding in group {
            match accepted(&finding) {
                Some(reason) => self.waived.push((finding, reason)),
                None => left.push(finding),
            }
        }
        let is_whole = left.len() == whole.also.len() + 1;
        let rest = if is_whole { vec![whole] } else { left };
        let (blocking, listed): (Vec<_>, Vec<_>) = rest.into_iter().partition(Finding::blocks);
        self.blocking.extend(blocking);
        self.listed.extend(listed);
    }

    /// The version the catalogue must have at least, when a finding breaks and it has less.
    #[must_use]
    pub(crate) fn needed_version(&self) -> Option<String> {
        let broken = self.blocking.iter().any(|finding| finding.severity == Severity::Break)
            || self.failures.iter().any(|finding| finding.rule == C9.id);
        let (old, new) = (self.old_version.as_deref()?, self.new_version.as_deref()?);
        let needed = next_major(version(old)?);
        let [major, minor, patch] = needed;
        (broken && version(new)? < needed).then(|| format!("{major}.{minor}.{patch}"))
    }
}

/// Compares two snapshots and weighs what changed against waivers and versions.
///
/// Waivers that accept nothing fail only when the change touches the catalogue (`touched`): a change to
/// something else must not fail for a waiver whose own change has landed meanwhile.
#[must_use]
pub fn judge(old: &Snapshot, new: &Snapshot, waivers: &[Waiver], touched: bool) -> Verdict {
    let found = super::compare(old, new);
    let current = new.version.as_deref();
    let worst = found.iter().map(|finding| finding.severity).max();
    let mut used = vec![false; waivers.len()];
    let mut verdict = Verdict {
        old_version: old.version.clone(),
        new_version: new.version.clone(),
        blocking: Vec::new(),
        waived: Vec::new(),
        listed: Vec::new(),
        failures: version_step(old.version.as_deref(), current, worst).into_iter().collect(),
    };
    let mut accepted = |finding: &Finding| {
        let fingerprint = finding.fingerprint();
        let accepts = |waiver: &Waiver| waiver.rule == finding.rule && waiver.fingerprint == fingerprint;
        let mut reason = None;
        for (index, waiver) in waivers.iter().enumerate().filter(|(_, waiver)| accepts(waiver)) {
            if let Some(used) = used.get_mut(index) {
                *used = true;
            }
            if waiving::is_sound(waiver, current) {
                reason = reason.or_else(|| Some(waiver.reason.clone()));
            }
        }
        reason
    };
    for group in grouped(found) {
        verdict.sort_in(group, &mut accepted);
    }
    for (index, waiver) in waivers.iter().enumerate() {
        let is_used = used.get(index).copied().unwrap_or_default() || !touched;
        verdict.failures.extend(waiving::check(index, waiver, is_used, current));
    }
    verdict
}
