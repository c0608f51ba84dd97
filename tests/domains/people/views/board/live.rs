//! The board in a terminal: keys in, screen out.

use std::fs::File;
use std::io::Read;
use std::num::NonZero;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use colibri_test_support::client::PATIENCE;
use colibri_test_support::engine::is_postgres;
use colibri_test_support::pty::{CTRL_C, Pty, shown, wait, widest};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::json;

use super::super::{Board, short};
use crate::people::era::{Client, Era, launch};

const ESCAPE: &[u8] = b"\x1b";

/// The real board on a terminal of its own.
struct Live {
    terminal: Pty,
    parser: vt100::Parser,
    fed: usize,
    board: Child,
    modes: String,
}

impl Live {
    /// Starts it beside the client's server, and waits for the tasks.
    fn beside(client: &Client, columns: u16, rows: u16, arguments: &[&str]) -> Self {
        let launch = launch().beside(&client.server).arg("board");
        let launch = arguments.iter().fold(launch, |launch, argument| launch.arg(argument));
        let command = launch.env("TZ", "UTC").env("TERM", "xterm-256color").command();
        let terminal = Pty::open(columns, rows);
        let modes = format!("{:?}", terminal.modes());
        let board = terminal.session(&command).spawn().unwrap();
        let parser = vt100::Parser::new(size(rows), size(columns), 0);
        let mut live = Self { terminal, parser, fed: 0, board, modes };
        live.until("INIT ");
        live
    }

    /// What the screen shows.
    fn screen(&mut self) -> String {
        let seen = self.terminal.settled(Duration::from_millis(10));
        self.parser.process(&seen[self.fed..]);
        self.fed = seen.len();
        self.parser.screen().contents()
    }

    /// Waits until the screen shows a text; returns the screen.
    fn until(&mut self, text: &str) -> String {
        self.until_it(&format!("{text:?} is missing"), |screen| screen.contains(text))
    }

    fn until_it(&mut self, what: &str, holds: impl Fn(&str) -> bool) -> String {
        let began = Instant::now();
        loop {
            let screen = self.screen();
            if holds(&screen) {
                return screen;
            }
            assert!(began.elapsed() < PATIENCE, "{what}:\n{screen}");
        }
    }

    fn press(&mut self, keys: impl AsRef<[u8]>) {
        self.terminal.press(keys.as_ref());
    }

