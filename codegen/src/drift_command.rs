//! `colibri-codegen drift`: the gate of `colibri-drift` on a catalogue and its history in git, or on two files.

use std::path::{Path, PathBuf};

use clap::Args;
use colibri_codegen::catalogue::{self, Catalogue};
use colibri_codegen::lock;
use colibri_drift::command::{Files, Form, Settings, Task};
use colibri_drift::config::{self, Config};
use colibri_drift::git::{self, Repository};
use colibri_drift::report::{Location, Names};
use colibri_drift::{Finding, Snapshot, Unreadable, Waiver, from_lock, from_tools_list};

use crate::{Failure, load, print, say};

/// What to compare, and how to say it.
#[derive(Args)]
#[command(after_help = "Examples:
  colibri-codegen drift
  colibri-codegen drift catalogue --base v1.2.0 --format markdown
  colibri-codegen drift --locks old.lock.json new.lock.json
  colibri-codegen drift --from-tools-list old.json new.json --format json

Exit codes: 0 no client breaks, 1 findings that block, 2 bad command line or unreadable input.")]
pub struct Arguments {
    /// The catalogue's folder; or two lock files, which is short for --locks.
    #[arg(value_name = "DIR", num_args = 0..=2)]
    paths: Vec<PathBuf>,
    /// Compare with this commit, instead of the merge base with the default branch (on that branch: the
    /// parent commit).
    #[arg(long, value_name = "REV", conflicts_with_all = ["locks", "from_tools_list", "config", "waivers"])]
    base: Option<String>,
    /// Compare two lock files.
    #[arg(long, num_args = 2, value_names = ["OLD", "NEW"], conflicts_with_all = ["paths", "from_tools_list"])]
    locks: Option<Vec<PathBuf>>,
    /// Compare two answers of a server: `tools/list`, and `initialize` if it is there.
    #[arg(long, num_args = 2, value_names = ["OLD", "NEW"], conflicts_with = "paths")]
    from_tools_list: Option<Vec<PathBuf>>,
    #[command(flatten)]
    settings: Settings,
    #[command(flatten)]
    form: Form,
}

/// Runs the gate. Blocking findings go to stdout, like every result.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let (task, catalogue) = match (&arguments.locks, &arguments.from_tools_list, arguments.paths.as_slice()) {
        (Some(files), _, _) => (of_files(files, &from_lock, arguments)?, None),
        (_, Some(files), _) => (of_files(files, &from_tools_list, arguments)?, None),
        (_, _, files @ [_, _]) if arguments.base.is_none() => (of_files(files, &from_lock, arguments)?, None),
        (_, _, [_, _]) => return Err(unusable("--base goes with one folder, not with two files")),
        (_, _, paths) if !arguments.settings.are_named() => {
            let folder = paths.first().map_or(Path::new("catalogue"), PathBuf::as_path);
            let catalogue = load(folder)?;
            match of_history(folder, &catalogue, arguments.base.as_deref())? {
                Some(task) => (task, Some(catalogue)),
                None => return Ok(()),
            }
        }
        _ => {
            return Err(unusable(
                "--waivers and --config go with two files; a catalogue has its own below `drift:`",
            ));
        }
    };
    let verdict = task.judge();
    let place = |finding: &Finding| place(catalogue.as_ref()?, finding);
    print(&arguments.form.report(&verdict, &task.names, &place))?;
    if verdict.passes() { Ok(()) } else { Err(Failure::Reported) }
}

type Parse = dyn Fn(&str) -> Result<Snapshot, Unreadable>;

fn of_files(files: &[PathBuf], parse: &Parse, arguments: &Arguments) -> Result<Task, Failure> {
    let [old, new] = files else { return Err(unusable("name two files, the old one and the new one")) };
    Files { old, new, settings: &arguments.settings }.read(parse).map_err(Failure::Unusable)
}

