//! The page that a registry shows of a package.

use super::release::Release;

/// Returns the page, which tells how to run the program that was `installed` in this way.
pub fn page(release: &Release, installed: &str) -> String {
    let name = release
        .served()
        // The MCP registry looks for this line before it believes that a package is the server's.
        .map(|(part, _)| format!("\nIts name in the MCP registry is\n\n`mcp-name: {}`\n", part.registry))
        .unwrap_or_default();
    format!(
        "# {title}\n\n{summary}\n\n{description}\n\n```sh\n{installed}\n```\n\n[Documentation]({documentation}) · [Source]({repository})\n{name}",
        title = release.title,
        summary = release.summary,
        description = release.description.trim(),
        documentation = release.documentation,
        repository = release.repository,
    )
}
