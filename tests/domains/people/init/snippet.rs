//! The lines for agents between their markers, and the key.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::Desk;

const BEGIN: &str = "<!-- begin colibri -->";
const END: &str = "<!-- end colibri -->";
const FIRST: &str = "Record work with the MCP server colibri. Before you begin: audit_session_start,";

fn write(desk: &Desk) -> super::Run {
    desk.init(&["--host", "cursor", "--no-key", "--write"])
}

/// The lines of the snippet between its markers, with this end of line.
fn lines(line_end: &str) -> String {
    let desk = Desk::new();
    write(&desk).ends(0);
    let whole = desk.read("project/AGENTS.md");
    let inner = whole.strip_prefix(BEGIN).unwrap().strip_suffix(&format!("{END}\n")).unwrap().to_owned();
    assert!(inner.starts_with(&format!("\n{FIRST}")) && inner.matches('\n').count() == 4, "{inner}");
    inner.replace('\n', line_end)
}

#[test]
fn people_70_what_is_outside_of_the_markers_stays_byte_for_byte() {
    let (unix, windows) = (lines("\n"), lines("\r\n"));
    for (before, after) in [
        (
            format!("# Mine\n\n{BEGIN}\nold\n{END}\n\ttail  \n"),
            format!("# Mine\n\n{BEGIN}{unix}{END}\n\ttail  \n"),
        ),
        (format!("a {BEGIN}{END} b"), format!("a {BEGIN}{unix}{END} b")),
        (format!("a\r\n{BEGIN}\r\nold\r\n{END}\r\nb\n"), format!("a\r\n{BEGIN}{windows}{END}\r\nb\n")),
        ("# Mine\n".to_owned(), format!("# Mine\n\n{BEGIN}{unix}{END}\n")),
        ("no line end".to_owned(), format!("no line end\n\n{BEGIN}{unix}{END}\n")),
        ("a\r\nb\r\n".to_owned(), format!("a\r\nb\r\n\r\n{BEGIN}{windows}{END}\r\n")),
        (String::new(), format!("{BEGIN}{unix}{END}\n")),
    ] {
        let desk = Desk::new();
        let file = desk.write("project/AGENTS.md", &before);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o664)).unwrap();
        write(&desk).ends(0);
        assert_eq!(desk.read("project/AGENTS.md"), after, "{before:?}");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o664);
        let files = desk.files();
        write(&desk).ends(0);
        assert_eq!(desk.files(), files);
    }
}

#[test]
fn people_70_markers_that_do_not_fit_are_left_alone() {
    for (text, reason) in [
        (format!("{BEGIN}\nold\n"), "without <!-- end colibri -->"),
        (format!("old\n{END}\n"), "without <!-- begin colibri -->"),
        (format!("{END}\n{BEGIN}\n"), "comes before"),
        (format!("{BEGIN}\n{END}\n{BEGIN}\n{END}\n"), "more than once"),
        (format!("{BEGIN}\n{BEGIN}\n{END}\n"), "more than once"),
    ] {
        let desk = Desk::new();
        desk.write("project/AGENTS.md", &text);
        let run = write(&desk).ends(1);
        assert!(run.out.contains(reason) && run.out.contains(FIRST), "{}", run.out);
        assert_eq!(desk.read("project/AGENTS.md"), text);
        assert!(desk.file(".cursor/mcp.json").exists(), "the block is written all the same");
    }
}

#[test]
fn people_70_the_lines_go_where_the_project_tells_its_agents() {
    let desk = Desk::new();
    write(&desk).ends(0);
    let mode = fs::metadata(desk.file("project/AGENTS.md")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o644, "others work on the project, too");
    for (host, there, takes, hint) in [
        ("cursor", &["CLAUDE.md"][..], "CLAUDE.md", None),
        ("cursor", &["AGENTS.md"], "AGENTS.md", None),
        ("cursor", &["AGENTS.md", "CLAUDE.md"], "AGENTS.md", None),
        ("claude-code", &["AGENTS.md", "CLAUDE.md"], "CLAUDE.md", None),
        ("claude-code", &["AGENTS.md"], "AGENTS.md", Some("write the line @AGENTS.md into CLAUDE.md")),
        ("gemini", &["AGENTS.md", "CLAUDE.md", "GEMINI.md"], "GEMINI.md", None),
        (
            "gemini",
            &["AGENTS.md", "CLAUDE.md"],
            "AGENTS.md",
            Some("write the line @AGENTS.md into GEMINI.md"),
        ),
    ] {
        let desk = Desk::new();
        fs::create_dir(desk.file("other")).unwrap();
        for name in there {
            desk.write(&format!("other/{name}"), "mine\n");
        }
        let run = desk.init(&["--host", host, "--no-key", "--write", "--project", "../other"]).ends(0);
        assert_eq!(run.out.contains(" looks for "), hint.is_some(), "{}", run.out);
        run.says(hint.unwrap_or("Next: restart "));
        for name in there {
            let changed = desk.read(&format!("other/{name}")).contains(FIRST);
            assert_eq!(changed, *name == takes, "{there:?}: {name}");
        }
        assert_eq!(fs::read_dir(desk.file("other")).unwrap().count(), there.len());
        assert_eq!(fs::read_dir(desk.file("project")).unwrap().count(), 0);
    }
}

#[test]
fn people_70_the_key_is_private_and_never_overwritten() {
    let desk = Desk::new();
    let first = desk.init(&["--host", "cursor"]).ends(0);
    let key = ".config/colibri/seal.key";
    let mode = |path: &str| fs::metadata(desk.file(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(key), mode(".config/colibri")), (0o600, 0o700));
    let seed = desk.read(key);
    assert!(!first.out.contains(seed.trim()), "the seed is not shown");
    desk.init(&["--host", "cursor", "--write"]).ends(0).says("same   ");
    assert_eq!(desk.read(key), seed);
    fs::set_permissions(desk.file(key), fs::Permissions::from_mode(0o644)).unwrap();
    let exposed = desk.init(&["--host", "gemini", "--write"]).ends(2);
    assert!(exposed.err.contains("restrict it with: chmod 600"), "{}", exposed.err);
    assert!(!desk.file(".gemini").exists(), "nothing is written");
    assert_eq!(desk.read(key), seed);
}

#[test]
fn people_70_a_file_that_is_no_key_is_refused_and_stays() {
    let desk = Desk::new();
    desk.write("notes.txt", "not a key\n");
    fs::set_permissions(desk.file("notes.txt"), fs::Permissions::from_mode(0o600)).unwrap();
    symlink(desk.file("missing"), desk.file("dangling")).unwrap();
    let files = desk.files();
    for (named, told) in
        [("../notes.txt", "holds no signing key"), ("../dangling", "key file"), ("..", "key file")]
    {
        let refused = desk.init(&["--host", "cursor", "--write", "--key", named]).ends(2);
        assert!(
            refused.err.contains(told) && refused.out.is_empty(),
            "{named}: {}{}",
            refused.out,
            refused.err
        );
        assert_eq!(desk.files(), files);
    }
    desk.init(&["--host", "cursor", "--key", "new folder/k"]).ends(0);
    assert!(desk.file("project/new folder/k").is_file());
}
