//! One table of the network: requests per second, and what each costs a processor, beside axum alone, rmcp alone and
//! the driver alone, in one run and in turn. Ratios are what to quote; rates differ between machines, and client and
//! server share this one.
//!
//! `cargo bench --bench http`, or with `-- --quick` for a smaller database and fewer rounds. A further word measures
//! only the rows that have it in their name.

mod agent;
#[path = "../both/asked.rs"]
mod asked;
#[path = "../both/bare.rs"]
mod bare;
mod client;
#[path = "../both/clock.rs"]
mod clock;
#[path = "../both/database.rs"]
mod database;
mod echo;
#[path = "../both/generator.rs"]
mod generator;
mod load;
mod process;
mod request;
mod row;
mod subject;
mod table;

use std::time::Duration;

use crate::row::{Kind, Row};
use crate::subject::Subject;

/// How much is measured.
struct Plan {
    sizes: [usize; 2],
    /// Rounds over all rows; in each, every row gets its turn.
    rounds: usize,
    /// How long a turn is.
    turn: Duration,
}

const FULL: Plan = Plan { sizes: [100, 1_000_000], rounds: 7, turn: Duration::from_millis(700) };
const QUICK: Plan = Plan { sizes: [100, 10_000], rounds: 2, turn: Duration::from_millis(50) };

fn main() {
    let mut arguments = std::env::args().skip(1);
    let first = arguments.next().unwrap_or_default();
    if first == echo::ARGUMENT {
        echo::serve(arguments.next().unwrap_or_default());
        return;
    }
    // Cargo adds `--bench`.
    let given: Vec<String> = std::iter::once(first).chain(arguments).collect();
    let plan = if given.iter().any(|argument| argument == "--quick") { QUICK } else { FULL };
    let word = given.iter().find(|argument| !argument.is_empty() && !argument.starts_with('-'));
    measure(&plan, word.map_or("", String::as_str));
}

#[expect(clippy::print_stdout, reason = "the table is the benchmark's answer")]
fn measure(plan: &Plan, word: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let mut subjects = plan.sizes.map(|size| Subject::of(&runtime, size));
    let is_wanted = |row: &Row| matches!(row.kind, Kind::Echo | Kind::Loop) || row.kind.name().contains(word);
    let mut rows: Vec<Row> = plan.sizes.iter().flat_map(|size| row::rows(*size)).filter(is_wanted).collect();
    let busy = load_average();
    for _ in 0..plan.rounds {
        for row in &mut rows {
            let subject = subjects.iter_mut().find(|subject| subject.size == row.size);
            subject.expect("its database").turn(&runtime, row, plan.turn);
        }
    }
    println!("{}\n{}\nload of the machine before: {busy}", table::table(&rows), table::aims(&rows));
}

/// How busy the machine was with other things, over 1, 5 and 15 minutes.
fn load_average() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
}
