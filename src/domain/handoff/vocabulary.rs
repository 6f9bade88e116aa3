//! The words that the rules read, in the languages that are read: one table. Must never be the reason for an error in
//! another language: what is told by words alone is a warning, and silent where the words are not known.

pub(super) use super::words::{Words, has, has_any, has_whole};

/// What a piece of work can have reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Written, not yet proven.
    Prepared,
    /// Proven by tests.
    Tested,
    /// Running somewhere.
    Deployed,
    /// Seen to work where it counts.
    Verified,
}

impl State {
    /// All, from the first to the last.
    pub(super) const ALL: [Self; 4] = [Self::Prepared, Self::Tested, Self::Deployed, Self::Verified];

    /// The label as findings suggest it.
    pub(super) const fn label(self, japanese: bool) -> &'static str {
        match (self, japanese) {
            (Self::Prepared, false) => "Prepared",
            (Self::Tested, false) => "Tested",
            (Self::Deployed, false) => "Deployed",
            (Self::Verified, false) => "Verified in production",
            (Self::Prepared, true) => "準備済み",
            (Self::Tested, true) => "テスト済み",
            (Self::Deployed, true) => "デプロイ",
            (Self::Verified, true) => "本番確認",
        }
    }

    /// Words that speak of it, claimed or denied; in lower case, each at the start of a word.
    pub(super) fn words(self) -> &'static Words {
        match self {
            Self::Prepared => &PREPARED,
            Self::Tested => &TESTED,
            Self::Deployed => &DEPLOYED,
            Self::Verified => &VERIFIED,
        }
    }
}

static PREPARED: Words = Words::of(&[
    "prepared",
    "written",
    "implement",
    "code complete",
    "added",
    "changed",
    "fixed",
    "merged",
    "committed",
    "done",
    "completed",
    "drafted",
    "built",
    "refactor",
    "準備",
    "実装",
    "作成",
    "コミット",
    "修正",
    "追加",
    "マージ",
    "完了",
    "完遂",
    "着手",
    "書いた",
    "入った",
    "変更",
]);
static TESTED: Words = Words::of(&["test", "unverified", "テスト", "検証", "試験", "試した", "計測", "実測", "ゲート"]);
static DEPLOYED: Words = Words::of(&[
    "deploy",
    "undeployed",
    "redeploy",
    "released",
    "release",
    "unreleased",
    "publish",
    "unpublished",
    "shipped",
    "rolled out",
    "rollout",
    "on staging",
    "to staging",
    "installed on",
    "live service",
    "live on",
    "went live",
    "not live",
    "runs in production",
    "running in production",
    "デプロイ",
    "未デプロイ",
    "リリース",
    "公開",
    "配備",
    "反映",
    "配布",
    "本番稼働",
    "稼働中",
]);
static VERIFIED: Words = Words::of(&[
    "verified",
    "verification",
    "verify",
    "unverified",
    "confirmed in",
    "confirmed on",
    "smoke",
    "observed in",
    "observed on",
    "checked in prod",
    "checked on",
    "live check",
    "本番確認",
    "本番で",
    "本番では",
    "本番未",
    "動作確認",
    "確認済",
    "未確認",
    "実機",
]);

/// That something was expressly not done.
pub(super) static DENIALS: Words = Words::of(&[
    "nothing",
    "none",
    "not ",
    "no ",
    "never",
    "n/a",
    "nowhere",
    "nobody",
    "n't ",
    "without",
    "pending",
    "todo",
    "yet to",
    "unable",
    "cannot",
    "skipped",
    "later",
    "still to",
    "なし",
    "無し",
    "無い",
    "ない",
    "未",
    "せず",
    "まだ",
    "ありません",
    "していません",
    "できず",
    "スキップ",
    "保留",
    "ゼロ",
]);

/// That a test was not run, or could not be.
pub(super) static NOT_RUN: Words = Words::of(&[
    "not run",
    "not rerun",
    "not re-run",
    "not yet run",
    "not executed",
    "not tested",
    "untested",
    "unrun",
    "never run",
    "never ran",
    "no test",
    "no tests",
    "none run",
    "none were run",
    "nothing was run",
    "nothing run",
    "n't run",
    "n't rerun",
    "n't re-run",
    "n't executed",
    "n't tested",
    "did not run",
    "was skipped",
    "were skipped",
    "skipped because",
    "could not run",
    "cannot run",
    "can't run",
    "unable to run",
    "not possible",
    "not verified",
    "not been run",
    "not been rerun",
    "have not run",
    "has not run",
    "are not available",
    "not available",
    "not applicable",
    "n/a",
    "未実行",
    "未実施",
    "未検証",
    "未テスト",
    "実行していない",
    "走らせていない",
    "走っていない",
    "実行せず",
]);

/// More of them, in Japanese.
pub(super) static NOT_RUN_MORE: Words = Words::of(&[
    "回していない",
    "走らせず",
    "テストなし",
    "テストは無し",
    "テスト無し",
    "テストしていない",
    "実施していない",
    "スキップした",
    "動かしていない",
    "実行できず",
    "確認していない",
    "未確認",
    "未着手",
    "テストは未",
]);

