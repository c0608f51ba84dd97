//! Calls by time, in bars that follow the data: from the first call of the period to the last, each as long as the span asks for.

use colibri_runtime::handler::Fault;
use colibri_runtime::kernel::{ms_of_rfc3339, rfc3339_ms};

use crate::catalogue::ToolId;
use crate::cli::call_end::CallEnd;
use crate::cli::views::Look;
use crate::report::overview::model::{Bar, Calls, Ends};
use colibri_store::log::log_query::{
    CallsOfTime, LogFilter, count_by_time, count_calls, ends_of, first_since,
};

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
/// A bar covers the fewest of these seconds with which the span has at most [`MOST_BARS`].
const SECONDS: [i64; 21] = [
    1,
    2,
    5,
    10,
    30,
    MINUTE,
    2 * MINUTE,
    5 * MINUTE,
    10 * MINUTE,
    30 * MINUTE,
    HOUR,
    2 * HOUR,
    3 * HOUR,
    6 * HOUR,
    12 * HOUR,
    DAY,
    3 * DAY,
    7 * DAY,
    28 * DAY,
    336 * DAY,
    3_360 * DAY,
];
const MOST_BARS: i64 = 170;

pub(super) fn calls(look: &Look, since: &str) -> Result<Calls, Fault> {
    let Some(first) = first_since(&look.db, since)? else { return Ok(Calls::default()) };
    let Some((begin, end)) = ends_of(&look.db, since, first)? else { return Ok(Calls::default()) };
    let now_ms = look.clock.now_ms();
    // A time stamp that cannot be read or is in the future counts as now.
    let ms = |stamp: &str| ms_of_rfc3339(stamp).unwrap_or(now_ms).min(now_ms);
    let span = (ms(&begin), ms(&end));
    let seconds = step(span);
    let counted = count_by_time(&look.db, since, first, precision(seconds))?;
    let (starts, bars) = bars(&counted, span, seconds, look.clock.ahead_ms());
    let mut total = Ends::default();
    for calls in &counted {
        add(&mut total, calls);
    }
    let name = |ms: i64| match seconds < MINUTE {
        true => look.clock.dated_seconds(&rfc3339_ms(ms)),
        false => look.clock.dated(&rfc3339_ms(ms)),
    };
    let (from, to) = (starts[0], starts[starts.len() - 1] + seconds * 1_000);
    let bars = starts.iter().zip(bars).map(|(start, calls)| Bar { from: name(*start), calls });
    let filter = LogFilter {
        tool: Some(ToolId::CallerBegin.name().to_owned()),
        since: Some(since.to_owned()),
        from: Some(first),
        ..LogFilter::default()
    };
    Ok(Calls {
        step: in_words(seconds),
        bars: bars.collect(),
        axis: [from, from + (to - from) / 2, to].map(name).to_vec(),
        total,
        callers: count_calls(&look.db, &filter)?,
    })
}

/// Returns how many seconds a bar covers.
fn step((from_ms, to_ms): (i64, i64)) -> i64 {
    let fits = |seconds: &i64| (to_ms - from_ms) / (seconds * 1_000) < MOST_BARS - 1;
    SECONDS.into_iter().find(fits).unwrap_or(SECONDS[SECONDS.len() - 1])
}

/// Returns how much of a stamp calls are counted by: `2026-11-01T10`, with minutes or with seconds.
fn precision(seconds: i64) -> usize {
    match seconds {
        HOUR.. => "2026-11-01T10".len(),
        MINUTE.. => "2026-11-01T10:00".len(),
        _ => "2026-11-01T10:00:00".len(),
    }
}

fn in_words(seconds: i64) -> String {
    let (count, unit) = match seconds {
        DAY.. => (seconds / DAY, "day"),
        HOUR.. => (seconds / HOUR, "hour"),
        MINUTE.. => (seconds / MINUTE, "minute"),
        _ => (seconds, "second"),
    };
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}

