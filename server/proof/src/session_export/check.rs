//! Checks an export line by line.

use super::MAX_LINE_BYTES;
use super::lines::{
    ExportHeader, ExportRecord, ExportState, FormFault, FormProblem, LineKind, NotAnExport, parse_head,
    parse_tips,
};
use super::links::{Links, UnfitTip};
use super::verdict::{Checks, ExportVerdict};
use crate::chain::{Issue, IssueCode};
use crate::head::{ChainTip, SignedTreeHead, TreeHead, chain_tips_hash};
use crate::keys::{SignatureStatus, TrustedKeys, check_signature};
use crate::record::ThoughtType;
use crate::tree::legacy::LegacyAccumulator;
use crate::tree::rfc9162::{Accumulator, Hash};
use colibri_canonical::HexDigest;

/// How many findings are kept; the others are counted.
const MAX_REPORTED_ISSUES: usize = 100;

/// Takes the lines of an export, one by one.
#[derive(Debug)]
pub struct ExportCheck<'k> {
    trusted: &'k TrustedKeys,
    lines: u64,
    fault: Option<FormFault>,
    header: Option<ExportHeader>,
    records: Records,
    tips: Option<Vec<ChainTip>>,
    head: Option<SignedTreeHead>,
    findings: Findings,
}

/// What is kept of the records.
#[derive(Debug, Default)]
struct Records {
    count: i64,
    cold: i64,
    tree: Accumulator,
    /// The leaves of the original's tree, which sorts them.
    hashes: Vec<Hash>,
    links: Links,
    scratch: Vec<u8>,
}

/// Findings so far.
#[derive(Debug, Default)]
struct Findings {
    issues: Vec<Issue>,
    count: u64,
    /// Each code that was found.
    codes: Vec<IssueCode>,
}

impl Findings {
    fn raise(&mut self, issue: Issue) {
        self.count += 1;
        if !self.codes.contains(&issue.code) {
            self.codes.push(issue.code);
        }
        if self.issues.len() < MAX_REPORTED_ISSUES {
            self.issues.push(issue);
        }
    }

    fn compare(&mut self, code: IssueCode, expected: &str, actual: &str) {
        if expected != actual {
            self.raise(Issue::new(code).comparing(expected, actual));
        }
    }

    fn none_of(&self, codes: &[IssueCode]) -> bool {
        !codes.iter().any(|code| self.codes.contains(code))
    }
}

impl<'k> ExportCheck<'k> {
    /// Makes a check that trusts these keys and no others. If keys are given, an export that none of them has signed is not
    /// valid.
    pub fn new(trusted: &'k TrustedKeys) -> Self {
        Self {
            trusted,
            lines: 0,
            fault: None,
            header: None,
            records: Records::default(),
            tips: None,
            head: None,
            findings: Findings::default(),
        }
    }

    /// Takes the next line with its line feed; of a line that is too long, more bytes than are allowed. Returns `false` if the
    /// file has left the form of an export; no more lines are needed then.
    ///
    /// # Errors
    /// [`NotAnExport`], on the first line only.
    pub fn line(&mut self, line: &[u8]) -> Result<bool, NotAnExport> {
        if self.fault.is_some() {
            return Ok(false);
        }
        self.lines = self.lines.saturating_add(1);
        if let Err(problem) = self.take(line)? {
            self.fault = Some(FormFault { line: self.lines, problem });
        }
        Ok(self.fault.is_none())
    }

    fn take(&mut self, line: &[u8]) -> Result<Result<(), FormProblem>, NotAnExport> {
        let (line, ended) = match line.strip_suffix(b"\n") {
            Some(line) => (line, true),
            None => (line, false),
        };
        let kind = self.expected();
        if line.len() > MAX_LINE_BYTES {
            return Ok(Err(FormProblem::TooLong));
        }
        // The kind of the file is decided before its errors.
        let header = match kind {
            Some(LineKind::Header) => Some(ExportHeader::parse(line)?),
            _ => None,
        };
        if !ended {
            return Ok(Err(FormProblem::Unterminated));
        }
        Ok(match kind {
            Some(LineKind::Header) => header.map_or(Ok(()), |header| {
                self.header = Some(header?);
                Ok(())
            }),
            Some(LineKind::Record) => self.record(line),
            Some(LineKind::Tips) => parse_tips(line).map(|tips| self.tips = Some(tips)),
            Some(LineKind::TreeHead) => parse_head(line).map(|head| self.head = Some(head)),
            None => Err(FormProblem::Surplus),
        })
    }

    /// Returns what the form has next; `None` after the end.
    fn expected(&self) -> Option<LineKind> {
        let Some(header) = &self.header else { return Some(LineKind::Header) };
        if self.records.count < header.record_count {
            return Some(LineKind::Record);
        }
        match (header.state, &self.tips, &self.head) {
            (ExportState::Sealed, None, _) => Some(LineKind::Tips),
            (ExportState::Sealed, Some(_), None) => Some(LineKind::TreeHead),
            (ExportState::Open, ..) | (_, Some(_), Some(_)) => None,
        }
    }

