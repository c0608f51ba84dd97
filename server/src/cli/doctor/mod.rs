//! `colibri doctor`: is this set-up sound, and what to do about what is not. It changes nothing, and
//! none of its advice destroys anything.

mod consensus;
mod database;
mod router;
mod skills;

use std::io::Write;

use serde::Serialize;

use super::Failure;
use crate::lifecycle::config::{Config, load_config};
use crate::lifecycle::environment::Environment;

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

/// Runs all checks and prints them; [`Failure::Finding`] when one failed.
pub fn run(json: bool, env: &Environment, out: &mut dyn Write) -> Result<(), Failure> {
    let (config, mut findings) = configuration(env);
    if let Some(config) = config {
        findings.extend(database::check(&config));
        findings.extend(skills::check(&config));
        findings.extend(consensus::check(&config));
        findings.extend(router::check(&config));
    }
    let ok = findings.iter().all(|finding| finding.level != Level::Fail);
    if json {
        let report = Report { ok, findings: &findings };
        serde_json::to_writer_pretty(&mut *out, &report).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        print(&findings, out)?;
    }
    out.flush()?;
    if ok { Ok(()) } else { Err(Failure::Finding) }
}

/// Every problem and warning of the environment, and the configuration if there is one.
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

fn print(findings: &[Finding], out: &mut dyn Write) -> std::io::Result<()> {
    let width = findings.iter().map(|finding| finding.check.len()).max().unwrap_or(0);
    for Finding { level, check, message, advice } in findings {
        let level = match level {
            Level::Ok => "ok",
            Level::Warn => "warn",
            Level::Fail => "fail",
        };
        writeln!(out, "{level:4}  {check:width$}  {message}")?;
        if let Some(advice) = advice {
            writeln!(out, "      {:width$}  -> {advice}", "")?;
        }
    }
    Ok(())
}
