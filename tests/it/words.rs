//! Searches of odd texts find on every database what they find in a file, which is what the rules of words say.
//!
//! Texts and queries come from a seed. Where the tests run on a server, that server is compared with a file.

use std::collections::{BTreeMap, BTreeSet};

use heyaira::domain::task::Content;
use heyaira::domain::words::{Phrase, Query, query_problem, words};
use heyaira::store::search::task_text;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::ground::{rows, scattered, text};
use crate::house::{Client, House};
use crate::texts::{SCRIPTS, script};

const SEED: u64 = 20_261_129;

const SIDES: [&str; 2] = ["a file", "the database of the tests"];

/// What breaks a search that takes any of it for more than text.
const ODD: [&str; 40] = [
    "it's",
    "\"quoted\"",
    "back\\slash",
    "a:b & c | d ! e <-> f:*",
    "'a':1A,2B 'b'",
    "100%",
    "per_cent%_like",
    "%",
    "{a,b}",
    "NULL null",
    "p p1 1p q r s t x 1x 12p",
    "1pquoted 1xquoted",
    "\u{e000} \u{e001}",
    "AND OR NOT NEAR(a b) ^a",
    "multi-agent two_words src/main.rs:42",
    "e4b0c44298fc1c14 9f3b2d1c-4e19-47a8-b6d5-0d6a41c877b2",
    "C++ (v2) v1.2.3-rc.4",
    "don’t don't DON'T",
    "cafe\u{301} café CAFÉ cafe",
    "ＡＰＩ ﾃｽﾄ テスト が ガ か\u{3099}",
    "Straße STRASSE ſ ß ẞ",
    "İstanbul ISTANBUL ıstanbul istanbul",
    "ΣΊΣΥΦΟΣ σίσυφος",
    "ﬁﬂﬀ ofﬁce office",
    "会議 会 議 会議室 日本語の会議",
    "会a議 a会 会a 2026年11月29日",
    "ประชุม ประ ชุม",
    "한국어 한 국 각 각",
    "हिन्दी हि न्दी",
    "👩‍👩‍👧 🔧wrench🔧 1️⃣",
    "a\u{200d}b a\u{200c}b a\u{301}\u{301}b",
    "x\u{0}y",
    "tab\tnew\nline\r\nend",
    "𠮷野家 𝕬𝖇𝖈 ǅ ꙮ",
    "½ ² ① Ⅷ ㎏ ℃ K Å",
    "לעברית עברית עִבְרִית",
    "عَرَبِيّ عربي",
    "trailing-",
    "-leading",
    "- – — … \u{2028}",
];

