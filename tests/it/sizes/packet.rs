//! The resume packet: small for the typical task, and no larger after a long history.

use serde_json::{Value, json};

use crate::ground::{Ground, merge, rows, text};
use crate::sizes::tokens;

/// The most tokens of a typical resume: identity and packet.
const RESUME_TOKENS: usize = 1_500;
/// How many bytes longer numbers and ages may make a packet of the same texts.
const DIGITS: usize = 48;

const NEXT: &str = "git switch feat/webhook-retries && cargo test -p delivery backoff::jitter   # 1 test is ignored: un-ignore and make it pass
Then crates/delivery/src/backoff.rs, fn next_attempt (line 141): cap the delay at 6 h, see the issue's table of customer time-outs.
3. Replay the 31 deliveries that stayed in the dead-letter table on staging: cargo run -p ops -- replay --since 2026-11-20.
4. Measure: cargo bench -p delivery queue; the aim is 2,000 deliveries/s with 8 workers, last run 1,640.
5. When green: mark PR #288 ready and ask Ines for the review of the signature change.
Decisions that hold: {decision} (at-least-once, receivers deduplicate), {other} (signatures are HMAC-SHA-256 over the raw body).
Do not touch the old /hooks endpoint: it goes away with task 51c0aa97.
Previous session: claude-code:5c1d7e42-90ab-4f36-b1d7-6a2c8e9f0b34";

const COMPLETED: &str =
    "Repository acme/courier, branch feat/webhook-retries, PR #288 (draft), base 7be1c02, head 1d94f6e.
Prepared: retry queue in crates/delivery/src/queue.rs (claim, back-off, dead letters); the sender is untouched.
Prepared: migration 0017_delivery_attempt.sql (table delivery_attempt, unique key delivery_id + attempt).
Prepared: GET /v1/deliveries behind the flag DELIVERY_LOG, documented in docs/api/deliveries.md.
Tested: cargo test -p delivery: 96 passed, 0 failed, 1 ignored; cargo test -p api deliveries: 18 passed, 0 failed.
Tested: 4,000 deliveries against a receiver that fails every third time; each arrived once after de-duplication.
Tested by hand: a receiver that answers 410 is disabled after one attempt and listed on the status page.
Not run: cargo test --workspace (needs the broker, which is down until Thursday), the soak test over night.
Deployed: staging only, 1d94f6e, 24 Nov 15:20 UTC, flag on for the tenant pilot-2.
Verified in production: nothing. The flag is off there and the migration has not run.
Agreed with Ines: receivers see the header X-Delivery-Attempt from 1 on; no other header changes.";

const CRITERIA: &str = "- [x] failed deliveries are tried again with growing delays
- [x] no delivery is lost when a worker is killed
- [ ] the 31 dead letters on staging are delivered";
const REVIEWS: &str = "- [x] Tomas: migration
- [ ] Ines: signature change";
const SESSION: &str = "claude-code:5c1d7e42-90ab-4f36-b1d7-6a2c8e9f0b34";

fn receipt() -> Value {
    json!({
        "session_ref": SESSION,
        "harness": "claude-code 2.1.332",
        "model": "claude-opus-5-5",
        "branch": "feat/webhook-retries",
        "base_commit": "7be1c02",
        "result_commit": "1d94f6e",
        "tests": "cargo test -p delivery: 96 passed, 1 ignored; cargo test -p api deliveries: 18 passed; workspace not run",
        "completed_work": "Retry queue, dead letters, delivery log behind a flag.",
        "next_step": "Cap the delay, replay the dead letters, measure.",
        "blockers": "none",
    })
}

/// A task taken over and handed off, after so many versions and receipts, in a project with so many memories.
struct History {
    versions: i64,
    receipts: i64,
    memories: usize,
}

