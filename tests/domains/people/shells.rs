//! What shells and readers of manual pages make of `colibri completions` and `colibri man`.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use colibri_test_support::shell::{Run, Shell};

/// `require` for a run that must not skip a shell that Debian has; `.ci/shells` is one.
const VARIABLE: &str = "COLIBRI_TEST_SHELLS";

fn shell() -> Shell {
    Shell::new(env!("CARGO_BIN_EXE_colibri-under-test"))
}

/// Whether the program is installed. If it is missing, the test says what to install.
fn has(program: &str) -> bool {
    let started = Command::new(program).arg("--version").stdin(Stdio::null()).output();
    if started.is_ok() {
        return true;
    }
    let required = std::env::var(VARIABLE).is_ok_and(|value| value == "require");
    assert!(!required, "{program} is missing; on Debian: apt-get install {program}");
    say(&format!("skipped: {program} is missing; on Debian: apt-get install {program}"));
    false
}

/// Past the harness, which keeps what a test prints if it passes.
fn say(text: &str) {
    let mut stderr = std::io::stderr();
    writeln!(stderr, "{text}").unwrap();
}

/// What a shell does with a script, in a folder that has the completion as `completion`.
fn run(of: &Shell, program: &str, arguments: &[&str]) -> Run {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(of.path()).env("HOME", of.path()).stdin(Stdio::null());
    Run::of(command.output().unwrap())
}

fn with_completion(name: &str) -> Shell {
    let shell = shell();
    let written = shell.run(&["completions", name]).ends(0);
    assert!(written.err.is_empty() && written.out.contains("timeline"), "{}", written.err);
    fs::write(shell.path().join("completion"), &written.out).unwrap();
    shell
}

#[test]
fn people_71_bash_completes_commands_and_options() {
    let shell = with_completion("bash");
    let script = "source ./completion; complete -p colibri
        COMP_WORDS=(colibri ta); COMP_CWORD=1; _colibri colibri ta colibri; echo \"${COMPREPLY[@]}\"
        COMP_WORDS=(colibri tasks --ass); COMP_CWORD=2; _colibri colibri --ass tasks; echo \"${COMPREPLY[@]}\"";
    let done = run(&shell, "bash", &["--norc", "-euc", script]).ends(0);
    assert!(done.err.is_empty(), "{}", done.err);
    let lines: Vec<_> = done.out.lines().collect();
    assert_eq!(lines[1..], ["tasks task", "--assignee"], "{}", done.out);
}

#[test]
fn people_71_zsh_takes_its_completion() {
    let shell = with_completion("zsh");
    if !has("zsh") {
        return;
    }
    let script = "autoload -Uz compinit; compinit -u -d dump; source ./completion; echo $_comps[colibri]; whence -w _colibri";
    let done = run(&shell, "zsh", &["-fc", script]).ends(0);
    assert_eq!((done.out.as_str(), done.err.as_str()), ("_colibri\n_colibri: function\n", ""));
}

#[test]
fn people_71_fish_completes_commands_and_options() {
    let shell = with_completion("fish");
    if !has("fish") {
        return;
    }
    let script = "source ./completion; complete -C 'colibri ta'; complete -C 'colibri tasks --ass'";
    let done = run(&shell, "fish", &["--no-config", "-c", script]).ends(0);
    let words: Vec<_> = done.out.lines().map(|line| line.split('\t').next().unwrap()).collect();
    assert_eq!((words, done.err.as_str()), (vec!["task", "tasks", "--assignee"], ""), "{}", done.out);
}

#[test]
fn people_71_elvish_completes_commands() {
    let shell = with_completion("elvish");
    if !has("elvish") {
        return;
    }
    // The module `edit:` is there on a terminal only; this is what the completion uses of it.
    let script = "
        var candidate = {|word &display='' &code-suffix=''| put $word}
        var edit: = (ns [&completion:=(ns [&arg-completer=[&]]) &complex-candidate~=$candidate])
        eval (slurp < completion) &ns=(ns [&edit:=$edit:])
        $edit:completion:arg-completer[colibri] colibri '' | each {|word| echo $word}";
    let done = run(&shell, "elvish", &["-norc", "-c", script]).ends(0);
    assert!(
        done.err.is_empty() && done.out.lines().any(|word| word == "timeline"),
        "{}{}",
        done.out,
        done.err
    );
}

