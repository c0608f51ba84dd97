//! `colibri graph`: its three forms, each read back by a strict grammar.

use colibri_test_support::xml;
use colibri_visible::printable;
use serde_json::json;

use super::{Board, Client, Era, document, launch, look, refusal, short, text};

/// What a form says: the two lines of each task, the arrows between their places, and the remarks.
#[derive(Debug, Default, PartialEq, Eq)]
struct Picture {
    tasks: Vec<(String, String)>,
    arrows: Vec<(usize, usize)>,
    remarks: Vec<String>,
}

impl Picture {
    fn add(&mut self, place: Option<usize>, label: (String, String)) {
        assert_eq!(place, Some(self.tasks.len()), "{label:?}");
        self.tasks.push(label);
    }

    fn arrow(&mut self, line: &str, sign: &str) -> Option<()> {
        let (from, to) = line.split_once(sign)?;
        self.arrows.push((place(from)?, place(to)?));
        Some(())
    }
}

fn place(name: &str) -> Option<usize> {
    let digits = name.strip_prefix('t')?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

fn inside<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    text.strip_prefix(before)?.strip_suffix(after)
}

/// Reads a flowchart line by line.
fn mermaid(text: &str) -> Picture {
    let mut picture = Picture::default();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("flowchart LR"));
    assert!(text.ends_with('\n'));
    for line in lines {
        mermaid_line(line, &mut picture).unwrap_or_else(|| panic!("{line}"));
    }
    picture
}

fn mermaid_line(line: &str, picture: &mut Picture) -> Option<()> {
    let line = line.strip_prefix("  ")?;
    if let Some(remark) = line.strip_prefix("%% ") {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, ' ' | '.');
        return remark.chars().all(is_plain).then(|| picture.remarks.push(remark.to_owned()));
    }
    if let Some(style) = line.strip_prefix("classDef ") {
        let (name, style) = style.split_once(' ')?;
        let known = ["ready", "held", "blocked", "finished"].contains(&name);
        return (known && style.starts_with("fill:#") && !style.contains(';')).then_some(());
    }
    if let Some(members) = line.strip_prefix("class ") {
        let (members, _) = members.split_once(' ')?;
        return members.split(',').all(|name| place(name).is_some()).then_some(());
    }
    if let Some((name, label)) = line.split_once('[') {
        let (title, state) = inside(label, "\"", "\"]")?.split_once("<br/>")?;
        picture.add(place(name), (mermaid_text(title)?, mermaid_text(state)?));
        return Some(());
    }
    picture.arrow(line, " --> ")
}

/// Reads text of letters, a few signs, and numbers of characters.
fn mermaid_text(text: &str) -> Option<String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || !c.is_ascii() || " ,.-_".contains(c);
    let mut parts = text.split('#');
    let mut plain = parts.next().filter(|part| part.chars().all(allowed))?.to_owned();
    for part in parts {
        let (number, part) = part.split_once(';').filter(|(_, part)| part.chars().all(allowed))?;
        plain.push(char::from_u32(number.parse().ok()?)?);
        plain.push_str(part);
    }
    Some(plain)
}

/// Reads a DOT graph line by line.
fn dot(text: &str) -> Picture {
    let mut picture = Picture::default();
    let body = inside(text, "digraph tasks {\n  rankdir=LR;\n  node [", "}\n").unwrap();
    for line in body.lines().skip(1) {
        dot_line(line, &mut picture).unwrap_or_else(|| panic!("{line}"));
    }
    picture
}

fn dot_line(line: &str, picture: &mut Picture) -> Option<()> {
    let line = line.strip_prefix("  ")?;
    if let Some(remark) = line.strip_prefix("// ") {
        picture.remarks.push(remark.to_owned());
        return Some(());
    }
    let line = line.strip_suffix(';')?;
    let Some((name, attributes)) = line.split_once(" [label=\"") else { return picture.arrow(line, " -> ") };
    let (lines, rest) = dot_label(attributes)?;
    let [title, state] = <[String; 2]>::try_from(lines).ok()?;
    let colors: Vec<&str> = inside(rest, ", fillcolor=\"#", "\"]")?.split("\", color=\"#").collect();
    let are_colors = colors.len() == 2
        && colors.iter().all(|color| color.len() == 6 && color.bytes().all(|byte| byte.is_ascii_hexdigit()));
    picture.add(place(name), (title, state));
    are_colors.then_some(())
}

/// Reads the lines of a label up to its closing quote, and returns what follows.
fn dot_label(text: &str) -> Option<(Vec<String>, &str)> {
    let mut lines = vec![String::new()];
    let mut signs = text.char_indices();
    while let Some((at, sign)) = signs.next() {
        match sign {
            '"' => {
                let plain = |line: &String| {
                    assert!(!line.replace("&amp;", "").contains('&'), "{line}");
                    line.replace("&amp;", "&")
                };
                return Some((lines.iter().map(plain).collect(), &text[at + 1..]));
            }
            '\\' => match signs.next()?.1 {
                'n' => lines.push(String::new()),
                same @ ('"' | '\\') => lines.last_mut()?.push(same),
                _ => return None,
            },
            _ => lines.last_mut()?.push(sign),
        }
    }
    None
}

