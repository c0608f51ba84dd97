//! Why the layout of a YAML text is wrong: a tab, or an indentation that fits no line above. The parser's own words name neither.

/// A fault of layout: line, column, what is wrong, what to write.
pub(super) type Wrong = (usize, usize, String, &'static str);

const BY_SPACES: &str = "indent with spaces; YAML takes no tab there";
const LIKE_SIBLINGS: &str = "indent it like the lines that it belongs with";

/// Looks for it at the line where the parser stopped (from 1) and at the one after, where a text that goes on may have misled it.
pub(super) fn wrong(text: &str, line: usize) -> Option<Wrong> {
    let lines: Vec<&str> = text.lines().collect();
    let here = (line..=line + 1).filter(|number| (1..=lines.len()).contains(number));
    here.clone()
        .find_map(|number| tab(&lines, number))
        .or_else(|| here.clone().find_map(|number| step(&lines, number)))
}

fn tab(lines: &[&str], number: usize) -> Option<Wrong> {
    let blank = &lines[number - 1][..lines[number - 1].len() - lines[number - 1].trim_start().len()];
    let column = blank.find('\t')? + 1;
    Some((number, column, "the line is indented with a tab".to_owned(), BY_SPACES))
}

/// An indentation between those of the lines above, or below a line that has its value already.
fn step(lines: &[&str], number: usize) -> Option<Wrong> {
    let (before, line) = (&lines[..number - 1], lines[number - 1]);
    if !says_something(line) {
        return None;
    }
    let own = indentation(line);
    let (mut open, mut left) = (Vec::new(), false);
    for line in before.iter().filter(|line| says_something(line)) {
        levels(line, &mut open);
    }
    let deepest = open.last().copied();
    while open.last().is_some_and(|level| *level > own) {
        left = open.pop().is_some();
    }
    let outer = open.last().copied().unwrap_or(0);
    let spaces = |count: usize| if count == 1 { "1 space".to_owned() } else { format!("{count} spaces") };
    if left && outer != own {
        let inner = deepest.unwrap_or(0);
        let what =
            format!("the line is indented by {}, and the lines above by {outer} or {inner}", spaces(own));
        return Some((number, own + 1, what, LIKE_SIBLINGS));
    }
    let above = before.iter().rfind(|line| says_something(line))?;
    let value = above.split_once(": ").map_or("", |(_, value)| value.trim());
    let complete = !value.is_empty() && !value.starts_with(['|', '>', '{', '[', '"', '\'', '#']);
    if !left && own > outer && complete && line.contains(':') {
        let what =
            format!("the line is indented by {}, below a line that has its value already", spaces(own));
        return Some((number, own + 1, what, LIKE_SIBLINGS));
    }
    None
}

/// Adds the levels that a line opens, and ends those that it leaves.
fn levels(line: &str, open: &mut Vec<usize>) {
    let mut level = indentation(line);
    let mut rest = &line[level..];
    loop {
        open.retain(|known| *known < level);
        open.push(level);
        match rest.strip_prefix("- ") {
            Some(item) => {
                let inner = item.trim_start_matches(' ');
                level += 2 + item.len() - inner.len();
                rest = inner;
            }
            None => return,
        }
    }
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

fn says_something(line: &str) -> bool {
    let text = line.trim();
    !text.is_empty() && !text.starts_with('#')
}

#[cfg(test)]
mod tests {
    use super::wrong;

    fn told(text: &str, line: usize) -> Option<(usize, usize, String)> {
        wrong(text, line).map(|(line, column, what, _)| (line, column, what))
    }

    #[test]
    fn tabs_and_steps_are_found_and_sound_lines_are_not() {
        let sound = "tools:\n  - name: a\n    input:\n      type: object\n  - name: b\ntypes: {}\n";
        for line in 1..=6 {
            assert_eq!(told(sound, line), None, "{line}");
        }
        assert_eq!(told("a: 1\n \tb: 2\n", 1), Some((2, 2, "the line is indented with a tab".to_owned())));
        let between = "tools:\n  - name: a\n    title: b\n   pattern: A\n";
        let what = "the line is indented by 3 spaces, and the lines above by 2 or 4".to_owned();
        assert_eq!(told(between, 4), Some((4, 4, what)));
        let below = "name: a\n title: b\n";
        let what = "the line is indented by 1 space, below a line that has its value already".to_owned();
        assert_eq!(told(below, 2), Some((2, 2, what)));
    }

    #[test]
    fn any_line_of_any_text_is_taken() {
        for text in ["", "\n", "é\t\n\u{3000}- x\n", "- - - a\n b", "\t"] {
            for line in 0..4 {
                let _ = wrong(text, line);
            }
        }
    }
}
