//! Verification of tree heads (proof#seal-verification): one with its neighbours, or all of them in one walk.

use colibri_runtime::handler::Fault;

use super::store;
use colibri_canonical::HexDigest;
use colibri_proof::chain::{Issue, IssueCode};
use colibri_proof::head::{SignedTreeHead, chain_tips_hash};
use colibri_proof::keys::{SignatureStatus, TrustedKeys, check_signature, signed_by};
use colibri_store::db::Db;
use colibri_store::log::log_tip::log_row;

/// The most ids of unknown keys that a walk keeps.
const MOST_KEY_IDS: usize = 4;

/// The result of a walk over all heads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HeadChainReport {
    /// Heads found.
    pub heads: i64,
    /// Index and stored hash of the last head, which an auditor keeps outside the file.
    pub tip: Option<(i64, String)>,
    /// Heads with a trusted key's signature.
    pub valid: i64,
    /// Heads whose signature is wrong.
    pub invalid: i64,
    /// Heads without a signature.
    pub unsigned: i64,
    /// Heads signed by a key that is not trusted.
    pub unknown_key: i64,
    /// Index of the newest head that is signed by a key that is not trusted. `None` if a trusted key signed a later one,
    /// which commits to it.
    pub unconfirmed: Option<i64>,
    /// The ids of the first of these keys, at most [`MOST_KEY_IDS`].
    pub unknown_key_ids: Vec<String>,
    /// Findings reported.
    pub issues: i64,
}

/// The trusted signers of a walk over all heads, and whether a signature is required.
#[derive(Debug, Clone, Copy)]
pub struct Signers<'a> {
    /// The keys.
    pub trusted: &'a TrustedKeys,
    /// Every head from the first signed one on must have a trusted key's signature, and at least one head must be
    /// signed. Earlier unsigned heads are fine: each head names the hash of the one before, so its signature covers
    /// them all.
    pub required: bool,
}

impl Signers<'_> {
    /// Returns the issue of a head that lacks a required signature. `signed_before`: an earlier head is signed.
    fn missing(self, head: &SignedTreeHead, status: SignatureStatus, signed_before: bool) -> Option<Issue> {
        match (self.required, status, &head.signature) {
            (true, SignatureStatus::Unsigned, _) if signed_before => {
                Some(about(head, IssueCode::SignatureMissing))
            }
            (true, SignatureStatus::UnknownKey, Some(signed)) => Some(
                about(head, IssueCode::SignerNotTrusted).comparing(&self.trusted.key_ids(), &signed.key_id),
            ),
            _ => None,
        }
    }
}

/// Walks over all heads. Their indexes are gapless from 0, each names the one before, and each is valid by itself
/// (hash, signature, tips, end of the audit log). Needs constant memory, except for the tips of one head.
///
/// # Errors
/// [`Fault::Storage`]; a finding is not an error.
pub fn verify_head_chain(
    db: &Db,
    signers: Signers<'_>,
    issues: &mut dyn FnMut(Issue),
) -> Result<HeadChainReport, Fault> {
    let mut report = HeadChainReport::default();
    let mut found = 0;
    store::each_head(db, |head| {
        let mut raise = |issue| {
            found += 1;
            issues(issue);
        };
        let before = report.tip.as_ref().map(|(index, hash)| (*index, hash.as_str()));
        if let Some(issue) = link(head, before) {
            raise(issue);
        }
        let status = verify_alone(db, head, signers.trusted, &mut raise)?;
        if let Some(issue) = signers.missing(head, status, report.unsigned < report.heads) {
            raise(issue);
        }
        if let (SignatureStatus::UnknownKey, Some(signed)) = (status, &head.signature)
            && report.unknown_key_ids.len() < MOST_KEY_IDS
            && !report.unknown_key_ids.contains(&signed.key_id)
        {
            report.unknown_key_ids.push(signed.key_id.clone());
        }
        let count = match status {
            SignatureStatus::Valid => &mut report.valid,
            SignatureStatus::Invalid => &mut report.invalid,
            SignatureStatus::Unsigned => &mut report.unsigned,
            SignatureStatus::UnknownKey => &mut report.unknown_key,
        };
        *count += 1;
        report.unconfirmed = match status {
            SignatureStatus::Valid => None,
            SignatureStatus::UnknownKey => Some(head.head.head_index),
            SignatureStatus::Invalid | SignatureStatus::Unsigned => report.unconfirmed,
        };
        report.heads += 1;
        report.tip = Some((head.head.head_index, head.head_hash.clone()));
        Ok(true)
    })?;
    if signers.required && report.heads > 0 && report.unsigned == report.heads {
        found += 1;
        issues(Issue::new(IssueCode::NothingSigned));
    }
    report.issues = found;
    Ok(report)
}

