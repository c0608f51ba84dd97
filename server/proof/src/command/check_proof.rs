//! `colibri check-proof`: checks what a proof file proves (proof#bundle), with only the file itself and the hashes and
//! keys that the auditor gives.

use std::io::{self, Read, Write};

use colibri_visible::{counted, printable};
use serde::Serialize;

use super::evidence::{Keys, input, other_file, signature_text};
use super::output::print_json;
use super::verdict::{Mark, line};
use super::worth::{left_open, worth};
use super::{CheckFile, Failure, conclude};
use crate::bundle::{
    BundleError, BundleVerdict, InclusionBundle, MAX_FILE_BYTES, NotABundle, parse_bundle, verify_bundle,
};
use crate::given::{Given, Matched, Part, Subject, matched};
use crate::keys::{SignatureStatus, TrustedKeys};
use crate::verdict::Verdict;

/// The verdict as JSON.
#[derive(Serialize)]
struct Report<'a> {
    valid: bool,
    verdict: Verdict,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(flatten)]
    checked: Option<Checked<'a>>,
}

/// What was checked.
#[derive(Serialize)]
struct Checked<'a> {
    session_id: &'a str,
    record_id: &'a str,
    /// `null`: the file lacks the content.
    record_hash: Option<bool>,
    legacy_proof: bool,
    rfc9162_proof: bool,
    tree_head_match: bool,
    head_hash_match: bool,
    signature: &'static str,
    /// Which hash `--root` is; `null` if it matches none of them, or was not given.
    root_match: Option<Matched>,
    leaf_index: i64,
    tree_size: i64,
    head_hash: &'a str,
    root_hash: &'a str,
    legacy_root: &'a str,
    key_id: Option<&'a str>,
    /// The parts of the file that the given root and keys fix.
    fixed: &'static [Part],
    proven: Vec<String>,
    not_proven: Vec<String>,
}

/// A checked proof.
struct Examined<'a> {
    bundle: &'a InclusionBundle,
    verdict: BundleVerdict,
    /// `None`: no root was given.
    root: Option<Option<Matched>>,
    trusted: &'a TrustedKeys,
    signature_wanted: bool,
}

/// Checks a proof file and says what it proves; [`Failure::Finding`] if it does not hold.
pub fn run(arguments: &CheckFile, out: &mut dyn Write, stdin: &mut dyn Read) -> Result<(), Failure> {
    let keys = Keys::read(&arguments.evidence.key)?;
    let mut bytes = Vec::new();
    let file = input(&arguments.file, stdin)?;
    file.take(MAX_FILE_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::Usage(format!("cannot read {}: {error}", arguments.file.display())))?;
    let bundle = match parse_bundle(&bytes) {
        Ok(bundle) => bundle,
        Err(BundleError::NotABundle(reason)) => {
            let name = arguments.file.display();
            return Err(Failure::Usage(match (reason, other_file(&bytes)) {
                (NotABundle::Mangled(_), _) => {
                    format!("{name} cannot be read as a proof: {reason}; use the file as it was written")
                }
                (NotABundle::OtherFile, Some(other)) => format!("{name} is not a proof: {other}"),
                _ => format!("{name} is not a proof: {reason}; name another file"),
            }));
        }
        Err(error) => return unreadable(&error.to_string(), arguments.json, out),
    };
    let signature_wanted = arguments.evidence.signature_wanted();
    let verdict = verify_bundle(&bundle, &keys.trusted, signature_wanted);
    if verdict.signature == SignatureStatus::UnknownKey {
        keys.not_mistaken(&bundle.tree_head)?;
    }
    let root = arguments.evidence.root.as_ref().map(|root| matched(root, &bundle.tree_head));
    let examined = Examined { bundle: &bundle, verdict, root, trusted: &keys.trusted, signature_wanted };
    if arguments.json {
        let (valid, verdict) = (examined.holds(), examined.verdict());
        json(&Report { valid, verdict, error: None, checked: Some(examined.report()) }, out)?;
    } else {
        examined.print(out)?;
    }
    out.flush()?;
    conclude(examined.verdict())
}

