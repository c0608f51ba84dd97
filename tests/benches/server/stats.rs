//! Percentiles of one run, medians over rounds.

use std::fmt;

/// The value below which that share of the values lies, by nearest rank.
pub fn percentile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let rank = (values.len() as f64 * share).ceil() as usize;
    values.get(rank.clamp(1, values.len().max(1)) - 1).copied().unwrap_or(f64::NAN)
}

/// The middle of the values; of two middles their mean.
pub fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => values[middle],
        _ => f64::midpoint(values[middle - 1], values[middle]),
    }
}

/// What the rounds gave: the median, and how far they lie apart.
#[derive(Debug, Clone, Copy)]
pub struct Spread {
    /// The median.
    pub median: f64,
    /// The least.
    pub least: f64,
    /// The greatest.
    pub greatest: f64,
}

impl Spread {
    /// Of one value a round.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.into_iter().collect();
        let median = median(&mut values);
        let end = |value: Option<&f64>| value.copied().unwrap_or(f64::NAN);
        Self { median, least: end(values.first()), greatest: end(values.last()) }
    }

    /// Of the quotients, round by round.
    pub fn of_ratios(ours: &[f64], theirs: &[f64]) -> Self {
        Self::of(ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs))
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}–{})", short(self.median), short(self.least), short(self.greatest))
    }
}

/// Three digits that mean something; thousands set apart.
pub fn short(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    match value.abs() {
        size if size < 9.995 => format!("{value:.2}"),
        size if size < 99.95 => format!("{value:.1}"),
        size if size < 999.5 => format!("{value:.0}"),
        _ => {
            let whole = format!("{:.0}", value.abs());
            let head = whole.len() % 3;
            let mut groups: Vec<&str> = if head > 0 { vec![&whole[..head]] } else { Vec::new() };
            groups.extend((head..whole.len()).step_by(3).map(|at| &whole[at..at + 3]));
            format!("{}{}", if value < 0.0 { "-" } else { "" }, groups.join(","))
        }
    }
}

/// How busy the machine was over the last 1, 5 and 15 minutes.
pub fn load_average() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').take(3).collect::<Vec<_>>().join(" ")
}
