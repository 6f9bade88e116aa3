//! The cheap estimate against the tokenizer: never below it, and not so far above that half an answer stays unused.

use heyaira::domain::text::length;
use heyaira::domain::tokens::estimated_tokens;
use heyaira::operations::budget::{characters_that_fit, cost_of, cost_of_text};
use serde_json::json;

use crate::sizes::tokens;
use crate::texts::{SCRIPTS, Script, script};

/// How far a single text may be under, in hundredths.
const LEAST: usize = 98;
/// How far ordinary English and Markdown may be over, in hundredths.
const MOST: usize = 160;
/// The texts of each length that are tried.
const TRIED: u64 = 25;

/// Hundredths of the real count.
fn ratio(estimate: usize, real: usize) -> usize {
    estimate * 100 / real
}

fn ratios(script: &Script, characters: usize) -> Vec<usize> {
    let texts = (0..TRIED).map(|seed| script.text(characters, seed));
    texts.map(|text| ratio(estimated_tokens(&text), tokens(&text))).collect()
}

#[test]
fn the_estimate_is_an_upper_bound_in_every_script() {
    let mut under = Vec::new();
    for script in &SCRIPTS {
        for characters in [200, 280, 2_000, 6_000] {
            let found = ratios(script, characters);
            let (least, most) = (found.iter().min(), found.iter().max());
            let (least, most) = (*least.expect("some"), *most.expect("some"));
            println!("{:<12} {characters:>5} characters: {least} to {most} % of the real count", script.name);
            if least < LEAST {
                under.push((script.name, characters, least));
            }
        }
    }
    assert!(under.is_empty(), "{under:?}");
}

#[test]
fn the_estimate_of_english_and_markdown_is_near() {
    for name in ["English", "Markdown", "source code", "German"] {
        let found = ratios(script(name), 6_000);
        let mean = found.iter().sum::<usize>() / found.len();
        assert!(mean <= MOST, "{name}: {mean} %");
    }
}

#[test]
fn the_cost_of_a_row_covers_its_bytes_and_tokens() {
    for script in &SCRIPTS {
        for seed in 0..TRIED {
            let row = json!({"id": "8e287857", "v": 7, "status": "todo", "p": 1, "title": script.line(200, seed),
                "summary": script.line(280, seed + 100), "tags": [script.line(64, seed), "import"], "text": script.text(600, seed)});
            let (cost, json) = (cost_of(&row), row.to_string());
            assert!(cost >= json.len(), "{}: cost {cost}, {} bytes", script.name, json.len());
            let tokens = tokens(&json);
            let covered = cost * 25 / 64;
            assert!(covered * 100 >= tokens * LEAST, "{}: cost covers {covered} tokens of {tokens}", script.name);
        }
    }
}

#[test]
fn letters_cost_the_same_many_at_once_and_one_by_one() {
    for script in &SCRIPTS {
        for seed in 0..TRIED {
            let text = script.text(600, seed);
            let (cost, whole) = (cost_of_text(&text), length(&text));
            assert_eq!(characters_that_fit(&text, cost), whole, "{}, seed {seed}", script.name);
            assert!(characters_that_fit(&text, cost - 1) < whole, "{}, seed {seed}", script.name);
        }
    }
}

#[test]
fn long_runs_of_one_character_are_not_underestimated() {
    for character in ['a', 'A', '7', ' ', '\n', '=', '-', '.', 'あ', '漢', '한', '─', '😀', '\u{200d}'] {
        let text: String = std::iter::repeat_n(character, 500).collect();
        let (estimate, real) = (estimated_tokens(&text), tokens(&text));
        assert!(estimate >= real, "{character:?}: {estimate} of {real}");
    }
}
