//! Files and functions must be short enough to read in one go.

use crate::tidy::source::{Source, words};
use crate::tidy::{assert_none, tree};

const FILE_LINES: usize = 500;
const FUNCTION_LINES: usize = 70;

/// Generated files, which no person reads in one go.
const GENERATED: [&str; 1] = ["codegen/tests/golden/"];

#[test]
fn no_file_has_over_500_lines() {
    let long = |source: &Source| {
        let lines = source.text.lines().count();
        (lines > FILE_LINES).then(|| source.finding(lines, &format!("the file has over {FILE_LINES} lines")))
    };
    assert_none(&written().iter().filter_map(long).collect::<Vec<_>>());
}

#[test]
fn no_function_has_over_70_lines() {
    assert_none(&written().iter().flat_map(long_functions).collect::<Vec<_>>());
}

fn written() -> Vec<Source> {
    let written = |source: &Source| !GENERATED.iter().any(|folder| source.path.starts_with(folder));
    tree::sources().into_iter().filter(written).collect()
}

fn long_functions(source: &Source) -> Vec<String> {
    let lines: Vec<&str> = source.code.lines().collect();
    let mut findings = Vec::new();
    for (first, line) in lines.iter().enumerate() {
        let Some(name) = function_name(line) else { continue };
        let length = body_lines(&lines[first..]);
        if length > FUNCTION_LINES {
            let what = format!("`{name}` has {length} lines, over {FUNCTION_LINES}");
            findings.push(source.finding(first + 1, &what));
        }
    }
    findings
}

/// The name after the keyword, where a function begins.
fn function_name(line: &str) -> Option<&str> {
    let mut words = words(line);
    words.find(|word| *word == "fn")?;
    words.next().filter(|name| line.contains(&format!("fn {name}")))
}

/// Lines from the first to the one that closes its braces; 1 for a declaration without a body.
fn body_lines(lines: &[&str]) -> usize {
    let (mut depth, mut nested) = (0, 0);
    for (index, line) in lines.iter().enumerate() {
        for c in line.chars() {
            match c {
                '(' | '[' => nested += 1,
                ')' | ']' => nested -= 1,
                ';' if depth == 0 && nested == 0 => return 1,
                '{' => depth += 1,
                '}' => {
                    depth -= 1;
                    if depth <= 0 {
                        return index + 1;
                    }
                }
                _ => {}
            }
        }
    }
    lines.len()
}

#[test]
fn a_long_function_is_found_and_a_short_one_is_not() {
    let function =
        |lines: usize| format!("fn short(); \nfn tall(a: [u8; 3])\n{{\n{}}}\n", "x();\n".repeat(lines));
    assert_eq!(long_functions(&Source::new("a.rs", function(67))), [] as [String; 0]);
    assert_eq!(long_functions(&Source::new("a.rs", function(68))), ["a.rs:2: `tall` has 71 lines, over 70"]);
}
