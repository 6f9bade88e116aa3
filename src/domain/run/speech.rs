//! The sentences in which a run is told, in the languages that the rules of a handoff read, and in German. Must never say
//! anything itself: whoever asks gives the facts.

mod tests;

use super::Outcome;
use crate::domain::text::grouped;

/// A language that sentences are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tongue {
    English,
    German,
    Japanese,
}

/// How a project is spoken to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Speech {
    tongue: Tongue,
    /// True where the project's language is another one: what is said stands as a quotation then, which no rule takes for
    /// the words of the task.
    is_foreign: bool,
}

impl Speech {
    /// For a project's language, such as `de-CH`.
    pub(super) fn of(language: &str) -> Self {
        let primary = language.split('-').next().unwrap_or(language).to_ascii_lowercase();
        let (tongue, is_foreign) = match primary.as_str() {
            "en" => (Tongue::English, false),
            "de" => (Tongue::German, false),
            "ja" => (Tongue::Japanese, false),
            _ => (Tongue::English, true),
        };
        Self { tongue, is_foreign }
    }

    /// One of three, by the language.
    fn say(self, english: impl Into<String>, german: impl Into<String>, japanese: impl Into<String>) -> String {
        match self.tongue {
            Tongue::English => english.into(),
            Tongue::German => german.into(),
            Tongue::Japanese => japanese.into(),
        }
    }

    /// A line of a text of several.
    pub(super) fn line(self, line: &str) -> String {
        if self.is_foreign && !line.starts_with("> ") { format!("> {line}") } else { line.to_owned() }
    }

    /// A text of one line.
    pub(super) fn single(self, line: &str) -> String {
        // A word in code is in no language.
        if self.is_foreign { format!("`{}`", line.replace('`', "")) } else { line.to_owned() }
    }

    pub(super) fn outcome(self, outcome: Outcome) -> String {
        match outcome {
            Outcome::Succeeded => self.say("succeeded", "erfolgreich", "成功"),
            Outcome::NoWork => self.say("nothing changed", "nichts geändert", "変更なし"),
            Outcome::Failed => self.say("failed", "gescheitert", "失敗"),
            Outcome::TestsFailed => self.say("tests failed", "Tests fehlgeschlagen", "テスト失敗"),
            Outcome::TimedOut => self.say("ran out of time", "Zeit überschritten", "時間切れ"),
            Outcome::Silent => self.say("ended after a silence", "nach Stille beendet", "無応答のため終了"),
            Outcome::OverBudget => self.say("ended over its budget", "Budget überschritten", "予算超過のため終了"),
            Outcome::Interrupted => self.say("interrupted", "unterbrochen", "中断"),
            Outcome::HarnessError => self.say("error of the harness", "Fehler des Harness", "ハーネスのエラー"),
        }
    }

    /// What a run is called, with how it ended.
    pub(super) fn run(self, id: &str, harness: &str, outcome: Outcome) -> String {
        let outcome = self.outcome(outcome);
        self.say(
            format!("Run {id} of {harness}: {outcome}"),
            format!("Lauf {id} von {harness}: {outcome}"),
            format!("ラン {id}（{harness}）: {outcome}"),
        )
    }

    pub(super) fn commits(self, count: Option<i64>, branch: Option<&str>) -> String {
        let Some(count) = count else {
            return self.say("commits not known", "Commits unbekannt", "コミット数は不明");
        };
        let number = number(count);
        let noun = if count == 1 { "commit" } else { "commits" };
        match (count, branch) {
            (0, _) => self.say("no commit", "kein Commit", "コミットなし"),
            (_, Some(branch)) => self.say(
                format!("{number} {noun} on {branch}"),
                format!("{number} {} auf {branch}", capital(noun)),
                format!("{branch} に {number} コミット"),
            ),
            (_, None) => self.say(
                format!("{number} {noun}"),
                format!("{number} {}", capital(noun)),
                format!("{number} コミット"),
            ),
        }
    }

    /// Files, lines added and lines taken away.
    pub(super) fn lines(self, counts: [Option<i64>; 3]) -> String {
        let [files, insertions, deletions] = counts.map(|count| count.map_or_else(|| self.not_known(), number));
        self.say(
            format!("files changed: {files}, lines added: {insertions}, removed: {deletions}"),
            format!("geänderte Dateien: {files}, hinzugefügte Zeilen: {insertions}, entfernte: {deletions}"),
            format!("変更ファイル: {files}、追加行: {insertions}、削除行: {deletions}"),
        )
    }

