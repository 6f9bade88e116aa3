//! What it costs to look through a text for secrets: kinds of text at three sizes, beside two passes of the same text
//! in the same run. Ratios are what to quote; times differ between machines.
//!
//! `cargo bench --bench secrets`

use std::hint::black_box;
use std::time::{Duration, Instant};

use heyaira::domain::secret::scan;
use regex::Regex;

/// The smallest text, in bytes.
const SIZE: usize = 100 * 1024;
/// How often each is looked through; the fastest counts, as others may use the machine.
const ROUNDS: usize = 31;

/// Kinds of text, each made by repeating a piece with a number in it; the last ones are made to be slow.
const KINDS: [(&str, &str); 12] = [
    (
        "a handoff",
        "- [x] Import keeps the order of rows (PR #{n}, commit 4f89edd590f74ee0ac{n}): `cargo test` 214 passed.\n",
    ),
    ("Japanese", "引き継ぎ{n}: 取り込みは行の順序を保ちます。次は `cargo test` を実行してください。\n"),
    (
        "a lock file",
        "name = \"serde_{n}\"\nversion = \"1.0.228\"\nchecksum = \"9a8e94ea7f378bd32cbbd37198a4a91436180c5bb472411e48b5ec2e2124ae9e\"\n",
    ),
    ("base64", "iVBORw0KGgoAAAANSUhEUgAA{n}AAAAAWQCAYAAAB6t9JxAAAABHNCSVQICAgIfAhkiAAAAAlwSFlzAAALEwAACxMB\n"),
    (
        "minified code",
        "function t{n}(e,n){return e[n]?{key:e.key,token:n,secret:!0,password:e.pw||null}:void 0}var k=1;",
    ),
    ("names without values", "password={n}&token=&api_key=&secret="),
    ("prefixes", "sk-sk-ant-ghp_{n}AKIAxoxb-glpat-"),
    ("URLs", "http://a:b{n}:c"),
    ("headers of keys", "-----BEGIN PRIVATE KEY-----\n{n}"),
    ("command lines", "mysql -u a{n} -p mysql -pb mongo -p "),
    ("tokens without a key", "eyJ{n}.eyJ.eyJhbGciOiJIUzI1NiJ9."),
    ("one long word", "aB3dE5fG7hJ9kL{n}"),
];

fn text(piece: &str, size: usize) -> String {
    let mut text = String::with_capacity(size + piece.len());
    for number in 0.. {
        if text.len() >= size {
            break;
        }
        text.push_str(&piece.replace("{n}", &format!("{:04}", number * 7919 % 10_000)));
    }
    text.truncate(text.floor_char_boundary(size));
    text
}

/// The time of the fastest look.
fn time(look: impl Fn() -> usize) -> Duration {
    let once = || {
        let start = Instant::now();
        black_box(look());
        start.elapsed()
    };
    (0..ROUNDS).map(|_| once()).min().unwrap_or_default()
}

fn shown(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64() * 1e3)
}

#[expect(clippy::print_stdout, reason = "the table is the benchmark's answer")]
fn main() {
    let start = Instant::now();
    black_box(scan("nothing"));
    println!("the first look of a process, with the automata made: {} ms\n", shown(start.elapsed()));
    let regex = Regex::new("[A-Za-z0-9_-]{20,}").expect("a regular expression");
    println!("milliseconds, the fastest of {ROUNDS}; 1x is {} KB", SIZE / 1024);
    println!(
        "| text | findings | 1x | 2x | 4x | 4x to 1x | a regular expression | a search for a byte | ratio to the first |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for (name, piece) in KINDS {
        let texts: Vec<String> = [1, 2, 4].iter().map(|times| text(piece, SIZE * times)).collect();
        let looks: Vec<Duration> = texts.iter().map(|text| time(|| scan(text).len())).collect();
        let plain = time(|| regex.find_iter(&texts[0]).count());
        let byte = time(|| texts[0].matches('\u{1}').count());
        println!(
            "| {name} | {} | {} | {} | {} | {:.2} | {} | {} | {:.2} |",
            scan(&texts[0]).len(),
            shown(looks[0]),
            shown(looks[1]),
            shown(looks[2]),
            looks[2].as_secs_f64() / looks[0].as_secs_f64(),
            shown(plain),
            shown(byte),
            looks[0].as_secs_f64() / plain.as_secs_f64()
        );
    }
}
