//! Loads, listings and the digest (skills#loading), on a database file.

use crate::domains::skills::store::RecordedIndex;
use crate::domains::skills::store::roots;
use crate::domains::skills::{Load, Loaded, PREFIX, SkillFilter, count_skills, true_root};
use colibri_canonical::{NumberRule, canonical_json, sha256_hex};
use colibri_runtime::chain::log::Level;
use colibri_store::db::Db;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::domains::skills::tests::support::{World, skill};

fn loaded(loaded: usize, skipped: usize, pruned: usize) -> Loaded {
    Loaded { loaded, skipped, pruned, total_on_disk: loaded + skipped }
}

/// The example of skills#loading.
fn example() -> World {
    let mut world = World::new();
    for name in ["colibri-a", "colibri-c", "colibri-x"] {
        world.write(name, skill(name, ""));
    }
    world.load();
    world.remove("colibri-x");
    world.write("colibri-b", skill("colibri-b", ""));
    world.write("colibri-c", "---\nname: [\n---\n");
    world.write("notes", skill("notes", ""));
    std::fs::create_dir(world.root().join("colibri-d")).unwrap();
    world.lines();
    world
}

#[test]
fn a_load_writes_the_good_and_prunes_the_rest() {
    let mut world = example();
    assert_eq!(world.load(), loaded(2, 1, 2));
    assert_eq!(world.names(), ["colibri-a", "colibri-b"]);
    let lines = world.lines();
    let root = world.root();
    let expected = [
        (Level::Warn, format!("[Startup] 2 skills from {}, 1 left out -> ", root.display())),
        (
            Level::Warn,
            format!("[Startup] Invalid SKILL.md at {}/colibri-c/SKILL.md: YAML_SYNTAX: ", root.display()),
        ),
        (Level::Info, "[Startup] 2 stored skills are gone from the disk".to_owned()),
    ];
    assert_eq!(lines.len(), expected.len(), "{lines:?}");
    for ((level, line), (expected, begins)) in lines.iter().zip(expected) {
        assert!(*level == expected && line.starts_with(&begins), "{line}");
    }

    let (before, first) = (world.rows(), world.recorded().unwrap().unwrap());
    assert_eq!(world.load(), loaded(2, 1, 0));
    assert_eq!(world.rows(), before, "the same rows but for the time");
    let second = world.recorded().unwrap().unwrap();
    assert!(second.loaded_at > first.loaded_at && second.digest != first.digest, "{first:?} {second:?}");

    world.remove("colibri-c");
    world.remove("colibri-b");
    world.lines();
    assert_eq!(world.load(), loaded(1, 0, 1));
    assert_eq!(world.names(), ["colibri-a"]);
    let lines = world.lines();
    assert!(matches!(&lines[..], [(Level::Info, line), _] if line.contains("1 skill from ")), "{lines:?}");
}

