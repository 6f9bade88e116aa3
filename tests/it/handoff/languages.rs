//! The working language, and that no other language is the reason for an error.

use heyaira::domain::handoff::Level;
use serde_json::{Value, json};

use super::judged::{SESSION, good, good_japanese, judged};
use crate::house::merged;

/// A language, a summary, what is done, what is next: the same handoff.
const OTHERS: [(&str, &str, &str, &str); 4] = [
    (
        "de",
        "Der Importer läuft auf dem Testserver, die Sammelbuchungen fehlen noch.",
        "Repository acme/ledger, Zweig feat/statement-import, Commit 9f3b2d1.\n\
         Fertig: der Parser für CAMT.053 in crates/import/src/camt.rs. Die Migration ist geschrieben und noch nicht gelaufen.\n\
         Getestet: cargo test -p import: 148 bestanden, 0 fehlgeschlagen.\nAusgeliefert: nichts.",
        "Zuerst cargo test -p import camt::batch ausführen und die zwei Tests einschalten.",
    ),
    (
        "zh",
        "导入程序已在测试环境运行,批量明细尚未处理。",
        "仓库 acme/ledger,分支 feat/statement-import,提交 9f3b2d1。\n已完成:crates/import/src/camt.rs 中的解析器。\n\
         测试:cargo test -p import:148 通过,0 失败。\n部署:无。",
        "运行 `cargo test -p import camt::batch`,然后修改 crates/import/src/camt.rs。",
    ),
    (
        "ar",
        "يعمل المستورد على خادم الاختبار، وما زالت القيود المجمعة مفتوحة.",
        "المستودع acme/ledger، الفرع feat/statement-import، الالتزام 9f3b2d1.\nتم: المحلل في crates/import/src/camt.rs.\n\
         الاختبارات: cargo test -p import: 148 نجح، 0 فشل.",
        "شغّل `cargo test -p import camt::batch` ثم عدّل crates/import/src/camt.rs.",
    ),
    (
        "hi",
        "आयातक परीक्षण सर्वर पर चलता है, थोक प्रविष्टियाँ शेष हैं।",
        "भंडार acme/ledger, शाखा feat/statement-import, कमिट 9f3b2d1।\nपूर्ण: crates/import/src/camt.rs में पार्सर।\n\
         परीक्षण: cargo test -p import: 148 सफल, 0 विफल।",
        "`cargo test -p import camt::batch` चलाएँ, फिर crates/import/src/camt.rs बदलें।",
    ),
];

fn fields((language, summary, completed, next): (&str, &str, &str, &str)) -> Value {
    let fields = json!({
        "language": language,
        "summary": summary,
        "handoff_completed": completed,
        "handoff_next": format!("{next}\nPrevious session: {SESSION}"),
    });
    merged(good(), fields)
}

#[test]
fn no_language_makes_an_error() {
    for other in OTHERS {
        let found = judged(&fields(other));
        assert!(found.findings.iter().all(|one| one.level != Level::Error), "{}: {found:?}", other.0);
        assert!(!found.rules().contains(&"working-language"), "{}: {found:?}", other.0);
        assert!(!found.rules().contains(&"states-distinguished"), "{}: {found:?}", other.0);
    }
}

#[test]
fn another_language_than_the_projects_is_told_once_there_is_enough_of_it() {
    let german = "Der Importer liest jetzt auch die Sammelbuchungen der Banken, und die Belege werden nicht mehr doppelt angelegt. \
        Die Migration ist geschrieben, aber auf dem Server der Bank noch nicht gelaufen. Wir haben mit Tomas vereinbart, dass \
        die Beträge ganze Zahlen bleiben und nirgends gerundet wird.";
    let completed = format!("{}\n\n{german}\n\n{german}", good()["handoff_completed"].as_str().expect("a text"));
    let found = judged(&merged(good(), json!({"handoff_completed": completed})));
    assert_eq!(found.rules(), ["working-language"]);
    assert_eq!((found.findings[0].field.as_str(), found.fix().contains("English")), ("handoff_completed", true));
    for short in ["Alles läuft.", "Fertig ist der Parser."] {
        let found = judged(&merged(good(), json!({"summary": short})));
        assert_eq!(found.rules(), Vec::<&str>::new(), "too short to say: {short}");
    }
    let quoted = format!("{}\n\n> {german}\n\n`{german}`", good()["handoff_completed"].as_str().expect("a text"));
    assert_eq!(judged(&merged(good(), json!({"handoff_completed": quoted}))).rules(), Vec::<&str>::new());
}

#[test]
fn japanese_and_english_are_told_apart_by_their_script() {
    let found =
        judged(&merged(good_japanese(), json!({"language": "en", "title": "Import", "summary": "Importer works."})));
    assert_eq!(found.rules(), ["working-language"]);
    assert!(found.fix().contains("Japanese"), "{found:?}");
    let english = json!({
        "language": "ja",
        "summary": "The importer works on staging for most of the pilot files, and what remains is the batch entries and a few files \
            of one bank that are refused because they put the reference into another field than the others do.",
    });
    let found = judged(&merged(good_japanese(), english));
    assert!(found.rules().iter().all(|rule| *rule == "working-language"), "{found:?}");
    for tag in ["ja-JP", "xx", "tlh"] {
        let found = judged(&merged(good_japanese(), json!({"language": tag})));
        assert_eq!(found.rules(), Vec::<&str>::new(), "{tag}");
    }
}
