//! Which tools the options admit: by name, and by what they say of themselves.

use serde_json::{Value, json};

use super::place::{Place, answer, names, tool};
use super::replay::newest;
use super::{ERAS, Setup};

#[test]
fn wrap_57_patterns_admit_tools_by_name() {
    let recorded = newest("everything");
    let all: Vec<String> = recorded.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
    let is_admitted = |name: &&String| name.starts_with("get") && *name != "get-env";
    let admitted: Vec<String> = all.iter().filter(is_admitted).cloned().collect();
    assert!(admitted.len() > 3 && all.contains(&"get-env".to_owned()) && all.contains(&"echo".to_owned()));
    for era in ERAS {
        for mode in ["warn", "refuse", "off"] {
            let place = Place::new();
            place.lists(&recorded);
            let options = ["--allow", "get*", "--deny", "get-env", "--pin", mode];
            let (mut wrap, _) = place.greeted(Setup::new(era).with(&options));
            let said = wrap.refused("early", "get-env", "WRAP_DENIED");
            assert_eq!(said, "colibri wrap: the tool \"get-env\" of odd is not admitted here");
            assert_eq!(names(&wrap.list("list")), admitted);
            for name in &all {
                match admitted.contains(name) {
                    true => wrap.passes(name, name),
                    false => drop(wrap.refused(name, name, "WRAP_DENIED")),
                }
            }
            wrap.refused("case", "Get-sum", "WRAP_DENIED");
            let refused = wrap.rows().into_iter().filter(|row| row.code.as_deref() == Some("WRAP_DENIED"));
            let messages: Vec<Option<String>> = refused.map(|row| row.message).collect();
            // The page of errors says the same, because both take it from the catalogue.
            assert!(messages.len() > 1);
            assert!(
                messages.iter().all(|text| text.as_deref() == Some("the tool is not admitted here")),
                "{messages:?}"
            );
            wrap.end();
            // The pin is of the whole list.
            let pinned: Option<i64> =
                place.sql().query_row("SELECT max(tools) FROM tool_pins", [], |row| row.get(0)).unwrap();
            assert_eq!(pinned, (mode != "off").then_some(all.len() as i64));
            let patterns = "SELECT allow, deny FROM wrap_runs";
            let patterns: (String, String) =
                place.sql().query_row(patterns, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
            assert_eq!(patterns, (r#"["get*"]"#.to_owned(), r#"["get-env"]"#.to_owned()));
        }
    }
}

/// A tool that says this of itself.
fn hinted(name: &str, hint: Value) -> Value {
    let mut entry = tool(name, "One.");
    entry["annotations"] = if hint.is_null() { json!({}) } else { json!({ "readOnlyHint": hint }) };
    entry
}

#[test]
fn wrap_57_read_only_admits_tools_that_say_so_when_they_are_pinned_and_now() {
    let others = ["writes", "text", "silent", "later", "new", "unheard"];
    for era in ERAS {
        for mode in ["warn", "refuse"] {
            let place = Place::new();
            let entries = |later: bool| {
                [
                    hinted("reads", json!(true)),
                    hinted("writes", json!(false)),
                    hinted("text", json!("true")),
                    hinted("silent", Value::Null),
                    hinted("later", json!(later)),
                ]
            };
            place.lists(&entries(false));
            place.pin(era);
            // The hint of one tool turns true, and one that says it comes along.
            let now: Vec<Value> = entries(true).into_iter().chain([hinted("new", json!(true))]).collect();
            place.lists(&now);
            let setup = || Setup::new(era).with(&["--read-only", "--pin", mode]);
            let (mut wrap, _) = place.greeted(setup());
            // The call waits until the list is known.
            let said = wrap.refused("early", "later", "WRAP_NOT_READ_ONLY");
            let seen = place.newest();
            assert_eq!(
                said,
                format!(
                    "colibri wrap: only read-only tools of odd are admitted here, and \"later\" says that it is one, but is not pinned as one. Look and accept: colibri pins diff odd --list {seen}"
                )
            );
            let said = wrap.refused("silent", "silent", "WRAP_NOT_READ_ONLY");
            assert!(said.ends_with(", and \"silent\" does not say that it is one"), "{said}");
            let only = json!({ "tools": [now[0]] }).to_string();
            assert_eq!(wrap.list("list"), answer("list", &only));
            wrap.passes("reads", "reads");
            for name in others {
                wrap.refused(name, name, "WRAP_NOT_READ_ONLY");
            }
            assert_eq!(place.events(), ["pinned", "seen"]);
            // What was accepted is admitted, at once.
            place.run(&["pins", "accept", "odd"]).ends(0);
            wrap.passes("at once", "later");
            assert_eq!(names(&wrap.list("accepted")), ["reads", "later", "new"]);
            wrap.passes("accepted later", "later");
            wrap.passes("accepted new", "new");
            // A hint that turns false takes the tool away, also where the pinned one is true.
            let never: Vec<Value> =
                now.iter().map(|tool| hinted(tool["name"].as_str().unwrap(), json!(false))).collect();
            place.lists(&never);
            assert_eq!(names(&wrap.list("never")), [""; 0]);
            wrap.refused("never", "reads", "WRAP_NOT_READ_ONLY");
            assert_eq!(wrap.end().code(), 0);
        }
    }
}

#[test]
fn wrap_57_a_pattern_that_fits_no_tool_is_told() {
    for era in ERAS {
        let place = Place::new();
        place.lists(&[tool("get", "One.")]);
        let options = ["--allow", "gte", "--allow", "nosuch*"];
        let (mut wrap, _) = place.greeted(Setup::new(era).with(&options));
        assert_eq!(names(&wrap.list("list")), [""; 0]);
        wrap.list("again");
        let ended = wrap.end();
        let told = "WARN [wrap] odd: the server lists no tool that fits --allow gte --allow nosuch*";
        assert_eq!(ended.stderr.matches(told).count(), 1, "{}", ended.stderr);
    }
}

#[test]
fn wrap_57_without_pins_read_only_goes_by_what_the_tool_says_now() {
    for era in ERAS {
        let place = Place::new();
        place.lists(&[hinted("reads", json!(true)), hinted("writes", json!(false))]);
        let (mut wrap, _) = place.greeted(Setup::new(era).with(&["--read-only", "--pin", "off"]));
        wrap.passes("early", "reads");
        assert_eq!(names(&wrap.list("list")), ["reads"]);
        wrap.refused("writes", "writes", "WRAP_NOT_READ_ONLY");
        place.lists(&[hinted("reads", json!(false)), hinted("writes", json!(true))]);
        assert_eq!(names(&wrap.list("turned")), ["writes"]);
        wrap.passes("turned writes", "writes");
        wrap.refused("turned reads", "reads", "WRAP_NOT_READ_ONLY");
        wrap.end();
        assert_eq!(place.events(), [""; 0]);
    }
}
