//! What test commands did to what they tested: they run code that the harness wrote. Must never count for the harness what
//! came of a test.

use super::super::folder::Plan;
use super::facts::facts;
use crate::domain::run::Work;

/// What is another one after the test commands than it was before, a sentence each. Files that they left are no matter here.
pub fn changed(plan: &Plan, before: &Work) -> Vec<String> {
    let (after, _) = facts(plan);
    let mut problems = Vec::new();
    if after.branch != before.branch {
        let name = after.branch.as_deref().unwrap_or("no branch");
        problems.push(format!("The test commands left {name} checked out."));
    }
    if after.result_commit != before.result_commit {
        let short = |commit: Option<&str>| commit.map_or("nothing known", |id| &id[..id.len().min(12)]).to_owned();
        let (was, is) = (short(before.result_commit.as_deref()), short(after.result_commit.as_deref()));
        problems.push(format!("The test commands moved the result from {was}, which was tested, to {is}."));
    }
    problems
}
