//! Which pages belong together, and whether the newest complete list is still the server's. `wrap` may ask for pages itself.

use colibri_canonical::HexDigest;
use colibri_canonical::escape::push_string;

use super::limits::{LIST_BYTES, LIST_TOOLS};
use super::list::{Entry, List, Page, Unreadable};

/// A request for a page, to be kept until it is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    own: bool,
    /// The hash of the cursor: a client may send one of megabytes.
    cursor: Option<HexDigest>,
    changes: u64,
}

/// What has been listed, and whether it is still so.
#[derive(Debug, Default)]
pub struct Listings {
    /// How often the server said that its list changed.
    changes: u64,
    /// `changes` as it was when the newest complete list was asked for.
    known: Option<u64>,
    /// The server's list changed during the last listing of `wrap`'s own.
    overtaken: bool,
    /// The client's listing and that of `wrap`'s own.
    open: [Option<Open>; 2],
}

/// A listing of which some pages are here.
#[derive(Debug, Default)]
struct Open {
    changes: u64,
    next: Option<HexDigest>,
    /// The cursors that came before.
    earlier: Vec<HexDigest>,
    entries: Vec<Entry>,
    bytes: usize,
}

impl Listings {
    /// Notes that the server's list changed.
    pub fn changed(&mut self) {
        self.changes = self.changes.saturating_add(1);
    }

    /// Whether no complete list is known that was asked for after the last change.
    pub fn is_stale(&self) -> bool {
        self.known != Some(self.changes)
    }

    /// Notes a request for a page; `own` if `wrap` sends it.
    pub fn asked(&self, own: bool, cursor: Option<&str>) -> Asked {
        let cursor = cursor.map(|cursor| HexDigest::of(cursor.as_bytes()));
        Asked { own, cursor, changes: self.changes }
    }

    /// Forgets what was listed: an answer could not be read.
    pub fn forget(&mut self) {
        self.known = None;
        self.overtaken = false;
        self.open = [None, None];
    }

    /// Takes a page, and returns the list that it completes. A page that belongs to no listing is passed over. An entry whose name
    /// stood before, on this page or an earlier one of the listing, loses its identity.
    ///
    /// A list during which the server said that it changed is a list all the same, since the client reads it. It only stays stale.
    /// If this happens to a second listing of `wrap`'s own, the list counts as known: a server that says so with each list would be
    /// asked without end.
    ///
    /// # Errors
    /// The pages together are too long, are too many, have no end or hold too many tools.
    pub fn answered(&mut self, asked: &Asked, page: &mut Page) -> Result<Option<List>, Unreadable> {
        let open = self.open[usize::from(asked.own)].as_ref().filter(|open| open.next == asked.cursor);
        page.doubt_repeated(open.map(|open| &open.entries[..]).unwrap_or_default());
        let place = &mut self.open[usize::from(asked.own)];
        let mut open = match (asked.cursor, place.take()) {
            (None, _) => Open { changes: asked.changes, ..Open::default() },
            (Some(cursor), Some(open)) if open.next == Some(cursor) => open,
            (Some(_), open) => {
                *place = open;
                return Ok(None);
            }
        };
        open.entries.extend(page.entries.iter().cloned());
        open.bytes = open.bytes.saturating_add(page.bytes);
        if open.entries.len() > LIST_TOOLS {
            return Err(Unreadable::ManyTools);
        }
        if open.bytes > LIST_BYTES {
            return Err(Unreadable::Long);
        }
        match &page.cursor {
            Some(cursor) => {
                open.earlier.extend(open.next);
                let next = HexDigest::of(cursor.as_bytes());
                if open.earlier.contains(&next) {
                    return Err(Unreadable::Endless);
                }
                if open.earlier.len() >= LIST_TOOLS {
                    return Err(Unreadable::ManyPages);
                }
                *place = Some(Open { next: Some(next), ..open });
                Ok(None)
            }
            None => {
                let is_settled = asked.own && self.overtaken;
                if asked.own {
                    self.overtaken = open.changes != self.changes && !is_settled;
                }
                self.known = Some(if is_settled { self.changes } else { open.changes });
                Ok(Some(List::of(open.entries)))
            }
        }
    }
}

/// Returns a request of `wrap`'s own for a page, as a line. `meta` is JSON text.
pub fn request(id: &str, cursor: Option<&str>, meta: Option<&str>) -> Vec<u8> {
    let mut line = "{\"jsonrpc\":\"2.0\",\"id\":".to_owned();
    push_string(&mut line, id);
    line.push_str(",\"method\":\"tools/list\"");
    let cursor = cursor.map(|cursor| {
        let mut member = "\"cursor\":".to_owned();
        push_string(&mut member, cursor);
        member
    });
    let meta = meta.map(|meta| format!("\"_meta\":{meta}"));
    let params: Vec<String> = cursor.into_iter().chain(meta).collect();
    if !params.is_empty() {
        line.push_str(&format!(",\"params\":{{{}}}", params.join(",")));
    }
    line.push_str("}\n");
    line.into_bytes()
}
