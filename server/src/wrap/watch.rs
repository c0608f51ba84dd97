//! Holds what a server lists against its pin and the policy of the run: what is told and recorded, what is cut from lists, and
//! which calls are refused. Pure: the relay stores, logs and asks for lists.

use std::collections::BTreeSet;
use std::ops::Range;
use std::str::FromStr;

use colibri_canonical::HexDigest;
use colibri_runtime::chain::log::Level;
use colibri_visible::counted;

use super::answer::Refusal;
use super::extents;
use super::findings::{Comparison, Line};
use super::limits::NOTES_A_RUN;
use super::list::{Entry, List, Page, Unreadable};
use super::listing::{Asked, Listings};
use super::name::Name;
use super::pin::{Pin, SeenList, short};
use super::policy::Policy;

/// How often a run records that the server is back at a list that is stored already.
const LISTS_AGAIN: usize = NOTES_A_RUN;

/// What happens when tools are not the pinned ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PinMode {
    /// It is told and recorded.
    #[default]
    Warn,
    /// Besides, the tools are withheld.
    Refuse,
    /// Nothing is compared.
    Off,
}

impl PinMode {
    /// Returns the word of the command line and of the run's row.
    pub fn word(self) -> &'static str {
        match self {
            Self::Warn => "warn",
            Self::Refuse => "refuse",
            Self::Off => "off",
        }
    }
}

impl FromStr for PinMode {
    type Err = &'static str;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let modes = [Self::Warn, Self::Refuse, Self::Off];
        modes.into_iter().find(|mode| mode.word() == word).ok_or("must be warn, refuse or off")
    }
}

/// What becomes of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It goes on.
    Pass,
    /// The list of tools must be known first.
    Wait,
    /// It is refused.
    Refuse(Refusal),
}

/// What follows from a complete list.
#[derive(Debug, Default)]
pub struct Compared {
    /// Lines to log now.
    pub lines: Vec<Line>,
    /// The list is to be stored.
    pub note: Option<SeenList>,
    /// What the difference means, to be found out beside the loop: comparing schemas may take long.
    pub meaning: Option<Comparison>,
}

/// What is known of a server's tools.
#[derive(Debug)]
pub struct Watch {
    server: Name,
    mode: PinMode,
    policy: Policy,
    pin: Option<Pin>,
    listings: Listings,
    /// The newest complete list with the instructions that were known then.
    present: Option<SeenList>,
    instructions: Option<String>,
    /// Lists that were told in this run while the pin was the same.
    told: BTreeSet<String>,
    /// Lists that are recorded, with those of the pin, and how many are so in this run.
    recorded: BTreeSet<String>,
    noted: usize,
    /// How often it was recorded that the server is back at a recorded list, and which list was recorded last.
    returned: usize,
    newest: Option<HexDigest>,
    /// How many lists differed beyond those that are recorded.
    unrecorded: u64,
    /// How often it was told that a list cannot be pinned as it is, and what was told last.
    doubts: (usize, String),
    /// The list was too long to be compared when it was read last.
    too_long: bool,
}

impl Watch {
    /// Begins a run. `pin` is what is stored under the server's name.
    pub fn new(server: Name, mode: PinMode, policy: Policy, pin: Option<Pin>) -> Self {
        Self {
            server,
            mode,
            policy,
            pin,
            listings: Listings::default(),
            present: None,
            instructions: None,
            told: BTreeSet::new(),
            recorded: BTreeSet::new(),
            noted: 0,
            returned: 0,
            newest: None,
            unrecorded: 0,
            doubts: (0, String::new()),
            too_long: false,
        }
    }

    /// Whether `wrap` lists the tools by itself when the list is stale and a call comes.
    pub fn asks(&self) -> bool {
        self.mode != PinMode::Off || self.policy.is_read_only()
    }

    /// Whether entries may have to be cut from lists: then an answer to `tools/list` is held until it is read.
    pub fn cuts(&self) -> bool {
        self.mode == PinMode::Refuse || self.policy.is_read_only() || self.policy.has_patterns()
    }

    /// Whether calls wait while the list is stale.
    pub fn waits(&self) -> bool {
        self.mode == PinMode::Refuse || self.policy.is_read_only()
    }

    /// Whether the newest list may no longer be the server's.
    pub fn is_stale(&self) -> bool {
        self.listings.is_stale()
    }