    fn record(&mut self, line: &[u8]) -> Result<(), FormProblem> {
        let session_id = self.header.as_ref().map_or("", |header| header.session().session_id);
        let record = ExportRecord::parse(line, &mut self.records.scratch)?;
        self.records.take(&record, session_id, &mut self.findings);
        Ok(())
    }

    /// Returns the verdict over all lines.
    ///
    /// # Errors
    /// [`NotAnExport::Empty`].
    pub fn finish(mut self) -> Result<ExportVerdict, NotAnExport> {
        if self.lines == 0 {
            return Err(NotAnExport::Empty);
        }
        if let (None, Some(kind)) = (&self.fault, self.expected()) {
            let problem = FormProblem::Missing(kind);
            self.fault = Some(FormFault { line: self.lines.saturating_add(1), problem });
        }
        let whole = self.fault.is_none();
        if whole {
            self.records.finish(&mut self.findings);
            if let (Some(header), Some(tips), Some(head)) = (&self.header, &mut self.tips, &self.head) {
                check_seal(header, &self.records, tips, head, &mut self.findings);
            }
        }
        let signature = self.head.as_ref().filter(|_| whole).map(|head| check_signature(head, self.trusted));
        if signature == Some(SignatureStatus::Invalid) {
            self.findings.raise(Issue::new(IssueCode::SignatureInvalid));
        }
        Ok(self.verdict(signature))
    }

    fn verdict(self, signature: Option<SignatureStatus>) -> ExportVerdict {
        let checks = self.checks();
        let signed = self.trusted.is_empty() || signature == Some(SignatureStatus::Valid);
        let valid = checks.form && self.findings.count == 0 && signed;
        let Self { fault, header, records, head, findings, .. } = self;
        ExportVerdict {
            header,
            fault,
            record_count: records.count,
            cold_count: records.cold,
            links_inside: records.links.inside(),
            links_outside: records.links.outside(),
            head,
            signature,
            checks,
            issues: findings.issues,
            issue_count: findings.count,
            valid,
        }
    }

    fn checks(&self) -> Checks {
        let whole = self.fault.is_none();
        let free = |applies: bool, codes: &[IssueCode]| applies.then(|| self.findings.none_of(codes));
        let any = self.records.count > 0;
        let warm = self.records.count > self.records.cold;
        let sealed = whole && self.head.is_some();
        Checks {
            form: whole && self.findings.none_of(&[IssueCode::Malformed]),
            content_hashes: free(warm, &[IssueCode::ContentLost]),
            record_hashes: free(warm, &[IssueCode::HashMismatch]),
            session_records: free(any, &[IssueCode::SessionRecordsMismatch]),
            links: free(any && whole, &[IssueCode::PrevMismatch]),
            legacy_root: free(sealed, &[IssueCode::LegacyRootMismatch]),
            root_hash: free(sealed, &[IssueCode::TreeRootMismatch]),
            tree_size: free(sealed, &[IssueCode::RootCountMismatch]),
            session_hash: free(sealed, &[IssueCode::SessionMetaMismatch]),
            chain_tips: free(sealed, &[IssueCode::ChainTipsMismatch, IssueCode::TipRegression]),
            head_hash: free(
                sealed,
                &[IssueCode::HeadHashMismatch, IssueCode::HeadLinkBroken, IssueCode::LogTipMismatch],
            ),
        }
    }
}

impl Records {
    fn take(&mut self, record: &ExportRecord<'_>, session_id: &str, findings: &mut Findings) {
        let index = self.count;
        self.count += 1;
        let about = |code| Issue {
            task_id: Some(record.task_id.as_ref().to_owned()),
            record_id: Some(record.id.as_ref().to_owned()),
            index: Some(index),
            ..Issue::new(code)
        };
        if let Some(value) = malformed(record) {
            findings.raise(about(IssueCode::Malformed).holding(value));
        }
        if record.session_id != session_id {
            let issue = about(IssueCode::SessionRecordsMismatch);
            findings.raise(issue.comparing(session_id, &record.session_id));
        }
        match &record.content {
            Some(content) => {
                let digest = HexDigest::of(content.as_bytes());
                if digest.as_str() != record.content_hash {
                    let issue = about(IssueCode::ContentLost);
                    findings.raise(issue.comparing(&record.content_hash, digest.as_str()));
                }
                let hash = record.preimage(content).hash(&mut self.scratch);
                if hash.as_str() != record.hash {
                    findings.raise(about(IssueCode::HashMismatch).comparing(hash.as_str(), &record.hash));
                }
            }
            None => self.cold += 1,
        }
        self.tree.push(record.envelope().leaf_hash(&mut self.scratch));
        let (prev, hash) = (hash_or_stand_in(&record.prev_hash), hash_or_stand_in(&record.hash));
        self.hashes.push(hash.raw());
        if let Err(expected) = self.links.push(&record.task_id, &prev, &hash, index) {
            let issue = about(IssueCode::PrevMismatch);
            findings.raise(issue.comparing(expected.as_str(), &record.prev_hash));
        }
    }

