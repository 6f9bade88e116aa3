//! The size of answers: at most about 10 KB and 4,000 tokens, whatever is stored. What does not fit is named, with the
//! call that brings it. Must never cut without saying so.

use serde_json::{Map, Value, json};

use crate::domain::text::{self, length};
use crate::domain::tokens::TokenEstimate;

/// What a default answer may cost. One unit is a byte of JSON; a token counts as 2.56 of them, so that one number
/// stands for both limits of the contract (10,240 bytes, 4,000 tokens).
pub const ANSWER: usize = 9_800;

/// The cost of a text inside an answer, character by character, as JSON writes it.
#[derive(Default)]
struct Cost {
    bytes: usize,
    tokens: TokenEstimate,
}

impl Cost {
    #[inline]
    fn add(&mut self, character: char) {
        if character < ' ' || character == '"' || character == '\\' {
            return self.add_escaped(character);
        }
        self.bytes += character.len_utf8();
        self.tokens.push(character);
    }

    /// Adds the small plain letters at the beginning of a text, many at once; answers what comes behind them.
    fn add_letters<'t>(&mut self, text: &'t str) -> &'t str {
        let letters = text.bytes().position(|byte| !byte.is_ascii_lowercase()).unwrap_or(text.len());
        let (letters, rest) = text.split_at(letters);
        self.bytes += letters.len();
        self.tokens.push_letters(letters.as_bytes());
        rest
    }

    fn add_escaped(&mut self, character: char) {
        match character {
            '\n' => self.escaped(&['n']),
            '\r' => self.escaped(&['r']),
            '\t' => self.escaped(&['t']),
            '\0'..='\x1f' => self.escaped(&['u', '0', '0', '1', 'f']),
            _ => self.escaped(&[character]),
        }
    }

    fn escaped(&mut self, rest: &[char]) {
        self.bytes += 1 + rest.len();
        self.tokens.push('\\');
        for character in rest {
            self.tokens.push(*character);
        }
    }

    fn total(&self) -> usize {
        self.bytes.max(self.tokens.tokens() * 64 / 25)
    }
}

/// What a text costs inside an answer.
pub fn cost_of_text(text: &str) -> usize {
    let mut cost = Cost::default();
    let mut rest = text;
    while !rest.is_empty() {
        rest = cost.add_letters(rest);
        let mut characters = rest.chars();
        characters.next().into_iter().for_each(|character| cost.add(character));
        rest = characters.as_str();
    }
    cost.total()
}

/// What the quotation marks around a text cost.
const QUOTES: usize = 4;

/// What a value costs as compact JSON.
pub fn cost_of(value: &Value) -> usize {
    match value {
        Value::String(text) => cost_of_text(text) + QUOTES,
        Value::Array(items) => cost_of_rows(items),
        Value::Object(fields) => cost_of_fields(fields),
        _ => 6,
    }
}

/// What an array costs.
pub fn cost_of_rows(rows: &[Value]) -> usize {
    2 + rows.iter().map(|row| cost_of(row) + 1).sum::<usize>()
}

/// What an array of texts costs.
pub fn cost_of_texts(texts: &[String]) -> usize {
    2 + texts.iter().map(|text| cost_of_text(text) + QUOTES + 1).sum::<usize>()
}

/// What an object costs.
pub fn cost_of_fields(fields: &Map<String, Value>) -> usize {
    2 + fields.iter().map(|(name, value)| cost_of_field(name, cost_of(value))).sum::<usize>()
}

/// What a field of an object costs whose value costs so much.
fn cost_of_field(name: &str, value: usize) -> usize {
    name.len() + 8 + value
}

/// The first of `rows` that fit into `room`, at least one, as a page needs; and how many were left out.
pub fn rows_that_fit(rows: Vec<Value>, room: usize) -> (Vec<Value>, usize) {
    first_rows(rows, room, 1)
}

/// The first of `rows` that fit into `room`, perhaps none; and how many were left out.
pub fn rows_within(rows: Vec<Value>, room: usize) -> (Vec<Value>, usize) {
    first_rows(rows, room, 0)
}

fn first_rows(mut rows: Vec<Value>, room: usize, least: usize) -> (Vec<Value>, usize) {
    let mut left = room;
    let mut taken = 0;
    for row in &rows {
        let cost = cost_of(row) + 1;
        if taken >= least && cost > left {
            break;
        }
        left = left.saturating_sub(cost);
        taken += 1;
    }
    let rest = rows.len() - taken;
    rows.truncate(taken);
    (rows, rest)
}

