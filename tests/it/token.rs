//! Tokens: made, listed, revoked and rotated, what they open, and that no byte on disk holds one.

use std::path::Path;

use heyaira::domain::token::{Role, Secret, hash};
use heyaira::error::Code;
use heyaira::operation::Door;
use heyaira::store::backend::work;
use heyaira::store::token::{Credential, find};
use serde_json::{Value, json};

use crate::house::{House, moment, pinned, rows, text};
use crate::program::{Answer, Place};

/// Makes a token and answers its secret.
#[track_caller]
fn created(house: &House, arguments: Value) -> String {
    text(&house.owner().ok("token_create", arguments)["token"]).to_owned()
}

/// What a token opens at that moment.
fn opened(house: &House, token: &str, at: &str) -> Option<Credential> {
    let (hash, now) = (hash(token), moment(at));
    house.read(work(move |transaction| Box::pin(async move { find(transaction, &hash, now).await })))
}

/// Half an hour after the clock of a house starts.
const SOON: &str = "2026-11-25T08:30:00Z";

fn credential(name: &str, project: Option<&str>, role: Role) -> Credential {
    // The projects of a house are numbered as they are made, and `ledger` is its first.
    let project_id = project.map(|slug| if slug == "ledger" { 1 } else { 2 });
    Credential { name: name.to_owned(), project: project.map(str::to_owned), project_id, role }
}

fn listed(house: &House, name: &str) -> Value {
    let list = house.owner().ok("token_list", json!({}));
    let found = rows(&list["tokens"]).iter().find(|row| row["name"] == name);
    found.unwrap_or_else(|| panic!("{name} is not in {list}")).clone()
}

#[test]
fn a_token_is_handed_out_once_and_opens_its_project() {
    let house = House::new();
    let answer = house.owner().ok("token_create", json!({"name": "ci", "project": "ledger"}));
    let token = text(&answer["token"]);
    let body = token.strip_prefix("hya_").expect("the prefix");
    assert!(body.len() == 43 && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)));
    assert!(text(&answer["note"]).starts_with("The token is not shown again"), "{answer}");
    let row = json!({
        "name": "ci", "project": "ledger", "role": "write", "created": "2026-11-25T08:00:00Z", "created_by": "owner",
        "expires": null, "state": "active",
    });
    let list = house.owner().ok("token_list", json!({}));
    assert_eq!(list, json!({"total": 1, "shown": 1, "tokens": [row]}));
    assert_eq!(opened(&house, token, SOON), Some(credential("ci", Some("ledger"), Role::Write)));
    assert_eq!(opened(&house, token, "9999-01-01T00:00:00Z"), Some(credential("ci", Some("ledger"), Role::Write)));
    for other in ["", "hya_", &token[..46], &format!("{token}A"), &token.to_uppercase()] {
        assert_eq!(opened(&house, other, SOON), None, "{other}");
    }
}

#[test]
fn a_token_of_all_projects_is_told_from_one_of_a_project_named_all() {
    let house = House::new();
    house.add_project("all");
    let every = created(&house, json!({"name": "every", "all_projects": true, "role": "read"}));
    let one = created(&house, json!({"name": "one", "project": "all", "role": "admin"}));
    assert_ne!(every, one);
    assert_eq!(opened(&house, &every, SOON), Some(credential("every", None, Role::Read)));
    assert_eq!(opened(&house, &one, SOON), Some(credential("one", Some("all"), Role::Admin)));
    let (every, one) = (listed(&house, "every"), listed(&house, "one"));
    assert_eq!((&every["projects"], every.get("project")), (&json!("all"), None));
    assert_eq!((&one["project"], one.get("projects")), (&json!("all"), None));
}

