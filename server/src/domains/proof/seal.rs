//! Verification of seals (proof#seal-verification): whether a sealed session's records, leaves, root and head still
//! belong together.
//!
//! This module does not find `TIP_REGRESSION`, which needs a walk along each chain. The trail does that with
//! [`tips_of_seal`](super::tips_of_seal) or [`tip_of_task_after`](super::tip_of_task_after).

use colibri_runtime::handler::Fault;

use super::heads::verify_head;
use super::leaves::{Envelopes, FrozenLeaves, legacy_root};
use super::store::{self, Leaf, Root};
use crate::domains::trail::{self, TrailRow};
use colibri_canonical::HexDigest;
use colibri_proof::chain::{Issue, IssueCode};
use colibri_proof::head::SignedTreeHead;
use colibri_proof::keys::{SignatureStatus, TrustedKeys};
use colibri_proof::tree::rfc9162::{Accumulator, Hash};
use colibri_store::db::Db;

/// The state of a session (proof#sessions), derived rather than stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionState {
    /// Records can join it.
    Open,
    /// It is sealed.
    Finalized,
}

impl SessionState {
    /// Returns the state's published name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Finalized => "finalized",
        }
    }
}

/// Returns the state of the session with that id; `None` if no such session exists. Any remains of a seal keep the
/// session sealed, so removing only the root does not reopen it.
///
/// # Errors
/// [`Fault::Storage`].
pub fn session_state(db: &Db, session_id: &str) -> Result<Option<SessionState>, Fault> {
    Ok(match store::traces(db, session_id)? {
        (_, true) => Some(SessionState::Finalized),
        (true, false) => Some(SessionState::Open),
        (false, false) => None,
    })
}

/// Hands over the ids of all sessions that were opened or have any remains of a seal, in byte order, until `take`
/// returns `false`.
///
/// # Errors
/// [`Fault::Storage`], and what `take` fails with.
pub fn each_session(db: &Db, take: impl FnMut(&str) -> Result<bool, Fault>) -> Result<(), Fault> {
    store::each_session(db, take)
}

/// The result of checking a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealReport {
    /// The session.
    pub session_id: String,
    /// Its state; a missing session counts as open.
    pub state: SessionState,
    /// Records bound to it now.
    pub record_count: i64,
    /// Whether the original's root over the records and their number match the stored ones; `None` while the session
    /// is open.
    pub root_match: Option<bool>,
    /// Whether all other checks of the seal passed; `None` while the session is open.
    pub tree_head_match: Option<bool>,
    /// The status of the head's signature; `None` while the session is open, or if heads were not requested.
    pub signature: Option<SignatureStatus>,
    /// How many findings were reported.
    pub issues: i64,
    /// The first record that a finding names, or else the first sealed one; `None` if nothing was found.
    pub first_broken_at: Option<String>,
}

/// Checks a session and its seal completely, including the head and its neighbours. Memory does not grow with the
/// number of records.
///
/// # Errors
/// [`Fault::Storage`]; a finding is not an error.
pub fn verify_seal(
    db: &Db,
    session_id: &str,
    trusted: &TrustedKeys,
    issues: &mut dyn FnMut(Issue),
) -> Result<SealReport, Fault> {
    verify(db, session_id, Some(trusted), issues)
}

/// Checks a session and its seal, except for the head itself. A check of all sessions calls this, and walks over the
/// heads once with [`verify_head_chain`](super::verify_head_chain).
///
/// # Errors
/// [`Fault::Storage`]; a finding is not an error.
pub fn verify_sealed_records(
    db: &Db,
    session_id: &str,
    issues: &mut dyn FnMut(Issue),
) -> Result<SealReport, Fault> {
    verify(db, session_id, None, issues)
}

