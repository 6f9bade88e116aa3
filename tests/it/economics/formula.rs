//! The arithmetic, against the figures that were measured and reckoned apart.

use heyaira::domain::time::Timestamp;
use heyaira::economics::formula::Situation;
use heyaira::economics::prices::Prices;

use super::{built_in, noon};

/// A context of a model; what a request adds and answers does not matter to what is asked here.
fn situation<'p>(prices: &'p Prices, model: &str, writes_long: bool, context_tokens: u64) -> Situation<'p> {
    Situation {
        model: prices.model(model).expect("a known model"),
        assumptions: &prices.assumptions,
        at: noon(),
        context_tokens,
        request_input_tokens: 0,
        request_output_tokens: 0,
        writes_long,
    }
}

const CONTEXTS: [u64; 4] = [100_000, 200_000, 400_000, 800_000];

#[test]
fn break_even_is_as_reckoned_for_each_model_and_context() {
    let prices = built_in();
    let table = [
        ("claude-opus-5-5", false, ["31", "14", "8", "6"]),
        ("claude-opus-5-5", true, ["44", "18", "10", "7"]),
        ("claude-fable-5-2", true, ["80", "31", "16", "10"]),
        ("claude-opus-5", false, ["19", "9", "6", "5"]),
        ("claude-opus-4-8", false, ["19", "9", "6", "5"]),
    ];
    for (model, writes_long, expected) in table {
        let found = CONTEXTS.map(|context| {
            let needed = situation(&prices, model, writes_long, context).break_even_requests().expect("a break-even");
            format!("{needed:.0}")
        });
        assert_eq!(found, expected, "{model} {writes_long}");
    }
}

#[test]
fn a_cold_request_and_what_a_handoff_before_it_saves_are_as_reckoned() {
    let prices = built_in();
    let money = |value: Option<f64>| format!("{:.2}", value.expect("a price"));
    let rows = CONTEXTS.map(|context| {
        let opus = situation(&prices, "claude-opus-5-5", true, context);
        [money(opus.cold_usd()), money(opus.fresh_usd()), money(opus.handoff_usd()), money(opus.saved_by_pause_usd())]
    });
    assert_eq!(rows[0], ["0.80", "0.36", "0.12", "0.32"]);
    assert_eq!(rows[1], ["1.60", "0.36", "0.20", "1.04"]);
    assert_eq!(rows[2], ["3.20", "0.36", "0.36", "2.48"]);
    assert_eq!(rows[3], ["6.40", "0.36", "0.68", "5.36"]);
    // Below the step of its price.
    let saved =
        [100_000, 200_000].map(|context| money(situation(&prices, "gpt-6.2-sol", false, context).saved_by_pause_usd()));
    assert_eq!(saved, ["0.08", "0.29"]);
}

#[test]
fn letting_the_cache_expire_costs_what_a_write_costs_beyond_a_read() {
    let prices = built_in();
    let factors =
        [("claude-opus-5-5", false, 24.0), ("claude-opus-5-5", true, 39.0), ("claude-fable-5-2", false, 49.0)];
    for (model, writes_long, factor) in factors {
        let here = situation(&prices, model, writes_long, 500_000);
        let (warm, cold) = (here.warm_usd().expect("a price"), here.cold_usd().expect("a price"));
        assert!(((cold - warm) / warm - factor).abs() < 1e-9, "{model}: {warm} {cold}");
    }
}

#[test]
fn a_request_adds_what_it_writes_and_answers() {
    let prices = built_in();
    let here = Situation {
        request_input_tokens: 1_000,
        request_output_tokens: 500,
        ..situation(&prices, "claude-opus-5-5", false, 100_000)
    };
    // 100,000 read at 0.20, 1,000 written at 5, 500 out at 20 for a million.
    assert!((here.warm_usd().expect("a price") - (0.02 + 0.005 + 0.01)).abs() < 1e-12);
    assert!((here.cold_usd().expect("a price") - (0.505 + 0.01)).abs() < 1e-12);
}

#[test]
fn beyond_a_step_a_whole_request_has_the_higher_price() {
    let prices = built_in();
    let below = situation(&prices, "gpt-6.2-sol", false, 272_000).warm_usd().expect("a price");
    let above = situation(&prices, "gpt-6.2-sol", false, 272_001).warm_usd().expect("a price");
    assert!((above / below - 2.0).abs() < 1e-4, "{below} {above}");
    let haiku = |context| situation(&prices, "claude-haiku-5-5", false, context).cold_usd().expect("a price");
    assert!((haiku(100_001) / haiku(100_000) - 5.0).abs() < 1e-3);
}

#[test]
fn a_context_no_larger_than_a_fresh_start_has_no_break_even() {
    let prices = built_in();
    assert_eq!(situation(&prices, "claude-opus-5-5", false, 45_000).break_even_requests(), None);
    assert!(situation(&prices, "claude-opus-5-5", false, 46_000).break_even_requests().expect("one") > 1_000.0);
}

#[test]
fn outside_of_all_dates_there_is_no_price() {
    let prices = built_in();
    let flash = prices.model("gemini-3.8-flash").expect("a known model");
    assert!(flash.price(Timestamp(i64::MAX), 1).is_none(), "no such day");
}