impl History {
    /// Makes the task; answers its id and the version of the handoff.
    fn make(&self, ground: &Ground) -> (String, i64) {
        let task_id = ground.task(json!({
            "title": "Retry failed webhook deliveries",
            "summary": "Deliveries that fail are lost.",
            "priority": 1,
            "tags": ["delivery"],
            "description": "Customers lose events when their receivers are down for minutes.",
            "completion_criteria": CRITERIA,
            "required_reviews": REVIEWS,
        }));
        let mut named = Vec::new();
        for number in 0..self.memories {
            let summary = match number {
                0 => "Delivery is at least once; receivers deduplicate by delivery id.".to_owned(),
                1 => "Signatures are HMAC-SHA-256 over the raw body; the key is the tenant's newest one.".to_owned(),
                _ => format!("Attempt {number} at the back-off curve was too steep for slow receivers."),
            };
            let kept = ground.ask("memory_add", json!({"kind": "decision", "summary": summary, "task_id": task_id}));
            named.push(text(&kept["id"]));
        }
        ground.ask("task_takeover", json!({"task_id": task_id, "expected_version": 1, "session_ref": SESSION}));
        for version in 2..self.versions - 1 {
            ground.wait_minutes(9);
            let mut change =
                json!({"task_id": task_id, "expected_version": version, "summary": format!("Step {version} is done.")});
            if version <= self.receipts {
                merge(&mut change, json!({"work_receipt": receipt()}));
            }
            ground.ask("task_update", change);
        }
        let next = NEXT.replace("{decision}", &named[0]).replace("{other}", &named[1]);
        let handed_off = ground.ask("task_update", json!({
            "task_id": task_id,
            "expected_version": self.versions - 1,
            "summary": "Retries work on staging for 3,969 of 4,000 deliveries; the delay cap and 31 dead letters are open.",
            "work_receipt": receipt(),
            "handoff_next": next,
            "handoff_completed": COMPLETED,
        }));
        assert_eq!(handed_off["version"], self.versions);
        (task_id, self.versions)
    }
}

const SHORT: History = History { versions: 3, receipts: 0, memories: 2 };
const LONG: History = History { versions: 60, receipts: 41, memories: 25 };

fn packet(ground: &Ground, task_id: &str, version: i64) -> Value {
    ground.wait_minutes(14 * 60);
    ground.ask("continuity_context", json!({"handoff": format!("handoff: {} v{version}", &task_id[..8])}))
}

/// Two small changes by a person, so that the packet has to say what moved.
fn move_on(ground: &Ground, task_id: &str) {
    ground.update(task_id, json!({"priority": 0}));
    ground.update(task_id, json!({"tags": ["delivery", "pilot"]}));
}

#[test]
fn a_typical_resume_fits_its_budget() {
    let ground = Ground::new();
    let (task_id, version) = SHORT.make(&ground);
    move_on(&ground, &task_id);
    let packet = packet(&ground, &task_id, version);
    assert_eq!(packet["moved"]["to"], version + 2);
    assert_eq!(rows(&packet["memories"]).len(), 2);
    assert!(packet.get("cut").is_none(), "a typical packet is whole: {packet}");
    let identity = ground.ask("server_identity", json!({}));
    let (one, other) = (tokens(&identity.to_string()), tokens(&packet.to_string()));
    println!("{one} + {other} = {} tokens  server_identity + continuity_context", one + other);
    assert!(one + other <= RESUME_TOKENS, "{one} + {other} tokens, at most {RESUME_TOKENS}");
}

#[test]
fn the_packet_does_not_grow_with_the_history() {
    for moved in [false, true] {
        let sizes = [SHORT, LONG].map(|history| {
            let ground = Ground::new();
            let (task_id, version) = history.make(&ground);
            if moved {
                move_on(&ground, &task_id);
            }
            packet(&ground, &task_id, version).to_string().len()
        });
        println!("{} bytes after 3 versions, {} after 60 with 40 receipts and 25 memories", sizes[0], sizes[1]);
        assert!(sizes[0].abs_diff(sizes[1]) <= DIGITS, "{sizes:?}");
    }
}

#[test]
fn a_line_from_long_ago_brings_the_last_three_changes_only() {
    let ground = Ground::new();
    let (task_id, _) = LONG.make(&ground);
    let packet = packet(&ground, &task_id, 2);
    assert_eq!(rows(&packet["moved"]["changes"]).len(), 3);
    assert_eq!(packet["moved"]["earlier"], 55);
    assert!(tokens(&packet.to_string()) <= RESUME_TOKENS);
}