#[test]
fn neither_and_both_of_project_and_all_are_told_with_every_other_problem() {
    let house = House::new();
    let owner = house.owner();
    let neither = json!({"name": " ci", "role": "root", "expires": "soon"});
    let parts = [
        "4 problems",
        "name",
        "role",
        "expires",
        "--project NAME or --all-projects is missing",
        "Nothing was written.",
    ];
    owner.refused("token_create", neither, Code::InvalidArgument, &parts);
    let both = json!({"project": "ledger", "all_projects": true});
    let parts = ["2 problems", "name is missing", "--project and --all-projects are both given"];
    owner.refused("token_create", both, Code::InvalidArgument, &parts);
    let not_all = json!({"name": "ci", "all_projects": false});
    owner.refused("token_create", not_all, Code::InvalidArgument, &["--project NAME or --all-projects is missing"]);
    let not_all = json!({"name": "ci", "project": "ledger", "all_projects": false});
    owner.ok("token_create", not_all);
    let unknown = json!({"name": "other", "project": "nowhere"});
    owner.refused("token_create", unknown, Code::NotFound, &["nowhere", "heyaira project list"]);
    // A shell variable that is not set must not become a default.
    for field in ["project", "role", "expires"] {
        let mut arguments = json!({"name": "other", "all_projects": true});
        arguments[field] = json!("");
        owner.refused("token_create", arguments, Code::InvalidArgument, &[field, "empty"]);
    }
    assert_eq!(owner.ok("token_list", json!({}))["total"], 1);
}

#[test]
fn a_name_has_its_form_and_is_given_once_for_ever() {
    let house = House::new();
    let owner = house.owner();
    let arguments = |name: &str| json!({"name": name, "project": "ledger"});
    for name in ["", " ", " ci", "ci ", "c\ni", "c\u{7}i", &"a".repeat(65)] {
        owner.refused("token_create", arguments(name), Code::InvalidArgument, &["name"]);
    }
    // Two names that look alike, and the caller of a server that asks for no token.
    for name in
        ["c\u{200b}i", "ci\u{200d}", "c\u{200c}i", "\u{202e}ic", "c\u{ad}i", "\u{feff}ci", "ci\u{fe0f}", "c\u{3164}i"]
    {
        let told = owner.refused("token_create", arguments(name), Code::InvalidArgument, &["name", "cannot be seen"]);
        assert!(told.is_ascii(), "what cannot be seen is written out: {told}");
    }
    owner.refused("token_create", arguments("anonymous"), Code::InvalidArgument, &["name", "anonymous"]);
    owner.refused("token_create", arguments("Anonymous"), Code::InvalidArgument, &["name", "Anonymous"]);
    for name in ["ci", "CI", "c i", "会計", &"ä".repeat(64)] {
        owner.ok("token_create", arguments(name));
    }
    owner.refused("token_create", arguments("ci"), Code::NotAllowed, &["\"ci\" already", "heyaira token rotate NAME"]);
    owner.ok("token_revoke", json!({"name": "ci"}));
    let told =
        owner.refused("token_create", arguments("ci"), Code::NotAllowed, &["already, revoked", "Choose another"]);
    assert!(!told.contains("rotate"), "{told}");
    assert_eq!(owner.ok("token_list", json!({}))["total"], 5);
}

#[test]
fn an_expiry_is_a_duration_or_a_time_ahead() {
    let house = House::new();
    let owner = house.owner();
    let arguments = |name: &str, expires: &str| json!({"name": name, "all_projects": true, "expires": expires});
    let lawful = [
        ("30d", "2026-12-25T08:00:00Z"),
        ("12h", "2026-11-25T20:00:00Z"),
        ("90m", "2026-11-25T09:30:00Z"),
        ("2027-01-31T18:00:00Z", "2027-01-31T18:00:00Z"),
        ("2027-01-31T18:00:00+09:00", "2027-01-31T09:00:00Z"),
    ];
    for (given, expires) in lawful {
        assert_eq!(owner.ok("token_create", arguments(given, given))["expires"], expires, "{given}");
    }
    let wrong = [
        "0d",
        "d",
        "-1d",
        "+1d",
        "1.5h",
        "1w",
        "30",
        "30 d",
        "1h30m",
        "soon",
        "2027-01-31",
        "99999999999d",
        "2027-01-31T18:00:00",
        "2027-01-31T18:00:00Z[Asia/Tokyo]",
    ];
    for given in wrong {
        owner.refused("token_create", arguments("no", given), Code::InvalidArgument, &["expires", given, "30d"]);
    }
    for past in ["2026-11-25T08:00:00Z", "2020-01-01T00:00:00Z"] {
        owner.refused("token_create", arguments("no", past), Code::InvalidArgument, &["not in the future", past]);
    }
    owner.refused("token_create", arguments("no", "4000000000d"), Code::InvalidArgument, &["year 9999"]);
}

