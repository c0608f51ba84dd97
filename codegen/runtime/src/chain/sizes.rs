//! How many calls shared a batch, counted in classes: the effect of group commit in this process.

use std::fmt;

/// The classes' upper bounds.
const BOUNDS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];

/// Batches run so far, by size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BatchSizes([u64; BOUNDS.len()]);

impl BatchSizes {
    /// Counts a batch of so many calls.
    pub(crate) fn count(&mut self, calls: usize) {
        let class = BOUNDS.iter().position(|bound| calls <= *bound).unwrap_or(BOUNDS.len() - 1);
        self.0[class] += 1;
    }

    /// How many batches there were.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}

impl fmt::Display for BatchSizes {
    /// `1:12 2:0 3-4:7 …`: a class of sizes, and how many batches were of it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut from = 1;
        for (bound, batches) in BOUNDS.iter().zip(self.0) {
            let gap = if from == 1 { "" } else { " " };
            if from == *bound {
                write!(f, "{gap}{bound}:{batches}")?
            } else {
                write!(f, "{gap}{from}-{bound}:{batches}")?
            }
            from = bound + 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_size_has_its_class() {
        let mut sizes = BatchSizes::default();
        for calls in [1, 1, 2, 3, 4, 5, 16, 17, 64] {
            sizes.count(calls);
        }
        assert_eq!(sizes.to_string(), "1:2 2:1 3-4:2 5-8:1 9-16:1 17-32:1 33-64:1");
        assert_eq!(sizes.total(), 9);
    }
}
