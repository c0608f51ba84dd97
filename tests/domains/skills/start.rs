//! What a start makes of the files, and what the modes do.

use std::os::unix::fs::symlink;

use colibri::catalogue::{CATALOGUE, Dispatcher};
use colibri::lifecycle::options::Options;
use colibri::lifecycle::server::create_server;
use colibri::tools::Domains;
use colibri_test_support::dice::Dice;
use colibri_test_support::embed::{Wire, block_on, converse, options};
use serde_json::{Value, json};

use crate::skills::world::{ROOT, World, listed, skill, warnings};

#[test]
fn a_start_indexes_the_good_skills_and_prunes_the_rest() {
    let world = World::new();
    for name in ["colibri-a", "colibri-c", "colibri-x"] {
        world.write(name, &skill(name, ""));
    }
    let (names, log) = world.after_start();
    assert_eq!((names.len(), warnings(&log)), (3, vec![]), "{log}");

    std::fs::remove_dir_all(world.directory("colibri-x")).unwrap();
    world.write("colibri-b", &skill("colibri-b", ""));
    world.write("colibri-c", "---\nname: [\n---\n");
    world.write("notes", &skill("notes", ""));
    std::fs::create_dir(world.directory("colibri-d")).unwrap();
    let (names, log) = world.after_start();
    assert_eq!(names, ["colibri-a", "colibri-b"]);
    let warned = warnings(&log);
    assert_eq!(warned.len(), 2, "{log}");
    let root = world.path().canonicalize().unwrap().join(ROOT);
    assert!(
        warned[0].starts_with(&format!("[Startup] 2 skills from {}, 1 left out", root.display())),
        "{log}"
    );
    assert!(
        warned[1]
            .starts_with(&format!("[Startup] Invalid SKILL.md at {ROOT}/colibri-c/SKILL.md: YAML_SYNTAX: ")),
        "{log}"
    );
    assert!(log.contains("[Startup] 2 stored skills are gone from the disk"), "{log}");

    // The same once more: the same rows but for the time, nothing pruned.
    let list = || {
        let mut server = world.start();
        server.data("skill_list", json!({}))
    };
    let (first, second) = (list(), list());
    assert_ne!(first["skills"][0]["loaded_at"], second["skills"][0]["loaded_at"]);
    let timeless = |mut data: Value| {
        data["skills"].as_array_mut().unwrap().iter_mut().for_each(|skill| skill["loaded_at"] = Value::Null);
        data
    };
    assert_eq!(timeless(first), timeless(second));

    std::fs::remove_file(world.directory("colibri-b").join("SKILL.md")).unwrap();
    let (names, log) = world.after_start();
    assert_eq!(names, ["colibri-a"]);
    assert!(log.contains("[Startup] 1 skill from ") && log.contains(", 1 left out"), "{log}");
}

#[test]
fn a_restart_is_what_picks_up_a_change() {
    let world = World::with(&[("colibri-a", &skill("colibri-a", ""))]);
    let mut server = world.start();
    let before = server.data("skill_list", json!({}));
    world.write("colibri-b", &skill("colibri-b", ""));
    std::fs::remove_dir_all(world.directory("colibri-a")).unwrap();
    assert_eq!(server.data("skill_list", json!({})), before, "the disk is not touched at call time");
    drop(server);
    assert_eq!(world.after_start().0, ["colibri-b"]);
}

#[test]
fn other_names_and_links_out_of_the_root_are_left_out() {
    let world =
        World::with(&[("colibri-x", &skill("colibri-y", "")), ("colibri-z", &skill("colibri-z", ""))]);
    let outside = World::with(&[("colibri-out", &skill("colibri-out", ""))]);
    symlink(outside.directory("colibri-out"), world.directory("colibri-out")).unwrap();
    let (names, log) = world.after_start();
    assert_eq!(names, ["colibri-z"]);
    let warned = warnings(&log);
    for (line, file) in
        [(1, "colibri-out/SKILL.md: READ_FAILED: "), (2, "colibri-x/SKILL.md: NAME_MISMATCH: ")]
    {
        assert!(warned[line].starts_with(&format!("[Startup] Invalid SKILL.md at {ROOT}/{file}")), "{log}");
    }
}

/// Every line of stdout is a response, or the client would have failed.
#[test]
fn without_the_default_root_the_server_starts_without_a_warning() {
    let world = World::new();
    let mut server = world.start();
    assert_eq!(server.data("skill_list", json!({})), json!({ "skills": [], "total_count": 0 }));
    assert_eq!(server.data("server_health", json!({}))["skill_count"], 0);
    let ended = server.finish();
    assert_eq!((ended.code(), &ended.rest), (0, &Vec::<Value>::new()));
    assert_eq!(warnings(&ended.stderr), [] as [&str; 0]);
    let said =
        ended.stderr.lines().find(|line| line.contains("[Startup] no skills: there is no folder ")).unwrap();
    assert!(said.contains(ROOT) && said.contains("this is fine"), "{said}");
}

