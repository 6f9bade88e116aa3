//! Each advice where it is due, and why to stay where it is not.

use heyaira::economics::{Compaction, Outlook, Plan, Trigger};

use super::{Made, built_in, noon};

/// Twenty requests of Opus 5.5 with the cache for an hour, at 60,000 tokens: nothing to hand off for.
const CALM: Made =
    Made { model: "claude-opus-5-5", lifetime_seconds: Some(3_600), requests: 20, context: 60_000, growth: 1_000 };

fn outlook(made: &Made) -> Outlook {
    Outlook::of(&made.session(), &built_in(), noon())
}

fn trigger(outlook: &Outlook) -> Option<Trigger> {
    outlook.advice.as_ref().map(|advice| advice.trigger)
}

#[test]
fn a_small_warm_session_stays_and_says_why() {
    let outlook = outlook(&CALM);
    assert_eq!(trigger(&outlook), None);
    assert_eq!(
        outlook.sentence(),
        "Stay, it is cheaper: handoff and fresh start cost $0.45 and pay only after 150 more requests, and 20 made the \
         present context."
    );
}

#[test]
fn a_context_below_a_fresh_start_never_pays() {
    let outlook = outlook(&Made { context: 40_000, ..CALM });
    assert_eq!(trigger(&outlook), None);
    assert!(
        outlook.sentence().starts_with("Stay, it is cheaper: the context has 40,000 tokens"),
        "{}",
        outlook.sentence()
    );
}

#[test]
fn an_expired_cache_of_a_large_context_is_a_reason_and_of_a_small_one_is_none() {
    let later = noon().plus_minutes(61);
    let large = Outlook::of(&Made { context: 200_000, ..CALM }.session(), &built_in(), later);
    assert_eq!(trigger(&large), Some(Trigger::CacheExpired));
    assert_eq!(
        large.sentence(),
        "Start fresh only if the task has a handoff: the cache expired 1 minute ago, so the next request here sends 200,000 \
         tokens again ($1.61), and a fresh session that starts from one starts at $0.36; to write one from here makes that \
         request first, so without one staying costs no more for the next request."
    );
    let small = Outlook::of(&CALM.session(), &built_in(), later);
    assert_eq!(trigger(&small), None);
    let warm =
        Outlook::of(&Made { context: 200_000, requests: 10, ..CALM }.session(), &built_in(), noon().plus_minutes(60));
    assert_ne!(trigger(&warm), Some(Trigger::CacheExpired));
}

#[test]
fn an_expired_cache_speaks_of_a_saved_handoff_only_where_one_waits() {
    let large = Made { context: 200_000, ..CALM }.session();
    let knows = |has_handoff| {
        let plan = Plan { has_handoff: Some(has_handoff), ..Plan::default() };
        Outlook::planned(&large, &built_in(), noon().plus_minutes(61), plan)
    };
    assert_eq!(
        knows(true).sentence(),
        "Start fresh from the saved handoff: the cache expired 1 minute ago, so the next request here sends 200,000 tokens \
         again ($1.61), and a fresh session starts at $0.36."
    );
    assert_eq!(
        knows(false).sentence(),
        "No handoff of this session waits, and it is late for one: the cache expired 1 minute ago, so the next request here \
         sends 200,000 tokens again ($1.61), whether it goes on or writes a handoff; handoff and fresh start cost $0.56; \
         staying is cheaper for the next request."
    );
}

#[test]
fn a_clock_that_is_behind_the_transcript_knows_of_no_warm_cache() {
    let session = Made { context: 200_000, ..CALM }.session();
    let behind = Outlook::of(&session, &built_in(), noon().plus_minutes(-90));
    assert_eq!(behind.ahead_seconds, Some(5_400));
    assert_eq!(behind.cache.map(|cache| cache.is_warm), Some(None));
    let nearly = Outlook::of(&session, &built_in(), noon().plus_minutes(-1));
    assert_eq!(nearly.ahead_seconds, None, "clocks differ by a little");
    assert_eq!(nearly.cache.map(|cache| cache.is_warm), Some(Some(true)));
}

#[test]
fn what_lives_beyond_the_years_that_can_be_written_has_no_such_moment() {
    let mut session = Made { requests: 1, growth: 0, ..CALM }.session();
    session.requests[0].ended = Some(super::at("9999-12-30T21:59:00Z"));
    let outlook = Outlook::of(&session, &built_in(), super::at("9999-12-30T21:59:30Z"));
    let cache = outlook.cache.expect("a cache");
    assert_eq!((cache.warm_until, cache.is_warm), (None, None));
}

