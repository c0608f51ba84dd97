//! `package.yaml`: what packages say of a program, and a catalogue does not know.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::platform::Platform;

/// The description of a program, as a person writes it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// The name of every package.
    pub name: String,
    /// The program's file.
    pub command: String,
    /// The name that people read.
    pub title: String,
    /// One sentence of at most 100 characters.
    pub summary: String,
    /// A paragraph or two.
    pub description: String,
    pub homepage: String,
    /// The address of the source, without `.git`.
    pub repository: String,
    pub documentation: String,
    /// The first one answers for the packages.
    pub authors: Vec<Author>,
    /// An SPDX expression.
    pub license: String,
    pub keywords: Vec<String>,
    /// The crate's name.
    #[serde(rename = "crate")]
    pub crate_name: String,
    /// Whether the program has the commands `man DIR` and `completions SHELL`, whose files packages carry.
    #[serde(default)]
    pub manuals: bool,
    pub platforms: Vec<Platform>,
    /// Which packages there are.
    pub forms: Vec<Form>,
    /// What is said of an MCP server; absent for another program.
    pub server: Option<ServerPart>,
}

/// A person or a group.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Author {
    pub name: String,
    pub email: String,
}

/// What is said of an MCP server alone.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerPart {
    /// The server's name in the MCP registry: `io.github.OWNER/NAME` for a repository on GitHub.
    pub registry: String,
    /// The container image, without a tag.
    pub image: String,
    /// The settings that hosts ask for.
    #[serde(default)]
    pub settings: Vec<Setting>,
}

/// A setting: an environment variable.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    pub name: String,
    pub title: String,
    pub description: String,
    #[serde(default)]
    pub format: Format,
    /// Its value in a bundle, unless the user chooses another one; `${HOME}` is the user's folder.
    pub default: String,
    /// Its value in a container.
    pub container: String,
}

/// What a setting's value is, in the words of the MCP registry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    #[default]
    String,
    Number,
    Boolean,
    Filepath,
}

/// A form of package.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    Npm,
    Wheel,
    Deb,
    Mcpb,
    Brew,
    Binstall,
    Container,
    Registry,
}

impl Form {
    /// Whether the form is for MCP servers alone.
    fn needs_server(self) -> bool {
        matches!(self, Self::Mcpb | Self::Container | Self::Registry)
    }
}

/// The longest summary, and the longest title, that the MCP registry takes.
const MAX_SUMMARY: usize = 100;

/// Reads a description.
///
/// # Errors
/// The file cannot be read, or what is wrong with it: file, place and remedy.
pub fn read(path: &Path) -> Result<Description, String> {
    let wrong = |reason: String| format!("{}: {reason}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| {
        wrong(format!("{error}; --description names the file that describes the program"))
    })?;
    let description: Description = serde_yaml::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    check(&description).map_err(wrong)?;
    Ok(description)
}

fn check(description: &Description) -> Result<(), String> {
    let plain = |name: &str| {
        !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
            && name.starts_with(|first: char| first.is_ascii_lowercase())
    };
    for (key, name) in [("name", &description.name), ("command", &description.command)] {
        if !plain(name) {
            return Err(format!(
                "`{key}` is `{name}`; packagers take lower-case letters, digits and hyphens, a letter first"
            ));
        }
    }
    for (key, text) in [("summary", &description.summary), ("title", &description.title)] {
        if text.is_empty() || text.chars().count() > MAX_SUMMARY || text.contains('\n') {
            return Err(format!("`{key}` must be one line of 1 to {MAX_SUMMARY} characters"));
        }
    }
    for (key, address) in [
        ("homepage", &description.homepage),
        ("repository", &description.repository),
        ("documentation", &description.documentation),
    ] {
        if !address.starts_with("https://") || address.contains(char::is_whitespace) {
            return Err(format!("`{key}` is `{address}`; write an address that begins with https://"));
        }
    }
    if description.authors.is_empty() || description.platforms.is_empty() || description.forms.is_empty() {
        return Err("`authors`, `platforms` and `forms` must each have an entry".to_owned());
    }
    match &description.server {
        Some(server) => check_server(server, &description.repository),
        None => match description.forms.iter().find(|form| form.needs_server()) {
            Some(form) => {
                Err(format!("the form {form:?} is for MCP servers; add `server`, or leave the form out"))
            }
            None => Ok(()),
        },
    }
}

fn check_server(server: &ServerPart, repository: &str) -> Result<(), String> {
    let Some((space, name)) = server.registry.split_once('/') else {
        return Err(format!(
            "`server.registry` is `{}`; write it as `io.github.OWNER/NAME`",
            server.registry
        ));
    };
    let owner = repository.strip_prefix("https://github.com/").and_then(|rest| rest.split('/').next());
    if name.is_empty() || name.contains('/') {
        return Err(format!(
            "`server.registry` is `{}`; it must have one slash before the name",
            server.registry
        ));
    }
    match (space.strip_prefix("io.github."), owner) {
        (Some(named), Some(owner)) if !named.eq_ignore_ascii_case(owner) => Err(format!(
            "`server.registry` names the owner {named}, and `repository` is {owner}'s; the registry takes the owner's name only"
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;

    const SOUND: &str = "
name: notes-mcp
command: notes
title: Notes
summary: Keeps notes.
description: Keeps notes.
homepage: https://example.org
repository: https://github.com/someone/notes
documentation: https://example.org/docs
authors: [{ name: Someone, email: someone@example.org }]
license: MIT
keywords: [mcp]
crate: notes
platforms: [linux-x64]
forms: [npm]
server: { registry: io.github.someone/notes, image: ghcr.io/someone/notes }
";

    fn wrong(from: &str, to: &str) -> String {
        assert!(SOUND.contains(from), "{from}");
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("package.yaml");
        std::fs::write(&path, SOUND.replace(from, to)).expect("a file");
        read(&path).err().unwrap_or_default()
    }

    #[test]
    fn a_sound_description_is_read_and_a_wrong_one_is_explained() {
        assert_eq!(wrong("notes-mcp", "notes-mcp"), "");
        for (from, to, says) in [
            ("notes-mcp", "Notes MCP", "`name` is `Notes MCP`"),
            ("summary: Keeps notes.", "summary: ''", "`summary` must be one line"),
            ("https://example.org\n", "example.org\n", "`homepage` is `example.org`"),
            ("platforms: [linux-x64]", "platforms: [linux-x86]", "unknown variant `linux-x86`"),
            ("license: MIT", "licence: MIT", "unknown field `licence`"),
            ("forms: [npm]", "forms: []", "must each have an entry"),
            ("io.github.someone/notes", "notes", "write it as `io.github.OWNER/NAME`"),
            ("io.github.someone/", "io.github.another/", "the registry takes the owner's name only"),
            ("server: {", "unknown: {", "unknown field `unknown`"),
        ] {
            let said = wrong(from, to);
            assert!(said.contains(says) && said.contains("package.yaml: "), "{to}: {said}");
        }
        let without = SOUND.split("server:").next().unwrap_or_default().replace("[npm]", "[npm, mcpb]");
        let description: Description = serde_yaml::from_str(&without).expect("a description");
        assert!(check(&description).is_err_and(|said| said.contains("Mcpb is for MCP servers")));
    }
}
