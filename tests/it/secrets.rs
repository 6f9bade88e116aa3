//! Secrets: what is found, what is left alone, and that no part of the program keeps or repeats one.

mod everywhere;
mod fields;
pub mod set;

use heyaira::domain::secret::{masked, scan};

use self::set::{Case, Set, drawn};
use crate::dice::Dice;

/// The seed of the labelled set; `HEYAIRA_SECRETS_SEED` takes another.
const SEED: u64 = 2026;
/// How much of each file must be found.
const RECALL: f64 = 0.95;

fn sets() -> Vec<Set> {
    let seed = std::env::var("HEYAIRA_SECRETS_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(SEED);
    set::all(seed)
}

fn is_found(case: &Case) -> bool {
    let Some((place, sort)) = &case.secret else { return scan(&case.text).is_empty() };
    let found = scan(&case.text);
    let covers = |range: &std::ops::Range<usize>| range.start <= place.start && range.end >= place.end;
    found.iter().any(|one| covers(&one.range) && (sort == "*" || one.sort == sort))
        && !masked(&case.text).contains(&case.text[place.clone()])
}

/// Shows a text without making a log of secrets of it: where it is from, and what was found.
fn told(set: &Set, case: &Case) -> String {
    let found: Vec<_> = scan(&case.text).into_iter().map(|one| (one.sort, one.range)).collect();
    format!("{} line {}: {:?}, found {found:?} in {:?}", set.name, case.line, case.secret, case.text)
}

#[test]
fn the_labelled_set_is_told_apart() {
    let mut failures = Vec::new();
    for set in sets() {
        let (with, without): (Vec<&Case>, Vec<&Case>) = set.cases.iter().partition(|case| case.secret.is_some());
        let missed: Vec<&Case> = with.iter().copied().filter(|case| !is_found(case)).collect();
        let wrong: Vec<&Case> = without.iter().copied().filter(|case| !is_found(case)).collect();
        let hits = u32::try_from(with.len() - missed.len()).expect("few");
        let recall = f64::from(hits) / f64::from(u32::try_from(with.len().max(1)).expect("few"));
        println!(
            "{}: {} kinds, {hits} of {} secrets found (recall {recall:.4}), {} of {} other texts found by mistake",
            set.name,
            set.kinds,
            with.len(),
            wrong.len(),
            without.len()
        );
        for case in missed.iter().chain(&wrong).take(40) {
            println!("{}", told(&set, case));
        }
        if (!with.is_empty() && recall < RECALL) || !wrong.is_empty() {
            failures.push(set.name.clone());
        }
    }
    assert!(failures.is_empty(), "{failures:?}");
}

/// What the set must have, so that its figures mean something.
#[test]
fn the_labelled_set_is_large() {
    let sets = sets();
    let own = sets.iter().find(|set| set.name == "own.cases").expect("our own");
    let with = own.cases.iter().filter(|case| case.secret.is_some()).count();
    assert!(own.kinds >= 30 && with >= 200 && own.cases.len() - with >= 2_000, "{} {with}", own.kinds);
}

/// What is refused whatever a project says must not hang on luck: no token and no pin looks as if it stood for one,
/// whatever was written behind it.
#[test]
fn every_token_and_write_context_of_ours_is_found() {
    let mut dice = Dice::new(SEED);
    for number in 0..20_000 {
        let token = drawn("token", &mut dice);
        let context = drawn("write-context", &mut dice);
        for text in [&token, &format!("{token}-example-xxxxxxxxxxxxxxxx"), &context, &format!("{context}xxxxxxxxxxxx")]
        {
            let found = scan(text);
            assert!(found.len() == 1 && found[0].is_own && found[0].range == (0..text.len()), "{number} of {SEED}");
        }
    }
}
