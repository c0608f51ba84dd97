//! A new project: a server with one tool, which its author goes on from.

use std::path::{Path, PathBuf};

use crate::ir::names::{pascal, snake};

/// Where a project gets the compiler and the runtime from.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a> {
    /// The registry, in this crate's version.
    Registry,
    /// A checkout of the repository.
    Checkout(&'a Path),
}

/// Names that cargo or the language keep for themselves, or that the project has for something else.
const RESERVED: [&str; 8] =
    ["build", "core", "deps", "examples", "incremental", "std", "test", "colibri-runtime"];
const CHAIN: &str = include_str!("import/chain.yaml");
const FILES: [(&str, &str); 6] = [
    ("Cargo.toml", include_str!("project/Cargo.toml.in")),
    ("README.md", include_str!("project/README.md.in")),
    ("build.rs", include_str!("project/build.rs.in")),
    ("catalogue/catalogue.yaml", include_str!("project/catalogue.yaml.in")),
    ("catalogue/tools/{domain}.yaml", include_str!("project/tools.yaml.in")),
    ("src/main.rs", include_str!("project/main.rs.in")),
];

/// Returns the files of a project: path below its folder, text.
///
/// ```
/// use colibri_codegen::project::{Source, files};
///
/// let files = files("first-server", Source::Registry)?;
/// assert!(files.iter().any(|(path, _)| path.ends_with("catalogue/tools/first_server.yaml")));
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
/// The name cannot be a package's.
pub fn files(name: &str, source: Source<'_>) -> Result<Vec<(PathBuf, String)>, String> {
    let letters = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_');
    if !letters || !name.starts_with(|first: char| first.is_ascii_lowercase()) {
        return Err(format!(
            "`{name}` cannot be a project's name; write lower-case letters, digits, `-` and `_`, with a letter first"
        ));
    }
    if RESERVED.contains(&name) || syn::parse_str::<syn::Ident>(&snake(name)).is_err() {
        return Err(format!("`{name}` has a meaning of its own in Rust or Cargo; take another name"));
    }
    let domain = snake(name);
    let made_trait = format!("{}Tools", pascal(name));
    let values = [
        ("{name}", name.to_owned()),
        ("{title}", title(&domain)),
        ("{domain}", domain),
        ("{trait}", made_trait),
        ("{runtime}", dependency(source, "codegen/runtime", "")),
        ("{codegen}", dependency(source, "codegen", ", default-features = false")),
    ];
    let fill =
        |text: &str| values.iter().fold(text.to_owned(), |text, (place, value)| text.replace(place, value));
    Ok(FILES
        .into_iter()
        .map(|(path, text)| {
            let more = if path == "catalogue/catalogue.yaml" { CHAIN } else { "" };
            (PathBuf::from(fill(path)), format!("{}{more}", fill(text)))
        })
        .collect())
}

fn title(domain: &str) -> String {
    let words = domain.replace('_', " ");
    let mut letters = words.chars();
    letters.next().map(|first| first.to_ascii_uppercase().to_string() + letters.as_str()).unwrap_or_default()
}

fn dependency(source: Source<'_>, folder: &str, features: &str) -> String {
    match source {
        Source::Registry => format!("{{ version = \"{}\"{features} }}", env!("CARGO_PKG_VERSION")),
        Source::Checkout(root) => {
            // A literal string of TOML takes the separators of Windows as they are.
            format!("{{ path = '{}'{features} }}", root.join(folder).display())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_cargo_refuses_are_refused() {
        for name in ["", "Counter", "1st", "a b", "-a", "../a", "test", "fn", "self", "crate"] {
            assert!(files(name, Source::Registry).is_err(), "{name}");
        }
    }

    #[test]
    fn nothing_of_the_template_is_left() {
        for (path, text) in files("first-server", Source::Checkout(Path::new("/c"))).unwrap_or_default() {
            // The chain's texts have places of their own.
            let text = text.strip_suffix(CHAIN).unwrap_or(&text);
            for place in ["{name}", "{title}", "{domain}", "{trait}", "{runtime}", "{codegen}"] {
                assert!(!text.contains(place), "{}: {place}", path.display());
            }
        }
    }
}
