//! What is packaged: a description, a version, a catalogue's tools, and the hashes of archives that are built already.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::path::PathBuf;

use colibri_codegen::catalogue::{Catalogue, Finding};
use colibri_codegen::lock;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::description::{Description, ServerPart};
use super::platform::Platform;

/// A file's path below the output folder, and its text.
pub type File = (PathBuf, String);

/// A release of a program.
pub struct Release {
    description: Description,
    /// What the catalogue says, if the program is an MCP server.
    pub server: Option<Server>,
    pub version: String,
    pub sums: Sums,
}

impl Deref for Release {
    type Target = Description;

    fn deref(&self) -> &Description {
        &self.description
    }
}

/// What a catalogue says.
pub struct Server {
    version: String,
    /// Name and description of each tool that clients see.
    pub tools: Vec<(String, String)>,
    /// The SHA-256 of its lock file.
    pub hash: String,
}

impl Server {
    /// Reads a catalogue.
    pub fn of(catalogue: &Catalogue) -> Result<Self, Vec<Finding>> {
        let lock = lock(catalogue)?;
        let hash = Sha256::digest(lock.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        let lock: Value = serde_json::from_str(&lock).unwrap_or_default();
        let text = |tool: &Value, key: &str| tool[key].as_str().unwrap_or_default().to_owned();
        // Clients do not see what only an operator runs.
        let seen = |tool: &&Value| tool.get("operator").is_none();
        let tools = lock["tools"].as_array().into_iter().flatten().filter(seen);
        let tools = tools.map(|tool| (text(tool, "name"), text(tool, "description"))).collect();
        Ok(Self { version: catalogue.head.version.clone(), tools, hash })
    }
}

impl Release {
    /// Puts a release together.
    pub fn new(
        description: Description,
        server: Option<Server>,
        version: Option<&str>,
        sums: Sums,
    ) -> Result<Self, String> {
        let own = server.as_ref().map(|server| server.version.as_str());
        let version = match (version, own) {
            (Some(asked), Some(own)) if asked != own => {
                return Err(format!(
                    "--release is {asked}, and the catalogue's version is {own}; they must be the same"
                ));
            }
            (Some(version), _) | (None, Some(version)) => version.to_owned(),
            (None, None) => return Err("a program without a catalogue needs --release VERSION".to_owned()),
        };
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b".-+".contains(&byte);
        if !version.starts_with(|first: char| first.is_ascii_digit()) || !version.bytes().all(allowed) {
            return Err(format!("`{version}` is not a version; write it as 1.2.3"));
        }
        Ok(Self { description, server, version, sums })
    }

    /// Returns the archive's name for a platform.
    pub fn archive(&self, platform: Platform) -> String {
        format!("{}-{}-{}.tar.gz", self.name, self.version, platform.names().target)
    }

    /// Returns the name of a desktop host's bundle for a platform.
    pub fn bundle(&self, platform: Platform) -> String {
        format!("{}-{}-{}.mcpb", self.name, self.version, platform.names().id)
    }

    /// Returns where a file of the release can be had.
    pub fn address(&self, file: &str) -> String {
        format!("{}/releases/download/v{}/{file}", self.repository, self.version)
    }

    /// Returns the first author, who answers for the packages, as `Name <address>`.
    pub fn maintainer(&self) -> String {
        let author = &self.authors[0];
        format!("{} <{}>", author.name, author.email)
    }

    /// Returns the description's part of an MCP server, with what its catalogue says.
    pub fn served(&self) -> Option<(&ServerPart, &Server)> {
        Some((self.description.server.as_ref()?, self.server.as_ref()?))
    }
}

/// Hashes by file name, as `sha256sum` prints them.
#[derive(Default)]
pub struct Sums(BTreeMap<String, String>);

impl Sums {
    /// Parses lines of `HASH  NAME`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let line = |(index, line): (usize, &str)| {
            let (hash, name) = line.split_once("  ").unwrap_or_default();
            let sound = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
            match sound && !name.is_empty() {
                true => Ok((name.to_owned(), hash.to_ascii_lowercase())),
                false => Err(format!("line {} is not `HASH  NAME` as sha256sum prints it", index + 1)),
            }
        };
        text.lines().enumerate().map(line).collect::<Result<_, _>>().map(Self)
    }

    /// Returns a file's hash.
    pub fn of(&self, file: &str) -> Option<&str> {
        self.0.get(file).map(String::as_str)
    }
}
