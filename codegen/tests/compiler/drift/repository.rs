//! The gate in a git repository: which commit is the base, and what it reports for a narrowed input.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// A repository with the golden catalogue in `catalogue/` and its lock.
struct Repository {
    folder: TempDir,
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"]);
    let output = clean(&mut command).args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Clears the variables by which hooks tell git where they run; this repository is elsewhere.
fn clean(command: &mut Command) -> &mut Command {
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        command.env_remove(name);
    }
    command
}

impl Repository {
    fn new() -> Self {
        let repository = Self { folder: tempfile::tempdir().unwrap() };
        git(repository.path(), &["init", "--quiet", "--initial-branch=main"]);
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/catalogue"), &repository.catalogue());
        repository.commit("first");
        repository
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn catalogue(&self) -> PathBuf {
        self.path().join("catalogue")
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_colibri-codegen"));
        clean(&mut command).args(arguments).current_dir(self.path()).output().unwrap()
    }

    /// Commits everything, with a current lock.
    fn commit(&self, message: &str) {
        let output = self.run(&["lock"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        git(self.path(), &["add", "--all"]);
        git(self.path(), &["commit", "--quiet", "--message", message]);
    }

    fn edit(&self, file: &str, from: &str, to: &str) {
        let path = self.catalogue().join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{file}: {from}");
        fs::write(path, text.replacen(from, to, 1)).unwrap();
    }

    /// Exit code, stdout and stderr of the gate.
    fn drift(&self, arguments: &[&str]) -> (i32, String, String) {
        let output = self.run(&[&["drift"], arguments].concat());
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
    }

    /// Pastes the waivers of the report, with a reason.
    fn paste_waivers(&self, report: &str, reason: &str) {
        let lines: Vec<&str> = report.lines().filter(|line| line.starts_with("    - { rule: ")).collect();
        let lines = lines.join("\n").replace("WHY CLIENTS CAN LIVE WITH IT", reason);
        self.edit("catalogue.yaml", "waivers: []", &format!("waivers:\n{lines}"));
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (path, name) = {
            let entry = entry.unwrap();
            (entry.path(), entry.file_name())
        };
        if path.is_dir() {
            copy(&path, &to.join(name));
        } else {
            fs::copy(&path, to.join(name)).unwrap();
        }
    }
}

/// A change that narrows an input, on a branch.
fn narrowed() -> Repository {
    let repository = Repository::new();
    git(repository.path(), &["switch", "--quiet", "--create", "change"]);
    repository.edit(
        "tools/shapes.yaml",
        "dash: { type: string, maxLength: 8 }",
        "dash: { type: string, maxLength: 4 }",
    );
    repository.commit("shorter dashes");
    repository
}

#[test]
fn narrowed_input_fails_with_a_text_that_says_how_to_go_on() {
    let repository = narrowed();
    let (code, told, _) = repository.drift(&[]);
    assert_eq!(code, 1, "{told}");
    let base = git(repository.path(), &["rev-parse", "main"]);
    super::golden(&super::here().join("expected/narrowed.txt"), &told.replace(&base[..9], "BASE"));

    // The report says enough: the version and the waivers as given, and a reason.
    repository.edit("catalogue.yaml", "version: 1.2.3", "version: 2.0.0");
    repository.paste_waivers(&told, "No drawing has dashes that long.");
    repository.commit("accept it");
    let (code, told, stderr) = repository.drift(&[]);
    assert_eq!(code, 0, "{told}{stderr}");
    assert!(told.contains("reason: No drawing has dashes that long."), "{told}");
}

#[test]
fn pasted_waiver_without_a_reason_of_its_own_does_not_do() {
    let repository = narrowed();
    let (_, told, _) = repository.drift(&[]);
    repository.edit("catalogue.yaml", "version: 1.2.3", "version: 2.0.0");
    repository.paste_waivers(&told, "WHY CLIENTS CAN LIVE WITH IT");
    let (code, told, _) = repository.drift(&[]);
    assert_eq!(code, 1);
    assert!(told.contains("FAIL [C10]") && told.contains("gives no reason"), "{told}");
}

#[test]
fn widened_input_passes_and_is_listed() {
    let repository = Repository::new();
    git(repository.path(), &["switch", "--quiet", "--create", "change"]);
    repository.edit(
        "tools/shapes.yaml",
        "dash: { type: string, maxLength: 8 }",
        "dash: { type: string, maxLength: 9 }",
    );
    repository.commit("longer dashes");
    let (code, told, _) = repository.drift(&[]);
    assert_eq!(code, 0, "{told}");
    assert!(told.contains("Listed only") && told.contains("INFO [I7] shape_draw"), "{told}");
}

#[test]
fn default_branch_is_compared_with_its_parent_and_a_spent_waiver_fails_with_the_next_change_only() {
    let repository = narrowed();
    let (_, told, _) = repository.drift(&[]);
    repository.edit("catalogue.yaml", "version: 1.2.3", "version: 2.0.0");
    repository.paste_waivers(&told, "No drawing has dashes that long.");
    repository.commit("accept it");
    git(repository.path(), &["switch", "--quiet", "main"]);
    git(repository.path(), &["merge", "--quiet", "--no-ff", "--no-edit", "change"]);
    let (code, told, _) = repository.drift(&[]);
    assert_eq!(code, 0, "{told}");
    assert!(told.contains("(the commit before this one)") && told.contains("1 change is waived"), "{told}");

    // The change has landed: its waiver does not fail other people's work, and the next change removes it.
    fs::write(repository.path().join("README.md"), "x").unwrap();
    repository.commit("something else");
    let (code, told, _) = repository.drift(&[]);
    assert_eq!(code, 0, "{told}");
    repository.edit("catalogue.yaml", "title: Golden", "title: Gold");
    repository.commit("another title");
    let (code, told, _) = repository.drift(&[]);
    assert_eq!(code, 1);
    assert!(told.contains("FAIL [C10]") && told.contains("remove it"), "{told}");
}

#[test]
fn clone_needs_its_history_and_no_remote_of_its_own() {
    let repository = narrowed();
    let clones = tempfile::tempdir().unwrap();
    let source = format!("file://{}", repository.path().display());
    let run = |name: &str, arguments: &[&str]| {
        git(clones.path(), &[&["clone", "--quiet"], arguments, &[&source, name]].concat());
        let mut command = Command::new(env!("CARGO_BIN_EXE_colibri-codegen"));
        let output = clean(&mut command).arg("drift").current_dir(clones.path().join(name)).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, told) = run("shallow", &["--depth", "1", "--branch", "change"]);
    assert_eq!(code, 2, "{told}");
    assert!(told.contains("has no history") && told.contains("fetch-depth: 0"), "{told}");
    assert_eq!(run("full", &["--branch", "change"]).0, 1);
    assert_eq!(run("first", &["--branch", "main"]), (0, String::new()));
}

#[test]
fn what_has_no_base_is_told() {
    let repository = Repository::new();
    let (code, _, told) = repository.drift(&["--base", "v9"]);
    assert_eq!(code, 2);
    assert!(told.contains("the revision `v9` is not known here"), "{told}");

    git(repository.path(), &["rm", "--quiet", "catalogue/catalogue.lock.json"]);
    git(repository.path(), &["commit", "--quiet", "--message", "no lock"]);
    repository.commit("a lock again");
    let (code, _, told) = repository.drift(&[]);
    assert_eq!(code, 0);
    assert!(told.contains("has no catalogue.lock.json"), "{told}");

    let folder = tempfile::tempdir().unwrap();
    copy(&repository.catalogue(), &folder.path().join("catalogue"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_colibri-codegen"));
    let output = clean(&mut command)
        .env("GIT_CEILING_DIRECTORIES", folder.path().parent().unwrap())
        .arg("drift")
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("is in no git repository"));
}

#[test]
fn a_dirty_tree_on_the_first_commit_is_compared_with_it() {
    let repository = Repository::new();
    let (code, told, _) = repository.drift(&[]);
    assert_eq!(code, 0, "{told}");
    assert!(told.contains("(the first commit)") && told.contains("Nothing changed for clients."), "{told}");
    repository.edit(
        "tools/shapes.yaml",
        "dash: { type: string, maxLength: 8 }",
        "dash: { type: string, maxLength: 4 }",
    );
    let (code, told, _) = repository.drift(&[]);
    assert_eq!(code, 1, "{told}");
    assert!(told.contains("(the first commit)") && told.contains("BREAK [I7] shape_draw"), "{told}");

    let empty = tempfile::tempdir().unwrap();
    git(empty.path(), &["init", "--quiet", "--initial-branch=main"]);
    copy(&repository.catalogue(), &empty.path().join("catalogue"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_colibri-codegen"));
    let output = clean(&mut command).arg("drift").current_dir(empty.path()).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        (output.status.code(), told.as_str()),
        (Some(0), "nothing to compare with: there is no commit yet\n")
    );
}

#[test]
fn catalogue_that_moved_is_found_by_its_lock() {
    let repository = narrowed();
    git(repository.path(), &["mv", "catalogue", "tools"]);
    git(repository.path(), &["commit", "--quiet", "--message", "move"]);
    let (code, told, _) = repository.drift(&["tools"]);
    assert_eq!(code, 1, "{told}");
    assert!(told.contains("BREAK [I7] shape_draw"), "{told}");
}

#[test]
fn named_base_is_compared_with_itself() {
    let repository = narrowed();
    let (code, told, _) = repository.drift(&["catalogue", "--base", "HEAD"]);
    assert_eq!(code, 0, "{told}");
    assert!(told.contains("Nothing changed for clients."), "{told}");
    assert_eq!(repository.drift(&["--base", "main"]).0, 1);
}

#[test]
fn annotations_point_at_the_entry_of_the_tool() {
    let (code, told, _) = narrowed().drift(&["--format", "github"]);
    assert_eq!(code, 1);
    let line = told.lines().find(|line| line.contains("title=BREAK I7")).unwrap();
    assert!(line.starts_with("::error file=catalogue/tools/shapes.yaml,line=5,col="), "{line}");
    assert!(line.contains("%0ATo go on: "), "{line}");
}

#[test]
fn settings_of_the_catalogue_decide_and_a_rule_that_is_unknown_is_told_with_its_line() {
    let repository = narrowed();
    let head = repository.catalogue().join("catalogue.yaml");
    let text = fs::read_to_string(&head).unwrap();
    let set = |drift: &str| {
        fs::write(&head, text.replacen("  waivers: []", drift.trim_end(), 1)).unwrap();
        repository.drift(&[])
    };
    for (drift, expected) in [
        ("  profile: strict\n", 1),
        ("  fail-on: never\n", 0),
        ("  rules:\n    input-bound-tightened: info\n", 0),
        ("  rules: { I7: ack, version-not-bumped: info }\n", 1),
    ] {
        let (code, told, said) = set(drift);
        assert_eq!(code, expected, "{drift}: {told}{said}");
    }
    let (code, _, told) = set("  rules:\n    input-bound-tightend: info\n");
    assert_eq!(code, 2, "{told}");
    assert!(
        told.contains("catalogue.yaml:") && told.contains("did you mean `input-bound-tightened`?"),
        "{told}"
    );
}
