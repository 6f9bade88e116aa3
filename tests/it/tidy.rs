//! The rules of the house that no compiler checks: the arrows between the layers, and the sizes.

use std::fs;
use std::path::{Path, PathBuf};

/// From the top down; nothing points up.
const LAYERS: [&str; 11] =
    ["main", "surface", "operations", "operation", "store", "run", "client", "git", "economics", "domain", "error"];
const FILE_MAX: usize = 500;
const FUNCTION_MAX: usize = 80;

/// Every source file below `src` with its path there and its lines of code.
fn sources() -> Vec<(String, Vec<String>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = vec![root.clone()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of sources") {
            let path: PathBuf = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(&root).expect("below src").to_string_lossy().replace('\\', "/");
                let text = fs::read_to_string(&path).expect("UTF-8");
                let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
                files.push((name, text.lines().filter(is_code).map(str::to_owned).collect()));
            }
        }
    }
    files
}

fn layer(file: &str) -> &str {
    file.split(['/', '.']).next().unwrap_or(file)
}

/// The modules at the root of the crate that a line names.
fn named(line: &str) -> Vec<&str> {
    let word =
        |text: &'_ str| text.find(|letter: char| !(letter.is_alphanumeric() || letter == '_')).unwrap_or(text.len());
    let roots = line.split("crate::").skip(1).chain(line.split("heyaira::").skip(1));
    roots.map(|rest| &rest[..word(rest)]).collect()
}

/// Fails with all findings at once.
fn none(findings: &[String]) {
    assert!(findings.is_empty(), "\n{}", findings.join("\n"));
}

#[test]
fn arrows_run_one_way() {
    let rank = |name: &str| LAYERS.iter().position(|layer| *layer == name);
    let mut findings = Vec::new();
    for (file, lines) in sources().iter().filter(|(file, _)| file != "lib.rs") {
        for line in lines {
            for other in named(line) {
                let up = rank(layer(file)).zip(rank(other)).is_some_and(|(from, to)| to < from);
                let config = other == "config" && !["surface", "main", "config"].contains(&layer(file));
                if up || config || other.is_empty() {
                    findings.push(format!("{file}: {}", line.trim()));
                }
            }
        }
    }
    none(&findings);
}

#[test]
fn drivers_and_protocols_stay_in_their_place() {
    let places = [
        ("rusqlite", "store/backend"),
        // A client keeps its transcripts in a database of its own, which is read and never written.
        ("rusqlite", "client/transcript/opencode.rs"),
        ("tokio_postgres", "store/backend"),
        ("deadpool_postgres", "store/backend"),
        ("rmcp", "surface"),
        ("clap", "surface"),
        ("ureq", "surface/mcp/remote"),
    ];
    let mut findings = Vec::new();
    for (file, lines) in sources() {
        for line in lines {
            let is_home = |driver: &str| places.iter().any(|(one, place)| *one == driver && file.starts_with(place));
            let away = places.iter().any(|(driver, _)| line.contains(&format!("{driver}::")) && !is_home(driver));
            if away
                || line.contains("#[allow")
                || line.contains("#![allow")
                || line.split(' ').any(|word| word == "unsafe")
            {
                findings.push(format!("{file}: {}", line.trim()));
            }
        }
    }
    none(&findings);
}

#[test]
fn files_and_functions_stay_small() {
    let mut findings = Vec::new();
    for (file, lines) in sources() {
        if lines.len() > FILE_MAX {
            findings.push(format!("{file}: {} lines of code, at most {FILE_MAX}", lines.len()));
        }
        for (start, line) in lines.iter().enumerate() {
            let indent = &line[..line.len() - line.trim_start().len()];
            let is_function =
                line.split(['"', '(']).next().is_some_and(|head| head.split(' ').any(|word| word == "fn"));
            let end = lines[start..].iter().position(|one| *one == format!("{indent}}}"));
            let length = end.unwrap_or(0) + 1;
            if is_function && !line.ends_with(['}', ';']) && length > FUNCTION_MAX {
                findings.push(format!("{file}: {} has {length} lines, at most {FUNCTION_MAX}", line.trim()));
            }
        }
    }
    none(&findings);
}
