//! `colibri overview`: a page whose numbers are those of the database, and on which nothing runs or loads.

use colibri_test_support::engine::is_postgres;
use serde_json::{Value, json};

use super::{Board, Client, Era, launch, look, short};

/// Writes the page with these options, and takes it away again.
fn page(client: &Client, options: &[&str], code: i32) -> String {
    let arguments: Vec<&str> = ["overview", "--html", "page.html"].iter().chain(options).copied().collect();
    let output = look(client, &arguments);
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{said}");
    let file = client.server.folder().join("page.html");
    let page = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(file).unwrap();
    page
}

/// The tags of a page, each with its attributes. No stored text holds a `<` or a `>`.
fn tags(page: &str) -> Vec<&str> {
    page.split('<').skip(1).map(|part| part.split_once('>').unwrap_or_else(|| panic!("<{part}")).0).collect()
}

/// What a reader reads: the text without tags, each run of white space as a blank.
fn words(page: &str) -> String {
    let body = page.split_once("<body>").map_or(page, |(_, body)| body);
    let texts = body.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    texts.collect::<Vec<_>>().join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
}

fn number(client: &Client, sql: &str) -> i64 {
    client.server.sql().query_row(sql, (), |row| row.get(0)).unwrap()
}

/// The numbers at the top of the page, by their names.
fn figures(page: &str) -> Value {
    let list = page.split_once("<ul class=\"figures\">").unwrap().1.split_once("</ul>").unwrap().0;
    let items = list.split("<b>").skip(1).map(|item| {
        let (number, name) = item.split_once("</b> ").unwrap();
        let (name, number) = (name.split_once('<').unwrap().0, number.parse::<i64>().unwrap());
        let is_counted =
            ["call", "decision", "open session"].iter().any(|one| name.trim_end_matches('s') == *one);
        assert!(!is_counted || name.ends_with('s') == (number != 1), "{number} {name}");
        let name = if is_counted { format!("{}s", name.trim_end_matches('s')) } else { name.to_owned() };
        (name, json!(number))
    });
    Value::Object(items.collect())
}

/// What lies between the heading of a section and its end.
fn section<'a>(page: &'a str, id: &str) -> &'a str {
    let begin = page.split_once(&format!("<section id=\"{id}\">")).unwrap().1;
    begin.split_once("</section>").unwrap().0
}

/// Nothing on a page runs, loads or leads elsewhere.
fn is_inert(page: &str) {
    for tag in tags(page) {
        let name = tag.split(' ').next().unwrap().trim_start_matches('/');
        let known = "!doctype html head meta title style body main header footer section div p span strong b br h1 h2 h3 ul ol li \
                     code time table thead tbody tr th td dl dt dd svg g rect path text";
        assert!(known.split(' ').any(|known| known == name), "<{tag}>");
        // Attributes of the source code have no blanks in their names, and every value is in double quotes.
        let outside: String = tag.split('"').step_by(2).collect();
        for attribute in outside.split_whitespace().skip(1) {
            let name = attribute.trim_end_matches(['=', '/']);
            assert!(
                !name.starts_with("on") && !["src", "href", "style", "action"].contains(&name),
                "<{tag}>"
            );
        }
    }
    let policy = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; ";
    assert_eq!(page.matches(policy).count(), 1);
    for absent in ["<script", "url(", "@import", "\u{202e}", "\u{1b}", "http-equiv=\"refresh\""] {
        assert!(!page.contains(absent), "{absent}");
    }
}

