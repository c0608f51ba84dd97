//! Whether a database is sound, and by whose key: the one answer that `verify`, `overview`, `report` and their pages give.

use super::Report;
use super::finding::Found;
use super::seals::Heads;
use colibri_proof::Verdict;
use colibri_store::log::verify::LogEnd;

/// The answer, and what it rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The answer; `None` if nothing was verified.
    pub verdict: Option<Verdict>,
    /// The first finding of each kind.
    pub findings: Vec<Found>,
    /// The first warning of each kind.
    pub warnings: Vec<Found>,
    /// Where the log ends.
    pub log: Option<LogEnd>,
    /// The tree heads and their signatures.
    pub heads: Option<Heads>,
}

impl Judgement {
    /// The answer without a verification.
    pub const NONE: Self =
        Self { verdict: None, findings: Vec::new(), warnings: Vec::new(), log: None, heads: None };

    /// Returns the answer of a verification.
    pub fn of(report: &Report) -> Self {
        let findings = report.findings.kinds().to_vec();
        let warnings = report.warnings.kinds().to_vec();
        Self {
            verdict: Some(report.verdict()),
            findings,
            warnings,
            log: report.log,
            heads: report.heads.clone(),
        }
    }

    /// Returns how many findings there are.
    pub fn count(&self) -> u64 {
        self.findings.iter().map(|found| found.count).sum()
    }

    /// Returns the number of the last tree head, and its whole hash.
    pub fn last_head(&self) -> Option<(i64, &str)> {
        let heads = self.heads.as_ref()?;
        heads.last_head_hash.as_deref().map(|hash| (heads.count - 1, hash))
    }

    /// Says by whose key the seals are signed; nothing if no session is sealed.
    pub fn signatures(&self) -> Option<String> {
        let heads = self.heads.as_ref().filter(|heads| heads.count > 0)?;
        let Heads { count, signed, unsigned, unknown_key, .. } = heads;
        let noun = if *count == 1 { "tree head" } else { "tree heads" };
        Some(format!(
            "{count} {noun}: {signed} signed by a trusted key, {unsigned} unsigned, {unknown_key} signed by an untrusted key."
        ))
    }

    /// Says by which key a seal is signed that the reader did not give, and what to do.
    pub fn unknown_key(&self) -> Option<String> {
        let heads = self.heads.as_ref().filter(|heads| heads.unconfirmed)?;
        let (count, ids) = (heads.unknown_key, &heads.unknown_key_ids);
        let more = if ids.len() > MOST_KEYS { " and others" } else { "" };
        let ids: Vec<&str> = ids.iter().take(MOST_KEYS).map(String::as_str).collect();
        let heads = if count == 1 { "1 tree head is".to_owned() } else { format!("{count} tree heads are") };
        Some(format!(
            "{heads} signed by key {}{more}, which you did not give. If you trust it, name its public key with --key.",
            ids.join(", ")
        ))
    }
}

/// The most keys that are named.
const MOST_KEYS: usize = 3;

/// What no verification of a database shows. Each page and each text that gives a verdict says it.
pub(crate) const NOT_PROVEN: [&str; 4] = [
    "Anyone who can write the database can replace all of it, with every hash. Only values that were kept elsewhere show that.",
    "Names of agents and clients are their own words. A signature shows which key sealed a session, not who wrote in it.",
    "What was recorded after the last seal is not signed.",
    "The log shows what was recorded and in which order, not that it is true. Times are those of the machine.",
];
