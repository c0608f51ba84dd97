//! `colibri doctor`: whether this set-up is sound, and what to do if not. It changes nothing, and
//! none of its advice destroys anything.

mod consensus;
mod content;
mod database;
mod router;
mod shared;
mod skills;

use std::io::Write;

use colibri_runtime::kernel::SystemClock;
use colibri_visible::printable;
use serde::Serialize;

use super::Failure;
use crate::cli::output::print_json;
use crate::domains::proof::keyring::Keyring;
use crate::lifecycle::limits;
use crate::settings::config::{Config, load_config};
use crate::settings::environment::Environment;
use crate::settings::mode::Mode;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    /// As it should be.
    Ok,
    /// Worth knowing; the server works.
    Warn,
    /// The server does not work, or the data is not sound.
    Fail,
}

/// What one check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Finding {
    level: Level,
    check: &'static str,
    message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
}

impl Finding {
    fn ok(check: &'static str, message: impl Into<String>) -> Self {
        Self { level: Level::Ok, check, message: message.into(), advice: None }
    }

    fn warn(check: &'static str, message: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { level: Level::Warn, check, message: message.into(), advice: Some(advice.into()) }
    }

    fn fail(check: &'static str, message: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { level: Level::Fail, check, message: message.into(), advice: Some(advice.into()) }
    }
}

/// The report as JSON.
#[derive(Serialize)]
struct Report<'a> {
    ok: bool,
    findings: &'a [Finding],
}

/// Runs all checks and prints them; [`Failure::Finding`] if one failed.
pub fn run(json: bool, env: &Environment, out: &mut dyn Write) -> Result<(), Failure> {
    let (config, mut findings) = configuration(env);
    if let Some(config) = config {
        if let Err(problem) = limits::check(&SystemClock::default()) {
            findings.push(Finding::fail(
                "process",
                problem,
                "until then no server starts, and doctor checks nothing else",
            ));
            return report(&findings, json, out);
        }
        // The examination loads the keys as a start does.
        let keyring = Keyring::load(&config);
        findings.extend(keys(&config, &keyring));
        findings.extend(database::check(&config, keyring.unwrap_or_default().trusted_keys()));
        findings.extend(skills::check(&config));
        findings.extend(consensus::check(&config));
        findings.extend(router::check(&config));
    }
    report(&findings, json, out)
}

fn report(findings: &[Finding], json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let ok = findings.iter().all(|finding| finding.level != Level::Fail);
    if json {
        let report = Report { ok, findings };
        print_json(out, &report)?;
    } else {
        print(findings, out)?;
    }
    out.flush()?;
    if ok { Ok(()) } else { Err(Failure::Finding) }
}

/// Returns every problem and warning of the environment, and the configuration if it is valid.
fn configuration(env: &Environment) -> (Option<Config>, Vec<Finding>) {
    const CHECK: &str = "configuration";
    let advice = "change or unset the variable; `colibri --help` says what each may be";
    match load_config(env, std::process::id()) {
        Ok((config, warnings)) => {
            let mut findings = vec![Finding::ok(CHECK, format!("mode {}", config.mode))];
            let warnings = warnings.into_iter();
            findings.extend(warnings.map(|text| Finding::warn(CHECK, text, "rename or unset the variable")));
            (Some(config), findings)
        }
        Err(problems) => {
            (None, problems.into_iter().map(|problem| Finding::fail(CHECK, problem, advice)).collect())
        }
    }
}

/// Checks the keys that sign seals and the trusted keys; `None` if none are configured.
fn keys(config: &Config, keyring: &Result<Keyring, String>) -> Option<Finding> {
    const CHECK: &str = "keys";
    match keyring {
        Err(problem) => Some(Finding::fail(
            CHECK,
            problem,
            "name a file of this user with mode 0600 that `colibri keys generate` made, or unset the variable; \
             until then no server starts",
        )),
        Ok(keyring) => keyring
            .signing_key()
            .filter(|_| config.mode != Mode::Minimal)
            .map(|key| Finding::ok(CHECK, format!("seals are signed by key {}", key.key_id()))),
    }
}

fn print(findings: &[Finding], out: &mut dyn Write) -> std::io::Result<()> {
    let width = findings.iter().map(|finding| finding.check.len()).max().unwrap_or(0);
    for Finding { level, check, message, advice } in findings {
        let level = match level {
            Level::Ok => "ok",
            Level::Warn => "warn",
            Level::Fail => "fail",
        };
        writeln!(out, "{level:4}  {check:width$}  {}", printable(message))?;
        if let Some(advice) = advice {
            writeln!(out, "      {:width$}  -> {}", "", printable(advice))?;
        }
    }
    Ok(())
}