/// Returns the catalogue as it is, and as its base has it. If there is no base, says so and returns `None`.
fn of_history(folder: &Path, catalogue: &Catalogue, revision: Option<&str>) -> Result<Option<Task>, Failure> {
    let text = lock(catalogue)?;
    let failed = |error: git::GitError| unusable(&error.to_string());
    let repository = Repository::of(folder).map_err(failed)?;
    let Some(base) = repository.base(revision).map_err(failed)? else {
        say("nothing to compare with: there is no commit yet");
        return Ok(None);
    };
    let Some(state) = repository.state(&base.commit).map_err(failed)? else {
        say(&format!("nothing to compare with: {} has no {}", base.name(), git::LOCK));
        return Ok(None);
    };
    let parse = |text: &str, whose: &str| {
        from_lock(text).map_err(|error| unusable(&format!("the lock of {whose}: {error}")))
    };
    let head = folder.join("catalogue.yaml").display().to_string();
    let names = Names {
        old: base.name(),
        new: folder.display().to_string(),
        version: Some(head.clone()),
        waivers: Some(head),
        below_drift: true,
    };
    let config = config(catalogue)?;
    let touched = text.trim_end() != state.lock.trim_end() || config.waivers != state.waivers;
    let (old, new) = (parse(&state.lock, &base.name())?, parse(&text, "this catalogue")?);
    Ok(Some(Task { old, new, config, touched, names }))
}

/// Returns what the catalogue's `drift:` decides.
fn config(catalogue: &Catalogue) -> Result<Config, Failure> {
    let drift = &catalogue.head.drift;
    let waivers = drift.waivers.iter().cloned().map(|waiver| Waiver {
        rule: waiver.rule,
        fingerprint: Some(waiver.fingerprint),
        reason: waiver.reason,
        until: waiver.until,
        ..Waiver::default()
    });
    let mut config = Config {
        fail_on: drift.fail_on.map_or_else(Default::default, fail_on),
        profile: drift.profile.map_or_else(Default::default, profile),
        waivers: waivers.collect(),
        today: Some(config::today()),
        ..Config::default()
    };
    for (name, set) in &drift.rules {
        config.rules.set(name, setting(*set)).map_err(|error| {
            let place = catalogue.head_place().child("drift").child("rules").child(name.as_str());
            let at = catalogue.locate(&place);
            unusable(&format!("{}:{}:{}: {error}", at.path.display(), at.line, at.column))
        })?;
    }
    Ok(config)
}

const fn fail_on(stated: catalogue::FailOn) -> config::FailOn {
    match stated {
        catalogue::FailOn::Break => config::FailOn::Break,
        catalogue::FailOn::Ack => config::FailOn::Ack,
        catalogue::FailOn::Never => config::FailOn::Never,
    }
}

const fn profile(stated: catalogue::DriftProfile) -> config::Profile {
    match stated {
        catalogue::DriftProfile::Strict => config::Profile::Strict,
        catalogue::DriftProfile::Default => config::Profile::Default,
        catalogue::DriftProfile::Lenient => config::Profile::Lenient,
    }
}

const fn setting(stated: catalogue::RuleSetting) -> config::Setting {
    match stated {
        catalogue::RuleSetting::Off => config::Setting::Off,
        catalogue::RuleSetting::Info => config::Setting::Info,
        catalogue::RuleSetting::Ack => config::Setting::Ack,
        catalogue::RuleSetting::Break => config::Setting::Break,
    }
}

/// Returns where a finding belongs: its tool's entry, or the head.
fn place(catalogue: &Catalogue, finding: &Finding) -> Option<Location> {
    let entry =
        finding.tool.as_ref().and_then(|name| catalogue.tools().find(|entry| &entry.tool.name == name));
    // A removed tool has no entry.
    let at = catalogue.locate(&entry.map_or_else(|| catalogue.head_place(), |entry| entry.place));
    Some(Location { path: at.path, line: at.line, column: at.column })
}

fn unusable(message: &str) -> Failure {
    Failure::Unusable(message.to_owned())
}
