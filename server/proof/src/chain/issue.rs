//! What a verification finds: one issue for each finding (trail#verdict).

/// How much of a stored text an issue repeats. Sound values are shorter; a forged one may be a megabyte.
const SHOWN_CHARS: usize = 128;

/// The words for a value of the file and for one that was computed again from it.
const STORED: &str = "stored";
const RECOMPUTED: &str = "recomputed";

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IssueCode {
    /// The record's fields do not hash to its stored hash.
    HashMismatch,
    /// The record does not point at its predecessor's stored hash.
    PrevMismatch,
    /// A type outside the four, or a hash that is not 64 lowercase hex characters.
    Malformed,
    /// Archived content that cannot be decoded, or is not what was archived.
    ContentLost,
    /// Records without a chain head.
    HeadMissing,
    /// The record that the chain head names is gone.
    TailTruncated,
    /// The last record is not the one the chain head names.
    HeadMismatch,
    /// More or fewer records than the chain head counts.
    RecordCountMismatch,
    /// A chain that is shorter than, or differs from, what a tree head saw of it.
    TipRegression,
    /// The session's records are not the leaves that were sealed.
    SessionRecordsMismatch,
    /// The records do not give the stored legacy root.
    LegacyRootMismatch,
    /// More or fewer records than were sealed.
    RootCountMismatch,
    /// A sealed session without a tree head.
    TreeHeadMissing,
    /// The audit log does not hold the row that the tree head names as its tip.
    LogTipMismatch,
    /// The records do not give the tree head's root.
    TreeRootMismatch,
    /// The session's own fields are not what the tree head covers.
    SessionMetaMismatch,
    /// The stored tips are not what the tree head covers.
    ChainTipsMismatch,
    /// The tree head's fields do not hash to its stored hash.
    HeadHashMismatch,
    /// The tree head does not follow its predecessor, or its successor does not follow it.
    HeadLinkBroken,
    /// The tree head's signature is not its key's.
    SignatureInvalid,
    /// The tree head is unsigned, and one before it is signed. Found where a trusted key's signature is required.
    SignatureMissing,
    /// The tree head is signed by a key that is not trusted. Found where a trusted key's signature is required.
    SignerNotTrusted,
    /// There are tree heads, and none is signed. Found where a trusted key's signature is required.
    NothingSigned,
}