#[test]
fn an_expired_token_opens_nothing_from_its_very_moment_on() {
    let house = House::new();
    let token = created(&house, json!({"name": "ci", "project": "ledger", "expires": "90m"}));
    assert!(opened(&house, &token, "2026-11-25T09:29:59Z").is_some());
    assert_eq!(opened(&house, &token, "2026-11-25T09:30:00Z"), None);
    house.pass_minutes(89);
    assert_eq!(listed(&house, "ci")["state"], "active");
    house.pass_minutes(1);
    assert_eq!(listed(&house, "ci")["state"], "expired");
}

#[test]
fn a_revoked_token_opens_nothing_and_revoking_again_says_so() {
    let house = House::new();
    let token = created(&house, json!({"name": "ci", "project": "ledger"}));
    let kept = created(&house, json!({"name": "kept", "project": "ledger"}));
    let first = house.owner().ok("token_revoke", json!({"name": "ci"}));
    assert_eq!((&first["state"], &first["note"]), (&json!("revoked"), &json!("It is refused from now on.")));
    assert_eq!(opened(&house, &token, SOON), None);
    assert!(opened(&house, &kept, SOON).is_some());
    house.pass_minutes(5);
    let second = house.owner().ok("token_revoke", json!({"name": "ci"}));
    assert_eq!(second["revoked"], "2026-11-25T08:00:00Z");
    assert_eq!(second["note"], "It was revoked before: nothing was changed.");
    assert_eq!(listed(&house, "ci")["state"], "revoked");
    let unknown = json!({"name": "nobody"});
    house.owner().refused("token_revoke", unknown, Code::NotFound, &["\"nobody\"", "heyaira token list"]);
}

#[test]
fn rotating_keeps_everything_but_the_secret() {
    let house = House::new();
    let owner = house.owner();
    let arguments = json!({"name": "ci", "project": "ledger", "role": "read", "expires": "12h"});
    let old = created(&house, arguments);
    let before = listed(&house, "ci");
    house.pass_minutes(10);
    let rotated = owner.ok("token_rotate", json!({"name": "ci"}));
    let new = text(&rotated["token"]);
    assert_eq!(listed(&house, "ci"), before);
    assert_eq!(opened(&house, &old, SOON), None);
    assert_eq!(opened(&house, new, SOON), Some(credential("ci", Some("ledger"), Role::Read)));
    assert_eq!(owner.ok("token_rotate", json!({"name": "ci", "expires": "24h"}))["expires"], "2026-11-26T08:10:00Z");
    house.pass_hours(24);
    let parts = ["has expired", "--expires 30d", "Nothing was written."];
    owner.refused("token_rotate", json!({"name": "ci"}), Code::NotAllowed, &parts);
    owner.ok("token_rotate", json!({"name": "ci", "expires": "1h"}));
    owner.ok("token_revoke", json!({"name": "ci"}));
    let again = json!({"name": "ci", "expires": "1h"});
    owner.refused("token_rotate", again, Code::NotAllowed, &["is revoked", "heyaira token create"]);
    owner.refused("token_rotate", json!({"name": "nobody"}), Code::NotFound, &["heyaira token list"]);
}

