//! What a disk may hold after a power cut (store#fault-tests).
//!
//! # The model
//!
//! A file's content is durable as far as a completed sync of it, by any process, covers it: everything that was
//! written, cut or extended before that sync began. Of the rest, each operation by itself is there, or not, or in part:
//! writes of one file and of several reach the disk in any order, and a write may be torn at the borders of sectors of 512
//! bytes, any of which may be old. A size that was not synced may be the old one.
//!
//! Names are durable once the folder was synced. Before, changes of names reach the disk in their order, as a
//! journal does it, up to any point. A file's own sync does not bring its name with it: ext4 would do that, POSIX does not
//! promise it, so the model is the harder one.
//!
//! After a *failed* sync, the kernel has forgotten that the pages were never written: what it should have covered is
//! there or not once and for all, and no later sync of the same file changes that.
//!
//! Not in the model: sectors that change by themselves, sectors that are half old, disks that lie about flushes, writes
//! that hit a neighbour, file systems that show a file's stale blocks.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use super::record::{Entry, Operation};
use crate::crash::dice::Dice;

/// What is written as a whole or not at all.
const SECTOR: usize = 512;

/// The folder of a recording, as far as it was replayed.
#[derive(Default)]
pub struct Disk {
    folder: u64,
    files: Vec<File>,
    /// The file that an inode means at present.
    inodes: HashMap<u64, usize>,
    names: BTreeMap<String, usize>,
    pending_names: Vec<(u64, NameChange)>,
    /// Where the syncs under way began, by process and thread.
    syncs: HashMap<(u32, u32), u64>,
    /// Numbers the operations.
    now: u64,
}

#[derive(Default)]
struct File {
    durable: Vec<u8>,
    pending: Vec<(u64, Change)>,
}

enum Change {
    Write { offset: usize, data: Vec<u8> },
    Size(usize),
    AtLeast(usize),
}

#[derive(Clone)]
enum NameChange {
    Bind(String, usize),
    Remove(String),
    Move(String, String),
    Another(String, String),
}

/// How kind the cut is to what was not synced.
#[derive(Debug, Clone, Copy)]
struct Mercy {
    /// Of a hundred operations, so many are there whole.
    whole: u64,
    /// And so many in part.
    torn: u64,
}

impl Mercy {
    /// From nothing to everything, and the mixed ones more often.
    fn drawn(dice: &mut Dice) -> Self {
        let (whole, torn) =
            *dice.pick(&[(0, 0), (100, 0), (50, 0), (40, 40), (90, 5), (5, 5), (0, 100), (20, 10)]);
        Self { whole, torn }
    }
}

