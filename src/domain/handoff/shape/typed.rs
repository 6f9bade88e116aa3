//! Whether a first step is something to type. What stands in code is believed; a bare line only where what follows the program
//! looks like its arguments. Must never take a sentence for a command: "go test the login page by hand" is none.

use super::command;
use super::programs::{
    ALONE, CLAUSES, CMDLETS, FREE, IMPERATIVES, MORE, NO_TARGETS, SHELLS, SPEECH, SUBCOMMANDS, TARGETS,
};
use crate::domain::markdown::{Kind, Line};

/// How sure it is that a line is to be typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::domain::handoff) enum Step<'t> {
    /// A command.
    Command(&'t str),
    /// It starts with the name of a program and could be a sentence.
    Unclear,
    /// No command.
    Words,
}

/// What a line gives to type.
pub(in crate::domain::handoff) fn step<'t>(line: &Line<'t>) -> Step<'t> {
    match line.kind {
        Kind::Code => of_block(line),
        Kind::Row => first(line.text.split('|').map(str::trim).map(bare).chain(codes(line))),
        Kind::Text | Kind::Quote | Kind::Heading(_) => {
            let labelled = line.text.split_once(": ").filter(|_| line.codes.is_empty()).map(|(_, behind)| bare(behind));
            first(codes(line).chain([bare(line.text)]).chain(labelled))
        }
        Kind::Fence | Kind::Rule | Kind::Meta => Step::Words,
    }
}

/// True for a line that tells to change or look at what it names in code: "Fix `round_half_even`".
pub(in crate::domain::handoff) fn names_what_to_change(line: &Line<'_>) -> bool {
    let verb = line.text.split([' ', '\t']).next().unwrap_or_default();
    let verb = verb.trim_matches(['*', '_', ':']).to_ascii_lowercase();
    IMPERATIVES.contains(&verb.as_str()) && line.codes.iter().any(|code| is_identifier(code))
}

/// The first command, else whether one of them could be one.
fn first<'t>(steps: impl Iterator<Item = Step<'t>>) -> Step<'t> {
    let mut best = Step::Words;
    for step in steps {
        match step {
            Step::Command(_) => return step,
            Step::Unclear => best = step,
            Step::Words => {}
        }
    }
    best
}

fn codes<'t>(line: &Line<'t>) -> impl Iterator<Item = Step<'t>> {
    line.codes.iter().map(|code| if is_code_typed(code) { Step::Command(code) } else { Step::Words })
}

/// True for a note in a block of code.
pub(in crate::domain::handoff) fn is_note(line: &Line<'_>) -> bool {
    let is_rem = || line.text.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("rem "));
    line.kind == Kind::Code && (line.text.starts_with('#') || line.text.starts_with("::") || is_rem())
}

fn of_block<'t>(line: &Line<'t>) -> Step<'t> {
    let language = line.language.map(str::to_ascii_lowercase);
    let is_shell = language.is_some_and(|language| SHELLS.contains(&language.as_str()));
    if !is_note(line) && (is_shell || is_code_typed(line.text)) { Step::Command(line.text) } else { Step::Words }
}

/// True for code that is typed: a program, known or not, with what only programs have behind them.
fn is_code_typed(code: &str) -> bool {
    let code = code.trim();
    let (program, behind) = code.split_once(char::is_whitespace).unwrap_or((code, ""));
    let next = behind.split_whitespace().next().unwrap_or_default();
    let is_target = TARGETS.contains(&program) && !next.is_empty() && !NO_TARGETS.contains(&next);
    command::is_command(code)
        || behind_prompt(code).is_some()
        || is_cmdlet(program)
        || ALONE.contains(&code)
        || is_target
        || (is_known(program) && is_subcommand(next))
        || (is_program_name(program) && (command::SUBCOMMANDS.contains(&next) || is_option(next)))
}

/// What a line outside of code gives to type: the line itself, or a command within its words.
fn bare(text: &str) -> Step<'_> {
    let text = text.trim_matches(['*', '_', '`', ' ']);
    let whole = typed(text);
    if whole != Step::Words {
        return whole;
    }
    match command::within(text) {
        Some(within) if typed(within) == Step::Unclear => Step::Unclear,
        Some(within) => Step::Command(within),
        None => Step::Words,
    }
}

/// What a text is that starts with a program, if it does.
fn typed(text: &str) -> Step<'_> {
    let found = Step::Command(text);
    if let Some(behind) = behind_prompt(text) {
        return if behind.is_empty() { Step::Words } else { found };
    }
    let mut rest = text;
    while let Some((word, behind)) = rest.split_once(' ')
        && (command::is_assignment(word) || matches!(word, "sudo" | "time" | "nohup" | "env"))
    {
        rest = behind.trim_start();
    }
    let (program, behind) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    if is_compound(program, rest) {
        return found;
    }
    let words = arguments(behind);
    let is_said = words.iter().any(|word| SPEECH.contains(word));
    let is_strong = words.iter().any(|word| is_option(word) || is_path(word));
    let program = program.trim_end_matches(['.', ',', ';']);
    if is_cmdlet(program) || is_tool(program) {
        return if is_said && !is_strong { Step::Unclear } else { found };
    }
    let is_flagged = is_program_name(program) && words.iter().any(|word| is_long_option(word));
    let name = program.rsplit('/').next().unwrap_or(program);
    if is_flagged || (command::is_known(name) && !behind.is_empty() && is_strong && command::is_command(rest)) {
        return found;
    }
    if !is_known(name) || (program.contains('/') && !command::is_command(rest)) {
        return if command::is_command(rest) { found } else { Step::Words };
    }
    if words.is_empty() {
        // A word in front of another clause, or by itself.
        let is_alone = ALONE.contains(&name) || command::alone(name);
        return if is_alone { found } else { Step::Words };
    }
    match (takes(name, &words), is_said) {
        (true, false) => found,
        (false, true) if !command::is_command(rest) => Step::Words,
        _ => Step::Unclear,
    }
}

