//! What answers cost (router#cost): exact to the billionth of a dollar.

use crate::domains::router::candidates::{Candidate, Snapshot, SplitPrice, built_in, list_price};
use crate::domains::router::cost::{NanoDollars, Price};
use crate::domains::router::model_id::ModelId;
use crate::domains::router::rules::Weights;

use crate::domains::router::tests::support::plain;

#[test]
fn the_chapter_s_amounts() {
    let cases: [(Price, u64, u64, u128, f64); 4] = [
        (Price::Blended(300), 1000, 500, 45_000_000, 0.045),
        (Price::of(ModelId::Claude, None), 1000, 500, 10_500_000, 0.0105),
        (Price::of(ModelId::Gpt4oMini, None), 100, 20, 27_000, 0.000027),
        (Price::Blended(3), 1, 0, 300, 3e-7),
    ];
    for (price, read, written, nano, dollars) in cases {
        let cost = price.of_answer(read, written);
        assert_eq!((cost, cost.dollars()), (NanoDollars(nano), dollars), "{price:?}");
    }
}

#[test]
fn a_row_s_own_prices_go_before_its_blend_and_that_before_the_list() {
    let split = SplitPrice { input: 7, output: 9 };
    let of = |row: Candidate| Price::of(row.model_id, Some(&Snapshot::new([row], Weights::default())));
    let row = Candidate { cost_bps_per_kilotoken: 5, split_price: Some(split), ..plain(ModelId::Gpt4o) };
    assert_eq!(of(row.clone()), Price::Split(split));
    assert_eq!(of(Candidate { split_price: None, ..row }), Price::Blended(5));
    let other = Snapshot::new([plain(ModelId::KimiK2)], Weights::default());
    assert_eq!(Price::of(ModelId::Gpt4o, Some(&other)), Price::Split(list_price(ModelId::Gpt4o)));
}

/// The cost column is (3·input + output) ÷ 4 of the prices at which the models were released, rounded half up (delta
/// router#candidates); an answer costs what the list says today.
#[test]
fn scores_go_by_the_prices_of_the_release_and_costs_by_todays() {
    let released = [
        (ModelId::ClaudeSonnet35, 3000, 15_000),
        (ModelId::ClaudeHaiku35, 800, 4000),
        (ModelId::Gpt4o, 2500, 10_000),
        (ModelId::Gpt4oMini, 150, 600),
        (ModelId::Gemini15Pro, 1250, 5000),
        (ModelId::Llama3370b, 880, 880),
        (ModelId::Mixtral8x22b, 2000, 6000),
        (ModelId::KimiK2, 600, 2500),
    ];
    let rows = built_in(|_| true);
    assert_eq!(rows.len(), released.len());
    for (row, (model, input, output)) in rows.into_iter().zip(released) {
        assert_eq!(row.model_id, model);
        // A basis point is 100 millionths; four of the weighted sum's parts make one.
        assert_eq!(row.cost_bps_per_kilotoken, (3 * input + output + 200) / 400, "{model}");
        assert_eq!(row.split_price, Some(list_price(model)));
    }
}

#[test]
fn amounts_beyond_all_money_are_cut_and_not_wrapped() {
    let dearest = Price::Split(SplitPrice { input: u64::MAX, output: u64::MAX });
    assert_eq!(dearest.of_answer(u64::MAX, u64::MAX), NanoDollars(u128::MAX));
    assert_eq!(Price::Blended(u64::MAX).of_answer(u64::MAX, u64::MAX), NanoDollars(u128::MAX));
}
