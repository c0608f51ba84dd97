//! Where the boxes of the image are. A task is in the column behind the last one of its prerequisites, so every arrow leads to the right. A
//! task without prerequisites is just before the first that waits for it. In a column, the tasks are in the order of the middle of their
//! prerequisites. Both keep arrows short.

use crate::domains::tasks::shown::graph::{Arrow, Graph};

/// The place of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Spot {
    pub column: usize,
    pub row: usize,
}

/// Where everything is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    /// In the order of the graph's tasks.
    pub spots: Vec<Spot>,
    pub columns: usize,
    pub rows: usize,
}

pub(super) fn layout(graph: &Graph) -> Layout {
    let columns = columns(graph.nodes.len(), &graph.arrows);
    let count = columns.iter().max().map_or(0, |last| last + 1);
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (place, column) in columns.iter().enumerate() {
        members[*column].push(place);
    }
    let needs = ends(graph.nodes.len(), graph.arrows.iter().map(|arrow| (arrow.to, arrow.from)));
    let mut spots = vec![Spot::default(); graph.nodes.len()];
    for (column, places) in members.iter_mut().enumerate() {
        places.sort_by_key(|place| middle(&needs[*place], &spots));
        for (row, place) in places.iter().enumerate() {
            spots[*place] = Spot { column, row };
        }
    }
    Layout { spots, columns: count, rows: members.iter().map(Vec::len).max().unwrap_or(0) }
}

/// Returns the middle row of a task's prerequisites, in thousandths. A task that needs nothing is below those that do, in the order of
/// the graph.
fn middle(needs: &[usize], spots: &[Spot]) -> usize {
    let sum: usize = needs.iter().map(|place| spots[*place].row * 1_000).sum();
    sum.checked_div(needs.len()).unwrap_or(usize::MAX)
}

/// Returns the column of each task: the longest way to it. Tasks of a circle, which only a damaged file can have, stay where the walk
/// leaves them.
fn columns(count: usize, arrows: &[Arrow]) -> Vec<usize> {
    let waits = ends(count, arrows.iter().map(|arrow| (arrow.from, arrow.to)));
    let (mut columns, mut open) = (vec![0_usize; count], vec![0_usize; count]);
    for arrow in arrows {
        open[arrow.to] += 1;
    }
    let mut free: Vec<usize> = (0..count).filter(|place| open[*place] == 0).collect();
    while let Some(place) = free.pop() {
        for next in &waits[place] {
            columns[*next] = columns[*next].max(columns[place] + 1);
            open[*next] -= 1;
            if open[*next] == 0 {
                free.push(*next);
            }
        }
    }
    let is_first = |place: usize| arrows.iter().all(|arrow| arrow.to != place);
    for place in (0..count).filter(|place| is_first(*place)) {
        let next = waits[place].iter().map(|next| columns[*next]).min();
        columns[place] = next.map_or(0, |next| next.saturating_sub(1));
    }
    columns
}

/// Returns the second places of the pairs, by the first.
fn ends(count: usize, pairs: impl Iterator<Item = (usize, usize)>) -> Vec<Vec<usize>> {
    let mut ends = vec![Vec::new(); count];
    for (one, other) in pairs {
        ends[one].push(other);
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::{Layout, columns, layout};
    use crate::domains::tasks::shown::graph::{Arrow, Graph};

    fn arrows(pairs: &[(usize, usize)]) -> Vec<Arrow> {
        pairs.iter().map(|(from, to)| Arrow { from: *from, to: *to }).collect()
    }

    #[test]
    fn a_task_is_behind_the_last_of_its_prerequisites() {
        for (count, pairs, expected) in [
            (0, &[][..], &[][..]),
            (1, &[], &[0]),
            (3, &[(0, 1), (1, 2), (0, 2)], &[0, 1, 2]),
            (4, &[(3, 2), (2, 1), (1, 0)], &[3, 2, 1, 0]),
            (4, &[(0, 3), (1, 2), (2, 3)], &[0, 1, 2, 3].map(|column| [1, 0, 1, 2][column])),
        ] {
            assert_eq!(columns(count, &arrows(pairs)), expected, "{pairs:?}");
        }
    }

    #[test]
    fn a_circle_has_an_end() {
        assert_eq!(columns(3, &arrows(&[(0, 1), (1, 0), (1, 2)])), [0, 0, 0]);
        assert_eq!(columns(3, &arrows(&[(2, 0), (0, 1), (1, 0)])), [1, 0, 0]);
        assert_eq!(columns(1, &arrows(&[(0, 0)])), [0]);
    }

    #[test]
    fn an_empty_picture_has_no_columns() {
        assert_eq!(layout(&Graph::default()), Layout { spots: Vec::new(), columns: 0, rows: 0 });
    }
}