    /// Makes the checks that need all records.
    fn finish(&mut self, findings: &mut Findings) {
        self.hashes.sort_unstable();
        for pair in self.hashes.windows(2).filter(|pair| pair[0] == pair[1]) {
            let issue = Issue::new(IssueCode::SessionRecordsMismatch);
            findings.raise(issue.comparing("each record once", HexDigest::from_raw(&pair[0]).as_str()));
        }
        self.links.each_misled(&self.hashes, |index, prev| {
            let issue = Issue { index: Some(index), ..Issue::new(IssueCode::PrevMismatch) };
            findings.raise(issue.holding(HexDigest::from_raw(prev).as_str()));
        });
    }

    fn legacy_root(&self) -> HexDigest {
        let mut tree = LegacyAccumulator::default();
        self.hashes.iter().for_each(|hash| tree.push(&HexDigest::from_raw(hash)));
        tree.root()
    }
}

/// Returns a value of the record that is malformed, if it has one.
fn malformed<'a>(record: &'a ExportRecord<'_>) -> Option<&'a str> {
    let hashes = [&record.content_hash, &record.hash, &record.prev_hash];
    let texts = [&record.id, &record.task_id, &record.agent_id, &record.timestamp];
    let no_hash = hashes.into_iter().find(|hash| HexDigest::parse(hash).is_none());
    let nothing = || texts.into_iter().find(|text| text.is_empty());
    let no_type = || Some(&record.kind).filter(|kind| ThoughtType::parse(kind).is_none());
    no_hash.or_else(nothing).or_else(no_type).map(AsRef::as_ref)
}

/// Parses the hash in a text; if it is malformed, returns one that no sound record has.
fn hash_or_stand_in(text: &str) -> HexDigest {
    HexDigest::parse(text).unwrap_or_else(|| HexDigest::of(text.as_bytes()))
}

/// Compares the seal with what the lines before it give.
fn check_seal(
    header: &ExportHeader,
    records: &Records,
    tips: &mut [ChainTip],
    signed: &SignedTreeHead,
    findings: &mut Findings,
) {
    let head = &signed.head;
    let session = header.session();
    findings.compare(IssueCode::LegacyRootMismatch, &head.legacy_root, records.legacy_root().as_str());
    let root = HexDigest::from_raw(&records.tree.root());
    findings.compare(IssueCode::TreeRootMismatch, &head.root_hash, root.as_str());
    let (sealed, counted) = (head.tree_size.to_string(), records.count.to_string());
    findings.compare(IssueCode::RootCountMismatch, &sealed, &counted);
    findings.compare(IssueCode::SessionMetaMismatch, &head.session_id, session.session_id);
    findings.compare(IssueCode::SessionMetaMismatch, &head.session_hash, session.hash().as_str());
    findings.compare(IssueCode::ChainTipsMismatch, &head.chain_tips_hash, chain_tips_hash(tips).as_str());
    check_tips(records, tips, findings);
    findings.compare(IssueCode::HeadHashMismatch, head.hash().as_str(), &signed.head_hash);
    check_head(head, findings);
}

fn check_tips(records: &Records, tips: &[ChainTip], findings: &mut Findings) {
    let about = |code, task_id: &str| Issue { task_id: Some(task_id.to_owned()), ..Issue::new(code) };
    records.links.each_unfit_tip(tips, &records.hashes, |unfit| {
        findings.raise(match unfit {
            UnfitTip::NoRecord(tip) => {
                about(IssueCode::ChainTipsMismatch, &tip.task_id).comparing("a record of the task", "none")
            }
            UnfitTip::Missing(task_id) => {
                about(IssueCode::ChainTipsMismatch, task_id).comparing("a tip of the task", "none")
            }
            UnfitTip::NoHash(tip) => about(IssueCode::Malformed, &tip.task_id).holding(&tip.tip_hash),
            UnfitTip::Length(tip, records) => about(IssueCode::TipRegression, &tip.task_id)
                .comparing(&format!("{} records", tip.chain_length), &format!("{records} in this file")),
            UnfitTip::Earlier(tip, last) => {
                about(IssueCode::TipRegression, &tip.task_id).comparing(&tip.tip_hash, last.as_str())
            }
        });
    });
}

/// Checks what holds for every head.
fn check_head(head: &TreeHead, findings: &mut Findings) {
    let zero = HexDigest::ZERO.as_str();
    let first = head.head_index == 0;
    if first != (head.prev_head_hash == zero) {
        let expected = if first { zero } else { "the hash of the head before" };
        findings.raise(Issue::new(IssueCode::HeadLinkBroken).comparing(expected, &head.prev_head_hash));
    }
    let no_log = head.log_exit_no == 0;
    if no_log != (head.log_row_hash == zero) {
        let expected = if no_log { zero } else { "the hash of a row" };
        findings.raise(Issue::new(IssueCode::LogTipMismatch).comparing(expected, &head.log_row_hash));
    }
    for hash in [&head.prev_head_hash, &head.log_row_hash] {
        if HexDigest::parse(hash).is_none() {
            findings.raise(Issue::new(IssueCode::Malformed).holding(hash));
        }
    }
}
