//! Names of wrapped servers, given or derived, and the patterns that admit tools.

use std::ffi::OsString;
use std::fmt::Write;

use colibri::wrap::name::{BadName, Name};
use colibri::wrap::policy::{BadPattern, Pattern, Policy};
use proptest::prelude::*;

#[test]
fn names_are_derived_from_what_a_launcher_starts() {
    for (command, name) in [
        ("npx -y @modelcontextprotocol/server-github", "server-github"),
        ("npx -y @modelcontextprotocol/server-github@2025.4.8 --flag", "server-github"),
        ("/usr/bin/npx @scope/a.b", "a.b"),
        ("uvx mcp-server-git --repository /srv", "mcp-server-git"),
        ("uvx mcp-server-git==1.2", "mcp-server-git"),
        ("bunx server_x", "server_x"),
        ("node dist/index.js", "index"),
        ("python3 -m mcp_server_time", "mcp_server_time"),
        ("python /opt/my_server.py", "my_server"),
        ("deno run -A jsr:@scope/server", "server"),
        ("pnpm dlx some-server", "some-server"),
        ("/opt/bin/gopls mcp", "gopls"),
        ("./server.exe", "server"),
        (r"C:\tools\odd.exe", "odd"),
        ("colibri", "colibri"),
        ("./a_very_long_name_of_a_server_that_goes_on", "a_very_long_name_of_a_server_tha"),
        ("./_x", "x"),
        ("./größe", "gr--e"),
    ] {
        let words: Vec<OsString> = command.split(' ').map(OsString::from).collect();
        assert_eq!(Name::of_command(&words).map(|found| found.to_string()), Ok(name.to_owned()), "{command}");
    }
}

#[test]
fn a_command_that_tells_no_name_is_refused() {
    for command in [
        "docker run -i x",
        "sh -c x",
        "env A=b x",
        "/bin/bash x",
        "npx",
        "npx -y",
        "deno test x",
        "pnpm run x",
        "uv run x",
        "./日本",
        "",
        "..",
    ] {
        let words: Vec<OsString> = command.split(' ').map(OsString::from).collect();
        let program = command.split(' ').next().unwrap_or_default();
        let error = Name::of_command(&words).unwrap_err();
        assert_eq!(error, BadName::Untold(program.to_owned()), "{command}");
        assert_eq!(error.to_string(), format!("cannot tell a name from \"{program}\"; give --name"));
    }
    assert!(Name::of_command(&[]).is_err());
}

#[test]
fn names_have_one_form() {
    for good in ["a", "0", "server-github", "A.b_c-d", &"a".repeat(32)] {
        assert_eq!(good.parse::<Name>().map(|name| name.as_str().to_owned()), Ok(good.to_owned()));
    }
    for bad in ["", "-a", ".a", "_a", "a b", "a/b", "é", "a\n", &"a".repeat(33)] {
        assert_eq!(bad.parse::<Name>(), Err(BadName::Form), "{bad}");
    }
}

#[test]
fn a_pattern_matches_whole_names() {
    for (pattern, fits, unfit) in [
        ("get", &["get"][..], &["gets", "forget", "Get", ""][..]),
        ("get*", &["get", "get_all", "get*"], &["forget", "ge"]),
        ("*", &["", "a", "any/thing"], &[]),
        ("?", &["a", "é", "\u{1f426}"], &["", "ab"]),
        ("a*b*c", &["abc", "aXbXc", "abcbc"], &["ab", "acb", "abcd"]),
        ("*_file", &["read_file", "_file", "x_file_file"], &["read_files", "file"]),
        ("??*", &["ab", "abc"], &["a"]),
        ("a*?", &["ab", "abc"], &["a"]),
        ("**", &["", "a"], &[]),
    ] {
        let pattern: Pattern = pattern.parse().unwrap();
        for name in fits {
            assert!(pattern.matches(name), "{pattern:?} {name}");
        }
        for name in unfit {
            assert!(!pattern.matches(name), "{pattern:?} {name}");
        }
    }
    assert_eq!("".parse::<Pattern>(), Err(BadPattern::Empty));
    assert_eq!("a".repeat(129).parse::<Pattern>(), Err(BadPattern::Long));
    assert_eq!("é".repeat(128).parse::<Pattern>().map(|pattern| pattern.as_str().len()), Ok(256));
}

/// The pattern as an automaton of another engine reads it.
fn by_expression(pattern: &str, name: &str) -> bool {
    let mut expression = "^".to_owned();
    for letter in pattern.chars() {
        match letter {
            '*' => expression.push_str("[^]*"),
            '?' => expression.push_str("[^]"),
            other => write!(expression, "\\u{{{:x}}}", u32::from(other)).unwrap(),
        }
    }
    expression.push('$');
    let engine = colibri_pattern::Regex::new(&expression).unwrap();
    engine.is_match(name, &colibri_pattern::Steps::default()).unwrap()
}

proptest! {
    #[test]
    fn patterns_match_as_expressions_do(pattern in "[ab*?é]{1,8}", name in "[abé\u{1f426}]{0,10}") {
        let parsed: Pattern = pattern.parse().unwrap();
        prop_assert_eq!(parsed.matches(&name), by_expression(&pattern, &name));
    }
}

#[test]
fn deny_wins_and_any_allow_asks_for_a_match() {
    let patterns = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<Pattern>>();
    let policy = |allow: &[&str], deny: &[&str]| Policy::new(patterns(allow), patterns(deny), false).unwrap();
    let both = policy(&["get*", "echo"], &["get-env"]);
    for (tool, admitted) in [("get-sum", true), ("echo", true), ("get-env", false), ("add", false)] {
        assert_eq!(both.admits(tool), admitted, "{tool}");
    }
    assert!(policy(&[], &["x"]).admits("y") && !policy(&[], &["x"]).admits("x"));
    assert!(policy(&[], &[]).admits("x") && !policy(&[], &[]).has_patterns());
    let long = "a".repeat(1 << 20);
    assert!(
        policy(&[], &[]).admits(&long)
            && !policy(&["*"], &[]).admits(&long)
            && !policy(&[], &["x"]).admits(&long)
    );
    let many = patterns(&["a"; 40]);
    assert_eq!(Policy::new(many.clone(), many, true), Err(BadPattern::Many));
    assert!(Policy::new(Vec::new(), Vec::new(), true).unwrap().is_read_only());
}
