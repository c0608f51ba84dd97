//! The chains of tasks as far as one session's records hold them. A record follows the one before it in the file, or
//! one that is not in the file because it belongs to another session.

use std::collections::{BTreeMap, BTreeSet};

use crate::head::ChainTip;
use crate::tree::rfc9162::Hash;
use colibri_canonical::HexDigest;

/// What is known of the chains so far.
#[derive(Debug, Default)]
pub(super) struct Links {
    tasks: BTreeMap<String, Chain>,
    /// The links that leave the file: where they lead, and from which record, from 0.
    outside: Vec<(Hash, i64)>,
    inside: i64,
}

/// What is known of one chain.
#[derive(Debug)]
struct Chain {
    records: i64,
    /// How many of them follow a record that is not in the file.
    gaps: i64,
    last: Hash,
}

impl Chain {
    /// Checks whether the chain can have `length` records if `beyond` more follow the last one of the file. If records are
    /// missing in between, the chain may be longer than the known ones.
    fn fits(&self, length: i64, beyond: i64) -> bool {
        let least = self.records.saturating_add(self.gaps).saturating_add(beyond);
        if self.gaps == 0 && beyond == 0 { length == least } else { length >= least }
    }
}

impl Links {
    /// Takes the next record's link. An error holds the hash that should be there: the record claims to begin a
    /// chain that has begun already.
    pub(super) fn push(
        &mut self,
        task_id: &str,
        prev: &HexDigest,
        hash: &HexDigest,
        index: i64,
    ) -> Result<(), HexDigest> {
        let hash = hash.raw();
        let Some(chain) = self.tasks.get_mut(task_id) else {
            let begins = *prev == HexDigest::ZERO;
            self.tasks.insert(task_id.to_owned(), Chain { records: 1, gaps: i64::from(!begins), last: hash });
            if !begins {
                self.outside.push((prev.raw(), index));
            }
            return Ok(());
        };
        let last = std::mem::replace(&mut chain.last, hash);
        chain.records += 1;
        if prev.raw() == last {
            self.inside += 1;
            return Ok(());
        }
        if *prev == HexDigest::ZERO {
            return Err(HexDigest::from_raw(&last));
        }
        chain.gaps += 1;
        self.outside.push((prev.raw(), index));
        Ok(())
    }

    /// Returns how many links lead from one record of the file to another.
    pub(super) fn inside(&self) -> i64 {
        self.inside
    }

    /// Returns how many links lead from a record of the file to one that is not in it.
    pub(super) fn outside(&self) -> i64 {
        i64::try_from(self.outside.len()).unwrap_or(i64::MAX)
    }

    /// Hands over, by place and link, the records that follow a wrong record: one of the file that is
    /// not the one before them, or one that another record follows already. `hashes` are those of the file, ascending.
    pub(super) fn each_misled(&mut self, hashes: &[Hash], mut take: impl FnMut(i64, &Hash)) {
        self.outside.sort_unstable();
        let mut before = None;
        for (prev, index) in &self.outside {
            if hashes.binary_search(prev).is_ok() || before == Some(prev) {
                take(*index, prev);
            }
            before = Some(prev);
        }
    }

    /// Hands over each mismatch between the records and the tips that the seal has kept, one for each task.
    /// `hashes` are those of the file, ascending.
    pub(super) fn each_unfit_tip(
        &self,
        tips: &[ChainTip],
        hashes: &[Hash],
        mut take: impl FnMut(UnfitTip<'_>),
    ) {
        let mut named = 0;
        for tip in tips {
            let Some(chain) = self.tasks.get(&tip.task_id) else {
                take(UnfitTip::NoRecord(tip));
                continue;
            };
            named += 1;
            let Some(hash) = HexDigest::parse(&tip.tip_hash).map(|hash| hash.raw()) else {
                take(UnfitTip::NoHash(tip));
                continue;
            };
            if hash == chain.last {
                if !chain.fits(tip.chain_length, 0) {
                    take(UnfitTip::Length(tip, chain.records));
                }
            } else if hashes.binary_search(&hash).is_ok() {
                take(UnfitTip::Earlier(tip, HexDigest::from_raw(&chain.last)));
            } else if !chain.fits(tip.chain_length, 1) {
                take(UnfitTip::Length(tip, chain.records));
            }
        }
        if named < self.tasks.len() {
            let told: BTreeSet<&str> = tips.iter().map(|tip| tip.task_id.as_str()).collect();
            if let Some(task) = self.tasks.keys().find(|task| !told.contains(task.as_str())) {
                take(UnfitTip::Missing(task));
            }
        }
    }
}

/// A mismatch between the tips and the records.
pub(super) enum UnfitTip<'a> {
    /// A tip of a task without a record.
    NoRecord(&'a ChainTip),
    /// A tip with a malformed hash.
    NoHash(&'a ChainTip),
    /// The chain is longer or shorter than the tip says; how many of its records are in the file.
    Length(&'a ChainTip, i64),
    /// The tip is a record of the file, but this one is the last of the chain.
    Earlier(&'a ChainTip, HexDigest),
    /// A task with records and without a tip.
    Missing(&'a str),
}
