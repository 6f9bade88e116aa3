//! The rules of a good handoff by name, and what a project does with each. Must never change what a rule finds: a setting
//! only says whether it is told, and whether it stops a write.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, Serializer};

use crate::domain::text;

/// What a project does with what a rule finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Setting {
    /// It is told nowhere.
    Off,
    /// It is told, and the write goes through.
    Warn,
    /// The write is refused.
    Refuse,
}

impl Setting {
    /// All settings.
    pub const ALL: [Self; 3] = [Self::Off, Self::Warn, Self::Refuse];

    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Warn => "warn",
            Self::Refuse => "refuse",
        }
    }

    fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|setting| setting.as_str() == word)
    }
}

/// A rule, by the stable name that findings carry. What each asks stands where it is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// [`crate::domain::handoff`] and its rules; the names are those of the contract.
    SummaryOneSentence,
    /// The repository is named.
    RepositoryNamed,
    /// The receipt has a branch and a commit, and the texts name the same ones.
    BranchAndCommit,
    /// Prepared, tested, deployed and verified are told apart.
    StatesDistinguished,
    /// Tests are told with their command and their totals.
    TestsWithNumbers,
    /// The first line is a step that can be taken.
    FirstStepExecutable,
    /// The last line names the session.
    PreviousSessionLine,
    /// Memories that are named are there and hold.
    MemoriesExist,
    /// What blocks, who moves next, what is needed.
    BlockerThreeParts,
    /// The receipt has what a reader needs.
    ReceiptComplete,
    /// No conversation, no pasted repository contents.
    NoTranscript,
    /// The texts are in the project's language.
    WorkingLanguage,
    /// Nothing that a reader cannot see.
    NoHiddenCharacters,
    /// The session that wrote the next steps is the receipt's.
    SameSession,
    /// No secret in any text; judged in [`crate::domain::secret`].
    Secrets,
}

impl Rule {
    /// All rules, in the order in which they are told.
    pub const ALL: [Self; 15] = [
        Self::SummaryOneSentence,
        Self::RepositoryNamed,
        Self::BranchAndCommit,
        Self::StatesDistinguished,
        Self::TestsWithNumbers,
        Self::FirstStepExecutable,
        Self::PreviousSessionLine,
        Self::MemoriesExist,
        Self::BlockerThreeParts,
        Self::ReceiptComplete,
        Self::NoTranscript,
        Self::WorkingLanguage,
        Self::NoHiddenCharacters,
        Self::SameSession,
        Self::Secrets,
    ];

    /// The stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SummaryOneSentence => "summary-one-sentence",
            Self::RepositoryNamed => "repository-named",
            Self::BranchAndCommit => "branch-and-commit",
            Self::StatesDistinguished => "states-distinguished",
            Self::TestsWithNumbers => "tests-with-numbers",
            Self::FirstStepExecutable => "first-step-executable",
            Self::PreviousSessionLine => "previous-session-line",
            Self::MemoriesExist => "memories-exist",
            Self::BlockerThreeParts => "blocker-three-parts",
            Self::ReceiptComplete => "receipt-complete",
            Self::NoTranscript => "no-transcript",
            Self::WorkingLanguage => "working-language",
            Self::NoHiddenCharacters => "no-hidden-characters",
            Self::SameSession => "same-session",
            Self::Secrets => "secrets",
        }
    }

    /// What it asks, in a sentence; why, and where that comes from, stands where it is judged.
    pub const fn asks(self) -> &'static str {
        match self {
            Self::SummaryOneSentence => {
                "The summary is there, at most 280 characters on one line, and not the title again."
            }
            Self::RepositoryNamed => {
                "`owner/name` or the address of the repository stands in handoff_completed or handoff_next."
            }
            Self::BranchAndCommit => {
                "The receipt has branch and result_commit, both look like what they are, and the texts name no other branch or head."
            }
            Self::StatesDistinguished => {
                "What is prepared, deployed and verified in production is told, claimed or expressly not; a test deploys nothing."
            }
            Self::TestsWithNumbers => {
                "Tests are told by their command and its totals; that something was not run counts when it is said."
            }
            Self::FirstStepExecutable => {
                "The first line of handoff_next is a command, or an instruction that names a file, branch, pull request or command."
            }
            Self::PreviousSessionLine => {
                "The last line of handoff_next is `Previous session: <session_ref>`; a path is no session."
            }
            Self::MemoriesExist => {
                "Every memory that is named exists and is not superseded; decisions of this session are named."
            }
            Self::BlockerThreeParts => {
                "A blocked task says what blocks, who moves next and what is needed; one that is not blocked has no blockers."
            }
            Self::ReceiptComplete => {
                "A receipt came, with session_ref, harness, model, base_commit, tests, completed_work and next_step."
            }
            Self::NoTranscript => "No conversation and no contents of the repository are pasted.",
            Self::WorkingLanguage => {
                "The durable fields are in the project's language, as far as there is enough text to say."
            }
            Self::NoHiddenCharacters => {
                "No tag characters, zero-width characters, direction controls or other invisible ones, where no script or emoji needs them."
            }
            Self::SameSession => {
                "The session that wrote handoff_next, and the one its last line names, is the receipt's."
            }
            Self::Secrets => "No text holds a secret.",
        }
    }

    /// What a project does that says nothing: a secret is never let in, all else is the writer's to judge.
    pub const fn default_setting(self) -> Setting {
        match self {
            Self::Secrets => Setting::Refuse,
            _ => Setting::Warn,
        }
    }

    fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.as_str() == name)
    }
}

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// The settings of a project that are not the default, by the name of the rule. Names that this program does not know are
/// kept: a newer one beside it may have set them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Settings(BTreeMap<String, Setting>);