/// A dice that falls the same way in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: usize) -> usize {
        self.0 = scattered(self.0);
        usize::try_from(self.0 % sides as u64).expect("small")
    }

    fn one_of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    fn bits(&mut self) -> u64 {
        self.0 = scattered(self.0);
        self.0
    }

    /// Text as people and machines write it, and as neither does.
    fn piece(&mut self) -> String {
        match self.below(12) {
            0..5 => {
                let characters = 5 + self.below(80);
                let script = self.below(SCRIPTS.len());
                SCRIPTS[script].text(characters, self.bits())
            }
            5..10 => self.one_of(&ODD).replace('\0', " "),
            10 => self.long_word(),
            _ => Uuid::from_u64_pair(self.bits(), self.bits()).to_string(),
        }
    }

    /// One word around and far over every length at which a database could cut it.
    fn long_word(&mut self) -> String {
        let length = self.one_of(&[199, 255, 256, 257, 511, 512, 513, 2_046, 2_047, 2_712]);
        let letters = self.one_of(&["x", "xy", "ü", "яж", "𐐷", "नि"]);
        let end = self.one_of(&["", "a", "ab", "z"]);
        letters.chars().cycle().take(length).chain(end.chars()).collect()
    }

    fn text(&mut self) -> String {
        let pieces = 1 + self.below(4);
        let separator = self.one_of(&[" ", " ", "\n", "-", "", "/"]);
        let pieces: Vec<String> = (0..pieces).map(|_| self.piece()).collect();
        pieces.join(separator)
    }

    /// Some words of a script that is written without spaces.
    fn unspaced(&mut self) -> String {
        let name = self.one_of(&["Japanese", "Chinese", "Korean", "Thai"]);
        let characters = 2 + self.below(12);
        let seed = self.bits();
        script(name).text(characters, seed)
    }

    fn content(&mut self) -> Content {
        let is_unspaced = self.below(3) == 0;
        let mut content = Content { title: self.text(), ..Content::default() };
        for field in 0..9 {
            if self.below(3) > 0 {
                continue;
            }
            let text = if is_unspaced { self.unspaced() } else { self.text() };
            match field {
                0 => content.summary = text,
                1 => content.handoff_next = text,
                2 => content.handoff_blockers = text,
                3 => content.description = text,
                4 => content.completion_criteria = text,
                5 => content.required_reviews = text,
                6 => content.handoff_completed = text,
                7 => content.owner = Some(text),
                _ => content.tags = vec![text, self.piece()],
            }
        }
        content
    }

    /// A part of a text: some characters from anywhere in it, mostly few.
    fn part(&mut self, text: &str) -> String {
        let characters: Vec<char> = text.chars().collect();
        if characters.is_empty() {
            return String::new();
        }
        let from = self.below(characters.len());
        let most = self.one_of(&[1, 2, 3, 5, 8, 13, 40, 300]);
        characters[from..].iter().take(1 + self.below(most)).collect()
    }

    fn query(&mut self, tasks: &[(Uuid, Content)]) -> String {
        let (task_id, content) = &tasks[self.below(tasks.len())];
        let texts = task_text(content);
        let one = self.one_of(&texts);
        match self.below(11) {
            0..4 => self.part(one),
            4..6 => format!("{} {}", self.part(one), self.part(self.one_of_texts(&texts))),
            6 => {
                let words: Vec<&str> = one.split_whitespace().collect();
                if words.is_empty() { self.piece() } else { self.one_of(&words).to_owned() }
            }
            7..9 => self.over_an_end(&texts),
            9 => task_id.to_string().chars().take(1 + self.below(36)).collect(),
            _ => self.piece(),
        }
    }

    /// The end of a field and the start of the next one, where no phrase may reach.
    fn over_an_end(&mut self, texts: &[&str]) -> String {
        let at = self.below(texts.len());
        let (end, start) = (texts[at].trim_end(), texts[(at + 1) % texts.len()].trim_start());
        let (from, to) = (self.one_of(&[1, 1, 2, 3]), self.one_of(&[1, 1, 2, 3]));
        let end: Vec<char> = end.chars().rev().take(from).collect();
        end.into_iter().rev().chain(start.chars().take(to)).collect()
    }

    fn one_of_texts<'t>(&self, texts: &[&'t str]) -> &'t str {
        texts[usize::try_from(scattered(self.0) % texts.len() as u64).expect("small")]
    }
}

/// The words of every text of some tasks.
struct Words(Vec<(String, Vec<Vec<String>>)>);

impl Words {
    fn of(tasks: &[(Uuid, Content)]) -> Self {
        let cut = |(task_id, content): &(Uuid, Content)| {
            let id = task_id.to_string();
            let texts = task_text(content).into_iter().chain([id.as_str()]);
            (id[..8].to_owned(), texts.map(words).collect())
        };
        Self(tasks.iter().map(cut).collect())
    }

    /// What the rules of words say that a query finds.
    fn found_by(&self, query: &str) -> BTreeSet<String> {
        let Some(query) = Query::of(query) else {
            return BTreeSet::new();
        };
        let matches =
            |texts: &[Vec<String>]| query.phrases.iter().all(|one| texts.iter().any(|text| stands_in(one, text)));
        self.0.iter().filter(|(_, texts)| matches(texts)).map(|(id, _)| id.clone()).collect()
    }
}

/// True if the words of a phrase stand beside each other in a text, the last one whole or as a beginning.
fn stands_in(phrase: &Phrase, text: &[String]) -> bool {
    let (last, first) = phrase.words.split_last().expect("a phrase has words");
    text.windows(phrase.words.len()).any(|window| {
        let (end, start) = window.split_last().expect("as many as the phrase");
        start == first && if phrase.goes_on { end.starts_with(last.as_str()) } else { end == last }
    })
}

