//! `colibri doctor`: whether this set-up is sound, and what to do if not. What a start checks, too, is in
//! [`preflight`](crate::lifecycle::preflight); only doctor goes on to all that the database holds. It changes nothing, and none
//! of its advice destroys anything.

mod content;
mod database;
mod shared;
mod wraps;

use std::io::Write;

use colibri_runtime::kernel::SystemClock;
use colibri_visible::printable;
use serde::Serialize;

use super::Failure;
use super::work::Work;
use crate::cli::output::{Visible, print_json};
use crate::cli::views::{Screen, Style};
use crate::domains::proof::keyring::Keyring;
use crate::lifecycle::preflight::{Finding, Level, consensus, keys, process, router, skills};
use crate::settings::config::{Config, load_config};
use crate::settings::environment::Environment;

/// The report as JSON.
#[derive(Serialize)]
struct Report<'a> {
    ok: bool,
    findings: &'a [Finding],
}

/// Runs all checks and prints them; [`Failure::Finding`] if one failed.
pub fn run(
    json: bool,
    env: &Environment,
    screen: Screen,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<(), Failure> {
    let (config, mut findings) = configuration(env);
    if let Some(config) = config {
        if let Some(finding) = process::check(&SystemClock::default()) {
            findings.push(finding);
            return report(&findings, json, screen, out);
        }
        // It takes a few of the file descriptors that were counted above.
        let mut work = Work::begin("doctor", err, false);
        findings.extend(process::file_size());
        let keyring = Keyring::load(&config);
        findings.extend(keys::check(&config, &keyring));
        findings.extend(database::check(&config, keyring.unwrap_or_default().trusted_keys(), &mut work));
        findings.extend(skills::check(&config));
        findings.extend(consensus::check(&config));
        findings.extend(router::check(&config));
        work.settle(Ok(()))?;
    }
    report(&findings, json, screen, out)
}

fn report(findings: &[Finding], json: bool, screen: Screen, out: &mut dyn Write) -> Result<(), Failure> {
    let ok = findings.iter().all(|finding| finding.level != Level::Fail);
    if json {
        let report = Report { ok, findings };
        print_json(&mut Visible(&mut *out), &report)?;
    } else {
        print(findings, screen, out)?;
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

/// Prints the findings. Every text is made printable here, since colours must pass.
fn print(findings: &[Finding], screen: Screen, out: &mut dyn Write) -> std::io::Result<()> {
    let width = findings.iter().map(|finding| finding.check.len()).max().unwrap_or(0);
    for Finding { level, check, message, advice } in findings {
        let (level, style) = match level {
            Level::Ok => ("ok", Style::Green),
            Level::Warn => ("warn", Style::Yellow),
            Level::Fail => ("fail", Style::Red),
        };
        let level = style.paint(&format!("{level:4}"), screen);
        writeln!(out, "{level}  {check:width$}  {}", printable(message))?;
        if let Some(advice) = advice {
            writeln!(out, "      {:width$}  -> {}", "", printable(advice))?;
        }
    }
    Ok(())
}