/// Reports a proof that is damaged, or not in a proof's form.
fn unreadable(error: &str, as_json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    if as_json {
        let (verdict, error) = (Verdict::Fails, Some(error.to_owned()));
        json(&Report { valid: false, verdict, error, checked: None }, out)?;
    } else {
        line(out, Mark::Fail, "form", &printable(error))?;
        writeln!(out, "\nThis proves nothing.")?;
    }
    out.flush()?;
    Err(Failure::Finding)
}

fn json(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    print_json(out, &report)
}

impl Examined<'_> {
    fn holds(&self) -> bool {
        self.verdict.valid && self.root != Some(None)
    }

    fn verdict(&self) -> Verdict {
        Verdict::of(self.holds(), self.fixed().contains(&Part::Record))
    }

    fn given(&self) -> Given {
        Given { root: self.root.flatten(), signed: self.verdict.signature == SignatureStatus::Valid }
    }

    /// Returns whether the content is there, without which a legacy root proves nothing.
    fn whole(&self) -> bool {
        self.bundle.record.content.is_some()
    }

    fn fixed(&self) -> &'static [Part] {
        if self.holds() { self.given().fixes(Subject::Proof, self.whole()) } else { &[] }
    }

    fn report(&self) -> Checked<'_> {
        let InclusionBundle { record, rfc9162, tree_head, .. } = self.bundle;
        Checked {
            session_id: &record.session_id,
            record_id: &record.id,
            record_hash: self.verdict.record_hash,
            legacy_proof: self.verdict.legacy_proof,
            rfc9162_proof: self.verdict.rfc9162_proof,
            tree_head_match: self.verdict.tree_head_match,
            head_hash_match: self.verdict.head_hash,
            signature: self.verdict.signature.as_str(),
            root_match: self.root.flatten(),
            leaf_index: rfc9162.leaf_index,
            tree_size: rfc9162.tree_size,
            head_hash: &tree_head.head_hash,
            root_hash: &tree_head.head.root_hash,
            legacy_root: &tree_head.head.legacy_root,
            key_id: tree_head.signature.as_ref().map(|signed| signed.key_id.as_str()),
            fixed: self.fixed(),
            proven: self.proven(),
            not_proven: self.not_proven(),
        }
    }

    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let InclusionBundle { record, legacy, rfc9162, tree_head } = self.bundle;
        let verdict = &self.verdict;
        if record.content.is_none() {
            // This comes first, since it limits what all later lines mean.
            let worth = if self.verdict() == Verdict::Holds { "is proven" } else { "is given" };
            let digest = printable(&record.content_hash);
            let text = format!("not in this file; only its SHA-256 {digest} {worth}");
            line(out, Mark::None, "content", &text)?;
        }
        let who = format!(
            "{} ({} by {} at {}, task {})",
            printable(&record.id),
            record.kind.as_str(),
            printable(&record.agent_id),
            printable(&record.timestamp),
            printable(&record.task_id)
        );
        line(out, Mark::None, "record", &who)?;
        line(out, Mark::None, "session", &printable(&record.session_id))?;
        if let Some(fits) = verdict.record_hash {
            let gives = if fits { "matches" } else { "does not match" };
            let text = format!("{gives} the record's hash {}", printable(&record.hash));
            line(out, fits, "content", &text)?;
        }
        let text = format!(
            "{} from the hash to the root {} over {}",
            leads(verdict.legacy_proof),
            printable(&legacy.root),
            counted(legacy.record_count, "record")
        );
        line(out, verdict.legacy_proof, "legacy proof", &text)?;
        let text = format!(
            "{} from leaf {} of {} to the root {}",
            leads(verdict.rfc9162_proof),
            rfc9162.leaf_index,
            rfc9162.tree_size,
            printable(&rfc9162.root_hash)
        );
        line(out, verdict.rfc9162_proof, "RFC 9162", &text)?;
        let names = if verdict.tree_head_match { "names" } else { "does not name" };
        let text = format!("{names} this session, both roots and their size");
        line(out, verdict.tree_head_match, "tree head", &text)?;
        let text = if verdict.head_hash { "" } else { ", which does not match the head's fields" };
        line(out, verdict.head_hash, "head hash", &format!("{}{text}", printable(&tree_head.head_hash)))?;
        let mark = match verdict.signature {
            SignatureStatus::Valid => Mark::Ok,
            SignatureStatus::Invalid => Mark::Fail,
            _ if self.signature_wanted => Mark::Fail,
            _ => Mark::None,
        };
        line(
            out,
            mark,
            "signature",
            &printable(&signature_text(verdict.signature, tree_head, self.trusted)),
        )?;
        self.print_root(out)?;
        writeln!(out)?;
        self.conclude(out)
    }

    fn print_root(&self, out: &mut dyn Write) -> io::Result<()> {
        match self.root {
            None => Ok(()),
            Some(None) => {
                let text = "it matches no hash in this proof: the proof is for a different tree";
                line(out, Mark::Fail, "--root", text)
            }
            Some(Some(root)) => {
                let bare = root == Matched::LegacyRoot && !self.whole();
                let mark = if bare { Mark::None } else { Mark::Ok };
                line(out, mark, "--root", worth(root, Subject::Proof, self.whole()))
            }
        }
    }

    fn conclude(&self, out: &mut dyn Write) -> io::Result<()> {
        let cold = self.bundle.record.content.is_none();
        let text = match self.verdict() {
            Verdict::Holds if cold => {
                "The content is not in this file; only its hash is proven. For the hash, the proof holds."
            }
            Verdict::Holds => "The proof holds.",
            Verdict::Unconfirmed => {
                "The proof agrees with itself, but nothing that you gave with --key or --root confirms it."
            }
            Verdict::Fails => "The proof does not hold.",
        };
        writeln!(out, "{text}")?;
        if !self.holds() {
            return writeln!(out, "Nothing is proven: a check failed.");
        }
        for proven in self.proven() {
            writeln!(out, "Proven: {}", printable(&proven))?;
        }
        for open in self.not_proven() {
            writeln!(out, "Not proven: {}", printable(&open))?;
        }
        Ok(())
    }

    fn proven(&self) -> Vec<String> {
        if !self.holds() {
            return Vec::new();
        }
        let InclusionBundle { record, rfc9162, tree_head, .. } = self.bundle;
        let content = if self.whole() { "content" } else { "content's digest" };
        let Given { root, signed } = self.given();
        let in_head = format!(
            "the record, with this {content}, author, task and time, is leaf {} of the {} that head {} commits to.",
            rfc9162.leaf_index, rfc9162.tree_size, tree_head.head_hash
        );
        let mut proven = match root {
            Some(Matched::HeadHash) => vec![in_head, "the head is the one whose hash was given.".to_owned()],
            _ if signed => vec![in_head],
            Some(Matched::Rfc9162Root) => vec![format!(
                "the record, with this {content}, author, session, task and time, is in the tree whose root was given."
            )],
            Some(Matched::LegacyRoot) if self.whole() => vec![format!(
                "the record {}, with this content, type, task and time, is in the set whose legacy root was given.",
                record.hash
            )],
            Some(Matched::LegacyRoot) => Vec::new(),
            None => vec![in_head],
        };
        if signed {
            proven.push("the head was signed by the given key.".to_owned());
        }
        proven
    }

    fn not_proven(&self) -> Vec<String> {
        if !self.holds() {
            return vec!["anything; one of the checks failed.".to_owned()];
        }
        let mut open = Vec::new();
        if self.bundle.record.content.is_none() {
            open.push(
                "what the content says; it is not in this file. Compare its SHA-256 with a copy.".to_owned(),
            );
        }
        let head_hash = &self.bundle.tree_head.head_hash;
        open.extend(left_open(self.given(), Subject::Proof, self.whole(), head_hash));
        match self.verdict.signature {
            SignatureStatus::Unsigned => open.push("who sealed it; the head is not signed.".to_owned()),
            SignatureStatus::UnknownKey => {
                open.push(
                    "who sealed it; the signature is by a key that was not given with --key.".to_owned(),
                );
            }
            SignatureStatus::Valid | SignatureStatus::Invalid => {}
        }
        open.push("that what the record says is true.".to_owned());
        open
    }
}

fn leads(fits: bool) -> &'static str {
    if fits { "leads" } else { "does not lead" }
}
