//! The cost of an answer (router#cost), in billionths of a dollar. Pure.

use std::iter::Sum;

use super::candidates::{Snapshot, SplitPrice, list_price};
use super::model_id::ModelId;

/// An amount in billionths of a dollar: an integer, so that sums are exact and tiny answers are not free.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct NanoDollars(pub u128);

impl NanoDollars {
    /// Returns the amount in dollars.
    pub fn dollars(self) -> f64 {
        self.per(1)
    }

    /// Divides the amount evenly, in dollars; 0 for zero shares.
    pub fn per(self, shares: u64) -> f64 {
        if shares == 0 { 0.0 } else { self.0 as f64 / (1e9 * shares as f64) }
    }
}

impl Sum for NanoDollars {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        Self(amounts.fold(0, |sum, amount| sum.saturating_add(amount.0)))
    }
}

/// The price of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Price {
    /// Separate prices for tokens read and written.
    Split(SplitPrice),
    /// One price for both, in ten-thousandths of a dollar per 1,000 tokens.
    Blended(u64),
}

/// Nano-dollars in a ten-thousandth of a dollar, per token of a kilotoken.
const NANO_PER_BPS_TOKEN: u128 = 100;

impl Price {
    /// Returns a model's price: from its row, as exactly as the row states it, else from the list.
    pub fn of(model: ModelId, snapshot: Option<&Snapshot>) -> Self {
        match snapshot.and_then(|snapshot| snapshot.row(model)) {
            Some(row) => row.split_price.map_or(Self::Blended(row.cost_bps_per_kilotoken), Self::Split),
            None => Self::Split(list_price(model)),
        }
    }

    /// Returns the cost of an answer of this many tokens. An amount that is too large saturates.
    pub fn of_answer(self, prompt_tokens: u64, completion_tokens: u64) -> NanoDollars {
        let (read, written) = (u128::from(prompt_tokens), u128::from(completion_tokens));
        NanoDollars(match self {
            // Millionths of a dollar per 1,000 tokens are billionths per token.
            Self::Split(SplitPrice { input, output }) => {
                let (read, written) = (read * u128::from(input), written * u128::from(output));
                read.saturating_add(written)
            }
            Self::Blended(bps) => ((read + written) * NANO_PER_BPS_TOKEN).saturating_mul(u128::from(bps)),
        })
    }
}