/// Checks whether any head is signed by one of `keys`.
///
/// # Errors
/// [`Fault::Storage`].
pub fn any_signed_by(db: &Db, keys: &TrustedKeys) -> Result<bool, Fault> {
    let mut found = false;
    store::each_head(db, |head| {
        found = signed_by(head, keys);
        Ok(!found)
    })?;
    Ok(found)
}

/// Checks one head by itself, and its links to its neighbours.
///
/// # Errors
/// [`Fault::Storage`].
pub(super) fn verify_head(
    db: &Db,
    head: &SignedTreeHead,
    trusted: &TrustedKeys,
    issues: &mut dyn FnMut(Issue),
) -> Result<SignatureStatus, Fault> {
    let status = verify_alone(db, head, trusted, issues)?;
    let index = head.head.head_index;
    let before = store::head_before(db, Some(index))?;
    let broken = match link(head, before.as_ref().map(|(index, hash)| (*index, hash.as_str()))) {
        Some(issue) => Some(issue),
        None => store::head_after(db, index)?
            .filter(|(next, named)| *next != index.saturating_add(1) || *named != head.head_hash)
            .map(|(next, named)| Issue {
                index: Some(next),
                ..about(head, IssueCode::HeadLinkBroken).comparing(&head.head_hash, &named)
            }),
    };
    if let Some(issue) = broken {
        issues(issue);
    }
    Ok(status)
}

/// Returns the fault in a head's link to the one before, if any: that head has another place or another hash.
fn link(head: &SignedTreeHead, before: Option<(i64, &str)>) -> Option<Issue> {
    let named = head.head.prev_head_hash.as_str();
    let issue = about(head, IssueCode::HeadLinkBroken);
    let missing = |issue: Issue| issue.comparing(named, "no such head");
    match before {
        None if head.head.head_index != 0 => Some(missing(issue)),
        None => (named != HexDigest::ZERO.as_str()).then(|| issue.comparing(HexDigest::ZERO.as_str(), named)),
        Some((at, _)) if at.checked_add(1) != Some(head.head.head_index) => Some(missing(issue)),
        Some((_, hash)) => (named != hash).then(|| issue.comparing(hash, named)),
    }
}

/// Checks a head by itself: its tips, its place in the audit log, its hash, its signature.
fn verify_alone(
    db: &Db,
    signed: &SignedTreeHead,
    trusted: &TrustedKeys,
    issues: &mut dyn FnMut(Issue),
) -> Result<SignatureStatus, Fault> {
    let head = &signed.head;
    let log_row = match head.log_exit_no {
        0 => HexDigest::ZERO.as_str().to_owned(),
        exit_no => log_row(db, exit_no)?.map_or_else(|| "no such row".to_owned(), |row| row.row_hash),
    };
    let tips = chain_tips_hash(&mut store::tips_at(db, head.head_index)?);
    let hash = head.hash();
    let checks = [
        (IssueCode::LogTipMismatch, head.log_row_hash.as_str(), log_row.as_str()),
        (IssueCode::ChainTipsMismatch, &head.chain_tips_hash, tips.as_str()),
        (IssueCode::HeadHashMismatch, hash.as_str(), &signed.head_hash),
    ];
    for (code, expected, actual) in checks {
        if expected != actual {
            issues(about(signed, code).comparing(expected, actual));
        }
    }
    let status = check_signature(signed, trusted);
    if status == SignatureStatus::Invalid {
        issues(about(signed, IssueCode::SignatureInvalid));
    }
    Ok(status)
}

/// Returns an issue of a head, with the head's index.
fn about(head: &SignedTreeHead, code: IssueCode) -> Issue {
    Issue {
        session_id: Some(head.head.session_id.clone()),
        index: Some(head.head.head_index),
        ..Issue::new(code)
    }
}
