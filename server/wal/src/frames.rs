//! The frames of one commit on their way to the log (<https://www.sqlite.org/fileformat2.html>, section 4.1).
//!
//! It knows neither SQLite nor files: what it writes goes to a function, its sink. So it can be tested by itself.

use std::cell::RefCell;

/// Bytes of a frame's header. Every page is longer.
const HEADER: usize = 24;

/// A run of this length is written, even without its commit mark. This bounds the memory, and the run together with
/// one more frame of the largest page stays below the 128 KiB that SQLite's own layer hands one system call.
const ENOUGH: usize = 60 * 1024;

/// Tells open logs apart, as long as they are open.
pub(crate) type FileId = usize;

thread_local! {
    /// The frames that this thread gathers. A connection does not change threads while it commits.
    static GATHERED: RefCell<Gathered> =
        const { RefCell::new(Gathered { open: false, end: None, gap: false, file: 0, run: Run::EMPTY }) };
}

struct Gathered {
    /// A section is open.
    open: bool,
    /// Where the log ends, until the section's first write, which may begin there or before.
    end: Option<i64>,
    /// The first write was to begin after the end, and was refused.
    gap: bool,
    /// The file whose frames the run holds, while it holds any.
    file: FileId,
    /// Kept from section to section, so that commits do not allocate.
    run: Run,
}

/// A guard: while it lives, this thread gathers. Sections do not nest.
pub(crate) struct Section(());

impl Section {
    pub(crate) fn open(end: Option<i64>) -> Self {
        let _ = GATHERED.try_with(|gathered| {
            let mut gathered = gathered.borrow_mut();
            gathered.open = true;
            gathered.end = end;
            gathered.gap = false;
        });
        Self(())
    }

    /// Checks whether a write was refused because it would have left a gap after the log's end.
    pub(crate) fn met_gap(&self) -> bool {
        GATHERED.try_with(|gathered| gathered.borrow().gap).unwrap_or(false)
    }
}

impl Drop for Section {
    /// Drops what is left: it has no commit mark, and after the section another process may write there.
    fn drop(&mut self) {
        let _ = GATHERED.try_with(|gathered| {
            let mut gathered = gathered.borrow_mut();
            gathered.open = false;
            gathered.end = None;
            gathered.run.bytes.clear();
        });
    }
}

/// Takes a write to a log: keeps it, or passes it on after all that was kept before it.
///
/// # Errors
/// The sink's error, or `gap` for a section's first write if it would begin after the log's end. Nothing is kept then.
pub(crate) fn write<E>(
    file: FileId,
    data: &[u8],
    offset: i64,
    gap: E,
    mut sink: impl FnMut(&[u8], i64) -> Result<(), E>,
) -> Result<(), E> {
    let gathered = GATHERED.try_with(|gathered| {
        let mut gathered = gathered.try_borrow_mut().ok()?;
        let Gathered { open, end, gap: met, file: owner, run } = &mut *gathered;
        if !*open || (*owner != file && !run.bytes.is_empty()) {
            return None;
        }
        *met |= end.take().is_some_and(|end| offset > end);
        if *met {
            return Some(Err(gap));
        }
        *owner = file;
        Some(run.write(data, offset, &mut sink))
    });
    match gathered {
        Ok(Some(written)) => written,
        // Outside a section, in that of another log, or in a thread that ends.
        Ok(None) | Err(_) => sink(data, offset),
    }
}

/// Passes on what is kept of a log, before any operation on it other than a write.
///
/// # Errors
/// The sink's error. Nothing is kept then.
pub(crate) fn settle<E>(file: FileId, sink: impl FnMut(&[u8], i64) -> Result<(), E>) -> Result<(), E> {
    GATHERED
        .try_with(|gathered| match gathered.try_borrow_mut() {
            Ok(mut gathered) if gathered.file == file => gathered.run.settle(sink),
            _ => Ok(()),
        })
        .unwrap_or(Ok(()))
}

/// Drops what is kept of a log.
pub(crate) fn forget(file: FileId) {
    let _ = GATHERED.try_with(|gathered| {
        if let Ok(mut gathered) = gathered.try_borrow_mut()
            && gathered.file == file
        {
            gathered.run.bytes.clear();
        }
    });
}

/// Frames that follow each other, without the last one's end.
struct Run {
    start: i64,
    bytes: Vec<u8>,
    /// The last header carries the commit mark.
    closing: bool,
}

impl Run {
    const EMPTY: Self = Self { start: 0, bytes: Vec::new(), closing: false };

