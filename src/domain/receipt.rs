//! The work receipt: what one session says it did. Must never claim what nobody said or observed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::session::Observed;
use crate::domain::verification::Verification;
use crate::error::{Refusal, Result};

/// The problem of a receipt whose session nobody names.
pub const SESSION_MISSING: &str =
    "work_receipt.session_ref is missing, and the client does not tell it: write <harness>:<id> or label:<words>";

/// What a session did, in its own words; append-only.
///
/// There is no repository field: name the repository in `handoff_completed` or `handoff_next`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Receipt {
    /// Which session: `<harness>:<native id>` or `label:<words>`.
    #[schemars(extend("x-check" = "session"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_ref: Option<String>,
    /// The client program and its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub harness: Option<String>,
    /// The model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The branch worked on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The commit the work started from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_commit: Option<String>,
    /// The last commit of the work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_commit: Option<String>,
    /// Commands run and their totals; what was not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tests: Option<String>,
    /// What was completed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed_work: Option<String>,
    /// The next step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_step: Option<String>,
    /// What blocks; empty if nothing does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blockers: Option<String>,
}

/// A receipt as it is kept, with where its fields come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptReceipt {
    /// The version of the task that it came with.
    pub version: i64,
    /// The fields.
    pub receipt: Receipt,
    /// Fields that the client told, not the agent.
    pub observed: Vec<String>,
    /// Fields taken from the session's previous receipt.
    pub carried: Vec<String>,
    /// The last comparison with a repository that told something, where that was asked for.
    pub verification: Option<Verification>,
}

impl Receipt {
    /// The fields by name, in order.
    pub fn fields(&self) -> [(&'static str, &Option<String>); 10] {
        [
            ("session_ref", &self.session_ref),
            ("harness", &self.harness),
            ("model", &self.model),
            ("branch", &self.branch),
            ("base_commit", &self.base_commit),
            ("result_commit", &self.result_commit),
            ("tests", &self.tests),
            ("completed_work", &self.completed_work),
            ("next_step", &self.next_step),
            ("blockers", &self.blockers),
        ]
    }

    fn fields_mut(&mut self) -> [(&'static str, &mut Option<String>); 10] {
        [
            ("session_ref", &mut self.session_ref),
            ("harness", &mut self.harness),
            ("model", &mut self.model),
            ("branch", &mut self.branch),
            ("base_commit", &mut self.base_commit),
            ("result_commit", &mut self.result_commit),
            ("tests", &mut self.tests),
            ("completed_work", &mut self.completed_work),
            ("next_step", &mut self.next_step),
            ("blockers", &mut self.blockers),
        ]
    }

    /// The receipt to keep: missing facts are filled from what the client told (marked observed), then from the same
    /// session's previous receipt since its takeover (marked carried).
    pub fn kept(mut self, version: i64, observed: &Observed, previous: Option<&KeptReceipt>) -> Result<KeptReceipt> {
        let told = [("session_ref", &observed.session_ref), ("harness", &observed.harness), ("model", &observed.model)];
        let mut marks = (Vec::new(), Vec::new());
        for (name, field) in self.fields_mut() {
            let fact = told.iter().find(|(one, _)| *one == name).and_then(|(_, fact)| (*fact).clone());
            if field.is_none() && fact.is_some() {
                *field = fact;
                marks.0.push(name.to_owned());
            }
        }
        if self.session_ref.as_deref().unwrap_or_default().is_empty() {
            return Err(Refusal::argument(SESSION_MISSING));
        }
        let previous = previous.filter(|previous| previous.receipt.session_ref == self.session_ref);
        let earlier = previous.map(|previous| previous.receipt.fields().map(|(_, field)| field.clone()));
        for (position, (name, field)) in self.fields_mut().into_iter().enumerate() {
            let fact = earlier.as_ref().and_then(|fields| fields[position].clone());
            if field.is_none() && fact.is_some() {
                *field = fact;
                marks.1.push(name.to_owned());
            }
        }
        Ok(KeptReceipt { version, receipt: self, observed: marks.0, carried: marks.1, verification: None })
    }
}