/// Where something runs.
pub(super) static PLACES: Words = Words::of(&[
    "smoke",
    "staging",
    "production",
    " prod",
    "canary",
    "preview",
    "server",
    "cluster",
    "environment",
    "region",
    "host",
    "tenant",
    "vercel",
    "netlify",
    "app store",
    "npm",
    "crates.io",
    "pypi",
    "docker hub",
    "flag",
    "customer",
    "users",
    "ステージング",
    "本番",
    "サーバ",
    "環境",
    "利用者",
    "ホスト",
]);

/// Headings of what comes next.
pub(super) static NEXT: Words = Words::of(&[
    "next",
    "to do",
    "todo",
    "remaining",
    "resume",
    "how to continue",
    "entry sequence",
    "follow-up",
    "follow up",
    "次",
    "続き",
    "やること",
    "残タスク",
    "残作業",
    "これから",
    "今後",
    "handoff_next",
]);

/// Headings that say what not to do, or what others must do first.
pub(super) static NOT_NEXT: Words =
    Words::of(&["must not", "not do", "don't", "should not", "しない", "してはいけない", "禁止", "次の自分へ"]);

/// Headings of what blocks.
pub(super) static BLOCKERS: Words =
    Words::of(&["blocker", "blocked", "waiting for", "ブロッカー", "ブロック", "handoff_blockers"]);

/// That a text says that there is nothing.
pub(super) const NOTHING: [&str; 18] = [
    "none",
    "nothing",
    "no",
    "n/a",
    "na",
    "-",
    "—",
    "–",
    "none.",
    "nothing.",
    "no blockers",
    "nothing blocks",
    "no blocker",
    "なし",
    "無し",
    "特になし",
    "なし。",
    "ありません",
];

/// Who a blocker waits for: roles.
pub(super) static ROLES: Words = Words::of(&[
    "ops",
    "owner",
    "team",
    "reviewer",
    "maintainer",
    "admin",
    "legal",
    "security",
    "finance",
    "vendor",
    "customer",
    "client",
    "support",
    "designer",
    "product",
    "manager",
    "lead",
    "infra",
    "infrastructure",
    "platform",
    "devops",
    "sre",
    "qa",
    "user",
    "stakeholder",
    "upstream",
    "developer",
    "engineer",
    "author",
    "analyst",
    "operator",
    "bank",
    "provider",
    "partner",
    "someone",
    "dba",
    "architect",
    "they",
    "she",
    "he",
    "you",
    "we",
    "compliance",
    "marketing",
    "sales",
    "data team",
    "backend",
    "frontend",
    "moves next",
    "next move",
    "acts next",
    "who:",
    "to move",
    "must move",
    "person",
    "supplier",
]);

/// Who a blocker waits for, in Japanese.
pub(super) static ROLES_JAPANESE: Words = Words::of(&[
    "さん",
    "氏",
    "様",
    "チーム",
    "部",
    "担当",
    "側",
    "ユーザー",
    "オーナー",
    "管理者",
    "レビュアー",
    "運用",
    "次に動く",
    "次は",
    "開発者",
    "顧客",
    "先方",
    "社",
    "銀行",
    "誰",
]);

/// What a blocker needs.
pub(super) static NEEDS: Words = Words::of(&[
    "need",
    "require",
    "must",
    "has to",
    "have to",
    "should",
    "please",
    "approv",
    "grant",
    "provid",
    "send",
    "decid",
    "decision",
    "review",
    "merge",
    "rotate",
    "unblock",
    "confirm",
    "answer",
    "reply",
    "fix",
    "renew",
    "create",
    "upload",
    "add ",
    "sign",
    "deliver",
    "restore",
    "enable",
    "install",
    "publish",
    "release",
    "access to",
    "必要",
    "ください",
    "待ち",
    "承認",
    "提供",
    "決定",
    "回答",
    "依頼",
    "レビュー",
    "確認",
    "発行",
    "送付",
]);

/// What may be run, so that not having run it is said of tests and not of a migration.
static RUNNABLE: Words = Words::of(&[
    "test",
    "check",
    "suite",
    "build",
    "validation",
    "lint",
    "spec",
    "bench",
    "e2e",
    "ci",
    "smoke",
    "テスト",
    "検証",
    "ビルド",
    "計測",
    "実行",
    "試験",
    "ゲート",
]);

/// True if a text says that something was not run.
pub(super) fn says_not_run(lower: &str) -> bool {
    NOT_RUN.are_in(lower) || NOT_RUN_MORE.are_in(lower)
}

/// True if a text says that tests were not run: it names what can be run, or begins with it.
pub(super) fn says_tests_not_run(lower: &str) -> bool {
    let begins = ["not run", "not rerun", "not re-run", "not yet run", "unrun", "none were run", "none run"];
    says_not_run(lower)
        && (RUNNABLE.are_in(lower) || begins.iter().any(|one| lower.trim_start_matches(['*', ' ']).starts_with(one)))
}

/// True if a whole text says that there is nothing.
pub(super) fn is_nothing(text: &str) -> bool {
    NOTHING.contains(&text.trim().to_lowercase().as_str())
}

/// Words for running tests, in the middle of a sentence.
pub(super) static RUNNERS: Words = Words::of(&[
    "cargo test",
    "cargo nextest",
    "go test",
    "npm test",
    "npm run test",
    "pnpm test",
    "yarn test",
    "bun test",
    "deno test",
    "make test",
    "pytest",
    "vitest",
    "jest",
    "mocha",
    "phpunit",
    "rspec",
    "dotnet test",
    "swift test",
    "mvn ",
    "gradle",
    "ctest",
]);