/// Checks an image, and returns the whole titles of its tasks, the number of its arrows, and what is below the boxes.
fn svg(text: &str) -> (Vec<String>, usize, Vec<String>) {
    let elements = xml::elements(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let (mut titles, mut arrows, mut lines, mut texts) = (Vec::new(), 0, 0, Vec::new());
    for element in elements {
        for (name, value) in &element.attributes {
            let is_harmless = !name.starts_with("on") && !name.contains("href") && !value.contains("url(");
            assert!(is_harmless, "{element:?}");
        }
        match element.name.as_str() {
            "title" => titles.push(element.text),
            "path" => arrows += 1,
            "text" => texts.push(element.text),
            "style" => assert!(!element.text.contains("url") && !element.text.contains("@import")),
            "svg" | "rect" => lines += 1,
            "g" => {}
            other => panic!("<{other}>"),
        }
    }
    assert_eq!(lines, 2 + titles.len(), "a box for each task");
    let remarks = texts.split_off(2 * titles.len());
    (titles, arrows, remarks)
}

/// Returns the picture, after it was read in all three forms.
fn picture(client: &Client, arguments: &[&str]) -> Picture {
    let form = |form: &'static str| {
        let arguments: Vec<&str> = ["graph"].iter().chain(arguments).copied().chain([form]).collect();
        let output = look(client, &arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let read = mermaid(&form("--mermaid"));
    assert_eq!(dot(&form("--dot")), read);
    let (titles, arrows, remarks) = svg(&form("--svg"));
    let expected: Vec<&String> = read.tasks.iter().map(|(title, _)| title).collect();
    assert_eq!(titles.iter().collect::<Vec<_>>(), expected);
    assert_eq!((arrows, &remarks), (read.arrows.len(), &read.remarks));
    read
}

/// Creates a task with prerequisites, and returns its id.
pub(super) fn create(client: &mut Client, title: &str, depends_on: &[&str]) -> String {
    let created = client.data("task_create", json!({ "title": title, "depends_on": depends_on }));
    created["id"].as_str().unwrap().to_owned()
}

fn titles(picture: &Picture) -> Vec<&str> {
    let mut titles: Vec<&str> = picture.tasks.iter().map(|(title, _)| title.as_str()).collect();
    titles.sort_unstable();
    titles
}

#[test]
fn people_64_the_three_forms_show_the_same() {
    let board = Board::new();
    let shown = picture(&board.client, &[]);
    let tasks = [
        ("Write the migration".to_owned(), format!("{} GATHER, held", short(&board.held))),
        ("Announce the release".to_owned(), format!("{} INIT, blocked", short(&board.blocked))),
    ];
    assert_eq!(shown, Picture { tasks: tasks.into(), arrows: vec![(0, 1)], remarks: Vec::new() });
    assert!(text(&board.client, &["graph"]).starts_with("flowchart LR\n"), "the default is mermaid");
    let found = document(&board.client, &["graph"]);
    assert_eq!(found["edges"], json!([{ "from": board.held, "to": board.blocked }]));
    let node = json!({
        "id": board.blocked, "title": "Announce the release", "status": "INIT", "group": "blocked", "deleted": false,
    });
    assert_eq!((&found["nodes"][1], &found["left_out"]), (&node, &json!(0)));
    assert!(refusal(&board.client, &["graph", "--svg", "--dot"]).contains("cannot be used with"));
    assert!(refusal(&board.client, &["graph", "--svg", "--json"]).contains("cannot be used with"));
    assert!(refusal(&board.client, &["graph", "zzzz"]).contains("there is no task \"zzzz\""));
}

#[test]
fn people_64_a_file_gets_the_picture_and_is_never_overwritten() {
    let board = Board::new();
    let file = board.client.server.folder().join("tasks.svg");
    let arguments = ["graph", "--svg", "--out", "tasks.svg"];
    assert_eq!(text(&board.client, &arguments), "2 tasks in tasks.svg\n");
    let written = std::fs::read_to_string(&file).unwrap();
    assert_eq!(svg(&written).0.len(), 2);
    assert!(
        refusal(&board.client, &arguments)
            .contains("is there already and was not changed; choose another name")
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), written);
}

#[test]
fn people_64_a_task_shows_what_it_reaches_and_all_shows_what_is_finished() {
    let mut client = Client::new(Era::Handshake);
    let early = create(&mut client, "early", &[]);
    let first = create(&mut client, "first", &[&early]);
    for id in [&early, &first] {
        client.server.think(&json!(id));
        client.server.walk(&json!(id), "DONE");
    }
    assert_eq!(titles(&picture(&client, &[])), [""; 0], "nothing waits");
    let middle = create(&mut client, "middle", &[&first]);
    let other = create(&mut client, "other", &[]);
    let last = create(&mut client, "last", &[&middle, &other]);
    create(&mut client, "beside", &[&other]);
    for (arguments, expected) in [
        (&[][..], &["beside", "first", "last", "middle", "other"][..]),
        (&["--all"], &["beside", "early", "first", "last", "middle", "other"]),
        (&[middle.as_str()], &["first", "last", "middle"]),
        (&[middle.as_str(), "--all"], &["early", "first", "last", "middle"]),
        (&[short(&last)], &["first", "last", "middle", "other"]),
        (&[first.as_str()], &["early", "first", "last", "middle"]),
    ] {
        assert_eq!(titles(&picture(&client, arguments)), expected, "{arguments:?}");
    }
    let deletion = format!("UPDATE tasks SET deleted_at = created_at WHERE id = '{other}'");
    assert_eq!(client.server.sql().tamper(&deletion), 1);
    let shown = picture(&client, &[]);
    let state = shown.tasks.iter().find(|(title, _)| title == "other").map(|(_, state)| state.as_str());
    assert_eq!(state, Some(format!("{} deleted", short(&other)).as_str()));
}

#[test]
fn people_64_a_title_stays_text_in_every_form() {
    let mut client = Client::new(Era::Handshake);
    let named = [
        "a \"quoted\" 'title' `code`",
        "<script>alert(1)</script>",
        "two\nlines\r\nand a tab\t",
        "t0[\"x\"] --> t1{y} (z) |w| ; %% end",
        "&amp; &lt; #35; #quot; \\N \\n ends with \\",
        "classDef ready fill:#fff; style t0 fill:#000;",
        "]]> --> <!-- <?xml?> <b",
        "\u{1b}[31mred\u{202e}turned 日本語 \u{ffff}",
        "--out",
    ];
    let root = create(&mut client, "end", &[]);
    for title in named {
        create(&mut client, title, &[&root]);
    }
    let shown = text(&client, &["graph"]);
    let shown = mermaid(&shown);
    let expected: Vec<String> =
        ["end"].iter().chain(&named).map(|title| printable(title).into_owned()).collect();
    assert_eq!(shown.tasks.iter().map(|(title, _)| title.clone()).collect::<Vec<_>>(), expected);
    assert_eq!(dot(&text(&client, &["graph", "--dot"])), shown);
    let image = text(&client, &["graph", "--svg"]);
    let (titles, arrows, _) = svg(&image);
    let of_xml = |title: &String| title.replace('\u{ffff}', "\u{fffd}");
    assert_eq!((titles, arrows), (expected.iter().map(of_xml).collect(), named.len()));
    assert!(!image.contains("<script") && !image.contains("<a ") && !image.contains("href"), "{image}");
}

#[test]
fn people_64_of_600_tasks_500_are_shown() {
    let mut client = Client::new(Era::Handshake);
    let mut ids = vec![create(&mut client, "0", &[])];
    for at in 1..600 {
        let id = create(&mut client, &at.to_string(), &[&ids[at / 2].clone()]);
        ids.push(id);
    }
    for arguments in [&[][..], &[ids[0].as_str()]] {
        let shown = picture(&client, arguments);
        assert_eq!((shown.tasks.len(), shown.arrows.len()), (500, 499));
        assert_eq!(shown.remarks, ["100 more tasks are left out"]);
        let whole: Vec<&str> = ["graph"].iter().chain(arguments).copied().collect();
        let said = String::from_utf8(look(&client, &whole).stderr).unwrap();
        assert_eq!(said, "colibri: 100 more tasks are left out; name a task to see what it reaches\n");
    }
    let found = look(&client, &["graph", "--json"]);
    let found: serde_json::Value = serde_json::from_slice(&found.stdout).unwrap();
    assert_eq!((found["nodes"].as_array().unwrap().len(), &found["left_out"]), (500, &json!(100)));
}

#[test]
fn people_64_an_empty_picture_and_a_circle_have_an_end() {
    let mut client = Client::of(launch(), Era::Handshake);
    client.data("task_list", json!({}));
    let nothing = picture(&client, &[]);
    assert_eq!(nothing.remarks, ["No task waits for another one."]);
    assert_eq!(document(&client, &["graph"]), json!({ "nodes": [], "edges": [], "left_out": 0 }));
    let first = create(&mut client, "first", &[]);
    assert_eq!(picture(&client, &[]), nothing);
    assert_eq!(titles(&picture(&client, &[&first])), ["first"]);
    let second = create(&mut client, "second", &[&first]);
    let circle =
        format!("INSERT INTO task_dependencies (task_id, depends_on_id) VALUES ('{first}', '{second}')");
    assert_eq!(client.server.sql().tamper(&circle), 1);
    for arguments in [&[][..], &[first.as_str()], &["--all"]] {
        let shown = picture(&client, arguments);
        assert_eq!((shown.tasks.len(), shown.arrows.len()), (2, 2), "{arguments:?}");
    }
}
