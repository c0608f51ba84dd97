//! npm: a package with a launcher, and one package with the program for each platform. npm installs the one that fits; nothing is
//! downloaded by a script.

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::platform::Platform;
use super::readme::page;
use super::release::{File, Release};

/// The launcher, in which the names stand for those of a release.
const LAUNCHER: &str = include_str!("launcher.js");

/// `npm/NAME` and `npm/NAME-PLATFORM`.
pub fn files(release: &Release) -> Vec<File> {
    let folder = PathBuf::from("npm").join(&release.name);
    let mut files = vec![
        (folder.join("package.json"), text(&main(release))),
        (folder.join("launcher.js"), launcher(release)),
        (folder.join("README.md"), page(release, &format!("npx {} --help", release.name))),
    ];
    for platform in &release.platforms {
        let name = package(release, *platform);
        let folder = PathBuf::from("npm").join(&name);
        let about = format!(
            "# {name}\n\nThe program of [{}]({}) for one platform. Install `{}`, which brings it along.\n",
            release.title, release.homepage, release.name
        );
        files.push((folder.join("package.json"), text(&of_platform(release, *platform))));
        files.push((folder.join("README.md"), about));
    }
    files
}

fn package(release: &Release, platform: Platform) -> String {
    format!("{}-{}", release.name, platform.names().id)
}

fn launcher(release: &Release) -> String {
    let packages: Map<String, Value> = release
        .platforms
        .iter()
        .map(|platform| (platform.names().id.to_owned(), json!(package(release, *platform))))
        .collect();
    LAUNCHER
        .replace("COMMAND", &release.command)
        .replace("VERSION", &release.version)
        .replace("\"PACKAGES\"", &format!("{:#}", Value::Object(packages)))
        .replace("HOMEPAGE", &release.homepage)
}

/// What every package says.
fn common(release: &Release) -> Map<String, Value> {
    let author = &release.authors[0];
    let mut common = Map::new();
    let mut set = |key: &str, value: Value| common.insert(key.to_owned(), value);
    set("version", json!(release.version));
    set("description", json!(release.summary));
    set("homepage", json!(release.homepage));
    set("repository", json!({ "type": "git", "url": format!("git+{}.git", release.repository) }));
    set("author", json!({ "name": author.name, "email": author.email }));
    set("license", json!(release.license));
    common
}

fn main(release: &Release) -> Value {
    let mut package = Map::from_iter([("name".to_owned(), json!(release.name))]);
    package.extend(common(release));
    let mut set = |key: &str, value: Value| package.insert(key.to_owned(), value);
    if let Some((part, _)) = release.served() {
        set("mcpName", json!(part.registry));
    }
    set("keywords", json!(release.keywords));
    // `npx NAME` runs what has the package's name.
    set("bin", json!({ &release.command: "launcher.js", &release.name: "launcher.js" }));
    set("files", json!(["launcher.js", "man", "completions", "LICENSE-*"]));
    set("engines", json!({ "node": ">=18" }));
    let optional =
        release.platforms.iter().map(|platform| (self::package(release, *platform), json!(release.version)));
    set("optionalDependencies", Value::Object(optional.collect()));
    Value::Object(package)
}

fn of_platform(release: &Release, platform: Platform) -> Value {
    let names = platform.names();
    let mut package = Map::from_iter([("name".to_owned(), json!(self::package(release, platform)))]);
    package.extend(common(release));
    let mut set = |key: &str, value: Value| package.insert(key.to_owned(), value);
    set("os", json!([names.os]));
    set("cpu", json!([names.cpu]));
    if names.os == "linux" {
        set("libc", json!(["glibc"]));
    }
    set("files", json!([format!("bin/{}", release.command), "LICENSE-*", "THIRD-PARTY-LICENSES.txt"]));
    Value::Object(package)
}

fn text(value: &Value) -> String {
    format!("{value:#}\n")
}
