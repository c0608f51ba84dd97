//! Listings of this process's own, and what follows from a complete list of the server's tools.

use colibri_runtime::chain::log::Level;
use colibri_runtime::chain::store::Store as _;
use colibri_runtime::handler::Dispatch;
use colibri_runtime::kernel::rfc3339_ms;
use colibri_runtime::progress::Progress;
use colibri_store::db::Db;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::incoming::{Note, Waiting};
use super::{Flight, Id, Relay};
use crate::catalogue::ToolId;
use crate::domains::wrap::store::{count_lists, lists_of_pin};
use crate::lifecycle::operation::Operator;
use crate::tools::cx::Cx;
use crate::wrap::limits::LIST_WAIT;
use crate::wrap::list::List;
use crate::wrap::listing::{Asked, request};
use crate::wrap::pin::{Pin, SeenList};
use crate::wrap::scan::{Answer, Ending};

/// The listing that this process asks for.
#[derive(Debug, Default)]
pub struct Own {
    /// The handshake is over: a client of the older era may be spoken for.
    initialized: bool,
    /// A call of the older era came before that.
    wanted: bool,
    /// The listing under way.
    open: Option<Open>,
    /// How many requests were sent.
    sent: u64,
}

#[derive(Debug)]
struct Open {
    id: Id,
    until: Instant,
    /// The members of a stateless request's `_meta`.
    meta: Option<String>,
}