impl IssueCode {
    /// Returns what it means, for people: the beginning of a sentence.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::HashMismatch => "the record's hash does not match its fields",
            Self::PrevMismatch => "the record does not point at the one before it",
            Self::Malformed => "the record has an unknown type or a malformed hash",
            Self::ContentLost => "the record's content is not what was archived",
            Self::HeadMissing => "the chain has records but no row in trail_heads",
            Self::TailTruncated => "the chain's last record is missing",
            Self::HeadMismatch => "the chain does not end in the record that trail_heads names",
            Self::RecordCountMismatch => {
                "the chain does not have the number of records that trail_heads counts"
            }
            Self::TipRegression => "the chain differs from the one that a seal covers",
            Self::SessionRecordsMismatch => "the session's records are not the leaves that were sealed",
            Self::LegacyRootMismatch => "the session's stored root does not match its records",
            Self::RootCountMismatch => "the session does not have the number of records that were sealed",
            Self::TreeHeadMissing => "the sealed session has no tree head",
            Self::LogTipMismatch => "the log does not hold the row that the tree head names as its end",
            Self::TreeRootMismatch => "the tree head's root does not match the session's records",
            Self::SessionMetaMismatch => {
                "the session's own fields differ from those that the tree head covers"
            }
            Self::ChainTipsMismatch => "the stored tips differ from those that the tree head covers",
            Self::HeadHashMismatch => "the tree head's hash does not match its fields",
            Self::HeadLinkBroken => "the tree heads do not follow one another",
            Self::SignatureInvalid => "the tree head's signature is invalid",
            Self::SignatureMissing => "the tree head is unsigned, although one before it is signed",
            Self::SignerNotTrusted => "the tree head is signed by a key that is not trusted",
            Self::NothingSigned => "sessions are sealed, but no tree head is signed",
        }
    }

    /// Returns the words before the `expected` value and the `actual` one.
    fn sides(self) -> (&'static str, &'static str) {
        match self {
            Self::HashMismatch | Self::HeadHashMismatch => (RECOMPUTED, STORED),
            Self::ContentLost | Self::LegacyRootMismatch | Self::TreeRootMismatch => (STORED, RECOMPUTED),
            Self::RootCountMismatch | Self::RecordCountMismatch => (STORED, "counted"),
            Self::ChainTipsMismatch | Self::SessionMetaMismatch | Self::TipRegression => ("sealed", "now"),
            Self::HeadMismatch => ("named in trail_heads", "last in the chain"),
            Self::SignerNotTrusted => ("trusted", "signed by"),
            Self::Malformed => ("", STORED),
            Self::PrevMismatch
            | Self::HeadMissing
            | Self::TailTruncated
            | Self::SessionRecordsMismatch
            | Self::TreeHeadMissing
            | Self::LogTipMismatch
            | Self::HeadLinkBroken
            | Self::SignatureInvalid
            | Self::SignatureMissing
            | Self::NothingSigned => ("should be", "is"),
        }
    }

    /// Returns the code as it is published.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::HashMismatch => "HASH_MISMATCH",
            Self::PrevMismatch => "PREV_MISMATCH",
            Self::Malformed => "MALFORMED",
            Self::ContentLost => "CONTENT_LOST",
            Self::HeadMissing => "HEAD_MISSING",
            Self::TailTruncated => "TAIL_TRUNCATED",
            Self::HeadMismatch => "HEAD_MISMATCH",
            Self::RecordCountMismatch => "RECORD_COUNT_MISMATCH",
            Self::TipRegression => "TIP_REGRESSION",
            Self::SessionRecordsMismatch => "SESSION_RECORDS_MISMATCH",
            Self::LegacyRootMismatch => "LEGACY_ROOT_MISMATCH",
            Self::RootCountMismatch => "ROOT_COUNT_MISMATCH",
            Self::TreeHeadMissing => "TREE_HEAD_MISSING",
            Self::LogTipMismatch => "LOG_TIP_MISMATCH",
            Self::TreeRootMismatch => "TREE_ROOT_MISMATCH",
            Self::SessionMetaMismatch => "SESSION_META_MISMATCH",
            Self::ChainTipsMismatch => "CHAIN_TIPS_MISMATCH",
            Self::HeadHashMismatch => "HEAD_HASH_MISMATCH",
            Self::HeadLinkBroken => "HEAD_LINK_BROKEN",
            Self::SignatureInvalid => "SIGNATURE_INVALID",
            Self::SignatureMissing => "SIGNATURE_MISSING",
            Self::SignerNotTrusted => "SIGNER_NOT_TRUSTED",
            Self::NothingSigned => "NOTHING_SIGNED",
        }
    }
}

/// One finding. Fields that do not apply to it are `None`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// What is wrong.
    pub code: IssueCode,
    /// The chain it is about.
    pub task_id: Option<String>,
    /// The session it is about.
    pub session_id: Option<String>,
    /// The record it is about.
    pub record_id: Option<String>,
    /// The record's place in its chain or leaf list, from 0.
    pub index: Option<i64>,
    /// What is compared with `actual`. Which of the two is stored depends on the code; [`Issue::sides`] says it in words.
    pub expected: Option<String>,
    /// What is compared with `expected`.
    pub actual: Option<String>,
}

impl Issue {
    /// Makes an issue that has only its code yet.
    pub fn new(code: IssueCode) -> Self {
        Self {
            code,
            task_id: None,
            session_id: None,
            record_id: None,
            index: None,
            expected: None,
            actual: None,
        }
    }

    /// Adds two values that should agree. Texts longer than any sound value are cut.
    pub fn comparing(self, expected: &str, actual: &str) -> Self {
        Self { expected: Some(shown(expected)), ..self }.holding(actual)
    }

    /// Adds one value.
    pub(crate) fn holding(self, actual: &str) -> Self {
        Self { actual: Some(shown(actual)), ..self }
    }

    /// Returns the values for people, each after the word that says where it comes from; the stored one first. The published
    /// names cannot serve: `actual` is the stored hash of a record, but the recomputed root of a session (trail#verdict).
    pub fn sides(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let (expected, actual) = self.code.sides();
        let expected = self.expected.as_deref().map(|value| (expected, value));
        let actual = self.actual.as_deref().map(|value| (actual, value));
        let ordered = if actual.is_some_and(|(word, _)| word == STORED) {
            [actual, expected]
        } else {
            [expected, actual]
        };
        ordered.into_iter().flatten()
    }
}

fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
