//! Files of TOML that take a table, and files that do not.

#![allow(clippy::unwrap_used)]

use super::{Change, with_server};

const TABLES: &str = "[mcp_servers.colibri]\ncommand = \"c\"\n";

fn after(text: &str) -> Result<String, String> {
    match with_server(text, "mcp_servers", TABLES) {
        Ok(Change::To(new)) => Ok(new),
        Ok(Change::Nothing) => Ok(text.to_owned()),
        Err(left) => Err(left.0),
    }
}

#[test]
fn tables_go_behind_the_end_of_plain_toml() {
    for (text, gap) in [
        ("", ""),
        ("a = 1\n", "\n"),
        ("a = 1", "\n\n"),
        ("a = 1\r\n", "\r\n"),
        (
            "model = \"o\\\"#\\u00e9\"\n'odd key'.\"b c\" = '#'\nn = [\n  1,\n  { x = true, y = -1.5e3 },\n]\n[mcp_servers.other]\n\
             command = \"x\"\nenv = {}\nd = 1979-05-27T07:32:00Z\n[[profiles]]\nt = \"\"\"\nfree # text \\\"\"\" and \"\"\"\"\"\n\
             l = '''\n# '' '''\n[mcp_servers.other.env]\nA = \"B\"\n",
            "\n",
        ),
    ] {
        let tables = if text.contains('\r') { TABLES.replace('\n', "\r\n") } else { TABLES.to_owned() };
        let expected = format!("{text}{gap}{tables}");
        assert_eq!(after(text).as_ref(), Ok(&expected), "{text}");
        assert_eq!(after(&expected).as_ref(), Ok(&expected), "again: {text}");
    }
}

#[test]
fn what_is_not_understood_is_left() {
    for (text, reason) in [
        ("a = 1 # why\n", "a comment in line 1"),
        ("a = 1\n\n# why\nb = 2\n", "a comment in line 3"),
        ("a = [\n 1, # why\n]\n", "a comment in line 2"),
        ("a\n", "line 1 is not plain TOML"),
        ("a = 1\nb = \n", "line 2 is not plain TOML"),
        ("a = \"x\nb = 2\n", "line 1 is not plain TOML"),
        ("a = \"\"\"x\n", "is not plain TOML"),
        ("a = '''x\n", "is not plain TOML"),
        ("a = \"\\", "is not plain TOML"),
        ("a = \"\"\"\\", "is not plain TOML"),
        ("a = word\n", "line 1 is not plain TOML"),
        ("a = 1 b = 2\n", "line 1 is not plain TOML"),
        ("[a\n", "line 1 is not plain TOML"),
        ("é = 1\n", "line 1 is not plain TOML"),
        ("{\"a\": 1}\n", "line 1 is not plain TOML"),
        ("mcp_servers = {}\n", "is not a table of tables"),
        ("[[mcp_servers]]\n", "is not a table of tables"),
        ("[mcp_servers.colibri]\ncommand = \"d\"\n", "another entry"),
        ("[mcp_servers]\ncolibri = { command = \"d\" }\n", "another entry"),
        ("mcp_servers.\"colibri\".command = 'd'\n", "another entry"),
        ("[mcp_servers.colibri.env]\n", "another entry"),
    ] {
        let left = after(text).unwrap_err();
        assert!(left.contains(reason), "{text}: {left}");
    }
    assert!(after(&format!("a = {}1", "[".repeat(100_000))).is_err(), "the stack holds");
}