    fn not_known(self) -> String {
        self.say("not known", "unbekannt", "不明")
    }

    /// How many problems a report has.
    pub(super) fn problems(self, count: usize) -> String {
        let number = grouped(count);
        let (noun, german) = if count == 1 { ("problem", "Problem") } else { ("problems", "Probleme") };
        self.say(format!("{number} {noun}"), format!("{number} {german}"), format!("問題 {number} 件"))
    }

    /// Where the problems are that are not told.
    pub(super) fn more_problems(self, count: usize, call: &str) -> String {
        let number = grouped(count);
        self.say(
            format!("and {number} more: `{call}`"),
            format!("und {number} weitere: `{call}`"),
            format!("ほか {number} 件: `{call}`"),
        )
    }

    pub(super) fn see_to_problems(self, count: usize) -> String {
        let problems = self.problems(count);
        self.say(
            format!("See to this first ({problems} of the run):"),
            format!("Zuerst klären ({problems} des Laufs):"),
            format!("まず確認する（ランの{problems}）:"),
        )
    }

    /// Between parts of a sentence.
    pub(super) fn comma(self) -> &'static str {
        if self.tongue == Tongue::Japanese { "、" } else { ", " }
    }

    /// At the end of one.
    pub(super) fn stop(self) -> &'static str {
        if self.tongue == Tongue::Japanese { "。" } else { "." }
    }

    pub(super) fn nothing(self) -> String {
        self.say("nothing", "nichts", "なし")
    }

    pub(super) fn not_committed_in_short(self, count: i64) -> String {
        let number = number(count);
        self.say(
            format!("{number} {} not committed", files(count)),
            format!("{number} {} nicht committet", dateien(count)),
            format!("未コミット {number} ファイル"),
        )
    }

    pub(super) fn not_committed_unknown(self, worktree: &str, is_gone: bool) -> String {
        if is_gone {
            return self.say(
                format!("Not committed: not known, {worktree} is gone"),
                format!("Nicht committet: unbekannt, {worktree} ist weg"),
                format!("未コミット: 不明（{worktree} は失われた）"),
            );
        }
        self.say(
            format!("Not committed: not known, git could not say what lies in {worktree}"),
            format!("Nicht committet: unbekannt, git konnte nicht sagen, was in {worktree} liegt"),
            format!("未コミット: 不明（{worktree} の内容を git が判定できない）"),
        )
    }

    pub(super) fn not_committed_unknown_in_short(self) -> String {
        self.say("uncommitted files not known", "nicht committete Dateien unbekannt", "未コミットのファイルは不明")
    }

    pub(super) fn not_committed(self, count: i64, worktree: &str) -> String {
        let number = number(count);
        self.say(
            format!("Not committed: {number} {} in {worktree}", files(count)),
            format!("Nicht committet: {number} {} in {worktree}", dateien(count)),
            format!("未コミット: {worktree} に {number} ファイル"),
        )
    }

    /// Where the work is: the repository, its branch and the two ends of it.
    pub(super) fn place(self, repository: &str, branch: Option<&str>, base: &str, head: Option<&str>) -> String {
        let mut parts = vec![self.say(
            format!("Repository {repository}"),
            format!("Repository {repository}"),
            format!("リポジトリ {repository}"),
        )];
        parts.extend(branch.map(|branch| {
            self.say(format!("branch {branch}"), format!("Branch {branch}"), format!("ブランチ {branch}"))
        }));
        parts.push(self.say(format!("base {base}"), format!("Basis {base}"), format!("base {base}")));
        parts.extend(head.map(|head| format!("head {head}")));
        parts.join(self.comma())
    }

    pub(super) fn prepared(self, work: &str) -> String {
        self.say(format!("Prepared: {work}"), format!("Vorbereitet: {work}"), format!("準備済み: {work}"))
    }

    pub(super) fn tested(self, tests: &str) -> String {
        self.say(format!("Tested: {tests}"), format!("Getestet: {tests}"), format!("テスト済み: {tests}"))
    }

    pub(super) fn not_deployed(self) -> String {
        self.say("Deployed: nothing.", "Deployed: nichts.", "デプロイ: なし")
    }

    pub(super) fn not_verified(self) -> String {
        self.say("Verified in production: nothing.", "In Produktion geprüft: nichts.", "本番確認: なし")
    }

    pub(super) fn commits_say(self) -> String {
        self.say("The commits say (unchecked):", "Die Commits sagen (ungeprüft):", "コミットの記述（未検証）:")
    }

    pub(super) fn problems_are(self) -> String {
        self.say("Problems of the run:", "Probleme des Laufs:", "ランの問題:")
    }

    pub(super) fn harness_says(self) -> String {
        self.say("The harness says (unchecked):", "Der Harness sagt (ungeprüft):", "ハーネスの発言（未検証）:")
    }

    pub(super) fn harness_errors(self) -> String {
        self.say(
            "The harness tells of errors (unchecked):",
            "Der Harness meldet Fehler (ungeprüft):",
            "ハーネスが報告したエラー（未検証）:",
        )
    }

    pub(super) fn denied(self) -> String {
        self.say("Tools that were refused:", "Abgelehnte Werkzeuge:", "拒否されたツール:")
    }

    pub(super) fn time_and_cost(self, seconds: i64, cost: Option<&str>) -> String {
        let seconds = number(seconds);
        let time = self.say(format!("Time: {seconds} s"), format!("Zeit: {seconds} s"), format!("時間: {seconds} 秒"));
        let cost = cost.map_or_else(|| self.not_known(), |cost| format!("{cost} US$"));
        let cost = self.say(format!("cost: {cost}"), format!("Kosten: {cost}"), format!("費用: {cost}"));
        format!("{time}{}{cost}", self.comma())
    }

    /// What says that a text goes on.
    pub(super) fn cut(self, shown: usize, of: usize, call: &str) -> String {
        let (shown, of) = (grouped(shown), grouped(of));
        self.say(
            format!("(cut: {shown} of {of} characters; the rest: `{call}`)"),
            format!("(gekürzt: {shown} von {of} Zeichen; der Rest: `{call}`)"),
            format!("（{of} 文字中 {shown} 文字を表示。残り: `{call}`）"),
        )
    }

    /// Says into what it is merged as well: the command takes whatever is checked out.
    pub(super) fn review(self, merge: &str) -> String {
        self.say(
            format!("Review it, then merge it into the branch that is checked out there: {merge}"),
            format!("Prüfen, dann in den dort ausgecheckten Branch mergen: {merge}"),
            format!("確認してから、そこでチェックアウトされているブランチにマージする: {merge}"),
        )
    }

    pub(super) fn review_after_problems(self, merge: &str) -> String {
        self.say(
            format!("Only when that is seen to, review the work and merge it into the branch that is checked out there: {merge}"),
            format!("Erst wenn das geklärt ist, die Arbeit prüfen und in den dort ausgecheckten Branch mergen: {merge}"),
            format!("それを確認した後にのみ、成果を確認し、そこでチェックアウトされているブランチにマージする: {merge}"),
        )
    }

    /// What is not known, and that it has to be found out; `are_commits_known` where only files are not.
    pub(super) fn find_out(self, is_any: Option<bool>, are_commits_known: bool, worktree: &str) -> String {
        match (is_any, are_commits_known) {
            (None, _) => self.say(
                "Whether the run left work is not known: find out before anything is cleaned or started again.",
                "Ob der Lauf etwas hinterlassen hat, ist unbekannt: klären, bevor aufgeräumt oder neu gestartet wird.",
                "ランが成果を残したかは不明: 片付けや再実行の前に確認する。",
            ),
            (Some(_), false) => self.say(
                "Whether the run made commits is not known: find out before anything is cleaned or started again.",
                "Ob der Lauf Commits gemacht hat, ist unbekannt: klären, bevor aufgeräumt oder neu gestartet wird.",
                "ランがコミットしたかは不明: 片付けや再実行の前に確認する。",
            ),
            (Some(_), true) => self.say(
                format!("Whether more lies in {worktree} than the commits have is not known: find out before that worktree is cleaned."),
                format!("Ob in {worktree} mehr liegt als in den Commits, ist unbekannt: vor dem Aufräumen des Worktree klären."),
                format!("{worktree} にコミット以外の成果があるかは不明: ワークツリーを片付ける前に確認する。"),
            ),
        }
    }

    /// What the first step lists.
    pub(super) fn compared(self, worktree: &str, commit: &str) -> String {
        self.say(
            format!("It lists what in {worktree} differs from {commit} (C changed, R removed, ? not known to git)."),
            format!("Das listet, was in {worktree} von {commit} abweicht (C geändert, R entfernt, ? git unbekannt)."),
            format!("{worktree} と {commit} の差分の一覧（C 変更、R 削除、? git の管理外）。"),
        )
    }

    /// That what was not committed is lost.
    pub(super) fn lost(self, worktree: &str) -> String {
        self.say(
            format!("{worktree} is gone: what was not committed in it is lost, and nobody can say what it was."),
            format!(
                "{worktree} ist weg: was darin nicht committet war, ist verloren, und niemand kann sagen, was es war."
            ),
            format!("{worktree} は失われた: 未コミットのものは失われ、内容は不明。"),
        )
    }

    pub(super) fn printed(self, log: &str) -> String {
        self.say(
            format!("What the harness printed: {log}"),
            format!("Die Ausgabe des Harness: {log}"),
            format!("ハーネスの出力: {log}"),
        )
    }

    pub(super) fn keep_or_drop(self, count: i64, worktree: &str) -> String {
        let number = number(count);
        let (are, sind) = if count == 1 { ("is", "ist") } else { ("are", "sind") };
        self.say(
            format!("{number} {} in {worktree} {are} not committed: commit or drop before that worktree is cleaned.", files(count)),
            format!("{number} {} in {worktree} {sind} nicht committet: committen oder verwerfen, bevor der Worktree aufgeräumt wird.", dateien(count)),
            format!("{worktree} の {number} ファイルは未コミット: ワークツリーを片付ける前にコミットするか破棄する。"),
        )
    }

    pub(super) fn without_worktree(self, call: &str) -> String {
        self.say(
            format!("If that worktree is gone, make it again: {call}"),
            format!("Wenn dieser Worktree weg ist, neu anlegen: {call}"),
            format!("そのワークツリーがなければ作り直す: {call}"),
        )
    }

    pub(super) fn go_on(self, tip: &str, log: &str) -> String {
        self.say(
            format!("Go on from {tip}; what the harness printed: {log}"),
            format!("Von {tip} aus weitermachen; die Ausgabe des Harness: {log}"),
            format!("{tip} から続ける。ハーネスの出力: {log}"),
        )
    }

    pub(super) fn start_over(self, log: &str) -> String {
        self.say(
            format!("The run left no work on its branch and in its worktree. What the harness printed: {log}"),
            format!("Der Lauf hat auf seinem Branch und in seinem Worktree nichts hinterlassen. Die Ausgabe des Harness: {log}"),
            format!("ランはブランチにもワークツリーにも成果を残していない。ハーネスの出力: {log}"),
        )
    }

    /// Where it stands what the task asks for.
    pub(super) fn asked_for(self, call: &str) -> String {
        self.say(
            format!("What the task asks for: {call}"),
            format!("Was die Aufgabe verlangt: {call}"),
            format!("タスクの要求内容: {call}"),
        )
    }

    pub(super) fn whole_report(self, call: &str) -> String {
        self.say(
            format!("The whole report: {call}"),
            format!("Der ganze Bericht: {call}"),
            format!("レポート全体: {call}"),
        )
    }

    pub(super) fn steps_from_before(self) -> String {
        self.say("Steps from before this run:", "Schritte aus der Zeit vor diesem Lauf:", "このラン以前からの手順:")
    }
}

/// A count with separators; one that cannot be is told as it is.
fn number(count: i64) -> String {
    usize::try_from(count).map_or_else(|_| count.to_string(), grouped)
}

const fn files(count: i64) -> &'static str {
    if count == 1 { "file" } else { "files" }
}

const fn dateien(count: i64) -> &'static str {
    if count == 1 { "Datei" } else { "Dateien" }
}

/// The words with a capital in front, as German writes a noun.
pub(super) fn capital(noun: &str) -> String {
    let mut letters = noun.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