    fn write<E>(
        &mut self,
        data: &[u8],
        offset: i64,
        mut sink: impl FnMut(&[u8], i64) -> Result<(), E>,
    ) -> Result<(), E> {
        if !self.continues(offset) {
            self.settle(&mut sink)?;
        }
        let header = data.len() == HEADER;
        // A run begins with a header that others must follow. One with a commit mark may be the last write of all: SQLite
        // writes headers anew when it has replaced a frame of an uncommitted transaction.
        if self.bytes.is_empty() && (!header || commits(data)) || self.bytes.try_reserve(data.len()).is_err()
        {
            self.settle(&mut sink)?;
            return sink(data, offset);
        }
        if self.bytes.is_empty() {
            self.start = offset;
        }
        self.bytes.extend_from_slice(data);
        if header {
            self.closing = commits(data);
        } else if self.closing || self.bytes.len() >= ENOUGH {
            return self.settle(sink);
        }
        Ok(())
    }

    /// Checks whether a write belongs directly after what is kept. An empty run has no end.
    fn continues(&self, offset: i64) -> bool {
        i64::try_from(self.bytes.len()).ok().and_then(|length| self.start.checked_add(length)) == Some(offset)
    }

    fn settle<E>(&mut self, mut sink: impl FnMut(&[u8], i64) -> Result<(), E>) -> Result<(), E> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        let written = sink(&self.bytes, self.start);
        self.bytes.clear();
        written
    }
}