#[test]
fn people_65_every_number_of_the_overview_equals_a_query() {
    let mut board = Board::new();
    let page = page(&board.client, &[], 0);
    is_inert(&page);
    if !is_postgres() {
        assert!(page.contains("<h1 dir=\"auto\">colibri.db</h1>"), "the folders above the file are left out");
    }
    assert!(!page.replace("<meta http-equiv=", "").contains("http") && !page.contains("src="));
    let figure = figures(&page);
    let client = &board.client;
    let refused = "outcome NOT IN ('ok', 'running', 'aborted')";
    for (name, sql) in [
        ("done", "SELECT count(*) FROM tasks WHERE status = 'DONE'".to_owned()),
        ("cancelled", "SELECT count(*) FROM tasks WHERE status = 'CANCELLED'".to_owned()),
        ("calls", "SELECT count(*) FROM actions".to_owned()),
        ("failed or refused", format!("SELECT count(*) FROM actions WHERE {refused}")),
        ("decisions", "SELECT count(*) FROM thought_records WHERE type = 'decision'".to_owned()),
        ("open sessions", "SELECT count(*) FROM audit_sessions WHERE session_id NOT IN (SELECT session_id FROM merkle_roots)".to_owned()),
    ] {
        assert_eq!(figure[name], json!(number(client, &sql)), "{name}");
    }
    assert_eq!((&figure["failed or refused"], &figure["decisions"]), (&json!(1), &json!(1)));
    let groups = super::document(client, &["tasks"])["counts"].clone();
    for group in ["ready", "held", "blocked"] {
        assert_eq!(figure[group], groups[group], "{group}");
    }
    for state in ["INIT", "GATHER", "ANALYZE", "PLAN", "APPLY", "VERIFY"] {
        let count = number(client, &format!("SELECT count(*) FROM tasks WHERE status = '{state}'"));
        let heading = format!("<h3>{state} <span class=\"number\">{count}</span></h3>");
        assert!(page.contains(&heading), "{heading}");
    }
    let bars = section(&page, "calls");
    let sum = |name: &str| -> i64 {
        let counts = bars.split("<title>").skip(1).map(|bar| {
            let text = bar.split_once("</title>").unwrap().0;
            let before = text.split_once(&format!(" {name}")).unwrap().0;
            before.rsplit([' ', ',']).next().unwrap().parse::<i64>().unwrap()
        });
        counts.sum()
    };
    assert_eq!(json!(sum("done") + sum("failed or refused")), figure["calls"]);
    assert_eq!(json!(sum("failed or refused")), figure["failed or refused"]);
    let best = board.client.data("reputation_leaderboard", json!({ "domain": "execution" }));
    let rows = best["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2, "{best}");
    let standing = words(section(&page, "standing"));
    for row in rows {
        let expected = format!("{} {}", row["node_id"].as_str().unwrap(), row["score"]);
        assert!(standing.contains(&expected), "{expected}: {standing}");
    }
}

#[test]
fn people_65_the_overview_shows_who_does_what() {
    let board = Board::new();
    let (held, blocked) = (short(&board.held), short(&board.blocked));
    let page = page(&board.client, &[], 0);
    let said = words(&page);
    for part in [
        "Sound. Every hash, link, seal and tie of this database was recomputed and matches.",
        &format!(
            "Write the migration {held} high site held by &quot;claude-1&quot; (alice, &quot;people&quot;) until "
        ),
        &format!("Announce the release {blocked} waits for {held}"),
        &format!("&quot;claude-1&quot; (alice, &quot;people&quot;) on {held} Write the migration"),
        "Two steps, because the table is large.",
        "release-42 Release 4.2 sealed 1 ",
        "What this page does not prove",
        "Names in quotes are as clients and agents give them; the server checks none of them.",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let drawn = section(&page, "dependencies");
    assert_eq!((drawn.matches("<rect").count(), drawn.matches("<path").count()), (3, 1), "{drawn}");
    let later = self::page(&board.client, &["--since", "now", "--no-verify"], 0);
    assert_eq!((&figures(&later)["calls"], &figures(&later)["decisions"]), (&json!(0), &json!(0)));
    for part in ["Not verified.", "No call in this time.", "No decision in this time."] {
        assert!(words(&later).contains(part), "{part}: {later}");
    }
    let mut empty = Client::new(Era::Handshake);
    empty.data("task_list", json!({}));
    let said = words(&self::page(&empty, &[], 0));
    for part in
        ["No task waits for another one.", "No session was started yet.", "No node has a standing yet."]
    {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn people_65_the_overview_of_a_tampered_database_says_so_first() {
    let board = Board::new();
    let tampering = "UPDATE thought_records SET content = 'One step.' WHERE content LIKE 'Two steps%'";
    assert_eq!(board.client.server.sql().tamper(tampering), 1);
    let broken = page(&board.client, &[], 1);
    is_inert(&broken);
    let said = words(&broken);
    let (first, then) = (said.find("Not sound: ").unwrap(), said.find(" ready").unwrap());
    assert!(first < then && !said.contains("Sound."), "{said}");
    assert!(said.contains("trail HASH_MISMATCH") && said.contains("One step."), "{said}");
    let looked = look(&board.client, &["overview", "--html", "json.html", "--json"]);
    let document: Value = serde_json::from_slice(&looked.stdout).unwrap();
    assert_eq!((&document["sound"], &document["whole"]), (&json!(false), &json!(true)));
    // Without the verification, the page claims nothing.
    assert!(words(&page(&board.client, &["--no-verify"], 0)).contains("Not verified."));
}

#[test]
fn people_65_a_part_that_cannot_be_read_leaves_the_others() {
    let board = Board::new();
    assert!(board.client.server.sql().tamper("UPDATE reputations SET score = 10001") > 0);
    let page = page(&board.client, &[], 1);
    let standing = section(&page, "standing");
    assert!(
        standing.contains("This part cannot be read: ") && standing.contains("impossible score"),
        "{standing}"
    );
    assert!(words(&page).contains("Not sound: ") && words(&page).contains("held by &quot;claude-1&quot;"));
}

#[test]
fn people_65_the_overview_is_never_written_over_a_file() {
    let board = Board::new();
    std::fs::write(board.client.server.folder().join("kept.html"), "kept").unwrap();
    let refused = ["overview", "report"].map(|command| {
        let session = if command == "report" { &["release-42"][..] } else { &[] };
        let arguments: Vec<&str> =
            [command].iter().chain(session).chain(&["--html", "kept.html"]).copied().collect();
        super::refusal(&board.client, &arguments)
    });
    assert_eq!(refused[0], refused[1]);
    assert_eq!(std::fs::read_to_string(board.client.server.folder().join("kept.html")).unwrap(), "kept");
    assert!(
        super::refusal(&board.client, &["overview", "--html", "a.html", "--since", "soon"]).contains("is no")
    );
    assert!(super::refusal(&board.client, &["overview"]).contains("--html"));
}

#[test]
fn people_59_titles_are_only_text_on_the_overview() {
    let mut client = Client::of(launch().env("COLIBRI_ACTOR", "<b>"), Era::Handshake);
    let named = [
        "<script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)>",
        "</title></style></svg><h1>",
        "https://example.org/",
        "\u{1b}[31mred\u{202e}turned 日本語 \u{ffff}",
        "&lt;b&gt;",
    ];
    let root = super::graph::create(&mut client, "end", &[]);
    for title in named {
        let id = super::graph::create(&mut client, title, &[&root]);
        let session = json!({ "session_id": format!("s {}", id), "intent": title });
        client.data("audit_session_start", session);
        let thought = json!({ "type": "decision", "task_id": id, "agent_id": title.replace('\u{1b}', ""), "content": title });
        client.call("thought_record", thought);
    }
    let page = page(&client, &[], 0);
    is_inert(&page);
    assert!(
        page.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && page.contains("&amp;lt;b&amp;gt;"),
        "{page}"
    );
    assert!(page.contains("<span class=\"hidden\">U+202E</span>turned 日本語"), "{page}");
}

#[test]
fn people_64_the_overview_draws_200_of_250_tasks() {
    let mut client = Client::new(Era::Handshake);
    let mut ids = vec![super::graph::create(&mut client, "0", &[])];
    for at in 1..250 {
        let id = super::graph::create(&mut client, &at.to_string(), &[&ids[at / 2].clone()]);
        ids.push(id);
    }
    let page = page(&client, &["--no-verify"], 0);
    let drawn = section(&page, "dependencies");
    assert_eq!(drawn.matches("<g class=").count(), 200);
    assert!(words(&page).contains("200 tasks are drawn, 50 are left out."), "{drawn}");
    // The board has 50 cards of a state.
    assert_eq!(section(&page, "board").matches("<p class=\"title\"").count(), 50);
    assert!(words(&page).contains("INIT 250") && words(&page).contains("and 200 more"));
}