#[test]
fn every_column_holds_what_its_file_says() {
    let mut world = World::new();
    let more =
        "version: '1.2'\nentrypoint: run.sh\ncapabilities: [write, read, write]\ngreekLetter: λ\nround: 3\n";
    world.write("colibri-full", skill("colibri-full", more));
    world.write("colibri-least", skill("colibri-least", ""));
    world.load();
    let [full, least]: [_; 2] = world.listed(&SkillFilter::default()).unwrap().try_into().unwrap();
    assert_eq!((full.version.as_deref(), full.entrypoint.as_deref()), (Some("1.2"), Some("run.sh")));
    assert_eq!(
        (full.capabilities, full.greek_letter.as_deref()),
        (vec!["write".into(), "read".into(), "write".into()], Some("λ"))
    );
    let stored = world.rows();
    assert_eq!(
        (full.description.as_str(), stored[0][6].as_deref()),
        ("Does colibri-full.", Some("Body of colibri-full.\n"))
    );
    let front: Value = serde_json::from_str(stored[0][8].as_deref().unwrap()).unwrap();
    assert_eq!((&front["round"], &front["greekLetter"]), (&json!(3), &json!("λ")));
    assert_eq!(full.loaded_at.len(), 24);
    assert_eq!((least.version, least.entrypoint, least.greek_letter), (None, None, None));
    assert_eq!(least.loaded_at, full.loaded_at, "one time for all rows of a load");
    assert_eq!(
        (stored[0][4].as_deref(), stored[1][4].as_deref()),
        (Some(r#"["write","read","write"]"#), Some("[]"))
    );
}

#[test]
fn a_missing_root_empties_the_table_with_one_warning() {
    let mut world = World::new();
    world.write("colibri-a", skill("colibri-a", ""));
    world.load();
    std::fs::remove_dir_all(world.root()).unwrap();
    world.lines();
    assert_eq!(world.load(), loaded(0, 0, 1));
    let warned = world.lines().into_iter().filter(|(level, _)| *level == Level::Warn).count();
    assert_eq!((world.names(), warned), (vec![], 1));
    assert_eq!(world.load(), loaded(0, 0, 0));
    assert_eq!(declaring(&mut world, "read"), [] as [&str; 0]);
}

#[test]
fn search_is_literal_and_looks_at_characters_one_by_one() {
    let mut world = World::new();
    world.write("colibri-pm", "---\nname: colibri-pm\ndescription: 100% ΟΔΟΣ, Straße\n---\n");
    world.write("colibri-qa", "---\nname: colibri-qa\ndescription: a_b.* Plan\n---\n");
    world.load();
    let mut found = |search: &str| -> Vec<String> {
        let filter = SkillFilter { search: Some(search.to_owned()), capability: None };
        world.listed(&filter).unwrap().into_iter().map(|skill| skill.name).collect()
    };
    assert_eq!(found(""), ["colibri-pm", "colibri-qa"]);
    assert_eq!(found("PM"), ["colibri-pm"]);
    assert_eq!(found("pLaN"), ["colibri-qa"]);
    assert_eq!(found("%"), ["colibri-pm"]);
    assert_eq!(found("_"), ["colibri-qa"]);
    assert_eq!(found(".*"), ["colibri-qa"]);
    // Lower-casing a whole word would make a final sigma of the last letter, and ς is not σ.
    assert_eq!(found("οδοσ"), ["colibri-pm"]);
    assert_eq!(found("STRASSE"), [] as [&str; 0]);
    assert_eq!(found("COLIBRI-"), ["colibri-pm", "colibri-qa"]);
    assert_eq!(found("colibri-pm100%"), [] as [&str; 0], "name and description are looked at apart");
}

/// The names of the skills that declare a capability.
fn declaring(world: &mut World, capability: &str) -> Vec<String> {
    let filter = SkillFilter { search: None, capability: Some(capability.to_owned()) };
    world.listed(&filter).unwrap().into_iter().map(|skill| skill.name).collect()
}

#[test]
fn the_capability_filter_takes_words_as_they_are_written() {
    let mut world = World::new();
    assert_eq!(declaring(&mut world, "read"), [] as [&str; 0], "before the load");
    world.write("colibri-a", skill("colibri-a", "capabilities: [read, write]\n"));
    world.write("colibri-b", skill("colibri-b", "capabilities: [read, read]\n"));
    world.write("colibri-c", skill("colibri-c", "capabilities: []\n"));
    world.load();
    for (word, expected) in
        [("read", &["colibri-a", "colibri-b"][..]), ("write", &["colibri-a"]), ("READ", &[]), ("fly", &[])]
    {
        assert_eq!(declaring(&mut world, word), expected, "{word}");
    }
    let both = SkillFilter { search: Some("-B".to_owned()), capability: Some("read".to_owned()) };
    assert_eq!(world.listed(&both).unwrap().len(), 1);
    world.write("colibri-a", skill("colibri-a", ""));
    world.load();
    assert_eq!(declaring(&mut world, "read"), ["colibri-b"], "replaced as a whole");
}

/// The digest by the general encoder, over the rows as plain SQL gives them.
fn digest_by_hand(db: &Db) -> String {
    const COLUMNS: [&str; 10] = [
        "name",
        "description",
        "version",
        "entrypoint",
        "capabilities",
        "greek_letter",
        "body",
        "source_path",
        "frontmatter_json",
        "loaded_at",
    ];
    let sql = format!("SELECT {} FROM skills ORDER BY name", COLUMNS.join(", "));
    let rows: Vec<Value> = db
        .query_all(&sql, &[], |row| {
            COLUMNS
                .iter()
                .enumerate()
                .map(|(at, name)| Ok(((*name).to_owned(), json!(row.get::<Option<String>>(at)?))))
                .collect()
        })
        .unwrap();
    let canonical = canonical_json(&Value::Array(rows), NumberRule::Trail).unwrap();
    sha256_hex(format!("colibri-skills-v1\n{canonical}").as_bytes())
}

#[test]
fn the_digest_is_of_every_value_of_every_row() {
    let mut world = World::new();
    std::fs::create_dir(world.root()).unwrap();
    world.load();
    let empty = sha256_hex(b"colibri-skills-v1\n[]");
    let recorded = world.recorded().unwrap().unwrap();
    assert_eq!((recorded.digest.as_str(), recorded.skill_count), (empty.as_str(), 0));

    world.write("colibri-a", skill("colibri-a", "version: \"\\\"\\\\é😀\"\ncapabilities: [read]\n"));
    world.write("colibri-b", skill("colibri-b", "entrypoint: x\ngreekLetter: α\n"));
    world.load();
    let before = world.digest().unwrap();
    assert_eq!(before.as_str(), digest_by_hand(world.db()));
    let RecordedIndex { loaded_at, skill_count, digest } = world.recorded().unwrap().unwrap();
    assert_eq!((digest.as_str(), skill_count), (before.as_str(), 2));
    assert_eq!(loaded_at, world.listed(&SkillFilter::default()).unwrap()[0].loaded_at);

    // No file can bring these in, but a row can hold them.
    world.db().execute("SAVEPOINT edit", &[]).unwrap();
    let odd =
        "UPDATE skills SET version = char(34, 92, 8, 12, 31, 8232, 233, 128512) WHERE name = 'colibri-a'";
    world.db().execute(odd, &[]).unwrap();
    assert_eq!(world.digest().unwrap().as_str(), digest_by_hand(world.db()));
    world.db().execute("ROLLBACK TO edit", &[]).unwrap();
    world.db().execute("RELEASE edit", &[]).unwrap();

    for edit in [
        "UPDATE skills SET body = body || ' ' WHERE name = 'colibri-b'",
        "UPDATE skills SET version = NULL WHERE name = 'colibri-a'",
        "UPDATE skills SET capabilities = '[\"admin\"]' WHERE name = 'colibri-a'",
        "DELETE FROM skills WHERE name = 'colibri-b'",
        "UPDATE skills SET name = 'colibri-z' WHERE name = 'colibri-a'",
    ] {
        world.db().execute("SAVEPOINT edit", &[]).unwrap();
        world.db().execute(edit, &[]).unwrap();
        assert_ne!(world.digest().unwrap(), before, "{edit}");
        world.db().execute("ROLLBACK TO edit", &[]).unwrap();
        world.db().execute("RELEASE edit", &[]).unwrap();
    }
    assert_eq!(world.digest().unwrap(), before);
}

#[test]
fn a_load_that_cannot_be_stored_changes_nothing() {
    let mut world = World::new();
    world.write("colibri-a", skill("colibri-a", "capabilities: [read]\n"));
    world.load();
    let (rows, recorded) = (world.rows(), world.recorded().unwrap());
    world
        .db()
        .execute(
            "CREATE TRIGGER refuse BEFORE UPDATE ON skill_roots BEGIN SELECT RAISE(ABORT, 'no'); END",
            &[],
        )
        .unwrap();
    world.remove("colibri-a");
    world.write("colibri-b", skill("colibri-b", "capabilities: [read]\n"));
    world.try_load().unwrap_err();
    assert_eq!((world.rows(), world.recorded().unwrap()), (rows, recorded));
    assert_eq!(declaring(&mut world, "read"), ["colibri-a"]);
    world.db().execute("DROP TRIGGER refuse", &[]).unwrap();
    assert_eq!(world.load(), loaded(1, 0, 1));
}

#[test]
fn stored_values_that_are_not_what_they_should_be_are_faults_not_panics() {
    let mut world = World::new();
    world.write("colibri-a", skill("colibri-a", ""));
    world.load();
    world.db().execute("UPDATE skills SET capabilities = 'no list'", &[]).unwrap();
    assert!(world.listed(&SkillFilter::default()).is_err());
    world.db().execute("UPDATE skills SET capabilities = '[]', body = CAST(x'FF' AS TEXT)", &[]).unwrap();
    assert!(world.digest().is_err());
    assert_eq!(world.listed(&SkillFilter::default()).unwrap().len(), 1);
}

#[test]
fn the_same_path_on_another_machine_is_another_root() {
    let mut world = World::new();
    world.write("colibri-a", skill("colibri-a", ""));
    let path = world.root();
    for machine in ["desk", "laptop"] {
        let load = Load::scan(&path, PREFIX).on(Some(machine));
        assert_eq!(load.root(), format!("{machine}:{}", true_root(&path)));
        load.store(world.db(), "2026-05-01T10:00:00.000Z").unwrap();
    }
    let known = roots(world.db()).unwrap();
    assert_eq!(known, [format!("desk:{}", true_root(&path)), format!("laptop:{}", true_root(&path))]);
}

#[test]
fn without_the_table_there_are_no_skills_to_count() {
    assert_eq!(count_skills(&Db::new(Connection::open_in_memory().unwrap()), "").unwrap(), 0);
}
