//! The first hour, the auditor's walk-through and the page on consensus show what the commands really print. Their command
//! lines are run again here, in order, and must print what the page shows. Ids and hashes may differ, but must agree
//! with each other; times and durations may differ. `UPDATE_GOLDEN=1` writes the pages anew; look at the difference
//! before committing it.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

/// The folder in which the page's commands are run, as the page names it.
const SHOWN_FOLDER: &str = "/srv/audit";
/// The home folder of the person who types, and where `cargo install` puts the program.
const SHOWN_HOME: &str = "/srv/alice";
const SHOWN_PROGRAM: &str = "/srv/alice/.cargo/bin/colibri";

#[test]
fn the_first_hour_is_what_the_commands_print() {
    compare("tutorial/first-hour.md", "colibri call task_create");
}

#[test]
fn the_walk_through_is_what_the_commands_print() {
    compare("guide/auditing.md", "colibri check-proof");
}

#[test]
fn the_page_on_consensus_is_what_the_commands_print() {
    compare("guide/consensus.md", "colibri call vrf_eval");
}

/// The transcript at the top of README.md leaves lines out, where `…` stands, and no line is made up.
#[test]
fn the_readme_opens_with_what_the_demonstration_prints() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md")).unwrap();
    let block = page.split_once("<!-- demo -->\n```text\n$ colibri demo\n").unwrap().1;
    let printed = Machine::new().run("colibri demo");
    let mut rest = printed.lines();
    for shown in block.split_once("```\n").unwrap().0.lines().filter(|line| *line != "…") {
        assert!(
            rest.any(|line| line == shown),
            "the demonstration does not print, or not here: {shown}\n{printed}"
        );
    }
}

/// Holds a page, of which `command` begins a block, against this run.
fn compare(name: &str, command: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(name);
    let page = fs::read_to_string(&path).unwrap();
    let written = Machine::new().walk(&page);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, written).unwrap();
        return;
    }
    assert!(page.contains(&format!("```console\n$ {command}")), "{name} has lost its commands");
    let (printed, shown) = (Names::default().numbered(&written), Names::default().numbered(&page));
    for (number, (printed, shown)) in printed.lines().zip(shown.lines()).enumerate() {
        assert_eq!(printed, shown, "docs/{name}:{}: UPDATE_GOLDEN=1 writes it anew", number + 1);
    }
    assert_eq!(printed.lines().count(), shown.lines().count(), "UPDATE_GOLDEN=1 writes it anew");
}

/// A machine with nothing but `colibri` and the usual commands.
struct Machine {
    folder: TempDir,
    /// Lines that change the shell itself: folders and variables.
    said: String,
    /// Values of the page, and what they are in this run.
    values: HashMap<String, String>,
}

impl Machine {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("bin")).unwrap();
        fs::create_dir(folder.path().join("work")).unwrap();
        fs::create_dir(folder.path().join("home")).unwrap();
        symlink(env!("CARGO_BIN_EXE_colibri-under-test"), folder.path().join("bin/colibri")).unwrap();
        Self { folder, said: String::new(), values: HashMap::new() }
    }

    /// The page with the output of this run.
    fn walk(&mut self, page: &str) -> String {
        let mut written = String::new();
        let mut rest = page;
        while let Some((before, block)) = rest.split_once("```console\n") {
            let (block, after) = block.split_once("```\n").expect("a block ends");
            written += &format!("{before}```console\n{}```\n", self.block(block));
            rest = after;
        }
        written + rest
    }

    fn block(&mut self, block: &str) -> String {
        let mut written = String::new();
        for entry in block.split("$ ").skip(1) {
            let (command, shown) = entry.split_once('\n').unwrap_or((entry, ""));
            let command =
                self.values.iter().fold(command.to_owned(), |line, (old, new)| line.replace(old, new));
            let printed = self.run(&command);
            // What stood in place of a value is that value from here on.
            self.values.extend(variable_words(shown).zip(variable_words(&printed)));
            written += &format!("$ {command}\n{printed}");
        }
        written
    }

    fn run(&mut self, command: &str) -> String {
        let output = Command::new("sh")
            .args(["-c", &format!("{}exec 2>&1\n{command}", self.said)])
            .current_dir(self.folder.path().join("work"))
            .env_clear()
            .env("HOME", self.folder.path().join("home"))
            .env("PATH", format!("{}:/usr/bin:/bin", self.folder.path().join("bin").display()))
            .output()
            .unwrap();
        if ["export ", "unset ", "cd ", "TASK=", "KEY="].iter().any(|word| command.starts_with(word)) {
            self.said += &format!("{command}\n");
        }
        let text = String::from_utf8(output.stdout).unwrap();
        let real = self.folder.path().canonicalize().unwrap();
        let places = [
            (real.join("work"), SHOWN_FOLDER),
            (real.join("home"), SHOWN_HOME),
            (Path::new(env!("CARGO_BIN_EXE_colibri-under-test")).to_owned(), SHOWN_PROGRAM),
        ];
        let text =
            places.iter().fold(text, |text, (real, shown)| text.replace(real.to_str().unwrap(), shown));
        of_no_machine(&text)
    }
}