/// What a query finds, page by page, with its total.
fn found(client: &Client<'_>, operation: &str, query: &str) -> (Value, BTreeSet<String>) {
    let (mut ids, mut cursor) = (BTreeSet::new(), Value::Null);
    loop {
        let page = client.ok(operation, json!({"query": query, "limit": 200, "cursor": cursor}));
        let list = if operation == "task_list" { "tasks" } else { "memories" };
        for row in rows(&page[list]) {
            assert!(ids.insert(text(&row["id"])), "{query:?} brings a row twice");
        }
        match page.get("next_cursor") {
            None => return (page["total"].clone(), ids),
            Some(next) => cursor = next.clone(),
        }
    }
}

/// An empty query asks for everything, one of too many words is refused.
fn is_asked(query: &str) -> bool {
    !query.is_empty() && query_problem(query).is_none()
}

fn fill(houses: &[House; 2], tasks: &[(Uuid, Content)]) {
    for house in houses {
        house.import("ledger", tasks.iter().map(|(id, content)| (*id, 1, content.clone())).collect());
    }
}

fn drawn(dice: &mut Dice, count: usize) -> Vec<(Uuid, Content)> {
    (0..count).map(|_| (Uuid::from_u64_pair(dice.bits(), dice.bits()), dice.content())).collect()
}

#[test]
fn odd_texts_are_found_alike_everywhere() {
    let houses = [House::in_file(), House::new()];
    let mut dice = Dice(SEED);
    let tasks = drawn(&mut dice, 220);
    fill(&houses, &tasks);
    let (known, clients) = (Words::of(&tasks), houses.each_ref().map(|house| house.client("maria")));
    let mut matched = BTreeMap::<usize, usize>::new();
    for number in 0..500 {
        let query = ODD.get(number).map_or_else(|| dice.query(&tasks), |odd| odd.replace('\0', " "));
        if !is_asked(&query) {
            continue;
        }
        let expected = known.found_by(&query);
        *matched.entry(expected.len().min(3)).or_default() += 1;
        for (client, name) in clients.iter().zip(SIDES) {
            let (total, ids) = found(client, "task_list", &query);
            assert_eq!((total, &ids), (json!(expected.len()), &expected), "{name}: {query:?}");
        }
    }
    assert!(
        matched.len() == 4 && matched.values().all(|count| *count > 5),
        "the queries are too much alike: {matched:?}"
    );
}

/// Characters of a script in which a word is one of them.
fn han(dice: &mut Dice, count: usize) -> String {
    let drawn = (0..count).map(|_| char::from_u32(0x4e00 + u32::try_from(dice.below(20_000)).expect("small")));
    drawn.map(|one| one.expect("a character")).collect()
}

#[test]
fn a_task_with_more_words_than_an_index_takes_is_found_like_any_other() {
    let houses = [House::in_file(), House::new()];
    let mut dice = Dice(SEED + 3);
    let letters = |count: usize| "x".repeat(count);
    let large = format!("{} needle in_the haystack 会議 {}", han(&mut dice, 60_000), letters(33_000));
    let (start, middle) = (text_from(&large, 0, 3), text_from(&large, 50_000, 4));
    let crossed = format!("{}{start}", text_from(&middle, 1, 1));
    let task = |number: u64, title: &str, text: &str, other: &str| {
        let content = Content {
            title: title.to_owned(),
            description: text.to_owned(),
            handoff_completed: other.to_owned(),
            ..Content::default()
        };
        (Uuid::from_u64_pair(scattered(number), number), content)
    };
    let other = han(&mut dice, 60_000);
    let tasks = [
        task(0, "large", &large, &other),
        task(1, "small", "a needle, in the haystack of a 会議室", &letters(300)),
        task(2, "smaller", "needles in haystacks", &letters(33_001)),
        task(3, "and nothing", "of it", ""),
    ];
    // One by one: a database does not wait for ever for the rest of a transaction.
    for task in &tasks {
        fill(&houses, std::slice::from_ref(task));
    }
    // Another project has none of it.
    for house in &houses {
        house.add_project("other");
    }
    let clients = houses.each_ref().map(|house| house.client("maria"));
    let known = Words::of(&tasks);
    let strangers = houses.each_ref().map(|house| house.client_in("other", "maria"));
    let (x255, x256, x300) = (letters(255), letters(256), letters(300));
    let (x33000, x33001) = (letters(33_000), letters(33_001));
    for (query, count) in [
        ("needle", 3),
        ("needl hay", 3),
        ("in-the-haystack", 2),
        ("in_the ha", 2),
        ("the_in", 0),
        ("large", 1),
        ("small", 2),
        ("会議", 2),
        ("会議室", 1),
        ("議 会", 2),
        (&start, 1),
        (&middle, 1),
        (&crossed, 0),
        (&x255, 3),
        (&x256, 3),
        (&x300, 3),
        (&x33000, 2),
        (&x33001, 1),
        ("nothing", 1),
        ("needle absent", 0),
    ] {
        let expected = known.found_by(query);
        assert_eq!(expected.len(), count, "{query:.40}");
        for ((client, stranger), name) in clients.iter().zip(&strangers).zip(SIDES) {
            let (total, ids) = found(client, "task_list", query);
            assert_eq!((total, &ids), (json!(count), &expected), "{name}: {query:.40}");
            assert_eq!(found(stranger, "task_list", query).0, 0, "{name}: {query:.40}");
        }
    }
}

