//! `server.json`, the entry in the MCP registry.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::description::{Form, Setting};
use super::release::{File, Release};

const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

/// `server.json`; a bundle is in it when its hash is known, which the registry asks for.
pub fn files(release: &Release) -> Vec<File> {
    let Some((part, server)) = release.served() else { return Vec::new() };
    let environment: Vec<_> = part.settings.iter().map(variable).collect();
    let mut packages = Vec::new();
    for form in &release.forms {
        let named = |kind: &str, name: &str| {
            json!({
                "registryType": kind, "identifier": name, "version": release.version, "transport": { "type": "stdio" },
                "environmentVariables": environment,
            })
        };
        match form {
            Form::Npm => packages.push(named("npm", &release.name)),
            Form::Wheel => packages.push(named("pypi", &release.name)),
            Form::Binstall => packages.push(named("cargo", &release.crate_name)),
            Form::Container => packages.push(json!({
                "registryType": "oci", "identifier": format!("{}:{}", part.image, release.version), "transport": { "type": "stdio" },
            })),
            Form::Mcpb => packages.extend(bundles(release)),
            Form::Deb | Form::Brew | Form::Registry => {}
        }
    }
    let source = if release.repository.starts_with("https://gitlab.com/") { "gitlab" } else { "github" };
    let entry = json!({
        "$schema": SCHEMA,
        "name": part.registry,
        "title": release.title,
        "description": release.summary,
        "version": release.version,
        "websiteUrl": release.homepage,
        "repository": { "url": release.repository, "source": source },
        "packages": packages,
        "_meta": {
            "io.modelcontextprotocol.registry/publisher-provided": {
                "catalogue": { "sha256": server.hash, "tools": server.tools.len() },
            },
        },
    });
    vec![(PathBuf::from("server.json"), format!("{entry:#}\n"))]
}

fn variable(setting: &Setting) -> Value {
    json!({ "name": setting.name, "description": setting.description, "format": setting.format, "isRequired": false })
}

fn bundles(release: &Release) -> Vec<Value> {
    let bundle = |file: String| {
        let hash = release.sums.of(&file)?;
        Some(json!({
            "registryType": "mcpb", "identifier": release.address(&file), "fileSha256": hash,
            "transport": { "type": "stdio" },
        }))
    };
    release.platforms.iter().filter_map(|platform| bundle(release.bundle(*platform))).collect()
}
