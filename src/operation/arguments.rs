//! From what a client sent to what an operation takes: lenient where nothing is lost, otherwise refused, and every
//! problem of a call is told at once. Must never guess, shorten or drop.

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::domain::{handoff, memory, message, project, run, session, task, text, token, words};
use crate::error::{Code, Refusal, Result};
use crate::operation::schema;

/// How many problems are spelled out; the rest is counted.
const PROBLEMS_SHOWN: usize = 20;

/// How arguments are to be read.
pub struct Reading<'s> {
    /// The full schema.
    pub schema: &'s Map<String, Value>,
    /// True for an operation that only reads: an empty text counts as not given.
    pub reads: bool,
    /// True for a person, of whom less is required.
    pub by_person: bool,
    /// True where the fields that are not for agents may be given too.
    pub whole: bool,
}

impl Reading<'_> {
    /// Checks `arguments`; `between` says what is wrong between those that are right in themselves.
    ///
    /// `null` counts as not given. Numbers in quotes, and arrays or objects sent as JSON text, are taken where the
    /// schema wants the real type.
    pub fn parse(
        &self,
        arguments: Value,
        between: impl FnOnce(&Map<String, Value>) -> Vec<String>,
    ) -> Result<Map<String, Value>> {
        let given = match arguments {
            Value::Object(given) => given,
            Value::Null => Map::new(),
            other => {
                let shown = text::quoted_value(&other, 60);
                return Err(Refusal::argument(format!("the arguments are no JSON object but {shown}")));
            }
        };
        check_size(&given)?;
        let mut problems = Problems::default();
        let mut checked = Map::new();
        for (name, field) in schema::fields(self.schema) {
            let value = given.get(name).filter(|value| self.counts_as_given(field, value));
            if let Some(value) = value.and_then(|value| problems.field(name, field, value, self.reads)) {
                checked.insert(name.clone(), value);
            } else if schema::is_required(self.schema, name, field, self.by_person) && !problems.mentions(name) {
                problems.push(name, format!("{name} is missing"));
            }
        }
        problems.unknown(self.schema, &given, self.whole);
        for problem in between(&checked) {
            problems.push("", problem);
        }
        problems.into_result(self.schema, self.whole)?;
        Ok(checked)
    }

    fn counts_as_given(&self, field: &Value, value: &Value) -> bool {
        let for_others = schema::has(field, "x-people") && !self.whole;
        // On a list an empty text is no filter, whatever the filter's type.
        let is_blank = self.reads && *value == json!("");
        !(value.is_null() || for_others || is_blank)
    }
}

fn check_size(given: &Map<String, Value>) -> Result<()> {
    // Most requests are so small that they need not be written out to know it.
    if given.iter().map(|(name, value)| most_bytes(name) + most_bytes_of(value)).sum::<usize>() <= text::REQUEST_MAX {
        return Ok(());
    }
    let size = serde_json::to_string(given).map_or(0, |text| text.len());
    if size <= text::REQUEST_MAX {
        return Ok(());
    }
    Err(too_large(&format!(
        "the request has {} bytes, at most {}",
        text::grouped(size),
        text::grouped(text::REQUEST_MAX)
    )))
}

/// How many bytes a text has as JSON at most: a control character becomes six, and quotation marks and a separator
/// stand around it.
fn most_bytes(text: &str) -> usize {
    text.len() * 6 + 4
}

/// How many bytes a value has as JSON at most.
fn most_bytes_of(value: &Value) -> usize {
    match value {
        Value::String(text) => most_bytes(text),
        Value::Array(items) => 4 + items.iter().map(most_bytes_of).sum::<usize>(),
        Value::Object(fields) => {
            4 + fields.iter().map(|(name, value)| most_bytes(name) + most_bytes_of(value)).sum::<usize>()
        }
        // No number is written longer.
        _ => 32,
    }
}