fn verify(
    db: &Db,
    session_id: &str,
    trusted: Option<&TrustedKeys>,
    issues: &mut dyn FnMut(Issue),
) -> Result<SealReport, Fault> {
    let state = session_state(db, session_id)?.unwrap_or(SessionState::Open);
    let (record_count, legacy_root) = match state {
        SessionState::Open => (trail::count_records_of_session(db, session_id)?, None),
        SessionState::Finalized => legacy_root(db, session_id)?,
    };
    let mut report = SealReport {
        session_id: session_id.to_owned(),
        state,
        record_count,
        root_match: None,
        tree_head_match: None,
        signature: None,
        issues: 0,
        first_broken_at: None,
    };
    if state == SessionState::Open {
        return Ok(report);
    }
    let stored = Stored {
        root: store::root(db, session_id)?,
        head: store::head_of(db, session_id)?,
        session_hash: session_hash(db, session_id)?,
    };
    let walk = Walk::over(db, session_id)?;
    let mut findings = Findings { session_id, issues, count: 0, first_record: None };
    let (root_fits, mut rest_fits) = stored.check_root(record_count, legacy_root, &mut findings);
    rest_fits &= stored.check_leaves(&walk, &mut findings);
    rest_fits &= stored.check_facts(legacy_root, &mut findings);
    if let Some(trusted) = trusted {
        let before = findings.count;
        report.signature = Some(match &stored.head {
            Some(head) => verify_head(db, head, trusted, &mut |issue| findings.raise(issue))?,
            None => SignatureStatus::Unsigned,
        });
        rest_fits &= findings.count == before;
    }
    report.root_match = Some(root_fits);
    report.tree_head_match = Some(rest_fits);
    report.issues = findings.count;
    if findings.count > 0 {
        report.first_broken_at = findings.first_record.or(walk.first_record);
    }
    Ok(report)
}

fn session_hash(db: &Db, session_id: &str) -> Result<Option<HexDigest>, Fault> {
    let session = store::session(db, session_id)?;
    Ok(session.map(|session| session.facts().hash()))
}

/// Collects findings about one session.
struct Findings<'a> {
    session_id: &'a str,
    issues: &'a mut dyn FnMut(Issue),
    count: i64,
    first_record: Option<String>,
}

impl Findings<'_> {
    fn raise(&mut self, issue: Issue) {
        self.count += 1;
        if self.first_record.is_none() {
            self.first_record.clone_from(&issue.record_id);
        }
        (self.issues)(issue);
    }

    /// Compares an expected value with an actual one and returns whether they are equal.
    fn compare(&mut self, code: IssueCode, expected: &str, actual: &str) -> bool {
        let fits = expected == actual;
        if !fits {
            self.raise(self.about(code).comparing(expected, actual));
        }
        fits
    }

    fn about(&self, code: IssueCode) -> Issue {
        Issue { session_id: Some(self.session_id.to_owned()), ..Issue::new(code) }
    }

    fn about_leaf(&self, code: IssueCode, leaf: &Difference) -> Issue {
        Issue { record_id: Some(leaf.record_id.clone()), index: Some(leaf.index), ..self.about(code) }
    }
}

/// A place where the records and the frozen leaves differ.
struct Difference {
    index: i64,
    record_id: String,
    expected: String,
    actual: String,
}

/// A session's records and its frozen leaves, side by side.
struct Walk {
    /// Root of the second tree over the records.
    root_hash: HexDigest,
    /// The first place where id or hash differ, or where one list ends early.
    list: Option<Difference>,
    /// The first place where id and hash agree, but the rest of the record differs from the sealed one.
    leaf: Option<Difference>,
    /// The record of leaf 0.
    first_record: Option<String>,
}

impl Walk {
    fn over(db: &Db, session_id: &str) -> Result<Self, Fault> {
        let (mut list, mut changed, mut first_record) = (None, None, None);
        let (mut tree, mut envelopes) = (Accumulator::default(), Envelopes::default());
        let mut frozen = FrozenLeaves::of(db, session_id);
        let mut index = 0;
        trail::each_row_of_session(db, session_id, |row| {
            let hash = envelopes.hash_as_found(row);
            tree.push(hash);
            let leaf = frozen.next()?;
            if index == 0 {
                first_record = Some(leaf.as_ref().map_or(row.id, |leaf| &leaf.record_id).to_owned());
            }
            if list.is_none() {
                list = compare_list(index, row, leaf.as_ref());
            }
            if list.is_none() && changed.is_none() {
                changed = compare_leaf(index, leaf.as_ref(), &hash);
            }
            index += 1;
            Ok(true)
        })?;
        if let Some(leaf) = frozen.next()?.filter(|_| list.is_none()) {
            first_record.get_or_insert_with(|| leaf.record_id.clone());
            list = Some(Difference {
                index,
                expected: leaf.record_id.clone(),
                record_id: leaf.record_id,
                actual: "no such record in the session".to_owned(),
            });
        }
        let root_hash = HexDigest::from_raw(&tree.root());
        Ok(Self { root_hash, list, leaf: changed, first_record })
    }
}

