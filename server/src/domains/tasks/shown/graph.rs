//! Which tasks a picture of dependencies shows. It shows the open tasks that wait or are waited for, with the finished tasks that
//! those needed; or all that one task reaches along its dependencies, in either direction.

use std::collections::{HashMap, HashSet, VecDeque};

use colibri_runtime::handler::Fault;

use super::store::{self, Tie};
use super::{Node, now};
use colibri_store::db::Db;

/// Which tasks are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Only what this task reaches.
    pub root: Option<String>,
    /// Finished tasks, too. Without it, only those that a shown task waited for.
    pub all: bool,
    /// The most tasks that are shown.
    pub limit: usize,
}

/// A dependency in the picture, by the places of its two tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrow {
    /// The prerequisite.
    pub from: usize,
    /// The task that waits for it.
    pub to: usize,
}

/// The picture.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Graph {
    pub nodes: Vec<Node>,
    pub arrows: Vec<Arrow>,
    /// How many tasks the limit has left out.
    pub left_out: usize,
}

/// Reads the picture. Of too many tasks it shows the nearest to the root, or those whose dependencies are the oldest.
///
/// # Errors
/// Storage faults.
pub fn graph(db: &Db, wanted: &Wanted, now_ms: i64) -> Result<Graph, Fault> {
    let ties = store::ties(db, wanted.root.as_deref(), wanted.all)?;
    let mut ids = match &wanted.root {
        Some(root) => reached(&ties, root, wanted.all),
        None => tied(&ties, wanted.all),
    };
    let left_out = ids.len().saturating_sub(wanted.limit);
    ids.truncate(wanted.limit);
    let mut known = store::nodes(db, &ids, &now(db, now_ms)?.live_between())?;
    let nodes: Vec<Node> = ids.iter().filter_map(|id| known.remove(*id)).collect();
    let places: HashMap<&str, usize> =
        nodes.iter().enumerate().map(|(place, node)| (node.id.as_str(), place)).collect();
    let arrow = |tie: &Tie| {
        let (from, to) = (places.get(tie.needs.as_str())?, places.get(tie.waits.as_str())?);
        Some(Arrow { from: *from, to: *to })
    };
    let arrows = ties.iter().filter_map(arrow).collect();
    Ok(Graph { nodes, arrows, left_out })
}

/// Ids without repetition, in the order in which they were first added.
#[derive(Default)]
struct Ids<'a> {
    order: Vec<&'a str>,
    known: HashSet<&'a str>,
}

impl<'a> Ids<'a> {
    /// Adds an id, and returns whether it is new.
    fn add(&mut self, id: &'a str) -> bool {
        let is_new = self.known.insert(id);
        if is_new {
            self.order.push(id);
        }
        is_new
    }
}

/// Returns the tasks that wait or are waited for, and the finished ones that those needed.
fn tied(ties: &[Tie], all: bool) -> Vec<&str> {
    let (mut ids, mut waiting) = (Ids::default(), HashSet::new());
    for tie in ties.iter().filter(|tie| all || !tie.done) {
        waiting.extend([tie.waits.as_str(), tie.needs.as_str()]);
    }
    for tie in ties.iter().filter(|tie| waiting.contains(tie.waits.as_str())) {
        ids.add(&tie.needs);
        ids.add(&tie.waits);
    }
    ids.order
}

/// The direction of a walk from the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// To what a task needs.
    Back,
    /// To what waits for it.
    On,
}

/// Returns what a task reaches in either direction, the nearest first. Each task is visited once, so the walk also ends if a damaged
/// file has a circle.
fn reached<'a>(ties: &'a [Tie], root: &'a str, all: bool) -> Vec<&'a str> {
    let mut needs: HashMap<&str, Vec<&Tie>> = HashMap::new();
    let mut waits: HashMap<&str, Vec<&Tie>> = HashMap::new();
    for tie in ties {
        needs.entry(&tie.waits).or_default().push(tie);
        waits.entry(&tie.needs).or_default().push(tie);
    }
    let mut ids = Ids::default();
    ids.add(root);
    let mut ahead = VecDeque::from([(root, Way::Back), (root, Way::On)]);
    while let Some((id, way)) = ahead.pop_front() {
        let found = if way == Way::Back { needs.get(id) } else { waits.get(id) };
        for tie in found.into_iter().flatten() {
            let next = if way == Way::Back { tie.needs.as_str() } else { tie.waits.as_str() };
            // What a finished task needed keeps nothing waiting.
            let goes_on = way == Way::On || tie.open || all;
            if ids.add(next) && goes_on {
                ahead.push_back((next, way));
            }
        }
    }
    ids.order
}

#[cfg(test)]
mod tests {
    use super::{Tie, reached, tied};

    /// A tie of two letters, `ab`: b waits for a. A capital letter is a task that is done.
    fn ties(texts: &[&str]) -> Vec<Tie> {
        let tie = |text: &&str| {
            let (needs, waits) = text.split_at(1);
            let done = needs == needs.to_uppercase();
            Tie { waits: waits.to_owned(), needs: needs.to_owned(), open: !done, done }
        };
        texts.iter().map(tie).collect()
    }

    #[test]
    fn finished_tasks_are_shown_beside_what_still_waits() {
        for (case, all, expected) in [
            (&[][..], false, ""),
            (&["ab", "bc"], false, "abc"),
            (&["Ab", "bc"], false, "Abc"),
            (&["Ab"], false, ""),
            (&["Ab"], true, "Ab"),
            (&["AB", "Bc", "cd", "Ce"], false, "Bcd"),
            (&["ab", "ba"], false, "ab"),
        ] {
            // The database does not hand over the ties of finished tasks unless all are wanted.
            let open: Vec<Tie> =
                ties(case).into_iter().filter(|tie| all || tie.waits != tie.waits.to_uppercase()).collect();
            assert_eq!(tied(&open, all).concat(), expected, "{case:?}");
        }
    }

    #[test]
    fn a_task_reaches_what_lies_before_and_behind_it_only() {
        let case = ties(&["ab", "bc", "xc", "ay", "XA", "Aa", "cd"]);
        assert_eq!(reached(&case, "c", false).concat(), "cbxdaA");
        assert_eq!(reached(&case, "c", true).concat(), "cbxdaAX");
        assert_eq!(reached(&case, "b", false).concat(), "bacAd");
        assert_eq!(reached(&case, "z", false).concat(), "z");
        let circle = ties(&["ab", "bc", "ca"]);
        assert_eq!(reached(&circle, "a", false).concat(), "acb");
    }
}