#[test]
fn a_pause_that_the_cache_does_not_outlive_is_a_reason() {
    let made = Made { context: 120_000, requests: 10, ..CALM };
    let planned = |made: &Made, minutes: u64| {
        let plan = Plan { pause_seconds: Some(minutes * 60), ..Plan::default() };
        Outlook::planned(&made.session(), &built_in(), noon(), plan)
    };
    let long = planned(&made, 61);
    assert_eq!(trigger(&long), Some(Trigger::PauseAhead));
    assert!(long.sentence().contains("the cache lives 1 hour"), "{}", long.sentence());
    assert_eq!(trigger(&planned(&made, 60)), None, "the cache outlives it");
    assert_eq!(trigger(&planned(&Made { context: 89_000, ..made }, 61)), None, "less than two fresh starts");
    let stay = planned(&made, 1);
    assert!(
        stay.sentence().contains("before a pause of more than 1 hour a handoff saves $0.46"),
        "{}",
        stay.sentence()
    );
}

#[test]
fn a_compaction_ahead_is_a_reason() {
    let full = Made { model: "claude-haiku-4-5", context: 160_000, requests: 3, ..CALM };
    assert_eq!(trigger(&outlook(&full)), Some(Trigger::CompactionAhead));
    assert!(
        outlook(&full).sentence().contains("160,000 tokens of the 200,000 of the window"),
        "{}",
        outlook(&full).sentence()
    );
    assert!(
        outlook(&full)
            .sentence()
            .ends_with("3 made the present context: it is worth it only for what a summary would lose."),
        "{}",
        outlook(&full).sentence()
    );
    let plan = Plan { requests: Some(60), ..Plan::default() };
    let paying = Outlook::planned(&full.session(), &built_in(), noon(), plan);
    assert_eq!(trigger(&paying), Some(Trigger::CompactionAhead));
    assert!(!paying.sentence().contains("staying is cheaper"), "{}", paying.sentence());
    // Where the client compacted before says more than the window.
    let mut session = Made { model: "claude-opus-4-6", context: 151_000, requests: 4, ..CALM }.session();
    let before = Outlook::of(&session, &built_in(), noon());
    assert_eq!(trigger(&before), None, "{}", before.sentence());
    session.compactions.push(Compaction {
        at: None,
        after_requests: 0,
        is_automatic: true,
        tokens_before: Some(167_000),
        tokens_after: None,
    });
    let again = Outlook::of(&session, &built_in(), noon());
    assert_eq!(trigger(&again), Some(Trigger::CompactionAhead));
    assert!(again.sentence().contains("167,000 at which the client compacted before"), "{}", again.sentence());
}

#[test]
fn a_step_of_the_price_ahead_is_a_reason_if_it_is_near_and_the_rest_is_worth_it() {
    let gpt = Made { model: "gpt-6.2-sol", lifetime_seconds: None, requests: 12, context: 262_000, growth: 2_000 };
    let near = outlook(&gpt);
    assert_eq!(trigger(&near), Some(Trigger::StepAhead));
    assert_eq!(
        near.sentence(),
        "Hand off before a request sends more than 272,000 tokens, in about 5 requests: from there on input costs 2 times as \
         much and output 1.5 times; handoff and fresh start cost $0.24."
    );
    let far = outlook(&Made { context: 240_000, requests: 5, ..gpt });
    assert_ne!(trigger(&far), Some(Trigger::StepAhead), "16 requests away");
    let plan = Plan { requests: Some(2), ..Plan::default() };
    let last = Outlook::planned(&gpt.session(), &built_in(), noon(), plan);
    assert_eq!(trigger(&last), None, "two requests are not worth a handoff: {}", last.sentence());
}

#[test]
fn more_requests_than_the_break_even_are_a_reason_and_fewer_are_none() {
    let made = Made { context: 200_000, ..CALM };
    let expects = |requests| {
        Outlook::planned(&made.session(), &built_in(), noon(), Plan { requests: Some(requests), ..Plan::default() })
    };
    assert_eq!(trigger(&expects(19)), Some(Trigger::BreakEven), "18.06 are needed");
    assert_eq!(trigger(&expects(18)), None);
    // What nobody knows is expected to be as long as what was, and must be twice what pays.
    let long = Made { requests: 37, ..made };
    assert_eq!(
        outlook(&long).sentence(),
        "Hand off: with 200,000 tokens of context a fresh session is cheaper after 19 more requests, and 37 made the present \
         context; handoff and fresh start cost $0.56."
    );
    assert_eq!(trigger(&outlook(&Made { requests: 36, ..made })), None);
    assert_eq!(
        outlook(&made).sentence(),
        "Stay for now: handoff and fresh start cost $0.56 and pay after 19 more requests, and that so many follow is not sure \
         enough, as 20 made the present context; before a pause of more than 1 hour a handoff saves $1.04."
    );
    // Reading its cache is so cheap that staying pays for longer.
    assert_eq!(trigger(&outlook(&Made { model: "claude-fable-5-2", ..long })), None);
}