    /// Returns the line that tells how many lists differed from the pin and were not recorded, since the run had recorded its share.
    pub fn unrecorded(&self) -> Option<Line> {
        let text = match self.unrecorded {
            0 => return None,
            1 => "1 more list differed and was not recorded".to_owned(),
            count => format!("{count} more lists differed and were not recorded"),
        };
        Some((Level::Warn, format!("[wrap] {}: {text}", self.server)))
    }

    /// Notes `notifications/tools/list_changed`.
    pub fn changed(&mut self) {
        self.too_long = false;
        self.listings.changed();
    }

    /// Notes a request for a page of the list, and returns what is to be kept until its answer; `own` if `wrap` sends it.
    pub fn asked(&self, own: bool, cursor: Option<&str>) -> Asked {
        self.listings.asked(own, cursor)
    }

    /// Takes the pin as it is stored now. To be called when a list is complete, and before a call is refused for its tool.
    pub fn renew(&mut self, pin: Option<Pin>) {
        let Some(pin) = pin else { return };
        let is_same = |old: &Pin| (&old.tools, &old.instructions) == (&pin.tools, &pin.instructions);
        if !self.pin.as_ref().is_some_and(is_same) {
            // What was told before was told of another pin.
            self.told.clear();
        }
        self.pin = Some(pin);
    }

    /// Reads an answer to `tools/list`, whose result stands at `result` in its line. Returns the page, and the list that it
    /// completes.
    ///
    /// # Errors
    /// It lists no tools, or is too long. Then the list is stale.
    pub fn page(
        &mut self,
        asked: &Asked,
        line: &[u8],
        result: &Range<usize>,
    ) -> Result<(Page, Option<List>), Unreadable> {
        let read = Page::read(line, result).and_then(|mut page| {
            let list = self.listings.answered(asked, &mut page)?;
            Ok((page, list))
        });
        self.too_long = read.as_ref().is_err_and(|why| why.is_of_length());
        if read.is_err() {
            self.listings.forget();
        }
        read
    }

    /// Notes an answer to `tools/list` that is too long to be looked at whole.
    pub(crate) fn overlong(&mut self) {
        self.too_long = true;
    }

    /// Returns whether the server's list was too long and has not changed since: asking again would bring the same.
    pub(crate) fn is_too_long(&self) -> bool {
        self.too_long
    }

    /// Returns the line that tells of a list that cannot be read, unless it was told often enough.
    pub fn unreadable(&mut self, why: Unreadable) -> Option<Line> {
        self.doubt(format!("[wrap] {}: the list of tools {why}; it is not compared", self.server))
    }

    /// The same of a server that has not listed its tools when it was asked to.
    pub(crate) fn unlisted(&mut self, why: &str) -> Option<Line> {
        self.doubt(format!("[wrap] {}: {why}", self.server))
    }

    fn doubt(&mut self, text: String) -> Option<Line> {
        let (times, last) = &mut self.doubts;
        if *times >= NOTES_A_RUN || *last == text {
            return None;
        }
        *times += 1;
        last.clone_from(&text);
        Some((Level::Warn, text))
    }

    /// Returns the pieces of a page's line that are to be cut.
    pub fn withheld(&self, page: &Page) -> Vec<Range<usize>> {
        let keep = |index: usize| page.entries.get(index).is_some_and(|entry| !self.withholds(entry));
        page.parts.without(keep)
    }

    fn withholds(&self, entry: &Entry) -> bool {
        let name = entry.name.as_deref();
        let admitted = name.is_some_and(|name| self.policy.admits(name));
        let pinned = name.and_then(|name| self.pin.as_ref()?.tools.get(name));
        let reads = entry.read_only
            && (self.mode == PinMode::Off
                || self.pin.is_none()
                || pinned.is_some_and(|pinned| pinned.read_only));
        let is_pinned = self.pin.as_ref().is_none_or(|pin| pin.holds(entry));
        self.policy.has_patterns() && !admitted
            || self.policy.is_read_only() && !reads
            || self.mode == PinMode::Refuse && (entry.identity.is_none() || !is_pinned)
    }

