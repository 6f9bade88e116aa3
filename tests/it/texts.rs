//! Texts in many scripts and shapes, as long as a test wants them, the same in every run.

use crate::ground::scattered;

/// A script or shape, and how one piece of it is made from a number.
pub(crate) struct Script {
    pub(crate) name: &'static str,
    piece: Piece,
}

enum Piece {
    /// One of these sentences.
    Sentences(&'static [&'static str]),
    /// Some symbols drawn from a set.
    Drawn(&'static [&'static str]),
    /// Random bytes in an encoding of this alphabet, in lines.
    Encoded(&'static str),
}

/// Everything that people put into handoffs, and what machines put there.
pub(crate) const SCRIPTS: [Script; 22] = [
    Script { name: "English", piece: Piece::Sentences(&ENGLISH) },
    Script { name: "Markdown", piece: Piece::Sentences(&MARKDOWN) },
    Script { name: "Japanese", piece: Piece::Sentences(&JAPANESE) },
    Script { name: "Chinese", piece: Piece::Sentences(&CHINESE) },
    Script { name: "Korean", piece: Piece::Sentences(&KOREAN) },
    Script { name: "Thai", piece: Piece::Sentences(&THAI) },
    Script { name: "Arabic", piece: Piece::Sentences(&ARABIC) },
    Script { name: "Hebrew", piece: Piece::Sentences(&HEBREW) },
    Script { name: "Hindi", piece: Piece::Sentences(&HINDI) },
    Script { name: "Russian", piece: Piece::Sentences(&RUSSIAN) },
    Script { name: "Greek", piece: Piece::Sentences(&GREEK) },
    Script { name: "Vietnamese", piece: Piece::Sentences(&VIETNAMESE) },
    Script { name: "German", piece: Piece::Sentences(&GERMAN) },
    Script { name: "Sinhala", piece: Piece::Sentences(&SINHALA) },
    Script { name: "emoji", piece: Piece::Drawn(&EMOJI) },
    Script {
        name: "base64",
        piece: Piece::Encoded("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"),
    },
    Script { name: "hex", piece: Piece::Encoded("0123456789abcdef") },
    Script { name: "hashes", piece: Piece::Sentences(&HASHES) },
    Script { name: "random letters", piece: Piece::Encoded("abcdefghijklmnopqrstuvwxyz") },
    Script { name: "rare letters", piece: Piece::Drawn(&RARE) },
    Script { name: "source code", piece: Piece::Sentences(&SOURCE) },
    Script { name: "punctuation", piece: Piece::Drawn(&PUNCTUATION) },
];

/// The script of that name.
pub(crate) fn script(name: &str) -> &'static Script {
    SCRIPTS.iter().find(|script| script.name == name).unwrap_or_else(|| panic!("no script {name}"))
}

impl Script {
    /// A text of exactly so many characters; another for each `seed`.
    pub(crate) fn text(&self, characters: usize, seed: u64) -> String {
        let mut text = String::new();
        let mut length = 0;
        let mut number = scattered(seed);
        while length < characters {
            number = scattered(number);
            let piece = self.piece(number);
            length += piece.chars().count();
            text.push_str(&piece);
        }
        let text: String = text.chars().take(characters).collect();
        // A text that a field takes must not be blank, and its ends must survive.
        text.replace('\0', " ")
    }

    /// The same without line breaks, as titles and summaries are.
    pub(crate) fn line(&self, characters: usize, seed: u64) -> String {
        self.text(characters, seed).replace(['\n', '\r', '\t'], " ")
    }

    fn piece(&self, number: u64) -> String {
        let one_of = |count: usize, number: u64| usize::try_from(number % count as u64).expect("small");
        match self.piece {
            Piece::Sentences(sentences) => {
                let end = if number & 0x700 == 0 { "\n" } else { " " };
                format!("{}{end}", sentences[one_of(sentences.len(), number)])
            }
            Piece::Drawn(symbols) => {
                let drawn = (0..12).map(|step| symbols[one_of(symbols.len(), scattered(number + step))]);
                drawn.collect()
            }
            Piece::Encoded(alphabet) => {
                let letters: Vec<char> = alphabet.chars().collect();
                let drawn = (0..40 + number % 40).map(|step| letters[one_of(letters.len(), scattered(number + step))]);
                let end = if number & 0x300 == 0 { '\n' } else { ' ' };
                drawn.chain([end]).collect()
            }
        }
    }
}

