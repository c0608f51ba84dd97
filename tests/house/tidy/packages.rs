//! What the server is built from: licences, sources, doubles, and what must not be in it.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

use crate::tidy::{assert_none, tree};

/// Licences that a package may be used under; `OR` needs one of them, `AND` all.
const LICENCES: [&str; 8] = [
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Unicode-3.0",
    "Zlib",
];
/// The licence of data: Mozilla's root certificates come under it. It asks for its own text to be passed on, and
/// nothing of what is done with the data.
const DATA: [&str; 1] = ["CDLA-Permissive-2.0"];
/// The same in licences that stand for giving up rights.
const WAIVED: [&str; 5] = ["MIT-0", "Unlicense", "CC0-1.0", "0BSD", "BSL-1.0"];

/// Servers of HTTP and WebSocket: this server speaks over pipes and listens nowhere.
const LISTENERS: [&str; 14] = [
    "hyper",
    "hyper-util",
    "axum",
    "actix-web",
    "actix-http",
    "warp",
    "rocket",
    "poem",
    "salvo",
    "tide",
    "tungstenite",
    "tokio-tungstenite",
    "tiny_http",
    "rouille",
];

#[test]
fn every_package_has_a_licence_that_is_allowed() {
    let refused = packages().into_iter().filter_map(|package| {
        let licence = package["license"].as_str().unwrap_or("none stated").to_owned();
        (!allowed(&licence)).then(|| format!("{}: licence {licence}", package["name"]))
    });
    assert_none(&refused.collect::<Vec<_>>());
}

#[test]
fn every_package_comes_from_the_registry_or_the_work_tree() {
    let root = tree::root().to_string_lossy().into_owned();
    let mut registries = BTreeSet::new();
    let foreign = packages().into_iter().filter_map(|package| {
        let known = match package["source"].as_str() {
            Some(source) => {
                registries.insert(source.to_owned());
                source.starts_with("registry+")
            }
            None => package["manifest_path"].as_str().is_some_and(|path| path.starts_with(&root)),
        };
        (!known).then(|| format!("{}: from {}", package["name"], package["source"]))
    });
    assert_none(&foreign.collect::<Vec<_>>());
    assert_eq!(registries.len(), 1, "one registry, Cargo's own: {registries:?}");
}

#[test]
fn server_has_no_crate_in_two_versions() {
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, version) in linked() {
        versions.entry(name).or_default().insert(version);
    }
    let doubles = versions.into_iter().filter(|(_, versions)| versions.len() > 1);
    assert_none(&doubles.map(|(name, versions)| format!("{name}: {versions:?}")).collect::<Vec<_>>());
}

#[test]
fn server_has_no_crate_that_listens() {
    let linked = linked();
    let listening = linked.iter().filter(|(name, _)| LISTENERS.contains(&name.as_str()));
    assert_none(&listening.map(|(name, version)| format!("{name} {version}")).collect::<Vec<_>>());
}

/// Which crates of the workspace each of its crates may use: from the work of a call down to what is hashed.
const USES: [(&str, &[&str]); 13] = [
    ("colibri-canonical", &[]),
    ("colibri-pattern", &[]),
    ("colibri-stderr", &[]),
    ("colibri-suggest", &[]),
    ("colibri-visible", &[]),
    ("colibri-drift", &["colibri-pattern", "colibri-stderr", "colibri-suggest", "colibri-visible"]),
    ("colibri-wal", &[]),
    (
        "colibri-runtime",
        &["colibri-canonical", "colibri-pattern", "colibri-stderr", "colibri-suggest", "colibri-visible"],
    ),
    ("colibri-proof", &["colibri-canonical", "colibri-stderr", "colibri-visible"]),
    ("colibri-consensus", &["colibri-canonical"]),
    (
        "colibri-codegen",
        &[
            "colibri-drift",
            "colibri-pattern",
            "colibri-runtime",
            "colibri-stderr",
            "colibri-suggest",
            "colibri-visible",
        ],
    ),
    ("colibri-store", &["colibri-canonical", "colibri-proof", "colibri-runtime", "colibri-wal"]),
    (
        "colibri",
        &[
            "colibri-canonical",
            "colibri-consensus",
            "colibri-drift",
            "colibri-proof",
            "colibri-runtime",
            "colibri-store",
            "colibri-stderr",
            "colibri-suggest",
            "colibri-visible",
        ],
    ),
];

#[test]
fn crates_use_each_other_in_one_direction() {
    let packages = packages();
    for (name, may) in USES {
        let package = packages.iter().find(|package| package["name"] == name);
        let package = package.unwrap_or_else(|| panic!("{name} is gone; name the crate that took its place"));
        let dependencies = package["dependencies"].as_array().expect("dependencies");
        let normal = dependencies.iter().filter(|dependency| dependency["kind"].is_null());
        let own = normal.filter_map(|dependency| dependency["name"].as_str());
        let own: BTreeSet<&str> = own.filter(|other| other.starts_with("colibri")).collect();
        assert_eq!(own, may.iter().copied().collect(), "{name}");
    }
}