    /// Takes the answer to `initialize` or `server/discover`, whose result stands at `result` in its line. Returns the pieces of
    /// the line to cut, and the newest list if it is to be compared again with these instructions.
    pub fn greeted(&mut self, line: &[u8], result: &Range<usize>) -> (Vec<Range<usize>>, Option<List>) {
        let Some((members, parts)) = extents::members(line, result) else { return (Vec::new(), None) };
        // A name that readers may take for another is as bad as another text.
        let is_it = |name: &Option<String>| name.as_deref().is_none_or(|name| name == "instructions");
        let found: Vec<_> = members.iter().map(|member| is_it(&member.name)).collect();
        let mut texts = members.iter().filter(|member| is_it(&member.name));
        let first = texts.next();
        let text = first.and_then(|member| extents::text(line.get(member.value.clone())?));
        // Readers take null for no instructions.
        let given = first.is_some_and(|member| line.get(member.value.clone()) != Some(b"null"));
        let doubtful = texts.next().is_some() || given != text.is_some();
        let pinned = self.pin.as_ref().is_none_or(|pin| pin.holds_instructions(text.as_deref()));
        let cut = self.mode == PinMode::Refuse && (doubtful || !pinned);
        let pieces = match cut {
            true => parts.without(|index| !found.get(index).copied().unwrap_or_default()),
            false => Vec::new(),
        };
        let is_new = text.is_some() && text != self.instructions;
        if is_new {
            self.instructions = text;
        }
        let again = self.present.as_ref().filter(|_| is_new && !self.is_stale());
        (pieces, again.map(|seen| seen.list.clone()))
    }

    /// Returns a complete list together with the instructions that are known.
    pub fn seen(&self, list: List) -> SeenList {
        SeenList { list, instructions: self.instructions.clone() }
    }

    /// Compares a complete list with the pin. `now` is the present time, UTC, RFC 3339.
    pub fn compare(&mut self, list: List, now: &str) -> Compared {
        let seen = self.seen(list);
        let mut compared = Compared::default();
        if self.present.is_none() {
            compared.lines.extend(self.fits_none(&seen.list));
        }
        self.present = Some(seen.clone());
        if self.mode == PinMode::Off {
            return compared;
        }
        let hash = seen.hash();
        compared.lines.extend(self.doubtful(&seen.list));
        match &self.pin {
            None => {
                let mut pin = Pin::default();
                pin.lay(&seen, now);
                let tools = counted(seen.list.tools.len(), "tool");
                let text = format!("[wrap] {}: pinned {tools} (list {})", self.server, short(&hash));
                compared.lines.push((Level::Info, text));
                compared.meaning = Some(Comparison::new(self.server.clone(), None, seen.clone()));
                self.record(seen, &hash, &mut compared);
                self.pin = Some(pin);
            }
            Some(pin) => {
                let pin = pin.clone();
                self.differing(&pin, seen, &hash, &mut compared);
            }
        }
        compared
    }

    /// Tells a list that is not the first.
    fn differing(&mut self, pin: &Pin, seen: SeenList, hash: &HexDigest, compared: &mut Compared) {
        let server = &self.server;
        let difference = pin.difference(&seen);
        let is_pinned = pin.lists.contains(hash.as_str());
        // There must be room to record that it has left the pinned list again.
        let most = LISTS_AGAIN - usize::from(difference.is_none());
        if self.told.contains(hash.as_str()) {
            if is_pinned || self.recorded.contains(hash.as_str()) {
                self.back_at(seen, hash, most, compared);
            }
            return;
        }
        if difference.is_none() {
            if !difference.gone.is_empty() && self.told.len() < 2 * NOTES_A_RUN {
                let text = match difference.gone.len() {
                    1 => format!("[wrap] {server}: the list lacks 1 pinned tool"),
                    count => format!("[wrap] {server}: the list lacks {count} pinned tools"),
                };
                compared.lines.push((Level::Info, text));
                self.told.insert(hash.as_str().to_owned());
            }
            // Without other lists it is known that the server has this one.
            if pin.has_others && is_pinned {
                self.back_at(seen, hash, most, compared);
            }
            return;
        }
        if self.noted >= NOTES_A_RUN {
            if self.unrecorded == 0 {
                let text = format!(
                    "[wrap] {server}: the tools differ again; {NOTES_A_RUN} lists were recorded in this run, and no more are"
                );
                compared.lines.push((Level::Warn, text));
            }
            self.unrecorded = self.unrecorded.saturating_add(1);
            return;
        }
        let text = format!(
            "[wrap] {server}: {} since {}; look: colibri pins diff {server} --list {}",
            difference.counts(),
            pin.since,
            short(hash)
        );
        compared.lines.push((Level::Warn, text));
        compared.meaning = Some(Comparison::new(server.clone(), Some(pin.clone()), seen.clone()));
        self.record(seen, hash, compared);
    }

