//! The search for loops among dependencies (tasks#dependencies). Pure: where the edges are kept is the caller's.

use std::collections::HashSet;

/// The loop that would close if `task` waited for `wanted`: ids from `task` along depends-on edges
/// back to `task`. `None` when there is none.
///
/// `edges` gives the ids a task waits for. It is asked once for each task that can be reached, and never
/// for `task` itself, whose old edges `wanted` replaces: the search is linear in the edges it sees.
/// It keeps its own stack, since a chain of dependencies may be longer than a thread's.
///
/// # Errors
/// Those of `edges`.
pub fn find_cycle<E>(
    task: &str,
    wanted: &[String],
    mut edges: impl FnMut(&str) -> Result<Vec<String>, E>,
) -> Result<Option<Vec<String>>, E> {
    let mut visited: HashSet<String> = HashSet::new();
    // The path from `task` to where the search stands, each node with the edges still to be followed.
    let mut path = vec![(task.to_owned(), Vec::from(wanted).into_iter())];
    while let Some((_, rest)) = path.last_mut() {
        let Some(next) = rest.next() else {
            path.pop();
            continue;
        };
        if next == task {
            let mut cycle: Vec<String> = path.into_iter().map(|(id, _)| id).collect();
            cycle.push(next);
            return Ok(Some(cycle));
        }
        if visited.insert(next.clone()) {
            let onward = edges(&next)?;
            path.push((next, onward.into_iter()));
        }
    }
    Ok(None)
}
