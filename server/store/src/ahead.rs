//! Rows that are looked up one by one, by keys that mostly rise. Where each look-up would be a round trip, the rows behind it are
//! fetched with it.

use std::collections::BTreeMap;

/// The most rows that are fetched at a time.
const MOST_ROWS: usize = 512;
/// The most bytes that are kept. A database under examination can hold values of any length.
const MOST_BYTES: usize = 1 << 20;

/// The rows fetched last.
#[derive(Debug)]
pub struct Ahead<K, V> {
    rows: BTreeMap<K, V>,
    /// The keys from the first to the second are known, rows and gaps; all from the first on if the table ends there.
    known: Option<(K, Option<K>)>,
    /// How many rows the last fetch asked for, and how many look-ups it has answered.
    wanted: usize,
    answered: usize,
}

impl<K, V> Default for Ahead<K, V> {
    fn default() -> Self {
        Self { rows: BTreeMap::new(), known: None, wanted: 4, answered: 0 }
    }
}

/// The rows of one fetch.
#[derive(Debug)]
pub struct Page<K, V> {
    rows: Vec<(K, V)>,
    wanted: usize,
    bytes: usize,
    cut: bool,
}

impl<K, V> Page<K, V> {
    /// Returns how many rows to ask for.
    pub fn wanted(&self) -> i64 {
        i64::try_from(self.wanted).unwrap_or(i64::MAX)
    }

    /// Takes the next row, of about that many bytes; returns whether there is room for another. A row that cannot be read ends
    /// the page, and is an error if it is the first: that is the one that was looked up, or the next.
    ///
    /// # Errors
    /// The error of the first row.
    pub fn take<E>(&mut self, row: Result<(K, V), E>, bytes: usize) -> Result<bool, E> {
        match row {
            Ok(row) => {
                self.rows.push(row);
                self.bytes = self.bytes.saturating_add(bytes);
                self.cut = self.bytes > MOST_BYTES;
            }
            Err(error) if self.rows.is_empty() => return Err(error),
            Err(_) => self.cut = true,
        }
        Ok(!self.cut)
    }
}

impl<K: Ord + Clone, V> Ahead<K, V> {
    /// Looks a row up. `fetch` fills the page with the rows from that key on, in the order of their keys.
    ///
    /// # Errors
    /// That of `fetch`.
    pub fn get<E>(
        &mut self,
        key: &K,
        fetch: impl FnOnce(&mut Page<K, V>) -> Result<(), E>,
    ) -> Result<Option<&V>, E> {
        let is_known = self
            .known
            .as_ref()
            .is_some_and(|(first, last)| first <= key && last.as_ref().is_none_or(|last| key <= last));
        if !is_known {
            // Where keys jump about, little is fetched in vain.
            let was_of_use = self.answered * 2 >= self.rows.len();
            let wanted = if was_of_use { (self.wanted * 2).min(MOST_ROWS) } else { (self.wanted / 2).max(1) };
            let mut page = Page { rows: Vec::new(), wanted, bytes: 0, cut: false };
            fetch(&mut page)?;
            let has_more = page.cut || page.rows.len() >= wanted;
            let last = page.rows.last().filter(|_| has_more).map(|(last, _)| last.clone());
            *self = Self {
                rows: page.rows.into_iter().collect(),
                known: Some((key.clone(), last)),
                wanted,
                answered: 0,
            };
        }
        self.answered += 1;
        Ok(self.rows.get(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks keys up among the even numbers below 2,000; returns how many fetches that took.
    fn fetches(keys: impl IntoIterator<Item = i64>) -> usize {
        let (mut ahead, mut fetches) = (Ahead::default(), 0);
        for key in keys {
            let found = ahead.get(&key, |page| {
                fetches += 1;
                let rows = (key..2_000).filter(|key| key % 2 == 0).take(page.wanted);
                for row in rows {
                    if !page.take(Ok::<_, String>((row, row * 10)), 8)? {
                        break;
                    }
                }
                Ok::<_, String>(())
            });
            let expected = (key % 2 == 0 && key < 2_000).then_some(key * 10);
            assert_eq!(found.map(Option::<&i64>::copied), Ok(expected), "{key}");
        }
        fetches
    }

    #[test]
    fn rising_keys_take_few_fetches_and_keys_that_jump_about_no_more_than_one_each() {
        assert!(fetches(0..2_000) < 20);
        assert!(fetches((0..2_000).step_by(2)) < 20);
        // The end of the table is known, too.
        assert_eq!(fetches(2_000..4_000), 1);
        assert!(fetches((0..2_000).map(|n| n * 1_237 % 2_000)) <= 2_000);
        assert!(fetches((0..2_000).rev()) <= 2_000);
    }

    #[test]
    fn a_row_that_cannot_be_read_ends_the_page_and_is_an_error_when_it_is_looked_up() {
        let mut ahead = Ahead::default();
        let mut look = |key: i64| {
            ahead
                .get(&key, |page| {
                    for row in key..10 {
                        let read = if row == 3 { Err("torn") } else { Ok((row, row)) };
                        if !page.take(read, 8)? {
                            break;
                        }
                    }
                    Ok(())
                })
                .map(Option::<&i64>::copied)
        };
        assert_eq!((look(2), look(3), look(4)), (Ok(Some(2)), Err("torn"), Ok(Some(4))));
    }

    #[test]
    fn long_values_end_a_page() {
        let mut ahead = Ahead::default();
        let mut taken = 0;
        for key in 0..100 {
            let found = ahead.get(&key, |page| {
                for row in key..100 {
                    taken += 1;
                    if !page.take(Ok::<_, String>((row, row)), MOST_BYTES + 1)? {
                        break;
                    }
                }
                Ok::<_, String>(())
            });
            assert_eq!(found, Ok(Some(&key)));
        }
        assert_eq!(taken, 100);
    }
}
