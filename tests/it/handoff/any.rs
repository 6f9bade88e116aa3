//! Any text at all: the rules never fail, tell one line each, and take time in proportion to its length.

use std::time::{Duration, Instant};

use heyaira::domain::handoff::document;
use heyaira::domain::hidden::{find, shown};
use proptest::prelude::*;
use serde_json::json;

use super::judged::{SESSION, good, judged};
use crate::house::merged;

/// Pieces that the rules look for, to be put together in any order.
const PIECES: [&str; 40] = [
    "\n",
    "\n\n",
    "# ",
    "- ",
    "> ",
    "```",
    "```sh\n",
    "`",
    "| a | b |\n| --- | --- |\n",
    "    ",
    "1. ",
    "**",
    "cargo test -p x",
    "148 passed",
    "Previous session: ",
    "claude-code:1",
    "acme/ledger",
    "https://",
    "#412",
    "feat/x",
    "branch ",
    "head ",
    "9f3b2d1",
    "m-b7f03c1e",
    "Deployed: ",
    "nothing",
    "not run",
    "テスト",
    "なし",
    "User: ",
    "Assistant: ",
    "\u{200b}",
    "\u{202e}",
    "\u{1f3f4}\u{e0067}",
    "<x>",
    "\r\n",
    "---\n",
    "git switch ",
    "; ",
    ": ",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn no_text_fails(text in "\\PC{0,200}", other in any::<String>(), pieces in prop::collection::vec(0..PIECES.len(), 0..60)) {
        let built: String = pieces.into_iter().map(|piece| PIECES[piece]).collect();
        for text in [text, other, built] {
            let fields = json!({
                "summary": text, "title": text, "handoff_next": text, "handoff_completed": text, "handoff_blockers": text,
                "status": "blocked", "work_receipt": {"session_ref": text, "branch": text, "result_commit": text, "tests": text},
                "language": "en",
            });
            for finding in judged(&fields).findings {
                prop_assert!(!finding.fix.contains('\n') && !finding.fix.is_empty(), "{finding:?}");
                prop_assert!(finding.fix.chars().count() < 800, "{finding:?}");
            }
            let content = document(&text);
            prop_assert_eq!(
                content.handoff_next.matches('\n').count(), content.handoff_completed.matches('\n').count(), "lines keep their numbers"
            );
            let escaped = shown(&text);
            prop_assert!(find(&escaped).is_empty(), "what is shown hides nothing: {escaped:?}");
        }
    }
}

fn time(text: &str) -> Duration {
    let fields = json!({
        "handoff_completed": text, "handoff_next": format!("{text}\nPrevious session: {SESSION}"), "handoff_blockers": text,
        "status": "blocked", "memories": {},
    });
    let fields = merged(good(), fields);
    let start = Instant::now();
    let found = judged(&fields);
    drop(found);
    start.elapsed()
}

#[test]
fn the_time_grows_with_the_length_and_no_faster() {
    judged(&good());
    for piece in [
        "a/b c/d ",
        "9f3b2d1 ",
        "`x` ",
        "cargo test x passes\n",
        "m-b7f03c1e ",
        "branch feat/x ",
        "あ",
        "> ",
        "- x\n",
        "; ",
        "tests pass so it is deployed ",
        "`x`. so ",
    ] {
        let (short, long) = (piece.repeat(2_000 / piece.len()), piece.repeat(16_000 / piece.len()));
        // The best of two: other tests run beside this one.
        let best = |text: &str| (0..2).map(|_| time(text)).min().unwrap_or_default();
        let (few, many) = (best(&short), best(&long));
        // Eight times the length; a quadratic rule would take sixty-four times as long.
        assert!(many < few * 30 + Duration::from_millis(100), "{piece:?}: {few:?} for 2 KB, {many:?} for 16 KB");
    }
}