/// The first of `rows` that fit into `room`; where none does, the first with their texts clipped. Perhaps none.
pub fn rows_at_a_glance(rows: Vec<Value>, room: usize) -> Vec<Value> {
    /// What a clipped text may cost.
    const GLANCE: usize = 300;
    if rows.first().is_some_and(|row| cost_of(row) < room) {
        return rows_within(rows, room).0;
    }
    let clip = |row: Value| match row {
        Value::Object(fields) => {
            let clip = |value: Value| value.as_str().map_or_else(|| value.clone(), |text| json!(clipped(text, GLANCE)));
            Value::Object(fields.into_iter().map(|(name, value)| (name, clip(value))).collect())
        }
        other => other,
    };
    rows_within(rows.into_iter().map(clip).collect(), room).0
}

/// How many characters of `text` fit into `room`.
pub fn characters_that_fit(text: &str, room: usize) -> usize {
    let mut cost = Cost::default();
    let fitting = text.chars().take_while(|character| {
        cost.add(*character);
        cost.total() <= room
    });
    fitting.count()
}

/// The text, or as much of it as fits into `room` and `…`.
pub fn clipped(text: &str, room: usize) -> String {
    let shown = characters_that_fit(text, room);
    if shown == length(text) { text.to_owned() } else { format!("{}…", text::head(text, shown)) }
}

/// What says that a value was cut: how much is shown, of how much, and the call for the rest.
pub fn cut(shown: usize, of: usize, rest: &str) -> Value {
    json!({"shown": shown, "of": of, "rest": rest})
}

/// One long text of an answer.
pub struct Part<'t> {
    /// The field's name in the answer.
    pub name: &'static str,
    /// The text.
    pub text: &'t str,
    /// What the field costs when it is whole.
    pub cost: usize,
}

impl<'t> Part<'t> {
    /// A field with its text.
    pub fn of(name: &'static str, text: &'t str) -> Self {
        Self { name, text, cost: cost_of_field(name, cost_of_text(text) + QUOTES) }
    }
}

/// What several texts cost when they are whole.
pub fn cost_of_parts(parts: &[Part<'_>]) -> usize {
    parts.iter().map(|part| part.cost).sum()
}

/// Puts texts into `answer`, in order, each whole if it can be and otherwise cut to its fair share of `room`.
///
/// Answers the cut ones by name: how many characters are shown, of how many, and the call for the rest, which `rest`
/// makes from the field's name and the offset.
pub fn put_texts(
    answer: &mut Map<String, Value>,
    parts: &[Part<'_>],
    room: usize,
    rest: impl Fn(&str, usize) -> String,
) -> Map<String, Value> {
    let costs: Vec<usize> = parts.iter().map(|part| part.cost).collect();
    let mut names = Map::new();
    for ((part, cost), share) in parts.iter().zip(&costs).zip(fair_shares(&costs, room)) {
        if *cost <= share {
            answer.insert(part.name.to_owned(), json!(part.text));
            continue;
        }
        let of = length(part.text);
        // The name stands twice: before the text, and before what says that it is cut.
        let said = cost_of_field(part.name, cost_of_field(part.name, cost_of(&cut(of, of, &rest(part.name, of)))));
        let shown = characters_that_fit(part.text, share.saturating_sub(said + QUOTES));
        answer.insert(part.name.to_owned(), json!(text::head(part.text, shown)));
        names.insert(part.name.to_owned(), cut(shown, of, &rest(part.name, shown)));
    }
    names
}

/// Gives every cost its due, or an equal share of what is left where that is less.
pub fn fair_shares(costs: &[usize], room: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..costs.len()).collect();
    order.sort_by_key(|index| costs[*index]);
    let mut shares = vec![0; costs.len()];
    let mut left = room;
    for (done, index) in order.iter().enumerate() {
        let equal = left / (costs.len() - done);
        shares[*index] = costs[*index].min(equal);
        left -= shares[*index];
    }
    shares
}

/// A part of an answer that can be cut.
pub struct Section {
    /// What it costs whole.
    pub cost: usize,
    /// What it needs to say anything at all.
    pub least: usize,
    /// What it may take while others are cut.
    pub most: usize,
}

/// How much of `room` each section gets: what it needs at least, then, in order, up to its most; what is left after
/// that goes to whoever still needs it.
pub fn rooms<const COUNT: usize>(room: usize, sections: &[Section; COUNT]) -> [usize; COUNT] {
    let mut rooms = [0; COUNT];
    let mut left = room;
    for (given, section) in rooms.iter_mut().zip(sections) {
        *given = section.cost.min(section.least);
        left = left.saturating_sub(*given);
    }
    let limits: [fn(&Section) -> usize; 2] = [|section| section.most, |_| usize::MAX];
    for limit in limits {
        for (given, section) in rooms.iter_mut().zip(sections) {
            let more = section.cost.min(limit(section)).saturating_sub(*given).min(left);
            *given += more;
            left -= more;
        }
    }
    rooms
}
