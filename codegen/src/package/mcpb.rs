//! Bundles for desktop hosts (MCPB), one for each platform and architecture: the format knows platforms only, and a bundle that guesses
//! the architecture does not start.

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::description::Format;
use super::release::{File, Release};

/// The version of the manifest's form.
const FORM: &str = "0.3";

/// `mcpb/PLATFORM/manifest.json`. The program goes to `server/`, the picture to `icon.png`.
pub fn files(release: &Release) -> Vec<File> {
    let manifests = release.platforms.iter().map(|platform| {
        let names = platform.names();
        let path = PathBuf::from("mcpb").join(names.id).join("manifest.json");
        (path, format!("{:#}\n", manifest(release, names.os)))
    });
    manifests.collect()
}

fn manifest(release: &Release, os: &str) -> Value {
    let Some((part, server)) = release.served() else { return Value::Null };
    let author = &release.authors[0];
    let program = format!("server/{}", release.command);
    let key = |name: &str| name.to_ascii_lowercase();
    let environment: Map<String, Value> = part
        .settings
        .iter()
        .map(|setting| (setting.name.clone(), json!(format!("${{user_config.{}}}", key(&setting.name)))))
        .collect();
    let asked: Map<String, Value> = part
        .settings
        .iter()
        .map(|setting| {
            // A host's dialogue for a file takes one that exists; the program may make its own.
            let kind = match setting.format {
                Format::String | Format::Filepath => "string",
                Format::Number => "number",
                Format::Boolean => "boolean",
            };
            let question = json!({
                "type": kind, "title": setting.title, "description": setting.description, "required": false,
                "default": setting.default,
            });
            (key(&setting.name), question)
        })
        .collect();
    let tools: Vec<_> = server
        .tools
        .iter()
        .map(|(name, description)| json!({ "name": name, "description": description }))
        .collect();
    json!({
        "manifest_version": FORM,
        "name": release.name,
        "display_name": release.title,
        "version": release.version,
        "description": release.summary,
        "long_description": release.description.trim(),
        "author": { "name": author.name, "email": author.email },
        "repository": { "type": "git", "url": format!("{}.git", release.repository) },
        "homepage": release.homepage,
        "documentation": release.documentation,
        "support": format!("{}/issues", release.repository),
        "icon": "icon.png",
        "server": {
            "type": "binary",
            "entry_point": program,
            "mcp_config": { "command": format!("${{__dirname}}/{program}"), "args": [], "env": environment },
        },
        "tools": tools,
        "keywords": release.keywords,
        "license": release.license,
        "compatibility": { "platforms": [os] },
        "user_config": asked,
    })
}
