//! The search for cycles among dependencies (tasks#dependencies). Pure: the caller stores the edges.

use std::collections::HashSet;

/// Returns the cycle that would close if `task` waited for `wanted`: ids from `task` along depends-on edges back to
/// `task`. `None` if no cycle closes.
///
/// `edges` returns the ids a task waits for. It is called once for each reachable task, and never for `task` itself,
/// whose old edges `wanted` replaces: the search is linear in the edges it sees. It keeps its own stack, because a
/// chain of dependencies may exceed a thread's stack.
///
/// # Errors
/// An error of `edges`.
pub fn find_cycle<E>(
    task: &str,
    wanted: &[String],
    mut edges: impl FnMut(&str) -> Result<Vec<String>, E>,
) -> Result<Option<Vec<String>>, E> {
    let mut visited: HashSet<String> = HashSet::new();
    // The path from `task` to the current node, each node with its edges that remain.
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