const ENGLISH: [&str; 8] = [
    "The importer now reads batch entries as well, and the four files that the bank sent in March parse without a warning.",
    "Prepared on the branch feat/statement-import, not deployed; the migration has not run on staging yet.",
    "Tomas asked for the review of the schema change before Friday, because the release train leaves on Monday morning.",
    "Everything that touches rounding was left alone on purpose: amounts are integers in minor units everywhere.",
    "I could not reproduce the timeout on my machine, even with 100,000 lines and a cold cache.",
    "If the load test takes longer than twenty seconds, look at the index on account_id first and at the parser second.",
    "The old behaviour is kept behind a flag until the pilot customers have confirmed that their reports still match.",
    "Nothing is known about Windows; the continuous integration there was down for the whole of this session.",
];

const MARKDOWN: [&str; 8] = [
    "## What is done\n\n- [x] **Parser** in `crates/import/src/camt.rs` (entries, batch entries, charges)\n- [ ] _Load test_ with 100,000 lines\n",
    "| file | before | after |\n| --- | ---: | ---: |\n| `camt.rs` | 412 | 518 |\n| `api.rs` | 97 | 131 |\n",
    "1. Run `cargo test -p import` and read the two failures.\n2. Then open [PR #412](https://example.org/acme/ledger/pull/412).\n",
    "> Agreed with Tomas on 2026-11-24: no rounding anywhere in the importer.\n",
    "```sh\ngit switch feat/statement-import && cargo test -p import camt::batch\n```\n",
    "### Decisions that hold\n\n* `m-b7f03c1e`: minor units\n* `m-41d9c8aa`: idempotent by **account_id + entry_ref**\n",
    "- Tested: `148 passed, 0 failed`; *not run*: `cargo test --workspace` (the machine is down since 14:00)\n",
    "---\n\nBase `4c19e7a`, head `9f3b2d1`, 12 files changed, 518 insertions(+), 97 deletions(-).\n",
];

const JAPANESE: [&str; 6] = [
    "明細の取り込みは動くようになりましたが、一括入力の行はまだ合計されていません。",
    "会議で決まったとおり、金額は常に最小単位の整数で扱い、丸めは一切行いません。",
    "テストは百四十八件すべて成功しました。ワークスペース全体の試験はまだ実行していません。",
    "次の担当者は、まずブランチを切り替えて、無視されている二つのテストを有効にしてください。",
    "本番環境では何も確認していません。フラグは無効のままで、移行も実行されていません。",
    "エラーが出る四つのファイルは、参照番号が別の欄に入っているため読み取れませんでした。",
];

const CHINESE: [&str; 5] = [
    "对账单导入功能已经可以运行,但批量条目还没有汇总。",
    "会议上已经决定:金额一律使用最小单位的整数,任何地方都不做四舍五入。",
    "一百四十八个测试全部通过,整个工作区的测试还没有运行。",
    "下一位接手的人请先切换分支,然后启用两个被忽略的测试。",
    "生产环境中尚未验证任何内容,功能开关仍然关闭,数据库迁移也没有执行。",
];

const KOREAN: [&str; 5] = [
    "명세서 가져오기는 이제 작동하지만 일괄 항목은 아직 합산되지 않습니다.",
    "회의에서 결정한 대로 금액은 항상 최소 단위의 정수로 처리하고 반올림은 하지 않습니다.",
    "테스트 백사십팔 건이 모두 통과했으며 전체 작업 공간의 테스트는 실행하지 않았습니다.",
    "다음 담당자는 먼저 브랜치를 바꾸고 무시된 두 테스트를 활성화하십시오.",
    "운영 환경에서는 아무것도 확인하지 않았고 플래그는 꺼져 있습니다.",
];

const THAI: [&str; 5] = [
    "การนำเข้ารายการเดินบัญชีทำงานได้แล้ว แต่รายการแบบกลุ่มยังไม่ได้รวมยอด",
    "ที่ประชุมตกลงกันว่าจำนวนเงินต้องเป็นจำนวนเต็มในหน่วยย่อยเสมอ และไม่มีการปัดเศษ",
    "การทดสอบทั้งหมดหนึ่งร้อยสี่สิบแปดรายการผ่านแล้ว ส่วนการทดสอบทั้งโครงการยังไม่ได้ทำ",
    "ผู้รับช่วงต่อควรสลับไปยังสาขาที่ถูกต้องก่อน แล้วเปิดใช้การทดสอบที่ถูกข้ามไว้สองรายการ",
    "ยังไม่มีสิ่งใดได้รับการยืนยันบนระบบจริง และยังไม่ได้ย้ายฐานข้อมูล",
];