impl Settings {
    /// What is done with the findings of a rule.
    pub fn of(&self, rule: Rule) -> Setting {
        self.0.get(rule.as_str()).copied().unwrap_or(rule.default_setting())
    }

    /// Sets one rule.
    pub fn set(&mut self, rule: Rule, setting: Setting) {
        if setting == rule.default_setting() {
            self.0.remove(rule.as_str());
        } else {
            self.0.insert(rule.as_str().to_owned(), setting);
        }
    }

    /// Sets what `NAME=SETTING` words say; nothing at all if one of them is wrong, and then everything that is.
    pub fn set_all(&mut self, words: &[String]) -> Result<(), Vec<String>> {
        let (mut wanted, mut problems) = (Vec::<(Rule, Setting)>::new(), Vec::new());
        for word in words {
            match parsed(word) {
                Ok((rule, setting)) => match wanted.iter().find(|(other, _)| *other == rule) {
                    Some((_, first)) if *first != setting => {
                        let (first, setting) = (first.as_str(), setting.as_str());
                        problems.push(format!("rule {} is set twice, to {first} and to {setting}", rule.as_str()));
                    }
                    Some(_) => {}
                    None => wanted.push((rule, setting)),
                },
                Err(problem) => problems.push(problem),
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        for (rule, setting) in wanted {
            self.set(rule, setting);
        }
        Ok(())
    }

    /// True if every rule has its default.
    pub fn is_default(&self) -> bool {
        self.0.is_empty()
    }

    /// The setting of every rule, in their order.
    pub fn all(&self) -> impl Iterator<Item = (Rule, Setting)> {
        Rule::ALL.into_iter().map(|rule| (rule, self.of(rule)))
    }

    /// Those that are not the default, in the order of the rules.
    pub fn changed(&self) -> impl Iterator<Item = (Rule, Setting)> {
        self.all().filter(|(rule, setting)| *setting != rule.default_setting())
    }
}

fn parsed(word: &str) -> Result<(Rule, Setting), String> {
    let shown = text::quoted(word, 60);
    let Some((name, setting)) = word.split_once('=') else {
        return Err(format!("rule {shown} is not NAME=SETTING, e.g. working-language=off"));
    };
    let (name, setting) = (name.trim(), setting.trim());
    let rule = Rule::of(name).ok_or_else(|| {
        let names = Rule::ALL.map(Rule::as_str);
        let shown = text::quoted(name, 60);
        text::nearest(&name.to_lowercase().replace('_', "-"), &names).map_or_else(
            || format!("rule {shown} is unknown: the rules are {}", names.join(", ")),
            |near| format!("rule {shown} is unknown: did you mean {near}?"),
        )
    })?;
    let words = Setting::ALL.map(Setting::as_str).join(", ");
    let setting = Setting::of(setting)
        .ok_or_else(|| format!("the setting {} of rule {name} is none of {words}", text::quoted(setting, 60)))?;
    Ok((rule, setting))
}