impl<D: Dispatch<Cx>> Relay<'_, D> {
    /// Returns whether a listing of this process's own is under way.
    pub(super) fn is_listing(&self) -> bool {
        self.listing.open.is_some()
    }

    /// Returns until when the listing may take.
    pub(super) fn listing_until(&self) -> Option<Instant> {
        self.listing.open.as_ref().map(|open| open.until)
    }

    /// Asks the server for its tools, unless it is asked already. `meta` is that of a stateless call.
    pub(super) fn ask_for_tools(&mut self, meta: Option<String>) {
        if self.listing.open.is_some() || self.to_server.is_none() {
            return;
        }
        if self.watch.is_too_long() {
            // Why was told when the list came.
            return self.not_listed(None);
        }
        if meta.is_none() && !self.listing.initialized {
            self.listing.wanted = true;
            return;
        }
        self.ask_for_page(meta, None, Instant::now() + LIST_WAIT);
    }

    fn ask_for_page(&mut self, meta: Option<String>, cursor: Option<&str>, until: Instant) {
        self.listing.sent += 1;
        let run: String = self.run_id.chars().filter(char::is_ascii_hexdigit).take(16).collect();
        let text = format!("colibri-wrap:{run}:{}", self.listing.sent);
        let Some(id) = Id::read(format!("\"{text}\"").as_bytes()) else { return };
        let line = request(&text, cursor, meta.as_deref());
        let flight = Flight::OwnTools(self.watch.asked(true, cursor));
        self.listing.open = Some(Open { id: id.clone(), until, meta });
        self.incoming.push(Waiting {
            bytes: line,
            notes: vec![Note::Request(id, flight)],
            ..Waiting::default()
        });
    }

    /// The client's handshake is over.
    pub(super) fn initialized(&mut self) {
        self.listing.initialized = true;
        if std::mem::take(&mut self.listing.wanted) {
            self.ask_for_tools(None);
        }
    }

    /// An answer to this process's own request.
    pub(super) fn own_listed(&mut self, asked: &Asked, answer: &Answer, line: Option<&[u8]>) {
        let Some(Open { until, meta, .. }) = self.listing.open.take() else { return };
        if let Ending::RpcError(number) = answer.ending {
            let number = number.map_or_else(String::new, |number| format!(" {number}"));
            return self.not_listed(Some(&format!("answered tools/list with the JSON-RPC error{number}")));
        }
        match self.read_page(asked, answer, line) {
            Ok(page) => {
                if let Some(cursor) = page.cursor {
                    self.ask_for_page(meta, Some(&cursor), until);
                }
            }
            // Why is told already.
            Err(_) => self.not_listed(None),
        }
    }

    /// The server has not listed its tools in time.
    pub(super) fn listing_is_late(&mut self) {
        let Some(open) = self.listing.open.take() else { return };
        if let Some(place) = self.flights.oldest(&open.id) {
            // A late answer is dropped.
            self.end(place);
        }
        self.not_listed(Some(&format!("did not list its tools in {} s", LIST_WAIT.as_secs())));
    }

    /// The tools cannot be known now: calls that wait for them are refused.
    fn not_listed(&mut self, why: Option<&str>) {
        if let Some((level, text)) = why.and_then(|why| self.watch.unlisted(why)) {
            self.log.write(level, &text);
        }
        let now = Instant::now();
        for aside in std::mem::take(&mut self.aside) {
            self.take_line(aside.line, Some(now));
        }
    }

    /// Compares a complete list with the pin, and goes on with the calls that waited for it.
    pub(super) fn complete(&mut self, list: List) {
        self.renew_pin();
        let now = rfc3339_ms(self.operator.chain().kernel().clock.wall_ms());
        let compared = self.watch.compare(list, &now);
        for (level, text) in compared.lines {
            self.log.write(level, &text);
        }
        self.notes.extend(compared.note);
        if let Some(meaning) = compared.meaning {
            let log = self.log.clone();
            // Comparing schemas may take long, and no call waits for it.
            let told = std::thread::Builder::new().name("findings".to_owned()).spawn(move || {
                for (level, text) in meaning.lines() {
                    log.write(level, &text);
                }
            });
            if let Err(error) = told {
                self.tell(Level::Warn, &format!("what the difference means is not told: {error}"));
            }
        }
        // A list that is to be stored may not be the pin: another run of this name may store one before.
        if self.notes.is_empty() {
            self.take_aside();
        }
    }

    /// Goes on with the calls that waited for a list.
    fn take_aside(&mut self) {
        for aside in std::mem::take(&mut self.aside) {
            self.take_line(aside.line, Some(aside.until));
        }
    }

    /// Reads the pin as it is stored now.
    pub(super) fn renew_pin(&mut self) {
        match pin_of(self.operator, self.name.as_str()) {
            Ok(pin) => self.watch.renew(pin),
            Err(reason) => self.tell(Level::Error, &format!("the pin cannot be read: {reason}")),
        }
    }

    /// Stores the lists that are to be, each by a call of the operation. From then on the pin is the stored one.
    pub(super) async fn store_lists(&mut self) {
        if self.notes.is_empty() {
            return;
        }
        while let Some(seen) = self.notes.pop_front() {
            let SeenList { instructions, .. } = &seen;
            let tools: Vec<Value> =
                seen.entries().filter_map(|entry| serde_json::from_str(entry).ok()).collect();
            let arguments = json!({
                "run_id": self.run_id,
                "name": self.name.as_str(),
                "instructions": instructions,
                "tools": tools,
            });
            let stored = self.operator.call_within(ToolId::PinsNote, arguments, Progress::default()).await;
            match stored {
                Ok(envelope) if envelope["ok"] == json!(true) => {}
                Ok(envelope) => {
                    self.tell(
                        Level::Error,
                        &format!("the list of tools is not stored: {}", envelope["error"]),
                    );
                }
                Err(error) => self.tell(Level::Error, &format!("the list of tools is not stored: {error}")),
            }
        }
        self.renew_pin();
        self.take_aside();
    }
}

/// Reads the pin of a server; `None` if it has none.
///
/// # Errors
/// The store's words.
pub fn stored_pin(db: &Db, name: &str) -> Result<Option<Pin>, String> {
    let lists = lists_of_pin(db, name).map_err(|fault| fault.to_string())?;
    let mut pin: Option<Pin> = None;
    for (list, since) in lists {
        let seen = SeenList::stored(&list).ok_or("a stored list of tools was changed; run colibri verify")?;
        pin.get_or_insert_default().lay(&seen, &since);
    }
    if let Some(pin) = &mut pin {
        pin.has_others = count_lists(db, name).map_err(|fault| fault.to_string())? > 1;
    }
    Ok(pin)
}

/// Reads the pin from the database of an operator.
///
/// # Errors
/// As [`stored_pin`].
pub fn pin_of<D: Dispatch<Cx>>(operator: &mut Operator<D>, name: &str) -> Result<Option<Pin>, String> {
    let cx = operator.chain().store.cx();
    stored_pin(cx.db().map_err(|fault| fault.to_string())?, name)
}
