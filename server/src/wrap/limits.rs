//! How much `colibri wrap` reads, keeps and waits for. Every limit of the folder stands here.

use std::time::Duration;

/// The longest list of tools that is compared, all pages together, in bytes.
pub const LIST_BYTES: usize = 1024 * 1024;

/// The longest line of the server's that is held whole while it answers this process's own listing.
pub(crate) const OWN_LIST_BYTES: usize = 16 * 1024 * 1024;

/// The most tools of a list that is compared.
pub const LIST_TOOLS: usize = 2048;

/// How many lists a run stores, so that a server whose list changes with every call fills no disk.
pub const NOTES_A_RUN: usize = 8;

/// The longest line of the client's, without its newline. A longer one is refused.
pub(crate) const REQUEST_LINE_BYTES: usize = 16 * 1024 * 1024;

/// Lines of the server's up to this length, without the newline, are held whole until all of their messages are decided. Of
/// a longer one everything leaves as it comes, but for the last byte of each outermost value.
pub(crate) const HOLD_BYTES: usize = 64 * 1024;

/// A line with an outermost array is held up to this length, so that one message can be cut out of it.
pub(crate) const ARRAY_BYTES: usize = 1024 * 1024;

/// The longest id, as JSON text, by which a request is answered.
pub(crate) const ID_BYTES: usize = 1024;

/// The longest method, as JSON text, that is read of a message of the server's.
pub const METHOD_BYTES: usize = 256;

/// The most requests that wait for the server's answers, and the most messages in one array of the client's.
pub(crate) const IN_FLIGHT: usize = 4096;

/// The most messages of one line of the server's that are kept. An array of more answers more requests than may wait.
pub(crate) const LINE_MESSAGES: usize = IN_FLIGHT;

/// How many arrays and objects may stand inside one another in a line of the client's.
pub const REQUEST_DEPTH: usize = 512;

/// With more bytes than this kept for one side, the other is not read.
pub(crate) const OUTBOX_BYTES: usize = 1024 * 1024;

/// With more unsent bytes than this for the client, it is not read itself. Far above what the server's lines may fill, so that only
/// a client that reads none of the answers to its refused requests has to wait.
pub(crate) const ANSWERS_BYTES: usize = 4 * OUTBOX_BYTES;

/// The most rows of one transaction.
pub(crate) const TURN_ROWS: usize = 64;

/// How many bytes of the client's lines wait for their rows before the client is not read on.
pub(crate) const TURN_BYTES: usize = 1024 * 1024;

/// How many bytes of calls wait for the server's list of tools before the client is not read on. As many as the server's own loop keeps.
pub(crate) const ASIDE_BYTES: usize = 8 * 1024 * 1024;

/// How long a call waits for the server's list of tools.
pub(crate) const LIST_WAIT: Duration = Duration::from_secs(10);

/// How long a request that its client has cancelled may still be answered.
pub(crate) const CANCEL_WAIT: Duration = Duration::from_secs(2);

/// How long a server may take to end once its input is closed.
pub(crate) const END_WAIT: Duration = Duration::from_secs(2);

/// The same while it still has requests to answer.
pub(crate) const END_WAIT_BUSY: Duration = Duration::from_secs(30);

/// How long a server may take to end once it is asked to by a signal. The official clients kill after 2 s, so this comes first.
pub(crate) const TERM_WAIT: Duration = Duration::from_millis(1500);

/// How long the output of a server that has ended is waited for: a process that it left behind may keep the pipe open.
pub(crate) const REAP_WAIT: Duration = Duration::from_millis(500);

/// How many ids of requests that were given up are remembered. No request may have one of them: their answers may still come.
pub(crate) const GIVEN_UP: usize = 256;

/// With so many lines held back for their ids the client is not read on.
pub(crate) const HELD_LINES: usize = 64;

/// How long stderr may take nothing of what the server says there, before what it has no room for is dropped.
pub(crate) const STUCK_WAIT: Duration = Duration::from_secs(1);

/// How often a stderr that takes nothing is tried.
pub(crate) const STUCK_AGAIN: Duration = Duration::from_millis(10);

/// How many calls that may continue a run remembers: of those that asked for input, and of those that began tasks.
pub(crate) const CONTINUED: usize = 1024;

/// How many answers to requests for input a note repeats.
pub(crate) const INPUT_ANSWERS: usize = 32;
