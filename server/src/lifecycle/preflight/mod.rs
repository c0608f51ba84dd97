//! What a start checks: `colibri doctor` runs the same functions, so that the two say the same in the same words. A start ends
//! with the message of what keeps it from serving, and logs what only degrades it; doctor prints both with their remedies.
//! Nothing here changes a file.

pub(crate) mod consensus;
pub(crate) mod database;
pub(crate) mod epochs;
pub(crate) mod keys;
pub(crate) mod process;
pub(crate) mod router;
pub(crate) mod skills;

use colibri_runtime::chain::log::{self, Log};
use serde::Serialize;

use crate::settings::config::Config;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    /// As it should be.
    Ok,
    /// Worth knowing; the server works.
    Warn,
    /// The server or a part of it does not work, or the data is not sound.
    Fail,
}

/// What one check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    /// How bad it is.
    pub level: Level,
    /// The check.
    pub check: &'static str,
    /// What is so, or what is wrong and where.
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

impl Finding {
    /// Nothing is wrong.
    pub(crate) fn ok(check: &'static str, message: impl Into<String>) -> Self {
        Self { level: Level::Ok, check, message: message.into(), advice: None }
    }

    /// Something is worth knowing.
    pub(crate) fn warn(check: &'static str, message: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { level: Level::Warn, check, message: message.into(), advice: Some(advice.into()) }
    }

    /// Something does not work or is not sound.
    pub(crate) fn fail(check: &'static str, message: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { level: Level::Fail, check, message: message.into(), advice: Some(advice.into()) }
    }

    /// Returns the finding as one line, for the log.
    fn line(&self) -> String {
        match &self.advice {
            Some(advice) => format!("[Startup] {} -> {advice}", self.message),
            None => format!("[Startup] {}", self.message),
        }
    }
}

/// Returns what leaves a server with this configuration working in part.
pub(crate) fn degraded(config: &Config) -> Vec<Finding> {
    let mut findings = process::file_size();
    findings.extend(config.place.file().and_then(database::file_system));
    findings.extend(consensus::check(config));
    findings.extend(router::providers(config));
    findings.retain(|finding| finding.level != Level::Ok);
    findings
}

/// Logs what a start has found: what is wrong as warnings, the rest as information.
pub(crate) fn report<'a>(findings: impl IntoIterator<Item = &'a Finding>, log: &dyn Log) {
    for finding in findings {
        let level = if finding.level == Level::Ok { log::Level::Info } else { log::Level::Warn };
        log.write(level, &finding.line());
    }
}