    fn record(&mut self, seen: SeenList, hash: &HexDigest, compared: &mut Compared) {
        compared.note = Some(seen);
        self.told.insert(hash.as_str().to_owned());
        self.recorded.insert(hash.as_str().to_owned());
        self.newest = Some(*hash);
        self.noted += 1;
    }

    /// Has it recorded that the server gives a recorded list after another one, unless this was recorded so often.
    fn back_at(&mut self, seen: SeenList, hash: &HexDigest, most: usize, compared: &mut Compared) {
        if self.newest != Some(*hash) && self.returned < most {
            compared.note = Some(seen);
            self.newest = Some(*hash);
            self.returned += 1;
        }
    }

    /// Returns the line that tells of patterns which admit no tool of a list.
    fn fits_none(&self, list: &List) -> Option<Line> {
        let names: Vec<&String> = list.order.iter().chain(&list.doubtful).collect();
        let unused = self.policy.admit_none_of(&names);
        let patterns: Vec<&str> = unused.iter().map(|pattern| pattern.as_str()).collect();
        let patterns = super::answer::shown(&patterns.join(" --allow "));
        let text = format!("[wrap] {}: the server lists no tool that fits --allow {patterns}", self.server);
        (!unused.is_empty()).then_some((Level::Warn, text))
    }

    /// Returns the line that tells of entries which cannot be pinned.
    fn doubtful(&mut self, list: &List) -> Option<Line> {
        if list.doubtful.is_empty() && list.nameless == 0 {
            return None;
        }
        let mut what = Vec::new();
        if let Some(first) = list.doubtful.first() {
            let others = match list.doubtful.len() - 1 {
                0 => String::new(),
                count => format!(" and {count} more"),
            };
            what.push(format!(
                "\"{}\"{others}, listed twice or without one form",
                super::answer::shown(first)
            ));
        }
        match list.nameless {
            0 => {}
            1 => what.push("1 entry without a name".to_owned()),
            several => what.push(format!("{several} entries without a name")),
        }
        self.doubt(format!("[wrap] {}: these tools cannot be pinned: {}", self.server, what.join("; ")))
    }

    /// Returns the digits of the newest complete list that are shown, if it is one that waits and is stored.
    pub fn waiting(&self) -> Option<String> {
        let (present, pin) = (self.present.as_ref()?, self.pin.as_ref()?);
        let hash = present.hash();
        let waits = self.recorded.contains(hash.as_str()) && !pin.difference(present).is_none();
        waits.then(|| short(&hash).to_owned())
    }

    /// Decides on a call of a tool.
    pub fn admit(&self, tool: &str) -> Decision {
        if !self.policy.admits(tool) {
            return Decision::Refuse(Refusal::Denied);
        }
        if !self.waits() {
            return Decision::Pass;
        }
        let Some(present) = self.present.as_ref().filter(|_| !self.is_stale()) else {
            return Decision::Wait;
        };
        let listed = present.list.tools.get(tool);
        let pinned = self.pin.as_ref().and_then(|pin| pin.tools.get(tool));
        let reads = listed.is_some_and(|tool| tool.read_only)
            && (self.mode == PinMode::Off || pinned.is_some_and(|tool| tool.read_only));
        if self.policy.is_read_only() && !reads {
            let says_so = listed.is_some_and(|tool| tool.read_only);
            return Decision::Refuse(if says_so { Refusal::ReadOnlySince } else { Refusal::NotReadOnly });
        }
        if self.mode != PinMode::Refuse {
            return Decision::Pass;
        }
        match (listed, pinned) {
            _ if present.list.doubtful.iter().any(|name| name == tool) => {
                Decision::Refuse(Refusal::ToolChanged)
            }
            (None, None) => Decision::Refuse(Refusal::ToolUnlisted),
            (Some(_), None) => Decision::Refuse(Refusal::ToolNew),
            (Some(listed), Some(pinned)) if listed.hash != pinned.hash => {
                Decision::Refuse(Refusal::ToolChanged)
            }
            _ => Decision::Pass,
        }
    }
}