/// Puts a made-up user, machine and process in the place of this run's, in rows of callers.
fn of_no_machine(text: &str) -> String {
    let mut text = text.to_owned();
    for (key, shown) in [("\"os_user\":", "\"alice\""), ("\"host\":", "\"workshop\""), ("\"pid\":", "4711")] {
        let parts: Vec<&str> = text.split(key).collect();
        let after =
            parts[1..].iter().map(|part| format!("{key}{shown}{}", &part[part.find([',', '}']).unwrap()..]));
        text = parts[0].to_owned() + &after.collect::<String>();
    }
    text
}

/// The words that differ from run to run: ids, hashes, times.
fn variable_words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || "-:.".contains(c)));
    let words = words.map(|word| word.trim_end_matches([':', '.', '-']).to_owned());
    words.filter(|word| is_variable(word))
}

fn is_variable(word: &str) -> bool {
    let hex = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let hash = word.len() >= 32 && hex(word) && word.bytes().any(|byte| byte != b'0');
    let id =
        word.len() == 36 && word.split('-').map(str::len).eq([8, 4, 4, 4, 12]) && word.split('-').all(hex);
    let short_id = word.len() == 8 && hex(word) && word.bytes().any(|byte| byte.is_ascii_digit());
    hash || id || short_id || is_time(word)
}

/// A time as JSON has it, one of today as a view shows it, or a date.
fn is_time(word: &str) -> bool {
    let bytes = word.as_bytes();
    if let Ok([_, _, _, _, b'-', _, _, b'-', _, _]) = <&[u8; 10]>::try_from(bytes) {
        return word.split('-').all(|part| part.parse::<u16>().is_ok());
    }
    let of_today = bytes.len() == 5
        && bytes[2] == b':'
        && bytes.iter().filter(|byte| byte.is_ascii_digit()).count() == 4;
    of_today || bytes.len() == 24 && word.ends_with('Z') && bytes[10] == b'T'
}

/// Numbers values in the order in which they come up, so that two runs can be compared.
#[derive(Default)]
struct Names {
    known: HashMap<String, String>,
}

impl Names {
    fn numbered(mut self, page: &str) -> String {
        let mut text = page.to_owned();
        for word in variable_words(page) {
            let number = self.known.keys().filter(|known| !is_time(known)).count();
            // Calls that follow one another may share a millisecond, or not.
            let name = if is_time(&word) { "<time>".to_owned() } else { format!("<value-{number}>") };
            self.known.entry(word).or_insert(name);
        }
        // A short id also ends a whole one.
        let mut known: Vec<(String, String)> = self.known.into_iter().collect();
        known.sort_by_key(|(word, _)| std::cmp::Reverse(word.len()));
        for (word, name) in known {
            text = text.replace(&word, &name);
        }
        // Durations, and the blanks that align them.
        let calm = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let a_call =
                line.starts_with("  ") && words.first().is_some_and(|word| word.parse::<i64>().is_ok());
            if a_call && words.len() > 4 {
                return [&words[..4], &["ms"], &words[5..]].concat().join(" ");
            }
            ["\"enter_ms\":", "\"duration_ms\":"].into_iter().fold(line.to_owned(), without_number_after)
        };
        text.lines().map(|line| calm(line) + "\n").collect()
    }
}

fn without_number_after(line: String, key: &str) -> String {
    match line.split_once(key) {
        Some((before, after)) => {
            format!("{before}{key}{}", after.trim_start_matches(|c: char| c.is_ascii_digit()))
        }
        None => line,
    }
}