#[test]
fn a_purge_removes_the_tokens_of_its_project_alone() {
    let house = House::new();
    house.add_project("other");
    let gone = created(&house, json!({"name": "gone", "project": "other"}));
    let kept = created(&house, json!({"name": "kept", "project": "ledger"}));
    let every = created(&house, json!({"name": "every", "all_projects": true}));
    house.owner().ok("project_purge", json!({"project": "other", "confirm": "other"}));
    // The next project gets the number of the purged one.
    house.add_project("next");
    assert_eq!(opened(&house, &gone, SOON), None);
    assert!(opened(&house, &kept, SOON).is_some() && opened(&house, &every, SOON).is_some());
    assert_eq!(house.owner().ok("token_list", json!({}))["total"], 2);
}

#[test]
fn a_token_whose_project_is_missing_opens_nothing() {
    let house = House::new();
    let token = created(&house, json!({"name": "ci", "project": "ledger"}));
    house.database().damage("delete from project");
    assert_eq!(opened(&house, &token, SOON), None);
}

#[test]
fn tokens_are_for_the_owner_of_the_instance() {
    let house = House::new();
    created(&house, json!({"name": "ci", "project": "ledger"}));
    let calls = [
        ("token_create", json!({"name": "mine", "all_projects": true})),
        ("token_list", json!({})),
        ("token_revoke", json!({"name": "ci"})),
        ("token_rotate", json!({"name": "ci"})),
    ];
    for (name, arguments) in calls {
        let agent = house.connected(Ok(pinned("ledger")), "maria", Role::Write, Door::Stdio);
        agent.refused(name, arguments, Code::Forbidden, &["admin", "write"]);
    }
    assert_eq!(listed(&house, "ci")["state"], "active");
}

#[test]
fn no_text_takes_a_token_not_even_those_of_the_token_operations() {
    let house = House::new();
    let token = created(&house, json!({"name": "ci", "project": "ledger"}));
    let owner = house.owner();
    let calls = [
        ("token_create", json!({"name": token, "project": "ledger"})),
        ("token_create", json!({"name": "x", "project": token})),
        ("token_create", json!({"name": "x", "all_projects": true, "expires": token})),
        ("token_create", json!({"name": "x", "all_projects": true, "role": token})),
        ("token_list", json!({"name": token})),
        ("token_revoke", json!({"name": token})),
        ("token_rotate", json!({"name": token})),
    ];
    for (name, arguments) in calls {
        let told = owner.refused(name, arguments, Code::SecretRefused, &["a HeyAira token"]);
        assert!(!told.contains(&token[4..]), "{told}");
    }
    let context = json!({"name": house.write_context("ledger"), "project": "ledger"});
    owner.refused("token_create", context, Code::SecretRefused, &["write_context"]);
    let title = json!({"title": format!("use {token}"), "summary": "s"});
    house.client("maria").refused("task_create", title, Code::SecretRefused, &["title"]);
}

#[test]
fn a_secret_does_not_show_itself() {
    let secret = Secret::of([7; 32]);
    assert_eq!(secret.reveal(), "hya_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc");
    assert_eq!(format!("{secret:?} {secret:#?}"), "Secret(…) Secret(…)");
    assert_eq!(secret.hash(), hash(secret.reveal()));
}

/// All bytes of the files in a folder, the write-ahead log of a database among them.
fn bytes_below(folder: &Path) -> Vec<u8> {
    let files = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    files.filter(|path| path.is_file()).flat_map(|path| std::fs::read(path).expect("a file")).collect()
}

