//! Times as people write and read them. The database stores UTC stamps, which sort as texts.

use std::io::Read;
use std::path::Path;

use colibri_proof::bounded_file;
use colibri_visible::printable;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{SignedDuration, Timestamp, Unit, Zoned};

use super::Failure;
use super::time_prefix::parse_time;
use crate::settings::environment::Environment;

/// What a view goes by: the present time, and the zone in which it prints and reads times.
#[derive(Debug, Clone)]
pub struct Clock {
    now: Zoned,
}

impl Clock {
    /// Returns the present time in the zone of the environment, or in UTC, and what is wrong with `TZ`.
    pub fn read(env: &Environment, utc: bool) -> (Self, Option<String>) {
        let (zone, problem) = if utc { (TimeZone::UTC, None) } else { zone(env) };
        (Self { now: Timestamp::now().to_zoned(zone) }, problem)
    }

    /// Returns the present time in the same zone.
    pub fn again(&self) -> Self {
        Self { now: Timestamp::now().to_zoned(self.now.time_zone().clone()) }
    }

    /// Returns a clock that stands still.
    #[cfg(test)]
    #[allow(clippy::unwrap_used)]
    pub fn at(now: &str, zone: &str) -> Self {
        let now: Timestamp = now.parse().unwrap();
        Self { now: now.to_zoned(named(zone).unwrap()) }
    }

    /// Returns the present time, in milliseconds since the Unix epoch.
    pub fn now_ms(&self) -> i64 {
        self.now.timestamp().as_millisecond()
    }

    /// Returns a stored stamp as people read it: `14:03` today, `Nov 21 14:03` this year, otherwise the date. Another
    /// text stays as it is.
    pub fn show(&self, stamp: &str) -> String {
        let Ok(at) = stamp.parse::<Timestamp>() else { return stamp.to_owned() };
        let at = at.to_zoned(self.now.time_zone().clone());
        let form = match at.date() {
            date if date == self.now.date() => "%H:%M",
            date if date.year() == self.now.date().year() => "%b %-d %H:%M",
            _ => "%Y-%m-%d",
        };
        at.strftime(form).to_string()
    }

    /// Returns a stored stamp with its date, for what people read on other days: `2026-11-22 14:03`. Another text stays as it is.
    pub fn dated(&self, stamp: &str) -> String {
        let Ok(at) = stamp.parse::<Timestamp>() else { return stamp.to_owned() };
        at.to_zoned(self.now.time_zone().clone()).strftime("%Y-%m-%d %H:%M").to_string()
    }

    /// Returns a stored stamp with its date and its seconds. Another text stays as it is.
    pub fn dated_seconds(&self, stamp: &str) -> String {
        let Ok(at) = stamp.parse::<Timestamp>() else { return stamp.to_owned() };
        at.to_zoned(self.now.time_zone().clone()).strftime("%Y-%m-%d %H:%M:%S").to_string()
    }

    /// Returns the present time in the same form as [`Self::dated`].
    pub fn dated_now(&self) -> String {
        self.dated(&stamp(&self.now.timestamp()))
    }

    /// Returns the name of the zone, or how far it is ahead of UTC: `Europe/Berlin`, `+01:00`.
    pub fn zone(&self) -> String {
        let name = self.now.time_zone().iana_name();
        name.map_or_else(|| self.now.strftime("%:z").to_string(), str::to_owned)
    }

    /// Returns how far the zone is ahead of UTC at present, in milliseconds.
    pub fn ahead_ms(&self) -> i64 {
        i64::from(self.now.offset().seconds()) * 1_000
    }

    /// Returns how long it is from now to a stored stamp, or was: `11 min`.
    pub fn span(&self, stamp: &str) -> String {
        let Ok(at) = stamp.parse::<Timestamp>() else { return stamp.to_owned() };
        let seconds = at.duration_since(self.now.timestamp()).as_secs().unsigned_abs();
        match seconds {
            0..60 => format!("{seconds} s"),
            60..7_200 => format!("{} min", seconds / 60),
            7_200..172_800 => format!("{} h", seconds / 3_600),
            _ => format!("{} days", seconds / 86_400),
        }
    }

    /// Returns the stamp that a text stands for.
    ///
    /// # Errors
    /// One sentence for the person who typed it.
    pub fn parse(&self, text: &str) -> Result<String, String> {
        self.find(text).map(|at| stamp(&at)).ok_or_else(|| self.refusal(text))
    }

    fn find(&self, text: &str) -> Option<Timestamp> {
        self.relative(text).or_else(|| self.named_day(text)).or_else(|| self.absolute(text))
    }

    /// Why a text has no stamp. UTC skips no time, so that a text which is a time there is one that this zone skips.
    fn refusal(&self, text: &str) -> String {
        let in_utc = Self { now: self.now.with_time_zone(TimeZone::UTC) };
        match in_utc.find(text) {
            Some(_) => format!(
                "{text:?} is skipped in {}, where the clocks go forward; write a later time, or one in UTC with a Z",
                self.zone()
            ),
            None => no_time(text),
        }
    }

