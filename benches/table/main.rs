//! One table of speeds: each operation at three sizes of the database, by the library's `call` and over standard input
//! and output, beside the bare statements of the same run. Ratios are what to quote; times differ between machines.
//!
//! `cargo bench --bench table`, or with `-- --quick` for smaller databases and fewer rounds.

#[path = "../both/asked.rs"]
mod asked;
#[path = "../both/bare.rs"]
mod bare;
#[path = "../both/clock.rs"]
mod clock;
#[path = "../both/database.rs"]
mod database;
mod floor;
#[path = "../both/generator.rs"]
mod generator;
mod library;
mod operation;
mod stdio;
mod times;

use std::time::Instant;

use crate::database::Database;
use crate::floor::Floor;
use crate::library::Library;
use crate::operation::Operation;
use crate::stdio::Program;
use crate::times::{Cell, Row, Times};

/// How much is measured.
struct Plan {
    sizes: [usize; 3],
    /// Rounds over all sizes and operations; in each, every cell gets its turn.
    rounds: usize,
    /// Calls of a cell in one round.
    calls: usize,
    /// Program starts for each size.
    starts: usize,
}

const FULL: Plan = Plan { sizes: [100, 10_000, 1_000_000], rounds: 15, calls: 20, starts: 30 };
const QUICK: Plan = Plan { sizes: [100, 1_000, 10_000], rounds: 3, calls: 10, starts: 5 };

/// One size of database with everything that is measured on it.
struct Subject {
    database: Database,
    floor: Floor,
    library: Library,
    program: Program,
}

#[expect(clippy::print_stdout, reason = "the table is the benchmark's answer")]
fn main() {
    let plan = if std::env::args().any(|argument| argument == "--quick") { QUICK } else { FULL };
    let mut subjects: Vec<Subject> = plan.sizes.iter().map(|size| Subject::of(*size)).collect();
    let mut rows = rows();
    for _ in 0..plan.rounds {
        for row in &mut rows {
            for (column, subject) in subjects.iter_mut().enumerate() {
                for _ in 0..plan.calls {
                    row.times[column].add(subject.time(row.cell));
                }
            }
        }
    }
    let starts = starts(&plan, &subjects);
    let idle: Vec<u64> = subjects.iter().map(|subject| stdio::idle_memory(&subject.database)).collect();
    println!("{}", times::table(&plan.sizes, &rows, &starts, &idle));
}

impl Subject {
    fn of(size: usize) -> Self {
        let database = Database::of(size);
        let floor = Floor::open(&database);
        let library = Library::open(&database);
        let program = Program::start(&database);
        Self { database, floor, library, program }
    }

    /// The time of one call of a cell.
    fn time(&mut self, cell: Cell) -> std::time::Duration {
        match cell {
            Cell::BareSelect => self.floor.select(),
            Cell::BareWrite => self.floor.write(),
            Cell::Library(operation) => {
                let asked = self.library.prepare(operation);
                let start = Instant::now();
                self.library.ask(&asked);
                start.elapsed()
            }
            Cell::Stdio(operation) => {
                let asked = self.library.prepare(operation);
                let start = Instant::now();
                self.program.ask(&asked);
                start.elapsed()
            }
        }
    }
}

fn rows() -> Vec<Row> {
    let mut rows =
        vec![Row::of("bare select by id", Cell::BareSelect), Row::of("bare update + insert, on disk", Cell::BareWrite)];
    for operation in Operation::ALL {
        rows.push(Row::of(&format!("{}, library", operation.name()), Cell::Library(operation)));
        rows.push(Row::of(&format!("{}, stdio", operation.name()), Cell::Stdio(operation)));
    }
    rows
}

/// From starting the program to its first answer, in rounds over the sizes.
fn starts(plan: &Plan, subjects: &[Subject]) -> Vec<Times> {
    let mut starts = vec![Times::default(); subjects.len()];
    for _ in 0..plan.starts {
        for (column, subject) in subjects.iter().enumerate() {
            let start = Instant::now();
            drop(Program::start(&subject.database));
            starts[column].add(start.elapsed());
        }
    }
    starts
}