#[test]
fn half_of_a_window_is_a_reason_for_small_windows_only() {
    let small = Made { model: "claude-sonnet-4-6", context: 101_000, requests: 3, ..CALM };
    assert_eq!(trigger(&outlook(&small)), Some(Trigger::HalfWindow));
    assert_eq!(
        outlook(&small).sentence(),
        "Hand off at the next good point: 101,000 of 200,000 tokens are used, more than half of a small window; handoff and \
         fresh start cost $0.42; staying is cheaper, as they pay only after 26 more requests, and 3 made the present context: \
         it is worth it only so that no compaction comes in the middle of the work."
    );
    let plan = Plan { requests: Some(26), ..Plan::default() };
    let paying = Outlook::planned(&small.session(), &built_in(), noon(), plan);
    assert!(!paying.sentence().contains("staying is cheaper"), "{}", paying.sentence());
    assert_eq!(trigger(&outlook(&Made { context: 99_000, ..small })), None);
    let large = Made { model: "claude-opus-5-5", context: 520_000, requests: 3, ..CALM };
    assert_eq!(trigger(&outlook(&large)), None, "half of a million");
}

#[test]
fn a_name_with_the_mark_of_the_long_window_has_that_window() {
    let marked = outlook(&Made { model: "claude-sonnet-4-6[1m]", context: 170_000, requests: 3, ..CALM });
    assert_eq!(marked.window.map(|window| window.tokens), Some(1_000_000));
    assert_eq!(trigger(&marked), None, "{}", marked.sentence());
    let dated = outlook(&Made { model: "claude-sonnet-4-6-20261101", context: 170_000, requests: 3, ..CALM });
    assert_eq!(dated.window.map(|window| window.tokens), Some(200_000));
}

#[test]
fn what_costs_nothing_is_told_as_it_is() {
    let own = r#"
        [[model]]
        names = ["free-model"]
        price = [
            { input = 0.0, output = 0.0, cache_read = 0.0, cache_write = 0.0 },
            { above_tokens = 272_000, input = 1.0, output = 0.0, cache_read = 0.5, cache_write = 1.0 },
        ]
    "#;
    let prices = built_in().with("own.toml", own).expect("a table");
    let session = Made { model: "free-model", context: 200_000, ..CALM }.session();
    let outlook = Outlook::of(&session, &prices, noon());
    assert_eq!(
        outlook.sentence(),
        "Stay, it is cheaper: by these prices to read 200,000 tokens again costs no more than the 45,000 or so that a fresh \
         session starts with."
    );
    assert_eq!((outlook.steps[0].input_factor, outlook.steps[0].output_factor), (None, Some(1.0)));
    assert!(!outlook.cost.is_unknown() && outlook.cost.usd == 0.0, "zero is a price: {:?}", outlook.cost);
}

#[test]
fn without_a_price_the_window_still_counts_and_money_is_not_named() {
    let mut session = Made { model: "unheard-of", context: 150_000, requests: 3, ..CALM }.session();
    let unknown = Outlook::of(&session, &built_in(), noon());
    assert_eq!(unknown.next, None);
    assert_eq!(trigger(&unknown), None);
    assert!(unknown.sentence().contains("price of the model is unknown"), "{}", unknown.sentence());
    session.window_tokens = Some(258_400);
    let told = Outlook::of(&session, &built_in(), noon());
    assert_eq!(trigger(&told), Some(Trigger::HalfWindow));
    assert!(!told.sentence().contains('$'), "{}", told.sentence());
}

#[test]
fn an_empty_session_has_nothing_to_weigh() {
    let outlook = Outlook::of(&heyaira::economics::Session::default(), &built_in(), noon());
    assert_eq!(trigger(&outlook), None);
    assert_eq!(
        outlook.sentence(),
        "Nothing to weigh yet: no request since the start, or since the last compaction, tells the context."
    );
}
