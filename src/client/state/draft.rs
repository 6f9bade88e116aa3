//! What a session left behind that ended without a handoff: places in its repository, for whoever comes next. Must never
//! hold what the session said or was told.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{State, name_of};

/// Where the drafts are.
pub(super) const FOLDER: &str = "drafts";
/// How many starts of a session tell of a draft: then who wanted to see it has.
const TOLD: u32 = 3;
/// How many are kept for one repository.
const KEPT: usize = 5;

/// A session's leavings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draft {
    /// The session.
    pub session_ref: String,
    /// When it ended, as RFC 3339.
    pub ended: String,
    /// The same in microseconds since 1970: several sessions may end within one second.
    #[serde(default)]
    pub ended_micros: i64,
    /// The root of the working tree.
    pub folder: String,
    /// The branch, unless none was checked out.
    pub branch: Option<String>,
    /// The commit at the start of the session, if that was seen.
    pub base_commit: Option<String>,
    /// The commit at its end.
    pub result_commit: Option<String>,
    /// The commits since the start, the newest first.
    pub commits: Vec<String>,
    /// How many files differ from the last commit.
    pub uncommitted: u64,
    /// How many files git does not know.
    pub untracked: u64,
    /// The first of both by name.
    pub files: Vec<String>,
    /// How many starts were told of it.
    #[serde(default)]
    pub told: u32,
}

fn folder(tree: &Path) -> PathBuf {
    Path::new(FOLDER).join(name_of(&tree.to_string_lossy()))
}

fn file(tree: &Path, session_ref: &str) -> PathBuf {
    folder(tree).join(format!("{}.json", name_of(session_ref)))
}

/// The root of the working tree that a folder is in: where git keeps its own folder, or a file that leads there.
pub fn tree_of(folder: &Path) -> Option<PathBuf> {
    let folder = folder.canonicalize().ok()?;
    folder.ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_owned)
}

impl State {
    /// Keeps a draft in the place of an earlier one of the same session; of too many the oldest go.
    pub fn keep_draft(&self, tree: &Path, draft: &Draft) -> std::io::Result<()> {
        self.write(&file(tree, &draft.session_ref), draft)?;
        self.drafts(tree).iter().skip(KEPT).for_each(|old| self.remove_draft(tree, &old.session_ref));
        Ok(())
    }

    /// The drafts of a working tree, the newest first.
    pub fn drafts(&self, tree: &Path) -> Vec<Draft> {
        let folder = folder(tree);
        let read = |name: String| self.read::<Draft>(&folder.join(name));
        let mut drafts: Vec<Draft> = self.names(&folder).into_iter().filter_map(read).collect();
        let newest = |draft: &Draft| std::cmp::Reverse((draft.ended.clone(), draft.ended_micros));
        drafts.sort_by(|one, other| newest(one).cmp(&newest(other)).then(one.session_ref.cmp(&other.session_ref)));
        drafts
    }

    /// The drafts that the start of a session is to tell of, which counts as told.
    pub fn drafts_to_tell(&self, tree: &Path) -> Vec<Draft> {
        let mut drafts = self.drafts(tree);
        drafts.retain(|draft| draft.told < TOLD);
        for draft in &drafts {
            let told = Draft { told: draft.told + 1, ..draft.clone() };
            // Told once more than thought is no harm.
            let _ = self.write(&file(tree, &draft.session_ref), &told);
        }
        drafts
    }

    /// Forgets the draft of one session.
    pub fn remove_draft(&self, tree: &Path, session_ref: &str) {
        let _ = fs::remove_file(self.folder().join(file(tree, session_ref)));
    }
}
