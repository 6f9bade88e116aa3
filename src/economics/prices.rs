//! What models cost: a dated table that the user can lay another one over. A model that stands in neither has no price,
//! and must never be given one: not zero, and not a relative's.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::Deserialize;

use crate::domain::text::quoted;
use crate::domain::time::Timestamp;
use crate::economics::session::Usage;
use crate::error::{Code, Refusal, Result};

const BUILT_IN: &str = include_str!("prices.toml");

/// The prices of all known models, and what advice takes for granted.
#[derive(Clone, Debug, PartialEq)]
pub struct Prices {
    /// The date of the built-in table.
    pub as_of: String,
    /// The date that the user's own table names, if there is one.
    pub own_as_of: Option<String>,
    /// True if a table of the user's was laid over the built-in one.
    pub has_own: bool,
    /// What advice takes for granted.
    pub assumptions: Assumptions,
    models: Vec<Model>,
}

/// A model, or several with the same prices.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// The names that clients write, without a date at the end.
    pub names: Vec<String>,
    /// How much context it takes.
    pub window_tokens: Option<u64>,
    /// How long its cache lives after each use.
    pub cache_seconds: Option<u32>,
    /// How long what costs more to write lives.
    pub cache_long_seconds: Option<u32>,
    /// Its prices, by date and by the size of a request.
    #[serde(rename = "price")]
    prices: Vec<Price>,
}

/// US dollars for a million tokens.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// The first day of this price, in UTC.
    #[serde(default, deserialize_with = "date")]
    from: Option<Date>,
    /// Its last day.
    #[serde(default, deserialize_with = "date")]
    until: Option<Date>,
    /// For requests that send more tokens than this.
    #[serde(default)]
    pub above_tokens: u64,
    /// What is sent and not cached.
    pub input: f64,
    /// What comes back.
    pub output: f64,
    /// What is read from the cache.
    pub cache_read: f64,
    /// What is written into the cache.
    pub cache_write: f64,
    /// What is written into the cache for the longer lifetime.
    pub cache_write_long: Option<f64>,
}

fn date<'d, D: serde::Deserializer<'d>>(from: D) -> Result<Option<Date>, D::Error> {
    let text = String::deserialize(from)?;
    let wrong = || serde::de::Error::custom("a date is written \"2026-12-31\"");
    text.parse().map(Some).map_err(|_| wrong())
}

/// A table of assumptions, all of which a file may name.
macro_rules! assumptions {
    ($($(#[$about:meta])* $name:ident: $type:ty,)*) => {
        /// What advice takes for granted; `prices.toml` has the values and why they are so.
        #[derive(Clone, Debug, PartialEq, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Assumptions { $($(#[$about])* pub $name: $type,)* }

        #[derive(Debug, Default, Deserialize)]
        #[serde(deny_unknown_fields)]
        struct SomeAssumptions { $($name: Option<$type>,)* }

        impl Assumptions {
            fn laid_over(&mut self, own: SomeAssumptions) {
                $(if let Some(value) = own.$name { self.$name = value; })*
            }
        }
    };
}

assumptions! {
    /// How many requests a handoff takes.
    handoff_requests: u32,
    /// How much is written for a handoff.
    handoff_output_tokens: u64,
    /// A client's system prompt and tools.
    fresh_system_tokens: u64,
    /// A task with its handoff.
    fresh_task_tokens: u64,
    /// The files that a fresh session reads again.
    fresh_files_tokens: u64,
    /// What a request adds, where the session is too short to tell.
    request_input_tokens: u64,
    /// What a request answers, where the session is too short to tell.
    request_output_tokens: u64,
    /// From how many fresh starts of context on a long pause is worth a handoff.
    pause_fresh_starts: f64,
    /// How many times the break-even a guess of what follows must be.
    break_even_guess_factor: f64,
    /// Which part of the window is full when a compaction is near.
    compaction_near_share: f64,
    /// Which part of the context of the last automatic compaction is full when the next is near.
    compaction_again_share: f64,
    /// How many requests ahead a step in the price is near.
    step_near_requests: u64,
    /// Up to which window half of it is a limit.
    half_window_up_to_tokens: u64,
}

impl Assumptions {
    /// What a fresh session starts with.
    pub fn fresh_tokens(&self) -> u64 {
        self.fresh_system_tokens.saturating_add(self.fresh_task_tokens).saturating_add(self.fresh_files_tokens)
    }

    /// What would make advice contradict its own figures.
    fn problems(&self) -> Vec<String> {
        let rules = [
            ("pause_fresh_starts", "zero or more", self.pause_fresh_starts, self.pause_fresh_starts >= 0.0),
            ("break_even_guess_factor", "1 or more", self.break_even_guess_factor, self.break_even_guess_factor >= 1.0),
            ("compaction_near_share", SHARE, self.compaction_near_share, is_share(self.compaction_near_share)),
            ("compaction_again_share", SHARE, self.compaction_again_share, is_share(self.compaction_again_share)),
        ];
        let wrong = rules.into_iter().filter(|(_, _, value, fits)| !(value.is_finite() && *fits));
        wrong.map(|(name, must, value, _)| format!("{name} is {must}, and no {value}")).collect()
    }
}

const SHARE: &str = "more than 0 and at most 1";

fn is_share(value: f64) -> bool {
    value > 0.0 && value <= 1.0
}

/// The built-in table as it stands in its file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    as_of: String,
    assumptions: Assumptions,
    #[serde(rename = "model")]
    models: Vec<Model>,
}

/// A table of the user's: any part of it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OwnTable {
    as_of: Option<String>,
    #[serde(default)]
    assumptions: SomeAssumptions,
    #[serde(rename = "model", default)]
    models: Vec<Model>,
}

