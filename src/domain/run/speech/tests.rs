//! The sentences about the test commands of a run. Must never call one that was not run passed or failed.

use super::{Speech, number};
use crate::domain::run::{Test, Totals};
use crate::domain::text::grouped;

impl Speech {
    pub(in crate::domain::run) fn not_tested(self) -> String {
        self.say(
            "tests not run, no test command was run",
            "Tests nicht ausgeführt (not run), kein Testkommando lief",
            "テストなし、テストコマンドは未実行",
        )
    }

    /// How many of the test commands passed.
    pub(in crate::domain::run) fn commands_passed(self, passed: usize, of: usize) -> String {
        self.say(
            format!("Run by `sh -c` in the worktree, {passed}/{of} passed"),
            format!("Mit `sh -c` im Worktree ausgeführt, {passed}/{of} bestanden"),
            format!("ワークツリーで `sh -c` により実行、{passed}/{of} 成功"),
        )
    }

    pub(in crate::domain::run) fn tests_in_short(self, passed: i64, failed: i64, is_of_commands: bool) -> String {
        let (passed, failed) = (number(passed), number(failed));
        if is_of_commands {
            return self.say(
                format!("test commands: {passed} passed, {failed} failed"),
                format!("Testkommandos: {passed} bestanden, {failed} fehlgeschlagen"),
                format!("テストコマンド {passed} 件成功、{failed} 件失敗"),
            );
        }
        self.say(
            format!("tests: {passed} passed, {failed} failed"),
            format!("Tests: {passed} bestanden, {failed} fehlgeschlagen"),
            format!("テスト {passed} 件成功、{failed} 件失敗"),
        )
    }

    /// How a test command ended.
    pub(in crate::domain::run) fn end_of_test(self, test: &Test) -> String {
        let seconds = number((test.ms + 500) / 1_000);
        match (test.timed_out, test.exit.code, test.exit.signal) {
            (true, ..) => self.say(
                format!("failed, it took too long and was ended after {seconds} s"),
                format!("fehlgeschlagen, dauerte zu lange und wurde nach {seconds} s beendet"),
                format!("失敗、時間がかかりすぎ {seconds} 秒で終了"),
            ),
            (_, Some(code), _) => {
                self.say(format!("exit code {code}"), format!("Exit-Code {code}"), format!("終了コード {code}"))
            }
            (_, None, Some(signal)) => self.say(
                format!("failed, ended by signal {signal}"),
                format!("fehlgeschlagen, durch Signal {signal} beendet"),
                format!("失敗、シグナル {signal} で終了"),
            ),
            (_, None, None) => self.say(
                "failed, it could not be started (not run)",
                "fehlgeschlagen, konnte nicht gestartet werden (not run)",
                "失敗、起動できず（テストしていない）",
            ),
        }
    }

    pub(in crate::domain::run) fn totals(self, totals: Option<&Totals>) -> String {
        let Some(totals) = totals else {
            return self.say("its totals are not known", "Summen unbekannt", "集計は不明");
        };
        let [passed, failed, skipped] = [totals.passed, totals.failed, totals.skipped].map(number);
        self.say(
            format!("{passed} passed, {failed} failed, {skipped} skipped"),
            format!("{passed} bestanden, {failed} fehlgeschlagen, {skipped} übersprungen"),
            format!("{passed} 件成功、{failed} 件失敗、{skipped} 件スキップ"),
        )
    }

    pub(in crate::domain::run) fn failing(self, failed: usize, of: usize, log: &str) -> String {
        self.say(
            format!("{failed} of {of} test commands failed in the run; what this one printed: {log}"),
            format!("{failed} von {of} Testkommandos sind im Lauf gescheitert; die Ausgabe von diesem: {log}"),
            format!("ランではテストコマンド {of} 件中 {failed} 件が失敗。その出力: {log}"),
        )
    }

    /// A test command that was not run.
    pub(in crate::domain::run) fn not_run(self, command: &str) -> String {
        self.say(
            format!("not run: {command}"),
            // The rules of a handoff know no German: the English words are for them.
            format!("Test nicht ausgeführt (not run): {command}"),
            format!("テスト未実行: {command}"),
        )
    }

    /// That none of the test commands was run.
    pub(in crate::domain::run) fn none_run_in_short(self) -> String {
        self.say("tests not run", "Tests nicht ausgeführt (not run)", "テスト未実行")
    }

    /// How many were not run beside those that were.
    pub(in crate::domain::run) fn others_not_run_in_short(self, count: usize) -> String {
        let (number, command, kommando) = (grouped(count), commands(count), kommandos(count));
        self.say(
            format!("{number} {command} not run"),
            format!("{number} {kommando} nicht ausgeführt"),
            format!("テストコマンド {number} 件は未実行"),
        )
    }

    /// The call that runs a test command that was not run.
    pub(in crate::domain::run) fn to_be_tested(self, call: &str) -> String {
        self.say(
            format!("This test was not run: {call}"),
            format!("Dieser Test wurde nicht ausgeführt (not run): {call}"),
            format!("このテストは未実行: {call}"),
        )
    }

    /// Where those stand that were not run and have no call.
    pub(in crate::domain::run) fn more_to_be_tested(self, count: usize, call: &str) -> String {
        let (number, command, kommando) = (grouped(count), commands(count), kommandos(count));
        self.say(
            format!("Not run, and not listed here: {number} {command}: {call}"),
            format!("Nicht ausgeführt (not run) und hier nicht aufgeführt: {number} {kommando}: {call}"),
            format!("未実行で、ここに載せていないテストコマンド {number} 件: {call}"),
        )
    }
}

const fn commands(count: usize) -> &'static str {
    if count == 1 { "test command" } else { "test commands" }
}

const fn kommandos(count: usize) -> &'static str {
    if count == 1 { "Testkommando" } else { "Testkommandos" }
}