/// A digest over checked arguments and the session that is known to call: equal for equal calls, whatever the order, the
/// `write_context` or the time at which something was looked at.
pub fn fingerprint(schema: &Map<String, Value>, arguments: &Map<String, Value>, session: Option<&str>) -> [u8; 32] {
    let mut names: Vec<&String> = arguments.keys().collect();
    names.sort();
    let mut digest = Sha256::new();
    digest.update(json!(session).to_string());
    for name in names {
        if name != "write_context" && name != "idempotency_key" {
            let field = schema.get("properties").and_then(|fields| fields.get(name));
            digest.update(json!([name, canonical(field, &arguments[name])]).to_string());
        }
    }
    digest.finalize().into()
}

fn canonical(schema: Option<&Value>, value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let inner = |name: &String| schema.and_then(|schema| schema.get("properties")?.get(name));
            let mut names: Vec<&String> = fields.keys().collect();
            names.retain(|name| !inner(name).is_some_and(|field| schema::has(field, "x-when")));
            names.sort();
            names.into_iter().map(|name| (name.clone(), canonical(inner(name), &fields[name]))).collect()
        }
        other => other.clone(),
    }
}

fn too_large(message: &str) -> Refusal {
    Refusal::new(Code::TooLarge, message, "Send less, or split it over several tasks or memories. Nothing was written.")
}

#[derive(Default)]
struct Problems {
    /// The field's name and the sentence.
    found: Vec<(String, String)>,
    over_limit: usize,
    unknown: bool,
}

impl Problems {
    fn push(&mut self, name: &str, sentence: String) {
        self.found.push((name.to_owned(), sentence));
    }

    fn mentions(&self, name: &str) -> bool {
        self.found.iter().any(|(one, _)| one == name)
    }

    /// The checked value of one field; `None` when it counts as not given, or after a problem was noted.
    fn field(&mut self, name: &str, field: &Value, value: &Value, reads: bool) -> Option<Value> {
        match schema::kind(field) {
            "integer" => self.integer(name, field, value),
            "boolean" => match value {
                Value::Bool(_) => Some(value.clone()),
                other => self.wrong(name, other, "is not true or false"),
            },
            "array" => self.array(name, field, value),
            "object" => self.object(name, field, value),
            _ => self.string(name, field, value, reads),
        }
    }

    fn wrong(&mut self, name: &str, value: &Value, what: &str) -> Option<Value> {
        self.push(name, format!("{name} {} {what}", text::quoted_value(value, 60)));
        None
    }

    fn integer(&mut self, name: &str, field: &Value, value: &Value) -> Option<Value> {
        let number = match value {
            Value::Number(number) => number.as_i64().or_else(|| whole(number.as_f64()?)),
            Value::String(digits) if is_plain_integer(digits) => digits.parse().ok(),
            _ => None,
        };
        let Some(number) = number else {
            return self.wrong(name, value, "is no integer");
        };
        let bound = |word: &str| field.get(word).and_then(Value::as_i64);
        if bound("minimum").is_some_and(|least| number < least) || bound("maximum").is_some_and(|most| number > most) {
            let range = match (bound("minimum"), bound("maximum")) {
                (Some(least), Some(most)) => format!("{least} to {most}"),
                (Some(least), None) => format!("{least} or more"),
                (_, most) => format!("at most {}", most.unwrap_or_default()),
            };
            self.push(name, format!("{name} is {number}, allowed is {range}"));
            return None;
        }
        Some(json!(number))
    }

    fn array(&mut self, name: &str, field: &Value, value: &Value) -> Option<Value> {
        let items = match value {
            Value::Array(items) => items.clone(),
            Value::String(list) if list.trim_start().starts_with('[') => {
                let Ok(Value::Array(items)) = serde_json::from_str(list) else {
                    return self.wrong(name, value, "is no JSON array");
                };
                items
            }
            Value::String(list) => {
                let words = list.split(',').map(str::trim).filter(|word| !word.is_empty());
                words.map(|word| json!(word)).collect()
            }
            other => return self.wrong(name, other, "is no list"),
        };
        let most = field.get("maxItems").and_then(Value::as_u64).and_then(|most| usize::try_from(most).ok());
        if most.is_some_and(|most| items.len() > most) {
            self.push(name, format!("{name} has {} entries, at most {}", items.len(), most.unwrap_or_default()));
            return None;
        }
        let before = self.found.len();
        let inner = field.get("items")?;
        let mut checked: Vec<Value> = Vec::with_capacity(items.len());
        for (position, item) in items.iter().enumerate() {
            let here = format!("{name}[{position}]");
            // Not "not given", as an empty text is elsewhere: a list of it would then be an empty one, which clears.
            if item == "" {
                self.push(&here, format!("{here} is empty"));
                continue;
            }
            let checked_item = self.field(&here, inner, item, false);
            checked.extend(checked_item.filter(|item| !checked.contains(item)));
        }
        if self.found.len() > before && !self.mentions(name) {
            // So that a required list is not reported missing as well.
            name.clone_into(&mut self.found[before].0);
        }
        Some(Value::Array(checked))
    }

