//! Calls by hour, in bars that begin at whole hours of the page's zone.

use colibri_runtime::handler::Fault;
use colibri_runtime::kernel::{ms_of_rfc3339, rfc3339_ms};

use crate::catalogue::ToolId;
use crate::cli::views::Look;
use crate::report::overview::model::{Bar, Calls, Ends};
use colibri_store::log::log_query::{CallsOfHour, count_by_hour, first_since};

const HOUR_MS: i64 = 3_600_000;
/// A bar stands for the fewest of these hours with which the period has at most [`MOST_BARS`].
const HOURS: [i64; 10] = [1, 2, 3, 6, 12, 24, 72, 168, 672, 8_064];
const MOST_BARS: i64 = 170;

pub(super) fn calls(look: &Look, since: &str) -> Result<Calls, Fault> {
    let operations = ToolId::OPERATIONS.map(ToolId::name);
    let counted = match first_since(&look.db, since)? {
        None => Vec::new(),
        Some(first) => count_by_hour(&look.db, since, first, &operations)?,
    };
    let from_ms = ms_of_rfc3339(since).unwrap_or_default();
    let (hours, starts, bars) = bars(&counted, (from_ms, look.clock.now_ms()), look.clock.ahead_ms());
    let mut total = Ends::default();
    for calls in &counted {
        add(&mut total, calls);
    }
    let bars = starts.iter().zip(bars).map(|(start, calls)| {
        let from = look.clock.dated(&rfc3339_ms(*start));
        Bar { from, calls }
    });
    Ok(Calls { hours, bars: bars.collect(), total })
}

/// Returns how many hours a bar has, where each begins, and its calls.
fn bars(counted: &[CallsOfHour], (from_ms, to_ms): (i64, i64), ahead_ms: i64) -> (i64, Vec<i64>, Vec<Ends>) {
    let longest = HOURS[HOURS.len() - 1];
    let fits = |hours: &i64| (to_ms - from_ms) / (hours * HOUR_MS) < MOST_BARS - 1;
    let hours = HOURS.into_iter().find(fits).unwrap_or(longest);
    let step = hours * HOUR_MS;
    let begin = |ms: i64| (ms + ahead_ms).div_euclid(step) * step - ahead_ms;
    let starts: Vec<i64> = (0..)
        .map(|place| begin(from_ms) + place * step)
        .take_while(|start| *start <= to_ms.max(from_ms))
        .collect();
    let mut bars = vec![Ends::default(); starts.len()];
    for calls in counted {
        // A stamp that cannot be read, or lies in the future, is in the last bar: the sum of the bars is that of the calls.
        let ms = ms_of_rfc3339(&format!("{}:00:00.000Z", calls.hour)).unwrap_or(to_ms);
        let place = starts.partition_point(|start| *start <= ms).saturating_sub(1);
        if let Some(bar) = bars.get_mut(place) {
            add(bar, calls);
        }
    }
    (hours, starts, bars)
}

fn add(ends: &mut Ends, calls: &CallsOfHour) {
    match calls.outcome.as_str() {
        "ok" => ends.done += calls.count,
        "running" | "aborted" => ends.unfinished += calls.count,
        _ => ends.refused += calls.count,
    }
}

#[cfg(test)]
mod tests {
    use super::{CallsOfHour, Ends, HOUR_MS, MOST_BARS, bars};

    const NOON: i64 = 1_795_348_800_000;

    fn calls(hour: &str, outcome: &str, count: i64) -> CallsOfHour {
        CallsOfHour { hour: hour.to_owned(), outcome: outcome.to_owned(), count }
    }

    #[test]
    fn each_call_is_in_the_bar_of_its_hour() {
        let counted = [
            calls("2026-11-22T09", "ok", 3),
            calls("2026-11-22T09", "invalid", 1),
            calls("2026-11-22T12", "aborted", 2),
            calls("no stamp", "ok", 1),
            calls("2027-01-01T00", "ok", 1),
        ];
        let (hours, starts, bars) = bars(&counted, (NOON - 3 * HOUR_MS + 60_000, NOON + 60_000), 0);
        assert_eq!((hours, starts[0], starts.len()), (1, NOON - 3 * HOUR_MS, 4));
        assert_eq!(bars[0], Ends { done: 3, refused: 1, unfinished: 0 });
        assert_eq!(bars[1], Ends::default());
        assert_eq!(bars[3], Ends { done: 2, refused: 0, unfinished: 2 });
    }

    #[test]
    fn a_long_period_has_bars_of_more_hours_that_begin_with_a_day_of_the_zone() {
        for (days, expected) in [(1, 1), (7, 1), (8, 2), (28, 6), (365, 72), (365 * 50, 8_064)] {
            let (hours, starts, _) = bars(&[], (NOON - days * 24 * HOUR_MS, NOON), 2 * HOUR_MS);
            assert_eq!(hours, expected, "{days} days");
            assert!(starts.len() as i64 <= MOST_BARS && !starts.is_empty(), "{days} days: {}", starts.len());
            assert_eq!((starts[0] + 2 * HOUR_MS) % (hours * HOUR_MS), 0);
        }
        assert_eq!(bars(&[], (NOON, NOON - HOUR_MS), 0).1.len(), 1, "a period that begins in the future");
    }
}
