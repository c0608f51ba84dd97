//! How wide the columns of the board are: as wide as what they show, and narrower only where the screen has no room. An empty column
//! takes no room from a full one.

use crate::cli::views::table::{GAP, give_way};

/// The width down to which a column gives way.
const LEAST: usize = 18;

/// Returns the widths of as many of the columns as have room, at least of one. `of` says how wide a column would be if that many are
/// shown.
pub(super) fn widths(count: usize, room: Option<usize>, of: impl Fn(usize, usize) -> usize) -> Vec<usize> {
    for shown in (1..=count).rev() {
        let mut widths: Vec<usize> = (0..shown).map(|at| of(at, shown)).collect();
        let least: Vec<usize> = widths.iter().map(|width| (*width).min(LEAST)).collect();
        let needed = least.iter().sum::<usize>() + GAP * (shown - 1);
        if shown == 1 || room.is_none_or(|room| needed <= room) {
            give_way(&mut widths, &least, room);
            return widths;
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::widths;

    #[test]
    fn empty_columns_leave_the_room_to_full_ones() {
        let natural = [60, 8, 9, 6, 7, 8];
        for (room, expected) in [
            (None, &[60, 8, 9, 6, 7, 8][..]),
            (Some(200), &[60, 8, 9, 6, 7, 8]),
            (Some(80), &[32, 8, 9, 6, 7, 8]),
            (Some(66), &[18, 8, 9, 6, 7, 8]),
            (Some(65), &[27, 8, 9, 6, 7]),
            (Some(10), &[18]),
        ] {
            assert_eq!(widths(6, room, |at, _| natural[at]), expected, "{room:?}");
        }
        assert!(widths(0, Some(80), |_, _| 1).is_empty());
    }
}
