//! `colibri-codegen drift`: what is compared, and in which form it is told.

use std::path::{Path, PathBuf};

use clap::Args;
use colibri_codegen::catalogue::{Catalogue, Location, Waiver};
use colibri_codegen::drift::git::{self, Repository};
use colibri_codegen::drift::report::{self, Names};
use colibri_codegen::drift::snapshot::{self, Snapshot, Unreadable};
use colibri_codegen::drift::{Finding, Verdict, judge};
use colibri_codegen::lock;

use crate::{Failure, load, print, say};

/// What to compare, and how to say it.
#[derive(Args)]
#[command(after_help = "Examples:
  colibri-codegen drift
  colibri-codegen drift catalogue --base v1.2.0 --markdown
  colibri-codegen drift --locks old.lock.json new.lock.json
  colibri-codegen drift --from-tools-list old.json new.json --json

Exit codes: 0 no client breaks, 1 findings that block, 2 bad command line or unreadable input.")]
pub struct Arguments {
    /// The catalogue's folder; or two lock files, which is short for --locks.
    #[arg(value_name = "DIR", num_args = 0..=2)]
    paths: Vec<PathBuf>,
    /// Compare with this commit, instead of the merge base with the default branch (on that branch: the
    /// parent commit).
    #[arg(long, value_name = "REV", conflicts_with_all = ["locks", "from_tools_list"])]
    base: Option<String>,
    /// Compare two lock files.
    #[arg(long, num_args = 2, value_names = ["OLD", "NEW"], conflicts_with_all = ["paths", "from_tools_list"])]
    locks: Option<Vec<PathBuf>>,
    /// Compare two answers of a server: `tools/list`, and `initialize` if it is there.
    #[arg(long, num_args = 2, value_names = ["OLD", "NEW"], conflicts_with = "paths")]
    from_tools_list: Option<Vec<PathBuf>>,
    /// A YAML file with `drift: waivers:`, when files are compared.
    #[arg(long, value_name = "FILE", conflicts_with = "base")]
    waivers: Option<PathBuf>,
    /// Print JSON.
    #[arg(long, group = "form")]
    json: bool,
    /// Print Markdown, for a comment of a pull request.
    #[arg(long, group = "form")]
    markdown: bool,
    /// Print GitHub workflow commands, which appear in the diff.
    #[arg(long, group = "form")]
    annotations: bool,
}

/// Two states to judge, and what reports call them.
struct Task {
    old: Snapshot,
    new: Snapshot,
    waivers: Vec<Waiver>,
    touched: bool,
    names: Names,
    catalogue: Option<Catalogue>,
}

/// Runs the gate. Findings that block are told on stdout, like every result.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let task = match (&arguments.locks, &arguments.from_tools_list, arguments.paths.as_slice()) {
        (Some(files), _, _) => of_files(files, &snapshot::from_lock, arguments)?,
        (_, Some(files), _) => of_files(files, &snapshot::from_tools_list, arguments)?,
        (_, _, files @ [_, _]) if arguments.base.is_none() => {
            of_files(files, &snapshot::from_lock, arguments)?
        }
        (_, _, [_, _]) => return Err(unusable("--base goes with one folder, not with two files")),
        (_, _, paths) if arguments.waivers.is_none() => {
            let folder = paths.first().map_or(Path::new("catalogue"), PathBuf::as_path);
            match of_history(folder, arguments.base.as_deref())? {
                Some(task) => task,
                None => return Ok(()),
            }
        }
        _ => return Err(unusable("--waivers goes with two files; a catalogue holds its own")),
    };
    let verdict = judge(&task.old, &task.new, &task.waivers, task.touched);
    print(&told(arguments, &verdict, &task))?;
    if verdict.passes() { Ok(()) } else { Err(Failure::Drift) }
}

fn told(arguments: &Arguments, verdict: &Verdict, task: &Task) -> String {
    if arguments.json {
        // Escaped as JSON before `print` would do it in a way of its own.
        colibri_visible::json(&report::json(verdict, &task.names)).into_owned()
    } else if arguments.markdown {
        report::markdown(verdict, &task.names)
    } else if arguments.annotations {
        report::annotations(verdict, &|finding| place(task.catalogue.as_ref()?, finding))
    } else {
        report::text(verdict, &task.names)
    }
}

type Parse = dyn Fn(&str) -> Result<Snapshot, Unreadable>;

fn of_files(files: &[PathBuf], parse: &Parse, arguments: &Arguments) -> Result<Task, Failure> {
    let [old, new] = files else { return Err(unusable("name two files, the old one and the new one")) };
    let waivers = match &arguments.waivers {
        None => Vec::new(),
        Some(file) => git::waivers(&read(file)?).ok_or_else(|| {
            unusable(&format!("{}: no YAML with `drift:` and `waivers:` in it", file.display()))
        })?,
    };
    let snapshot = |file: &PathBuf| -> Result<Snapshot, Failure> {
        parse(&read(file)?).map_err(|error| unusable(&format!("{}: {error}", file.display())))
    };
    let names = Names {
        old: old.display().to_string(),
        new: new.display().to_string(),
        waivers: arguments.waivers.as_ref().map(|file| file.display().to_string()),
    };
    Ok(Task { old: snapshot(old)?, new: snapshot(new)?, waivers, touched: true, names, catalogue: None })
}

/// The catalogue as it is, and as its base has it. `None`, with a word of it, when there is no base.
fn of_history(folder: &Path, revision: Option<&str>) -> Result<Option<Task>, Failure> {
    let catalogue = load(folder)?;
    let text = lock(&catalogue)?;
    let failed = |error: git::GitError| unusable(&error.to_string());
    let repository = Repository::of(folder).map_err(failed)?;
    let Some(base) = repository.base(revision).map_err(failed)? else {
        say("nothing to compare with: this is the first commit");
        return Ok(None);
    };
    let Some(state) = repository.state(&base.commit).map_err(failed)? else {
        say(&format!("nothing to compare with: {} has no {}", base.name(), git::LOCK));
        return Ok(None);
    };
    let parse = |text: &str, whose: &str| {
        snapshot::from_lock(text).map_err(|error| unusable(&format!("the lock of {whose}: {error}")))
    };
    let names = Names {
        old: base.name(),
        new: folder.display().to_string(),
        waivers: Some(folder.join("catalogue.yaml").display().to_string()),
    };
    let waivers = catalogue.head.drift.waivers.clone();
    let touched = text.trim_end() != state.lock.trim_end() || waivers != state.waivers;
    let (old, new) = (parse(&state.lock, &base.name())?, parse(&text, "this catalogue")?);
    Ok(Some(Task { old, new, waivers, touched, names, catalogue: Some(catalogue) }))
}

/// Where a finding belongs: its tool's entry, or the head.
fn place(catalogue: &Catalogue, finding: &Finding) -> Option<Location> {
    let entry =
        finding.tool.as_ref().and_then(|name| catalogue.tools().find(|entry| &entry.tool.name == name));
    // A tool that is gone has no entry.
    Some(catalogue.locate(&entry.map_or_else(|| catalogue.head_place(), |entry| entry.place)))
}

fn read(file: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(file).map_err(|error| unusable(&format!("{}: {error}", file.display())))
}

fn unusable(message: &str) -> Failure {
    Failure::Unusable(message.to_owned())
}