/// Checks whether a frame's header carries the commit mark: the database's size after the commit; other frames have zero.
fn commits(header: &[u8]) -> bool {
    header.get(4..8).is_some_and(|pages| pages != [0; 4])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::*;

    const PAGE: usize = 512;
    /// The error of a write that would leave a gap.
    const GAP: i32 = 77;

    /// A log in memory, and how it was written.
    #[derive(Default)]
    struct Log {
        bytes: Vec<u8>,
        writes: Vec<(i64, usize)>,
        refuse: bool,
    }

    impl Log {
        fn sink(&mut self) -> impl FnMut(&[u8], i64) -> Result<(), i32> + '_ {
            |data, offset| {
                if self.refuse {
                    return Err(13);
                }
                self.writes.push((offset, data.len()));
                put(&mut self.bytes, data, offset);
                Ok(())
            }
        }
    }

    fn put(bytes: &mut Vec<u8>, data: &[u8], offset: i64) {
        let start = usize::try_from(offset).unwrap();
        bytes.resize(bytes.len().max(start + data.len()), 0);
        bytes[start..start + data.len()].copy_from_slice(data);
    }

    fn header(commit: bool) -> [u8; HEADER] {
        let mut header = [7; HEADER];
        header[4..8].copy_from_slice(&u32::from(commit).to_be_bytes());
        header
    }

    /// Writes frames from an offset on; the last one commits if wanted.
    fn frames(log: &mut Log, from: i64, count: usize, page: usize, commit: bool) -> Result<(), i32> {
        let mut offset = from;
        for frame in 1..=count {
            write(1, &header(commit && frame == count), offset, GAP, log.sink())?;
            write(
                1,
                &vec![u8::try_from(frame % 251).unwrap(); page],
                offset + HEADER as i64,
                GAP,
                log.sink(),
            )?;
            offset += (HEADER + page) as i64;
        }
        Ok(())
    }

    #[test]
    fn the_frames_of_a_commit_are_one_write() {
        let mut log = Log::default();
        let section = Section::open(None);
        frames(&mut log, 32, 8, PAGE, true).unwrap();
        assert_eq!(log.writes, [(32, 8 * (HEADER + PAGE))]);
        drop(section);
        frames(&mut log, 32, 2, PAGE, true).unwrap();
        assert_eq!(log.writes.len(), 5, "outside a section each write is its own");
    }

    #[test]
    fn what_has_no_commit_mark_ends_with_the_section() {
        let mut log = Log::default();
        {
            let _section = Section::open(None);
            frames(&mut log, 0, 3, PAGE, false).unwrap();
        }
        let _section = Section::open(None);
        settle(1, log.sink()).unwrap();
        assert_eq!(log.writes, []);
    }

    #[test]
    fn a_log_that_is_closed_or_another_one_gets_nothing() {
        let mut log = Log::default();
        let _section = Section::open(None);
        frames(&mut log, 0, 3, PAGE, false).unwrap();
        settle(2, log.sink()).unwrap();
        assert_eq!(log.writes, []);
        write(2, &header(false), 900, GAP, log.sink()).unwrap();
        assert_eq!(log.writes, [(900, HEADER)], "one log is gathered at a time");
        forget(1);
        settle(1, log.sink()).unwrap();
        assert_eq!(log.writes.len(), 1);
    }

    #[test]
    fn what_does_not_follow_comes_after_what_was_kept() {
        let mut log = Log::default();
        let _section = Section::open(None);
        frames(&mut log, 5000, 2, PAGE, false).unwrap();
        // A frame of this transaction is replaced, and the headers behind it are written anew, the last with the mark.
        write(1, &[9; PAGE], 24, GAP, log.sink()).unwrap();
        write(1, &header(false), 0, GAP, log.sink()).unwrap();
        write(1, &header(true), 5000, GAP, log.sink()).unwrap();
        assert_eq!(
            log.writes,
            [(5000, 2 * (HEADER + PAGE)), (24, PAGE), (0, HEADER), (5000, HEADER)],
            "the last header is not kept: nothing need follow it"
        );
    }

    #[test]
    fn a_long_commit_is_written_in_pieces_that_one_call_takes() {
        for page in [PAGE, 2048, 65536] {
            let mut log = Log::default();
            let _section = Section::open(None);
            frames(&mut log, 32, 300, page, true).unwrap();
            let total: usize = log.writes.iter().map(|(_, length)| length).sum();
            assert_eq!(total, 300 * (HEADER + page));
            assert!(log.writes.iter().all(|(_, length)| *length < 128 * 1024), "{page}");
            assert!(log.writes.windows(2).all(|pair| pair[0].0 + pair[0].1 as i64 == pair[1].0));
        }
    }

    #[test]
    fn a_refused_write_is_the_last_frames_error_and_leaves_nothing() {
        let mut log = Log { refuse: true, ..Log::default() };
        let _section = Section::open(None);
        assert_eq!(frames(&mut log, 32, 4, PAGE, true), Err(13));
        log.refuse = false;
        settle(1, log.sink()).unwrap();
        assert_eq!(log.writes, []);
        frames(&mut log, 32, 4, PAGE, true).unwrap();
        assert_eq!(log.writes, [(32, 4 * (HEADER + PAGE))]);
    }

    #[test]
    fn a_commit_behind_a_gap_is_refused_as_a_whole() {
        let mut log = Log::default();
        for (end, from, refused) in [(32, 32, false), (5000, 32, false), (31, 32, true), (0, 32, true)] {
            log.writes.clear();
            let section = Section::open(Some(end));
            let done = frames(&mut log, from, 4, PAGE, true);
            assert_eq!(done, if refused { Err(GAP) } else { Ok(()) }, "{end}");
            assert_eq!((section.met_gap(), log.writes.len()), (refused, usize::from(!refused)), "{end}");
        }
        let section = Section::open(None);
        frames(&mut log, 9000, 1, PAGE, true).unwrap();
        assert!(!section.met_gap(), "the end is not known");
    }

    #[derive(Debug, Clone)]
    enum Step {
        Frames { from: usize, count: usize, commit: bool },
        Page { at: usize },
        Header { at: usize, commit: bool },
        Settle,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => (0..40usize, 1..12usize, any::<bool>())
                .prop_map(|(from, count, commit)| Step::Frames { from, count, commit }),
            1 => (0..40usize).prop_map(|at| Step::Page { at }),
            1 => (0..40usize, any::<bool>()).prop_map(|(at, commit)| Step::Header { at, commit }),
            1 => Just(Step::Settle),
        ]
    }

    proptest! {
        /// After any writes of SQLite, the log has the same content as if each write had been done at once.
        #[test]
        fn the_log_reads_as_if_nothing_were_kept(steps in prop::collection::vec(step(), 1..40)) {
            let mut log = Log::default();
            let mut plain = Vec::new();
            let _section = Section::open(None);
            let place = |frame: usize| (32 + frame * (HEADER + PAGE)) as i64;
            for (number, step) in steps.into_iter().enumerate() {
                let fill = u8::try_from(number % 200).unwrap();
                let mut both = |data: &[u8], offset: i64| {
                    put(&mut plain, data, offset);
                    write(1, data, offset, GAP, log.sink()).unwrap();
                };
                match step {
                    Step::Frames { from, count, commit } => {
                        for frame in from..from + count {
                            both(&header(commit && frame + 1 == from + count), place(frame));
                            both(&[fill; PAGE], place(frame) + HEADER as i64);
                        }
                    }
                    Step::Page { at } => both(&[fill; PAGE], place(at) + HEADER as i64),
                    Step::Header { at, commit } => both(&header(commit), place(at)),
                    Step::Settle => {
                        settle(1, log.sink()).unwrap();
                        prop_assert_eq!(&log.bytes, &plain);
                    }
                }
            }
            settle(1, log.sink()).unwrap();
            prop_assert_eq!(log.bytes, plain);
        }
    }
}
