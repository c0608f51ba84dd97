//! What the gate says of public servers from version to version. The files of `history/` were captured by
//! `history/capture.py` from the published packages; each names its origin.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use colibri_drift::judge;
use colibri_drift::report::{self, Names};
use serde_json::Value;

use super::{golden, here, names, snapshot};

/// The captured versions of a server, in the order they were published.
pub fn versions(folder: &Path) -> Vec<String> {
    let files = names(folder).into_iter();
    let mut versions: Vec<String> =
        files.filter_map(|file| Some(file.strip_suffix(".json")?.to_owned())).collect();
    versions.sort_by_key(|version| {
        version.split('.').map(|part| part.parse::<u32>().unwrap()).collect::<Vec<_>>()
    });
    versions
}

pub fn servers() -> Vec<String> {
    let all = here().join("history");
    names(&all).into_iter().filter(|name| all.join(name).is_dir()).collect()
}

#[test]
fn reports_on_published_versions_are_as_they_were_checked() {
    for server in servers() {
        let folder = here().join("history").join(&server);
        let mut text = String::new();
        for step in versions(&folder).windows(2) {
            let [old, new] = step else { unreachable!() };
            let state = |version: &str| snapshot(&folder.join(format!("{version}.json")));
            let names = Names {
                old: old.clone(),
                new: new.clone(),
                version: None,
                waivers: None,
                below_drift: false,
            };
            let verdict = judge(&state(old), &state(new), &[], true);
            writeln!(text, "== {old} -> {new}\n{}", report::text(&verdict, &names)).unwrap();
        }
        golden(&folder.join("reports.txt"), &text);
    }
}

#[test]
fn there_are_at_least_five_servers_of_two_registries_with_their_origins() {
    let mut registries = std::collections::BTreeSet::new();
    let servers = servers();
    assert!(servers.len() >= 5, "{servers:?}");
    for server in servers {
        let folder = here().join("history").join(&server);
        let versions = versions(&folder);
        assert!(versions.len() >= 2, "{server}: {versions:?}");
        for version in versions {
            let text = fs::read_to_string(folder.join(format!("{version}.json"))).unwrap();
            let origin = &serde_json::from_str::<Value>(&text).unwrap()["origin"];
            assert_eq!(origin["version"], version.as_str(), "{server}");
            assert!(origin["package"].is_string() && origin["captured"].is_string(), "{server} {version}");
            registries.insert(origin["registry"].as_str().unwrap().to_owned());
        }
    }
    assert_eq!(registries.into_iter().collect::<Vec<_>>(), ["npm", "pypi"]);
}
