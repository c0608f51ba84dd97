//! Programs run as a user who is not root: modes and owners of files keep that user out.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// The number of that user and of its group.
pub const NOBODY: u32 = 65534;

/// Whether the tests run as root.
pub fn is_root() -> bool {
    static ROOT: OnceLock<bool> = OnceLock::new();
    *ROOT.get_or_init(|| Command::new("id").arg("-u").output().expect("id is installed").stdout == b"0\n")
}

/// The same command as that user. The tests' own user, if it is not root, is refused by modes already.
pub fn as_nobody(command: &Command) -> Command {
    if !is_root() {
        let mut same = Command::new(command.get_program());
        same.args(command.get_args());
        return with_surroundings(same, command);
    }
    let found = Command::new("setpriv").arg("--version").output().is_ok_and(|output| output.status.success());
    assert!(found, "this test runs as root and needs `setpriv` (util-linux) to become another user");
    let mut other = Command::new("setpriv");
    other.args([
        format!("--reuid={NOBODY}"),
        format!("--regid={NOBODY}"),
        "--clear-groups".into(),
        "--".into(),
    ]);
    other.arg(command.get_program()).args(command.get_args());
    with_surroundings(other, command)
}

fn with_surroundings(mut command: Command, like: &Command) -> Command {
    command.current_dir(like.get_current_dir().expect("the test sets it")).env_clear();
    for (name, value) in like.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

/// Copies a program to where another user may run it.
///
/// A process of its own copies it. While this one held the copy open for writing, a child that another test starts at that moment would
/// hold it, too, and the system runs no file that is open for writing.
///
/// # Panics
/// It cannot be copied.
pub fn copy_program(from: impl AsRef<Path>, to: &Path) {
    let copied = Command::new("cp").arg(from.as_ref()).arg(to).status().expect("cp runs");
    assert!(copied.success(), "the program is copied");
    std::fs::set_permissions(to, std::fs::Permissions::from_mode(0o755)).expect("its permissions are set");
}