    fn resize(&mut self, columns: u16, rows: u16) {
        self.terminal.resize(columns, rows);
        self.parser.screen_mut().set_size(size(rows), size(columns));
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.board.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Waits for its end, and checks that the terminal is as it was; returns the exit code and what the person sees then.
    fn ends(mut self) -> (Option<i32>, String) {
        let status = wait(&mut self.board);
        // What it wrote last arrives by and by.
        let began = Instant::now();
        let mut screen = self.screen();
        while self.parser.screen().alternate_screen() && began.elapsed() < PATIENCE {
            screen = self.screen();
        }
        assert_eq!(format!("{:?}", self.terminal.modes()), self.modes, "echo and whole lines are back");
        assert!(!self.parser.screen().alternate_screen(), "the screen of before is back");
        assert!(!self.parser.screen().hide_cursor(), "the cursor is back");
        (status.code(), screen)
    }

    /// Nanoseconds of processor time so far.
    fn processor_ns(&self) -> u64 {
        let threads = std::fs::read_dir(format!("/proc/{}/task", self.board.id())).unwrap();
        let of_thread = |thread: std::fs::DirEntry| -> u64 {
            let text = std::fs::read_to_string(thread.path().join("schedstat")).unwrap();
            text.split(' ').next().unwrap().parse().unwrap()
        };
        threads.map(|thread| of_thread(thread.unwrap())).sum()
    }
}

/// A test that fails leaves no board behind.
impl Drop for Live {
    fn drop(&mut self) {
        if matches!(self.board.try_wait(), Ok(None)) {
            let _ = self.board.kill();
            let _ = self.board.wait();
        }
    }
}

fn size(of: u16) -> NonZero<u16> {
    NonZero::new(of).unwrap()
}

#[test]
fn people_59_the_printed_board_escapes_and_aligns_titles() {
    let mut client = Client::new(Era::Handshake);
    for (title, status) in [
        ("A title that is much longer than a column of the board", "INIT"),
        ("日本語の題名はとても長いので切られます", "PLAN"),
        ("red \u{1b}[31m and \u{202e}backwards", "APPLY"),
    ] {
        client.data("task_create", json!({ "title": title, "status": status, "priority": "high" }));
    }
    for columns in [20, 60, 80] {
        let launch = launch().beside(&client.server).arg("board").arg("--once").env("NO_COLOR", "1");
        let (status, shown) = shown(&launch.command(), columns);
        assert!(status.success() && widest(&shown) <= columns.into(), "{columns}: {shown}");
        assert!(!shown.contains('\u{1b}') && !shown.contains('\u{202e}'), "{shown:?}");
        assert!(shown.contains("red \\u{1b}[") && shown.contains("日本"), "{shown}");
    }
}

#[test]
fn people_62_the_board_needs_a_terminal_for_its_keys_too() {
    let board = Board::new();
    let terminal = Pty::open(80, 24);
    let mut command = launch().beside(&board.client.server).arg("board").command();
    command.stdin(Stdio::null()).stdout(terminal.stream()).stderr(terminal.stream());
    let status = wait(&mut command.spawn().unwrap());
    drop(command);
    let text = terminal.closed();
    assert_eq!(status.code(), Some(2), "{text}");
    assert!(text.contains("the board needs a terminal; colibri board --once prints it"), "{text}");
}

#[test]
fn people_62_the_board_is_used_with_keys() {
    let board = Board::new();
    let (held, ready, blocked) = (short(&board.held), short(&board.ready), short(&board.blocked));
    let mut live = Live::beside(&board.client, 100, 24, &[]);
    let first = live.until(blocked);
    assert!(first.contains("INIT 2") && first.contains("GATHER 1") && first.contains(ready), "{first}");
    assert!(first.contains("\"claude-1\" (alice, ") && first.contains(" min "), "{first}");
    assert!(live.parser.screen().alternate_screen() && live.parser.screen().hide_cursor());
    // A task of the next column.
    live.press("l\r");
    let task = live.until("claimed (claim 1)");
    assert!(task.contains(&board.held) && task.contains("Two steps, because the table is large."), "{task}");
    live.press(ESCAPE);
    live.until_it("the task is closed", |screen| !screen.contains("claimed (claim"));
    live.press("/MEASURE\r");
    let found = live.until("INIT 1");
    assert!(found.contains(ready) && !found.contains(held) && found.contains("only text MEASURE"), "{found}");
    live.press(ESCAPE);
    live.until("INIT 2");
    live.press("b");
    let found = live.until("GATHER 0");
    assert!(found.contains(blocked) && !found.contains(ready), "{found}");
    live.press("bp");
    live.until("all projects");
    live.press("j\r");
    let found = live.until("only project site");
    live.until("INIT 1");
    assert!(!found.contains("all projects"), "{found}");
    live.press(ESCAPE);
    live.until("INIT 2");
    live.press("d");
    live.resize(200, 24);
    let found = live.until("CANCELLED 0");
    assert!(found.contains("DONE 1") && found.contains("Sweep"), "{found}");
    live.press("a");
    live.until("all assignees");
    live.press("j\r");
    live.until_it("only the finished task is bob's", |screen| {
        screen.contains("INIT 0") && screen.contains("DONE 1")
    });
    live.press("?");
    live.until("q, Ctrl-C         end the board");
    live.press("q");
    let (code, screen) = live.ends();
    assert_eq!((code, screen.trim()), (Some(0), ""));
}

#[test]
fn people_62_a_change_by_another_process_shows_within_a_second() {
    let mut board = Board::new();
    let mut live = Live::beside(&board.client, 120, 40, &[]);
    live.until("INIT 2");
    for step in 0..5 {
        // At another moment between two looks each time.
        std::thread::sleep(Duration::from_millis(130 * step));
        let title = format!("Change {step}");
        let began = Instant::now();
        board.client.data("task_create", json!({ "title": title }));
        live.until(&title);
        // Half of it is the time between two looks; the other is left to a busy machine.
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    }
    let id = board.ready.clone();
    live.press("/measure\r");
    live.until("INIT 1");
    board.client.data("task_update", json!({ "id": id, "status": "GATHER" }));
    live.until("GATHER 1");
    live.press("q");
    assert_eq!(live.ends().0, Some(0));
}

#[test]
fn people_62_the_board_fits_terminals_of_any_size() {
    let mut client = Client::new(Era::Handshake);
    for at in 0..1_000 {
        client.data(
            "task_create",
            json!({ "title": format!("Task {at} with a title that is longer than a column") }),
        );
    }
    let mut live = Live::beside(&client, 80, 24, &[]);
    let screen = live.until("↓ 993");
    assert!(screen.starts_with("INIT 1000 "), "{screen}");
    for (columns, rows, shown) in
        [(20, 5, "INIT 1000 >"), (200, 60, "VERIFY 0"), (80, 24, "↓ 993"), (1, 1, "…")]
    {
        live.resize(columns, rows);
        let screen = live.until_it(shown, |screen| screen.contains(shown));
        assert!(columns == 1 || screen.contains("Task 0"), "{screen}");
    }
    live.resize(80, 24);
    live.until("↓ 993");
    live.press("\x1b[F");
    let screen = live.until("↓ 900");
    assert!(screen.contains("Task 99 ") && !screen.contains("Task 0 "), "{screen}");
    live.press("q");
    assert_eq!(live.ends().0, Some(0));
    let mut live = Live::beside(&client, 20, 5, &["--limit", "2"]);
    live.until("Task 0");
    live.press("j");
    live.until("Task 1");
    live.press("q");
    assert_eq!(live.ends().0, Some(0));
}

#[test]
fn people_63_signals_leave_the_terminal_as_it_was() {
    let board = Board::new();
    for signals in [
        &[Signal::TERM][..],
        &[Signal::HUP],
        &[Signal::INT],
        &[Signal::QUIT],
        &[Signal::TERM, Signal::TERM],
        &[Signal::HUP, Signal::TERM, Signal::INT],
    ] {
        let mut live = Live::beside(&board.client, 80, 24, &[]);
        live.press("\r");
        live.until("created in");
        for signal in signals {
            live.signal(*signal);
        }
        let (code, screen) = live.ends();
        assert_eq!((code, screen.trim()), (Some(130), ""), "{signals:?}");
    }
    for keys in [CTRL_C, b"/text\x03", b"?\x03"] {
        let mut live = Live::beside(&board.client, 80, 24, &[]);
        live.press(keys);
        let (code, screen) = live.ends();
        assert_eq!((code, screen.trim()), (Some(130), ""), "{keys:?}");
    }
}

/// Waits until the board is stopped.
fn stopped(live: &Live) {
    let began = Instant::now();
    let stat = format!("/proc/{}/stat", live.board.id());
    while !std::fs::read_to_string(&stat).unwrap().contains(") T ") {
        assert!(began.elapsed() < PATIENCE, "the board does not stop");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn people_63_a_stopped_board_gives_the_terminal_back_and_draws_all_of_it_again() {
    let mut board = Board::new();
    let mut live = Live::beside(&board.client, 80, 24, &[]);
    for round in 0..3 {
        live.until("INIT ");
        live.signal(Signal::TSTP);
        stopped(&live);
        let screen = live.screen();
        assert_eq!(screen.trim(), "", "the screen of before is back");
        assert!(!live.parser.screen().hide_cursor(), "the cursor is back");
        assert_eq!(format!("{:?}", live.terminal.modes()), live.modes, "echo and whole lines are back");
        let title = format!("Meanwhile {round}");
        board.client.data("task_create", json!({ "title": title }));
        live.signal(Signal::CONT);
        live.until(&title);
        assert!(live.parser.screen().alternate_screen() && live.parser.screen().hide_cursor());
        assert_ne!(format!("{:?}", live.terminal.modes()), live.modes, "keys come one by one");
    }
    // Another program may have written to the terminal of one that was stopped without being asked.
    live.until("Meanwhile 2");
    live.signal(Signal::STOP);
    stopped(&live);
    live.screen();
    live.parser.process(b"\x1b[2J\x1b[Hanother program");
    live.signal(Signal::CONT);
    live.until("Meanwhile 2");
    live.until_it("only the board is shown", |screen| !screen.contains("another program"));
    live.press("q");
    assert_eq!(live.ends().0, Some(0));
}

#[test]
fn people_63_a_terminal_that_is_closed_ends_the_board() {
    let board = Board::new();
    for _ in 0..20 {
        close_terminal(&board.client);
    }
}

fn close_terminal(client: &Client) {
    let launch = launch().beside(&client.server).arg("board").env("TERM", "xterm-256color");
    // A terminal of which the test keeps no other end open, so that it can close it.
    let mut person =
        File::from(openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap());
    grantpt(&person).unwrap();
    unlockpt(&person).unwrap();
    let name = ptsname(&person, Vec::new()).unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", "exec setsid --ctty \"$0\" board <\"$1\" >\"$1\" 2>\"$1\""]);
    let inner = launch.command();
    command.arg(inner.get_program()).arg(name.to_str().unwrap()).current_dir(client.server.folder());
    command.envs(inner.get_envs().filter_map(|(name, value)| value.map(|value| (name, value))));
    let mut process = command.spawn().unwrap();
    let mut first = [0; 1];
    person.read_exact(&mut first).unwrap();
    drop(person);
    let status = wait(&mut process);
    assert!(matches!(status.code(), Some(130 | 1)), "{status}");
}

#[test]
fn people_63_a_board_says_why_it_cannot_read_and_goes_on_when_it_can() {
    let mut board = Board::new();
    let mut live = Live::beside(&board.client, 120, 24, &[]);
    live.until("INIT 2");
    if is_postgres() {
        let sql = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid <> pg_backend_pid() \
                   AND datname = current_database()";
        let ended: i64 = board.client.server.sql().query_row(sql, [], |row| row.get(0)).unwrap();
        assert!(ended >= 2, "the board's connection and the server's");
        // The server may answer the first call with an error, and connects again, too.
        board.client.call("task_create", json!({ "title": "After it" }));
        board.client.data("task_create", json!({ "title": "Later" }));
        live.until("Later");
    } else {
        let folder = board.client.server.shared_folder();
        board.client.server.finish();
        let (path, elsewhere) = (folder.path().join("colibri.db"), folder.path().join("elsewhere.db"));
        std::fs::rename(&path, &elsewhere).unwrap();
        let screen = live.until("there is no database at ");
        assert!(screen.contains("INIT 2"), "the tasks stay in sight: {screen}");
        std::fs::write(&path, "not a database").unwrap();
        live.until("is not a Colibri database");
        std::fs::rename(&elsewhere, &path).unwrap();
        live.until("? keys");
    }
    live.press("q");
    assert_eq!(live.ends().0, Some(0));
}

/// How long the log became while a server wrote, and whether it is left when the server has ended.
fn log_file(with_board: bool) -> (u64, bool) {
    let mut client = Client::new(Era::Handshake);
    client.data("task_list", json!({}));
    let folder = client.server.shared_folder();
    let log = folder.path().join("colibri.db-wal");
    let live = with_board.then(|| Live::beside(&client, 80, 24, &[]));
    let mut most = 0;
    for at in 0..2_000 {
        let text = "x".repeat(8_000);
        client.data("task_create", json!({ "title": format!("Task {at}"), "description": text }));
        most = most.max(std::fs::metadata(&log).unwrap().len());
    }
    client.server.finish();
    let left = std::fs::metadata(&log).is_ok_and(|found| found.len() > 0);
    if let Some(mut live) = live {
        live.press("q");
        assert_eq!(live.ends().0, Some(0));
    }
    (most, left)
}

/// PostgreSQL keeps what the oldest open transaction may read.
fn nothing_is_held_between_two_looks() {
    let board = Board::new();
    let mut live = Live::beside(&board.client, 80, 24, &[]);
    live.until("INIT 2");
    std::thread::sleep(Duration::from_secs(1));
    let sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND xact_start IS NOT NULL \
               AND pid <> pg_backend_pid() AND state <> 'active'";
    for _ in 0..10 {
        let open: i64 = board.client.server.sql().query_row(sql, [], |row| row.get(0)).unwrap();
        assert_eq!(open, 0, "idle in a transaction");
        std::thread::sleep(Duration::from_millis(70));
    }
    live.press("q");
    assert_eq!(live.ends().0, Some(0));
}

#[test]
fn people_63_beside_the_board_the_log_is_folded_in_as_without_it() {
    if is_postgres() {
        return nothing_is_held_between_two_looks();
    }
    let (without, with) = (log_file(false), log_file(true));
    assert_eq!(with.1, without.1, "whether a log is left");
    // A reader in the middle of its work delays the folding, but a log that is never folded in would have over 16 MB.
    let [without, with] = [without.0, with.0];
    assert!(with < 3 * without && with < 16_000_000, "{with} instead of {without} bytes");
}

#[test]
fn people_74_an_idle_board_uses_under_a_hundredth_of_a_processor() {
    let board = Board::new();
    let live = Live::beside(&board.client, 80, 24, &[]);
    // What the last change brought has been read again by then.
    std::thread::sleep(Duration::from_secs(3));
    let (began, before) = (Instant::now(), live.processor_ns());
    std::thread::sleep(Duration::from_secs(4));
    let used = live.processor_ns() - before;
    let share = used as f64 / began.elapsed().as_nanos() as f64;
    live.signal(Signal::TERM);
    assert_eq!(live.ends().0, Some(130));
    assert!(share < 0.01, "{:.2} % of a processor", share * 100.0);
}