const ARABIC: [&str; 5] = [
    "يعمل استيراد كشوف الحساب الآن، لكن القيود المجمعة لم تجمع بعد.",
    "اتفقنا في الاجتماع على أن تكون المبالغ أعدادا صحيحة بأصغر وحدة دائما ومن دون أي تقريب.",
    "نجحت الاختبارات كلها وعددها مئة وثمانية وأربعون، ولم تشغل اختبارات المشروع بأكمله.",
    "على من يتولى العمل بعدي أن ينتقل أولا إلى الفرع ثم يفعل الاختبارين المتجاهلين.",
    "لم يتحقق أحد من شيء في بيئة الإنتاج، والخاصية ما زالت معطلة هناك.",
];

const HEBREW: [&str; 4] = [
    "ייבוא דפי החשבון עובד עכשיו, אבל רשומות מקובצות עדיין אינן מסוכמות.",
    "בישיבה הוחלט שהסכומים יהיו תמיד מספרים שלמים ביחידה הקטנה ביותר, ללא עיגול.",
    "כל מאה ארבעים ושמונה הבדיקות עברו, והבדיקות של כל הפרויקט לא הורצו.",
    "מי שממשיך אחריי יעבור קודם לענף הנכון ויפעיל את שתי הבדיקות שדולגו.",
];

const HINDI: [&str; 5] = [
    "खाता विवरण का आयात अब काम करता है, लेकिन समूहित प्रविष्टियों का योग अभी नहीं होता।",
    "बैठक में तय हुआ कि राशियाँ हमेशा सबसे छोटी इकाई में पूर्णांक होंगी और कहीं भी पूर्णांकन नहीं होगा।",
    "सभी एक सौ अड़तालीस परीक्षण सफल रहे, पूरे कार्यक्षेत्र के परीक्षण नहीं चलाए गए।",
    "अगला व्यक्ति पहले शाखा बदले और फिर दो अनदेखे परीक्षणों को चालू करे।",
    "उत्पादन परिवेश में कुछ भी जाँचा नहीं गया है और सुविधा वहाँ अभी भी बंद है।",
];

const RUSSIAN: [&str; 5] = [
    "Импорт выписок теперь работает, но пакетные записи пока не суммируются.",
    "На совещании решили, что суммы всегда хранятся целыми числами в младших единицах, без округления.",
    "Все сто сорок восемь тестов прошли успешно, тесты всего проекта не запускались.",
    "Следующему исполнителю нужно сначала переключить ветку и включить два пропущенных теста.",
    "В рабочей среде ничего не проверено: флаг выключен, миграция не выполнялась.",
];

const GREEK: [&str; 4] = [
    "Η εισαγωγή των κινήσεων λειτουργεί πλέον, όμως οι ομαδικές εγγραφές δεν αθροίζονται ακόμη.",
    "Στη συνάντηση συμφωνήθηκε ότι τα ποσά είναι πάντα ακέραιοι στη μικρότερη μονάδα, χωρίς στρογγυλοποίηση.",
    "Και οι εκατόν σαράντα οκτώ έλεγχοι πέρασαν· οι έλεγχοι ολόκληρου του έργου δεν εκτελέστηκαν.",
    "Ο επόμενος πρέπει πρώτα να αλλάξει κλάδο και να ενεργοποιήσει τους δύο ελέγχους που παραλείπονται.",
];

const VIETNAMESE: [&str; 4] = [
    "Việc nhập sao kê đã hoạt động, nhưng các mục gộp vẫn chưa được cộng lại.",
    "Cuộc họp đã quyết định rằng số tiền luôn là số nguyên theo đơn vị nhỏ nhất, không làm tròn ở bất cứ đâu.",
    "Tất cả một trăm bốn mươi tám bài kiểm thử đều đạt, kiểm thử toàn bộ dự án chưa được chạy.",
    "Người tiếp nhận trước hết hãy chuyển nhánh rồi bật hai bài kiểm thử đang bị bỏ qua.",
];

const GERMAN: [&str; 5] = [
    "Der Import der Kontoauszüge läuft jetzt, nur die Sammelbuchungen werden noch nicht aufsummiert.",
    "Beträge bleiben überall ganze Zahlen in der kleinsten Währungseinheit; gerundet wird nirgends.",
    "Alle 148 Prüfungen sind bestanden, die Gesamtprüfung des Arbeitsbereichs wurde nicht ausgeführt.",
    "Wer übernimmt, wechselt zuerst den Zweig und schaltet die zwei übersprungenen Prüfungen wieder ein.",
    "Im Echtbetrieb ist nichts nachgewiesen: der Schalter steht auf aus, die Datenbankumstellung fehlt.",
];

