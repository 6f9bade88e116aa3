//! The size of answers: at most about 10 KB and 4,000 tokens, whatever is stored. What does not fit is named, with the
//! call that brings it. Must never cut without saying so.

use serde_json::{Map, Value, json};

use crate::domain::text::{self, TokenEstimate, length};

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
    fn add(&mut self, character: char) {
        match character {
            '"' | '\\' => self.escaped(&[character]),
            '\n' => self.escaped(&['n']),
            '\r' => self.escaped(&['r']),
            '\t' => self.escaped(&['t']),
            '\0'..='\x1f' => self.escaped(&['u', '0', '0', '1', 'f']),
            _ => {
                self.bytes += character.len_utf8();
                self.tokens.push(character);
            }
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
    text.chars().for_each(|character| cost.add(character));
    cost.total()
}

/// What a value costs as compact JSON.
pub fn cost_of(value: &Value) -> usize {
    match value {
        Value::String(text) => cost_of_text(text) + 4,
        Value::Array(items) => 2 + items.iter().map(|item| cost_of(item) + 1).sum::<usize>(),
        Value::Object(fields) => 2 + fields.iter().map(|(name, value)| name.len() + 8 + cost_of(value)).sum::<usize>(),
        _ => 6,
    }
}

/// The first of `rows` that fit into `room`, at least one; and how many were left out.
pub fn rows_that_fit(rows: Vec<Value>, room: usize) -> (Vec<Value>, usize) {
    let mut left = room;
    let mut taken = 0;
    for row in &rows {
        let cost = cost_of(row) + 1;
        if taken > 0 && cost > left {
            break;
        }
        left = left.saturating_sub(cost);
        taken += 1;
    }
    let rest = rows.len() - taken;
    let rows = rows.into_iter().take(taken).collect();
    (rows, rest)
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

/// One long text of an answer.
pub struct Part<'t> {
    /// The field's name in the answer.
    pub name: &'static str,
    /// The text.
    pub text: &'t str,
}

/// Puts texts into `answer`, in order, each whole if it can be and otherwise cut to its fair share of `room`.
///
/// Cut ones are named in the answer's `cut`: how many characters are shown, of how many, and the call for the rest.
/// `rest` makes that call from the field's name and the offset.
pub fn put_texts(
    answer: &mut Map<String, Value>,
    parts: &[Part<'_>],
    room: usize,
    rest: impl Fn(&str, usize) -> String,
) {
    const CUT_ENTRY: usize = 140;
    let costs: Vec<usize> = parts.iter().map(|part| cost_of_text(part.text)).collect();
    let shares =
        fair_shares(&costs, room.saturating_sub(if costs.iter().sum::<usize>() > room { CUT_ENTRY } else { 0 }));
    let mut cut = Map::new();
    for ((part, cost), share) in parts.iter().zip(costs).zip(shares) {
        if cost <= share {
            answer.insert(part.name.to_owned(), json!(part.text));
            continue;
        }
        let shown = characters_that_fit(part.text, share.saturating_sub(CUT_ENTRY));
        answer.insert(part.name.to_owned(), json!(text::head(part.text, shown)));
        cut.insert(
            part.name.to_owned(),
            json!({"shown": shown, "of": length(part.text), "rest": rest(part.name, shown)}),
        );
    }
    if !cut.is_empty() {
        answer.insert("cut".to_owned(), Value::Object(cut));
    }
}

/// Gives every cost its due, or an equal share of what is left where that is less.
fn fair_shares(costs: &[usize], room: usize) -> Vec<usize> {
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