#[test]
fn the_old_name_of_the_root_is_refused() {
    let ended = World::new().launch().env("AMS_SKILLS_ROOT", "x").start().wait();
    assert_eq!((ended.code(), &ended.rest), (1, &Vec::<Value>::new()));
    assert!(ended.stderr.contains("Found: AMS_SKILLS_ROOT"), "{}", ended.stderr);
}

#[test]
fn the_root_is_the_one_the_variable_names() {
    let world = World::with(&[("colibri-default", &skill("colibri-default", ""))]);
    let elsewhere = World::with(&[("colibri-else", &skill("colibri-else", ""))]);
    let absolute = elsewhere.path().join(ROOT);
    let mut server = world.launch().env("COLIBRI_SKILLS_ROOT", &absolute).start();
    let data = server.data("skill_list", json!({}));
    assert_eq!(data["skills"][0]["source_path"], format!("{}/colibri-else/SKILL.md", absolute.display()));
    drop(server);
    let mut server = world.launch().env("COLIBRI_SKILLS_ROOT", "./.agents/../.agents/skills/").start();
    let data = server.data("skill_list", json!({}));
    assert_eq!(data["skills"][0]["source_path"], ".agents/skills/colibri-default/SKILL.md");
}

/// An embedder's own choice stands above the variable.
#[test]
fn an_explicit_root_stands_above_the_variable() {
    let (world, other) = (World::new(), World::with(&[("colibri-a", &skill("colibri-a", ""))]));
    let (wire, streams) = Wire::pair();
    let defaults = options(streams, world.path());
    let options = Options {
        environment: defaults.environment.with("COLIBRI_SKILLS_ROOT", "nowhere"),
        skills_root: Some(other.path().join(ROOT)),
        ..defaults
    };
    let mut server = create_server(&CATALOGUE, Dispatcher(Domains::default()), options).unwrap();
    block_on(converse(&mut server, wire, async |wire: &mut Wire| {
        assert_eq!(wire.call("skill_list", json!({})).await["data"]["skills"][0]["name"], "colibri-a");
    }));
}

#[test]
fn readonly_lists_what_is_stored_and_minimal_nothing() {
    let world = World::with(&[("colibri-a", &skill("colibri-a", ""))]);
    world.after_start();
    world.write("colibri-b", &skill("colibri-b", ""));
    let mut reader = world.launch().env("COLIBRI_MODE", "READONLY").start();
    assert_eq!(listed(&mut reader, json!({})), ["colibri-a"]);
    assert_eq!(reader.data("server_health", json!({}))["skill_count"], 1);
    assert!(!reader.finish().stderr.contains("[Startup] skills"), "READONLY scans nothing");

    let mut minimal = world.launch().env("COLIBRI_MODE", "MINIMAL").start();
    let envelope = minimal.call("skill_list", json!({}));
    assert_eq!(envelope["error"]["code"], "TOOL_NOT_ADMITTED", "{envelope}");
    assert_eq!(envelope["error"]["details"]["reason"], "minimal_mode", "{envelope}");

    let mut test = world.launch().env("COLIBRI_MODE", "TEST").start();
    assert_eq!(listed(&mut test, json!({})), ["colibri-a", "colibri-b"]);
}

/// The load waits in the write queue like every writer: starts beside each other all succeed.
#[test]
fn servers_that_start_together_index_the_same_skills() {
    let world =
        World::with(&[("colibri-a", &skill("colibri-a", "")), ("colibri-b", &skill("colibri-b", ""))]);
    let mut servers: Vec<_> = (0..6).map(|_| world.start()).collect();
    for server in &mut servers {
        assert_eq!(listed(server, json!({})), ["colibri-a", "colibri-b"]);
    }
    for server in servers {
        let ended = server.finish();
        assert_eq!(ended.code(), 0, "{}", ended.stderr);
    }
}

#[test]
fn a_root_may_lie_as_deep_as_the_system_permits() {
    let world = World::new();
    let mut root = world.path().to_owned();
    let dice = Dice::new(1);
    // A path has at most 4,095 bytes.
    for _ in 0..15 {
        let name: String =
            (0..240).map(|_| char::from(b'a' + u8::try_from(dice.below(26)).unwrap())).collect();
        root.push(name);
    }
    let folder = root.join("colibri-deep");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("SKILL.md"), skill("colibri-deep", "")).unwrap();
    for _ in 0..2 {
        let mut server = world.launch().env("COLIBRI_SKILLS_ROOT", &root).start();
        assert_eq!(listed(&mut server, json!({})), ["colibri-deep"]);
        assert_eq!(server.finish().code(), 0);
    }
}