/// Debian has no package of PowerShell, so this runs where another way has installed it.
#[test]
fn people_71_powershell_takes_its_completion() {
    let shell = with_completion("powershell");
    if Command::new("pwsh").arg("--version").output().is_err() {
        say("skipped: pwsh is missing; github.com/PowerShell/PowerShell has packages");
        return;
    }
    let script = "$ErrorActionPreference = 'Stop'; . ./completion; \
                  (TabExpansion2 'colibri ta' 10).CompletionMatches.CompletionText";
    fs::rename(shell.path().join("completion"), shell.path().join("completion.ps1")).unwrap();
    let done =
        run(&shell, "pwsh", &["-NoProfile", "-Command", &script.replace("./completion", "./completion.ps1")]);
    let done = done.ends(0);
    assert_eq!(done.out.lines().collect::<Vec<_>>(), ["task", "tasks"], "{}", done.err);
}

#[test]
fn people_71_a_shell_that_is_unknown_is_refused_with_the_names_of_the_others() {
    let refused = shell().run(&["completions", "tcsh"]).ends(2);
    assert!(refused.err.contains("bash, elvish, fish, powershell, zsh"), "{}", refused.err);
}

#[test]
fn people_71_manual_pages_render_and_none_is_overwritten() {
    let shell = shell();
    shell.run(&["man", "a/man1"]).ends(0).says("pages to a/man1; man -l a/man1/colibri.1 shows the first");
    let folder = shell.path().join("a/man1");
    let pages: Vec<_> = fs::read_dir(&folder).unwrap().map(|page| page.unwrap().path()).collect();
    for name in ["colibri.1", "colibri-tasks.1", "colibri-postgres-setup.1", "colibri-man.1"] {
        assert!(pages.iter().any(|page| page.ends_with(name)), "{name} is missing: {pages:?}");
    }
    let begins = format!(".TH colibri 1 \"\" \"colibri {}\" Colibri\n", env!("CARGO_PKG_VERSION"));
    assert!(fs::read_to_string(folder.join("colibri.1")).unwrap().contains(&begins));
    for (program, arguments) in
        [("groff", &["-man", "-ww", "-z"][..]), ("mandoc", &["-T", "lint", "-W", "error"])]
    {
        if !has(program) {
            continue;
        }
        for page in &pages {
            let checked = run(&shell, program, &[arguments, &[page.to_str().unwrap()]].concat());
            assert_eq!(
                (checked.out.as_str(), checked.err.as_str()),
                ("", ""),
                "{program} on {}",
                page.display()
            );
        }
    }
    // One page that is there stops all of them, and stays.
    let other = shell.path().join("b");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("colibri-tasks.1"), "mine").unwrap();
    let refused = shell.run(&["man", "b"]).ends(2);
    assert!(
        refused.err.contains("b/colibri-tasks.1 exists already and nothing was written"),
        "{}",
        refused.err
    );
    assert_eq!(fs::read_dir(&other).unwrap().count(), 1);
    assert_eq!(fs::read_to_string(other.join("colibri-tasks.1")).unwrap(), "mine");
    shell.run(&["man", "b/colibri-tasks.1"]).ends(2);
}

/// A page that another process writes stands for a disk that is full in the middle.
#[test]
fn people_71_pages_that_cannot_all_be_written_leave_none() {
    let shell = shell();
    let folder = shell.path().join("a");
    fs::create_dir(&folder).unwrap();
    let part = folder.join("colibri-tasks.1.colibri-part-4194305");
    let held = fs::File::create(&part).unwrap();
    held.lock().unwrap();
    let failed = shell.run(&["man", "a"]).ends(1);
    assert!(failed.err.contains("another command is writing a/colibri-tasks.1"), "{}", failed.err);
    let left: Vec<_> = fs::read_dir(&folder).unwrap().map(|page| page.unwrap().path()).collect();
    assert_eq!(left, [part]);
    drop(held);
    shell.run(&["man", "a"]).ends(0).says("pages to a;");
}

/// The package manager installs pages for all users of a machine.
#[cfg(unix)]
#[test]
fn people_71_manual_pages_can_be_read_by_others() {
    use std::os::unix::fs::PermissionsExt;

    let shell = shell();
    shell.run(&["man", "."]).ends(0);
    let page = fs::metadata(shell.path().join("colibri.1")).unwrap();
    assert_eq!(page.permissions().mode() & 0o777, 0o644);
}
