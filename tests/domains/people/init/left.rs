//! Files that are left as they are, and links.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};

use colibri_test_support::other_user::{NOBODY, as_nobody, is_root};
use colibri_test_support::shell::Run;

use super::Desk;

#[test]
fn people_69_a_file_that_cannot_take_the_block_stays_as_it_is() {
    let entry = "{\"mcpServers\": {\"colibri\": {\"command\": \"mine\"}}}";
    for (host, file, content, reason) in [
        ("zed", ".config/zed/settings.json", &b"// Zed settings\n{\n}\n"[..], "it is not plain JSON"),
        ("vscode", ".config/Code/User/mcp.json", b"{ /* a */ }", "it is not plain JSON"),
        ("gemini", ".gemini/settings.json", b"{\"a\": 1,}", "it is not plain JSON"),
        ("cursor", ".cursor/mcp.json", b"{\"a\": \"\xff\"}", "it is not UTF-8"),
        (
            "cursor",
            ".cursor/mcp.json",
            b"\xef\xbb\xbf{}",
            "it begins with a byte order mark; save it as UTF-8",
        ),
        ("codex", ".codex/config.toml", b"\xef\xbb\xbfmodel = 1\n", "it begins with a byte order mark"),
        (
            "cursor",
            ".cursor/mcp.json",
            entry.as_bytes(),
            "it has another entry \"colibri\" already, which differs in command, args, env",
        ),
        ("claude-code", ".claude.json", b"[]", "does not have the form"),
        ("windsurf", ".codeium/windsurf/mcp_config.json", b"{\"mcpServers\": []}", "is not an object"),
        ("codex", ".codex/config.toml", b"# mine\nmodel = \"x\"\n", "it has a comment in line 1"),
        ("codex", ".codex/config.toml", b"model = \n", "line 1 is not plain TOML"),
        ("codex", ".codex/config.toml", b"[mcp_servers.colibri]\ncommand = \"x\"\n", "another entry"),
    ] {
        let desk = Desk::new();
        desk.write(file, content);
        // The key and the project's file are apart from it.
        desk.init(&["--host", "jetbrains", "--write"]).ends(1).says("AGENTS.md");
        let files = desk.files();
        let run = desk.init(&["--host", host, "--write"]).ends(1);
        assert_eq!(desk.files(), files, "{host}: {content:?}");
        let told = format!("left   {}: ", desk.file(file).display());
        assert!(run.out.contains(&told) && run.out.contains(reason), "{}", run.out);
        assert!(run.out.contains("COLIBRI_DB_PATH"), "the block is printed: {}", run.out);
        assert!(run.err.is_empty(), "{}", run.err);
    }
}

#[test]
fn people_69_an_older_copy_is_never_lost() {
    let desk = Desk::new();
    desk.write(".cursor/mcp.json", "{}");
    desk.write(".cursor/mcp.json.before-colibri", "precious");
    let run = desk.init(&["--host", "cursor", "--no-key", "--write"]).ends(1);
    assert!(run.out.contains("mcp.json.before-colibri is there already; move it away"), "{}", run.out);
    assert_eq!(desk.read(".cursor/mcp.json"), "{}");
    assert_eq!(desk.read(".cursor/mcp.json.before-colibri"), "precious");
}

#[test]
fn people_69_links_are_followed_and_stay() {
    let desk = Desk::new();
    let target = desk.write("dotfiles/cursor.json", "{}\n");
    fs::create_dir(desk.file(".cursor")).unwrap();
    symlink(&target, desk.file(".cursor/mcp.json")).unwrap();
    desk.init(&["--host", "cursor", "--no-key", "--write"])
        .ends(0)
        .says("dotfiles/cursor.json.before-colibri");
    assert_eq!(fs::read_link(desk.file(".cursor/mcp.json")).unwrap(), target);
    assert!(desk.read("dotfiles/cursor.json").contains("\"colibri\""));
    assert_eq!(desk.read("dotfiles/cursor.json.before-colibri"), "{}\n");
    // A link to a missing file, and a folder under the file's name.
    fs::create_dir_all(desk.file(".gemini/settings.json")).unwrap();
    symlink(desk.file("missing"), desk.file(".claude.json")).unwrap();
    for (host, reason) in
        [("claude-code", "it is a link to a file that is missing"), ("gemini", "not a regular file")]
    {
        let run = desk.init(&["--host", host, "--no-key", "--write"]).ends(1);
        assert!(run.out.contains(reason), "{}", run.out);
    }
    assert!(!desk.file("missing").exists());
}

#[test]
fn people_69_a_folder_without_rights_is_named() {
    let desk = Desk::new();
    desk.write(".cursor/mcp.json", "{}");
    if is_root() {
        // Modes keep only another user out.
        for path in ["..", ".", "project", ".cursor", ".cursor/mcp.json"] {
            chown(desk.file(path), Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }
    fs::set_permissions(desk.file(".cursor"), fs::Permissions::from_mode(0o500)).unwrap();
    let command = desk.command(&["--host", "cursor", "--no-key", "--write"]);
    let run = Run::of(as_nobody(&command).output().unwrap()).ends(1);
    fs::set_permissions(desk.file(".cursor"), fs::Permissions::from_mode(0o700)).unwrap();
    assert!(run.err.contains("mcp.json was not changed: the new file cannot be written"), "{}", run.err);
    assert_eq!(desk.read(".cursor/mcp.json"), "{}");
}
