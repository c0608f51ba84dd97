//! `mcp-drift snapshot --url`: a server behind a loopback listener.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use super::play::Play;

/// How the listener answers.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Json,
    Events,
}

/// What the listener was asked: the first line and the headers of each request, in lower case.
type Asked = Arc<Mutex<Vec<String>>>;

fn respond(stream: &mut TcpStream, status: &str, headers: &str, body: &str) {
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
    .unwrap();
}

fn serve(stream: TcpStream, play: &Mutex<Play>, form: Form, asked: &Asked) {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap() == 0 {
            return;
        }
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.parse().unwrap();
        }
        head.push_str(&line);
        head.push('\n');
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let mut stream = reader.into_inner();
    asked.lock().unwrap().push(head.clone());
    let Ok(message) = serde_json::from_slice::<Value>(&body) else {
        return respond(&mut stream, "200 OK", "", "");
    };
    let method = message["method"].as_str().unwrap_or_default();
    let is_greeting = ["initialize", "server/discover"].contains(&method);
    let stateless = head.contains("mcp-protocol-version: 2026-07-28");
    if !is_greeting && !stateless && !head.contains("mcp-session-id: s-1") {
        return respond(&mut stream, "400 Bad Request", "", "no session");
    }
    let answers = play.lock().unwrap().answers(&message);
    let session = if method == "initialize" { "mcp-session-id: s-1\r\n" } else { "" };
    match (answers.last(), form) {
        (None, _) => respond(&mut stream, "202 Accepted", "", ""),
        (Some(answer), _) if answer.get("error").is_some() => {
            respond(&mut stream, "404 Not Found", "content-type: application/json\r\n", &answer.to_string());
        }
        (Some(answer), Form::Json) => {
            let headers = format!("content-type: application/json; charset=utf-8\r\n{session}");
            respond(&mut stream, "200 OK", &headers, &answer.to_string());
        }
        (Some(_), Form::Events) => {
            // Without a length and without an end: a client must not wait for it.
            write!(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n{session}\r\nid: 0\ndata:\n\n"
            )
            .unwrap();
            for answer in &answers {
                write!(stream, "event: message\r\ndata: {answer}\r\n\r\n").unwrap();
            }
            stream.flush().unwrap();
            let _ = stream.read(&mut [0; 1]);
        }
    }
}

/// Listens for as long as the test runs.
fn listen(script: Value, form: Form) -> (String, Asked) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let asked = Asked::default();
    let (play, seen) = (Arc::new(Mutex::new(Play::new(script))), Arc::clone(&asked));
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (play, seen) = (Arc::clone(&play), Arc::clone(&seen));
            thread::spawn(move || serve(stream.unwrap(), &play, form, &seen));
        }
    });
    (url, asked)
}

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mcp-drift")).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn script(eras: Value, odd: Value) -> Value {
    let tool = json!({"name": "one", "description": "First.", "inputSchema": {"type": "object"}});
    json!({"eras": eras, "odd": odd, "tools": [tool], "page": 1})
}

#[test]
fn json_and_events_give_the_same_snapshot_in_either_era() {
    for era in ["handshake", "stateless"] {
        let mut files = Vec::new();
        for (form, odd) in [(Form::Json, json!([])), (Form::Events, json!(["chatty", "roots"]))] {
            let (url, asked) = listen(script(json!([era]), odd), form);
            let output = run(&["snapshot", "--url", &url, "--header", "Authorization: Bearer sesame-1"]);
            assert!(output.status.success(), "{era}: {}", text(&output.stderr));
            let asked = asked.lock().unwrap();
            assert!(asked.iter().all(|head| head.contains("authorization: bearer sesame-1\n")), "{asked:?}");
            let lists: Vec<_> = asked.iter().filter(|head| head.contains("mcp-method: tools/list")).collect();
            if era == "handshake" {
                assert!(asked.iter().any(|head| head.starts_with("delete /mcp ")), "{asked:?}");
                assert!(asked.iter().any(|head| head.contains("mcp-protocol-version: 2025-11-25")));
                assert!(lists.is_empty());
            } else {
                assert!(
                    lists.len() >= 2 && !asked.iter().any(|head| head.contains("mcp-session-id")),
                    "{asked:?}"
                );
            }
            assert!(!text(&output.stdout).contains("sesame"));
            files.push(output.stdout);
        }
        assert_eq!(text(&files[0]), text(&files[1]), "{era}");
    }
}

#[test]
fn an_address_that_does_not_serve_is_told() {
    let refusing = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", refusing.local_addr().unwrap());
    thread::spawn(move || {
        for (stream, status) in
            refusing.incoming().zip(["401 Unauthorized", "307 Away\r\nlocation: http://elsewhere/"])
        {
            let mut stream = stream.unwrap();
            let mut line = String::new();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut length = 0;
            while reader.read_line(&mut line).unwrap() > 2 {
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length: ") {
                    length = value.trim().parse().unwrap();
                }
                line.clear();
            }
            reader.read_exact(&mut vec![0; length]).unwrap();
            respond(&mut stream, status, "", "");
        }
    });
    for told in [
        "with HTTP 401; does --header give what it asks for",
        "redirects to http://elsewhere/; give that address",
    ] {
        let output = run(&["snapshot", "--url", &url]);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(told), "{told}: {}", text(&output.stderr));
    }
    for (arguments, told) in [
        (&["--url", "http://127.0.0.1:1/mcp"][..], "cannot be reached: "),
        (&["--url", "nothing at all"], "cannot be used as an address or header"),
        (&["--url", "http://127.0.0.1:1/", "--header", "x"], "a header has the form NAME: VALUE"),
        (&["--url", "http://127.0.0.1:1/", "--", "node"], "cannot be used with"),
        (&[], "name a server: its command behind `--`"),
    ] {
        let output = run(&[&["snapshot"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(text(&output.stderr).contains(told), "{arguments:?}: {}", text(&output.stderr));
    }
}