impl Prices {
    /// The built-in table.
    pub fn built_in() -> Result<Self> {
        let Table { as_of, assumptions, models } =
            toml::from_str(BUILT_IN).map_err(|error| Refusal::internal(&error))?;
        Ok(Self { as_of, own_as_of: None, has_own: false, assumptions, models })
    }

    /// The same with the user's table laid over it; `name` is what the file is called in a refusal.
    pub fn with(mut self, name: &str, text: &str) -> Result<Self> {
        let own: OwnTable = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(0, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
            wrong(name, &format!("line {line}: {}", error.message()))
        })?;
        self.assumptions.laid_over(own.assumptions);
        let mut problems = self.assumptions.problems();
        problems.extend(own.models.iter().flat_map(Model::problems));
        if !problems.is_empty() {
            return Err(wrong(name, &problems.join("; ")));
        }
        self.has_own = true;
        self.own_as_of = own.as_of;
        self.models.splice(0..0, own.models);
        Ok(self)
    }

    /// The model of that name. A date or a mark of the window at the end of a name is no other model:
    /// `claude-opus-5-5-20261101` and `claude-opus-5-5[1m]` are `claude-opus-5-5`.
    pub fn model(&self, name: &str) -> Option<&Model> {
        let unmarked = name.strip_suffix(MARK).unwrap_or(name);
        self.named(name).or_else(|| self.named(unmarked)).or_else(|| self.named(undated(unmarked)?))
    }

    fn named(&self, name: &str) -> Option<&Model> {
        self.models.iter().find(|model| model.names.iter().any(|known| known == name))
    }

    /// The window of the model of that name: a mark of it at the end says more than the table has of the model without.
    pub fn window_tokens(&self, name: &str) -> Option<u64> {
        let exact = self.named(name).and_then(|model| model.window_tokens);
        let marked = || name.ends_with(MARK).then_some(MARKED_TOKENS);
        exact.or_else(marked).or_else(|| self.model(name)?.window_tokens)
    }

    /// The price of a request: of a model, at a moment, that sends so many tokens.
    pub fn price(&self, model: &str, at: Timestamp, prompt_tokens: u64) -> Option<&Price> {
        self.model(model)?.price(at, prompt_tokens)
    }
}

/// What a client puts behind the name of a model whose longer window it uses, and that window.
const MARK: &str = "[1m]";
const MARKED_TOKENS: u64 = 1_000_000;

/// A name without the eight digits of a date at its end.
fn undated(name: &str) -> Option<&str> {
    let (start, date) = name.rsplit_once('-')?;
    (date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit())).then_some(start)
}

fn wrong(name: &str, what: &str) -> Refusal {
    Refusal::new(
        Code::InvalidArgument,
        format!("the prices in {name} cannot be used: {what}"),
        "Correct the file; docs/economics.md has its shape. Nothing was written.",
    )
}

impl Model {
    /// The price at a moment for a request that sends so many tokens.
    pub fn price(&self, at: Timestamp, prompt_tokens: u64) -> Option<&Price> {
        let fits = |price: &&Price| price.is_of(at) && (prompt_tokens > price.above_tokens || price.above_tokens == 0);
        self.prices.iter().filter(fits).max_by_key(|price| price.above_tokens)
    }

    /// The steps of the price at a moment that a larger request would go over, the nearest first.
    pub fn steps(&self, at: Timestamp, prompt_tokens: u64) -> Vec<&Price> {
        let ahead = |price: &&Price| price.is_of(at) && price.above_tokens >= prompt_tokens.max(1);
        let mut steps: Vec<&Price> = self.prices.iter().filter(ahead).collect();
        steps.sort_by_key(|price| price.above_tokens);
        steps
    }

    fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let name = quoted(self.names.first().map_or("", String::as_str), 60);
        if self.names.iter().all(String::is_empty) {
            problems.push("a model has no name".to_owned());
        }
        if self.prices.is_empty() {
            problems.push(format!("model {name} has no price"));
        }
        let is_money = |value: f64| (0.0..=MOST_USD).contains(&value);
        if !self.prices.iter().all(|price| price.values().into_iter().all(is_money)) {
            problems.push(format!("model {name}: a price is zero or more US dollars, and at most a million"));
        }
        problems
    }
}

/// Tokens as a number of money's arithmetic: exact up to 2^53.
#[expect(clippy::cast_precision_loss, reason = "no session comes near 2^53 tokens")]
pub fn count(tokens: u64) -> f64 {
    tokens as f64
}

const MILLION: f64 = 1_000_000.0;
/// A higher price is a slip of the pen, and no sum of such prices can be relied on.
const MOST_USD: f64 = MILLION;

impl Price {
    fn is_of(&self, at: Timestamp) -> bool {
        if self.from.is_none() && self.until.is_none() {
            return true;
        }
        let Ok(moment) = jiff::Timestamp::from_microsecond(at.0) else {
            return false;
        };
        let day = moment.to_zoned_datetime(TimeZone::UTC).date();
        self.from.is_none_or(|from| from <= day) && self.until.is_none_or(|until| day <= until)
    }

    fn values(&self) -> [f64; 5] {
        let long = self.cache_write_long.unwrap_or(self.cache_write);
        [self.input, self.output, self.cache_read, self.cache_write, long]
    }

    /// What a request costs, in US dollars.
    pub fn usd(&self, usage: Usage) -> f64 {
        let [input, output, cache_read, cache_write, cache_write_long] = self.values();
        (count(usage.input) * input
            + count(usage.output) * output
            + count(usage.cache_read) * cache_read
            + count(usage.cache_write) * cache_write
            + count(usage.cache_write_long) * cache_write_long)
            / MILLION
    }
}