/// The server knows the database by `Db`. Its tests may open a file as any other program would. It has `rustix` for the processes and
/// signals of wrapped servers.
#[test]
fn the_server_does_not_name_the_engine() {
    const ENGINE: [&str; 2] = ["rusqlite", "colibri-wal"];
    let packages = packages();
    let server = packages.iter().find(|package| package["name"] == "colibri").expect("the server");
    let dependencies = server["dependencies"].as_array().expect("dependencies");
    let normal = dependencies.iter().filter(|dependency| dependency["kind"].is_null());
    let names: Vec<&str> = normal.filter_map(|other| other["name"].as_str()).collect();
    assert!(names.contains(&"colibri-store") && !names.iter().any(|name| ENGINE.contains(name)), "{names:?}");
}

/// PostgreSQL may add 15 packages to the 94 that the server had before, and `colibri-stderr` and `colibri-pattern`, which only its crates use, are two; the commands for people (the board, bars, completions, man pages,
/// local times) may add 40, of which none runs while serving. The reason of each is in the workspace's manifest.
#[test]
fn the_server_is_built_from_few_packages() {
    let arguments =
        ["tree", "--locked", "--offline", "--package", "colibri", "--edges", "normal", "--prefix", "none"];
    let tree = output(env!("CARGO"), &arguments);
    let packages: BTreeSet<&str> = tree.lines().filter_map(|line| line.split(" (").next()).collect();
    assert!((60..=94 + 17 + 40).contains(&packages.len()), "{} packages:\n{tree}", packages.len());
}

/// An auditor who reads the checks also builds what they stand on.
#[test]
fn proofs_are_checked_with_few_packages() {
    let arguments = [
        "tree",
        "--locked",
        "--offline",
        "--package",
        "colibri-proof",
        "--edges",
        "normal,build",
        "--prefix",
        "none",
    ];
    let tree = output(env!("CARGO"), &arguments);
    let packages: BTreeSet<&str> = tree.lines().filter_map(|line| line.split(" (").next()).collect();
    assert!((10..=40).contains(&packages.len()), "{} packages:\n{tree}", packages.len());
}

/// What compiles a catalogue needs no gate. A server compares other servers' tools with it, and links neither the compiler nor what
/// only the gate's command needs.
#[test]
fn build_scripts_do_without_the_drift_gate_and_servers_without_the_compiler() {
    let arguments =
        ["tree", "--locked", "--offline", "--package", "colibri-codegen", "--no-default-features"];
    let compiler = output(env!("CARGO"), &[&arguments[..], &["--edges", "normal,build"]].concat());
    assert!(compiler.contains("typify ") && !compiler.contains("colibri-drift "), "{compiler}");
    let linked = linked();
    let names: BTreeSet<&str> = linked.iter().map(|(name, _)| name.as_str()).collect();
    assert!(names.contains("colibri-drift"), "{names:?}");
    for other in ["colibri-codegen", "typify", "schemars", "syn", "yaml_serde"] {
        assert!(!names.contains(other), "{other}");
    }
}

/// Whether an SPDX expression without brackets, or with one `OR` in brackets, can be satisfied.
fn allowed(expression: &str) -> bool {
    let one = |licence: &str| {
        let licence = licence.trim_matches(['(', ')', ' ']);
        LICENCES.contains(&licence) || DATA.contains(&licence) || WAIVED.contains(&licence)
    };
    // Older manifests write `/` for `OR`.
    let expression = expression.replace('/', " OR ");
    // `A OR B AND C` binds as `A OR (B AND C)`; taking it as `(A OR B) AND C` is the stricter reading.
    expression.split(" AND ").all(|part| part.split(" OR ").any(one))
}

/// Every package that is used on this kind of machine, tests' and tools' included.
fn packages() -> Vec<Value> {
    let about = output("rustc", &["-vV"]);
    let host = about.lines().find_map(|line| line.strip_prefix("host: ")).expect("rustc names its host");
    let arguments = ["metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform", host];
    let metadata: Value = serde_json::from_str(&output(env!("CARGO"), &arguments)).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages").clone();
    assert!(packages.len() > 20, "{} packages", packages.len());
    packages
}

/// Name and version of every crate that is linked into the server; what macros run on at build time is not.
fn linked() -> BTreeSet<(String, String)> {
    let arguments = [
        "tree",
        "--locked",
        "--offline",
        "--package",
        "colibri",
        "--edges",
        "normal,no-proc-macro",
        "--prefix",
        "none",
    ];
    let tree = output(env!("CARGO"), &arguments);
    let linked: BTreeSet<_> = tree
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            Some((words.next()?.to_owned(), words.next()?.to_owned()))
        })
        .collect();
    assert!(linked.iter().any(|(name, _)| name == "rusqlite"), "{tree}");
    linked
}

fn output(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).current_dir(tree::root()).output().expect("it runs");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn licences_are_read_as_expressions() {
    for good in [
        "MIT",
        "MIT OR Apache-2.0",
        "MIT/Apache-2.0",
        "GPL-3.0 OR MIT",
        "(MIT OR Apache-2.0) AND Unicode-3.0",
    ] {
        assert!(allowed(good), "{good}");
    }
    for bad in ["none stated", "GPL-3.0", "MIT AND GPL-3.0", "MPL-2.0 OR AGPL-3.0"] {
        assert!(!allowed(bad), "{bad}");
    }
}