    /// `1h30m` ago.
    fn relative(&self, text: &str) -> Option<Timestamp> {
        let (mut rest, mut seconds) = (text, 0_i64);
        if text.is_empty() {
            return None;
        }
        while !rest.is_empty() {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let number: i64 = rest[..digits].parse().ok()?;
            let unit = match rest[digits..].chars().next()? {
                's' => 1,
                'm' => 60,
                'h' => 3_600,
                'd' => 86_400,
                'w' => 604_800,
                _ => return None,
            };
            seconds = seconds.checked_add(number.checked_mul(unit)?)?;
            rest = &rest[digits + 1..];
        }
        self.now.timestamp().checked_sub(SignedDuration::from_secs(seconds)).ok()
    }

    /// `now`, `today`, `yesterday 14:00`.
    fn named_day(&self, text: &str) -> Option<Timestamp> {
        let (day, time) = text.split_once(' ').map_or((text, None), |(day, time)| (day, Some(time)));
        let date = match day {
            "now" if time.is_none() => return Some(self.now.timestamp()),
            "today" => self.now.date(),
            "yesterday" => self.now.date().yesterday().ok()?,
            _ => return None,
        };
        let time = time.map_or(Some(Time::midnight()), clock_time)?;
        self.in_zone(date.to_datetime(time))
    }

    /// A date, a date with a time, or a stamp with its zone.
    fn absolute(&self, text: &str) -> Option<Timestamp> {
        if let Ok(at) = text.parse::<Timestamp>() {
            return Some(at);
        }
        // A beginning of a UTC stamp may end with Z, which leaves no zone to guess.
        if let Some(bare) = text.strip_suffix('Z') {
            parse_time(bare)?;
            return beginning(bare)?.to_zoned(TimeZone::UTC).ok().map(|at| at.timestamp());
        }
        self.in_zone(beginning(text)?)
    }

    /// A time that the clocks skip has no stamp. Midnight then stands for the beginning of its day. Of a time that comes twice, the
    /// first is meant.
    fn in_zone(&self, at: DateTime) -> Option<Timestamp> {
        let found = self.now.time_zone().to_ambiguous_zoned(at);
        let skipped = matches!(found.offset(), AmbiguousOffset::Gap { .. }) && at.time() != Time::midnight();
        if skipped {
            return None;
        }
        found.compatible().ok().map(|at| at.timestamp())
    }
}

/// Returns a time as `colibri log` takes it: the beginning of a stored stamp stays, since stamps sort as texts. Times without a zone
/// are UTC, as the log prints them.
///
/// # Errors
/// One sentence for the person who typed it.
pub fn parse_for_log(text: &str) -> Result<String, String> {
    let clock = Clock { now: Timestamp::now().to_zoned(TimeZone::UTC) };
    parse_time(text).map_or_else(|| clock.parse(text), Ok)
}

/// Returns the refusal of times between which nothing lies.
pub fn not_after(since: &str, until: &str) -> Failure {
    let (since, until) = (printable(since), printable(until));
    Failure::Usage(format!("--until {until} is not after --since {since}; name a later time with --until"))
}

fn no_time(text: &str) -> String {
    format!("{text:?} is not a time; write 2h, today, yesterday 14:00 or 2026-11-01T10:00Z")
}

/// Returns the stored form of a time.
fn stamp(at: &Timestamp) -> String {
    let at = at.round(Unit::Millisecond).unwrap_or(*at);
    format!("{at:.3}")
}

/// `2026`, `2026-11`, `2026-11-01`, and one with a time behind a space or a `T`.
fn beginning(text: &str) -> Option<DateTime> {
    let (date, time) = text.split_once([' ', 'T']).map_or((text, None), |(date, time)| (date, Some(time)));
    let whole = match date.len() {
        4 => format!("{date}-01-01"),
        7 => format!("{date}-01"),
        _ => date.to_owned(),
    };
    if time.is_some() && date.len() != 10 {
        return None;
    }
    let date: Date = whole.parse().ok()?;
    Some(date.to_datetime(time.map_or(Some(Time::midnight()), clock_time)?))
}

/// `14:00`, with seconds or without.
fn clock_time(text: &str) -> Option<Time> {
    let is_form = text.len() >= 5 && text.as_bytes().get(2) == Some(&b':');
    is_form.then(|| text.parse().ok()).flatten()
}

