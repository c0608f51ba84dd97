//! Times as a person types them: a UTC time stamp in the stored form, or the beginning of one. Stored time
//! stamps sort as texts, so a beginning stands for the earliest time that begins so.

/// The stored form: `#` is a digit.
const FORM: &[u8] = b"####-##-##T##:##:##.###";
/// How much of it may stand alone: the year, the month, the day, the minute, the second, the millisecond.
const LENGTHS: [usize; 6] = [4, 7, 10, 16, 19, 23];
/// Where a two-digit part stands, and what it may be.
const RANGES: [(usize, std::ops::RangeInclusive<u8>); 5] =
    [(5, 1..=12), (8, 1..=31), (11, 0..=23), (14, 0..=59), (17, 0..=60)];

/// Returns the text to compare stored time stamps with, if it is one.
pub fn parse_time(text: &str) -> Option<String> {
    // A beginning carries no zone. Z does not change the order and may be left out.
    let bare = text.strip_suffix('Z').unwrap_or(text);
    let bytes = bare.as_bytes();
    let fits = LENGTHS.contains(&bytes.len())
        && bytes.iter().zip(FORM).all(|(byte, form)| match form {
            b'#' => byte.is_ascii_digit(),
            _ => byte == form,
        })
        && RANGES.iter().all(|(at, range)| match bytes.get(*at..at + 2) {
            Some([tens, ones]) => range.contains(&((tens - b'0') * 10 + ones - b'0')),
            _ => true,
        });
    fits.then(|| bare.to_owned())
}

#[cfg(test)]
mod tests {
    use super::parse_time;

    #[test]
    fn beginnings_of_a_time_stamp_are_taken_and_sort_before_it() {
        let stamp = "2026-05-01T10:02:03.456Z";
        for good in ["2026", "2026-05", "2026-05-01", "2026-05-01T10:02", "2026-05-01T10:02:03Z", stamp] {
            let parsed = parse_time(good);
            assert!(parsed.as_deref().is_some_and(|text| text <= stamp), "{good}: {parsed:?}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for bad in [
            "",
            "Z",
            "yesterday",
            "26-05-01",
            "2026-5-1",
            "2026-13",
            "2026-00-01",
            "2026-05-32",
            "2026-05-01T24:00",
            "2026-05-01 10:00",
            "2026-05-01T10:00:00+02:00",
            "2026-05-01T10",
            "２０２６",
            "2026-05-0é",
        ] {
            assert!(parse_time(bad).is_none(), "{bad}");
        }
    }
}
