//! The command: with the real program, in a home folder of its own, and without any database.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::fixtures;

const HEYAIRA: &str = env!("CARGO_BIN_EXE_heyaira");
const CLAUDE: &str = "claude-code/projects/-home-dev-ledger/5f0c1a52-7b0e-4c55-9d5e-2f6a0d3b1c01.jsonl";

/// A home folder, in which the work is done too.
struct Home(tempfile::TempDir);

/// What the program answered.
#[derive(Debug)]
struct Answer {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(HEYAIRA);
        command.env_clear().env("HOME", self.path()).env("TZ", "UTC").current_dir(self.path());
        command.args(["context", "--economics"]).args(words);
        command
    }

    fn ask(&self, words: &[&str]) -> Answer {
        answer(&mut self.command(words))
    }

    /// Puts a transcript of Claude Code where that client keeps those of this folder.
    fn keep(&self, id: &str, text: &str) -> std::path::PathBuf {
        let folder = self.path().canonicalize().expect("a folder");
        let dashed: String =
            folder.to_string_lossy().chars().map(|one| if one.is_ascii_alphanumeric() { one } else { '-' }).collect();
        let place = self.path().join(".claude/projects").join(dashed);
        std::fs::create_dir_all(&place).expect("a folder");
        let path = place.join(format!("{id}.jsonl"));
        std::fs::write(&path, text).expect("a transcript");
        path
    }
}

