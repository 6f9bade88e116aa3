//! The rules on a handoff given as fields: for the tests of single rules, and for handoffs that stand in files.

use heyaira::domain::handoff::{Finding, Form, Grade, NamedMemory, Subject, check};
use heyaira::domain::receipt::Receipt;
use heyaira::domain::rule::Settings;
use heyaira::domain::task::Content;
use serde_json::{Value, json};

use crate::house::merged;

/// What the rules say.
#[derive(Debug)]
pub struct Judged {
    /// The findings.
    pub findings: Vec<Finding>,
    /// The grade.
    pub grade: Grade,
}

impl Judged {
    /// The names of the rules that found something, in order.
    pub fn rules(&self) -> Vec<&'static str> {
        self.findings.iter().map(|finding| finding.rule.as_str()).collect()
    }

    /// The one mend.
    #[track_caller]
    pub fn fix(&self) -> &str {
        let [one] = &self.findings[..] else { panic!("not one finding: {self:?}") };
        &one.fix
    }
}

/// Judges an object with the fields of an update, and beside them `language`, `next_by`, `memories` (an object from id to
/// null, or to the id that supersedes it; every other that is named does not exist) and `unnamed_decisions`.
pub fn judged(fields: &Value) -> Judged {
    let text = |name: &str| fields[name].as_str().unwrap_or_default().to_owned();
    let content = Content {
        title: text("title"),
        summary: text("summary"),
        description: text("description"),
        status: serde_json::from_value(fields["status"].clone()).unwrap_or_default(),
        handoff_next: text("handoff_next"),
        handoff_blockers: text("handoff_blockers"),
        handoff_completed: text("handoff_completed"),
        ..Content::default()
    };
    let receipt = fields.get("work_receipt").filter(|receipt| receipt.is_object());
    let receipt = receipt.map(|receipt| serde_json::from_value::<Receipt>(receipt.clone()).expect("a receipt"));
    let known = fields["memories"].as_object();
    let named = heyaira::domain::handoff::memories_named(&content).into_iter().map(|memory_id| {
        let found = known.and_then(|known| known.get(&memory_id));
        let superseded_by = found.and_then(|newer| newer.as_str().map(str::to_owned));
        NamedMemory { exists: found.is_some(), superseded_by, memory_id }
    });
    let named: Vec<NamedMemory> = named.filter(|_| known.is_some()).collect();
    let unnamed: Vec<String> = serde_json::from_value(fields["unnamed_decisions"].clone()).unwrap_or_default();
    let settings: Settings = serde_json::from_value(fields["rules"].clone()).unwrap_or_default();
    let findings = check(&Subject {
        form: Form::Task,
        content: &content,
        receipt: receipt.as_ref(),
        next_by: fields["next_by"].as_str(),
        language: fields["language"].as_str(),
        named: &named,
        unnamed_decisions: &unnamed,
        settings: &settings,
        is_whole: true,
    });
    Judged { grade: Grade::of_findings(&findings), findings }
}

/// The session of the good handoffs.
pub const SESSION: &str = "claude-code:0d6a41c8-77b2-4f3e-8a10-2f9e5c7d6b31";

/// A handoff in which nothing is found, as the contract shows one.
pub fn good() -> Value {
    let completed = "Repository acme/ledger, branch feat/statement-import, PR #412 (draft), base 4c19e7a, head 9f3b2d1.\n\
        Prepared: CAMT.053 parser in crates/import/src/camt.rs (entries, batch entries, charges); MT940 untouched.\n\
        Tested: cargo test -p import: 148 passed, 0 failed; cargo test -p api statements: 23 passed, 0 failed.\n\
        Not run: cargo test --workspace (the CI machine is down since 14:00), load test with 100,000 lines.\n\
        Deployed: staging only, 9f3b2d1, 24 Nov 16:10 UTC, flag on for the tenant pilot-1.\n\
        Verified in production: nothing. The flag is off there and the migration has not run.";
    json!({
        "title": "Import bank statements (CAMT.053)",
        "status": "in_progress",
        "summary": "Importer works on staging for 208 of 212 pilot files; batch entries and 4 Raiffeisen files are open.",
        "handoff_completed": completed,
        "handoff_next": format!(
            "git switch feat/statement-import && cargo test -p import camt::batch   # 2 tests are ignored\n\
             Then crates/import/src/camt.rs, fn read_batch (line 318): sum TxDtls when BkTxCd is missing.\n\
             Previous session: {SESSION}"
        ),
        "work_receipt": {
            "session_ref": SESSION,
            "harness": "claude-code 2.1.332",
            "model": "claude-opus-5-5",
            "branch": "feat/statement-import",
            "base_commit": "4c19e7a",
            "result_commit": "9f3b2d1",
            "tests": "cargo test -p import: 148 passed; cargo test -p api statements: 23 passed; workspace not run",
            "completed_work": "parser, migration, endpoint",
            "next_step": "batch entries",
        },
        "language": "en",
    })
}

/// The same in Japanese.
pub fn good_japanese() -> Value {
    let fields = json!({
        "title": "銀行明細の取り込み (CAMT.053)",
        "summary": "取り込みはステージングで動作。バッチ明細が未対応。",
        "handoff_completed": "リポジトリ acme/ledger、ブランチ feat/statement-import、PR #412 (draft)、base 4c19e7a、HEAD 9f3b2d1。\n\
            実装: CAMT.053 パーサ (crates/import/src/camt.rs)。MT940 は変更していない。\n\
            テスト: cargo test -p import: 148 passed, 0 failed。\n\
            未実行: cargo test --workspace (CI が停止中)。\n\
            デプロイ: ステージングのみ (9f3b2d1、11/24)。\n\
            本番確認: なし。フラグは無効。",
        "handoff_next": format!(
            "git switch feat/statement-import && cargo test -p import camt::batch\n\
             次に crates/import/src/camt.rs の read_batch を直す。\nPrevious session: {SESSION}"
        ),
        "language": "ja",
    });
    merged(good(), fields)
}

/// A good handoff with fields changed.
pub fn with(more: Value) -> Value {
    merged(good(), more)
}

/// A good handoff with fields of its receipt changed.
pub fn with_receipt(more: Value) -> Value {
    with(json!({"work_receipt": merged(good()["work_receipt"].clone(), more)}))
}

/// The completed text of a handoff with each line that starts with `start` replaced, or taken out.
pub fn completed(fields: &Value, start: &str, line: Option<&str>) -> Value {
    let text = fields["handoff_completed"].as_str().expect("a text");
    let lines = text.lines().filter_map(|one| if one.starts_with(start) { line } else { Some(one) });
    json!(lines.collect::<Vec<_>>().join("\n"))
}