/// True for what only shells have: `if …; then`, `for …; do`, `[ … ] && …`.
fn is_compound(program: &str, text: &str) -> bool {
    match program {
        "if" => text.contains("; then"),
        "for" | "while" | "until" => text.contains("; do"),
        "[" | "[[" => text.contains("&&") || text.contains("||"),
        _ => false,
    }
}

/// True if these words are arguments of that program.
fn takes(name: &str, words: &[&str]) -> bool {
    let next = words[0];
    let is_strong = is_option(next) || is_path(next);
    let is_target = TARGETS.contains(&name) && words.len() == 1 && !NO_TARGETS.contains(&next);
    let is_free = FREE.contains(&name) && words.len() <= 3;
    let has_files = ["bash", "sh", "python", "python3", "node", "ruby", "php", "curl", "wget", "find", "cat", "source"];
    let is_command = is_subcommand(next) && !has_files.contains(&name) && !FREE.contains(&name);
    // Scripts that frameworks put beside the code, without an ending that tells them.
    let is_script = matches!((name, next), ("php", "artisan" | "spark" | "yii") | ("node", "index"));
    let is_idle = matches!(name, "make" | "just") && NO_TARGETS.contains(&next);
    !is_idle && (is_strong || is_script || is_target || is_free || is_command)
}

/// The words behind a program up to the next command, note or clause, or to where another script begins.
fn arguments(behind: &str) -> Vec<&str> {
    let ends = |word: &&str| {
        matches!(*word, "&&" | "||" | "|" | ";" | ">" | "—" | "–" | "→")
            || word.starts_with('#')
            || CLAUSES.contains(word)
            || word.starts_with(['"', '\'', '('])
            || word.starts_with(|first: char| !first.is_ascii())
    };
    let mut words = Vec::new();
    for word in behind.split_whitespace().take_while(|word| !ends(word)) {
        let bare = word.trim_end_matches([',', ';', ':', '.']);
        words.push(if bare.is_empty() { word } else { bare });
        if word.ends_with([',', ';', ':']) {
            break;
        }
    }
    words
}

/// What stands behind a prompt, if there is one.
fn behind_prompt(text: &str) -> Option<&str> {
    let behind = ["$ ", "% ", "PS> ", "> "].iter().find_map(|prompt| text.strip_prefix(prompt));
    let folder = || text.strip_prefix("PS ").and_then(|rest| rest.split_once("> ")).map(|(_, behind)| behind);
    let drive =
        || text.get(1..3).filter(|two| *two == ":\\").and_then(|_| text.split_once('>')).map(|(_, behind)| behind);
    behind.or_else(folder).or_else(drive).map(str::trim)
}

fn is_known(name: &str) -> bool {
    command::is_known(name) || MORE.contains(&name) || TARGETS.contains(&name)
}

fn is_subcommand(word: &str) -> bool {
    // A colon joins names of scripts and ends the kind of a commit: "fix: a typo" is none.
    let word = word.split_once(':').filter(|(_, behind)| !behind.is_empty()).map_or(word, |(start, _)| start);
    command::SUBCOMMANDS.contains(&word) || SUBCOMMANDS.contains(&word)
}

/// True for a word as programs are called.
fn is_program_name(word: &str) -> bool {
    let rest = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-_./".contains(letter);
    word.len() > 1
        && word.starts_with(|first: char| first.is_ascii_lowercase())
        && word.chars().all(rest)
        && !SPEECH.contains(&word)
}

/// True for `Invoke-Pester`.
fn is_cmdlet(word: &str) -> bool {
    word.split_once('-').is_some_and(|(verb, noun)| {
        CMDLETS.contains(&verb)
            && noun.starts_with(|first: char| first.is_ascii_uppercase())
            && noun.chars().all(|letter| letter.is_ascii_alphanumeric())
    })
}

/// True for a program in a folder of tools: `tools/run`.
fn is_tool(word: &str) -> bool {
    let (folder, name) = word.split_once('/').unwrap_or_default();
    ["bin", "hack", "script", "scripts", "tool", "tools"].contains(&folder) && !name.is_empty()
}

fn is_option(word: &str) -> bool {
    let name = word.trim_start_matches('-');
    word.starts_with('-') && name.starts_with(|first: char| first.is_ascii_alphanumeric())
}

fn is_long_option(word: &str) -> bool {
    word.strip_prefix("--").is_some_and(|name| name.starts_with(|first: char| first.is_ascii_lowercase()))
}

/// True for a word with what no word of a sentence has in it.
fn is_path(word: &str) -> bool {
    let has_letter = word.contains(|letter: char| letter.is_ascii_alphanumeric());
    has_letter
        && (word.contains(['/', '_', '=', '@', '*', '\\', '$', ':', '.'])
            || word.contains(|digit: char| digit.is_ascii_digit()))
        || word.starts_with("./")
        || word == ".."
}

/// True for the name of something in a program: `round_half_even`, `readBatch`, `ledger.post`.
fn is_identifier(code: &str) -> bool {
    let name = code.trim_end_matches("()");
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || "_.:".contains(letter);
    let has_hump =
        name.chars().zip(name.chars().skip(1)).any(|(one, next)| one.is_ascii_lowercase() && next.is_ascii_uppercase());
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(is_name)
        && (has_hump || name.len() < code.len() || name.contains(['_', '.', ':']))
}