fn answer(command: &mut Command) -> Answer {
    let output = command.output().expect("the program runs");
    Answer {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).expect("UTF-8"),
        err: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

fn fixture(name: &str) -> String {
    fixtures().join(name).to_str().expect("a path").to_owned()
}

fn line(id: &str, cached: u64) -> String {
    let usage = json!({"input_tokens": 1, "cache_read_input_tokens": cached, "output_tokens": 9});
    let message = json!({"id": id, "model": "claude-opus-5-5", "content": "never to be shown", "usage": usage});
    format!(
        "{}\n",
        json!({"type": "assistant", "timestamp": "2026-11-30T08:00:00Z", "requestId": id, "message": message})
    )
}

#[test]
fn the_figures_of_a_named_session_are_shown_without_a_word_of_it() {
    let home = Home::new();
    let answer = home.ask(&["--session", &fixture(CLAUDE)]);
    assert_eq!((answer.code, answer.err.as_str()), (Some(0), ""), "{answer:?}");
    for shown in [
        "Claude Code session 5f0c1a52-7b0e-4c55-9d5e-2f6a0d3b1c01, as named",
        "context       23,204 tokens, 2.3 % of 1,000,000, as the model's makers say; compacted before at 103,302",
        "2026-11-30 11:01:30 +00:00, lives 1 hour (as the transcript says)",
        "requests      8, and 3 beside the conversation",
        "the client says $2.50",
        "after 7,202 s: 39,900 tokens sent again, $0.30 more (expired)",
        "29 lines, 11 requests in them, 5 told again, 2 broken, 1 of an unknown kind, the last one unfinished",
        "prices        of 2026-11-30",
    ] {
        assert!(answer.out.contains(shown), "{shown}\n{}", answer.out);
    }
    assert!(!answer.out.contains("a text that says"), "{}", answer.out);
    assert!(home.path().read_dir().expect("a folder").next().is_none(), "nothing is written, no database is made");
}

#[test]
fn the_json_has_units_in_its_names_and_each_is_explained() {
    let home = Home::new();
    let answer = home.ask(&["--session", &fixture(CLAUDE), "--json"]).json();
    assert_eq!(answer["client"], "claude-code");
    assert_eq!(answer["context_tokens"], 23_204);
    assert_eq!(answer["client_cost_usd"], 2.5);
    // Written for an hour, and for five minutes by two others; reckoned by hand from the transcript.
    let opus = (19.0 * 4.0 + 146_814.0 * 0.2 + 242_300.0 * 8.0 + 4_000.0 * 20.0) / 1e6;
    let haiku = (5.0 * 0.1 + 6_000.0 * 0.125 + 80.0 * 0.5) / 1e6
        + (5.0 * 0.1 + 90_000.0 * 0.125 + 150.0 * 0.5) / 1e6
        + (5.0 * 0.5 + 90_005.0 * 0.05 + 30_000.0 * 0.625 + 200.0 * 2.5) / 1e6;
    let close = |value: &Value, expected: f64| (value.as_f64().expect("a figure") - expected).abs() < 1e-6;
    assert!(close(&answer["cost_beside_usd"], haiku), "{answer}");
    assert!(close(&answer["cost_usd"], opus + haiku), "{answer} {opus} {haiku}");
    let documented =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/economics.md")).expect("the document");
    let mut left = vec![&answer];
    while let Some(value) = left.pop() {
        for (name, inner) in value.as_object().into_iter().flatten() {
            assert!(documented.contains(&format!("`{name}`")), "docs/economics.md does not explain {name}");
            left.push(inner);
            left.extend(inner.as_array().into_iter().flatten());
        }
    }
}

#[test]
fn the_session_that_asks_comes_before_the_newest_of_the_folder() {
    let home = Home::new();
    home.keep("older", &line("a", 1_000));
    home.keep("newest", &line("b", 2_000));
    let newest = home.ask(&["--json"]).json();
    assert_eq!((&newest["found_by"], &newest["context_tokens"]), (&json!("newest-of-folder"), &json!(2_010)));
    let asking = answer(home.command(&["--json"]).env("CLAUDE_CODE_SESSION_ID", "older")).json();
    assert_eq!((&asking["found_by"], &asking["context_tokens"]), (&json!("environment"), &json!(1_010)));
    assert!(home.ask(&[]).out.contains("session newest, the newest of this folder"));
}

#[test]
fn where_there_is_no_transcript_the_refusal_says_where_it_looked() {
    let home = Home::new();
    let answer = home.ask(&[]);
    assert_eq!(answer.code, Some(3), "{answer:?}");
    for place in
        [".claude/projects", ".codex/sessions", ".gemini/tmp", "opencode/opencode.db", ".copilot/session-state"]
    {
        assert!(answer.err.contains(place), "{place}: {}", answer.err);
    }
    let body = home.ask(&["--session", "ffffffff", "--json"]).json();
    assert_eq!(body["error"]["code"], "not_found");
    let of = home.ask(&["--client", "zed"]);
    assert_eq!(of.code, Some(2), "{of:?}");
}

#[test]
fn all_sessions_of_the_folder_have_a_line_each_and_a_file_that_cannot_be_read_says_so() {
    let home = Home::new();
    home.keep("first-session", &line("a", 200_000));
    home.keep("second-session", &line("b", 1_000));
    let table = home.ask(&["--all"]);
    assert!(table.out.contains("claude-code first-se  2026-11-30 08:00:00 +00:00"), "{}", table.out);
    assert!(table.out.contains("200,010 tokens      1 requests"), "{}", table.out);
    assert!(table.out.contains("2 sessions of "), "{}", table.out);
    let rows = home.ask(&["--all", "--json"]).json();
    assert_eq!(rows["sessions"].as_array().map(Vec::len), Some(2));
    // A folder with the name of a transcript can be listed and not read.
    let place = home.path().join(".claude/projects");
    let project = place.read_dir().expect("a folder").next().expect("one").expect("an entry").path();
    std::fs::create_dir(project.join("third-session.jsonl")).expect("a folder");
    let rows = home.ask(&["--all", "--json"]).json();
    let errors: Vec<&Value> =
        rows["sessions"].as_array().into_iter().flatten().filter(|row| row["error"].is_string()).collect();
    assert_eq!(errors.len(), 1, "{rows}");
    assert_eq!(home.ask(&["--all"]).code, Some(0));
    // A place that cannot be read is not passed over in silence.
    assert_eq!(rows["unreadable"], json!([]));
    std::fs::create_dir_all(home.path().join(".local/share/opencode")).expect("a folder");
    std::fs::write(home.path().join(".local/share/opencode/opencode.db"), "no database, whatever its name")
        .expect("a file");
    let table = home.ask(&["--all"]);
    assert!(table.out.contains("left out: ") && table.out.contains("opencode.db cannot be read"), "{}", table.out);
    assert!(home.ask(&["--client", "opencode"]).err.contains("opencode.db cannot be read"));
}

#[test]
fn the_plot_is_drawn_for_a_terminal_and_as_svg_always_the_same() {
    let home = Home::new();
    let transcript = fixture(CLAUDE);
    let drawn = home.ask(&["--session", &transcript, "--plot"]);
    let marks = drawn.out.lines().rev().nth(1).expect("a line of marks").trim_start();
    assert_eq!(marks, "! xc", "{}", drawn.out);
    assert!(drawn.out.starts_with("103,302 │"), "{}", drawn.out);
    let wrote = home.ask(&["--session", &transcript, "--plot", "plot.svg", "--json"]).json();
    assert_eq!(wrote, json!({"file": "plot.svg", "requests": 8, "misses": 2}));
    let svg = std::fs::read_to_string(home.path().join("plot.svg")).expect("the plot");
    let kept = fixtures().join("plot.svg");
    if std::env::var_os("HEYAIRA_WRITE_DOCS").is_some() {
        std::fs::write(&kept, &svg).expect("the plot that is kept");
    }
    assert_eq!(svg, std::fs::read_to_string(kept).expect("the plot that is kept"));
    assert!(!svg.contains("a text that says"));
}

#[test]
fn prices_of_the_user_come_from_the_file_that_is_named_or_the_folder_of_settings() {
    let home = Home::new();
    let own = "as_of = \"2027-01-01\"\n[[model]]\nnames = [\"claude-opus-5-5\"]\n\
               price = [{ input = 0.0, output = 1_000_000.0, cache_read = 0.0, cache_write = 0.0 }]\n";
    home.keep("one", &line("a", 100));
    std::fs::write(home.path().join("own.toml"), own).expect("a file");
    let named = home.ask(&["--prices", "own.toml", "--json"]).json();
    assert_eq!(named["cost_usd"], 9.0);
    assert_eq!(named["prices"], json!({"as_of": "2026-11-30", "has_own": true, "own_as_of": "2027-01-01"}));
    let settings = home.path().join("settings/heyaira");
    std::fs::create_dir_all(&settings).expect("a folder");
    std::fs::write(settings.join("prices.toml"), own).expect("a file");
    let set = answer(home.command(&["--json"]).env("XDG_CONFIG_HOME", home.path().join("settings"))).json();
    assert_eq!(set["cost_usd"], 9.0);
    std::fs::write(home.path().join("own.toml"), "[[model]]\nname = \"x\"").expect("a file");
    let wrong = home.ask(&["--prices", "own.toml"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.err.contains("own.toml") && wrong.err.contains("line 2"), "{}", wrong.err);
    assert_eq!(home.ask(&["--prices", "none.toml"]).code, Some(2));
}

#[test]
fn a_plan_is_taken_into_account_and_an_unknown_price_is_never_zero() {
    let home = Home::new();
    home.keep("one", &line("a", 200_000).replace("claude-opus-5-5", "house-model"));
    let unknown = home.ask(&["--json"]).json();
    assert_eq!((&unknown["cost_usd"], &unknown["next"]), (&Value::Null, &Value::Null));
    assert_eq!(unknown["cost_unknown"], json!({"models": ["house-model"], "tokens": 200_010}));
    assert!(home.ask(&[]).out.contains("price unknown"), "{:?}", home.ask(&[]));
    home.keep("one", &line("a", 200_000));
    let many = home.ask(&["--requests", "500", "--json"]).json();
    let few = home.ask(&["--requests", "1", "--json"]).json();
    assert_eq!((&many["expected_requests"], &few["expected_requests"]), (&json!(500), &json!(1)));
    assert_eq!(home.ask(&["--requests", "many"]).code, Some(2));
}

#[test]
fn its_flags_belong_together_and_the_operation_stays() {
    let home = Home::new();
    let bare = |words: &[&str]| {
        let mut command = Command::new(HEYAIRA);
        answer(command.env_clear().env("HOME", home.path()).current_dir(home.path()).arg("context").args(words))
    };
    assert_eq!(bare(&["--plot"]).code, Some(2));
    assert_eq!(bare(&["--economics", "handoff: 8e287857 v7"]).code, Some(2));
    for of_one in [["--watch", "--all"], ["--plot", "--all"], ["--pause=5", "--all"], ["--requests=5", "--all"]] {
        assert_eq!(bare(&[&["--economics"], of_one.as_slice()].concat()).code, Some(2), "{of_one:?}");
    }
    let operation = bare(&[]);
    assert!(operation.err.contains("no_project") || operation.err.contains("unavailable"), "{operation:?}");
}

/// Ends the program with the test, however that ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The program that watches, and the context that its next line tells.
fn watched(home: &Home) -> (Running, impl FnMut() -> Option<u64>) {
    let mut command = home.command(&["--watch", "--json"]);
    let mut running = Running(command.stdout(Stdio::piped()).spawn().expect("the program runs"));
    let mut lines = BufReader::new(running.0.stdout.take().expect("a pipe")).lines();
    let context = move || {
        let line = lines.next().expect("a line").expect("UTF-8");
        serde_json::from_str::<Value>(&line).expect("JSON")["context_tokens"].as_u64()
    };
    (running, context)
}

#[test]
fn watching_shows_each_change() {
    let home = Home::new();
    let path = home.keep("one", &line("a", 1_000));
    let (_running, mut context) = watched(&home);
    assert_eq!(context(), Some(1_010));
    let mut file = std::fs::File::options().append(true).open(path).expect("the transcript");
    file.write_all(line("b", 5_000).as_bytes()).expect("a line");
    assert_eq!(context(), Some(5_010));
}

#[test]
fn watching_outlives_a_transcript_that_is_away_for_a_moment() {
    let home = Home::new();
    let path = home.keep("one", &line("a", 1_000));
    let (mut running, mut context) = watched(&home);
    assert_eq!(context(), Some(1_010));
    std::fs::remove_file(&path).expect("it was there");
    // Longer than the program's pace, so that it has looked while nothing is there: no event tells of that.
    let until = std::time::Instant::now() + std::time::Duration::from_millis(1_200);
    while std::time::Instant::now() < until {
        assert!(running.0.try_wait().expect("a state").is_none(), "it ended");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    home.keep("one", &line("b", 5_000));
    assert_eq!(context(), Some(5_010));
}

#[test]
fn control_characters_steer_nothing() {
    let home = Home::new();
    let model = "claude\u{9b}31m\u{7f}";
    let text = line("a", 1_000).replace("claude-opus-5-5", model);
    let path = home.path().join("one\ntwo.jsonl");
    std::fs::write(&path, text).expect("a transcript");
    let named = path.to_str().expect("a path");
    let told = home.ask(&["--client", "claude-code", "--session", named, "--json"]);
    assert!(told.out.trim_end().chars().all(|one| !one.is_control()), "{told:?}");
    assert_eq!(told.json()["model"], model, "the same once it is read");
    let shown = home.ask(&["--client", "claude-code", "--session", named]);
    assert!(shown.out.contains("one\\u{a}two.jsonl"), "{shown:?}");
}
