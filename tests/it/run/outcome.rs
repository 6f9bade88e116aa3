//! From what was seen to how it ended: the order of the outcomes.

use heyaira::domain::run::outcome::{Ending, Seen, decide};
use heyaira::domain::run::{Exit, Outcome, Test};

fn exited(code: i64) -> Exit {
    Exit { code: Some(code), signal: None }
}

fn test(code: i64) -> Test {
    Test { command: "make test".to_owned(), exit: exited(code), ..Test::default() }
}

#[test]
fn the_first_that_holds_is_the_outcome() {
    let well = Seen {
        ending: &Ending::Own,
        exit: exited(0),
        model_failed: false,
        is_complete: true,
        error: None,
        is_work: Some(true),
        tests: &[],
    };
    let (passed, failed) = ([test(0)], [test(0), test(1)]);
    let late = [Test { timed_out: true, ..test(0) }];
    let killed = Exit { code: None, signal: Some(9) };
    let (stopped, over) = (Ending::Interrupted("Stopped.".to_owned()), Ending::OverBudget("Over.".to_owned()));
    let absent = Ending::NotStarted("gone".to_owned());
    let rows = [
        ("work", well, Outcome::Succeeded),
        ("work that passed", Seen { tests: &passed, ..well }, Outcome::Succeeded),
        ("work that failed a test", Seen { tests: &failed, ..well }, Outcome::TestsFailed),
        ("a test that took too long", Seen { tests: &late, ..well }, Outcome::TestsFailed),
        ("no work", Seen { is_work: Some(false), tests: &failed, ..well }, Outcome::NoWork),
        ("nobody knows whether there is work", Seen { is_work: None, ..well }, Outcome::Failed),
        ("an exit code", Seen { exit: exited(2), is_work: Some(false), ..well }, Outcome::Failed),
        ("a signal", Seen { exit: killed, is_complete: false, ..well }, Outcome::Failed),
        ("no end", Seen { is_complete: false, ..well }, Outcome::HarnessError),
        ("an exit code without an end", Seen { is_complete: false, exit: exited(1), ..well }, Outcome::HarnessError),
        ("a model that failed", Seen { model_failed: true, ..well }, Outcome::HarnessError),
        ("a model that failed, and a signal", Seen { model_failed: true, exit: killed, ..well }, Outcome::HarnessError),
        ("no start", Seen { ending: &absent, ..well }, Outcome::HarnessError),
        ("too long", Seen { ending: &Ending::TimedOut(1_000), model_failed: true, ..well }, Outcome::TimedOut),
        ("silence", Seen { ending: &Ending::Silent(1_000), exit: killed, ..well }, Outcome::Silent),
        ("too dear", Seen { ending: &over, is_work: Some(false), ..well }, Outcome::OverBudget),
        ("stopped", Seen { ending: &stopped, tests: &failed, ..well }, Outcome::Interrupted),
    ];
    for (name, seen, wanted) in rows {
        let (outcome, reason) = decide(&seen);
        assert_eq!(outcome, wanted, "{name}: {reason}");
        assert!(reason.ends_with('.') && !reason.ends_with(".."), "{name}: {reason}");
    }
}
