//! Links in the documents lead somewhere: to a file that is there, and to a heading that it has.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The project's folder.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every Markdown file below a folder.
fn documents_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the entry can be read").path();
        if path.is_dir() {
            documents_below(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

/// The lines outside of code blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// A line without its code spans.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

/// Where the links of a text lead, those to other machines left out.
fn targets(text: &str) -> Vec<String> {
    let mut targets = Vec::new();
    for line in prose(text) {
        let line = without_code(line);
        let ends = line.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
        targets.extend(ends.map(|(target, _)| target.to_owned()));
    }
    targets.retain(|target| !target.contains("://") && !target.starts_with("mailto:"));
    targets
}

/// The anchors of a text, as they are made of its headings: small letters, hyphens for spaces, no other signs, and a number
/// for each that comes again.
fn anchors(text: &str) -> Vec<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let headings = prose(text).filter(|line| line.starts_with('#'));
    headings
        .map(|line| {
            let words = line.trim_start_matches('#').trim().to_lowercase();
            let signs = words.chars().filter(|sign| sign.is_alphanumeric() || matches!(sign, ' ' | '-' | '_'));
            let anchor: String = signs.map(|sign| if sign == ' ' { '-' } else { sign }).collect();
            let count = seen.entry(anchor.clone()).or_default();
            *count += 1;
            if *count == 1 { anchor } else { format!("{anchor}-{}", *count - 1) }
        })
        .collect()
}

/// Why a link of that document leads nowhere, if it does.
fn problem(document: &Path, target: &str) -> Option<String> {
    let (file, anchor) = target.split_once('#').map_or((target, None), |(file, anchor)| (file, Some(anchor)));
    let path = if file.is_empty() { document.to_owned() } else { document.parent()?.join(file) };
    if !path.exists() {
        return Some(format!("{}: {target}: there is no such file", document.display()));
    }
    let anchor = anchor?;
    let text = fs::read_to_string(&path).unwrap_or_default();
    let is_there = anchors(&text).iter().any(|known| known == anchor);
    (!is_there).then(|| format!("{}: {target}: there is no such heading", document.display()))
}

#[test]
fn links_of_the_documents_lead_to_a_file_and_its_heading() {
    let mut documents = vec![root().join("README.md"), root().join("CONTRIBUTING.md")];
    documents_below(&root().join("docs"), &mut documents);
    documents_below(&root().join("plugin"), &mut documents);
    let mut count = 0;
    let mut problems = Vec::new();
    for document in &documents {
        let text = fs::read_to_string(document).expect("a document can be read");
        let targets = targets(&text);
        count += targets.len();
        problems.extend(targets.iter().filter_map(|target| problem(document, target)));
    }
    assert!(count > 50, "only {count} links were found");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn a_link_that_leads_nowhere_is_found() {
    let document = root().join("README.md");
    let said = |target: &str| problem(&document, target).unwrap_or_default();
    assert!(said("docs/nothing.md").ends_with("there is no such file"));
    assert!(said("README.md#no-such-heading").ends_with("there is no such heading"));
    assert!(said("#no-such-heading").ends_with("there is no such heading"));
    assert_eq!(said("docs/procedures"), "");
    assert_eq!(said("#licence"), "");
    assert_eq!(targets("[a](b.md#c), `[not](code)`, [d](https://example.org)\n```\n[no](x)\n```\n"), ["b.md#c"]);
    assert_eq!(anchors("# A `b`: c, d\n## Twice\n## Twice\n"), ["a-b-c-d", "twice", "twice-1"]);
}