fn holds(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// Fails if the bytes hold a token in any form but its hash.
#[track_caller]
fn assert_only_hashed(bytes: &[u8], token: &str) {
    use base64::Engine as _;
    let body = &token["hya_".len()..];
    let random = base64::prelude::BASE64_URL_SAFE_NO_PAD.decode(body).expect("base64url");
    let hexadecimal: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(holds(bytes, &hash(token)), "the hash is not where the secret is looked for");
    for form in [body.as_bytes(), &random, hexadecimal.as_bytes()] {
        assert!(!holds(bytes, form), "the secret is on disk");
    }
}

#[test]
fn no_byte_on_disk_holds_a_secret() {
    let house = House::new();
    let folder = house.database().file().parent().expect("a folder").to_owned();
    let first = created(&house, json!({"name": "ci", "project": "ledger"}));
    assert!(folder.join("heyaira.db-wal").metadata().is_ok_and(|log| log.len() > 0), "the log is in use");
    assert_only_hashed(&bytes_below(&folder), &first);
    let second = text(&house.owner().ok("token_rotate", json!({"name": "ci"}))["token"]).to_owned();
    house.owner().refused("token_revoke", json!({"name": second}), Code::SecretRefused, &[]);
    assert_only_hashed(&bytes_below(&folder), &second);
    let house = house.restarted();
    house.owner().ok("token_revoke", json!({"name": "ci"}));
    assert_only_hashed(&bytes_below(&folder), &second);
}

#[test]
fn the_program_prints_a_token_once_and_logs_none() {
    let place = Place::new();
    // A second process keeps the log beside the database.
    let mut server = place.server();
    let run = |words: &[&str]| -> Answer {
        let mut command = place.command();
        command.env("RUST_LOG", "trace").env("HEYAIRA_PROJECT", "ledger").args(words);
        command.output().expect("the program runs").into()
    };
    let text = run(&["token", "create", "agent", "--project", "ledger"]);
    let lines: Vec<&str> = text.out.lines().filter(|line| line.starts_with("hya_")).collect();
    let [token] = lines.as_slice() else { panic!("one line is the token: {text:?}") };
    let rotated = run(&["token", "rotate", "agent", "--expires", "30d", "--json"]);
    let second = rotated.json()["token"].as_str().expect("a token").to_owned();
    assert_eq!((text.code, rotated.code, token.len(), second.len()), (0, 0, 47, 47));
    assert_ne!(*token, second);
    assert_eq!(server.call("task_list", json!({})).expect("the server answers")["total"], 0);
    let others = [
        run(&["token", "list"]),
        run(&["token", "list", "--json"]),
        run(&["token", "create", &second, "--all-projects"]),
        run(&["token", "revoke", "agent", &second]),
        run(&["token", "list", &second, "--json"]),
        run(&["token", "revoke", "agent"]),
        run(&["project", "list"]),
    ];
    let codes: Vec<i32> = others.iter().map(|answer| answer.code).collect();
    assert_eq!(codes, [0, 0, 2, 2, 2, 0, 0], "{others:?}");
    let printed: String = others.iter().map(|answer| format!("{}{}", answer.out, answer.err)).collect();
    for secret in [*token, &second] {
        assert!(!printed.contains(&secret[4..]), "{printed}");
        assert!(!text.err.contains(&secret[4..]) && !rotated.err.contains(&secret[4..]));
    }
    assert_only_hashed(&bytes_below(place.database.file().parent().expect("a folder")), &second);
    assert_eq!(server.end(), Some(0));
}

#[test]
fn the_command_line_takes_no_project_but_the_one_that_is_named() {
    let place = Place::new();
    let pinned = place.bare(&["profile", "ledger", "--write"]);
    assert_eq!(pinned.code, 0, "{pinned:?}");
    let none = place.command().env("HEYAIRA_PROJECT", "ledger").args(["token", "create", "agent"]).output();
    let none = Answer::from(none.expect("the program runs"));
    assert_eq!(none.code, 2, "{none:?}");
    assert!(none.err.contains("--project NAME or --all-projects is missing"), "{none:?}");
    let both = place.bare(&["token", "create", "agent", "--project", "ledger", "--all-projects"]);
    assert_eq!(both.code, 2, "{both:?}");
    let made = place.bare(&["token", "create", "agent", "--all-projects", "--role", "admin", "--json"]);
    assert_eq!((made.json()["projects"].as_str(), made.json()["created_by"].as_str()), (Some("all"), Some("maria")));
    let list = place.bare(&["token", "list"]);
    assert!(list.out.starts_with("agent  projects: all  role: admin  created: "), "{list:?}");
    for words in [["token", "revoke", "nobody"], ["token", "rotate", "nobody"]] {
        let refused = place.bare(&words);
        assert_eq!(refused.code, 3, "{refused:?}");
        assert!(refused.err.contains("heyaira token list"), "{refused:?}");
    }
}