    fn object(&mut self, name: &str, field: &Value, value: &Value) -> Option<Value> {
        let given = match value {
            Value::Object(given) => given.clone(),
            Value::String(json) => match serde_json::from_str(json) {
                Ok(Value::Object(given)) => given,
                _ => return self.wrong(name, value, "is no JSON object"),
            },
            other => return self.wrong(name, other, "is no object"),
        };
        if schema::has(field, "x-open") {
            return Some(Value::Object(given));
        }
        let inner = field.as_object()?;
        let mut checked = Map::new();
        for (key, field) in schema::fields(inner) {
            let value = given.get(key).filter(|value| !value.is_null());
            if let Some(value) = value.and_then(|value| self.field(&format!("{name}.{key}"), field, value, false)) {
                checked.insert(key.clone(), value);
            }
        }
        let known: Vec<&str> = schema::fields(inner).map(|(key, _)| key.as_str()).collect();
        for key in given.keys().filter(|key| !known.contains(&key.as_str())) {
            self.unknown_name(&format!("{name}."), key, &known);
        }
        Some(Value::Object(checked))
    }

    fn string(&mut self, name: &str, field: &Value, value: &Value, reads: bool) -> Option<Value> {
        let Value::String(given) = value else {
            return self.wrong(name, value, "is no text");
        };
        let clears = schema::has(field, "x-clears");
        let least = field.get("minLength").and_then(Value::as_u64).unwrap_or(0);
        let words = schema::words(field);
        let check = field.get("x-check").and_then(Value::as_str);
        if given.is_empty() && !clears && least == 0 && (reads || !words.is_empty() || check.is_some()) {
            return None;
        }
        if given.is_empty() && clears {
            return Some(value.clone());
        }
        if let Some(sentence) = self.text_problem(name, field, given, least > 0) {
            self.push(name, sentence);
            return None;
        }
        if !words.is_empty() {
            return self.word(name, field, given, &words);
        }
        if let Some(problem) = check.and_then(|check| check_named(check, given)) {
            self.push(name, format!("{name} {problem}"));
            return None;
        }
        Some(value.clone())
    }

    fn text_problem(&mut self, name: &str, field: &Value, given: &str, must_say_something: bool) -> Option<String> {
        if let Some(position) = given.chars().position(|character| character == '\0') {
            return Some(format!("{name} holds a NUL at character {}", position + 1));
        }
        if must_say_something && given.trim().is_empty() {
            return Some(format!("{name} is empty"));
        }
        let limit = field.get("maxLength").and_then(Value::as_u64).and_then(|most| usize::try_from(most).ok());
        let most = limit.unwrap_or(text::TEXT_MAX);
        // Bytes are never fewer than characters, so most texts need no count.
        let length = if given.len() > most { text::length(given) } else { 0 };
        if length <= most {
            return None;
        }
        if limit.is_none() {
            self.over_limit += 1;
        }
        Some(format!("{name} has {} characters, at most {}", text::grouped(length), text::grouped(most)))
    }

    fn word(&mut self, name: &str, field: &Value, given: &str, words: &[&str]) -> Option<Value> {
        let caseless = schema::has(field, "x-caseless");
        let found = words.iter().find(|word| **word == given || (caseless && word.eq_ignore_ascii_case(given)));
        if let Some(word) = found {
            return Some(json!(word));
        }
        self.push(name, format!("{name} {} is unknown, allowed are {}", text::quoted(given, 60), words.join(", ")));
        None
    }