impl Disk {
    /// A folder whose files have been on disk for long.
    pub fn of(folder: &Path) -> Self {
        use std::os::unix::fs::MetadataExt;
        let mut disk = Self { folder: std::fs::metadata(folder).unwrap().ino(), ..Self::default() };
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let durable = std::fs::read(entry.path()).unwrap();
            disk.inodes.insert(entry.metadata().unwrap().ino(), disk.files.len());
            disk.names.insert(entry.file_name().into_string().unwrap(), disk.files.len());
            disk.files.push(File { durable, pending: Vec::new() });
        }
        disk
    }

    /// The next operation of the recording.
    pub fn apply(&mut self, entry: &Entry, dice: &mut Dice) {
        self.now += 1;
        let thread = (entry.process, entry.thread);
        match &entry.operation {
            Operation::Create(name) => {
                self.inodes.insert(entry.file, self.files.len());
                self.pending_names.push((self.now, NameChange::Bind(name.clone(), self.files.len())));
                self.files.push(File::default());
            }
            Operation::Write { offset, data } => {
                self.change(entry.file, Change::Write { offset: place(*offset), data: data.clone() });
            }
            Operation::Truncate(size) => self.change(entry.file, Change::Size(place(*size))),
            Operation::Extend(size) => self.change(entry.file, Change::AtLeast(place(*size))),
            Operation::Sync => drop(self.syncs.insert(thread, self.now)),
            Operation::Synced(error) => {
                let began = self.syncs.remove(&thread).expect("a sync ends after it began");
                if *error == 0 {
                    self.synced(entry.file, began)
                } else {
                    self.forgotten(entry.file, began, dice)
                }
            }
            Operation::Unlink(name, left) => {
                self.pending_names.push((self.now, NameChange::Remove(name.clone())));
                if *left == 0 {
                    self.inodes.remove(&entry.file);
                }
            }
            Operation::Rename(old, new) => {
                self.pending_names.push((self.now, NameChange::Move(old.clone(), new.clone())));
            }
            Operation::Link(old, new) => {
                self.pending_names.push((self.now, NameChange::Another(old.clone(), new.clone())));
            }
            Operation::Reply(_) | Operation::Sent(_) | Operation::Fault(..) => {}
        }
    }

    fn change(&mut self, inode: u64, change: Change) {
        // A removed file no longer matters, even while another process still has it open.
        let Some(file) = self.inodes.get(&inode) else { return };
        self.files[*file].pending.push((self.now, change));
    }

    fn synced(&mut self, inode: u64, began: u64) {
        if inode == self.folder {
            let later = self.pending_names.partition_point(|(at, _)| *at < began);
            for (_, change) in self.pending_names.drain(..later) {
                rename(&mut self.names, change);
            }
        } else if let Some(file) = self.inodes.get(&inode) {
            let File { durable, pending } = &mut self.files[*file];
            let later = pending.partition_point(|(at, _)| *at < began);
            pending.drain(..later).for_each(|(_, change)| change.whole(durable));
        }
    }

    fn forgotten(&mut self, inode: u64, began: u64, dice: &mut Dice) {
        let Some(file) = self.inodes.get(&inode) else { return };
        let File { durable, pending } = &mut self.files[*file];
        let later = pending.partition_point(|(at, _)| *at < began);
        let mercy = Mercy::drawn(dice);
        pending.drain(..later).for_each(|(_, change)| change.perhaps(durable, mercy, dice));
    }

    /// Writes what the disk may hold after a cut at this point into an empty folder.
    pub fn cut(&self, folder: &Path, dice: &mut Dice) {
        let mut names = self.names.clone();
        let kept = match dice.below(3) {
            0 => 0,
            1 => self.pending_names.len(),
            _ => dice.place(self.pending_names.len() + 1),
        };
        for (_, change) in &self.pending_names[..kept] {
            rename(&mut names, change.clone());
        }
        let mercy = Mercy::drawn(dice);
        for (name, file) in names {
            let File { durable, pending } = &self.files[file];
            let mut content = durable.clone();
            pending.iter().for_each(|(_, change)| change.perhaps(&mut content, mercy, dice));
            std::fs::write(folder.join(name), content).unwrap();
        }
    }
}

fn rename(names: &mut BTreeMap<String, usize>, change: NameChange) {
    match change {
        NameChange::Bind(name, file) => drop(names.insert(name, file)),
        NameChange::Remove(name) => drop(names.remove(&name)),
        NameChange::Move(old, new) => {
            if let Some(file) = names.remove(&old) {
                names.insert(new, file);
            }
        }
        NameChange::Another(old, new) => {
            if let Some(file) = names.get(&old) {
                names.insert(new, *file);
            }
        }
    }
}

impl Change {
    /// Does all of it.
    fn whole(&self, content: &mut Vec<u8>) {
        match self {
            Self::Write { offset, data } => put(content, *offset, data),
            Self::Size(size) => content.resize(*size, 0),
            Self::AtLeast(size) => content.resize(content.len().max(*size), 0),
        }
    }

    /// Does all, nothing or some of it.
    fn perhaps(&self, content: &mut Vec<u8>, mercy: Mercy, dice: &mut Dice) {
        let lot = dice.below(100);
        if lot < mercy.whole {
            self.whole(content);
        } else if lot < mercy.whole + mercy.torn
            && let Self::Write { offset, data } = self
        {
            let mut from = 0;
            while from < data.len() {
                let to = data.len().min((offset + from) / SECTOR * SECTOR + SECTOR - offset);
                if dice.below(2) == 0 {
                    put(content, offset + from, &data[from..to]);
                }
                from = to;
            }
        }
    }
}

fn put(content: &mut Vec<u8>, offset: usize, data: &[u8]) {
    let end = offset + data.len();
    content.resize(content.len().max(end), 0);
    content[offset..end].copy_from_slice(data);
}

fn place(number: u64) -> usize {
    usize::try_from(number).expect("files of tests are small")
}
