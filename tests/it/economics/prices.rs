//! The table of prices: its dates, its steps, and what the user lays over it.

use heyaira::error::Code;

use super::{at, built_in, noon};

fn input(model: &str, day: &str, prompt: u64) -> Option<f64> {
    built_in().price(model, at(day), prompt).map(|price| price.input)
}

#[test]
fn a_price_with_an_end_ends_with_that_day_in_utc() {
    assert_eq!(input("gemini-3.8-flash", "2026-12-31T23:59:59Z", 1), Some(0.75));
    assert_eq!(input("gemini-3.8-flash", "2027-01-01T00:00:00Z", 1), Some(1.5));
    let read = |day| built_in().price("claude-sonnet-5-5", at(day), 1).map(|price| price.cache_read);
    assert_eq!(read("2026-10-06T23:59:59Z"), Some(0.2));
    assert_eq!(read("2026-10-07T00:00:00Z"), Some(0.1));
}

#[test]
fn a_step_is_for_requests_that_send_more() {
    let day = "2026-11-30T12:00:00Z";
    assert_eq!(input("claude-haiku-5-5", day, 100_000), Some(0.1));
    assert_eq!(input("claude-haiku-5-5", day, 100_001), Some(0.5));
    assert_eq!(input("gpt-6.2-sol", day, 272_000), Some(2.0));
    assert_eq!(input("gpt-6.2-sol", day, 272_001), Some(4.0));
}

#[test]
fn a_date_and_a_mark_of_the_window_make_no_other_model_and_nothing_else_is_a_relative() {
    let day = "2026-11-30T12:00:00Z";
    for name in ["claude-opus-5-5", "claude-opus-5-5-20261101", "claude-opus-5-5[1m]", "claude-opus-5-5-20261101[1m]"] {
        assert_eq!(input(name, day, 1), Some(4.0), "{name}");
    }
    for name in
        ["claude-opus-5-5 fast", "claude-opus-5-6", "claude-opus-5-5-fast", "opus", "", "claude-opus-5-5-2026110"]
    {
        assert_eq!(input(name, day, 1), None, "{name}");
    }
}

#[test]
fn what_the_user_says_comes_first_and_the_rest_stays() {
    let own = r#"
        as_of = "2027-02-01"
        [assumptions]
        handoff_requests = 6
        [[model]]
        names = ["claude-opus-5-5", "house-model"]
        window_tokens = 64_000
        price = [{ input = 1.0, output = 2.0, cache_read = 0.5, cache_write = 1.5 }]
    "#;
    let prices = built_in().with("own.toml", own).expect("a table");
    assert_eq!(prices.own_as_of.as_deref(), Some("2027-02-01"));
    assert_eq!(prices.price("house-model", noon(), 1).map(|price| price.output), Some(2.0));
    assert_eq!(prices.price("claude-opus-5-5", noon(), 1).map(|price| price.input), Some(1.0));
    assert_eq!(prices.price("claude-fable-5-2", noon(), 1).map(|price| price.input), Some(8.0));
    assert_eq!(prices.assumptions.handoff_requests, 6);
    assert_eq!(prices.assumptions.fresh_tokens(), 45_000);
}

#[test]
fn a_table_that_cannot_be_used_says_which_file_and_where() {
    let wrong = |text: &str| {
        let refusal = built_in().with("/home/dev/prices.toml", text).expect_err("no table");
        assert_eq!(refusal.code, Code::InvalidArgument);
        assert!(refusal.message.contains("/home/dev/prices.toml"), "{refusal}");
        refusal.message
    };
    assert!(wrong("[[model]]\nnames = [\"a\"]\npricee = 1").contains("line 3"));
    assert!(wrong("[assumptions]\nhandoff_request = 4").contains("line 2"));
    let price = |price: &str| format!("[[model]]\nnames = [\"a\"]\nprice = [{price}]");
    let whole =
        |input: &str| price(&format!("{{ input = {input}, output = 1.0, cache_read = 1.0, cache_write = 1.0 }}"));
    assert!(wrong(&whole("-1.0")).contains("zero or more"));
    assert!(wrong(&whole("nan")).contains("zero or more"));
    assert!(wrong(&price("")).contains("no price"));
    let dated = "{ until = \"soon\", input = 1.0, output = 1.0, cache_read = 1.0, cache_write = 1.0 }";
    assert!(wrong(&price(dated)).contains("2026-12-31"));
    assert!(wrong(&whole("1e308")).contains("at most a million"));
    for (name, value) in [
        ("break_even_guess_factor", "-5.0"),
        ("break_even_guess_factor", "0.5"),
        ("break_even_guess_factor", "inf"),
        ("pause_fresh_starts", "nan"),
        ("pause_fresh_starts", "-1.0"),
        ("compaction_near_share", "-1.0"),
        ("compaction_near_share", "0.0"),
        ("compaction_again_share", "1.5"),
    ] {
        let told = wrong(&format!("[assumptions]\n{name} = {value}"));
        assert!(told.contains(name), "{told}");
    }
    // All that is wrong is told at once.
    let both = wrong("[[model]]\nnames = []\nprice = []");
    assert!(both.contains("no name") && both.contains("no price"), "{both}");
}
