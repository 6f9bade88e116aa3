//! Characters that a reader cannot see: which are reported, where, and which are left alone.

use heyaira::domain::hidden::{find, problem, shown};
use serde_json::{Value, json};

use crate::house::{House, text};

#[test]
fn what_hides_is_reported_with_its_count_and_place() {
    let cases = [
        (
            "Fix login\u{e0069}\u{e0067}\u{e006e}\u{e006f}\u{e0072}\u{e0065}",
            "6 tag characters (U+E0069) from line 1 column 10",
        ),
        ("Access GRANTED \u{202e}DENIED \u{645}", "1 direction control (U+202E) at line 1 column 16"),
        ("pay\u{200b}load", "1 zero-width character (U+200B) at line 1 column 4"),
        ("a\nbc\u{2060}", "1 zero-width character (U+2060) at line 2 column 3"),
        ("bom\u{feff}", "1 zero-width character (U+FEFF)"),
        ("no joiner\u{200d}here", "1 zero-width character (U+200D)"),
        ("if (a \u{2066}// \u{2067}x", "2 direction controls (U+2066) from"),
        ("mark\u{200f} here", "1 direction control (U+200F)"),
        ("red \u{1b}[31m", "1 control character (U+001B)"),
        ("smile\u{fe0f}\u{fe01}\u{fe02}", "3 stray variation selectors (U+FE0F)"),
        ("data\u{e0100}\u{e0101}", "2 stray variation selectors (U+E0100)"),
        ("fill\u{3164}er", "1 invisible character (U+3164)"),
        ("x\u{2063}y", "1 invisible character (U+2063)"),
        ("x\u{fff9}y", "1 invisible character (U+FFF9)"),
        // A flag has no room for a sentence.
        (
            "\u{1f3f4}\u{e0069}\u{e0067}\u{e006e}\u{e006f}\u{e0072}\u{e0065}\u{e0061}\u{e006c}\u{e007f}",
            "9 tag characters",
        ),
    ];
    for (given, expected) in cases {
        let told = problem(given).unwrap_or_default();
        assert!(told.contains(expected), "{given:?}: {told}");
    }
}

#[test]
fn what_scripts_emoji_and_editors_need_is_left_alone() {
    let left = [
        "می\u{200c}خواهم",
        "क्\u{200d}ष और क्\u{200c}ष",
        "ශ්\u{200d}රී ලංකා",
        "👩\u{200d}💻 build, 👩🏽\u{200d}🚀, 🏳\u{fe0f}\u{200d}🌈, ❤\u{fe0f}, 1\u{fe0f}\u{20e3}",
        "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} England",
        "line\r\nline\r\n",
        "Schiff\u{ad}fahrt",
        "\u{feff}written by an editor",
        "עברית \u{200f}(abc)\u{200e} עברית",
        "\u{2067}שלום\u{2069} and \u{202b}مرحبا\u{202c}",
        "ភាសា\u{200b}ខ្មែរ",
        "葛\u{e0100}城",
        "ᠮᠣᠩ\u{180e}ᠠ",
        "tab\there",
        "",
        "e\u{301}",
    ];
    for given in left {
        assert_eq!(find(given), [], "{given:?}");
        assert_eq!(shown(given), given);
    }
}

#[test]
fn rw_028_a_title_with_hidden_characters_is_stored_as_it_is_and_warned_of() {
    let house = House::new();
    let client = house.client("maria");
    let create = |title: &str| client.ok("task_create", json!({"title": title, "summary": "new"}));
    for title in ["Fix login\u{e0069}\u{e0067}", "Access GRANTED \u{202e}DENIED \u{645}", "pay\u{200b}load"] {
        let made = create(title);
        let warning = &made["warnings"][0];
        assert_eq!((&warning["rule"], &warning["field"]), (&json!("no-hidden-characters"), &json!("title")), "{made}");
        assert_eq!(client.get(text(&made["task_id"]))["title"], title);
    }
    for title in ["می\u{200c}خواهم", "👩\u{200d}💻 build"] {
        let made = create(title);
        assert_eq!(made.get("warnings"), None, "{made}");
        assert_eq!(client.get(text(&made["task_id"]))["title"], title);
    }
}

#[test]
fn every_write_of_a_text_is_warned_of_them() {
    let house = House::new();
    let client = house.client("maria");
    let warned = |answer: &Value, field: &str| {
        let warning = &answer["warnings"][0];
        assert_eq!((&warning["rule"], &warning["field"]), (&json!("no-hidden-characters"), &json!(field)), "{answer}");
    };
    let task = client.create("t");
    let fields = ["title", "summary", "description", "completion_criteria", "handoff_next", "handoff_completed"];
    for (version, field) in (1..).zip(fields) {
        let answer = client.update(&task, version, json!({field: "hid\u{200b}den"}));
        let told = answer["warnings"].as_array().expect("warnings");
        let hidden = told.iter().find(|one| one["rule"] == "no-hidden-characters").expect("one");
        assert_eq!(hidden["field"], field, "{answer}");
    }
    warned(&client.ok("memory_add", json!({"kind": "fact", "summary": "s", "body": "hid\u{200b}den"})), "body");
    warned(&client.ok("message_send", json!({"to": task, "text": "hid\u{200b}den"})), "text");
    warned(&client.ok("task_create", json!({"title": "t", "summary": "s", "tags": ["a\u{200b}"]})), "tags");
}