    fn unknown(&mut self, schema: &Map<String, Value>, given: &Map<String, Value>, whole: bool) {
        let known = names(schema, whole);
        for name in given.keys().filter(|name| !known.contains(&name.as_str())) {
            self.unknown_name("", name, &known);
        }
    }

    fn unknown_name(&mut self, prefix: &str, name: &str, known: &[&str]) {
        let shown = text::quoted(name, 60);
        let shown = if shown[1..shown.len() - 1] == *name { name.to_owned() } else { shown };
        let sentence = text::nearest(&name.to_lowercase().replace('-', "_"), known).map_or_else(
            || format!("{prefix}{shown} is unknown"),
            |near| format!("{prefix}{shown} is unknown: did you mean {prefix}{near}?"),
        );
        // What the operation takes is told with the refusal, what an object in it takes is not.
        let sentence = prefix.strip_suffix('.').map_or(sentence.clone(), |object| {
            let end = if sentence.ends_with('?') { "" } else { "." };
            format!("{sentence}{end} {object} takes {}", known.join(", "))
        });
        self.unknown = true;
        self.push(name, sentence);
    }

    fn into_result(self, schema: &Map<String, Value>, whole: bool) -> Result<()> {
        if self.found.is_empty() {
            return Ok(());
        }
        let sentences: Vec<&str> = self.found.iter().map(|(_, sentence)| sentence.as_str()).collect();
        if sentences.len() == self.over_limit {
            return Err(too_large(&sentences.join(". ")));
        }
        let known = names(schema, whole);
        let shown = &sentences[..sentences.len().min(PROBLEMS_SHOWN)];
        let mut message = shown.join(". ").replace("?. ", "? ");
        if sentences.len() > shown.len() {
            message = format!("{message}. And {} more", sentences.len() - shown.len());
        }
        if sentences.len() > 1 {
            message = format!("{} problems. {message}", sentences.len());
        }
        let next = if self.unknown {
            let list = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            format!("Valid arguments: {list}. Nothing was written.")
        } else {
            "Correct it and call again. Nothing was written.".to_owned()
        };
        Err(Refusal::new(Code::InvalidArgument, message, next).with("problems", json!(sentences)))
    }
}

fn names(schema: &Map<String, Value>, whole: bool) -> Vec<&str> {
    schema::fields(schema)
        .filter(|(_, field)| whole || !schema::has(field, "x-people"))
        .map(|(name, _)| name.as_str())
        .collect()
}

#[expect(clippy::cast_possible_truncation, reason = "checked: whole and within the range that f64 holds exactly")]
fn whole(number: f64) -> Option<i64> {
    (number.fract() == 0.0 && number.abs() < 9_007_199_254_740_992.0).then_some(number as i64)
}

fn is_plain_integer(digits: &str) -> bool {
    let body = digits.strip_prefix('-').unwrap_or(digits);
    !body.is_empty() && body.bytes().all(|byte| byte.is_ascii_digit()) && (body == "0" || !body.starts_with('0'))
}

/// The named checks that a schema can ask for; the answer is what is wrong, to follow the field's name.
fn check_named(check: &str, given: &str) -> Option<String> {
    match check {
        "task" => task::reference_problem(given),
        "task-exact" => task::pointer_problem(given),
        "run" => run::reference_problem(given),
        "run-exact" => run::pointer_problem(given),
        "memory" => memory::id_problem(given),
        "message" => message::id_problem(given),
        "session" => session::session_ref_problem(given),
        "recipient" => message::recipient_problem(given),
        "handoff" => handoff::line_problem(given),
        "slug" => project::slug_problem(given),
        "new-token-name" => token::new_name_problem(given),
        "token-name" => token::name_problem(given),
        "expiry" => token::expiry_problem(given),
        "query" => words::query_problem(given),
        // Any words will do; the check marks fields in which an empty text counts as not given.
        "key" => None,
        other => Some(format!("cannot be checked: there is no check named {other}")),
    }
}