/// Returns the zone of the environment: that of `TZ`, otherwise the machine's. UTC where neither can be read; what is wrong with
/// `TZ` is then the second part.
fn zone(env: &Environment) -> (TimeZone, Option<String>) {
    let Some(named_zone) = env.get_os("TZ").filter(|name| !name.is_empty()) else {
        return (TimeZone::try_system().unwrap_or(TimeZone::UTC), None);
    };
    match named_zone.to_str().and_then(|name| named(name.trim_start_matches(':'))) {
        Some(zone) => (zone, None),
        None => {
            (TimeZone::UTC, Some(format!("TZ is {named_zone:?} and names no time zone; times are in UTC")))
        }
    }
}

/// Returns a zone by its name, by a rule such as `CET-1CEST,M3.5.0,M10.5.0/3`, or by the path of its file.
fn named(name: &str) -> Option<TimeZone> {
    /// The largest file of a zone has a few kilobytes.
    const MAX_BYTES: u64 = 1 << 20;
    if name.starts_with('/') {
        let mut rules = Vec::new();
        bounded_file::open(Path::new(name)).ok()?.take(MAX_BYTES).read_to_end(&mut rules).ok()?;
        return TimeZone::tzif("", &rules).ok();
    }
    TimeZone::get(name).or_else(|_| TimeZone::posix(name)).ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::Clock;

    const NOW: &str = "2026-11-22T13:30:00Z";

    fn berlin() -> Clock {
        Clock::at(NOW, "CET-1CEST,M3.5.0,M10.5.0/3")
    }

    #[test]
    fn times_are_read_in_the_zone_that_is_printed() {
        let cases = [
            ("now", NOW),
            ("2h", "2026-11-22T11:30:00Z"),
            ("1h30m", "2026-11-22T12:00:00Z"),
            ("90s", "2026-11-22T13:28:30Z"),
            ("1w", "2026-11-15T13:30:00Z"),
            ("today", "2026-11-21T23:00:00Z"),
            ("yesterday 14:00", "2026-11-21T13:00:00Z"),
            ("2026-11-01", "2026-10-31T23:00:00Z"),
            ("2026-07-01 14:00", "2026-07-01T12:00:00Z"),
            ("2026-07", "2026-06-30T22:00:00Z"),
            ("2026-11-01T10:00Z", "2026-11-01T10:00:00Z"),
            ("2026-11-01T10:00:00.250Z", "2026-11-01T10:00:00.250Z"),
            ("2026-11-01T10:00:00-05:00", "2026-11-01T15:00:00Z"),
        ];
        for (text, expected) in cases {
            let expected: jiff::Timestamp = expected.parse().unwrap();
            assert_eq!(berlin().parse(text), Ok(super::stamp(&expected)), "{text}");
        }
    }

    #[test]
    fn a_time_that_the_clocks_skip_is_refused_and_one_that_comes_twice_is_the_first() {
        for text in ["2026-03-29 02:30", "2026-03-29T02:00", "2026-03-29 02:59:59"] {
            let refused = berlin().parse(text).unwrap_err();
            let told = "is skipped in +01:00, where the clocks go forward; write a later time, or one in UTC with a Z";
            assert_eq!(refused, format!("{text:?} {told}"));
        }
        for (text, expected) in [
            ("2026-03-29 01:59", "2026-03-29T00:59:00.000Z"),
            ("2026-03-29 03:00", "2026-03-29T01:00:00.000Z"),
            ("2026-10-25 02:30", "2026-10-25T00:30:00.000Z"),
            ("2026-03-29T02:30Z", "2026-03-29T02:30:00.000Z"),
        ] {
            assert_eq!(berlin().parse(text).as_deref(), Ok(expected), "{text}");
        }
        // Here the clocks go forward at midnight, and the day begins at one.
        let midnight = Clock::at("2026-04-05T12:00:00Z", "<-04>4<-03>,M4.1.0/0,M10.1.0/0");
        assert_eq!(midnight.parse("today").as_deref(), Ok("2026-04-05T04:00:00.000Z"));
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "soon",
            "2x",
            "h",
            "today 25:00",
            "2026-13-01",
            "yesterday noon",
            "99999999999999999999h",
            "2026 10:00",
        ] {
            let refused = berlin().parse(text).unwrap_err();
            assert!(refused.starts_with(&format!("{text:?} is not a time; write 2h, today")), "{refused}");
        }
    }

    #[test]
    fn times_are_shown_as_short_as_the_day_allows() {
        for (stamp, shown) in [
            ("2026-11-22T12:03:59.999Z", "13:03"),
            ("2026-11-21T23:10:00.000Z", "00:10"),
            ("2026-11-21T22:59:00.000Z", "Nov 21 23:59"),
            ("2025-12-31T22:00:00.000Z", "2025-12-31"),
            ("no stamp", "no stamp"),
        ] {
            assert_eq!(berlin().show(stamp), shown);
        }
        assert_eq!(berlin().span("2026-11-22T13:41:20.000Z"), "11 min");
        assert_eq!(berlin().span("2026-11-22T10:00:00.000Z"), "3 h");
    }
}