fn text_from(text: &str, from: usize, count: usize) -> String {
    text.chars().skip(from).take(count).collect()
}

#[test]
fn odd_memories_are_found_alike_everywhere() {
    let houses = [House::in_file(), House::new()];
    let clients = houses.each_ref().map(|house| house.client("maria"));
    let mut dice = Dice(SEED + 1);
    let bodies: Vec<(Uuid, Content)> = drawn(&mut dice, 120);
    for (number, (_, content)) in bodies.iter().enumerate() {
        let new = json!({"kind": "fact", "summary": format!("fact {number}"), "body": task_text(content).join("\n")});
        let [one, other] = clients.each_ref().map(|client| client.call("memory_add", new.clone()));
        assert_eq!(one.map(|one| one["id"].clone()), other.map(|other| other["id"].clone()), "{new}");
    }
    let mut hits = 0;
    for _ in 0..400 {
        let query = dice.query(&bodies);
        if is_asked(&query) {
            let [one, other] = clients.each_ref().map(|client| found(client, "memory_search", &query));
            assert_eq!(one, other, "{query:?}");
            hits += one.1.len();
        }
    }
    assert!(hits > 400, "only {hits} memories were found");
}

/// So many tasks that databases tell frequent words by samples.
const MANY: usize = 4_200;

#[test]
fn frequent_and_rare_words_are_found_alike_in_a_large_project() {
    let houses = [House::in_file(), House::new()];
    let mut dice = Dice(SEED + 2);
    let mut task = |number: usize| {
        let mut title = vec!["everywhere".to_owned(), format!("number{number}")];
        title.extend(number.is_multiple_of(2).then(|| "half-way import".to_owned()));
        title.extend((number % 2 == 1).then(|| "half the way, imported 会議".to_owned()));
        title.extend(number.is_multiple_of(7).then(|| "seventh 会社 議会".to_owned()));
        title.extend(number.is_multiple_of(97).then(|| "seldom".to_owned()));
        title.extend((number % 1_999 == 5).then(|| "quokka".to_owned()));
        let at = dice.below(title.len());
        title.rotate_left(at);
        let content = Content { title: title.join(" "), ..Content::default() };
        (Uuid::from_u64_pair(dice.bits(), dice.bits()), content)
    };
    let tasks: Vec<(Uuid, Content)> = (0..MANY).map(&mut task).collect();
    fill(&houses, &tasks);
    let (known, clients) = (Words::of(&tasks), houses.each_ref().map(|house| house.client("maria")));
    for query in [
        "everywhere",
        "every",
        "imp",
        "import",
        "imported",
        "half-way",
        "half way",
        "会議",
        "会",
        "会社",
        "seventh",
        "seventh half-way",
        "seldom",
        "sel imp",
        "quokka",
        "quokka everywhere",
        "quok ever imp",
        "quokka half-way",
        "number49",
        "number49 everywhere import",
        "seldom 会議",
        "absent everywhere",
        "everywhere half-way-way",
    ] {
        let expected = known.found_by(query);
        let told = if expected.len() > 1_000 { json!("1000+") } else { json!(expected.len()) };
        for (client, name) in clients.iter().zip(SIDES) {
            let (total, ids) = found(client, "task_list", query);
            assert_eq!(total, told, "{name}: {query:?}");
            assert!(ids == expected, "{name}: {query:?}: {} ids, {} expected", ids.len(), expected.len());
            let status = client.ok("task_list", json!({"query": query, "status": "todo"}));
            assert_eq!(status["total"], told, "{name}: {query:?} with a status");
        }
    }
}
