//! Samples of all rounds, and Markdown of them.

use crate::stats::{Spread, short};

/// The samples of some servers, one row of values a round: `values[server][metric][round]`.
pub struct Samples {
    metrics: &'static [&'static str],
    names: Vec<String>,
    values: Vec<Vec<Vec<f64>>>,
}

impl Samples {
    /// Without any sample yet. The first name is the one that others are compared with.
    pub fn new(metrics: &'static [&'static str], names: impl IntoIterator<Item = String>) -> Self {
        let names: Vec<String> = names.into_iter().collect();
        let values = vec![vec![Vec::new(); metrics.len()]; names.len()];
        Self { metrics, names, values }
    }

    /// Adds one round's values of a server.
    pub fn push(&mut self, server: usize, sample: &[f64]) {
        for (values, value) in self.values[server].iter_mut().zip(sample) {
            values.push(*value);
        }
    }

    /// The values of a server's metric, round by round.
    pub fn of(&self, server: usize, metric: usize) -> &[f64] {
        &self.values[server][metric]
    }

    /// The medians, with the least and the greatest.
    pub fn print_values(&self) {
        self.print("", &self.names, |server, metric| Spread::of(self.of(server, metric).iter().copied()));
    }

    /// The first server's values over those of each other, round by round.
    pub fn print_ratios(&self) {
        let Some((first, others)) = self.names.split_first().filter(|(_, others)| !others.is_empty()) else {
            return;
        };
        let title = format!("ratio: {first} / …");
        self.print(&title, others, |server, metric| {
            Spread::of_ratios(self.of(0, metric), self.of(server + 1, metric))
        });
    }

    fn print(&self, title: &str, columns: &[String], cell: impl Fn(usize, usize) -> Spread) {
        println!("| {title} | {} |", columns.join(" | "));
        println!("| --- |{}", " --: |".repeat(columns.len()));
        for (number, metric) in self.metrics.iter().enumerate() {
            let cells: Vec<String> =
                (0..columns.len()).map(|column| cell(column, number).to_string()).collect();
            println!("| {} | {} |", metric, cells.join(" | "));
        }
        println!();
    }

    /// The medians of the ratios alone, a row a metric.
    pub fn ratio_rows(&self, heading: &str) -> Vec<String> {
        let row = |(number, metric): (usize, &&str)| {
            let cells: Vec<String> = (1..self.names.len())
                .map(|server| short(Spread::of_ratios(self.of(0, number), self.of(server, number)).median))
                .collect();
            format!("| {heading}: {} | {} |", metric, cells.join(" | "))
        };
        self.metrics.iter().enumerate().map(row).collect()
    }
}
