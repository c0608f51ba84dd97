//! The skills that a start indexes, and why it leaves files out.

use std::path::Path;

use super::Finding;
use crate::domains::skills::{MAX_FILES, PREFIX, Reason, Scan, SkillError, scan};
use crate::settings::config::Config;
use crate::settings::keys::SKILLS_ROOT;
use crate::settings::mode::capabilities_for;

const CHECK: &str = "skills";

/// Examines the configured root. Modes that do not write the database do not read it either.
pub fn check(config: &Config) -> Vec<Finding> {
    match capabilities_for(config.mode).write_database {
        true => findings(&scan(&config.skills_root, PREFIX), config.skills_root_is_set),
        false => Vec::new(),
    }
}

/// Judges a scan: first the whole, then each file that is left out. `asked_for` says that the operator has named the root, and so
/// expects skills there.
pub fn findings(found: &Scan, asked_for: bool) -> Vec<Finding> {
    let mut findings = vec![whole(found, asked_for)];
    findings.extend(found.skipped.iter().map(left_out));
    if found.left_out > 0 {
        let message = format!("{} directories of {} are skipped", found.left_out, found.root.display());
        let advice = format!("keep at most {MAX_FILES} skills in one root");
        findings.push(Finding::warn(CHECK, message, advice));
    }
    findings
}

fn whole(found: &Scan, asked_for: bool) -> Finding {
    let (root, good) = (found.root.display(), found.skills.len());
    let left_out = found.skipped.len() + found.left_out;
    if let Some(reason) = &found.unreadable {
        if !asked_for && !found.root.exists() {
            return Finding::ok(CHECK, format!("no skills: there is no folder {root} (this is fine)"));
        }
        let advice = format!("{}; the server works without skills", where_to());
        return Finding::warn(CHECK, format!("{root} cannot be read: {reason}"), advice);
    }
    let skills = if good == 1 { "skill" } else { "skills" };
    match (good, left_out) {
        (0, 0) if asked_for => Finding::warn(CHECK, format!("no valid skills in {root}"), where_to()),
        (0, 0) => Finding::ok(CHECK, format!("no skills in {root} (this is fine)")),
        (_, 0) => Finding::ok(CHECK, format!("{good} {skills} from {root}")),
        _ => Finding::warn(
            CHECK,
            format!("{good} {skills} from {root}, {left_out} left out"),
            "correct each of them as its line says, then restart the server",
        ),
    }
}

/// Names the roots of stored skills whose folder is gone. The folder may be on a disk that is not mounted now, so
/// doctor removes nothing.
pub fn gone(roots: &[String]) -> Vec<Finding> {
    let gone = roots.iter().filter(|root| !root.is_empty() && !Path::new(root).exists());
    gone.map(|root| {
        Finding::ok(CHECK, format!("the folder {root} of stored skills is gone; its skills stay stored"))
    })
    .collect()
}

fn where_to() -> String {
    format!(
        "put each skill into <root>/{PREFIX}NAME/SKILL.md, or set {} to the directory that has them",
        SKILLS_ROOT.name
    )
}

fn left_out(error: &SkillError) -> Finding {
    Finding::warn(CHECK, error.to_string(), advice(error.reason))
}

/// Returns what to do about it; `docs/guide/skills.md` says more.
fn advice(reason: Reason) -> &'static str {
    match reason {
        Reason::ReadFailed => "make it a regular file below the root that this user can read",
        Reason::TooLarge => "move long text into files beside it, under references/",
        Reason::NotUtf8 => "save the file as UTF-8",
        Reason::MissingFrontmatter => {
            "begin the file with a line `---`, then name and description, then `---`"
        }
        Reason::UnsupportedFrontmatter => {
            "write the front matter in YAML, and nothing after the `---` of line 1"
        }
        Reason::UnterminatedFrontmatter => "close the front matter with a line `---` of its own",
        Reason::YamlSyntax => {
            "write plain YAML: quote values that hold `: ` or ` #`, and use no anchors or tags"
        }
        Reason::NotAMapping => "write the front matter as `key: value` lines",
        Reason::SchemaInvalid => "change the keys that are named; quote values that must be text",
        Reason::NameMismatch => "rename the directory or change the name, so that they are equal",
    }
}