/// Compares a record with the one sealed at its place.
fn compare_list(index: i64, row: &TrailRow<'_>, leaf: Option<&Leaf>) -> Option<Difference> {
    let Some(leaf) = leaf else {
        let (record_id, actual) = (row.id.to_owned(), row.id.to_owned());
        return Some(Difference { index, record_id, expected: "no further leaf".to_owned(), actual });
    };
    let (expected, actual) = if leaf.record_id != row.id {
        (leaf.record_id.clone(), row.id.to_owned())
    } else if leaf.hash != row.hash {
        (leaf.hash.clone(), row.hash.to_owned())
    } else if leaf.leaf_index != index {
        (format!("leaf {index}"), format!("leaf {}", leaf.leaf_index))
    } else {
        return None;
    };
    Some(Difference { index, record_id: leaf.record_id.clone(), expected, actual })
}

/// Compares a record's envelope with the sealed one.
fn compare_leaf(index: i64, leaf: Option<&Leaf>, hash: &Hash) -> Option<Difference> {
    let (leaf, actual) = (leaf?, HexDigest::from_raw(hash));
    (leaf.leaf_hash != actual.as_str()).then(|| Difference {
        index,
        record_id: leaf.record_id.clone(),
        expected: leaf.leaf_hash.clone(),
        actual: actual.as_str().to_owned(),
    })
}

/// Stored values of a seal, apart from its leaves.
struct Stored {
    root: Option<Root>,
    head: Option<SignedTreeHead>,
    session_hash: Option<HexDigest>,
}

impl Stored {
    /// Checks the original's root and the number of records. Returns whether the root's row matches, and whether the
    /// head does.
    fn check_root(
        &self,
        record_count: i64,
        legacy_root: Option<HexDigest>,
        findings: &mut Findings<'_>,
    ) -> (bool, bool) {
        let stored = self.root.as_ref();
        let root_fits = findings.compare(
            IssueCode::LegacyRootMismatch,
            stored.map_or("no stored root", |root| &root.root),
            legacy_root.as_ref().map_or("a record's hash is none", HexDigest::as_str),
        );
        let counted = stored.map(|root| root.record_count);
        let tree_size = self.head.as_ref().map(|head| head.head.tree_size);
        let count_fits = counted == Some(record_count);
        let size_fits = tree_size.is_none_or(|size| size == record_count);
        if !count_fits || !size_fits {
            let expected = if count_fits { tree_size } else { counted };
            let expected = expected.map_or_else(|| "no stored root".to_owned(), |count| count.to_string());
            let issue = findings.about(IssueCode::RootCountMismatch);
            findings.raise(issue.comparing(&expected, &record_count.to_string()));
        }
        (root_fits && count_fits, size_fits)
    }

    /// Checks the list of records, and the second tree's root over them.
    fn check_leaves(&self, walk: &Walk, findings: &mut Findings<'_>) -> bool {
        let head_root = self.head.as_ref().map(|head| head.head.root_hash.as_str());
        let other_root = head_root.filter(|root| *root != walk.root_hash.as_str());
        // Records that give the head's root are the sealed ones, so the frozen leaf was changed.
        let listed = walk.list.as_ref().or(walk.leaf.as_ref().filter(|_| other_root.is_none()));
        if let Some(place) = listed {
            let issue = findings.about_leaf(IssueCode::SessionRecordsMismatch, place);
            findings.raise(issue.comparing(&place.expected, &place.actual));
        }
        if let Some(root) = other_root {
            let issue = match walk.list.as_ref().or(walk.leaf.as_ref()) {
                Some(place) => findings.about_leaf(IssueCode::TreeRootMismatch, place),
                None => findings.about(IssueCode::TreeRootMismatch),
            };
            findings.raise(issue.comparing(root, walk.root_hash.as_str()));
        }
        listed.is_none() && other_root.is_none()
    }

    /// Checks that the head exists and agrees with the rows of session and root.
    fn check_facts(&self, legacy_root: Option<HexDigest>, findings: &mut Findings<'_>) -> bool {
        let Some(SignedTreeHead { head, .. }) = &self.head else {
            findings.raise(findings.about(IssueCode::TreeHeadMissing));
            return false;
        };
        let session = self.session_hash.as_ref().map_or("no such session", HexDigest::as_str);
        let mut fits = findings.compare(IssueCode::SessionMetaMismatch, &head.session_hash, session);
        let Some(root) = &self.root else { return fits };
        if fits {
            fits = findings.compare(IssueCode::SessionMetaMismatch, &head.finalized_at, &root.finalized_at);
        }
        // A root that does not match the records has been reported already.
        if legacy_root.is_some_and(|legacy| legacy.as_str() == root.root) {
            fits &= findings.compare(IssueCode::LegacyRootMismatch, &head.legacy_root, &root.root);
        }
        fits
    }
}
