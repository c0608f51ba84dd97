//! Findings, waivers and versions together: may the change land?

use super::config::{Config, FailOn};
use super::finding::{Finding, Severity, grouped, in_other_words, reworded, together};
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
    /// The least severity that fails.
    pub fail_on: FailOn,
    /// How many changes are of rules that the team has switched off.
    pub switched_off: usize,
    /// Findings that fail, the worst first.
    pub blocking: Vec<Finding>,
    /// Findings that a waiver accepts, with its reason.
    pub waived: Vec<(Finding, String)>,
    /// Findings that are listed only, the worst first.
    pub listed: Vec<Finding>,
    /// What is wrong with the version (C9) and with waivers (C10).
    pub failures: Vec<Finding>,
}

impl Verdict {
    /// Whether the change may land.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.blocking.is_empty() && self.failures.is_empty()
    }

    /// The version the catalogue must have at least, when a finding breaks and it has less.
    #[must_use]
    pub(crate) fn needed_version(&self) -> Option<String> {
        let broken = self.blocking.iter().any(|finding| finding.severity == Severity::Break);
        let told = self.failures.iter().any(|finding| finding.rule == C9.id);
        let (old, new) = (self.old_version.as_deref()?, self.new_version.as_deref()?);
        let needed = next_major(version(old)?);
        let [major, minor, patch] = needed;
        ((broken || told) && version(new)? < needed).then(|| format!("{major}.{minor}.{patch}"))
    }
}

/// The waivers of a comparison, and which of them were used.
struct Waivers<'a> {
    all: &'a [Waiver],
    used: Vec<bool>,
    now: waiving::Now<'a>,
}

impl Waivers<'_> {
    /// Returns the reason why a finding is accepted, if it is.
    fn accept(&mut self, finding: &Finding) -> Option<String> {
        if self.all.is_empty() {
            return None;
        }
        let fingerprint = finding.fingerprint();
        let mut reason = None;
        for (waiver, used) in self.all.iter().zip(&mut self.used) {
            if waiver.is_for(finding, &fingerprint) {
                *used = true;
                if waiving::is_sound(waiver, &self.now) {
                    reason = reason.or_else(|| Some(waiver.reason.clone()));
                }
            }
        }
        if reason.is_none() && !finding.places.is_empty() {
            let alone = |pointer: &String| Finding {
                pointer: pointer.clone(),
                places: Vec::new(),
                ..finding.clone()
            };
            let reasons: Vec<_> = std::iter::once(&finding.pointer)
                .chain(&finding.places)
                .map(|at| self.accept(&alone(at)))
                .collect();
            // What is accepted at one place is not accepted at the others.
            reason = reasons.into_iter().collect::<Option<Vec<_>>>().and_then(|all| all.into_iter().next());
        }
        reason
    }

    /// Puts findings that reports tell as one where they belong. A waiver accepts all of them, or each alone. Returns what is open.
    fn sort(
        &mut self,
        group: Vec<Finding>,
        whole: Option<Finding>,
        waived: &mut Vec<(Finding, String)>,
    ) -> Vec<Finding> {
        let Some(whole) = whole else { return group };
        if let Some(reason) = self.accept(&whole) {
            waived.push((whole, reason));
            return Vec::new();
        }
        let number = group.len();
        let mut left = Vec::new();
        for finding in group {
            match self.accept(&finding) {
                Some(reason) => waived.push((finding, reason)),
                None => left.push(finding),
            }
        }
        if left.len() == number && number > 1 { vec![whole] } else { left }
    }
}

/// Compares two snapshots and weighs what changed against waivers and versions, with every setting as it is by default.
///
/// Waivers that accept nothing fail only when the change touches the catalogue (`touched`): a change to
/// something else must not fail for a waiver whose own change has landed meanwhile.
#[must_use]
pub fn judge(old: &Snapshot, new: &Snapshot, waivers: &[Waiver], touched: bool) -> Verdict {
    judge_by(old, new, &Config { waivers: waivers.to_vec(), ..Config::default() }, touched)
}

/// Compares two snapshots and weighs what changed as the team decides; [`judge`] says what `touched` is.
#[must_use]
pub fn judge_by(old: &Snapshot, new: &Snapshot, config: &Config, touched: bool) -> Verdict {
    let all = super::compare(old, new);
    let changes = all.len();
    let mut found: Vec<Finding> = all.into_iter().filter_map(|finding| config.weighed(finding)).collect();
    found.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let worst = found.iter().map(|finding| finding.severity).max();
    let (old_version, new_version) = (old.version.as_deref(), new.version.as_deref());
    let mut verdict = Verdict {
        old_version: old.version.clone(),
        new_version: new.version.clone(),
        fail_on: config.fail_on,
        switched_off: changes - found.len(),
        blocking: Vec::new(),
        waived: Vec::new(),
        listed: Vec::new(),
        failures: Vec::new(),
    };
    let now = waiving::Now { version: new_version, today: config.today.as_deref() };
    let mut waivers = Waivers { all: &config.waivers, used: vec![false; config.waivers.len()], now };
    let mut open = Vec::new();
    for group in grouped(found) {
        let whole = together(&group);
        open.extend(waivers.sort(group, whole, &mut verdict.waived));
    }
    let groups = match config.profile.groups_wording() {
        true => reworded(open),
        false => open.into_iter().map(|finding| vec![finding]).collect(),
    };
    let mut open = Vec::new();
    for group in groups {
        let whole = in_other_words(&group).filter(|_| group.len() > 1);
        open.extend(waivers.sort(group, whole, &mut verdict.waived));
    }
    (verdict.blocking, verdict.listed) = open.into_iter().partition(|finding| config.fails(finding));
    let step = version_step(old_version, new_version, worst).and_then(|finding| config.weighed(finding));
    let mut failures: Vec<Finding> = Vec::new();
    if let Some(step) = step {
        let whole = Some(step.clone());
        failures.extend(waivers.sort(vec![step], whole, &mut verdict.waived));
    }
    for (index, (waiver, used)) in config.waivers.iter().zip(&waivers.used).enumerate() {
        let wrong = waiving::check(index, waiver, *used || !touched, &now);
        failures.extend(wrong.and_then(|finding| config.weighed(finding)));
    }
    for failure in failures {
        let list = if config.fails(&failure) { &mut verdict.failures } else { &mut verdict.listed };
        list.push(failure);
    }
    verdict
}
