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
        "Start fresh from the saved handoff: the cache expired 1 minute ago, so the next request here sends 200,000 tokens \
         again ($1.61), and a fresh session starts at $0.36."
    );
    let small = Outlook::of(&CALM.session(), &built_in(), later);
    assert_eq!(trigger(&small), None);
    let warm =
        Outlook::of(&Made { context: 200_000, requests: 10, ..CALM }.session(), &built_in(), noon().plus_minutes(60));
    assert_ne!(trigger(&warm), Some(Trigger::CacheExpired));
}

#[test]
fn a_pause_that_the_cache_does_not_outlive_is_a_reason() {
    let made = Made { context: 120_000, requests: 10, ..CALM };
    let planned = |made: &Made, minutes: u64| {
        let plan = Plan { pause_seconds: Some(minutes * 60), requests: None };
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
    let plan = Plan { requests: Some(2), pause_seconds: None };
    let last = Outlook::planned(&gpt.session(), &built_in(), noon(), plan);
    assert_eq!(trigger(&last), None, "two requests are not worth a handoff: {}", last.sentence());
}

#[test]
fn more_requests_than_the_break_even_are_a_reason_and_fewer_are_none() {
    let made = Made { context: 200_000, ..CALM };
    let expects = |requests| {
        Outlook::planned(&made.session(), &built_in(), noon(), Plan { requests: Some(requests), pause_seconds: None })
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
    assert_eq!(trigger(&outlook(&Made { context: 99_000, ..small })), None);
    let large = Made { model: "claude-opus-5-5", context: 520_000, requests: 3, ..CALM };
    assert_eq!(trigger(&outlook(&large)), None, "half of a million");
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