/// Returns where each bar begins, and its calls.
fn bars(
    counted: &[CallsOfTime],
    (from_ms, to_ms): (i64, i64),
    seconds: i64,
    ahead_ms: i64,
) -> (Vec<i64>, Vec<Ends>) {
    let step = seconds * 1_000;
    let begin = (from_ms + ahead_ms).div_euclid(step) * step - ahead_ms;
    let starts: Vec<i64> =
        (0..).map(|place| begin + place * step).take_while(|start| *start <= to_ms.max(from_ms)).collect();
    let mut bars = vec![Ends::default(); starts.len()];
    for calls in counted {
        // A call without a bar counts in the last one: the sum of the bars is that of the calls.
        let rest = "2026-11-01T10:00:00.000Z".get(calls.time.len()..).unwrap_or_default();
        let ms = ms_of_rfc3339(&format!("{}{rest}", calls.time)).unwrap_or(to_ms);
        let place = starts.partition_point(|start| *start <= ms).saturating_sub(1);
        if let Some(bar) = bars.get_mut(place) {
            add(bar, calls);
        }
    }
    (starts, bars)
}

fn add(ends: &mut Ends, calls: &CallsOfTime) {
    match CallEnd::of(&calls.outcome, calls.code.as_deref()) {
        CallEnd::Done => ends.done += calls.count,
        CallEnd::Failed | CallEnd::Refused => ends.refused += calls.count,
        CallEnd::Unfinished => ends.unfinished += calls.count,
    }
}

#[cfg(test)]
mod tests {
    use super::{CallsOfTime, DAY, Ends, HOUR, MOST_BARS, bars, in_words, precision, step};

    const NOON: i64 = 1_795_348_800_000;
    const HOUR_MS: i64 = HOUR * 1_000;

    fn calls(time: &str, outcome: &str, count: i64) -> CallsOfTime {
        CallsOfTime { time: time.to_owned(), outcome: outcome.to_owned(), code: None, count }
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
        let (starts, bars) = bars(&counted, (NOON - 3 * HOUR_MS + 60_000, NOON + 60_000), HOUR, 0);
        assert_eq!((starts[0], starts.len()), (NOON - 3 * HOUR_MS, 4));
        assert_eq!(bars[0], Ends { done: 3, refused: 1, unfinished: 0 });
        assert_eq!(bars[1], Ends::default());
        assert_eq!(bars[3], Ends { done: 2, refused: 0, unfinished: 2 });
    }

    #[test]
    fn a_short_span_has_short_bars() {
        for (span, expected, words) in [
            (0, 1, "1 second"),
            (100, 1, "1 second"),
            (600, 5, "5 seconds"),
            (HOUR, 30, "30 seconds"),
            (2 * HOUR, 60, "1 minute"),
            (DAY, 600, "10 minutes"),
            (6 * DAY, HOUR, "1 hour"),
        ] {
            let seconds = step((NOON - span * 1_000, NOON));
            assert_eq!((seconds, in_words(seconds).as_str()), (expected, words), "{span} s");
        }
        let counted = [calls("2026-11-22T11:59:58", "ok", 2), calls("2026-11-22T12:00:00", "error", 1)];
        let (starts, bars) = bars(&counted, (NOON - 2_000, NOON), 1, 0);
        assert_eq!((starts.len(), precision(1)), (3, "2026-11-22T11:59:58".len()));
        assert_eq!((bars[0].done, bars[1].total(), bars[2].refused), (2, 0, 1));
    }

    #[test]
    fn a_long_span_has_bars_that_begin_with_a_day_of_the_zone() {
        for (days, expected) in
            [(7, HOUR), (8, 2 * HOUR), (28, 6 * HOUR), (365, 3 * DAY), (365 * 50, 336 * DAY)]
        {
            let span = (NOON - days * 24 * HOUR_MS, NOON);
            let seconds = step(span);
            let (starts, _) = bars(&[], span, seconds, 2 * HOUR_MS);
            assert_eq!(seconds, expected, "{days} days");
            assert!(starts.len() as i64 <= MOST_BARS && !starts.is_empty(), "{days} days: {}", starts.len());
            assert_eq!((starts[0] + 2 * HOUR_MS) % (seconds * 1_000), 0);
        }
    }
}
