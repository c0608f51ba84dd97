//! What a root or a key proves, in words.

use crate::given::{Given, Matched, Part, Subject};

/// Returns what a given root proves; `whole` says that no content is missing.
pub fn worth(root: Matched, subject: Subject, whole: bool) -> &'static str {
    match (root, subject) {
        (Matched::HeadHash, _) => "it is the head hash, which fixes everything in the seal",
        (Matched::Rfc9162Root, Subject::Proof) => {
            "it is the RFC 9162 root, which fixes the record with author and session, but not its place, the number of \
             records or the rest of the tree head"
        }
        (Matched::Rfc9162Root, Subject::Export) => {
            "it is the RFC 9162 root, which fixes the records with order, author and session, but not the session's \
             intent and times"
        }
        (Matched::LegacyRoot, _) if !whole => {
            "it is the legacy root, which fixes nothing about a record without its content"
        }
        (Matched::LegacyRoot, Subject::Proof) => {
            "it is the legacy root, which fixes what the record says and when, but not its author, session and place, \
             the number of records or the tree head"
        }
        (Matched::LegacyRoot, Subject::Export) => {
            "it is the legacy root, which fixes what the records say and when, but not their order, authors or session"
        }
    }
}

/// Returns what stays unproven about a file all of whose checks pass, except for what no evidence can prove.
pub fn left_open(given: Given, subject: Subject, whole: bool, head_hash: &str) -> Vec<String> {
    let root = match given.root {
        _ if given.signed => return Vec::new(),
        None => {
            let sealed = match subject {
                Subject::Proof => "tree",
                Subject::Export => "session",
            };
            return vec![format!(
                "that this is the sealed {sealed}; compare {head_hash} with the published head hash, or pass that with --root."
            )];
        }
        Some(Matched::HeadHash) => "the head hash",
        Some(Matched::Rfc9162Root) => "the RFC 9162 root",
        Some(Matched::LegacyRoot) => "the legacy root",
    };
    let fixed = given.fixes(subject, whole);
    let parts = [Part::Record, Part::Origin, Part::Order, Part::Number, Part::Head];
    let open = parts.into_iter().filter(|part| !fixed.contains(part));
    open.map(|part| format!("{}; {root} does not cover that. Compare the head hash.", named(part, subject)))
        .collect()
}

/// Returns what is open if a part is not fixed.
fn named(part: Part, subject: Subject) -> &'static str {
    match (part, subject) {
        (Part::Record, _) => "that a record without its content is not invented",
        (Part::Origin, Subject::Proof) => "who wrote the record, and in which session",
        (Part::Origin, Subject::Export) => "who wrote the records, and in which session",
        (Part::Order, Subject::Proof) => "the place of the record in its session",
        (Part::Order, Subject::Export) => "the order of the records",
        (Part::Number, _) => "how many records the session has",
        (Part::Head, _) => {
            "what the session was for, when it was sealed, and its place among the seals and in the log"
        }
        (Part::Signer, _) => "who sealed it",
    }
}
