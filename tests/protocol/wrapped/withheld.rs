//! What a client does not see and cannot call as long as it is not the pinned one.

use serde_json::{Value, json};

use super::place::{Place, answer, names, tool};
use super::{ERAS, Era, Setup};

/// A page, with a letter for each entry: small as it is pinned, large when it was changed, `n` and `m` if it is new.
fn fill(page: &str) -> String {
    let entries = [
        ("<a>", r#"{ "name":"a" , "description" : "One, {two} and \"]\"." }"#.to_owned()),
        ("<A>", r#"{"name":"a","description":"Other."}"#.to_owned()),
        ("<b>", r#"{"inputSchema":{"type":"object","properties":{}},"name":"b"}"#.to_owned()),
        ("<B>", r#"{"inputSchema":{"type":"object","properties":{"x":{}}},"name":"\u0062"}"#.to_owned()),
        // Longer than lines are held that need no look.
        ("<c>", format!(r#"{{"name":"c","description":"{}"}}"#, "long ".repeat(20_000))),
        ("<C>", format!(r#"{{"name":"c","description":"{}"}}"#, "Long ".repeat(20_000))),
        ("<n>", r#"{"name":"n"}"#.to_owned()),
        ("<m>", r#"{"name":"m","inputSchema":{"type":"object"}}"#.to_owned()),
    ];
    entries.iter().fold(page.to_owned(), |page, (place, entry)| page.replace(place, entry))
}

/// What the server gives, what the client reads, and which calls are refused with which code.
struct Case {
    gives: &'static str,
    reads: &'static str,
    refused: &'static [(&'static str, &'static str)],
}

const CHANGED: &str = "WRAP_TOOL_CHANGED";
const NEW: &str = "WRAP_TOOL_NEW";

const CASES: [Case; 7] = [
    Case {
        gives: r#"{"x":[1 ,2 ],"tools" : [ <A> , <b>	,<c> ]  , "ttlMs":1.0}"#,
        reads: r#"{"x":[1 ,2 ],"tools" : [   <b>	,<c> ]  , "ttlMs":1.0}"#,
        refused: &[("a", CHANGED)],
    },
    Case {
        gives: r#"{"tools":[ <a> , <B>	,<c> ]}"#,
        reads: r#"{"tools":[ <a>  	,<c> ]}"#,
        refused: &[("b", CHANGED)],
    },
    Case {
        gives: r#"{"tools":[ <a> , <b>	,<C> ]}"#,
        reads: r#"{"tools":[ <a> , <b>	 ]}"#,
        refused: &[("c", CHANGED)],
    },
    Case {
        gives: r#"{"tools":[ <A> , <B>	,<C> ]}"#,
        reads: r#"{"tools":[   	 ]}"#,
        refused: &[("a", CHANGED), ("b", CHANGED), ("c", CHANGED)],
    },
    Case {
        gives: r#"{"tools":[<n>, <a> , <b>	,<c>,<m> ]}"#,
        reads: r#"{"tools":[ <a> , <b>	,<c> ]}"#,
        refused: &[("n", NEW), ("m", NEW)],
    },
    Case {
        gives: r#"{"tools":[<a>,<n>,<m>,<B>,<c>],"nextCursor":null}"#,
        reads: r#"{"tools":[<a>,<c>],"nextCursor":null}"#,
        refused: &[("b", CHANGED), ("n", NEW), ("m", NEW)],
    },
    Case {
        gives: r#"{"tools":[ <b>,<c>,<a> ]}"#,
        reads: r#"{"tools":[ <b>,<c>,<a> ]}"#,
        refused: &[("n", NEW), ("unheard", NEW)],
    },
];

#[test]
fn wrap_48_refuse_cuts_entries_that_are_not_the_pinned_ones_and_no_other_byte() {
    for era in ERAS {
        let place = Place::new();
        place.gives(&fill(r#"[{"tools":[<a>,<b>,<c>]}]"#));
        place.pin(era);
        let (mut wrap, _) = place.greeted(Setup::new(era).with(&["--pin", "refuse"]));
        for (number, Case { gives, reads, refused }) in CASES.iter().enumerate() {
            place.gives(&fill(&format!("[{gives}]")));
            let line = wrap.list("list");
            assert!(line == answer("list", &fill(reads)), "{gives}: {} bytes", line.len());
            for (tool, code) in *refused {
                wrap.refused(&format!("{number}-{tool}"), tool, code);
            }
            for tool in ["a", "b", "c"] {
                if !refused.iter().any(|(name, _)| *name == tool) {
                    wrap.passes(&format!("{number}-{tool}"), tool);
                }
            }
        }
        assert_eq!(wrap.own_requests(), [Value::Null; 0], "the client's lists are enough");
        assert_eq!(wrap.end().code(), 0);
        let expected: Vec<&str> = ["pinned"].into_iter().chain(["seen"; 6]).collect();
        assert_eq!(place.events(), expected);
        place.run(&["verify"]).ends(0);
    }
}

#[test]
fn wrap_48_a_list_inside_an_array_is_cut_as_well() {
    for era in ERAS {
        let place = Place::new();
        place.gives(&fill(r#"[{"tools":[<a>,<b>]}]"#));
        place.pin(era);
        let (mut wrap, _) = place.greeted(Setup::new(era).with(&["--pin", "refuse"]));
        place.gives(&fill(r#"[{"tools":[<A>, <b>,<n>]}]"#));
        let batch = json!([wrap.request(json!("ping"), "ping"), wrap.request(json!("list"), "tools/list")]);
        wrap.send(&batch);
        let list = answer("list", &fill(r#"{"tools":[ <b>]}"#));
        assert_eq!(wrap.text(), format!("[{},{}]\n", answer("ping", "{}").trim_end(), list.trim_end()));
        wrap.refused("changed", "a", CHANGED);
        assert_eq!(place.events(), ["pinned", "seen"]);
    }
}

#[test]
fn wrap_48_warn_cuts_nothing() {
    for era in ERAS {
        let place = Place::new();
        place.gives(&fill(r#"[{"tools":[<a>,<b>,<c>]}]"#));
        place.pin(era);
        let (mut wrap, _) = place.greeted(Setup::new(era));
        for (number, Case { gives, refused, .. }) in CASES.iter().enumerate() {
            place.gives(&fill(&format!("[{gives}]")));
            let line = wrap.list("list");
            assert!(line == answer("list", &fill(gives)), "{gives}: {} bytes", line.len());
            for (tool, _) in *refused {
                wrap.passes(&format!("{number}-{tool}"), tool);
            }
        }
        let expected: Vec<&str> = ["pinned"].into_iter().chain(["seen"; 6]).collect();
        assert_eq!(place.events(), expected);
    }
}

#[test]
fn wrap_49_a_renamed_tool_is_withheld_and_a_missing_one_changes_nothing() {
    for era in ERAS {
        let place = Place::new();
        place.lists(&[tool("find_word", "One."), tool("get", "One.")]);
        place.pin(era);
        let (mut wrap, _) = place.greeted(Setup::new(era).with(&["--pin", "refuse"]));
        let fewer = json!({ "tools": [tool("get", "One.")] }).to_string();
        place.gives(&format!("[{fewer}]"));
        assert_eq!(wrap.list("fewer"), answer("fewer", &fewer));
        wrap.passes("missing", "find_word");
        let said = wrap.refused("unheard", "find_all", "WRAP_TOOL_NEW");
        assert_eq!(
            said,
            "colibri wrap: odd lists no tool \"find_all\", and none is pinned, so it was not called"
        );
        assert_eq!(place.events(), ["pinned"]);
        place.lists(&[tool("find_words", "One."), tool("get", "One.")]);
        assert_eq!(names(&wrap.list("renamed")), ["get"]);
        let said = wrap.refused("new", "find_words", "WRAP_TOOL_NEW");
        assert!(said.starts_with("colibri wrap: the tool \"find_words\" of odd is not among"), "{said}");
        wrap.passes("old", "find_word");
        wrap.server.await_stderr("break [T2] find_word /name: ");
        assert_eq!(place.events(), ["pinned", "seen"]);
        assert_eq!(wrap.end().code(), 0);
    }
}

#[test]
fn wrap_49_other_instructions_are_cut_until_they_are_accepted() {
    for era in ERAS {
        let place = Place::new();
        let pages = |instructions: &str| {
            place.gives(
                &json!([{ "instructions": instructions, "tools": [tool("get", "One.")] }]).to_string(),
            );
        };
        pages("Ask.");
        let (mut wrap, pinned) = place.greeted(Setup::new(era));
        wrap.list("pin");
        wrap.end();
        let member = "\"instructions\":\"Ask.\"";
        assert!(pinned.contains(member), "{pinned}");
        let without = pinned.replace(&format!("{member},"), "").replace(&format!(",{member}"), "");

        pages("You must ask.");
        let refuse = || Setup::new(era).with(&["--pin", "refuse"]);
        let (mut wrap, cut) = place.greeted(refuse());
        assert_eq!(cut, without);
        // The tools are the pinned ones.
        assert_eq!(names(&wrap.list("list")), ["get"]);
        wrap.passes("call", "get");
        wrap.server.await_stderr("WARN [wrap] odd: the instructions changed since ");
        wrap.server.await_stderr("security [C3] /instructions: ");
        assert_eq!(place.events(), ["pinned", "seen"]);
        let other = pinned.replace("Ask.", "You must ask.");
        place.run(&["pins", "diff", "odd"]).ends(1).says("The instructions changed.");
        place.run(&["pins", "accept", "odd"]).ends(0);
        if wrap.era == Era::Stateless {
            // Such a client may ask at any time.
            assert_eq!(wrap.greet(), other);
        }
        wrap.end();
        let (mut wrap, whole) = place.greeted(refuse());
        assert_eq!(whole, other);
        wrap.list("list");
        let ended = wrap.end();
        assert!(ended.warnings().is_empty(), "{}", ended.stderr);

        pages("Ask them.");
        let (mut wrap, warned) = place.greeted(Setup::new(era));
        assert_eq!(warned, pinned.replace("Ask.", "Ask them."));
        wrap.list("list");
        assert_eq!(place.events(), ["pinned", "seen", "accepted", "seen"]);
    }
}

#[test]
fn wrap_49_a_greeting_that_is_too_long_to_be_compared_is_answered_with_an_error() {
    for era in ERAS {
        let place = Place::new();
        let page = json!([{ "instructions": "x".repeat(2 << 20), "tools": [tool("get", "One.")] }]);
        place.gives(&page.to_string());
        let (wrap, whole) = place.greeted(Setup::new(era));
        let greeting: Value = serde_json::from_str(&whole).unwrap();
        assert!(greeting["result"]["instructions"] == page[0]["instructions"]);
        wrap.end();
        let mut wrap = place.start_silent(Setup::new(era).with(&["--pin", "refuse"]));
        // Most of the line has left when its end is known, and then no reader takes it.
        let broken = wrap.greet();
        assert!(serde_json::from_str::<Value>(&broken).is_err());
        let error = wrap.message();
        assert_eq!(
            (&error["id"], &error["error"]["data"]["code"]),
            (&json!("hello"), &json!("WRAP_LIST_UNKNOWN"))
        );
        assert_eq!(error["error"]["message"], "the instructions of odd could not be read");
        wrap.ping();
    }
}
