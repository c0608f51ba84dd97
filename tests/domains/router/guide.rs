//! The guide's first calls, typed as they stand there, with every provider on this machine.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use colibri::domains::router::profile::{PROFILES, Profile};
use colibri_test_support::loopback::Loopback;
use serde_json::Value;
use tempfile::TempDir;

use super::world::fixture;

#[test]
fn the_guides_first_calls_work_as_they_stand() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/guide/router.md");
    let page = std::fs::read_to_string(path).unwrap();
    let blocks: Vec<&str> =
        page.split("```sh\n").skip(1).map(|rest| rest.split_once("```").expect("a block ends").0).collect();
    let mut called = BTreeSet::new();
    for block in blocks {
        let profile = PROFILES.into_iter().find(|profile| block.contains(&profile.key_variable()));
        let profile = profile.unwrap_or_else(|| panic!("no key is set: {block}"));
        assert!(block.lines().count() <= 5, "five lines at most: {block}");
        call(profile, block);
        called.insert(profile);
    }
    let with_models = PROFILES.into_iter().filter(|profile| *profile != Profile::Codex);
    assert_eq!(called, with_models.collect());
}

/// Types a block in a folder that has the file with the key.
fn call(profile: Profile, block: &str) {
    let folder = TempDir::new().unwrap();
    let name = profile.prefix().to_ascii_lowercase();
    let provider = Loopback::playing([fixture(&name, "success")]);
    std::fs::create_dir(folder.path().join("bin")).unwrap();
    let binary = env!("CARGO_BIN_EXE_colibri-under-test");
    std::os::unix::fs::symlink(binary, folder.path().join("bin/colibri")).unwrap();
    std::fs::write(folder.path().join(format!("{name}.key")), "sk-canary-guide\n").unwrap();
    let output = Command::new("sh")
        .args(["-c", block])
        .current_dir(folder.path())
        .env_clear()
        .env("PATH", format!("{}:/usr/bin:/bin", folder.path().join("bin").display()))
        .env(profile.base_variable(), provider.url(""))
        .output()
        .unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{block}\n{stdout}\n{stderr}");
    let envelope: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(envelope["data"]["content"], "Hello there.", "{block}\n{stdout}");
    let seen = provider.only();
    let key = seen.headers.iter().find(|(_, value)| value.ends_with("sk-canary-guide"));
    assert!(key.is_some(), "{seen:?}");
    assert!(seen.body.contains("Say hello.") && seen.body.contains("32"), "{seen:?}");
    let chosen = block.lines().find_map(|line| line.split_once("COLIBRI_MODEL_")?.1.split_once('='));
    if let Some((_, model)) = chosen {
        assert!(seen.body.contains(model) || seen.path.contains(model), "{seen:?}");
    }
}
