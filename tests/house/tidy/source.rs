//! A Rust file as the rules see it: the same lines three times, with less and less in them.

/// A Rust file.
pub struct Source {
    /// Path from the root of the work tree, with `/`.
    pub path: String,
    /// As it is.
    pub text: String,
    /// Comments blanked out.
    pub uncommented: String,
    /// Comments, strings and character literals blanked out.
    pub code: String,
    /// Lines from here on are tests'.
    tests_from: usize,
}

impl Source {
    /// Reads a file's text.
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        let (path, text) = (path.into(), text.into());
        let masked = mask(&text);
        let in_tests = path.split('/').rev().skip(1).any(|folder| folder == "tests");
        let first = masked.code.lines().collect::<Vec<_>>();
        let inline = first.windows(2).position(|pair| {
            pair[0].trim() == "#[cfg(test)]" && pair[1].starts_with("mod ") && pair[1].ends_with('{')
        });
        let tests_from = if in_tests { 0 } else { inline.unwrap_or(usize::MAX) };
        Self { path, text, uncommented: masked.uncommented, code: masked.code, tests_from }
    }

    /// The whole file is a test module of another one.
    pub fn mark_as_test(&mut self) {
        self.tests_from = 0;
    }

    /// Paths, without `.rs`, of the test modules it declares in files of their own.
    pub fn test_modules(&self) -> Vec<String> {
        let stem = self.path.trim_end_matches(".rs");
        let folder = match stem.rsplit_once('/') {
            Some((folder, "mod" | "lib" | "main")) => folder,
            _ => stem,
        };
        let lines: Vec<&str> = self.code.lines().collect();
        let declared = lines.windows(2).filter(|pair| pair[0].trim() == "#[cfg(test)]");
        let names = declared.filter_map(|pair| pair[1].trim().strip_prefix("mod ")?.strip_suffix(';'));
        names.map(|name| format!("{folder}/{name}")).collect()
    }

    /// Numbered lines of one of the three texts, those of tests left out.
    pub fn without_tests<'a>(&self, text: &'a str) -> impl Iterator<Item = (usize, &'a str)> {
        text.lines().take(self.tests_from).enumerate().map(|(index, line)| (index + 1, line))
    }

    /// A finding at one of its lines.
    pub fn finding(&self, line: usize, what: &str) -> String {
        format!("{}:{line}: {what}", self.path)
    }
}

/// The identifiers of a line.
pub fn words(line: &str) -> impl DoubleEndedIterator<Item = &str> {
    line.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

struct Masked {
    uncommented: String,
    code: String,
}

/// Blanks comments and literals out; line ends stay where they are.
fn mask(text: &str) -> Masked {
    let chars: Vec<char> = text.chars().collect();
    let mut masked = Masked { uncommented: String::new(), code: String::new() };
    let mut at = 0;
    while at < chars.len() {
        let rest = &chars[at..];
        let before = at.checked_sub(1).and_then(|index| chars.get(index));
        let (length, comment) = match token(rest, before) {
            Token::Comment(length) => (length, true),
            Token::Literal(length) => (length, false),
            Token::Code => {
                masked.uncommented.push(rest[0]);
                masked.code.push(rest[0]);
                at += 1;
                continue;
            }
        };
        for &c in &rest[..length] {
            let blank = if c == '\n' { '\n' } else { ' ' };
            masked.uncommented.push(if comment { blank } else { c });
            masked.code.push(blank);
        }
        at += length;
    }
    masked
}

/// What begins at a place, and how many characters it has.
enum Token {
    Comment(usize),
    Literal(usize),
    Code,
}

fn token(rest: &[char], before: Option<&char>) -> Token {
    match rest {
        ['/', '/', ..] => Token::Comment(rest.iter().position(|&c| c == '\n').unwrap_or(rest.len())),
        ['/', '*', ..] => Token::Comment(block_comment(rest)),
        ['"', ..] => Token::Literal(quoted(rest, '"')),
        ['\'', '\\', ..] | ['\'', _, '\'', ..] => Token::Literal(quoted(rest, '\'')),
        ['r', '"' | '#', ..] if !before.is_some_and(|c| c.is_alphanumeric() && *c != 'b' || *c == '_') => {
            raw_string(rest).map_or(Token::Code, Token::Literal)
        }
        _ => Token::Code,
    }
}

fn block_comment(rest: &[char]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        let step = match rest[at..] {
            ['/', '*', ..] => {
                depth += 1;
                2
            }
            ['*', '/', ..] => {
                depth -= 1;
                2
            }
            _ => 1,
        };
        at += step;
        if depth == 0 {
            break;
        }
    }
    at.min(rest.len())
}

fn quoted(rest: &[char], quote: char) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            '\\' => at += 2,
            c if c == quote => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// `r"…"`, `r#"…"#` and so on; `None` for a raw identifier.
fn raw_string(rest: &[char]) -> Option<usize> {
    let hashes = rest[1..].iter().take_while(|&&c| c == '#').count();
    if rest.get(1 + hashes) != Some(&'"') {
        return None;
    }
    let start = 2 + hashes;
    let end = (start..rest.len()).find(|&at| {
        rest[at] == '"' && rest[at + 1..].iter().take(hashes).filter(|&&c| c == '#').count() == hashes
    });
    Some(end.map_or(rest.len(), |at| at + 1 + hashes))
}

#[test]
fn comments_and_literals_are_told_from_code() {
    let text = "fn a<'x>(c: char) { // say \"no\"\n  let s = r#\"fn \"b\" {\"#; let q = '\\''; /* { /* */ { */ b('{', \"\\\"{\") }\n";
    let source = Source::new("a.rs", text);
    assert_eq!(source.code.matches('{').count(), 1, "{}", source.code);
    assert_eq!(source.code.matches('}').count(), 1, "{}", source.code);
    assert!(source.uncommented.contains("fn \"b\" {") && !source.uncommented.contains("say"));
    assert_eq!(source.code.lines().count(), text.lines().count());
    assert!(source.code.contains("fn a<'x>(c: char) {"));
}

#[test]
fn tests_of_a_file_are_known() {
    let source = Source::new("a/b.rs", "fn a() {}\n#[cfg(test)]\nmod tests {\n}\n");
    assert_eq!(source.without_tests(&source.code).count(), 1);
    let source = Source::new("a/mod.rs", "#[cfg(test)]\nmod plans;\n");
    assert_eq!(source.test_modules(), ["a/plans"]);
    assert_eq!(Source::new("a/tests/b.rs", "fn a() {}\n").without_tests("fn a() {}\n").count(), 0);
}