const SINHALA: [&str; 3] = [
    "සියලු මනුෂ්‍යයෝ නිදහස්ව උපත ලබා ඇත.",
    "ගරුත්වයෙන් හා අයිතිවාසිකම්වලින් සමාන වෙති.",
    "යුක්ති අයුක්ති පිළිබඳ හැඟීමෙන් හා හෘදය සාක්ෂියෙන් යුත් ඔවුන් ඔවුනොවුන්වුට සැළකිය යුත්තේ සහෝදරත්වය පිළිබඳ හැඟීමෙනි.",
];

const HASHES: [&str; 6] = [
    "9f3b2d1c4e19e7a8b6d5",
    "4c19e7a",
    "0d6a41c8-77b2-4f3e-8a10-2f9e5c7d6b31",
    "aGV5YWlyYTp0aGlzL2lz+bm90YVNlY3JldA==",
    "SHA256:uNiVztksCsDhcc0u9e8BgrJXVGDHTqFHVyaAiYfvzPM",
    "01HZX3K9V7Q2M8N4B6C1D5F0GA",
];

const RARE: [&str; 12] = ["𠮷", "𡈽", "𪚥", "ᚠ", "ᛇ", "ᚻ", "𝕬", "𝖇", "ǅ", "ʁ", "ἄ", "ꙮ"];

const EMOJI: [&str; 27] = [
    "🔧",
    "🪛",
    "🧑‍🚀",
    "😀",
    "🎉",
    "🚀",
    "✅",
    "❌",
    "🔥",
    "👍🏽",
    "👩‍💻",
    "👨‍👩‍👧‍👦",
    "🏳️‍🌈",
    "🇯🇵",
    "🇩🇪",
    "1️⃣",
    "❤️",
    "🧑🏿‍🚀",
    "🫠",
    "🪩",
    "♻️",
    "⚠️",
    "🕵🏻‍♀️",
    "🐈‍⬛",
    "🙆🏾‍♂️",
    "🧬",
    "🏴󠁧󠁢󠁥󠁮󠁧󠁿",
];

const SOURCE: [&str; 9] = [
    "if (x[i] != y->z) { return \"\\\\n\\t%d\"; }\n",
    "fn read_batch(&mut self, entry: &Entry) -> Result<Vec<Line>, ImportError> {\n    let mut lines = Vec::with_capacity(entry.details.len());\n",
    "    for (index, detail) in entry.details.iter().enumerate() {\n        lines.push(Line::new(detail.amount * 100, &detail.reference)?);\n    }\n",
    "    if code == \"RCDT\" && !detail.is_empty() { return Err(ImportError::Missing { index, field: \"BkTxCd\" }); }\n",
    "select l.account_id, sum(l.amount) from statement_line l where l.booked_at >= ?1 and l.entry_ref is not null group by 1;\n",
    "const retry = async (call, left = 3) => { try { return await call(); } catch (e) { if (!left) throw e; return retry(call, left - 1); } };\n",
    "C:\\Users\\maria\\ledger\\target\\debug\\import.exe --lines=100000 2>&1 | findstr /i \"error\"\n",
    "{\"entries\":[{\"amt\":12050,\"ccy\":\"CHF\",\"ref\":\"REF:88-1203\"},{\"amt\":-310,\"ccy\":\"EUR\",\"ref\":null}],\"next\":\"c1:3f.9a\"}\n",
    "thread 'main' panicked at crates/import/src/camt.rs:318:27: index out of bounds: the len is 4 but the index is 4\n",
];

const PUNCTUATION: [&str; 34] = [
    "!", "\"", "#", "$", "%", "&", "'", "(", ")", "*", "+", ",", "-", ".", "/", ":", ";", "<", "=", ">", "?", "@", "[",
    "\\", "]", "^", "_", "`", "{", "|", "}", "~", "…", " ",
];

#[test]
fn sessions_that_began_in_one_minute_are_told_apart_in_rows() {
    use heyaira::domain::session::short;
    let (one, other) = ("codex:01a22a6d-c7e1-7ad3-b845-066eee8fc639", "codex:01a22a6d-f08b-7062-9a11-3d5b0c2e7f44");
    assert_eq!((short(one), short(other)), ("codex:01a22a6d-c7e1".to_owned(), "codex:01a22a6d-f08b".to_owned()));
    assert_eq!(short("claude-code:0d6a41c8-77b2-4f3e-8a10-2f9e5c7d6b31"), "claude-code:0d6a41c8");
}
