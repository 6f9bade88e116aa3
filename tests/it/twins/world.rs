//! What whoever draws the calls knows: only what was answered, and what has been sent.

use std::collections::HashMap;

use heyaira::error::{Code, Refusal, Result};
use serde_json::Value;

use super::side::CLIENTS;
use super::step::Step;

/// How many texts are kept to be searched for.
const SAID: usize = 400;

/// A task that was answered.
#[derive(Clone, Debug)]
pub(super) struct Known {
    /// Its project.
    pub(super) project: &'static str,
    /// Its id.
    pub(super) id: String,
    /// The last version heard of.
    pub(super) version: i64,
}

/// A page of a list that has more behind it.
#[derive(Clone, Debug)]
pub(super) struct Page {
    /// The step that was answered it.
    pub(super) step: Step,
}

/// Everything known.
#[derive(Default)]
pub(super) struct World {
    pub(super) tasks: Vec<Known>,
    /// Ids of memories and messages with their projects.
    pub(super) memories: Vec<(&'static str, String)>,
    pub(super) messages: Vec<(&'static str, String)>,
    /// Runs that are not recorded, with their projects and tasks.
    pub(super) runs: Vec<(&'static str, String, Option<String>)>,
    /// Ids that are no more.
    pub(super) gone: Vec<String>,
    /// The write contexts of each project, the present one last.
    pub(super) contexts: HashMap<String, Vec<String>>,
    /// Projects that cannot be written.
    pub(super) archived: Vec<String>,
    pub(super) projects: Vec<String>,
    pub(super) tokens: Vec<String>,
    pub(super) secrets: Vec<String>,
    /// Texts that were sent with an accepted call, by project.
    pub(super) said: HashMap<&'static str, Vec<String>>,
    pub(super) tags: Vec<String>,
    pub(super) owners: Vec<String>,
    pub(super) pages: Vec<Page>,
    /// Calls that an answer spelled out: by whom, and the words.
    pub(super) spelled: Vec<(usize, String)>,
    /// Writes to be repeated.
    pub(super) writes: Vec<Step>,
}

impl World {
    /// Learns from an outcome; `step` is what was asked.
    pub(super) fn learn(&mut self, step: &Step, outcome: &Result<Value>) {
        match outcome {
            Ok(answer) => self.accepted(step, answer),
            Err(refusal) => self.refused(step, refusal),
        }
    }

    fn accepted(&mut self, step: &Step, answer: &Value) {
        let text = |name: &str| answer.get(name).and_then(Value::as_str).map(str::to_owned);
        match step.operation {
            "project_create" => self.projects.extend(text("project")),
            "project_archive" => {
                let slug = text("project").unwrap_or_default();
                self.archived.retain(|one| *one != slug);
                if answer["archived"] == true {
                    self.archived.push(slug);
                }
            }
            "project_purge" => self.forget(&text("purged").unwrap_or_default()),
            "profile_show" | "profile_rotate" => {
                let contexts = self.contexts.entry(text("project").unwrap_or_default()).or_default();
                let context = text("write_context").unwrap_or_default();
                contexts.retain(|one| *one != context);
                contexts.push(context);
            }
            "run_report" | "run_record" => self.run(step, answer),
            "token_create" => self.tokens.extend(text("name")),
            _ => {}
        }
        self.secrets.extend(text("token"));
        self.owners.extend(text("owner").filter(|owner| !self.owners.contains(owner)));
        if let Some(project) = CLIENTS[step.client].project {
            self.versions(project, step, answer);
            self.ids_in(project, step.client, answer);
        }
        if answer.get("next_cursor").is_some() {
            self.pages.push(Page { step: step.clone() });
        }
        self.remember(step);
    }

    /// Learns that a run came in, or was recorded.
    fn run(&mut self, step: &Step, answer: &Value) {
        let text = |name: &str| answer.get(name).and_then(Value::as_str).map(str::to_owned);
        let (Some(project), Some(run_id)) = (CLIENTS[step.client].project, text("run_id")) else { return };
        self.runs.retain(|(_, run, _)| *run != run_id);
        if answer["recorded"] == false {
            self.runs.push((project, run_id, text("task_id")));
        }
    }

    fn versions(&mut self, project: &'static str, step: &Step, answer: &Value) {
        let Some(id) = answer.get("task_id").and_then(Value::as_str) else {
            return;
        };
        let version = ["current_version", "version"].iter().find_map(|name| answer.get(name)?.as_i64());
        let Some(version) = version else {
            return;
        };
        match self.tasks.iter_mut().find(|task| task.id == id) {
            Some(task) => task.version = task.version.max(version),
            None if step.operation == "task_create" => {
                self.tasks.push(Known { project, id: id.to_owned(), version });
            }
            None => {}
        }
    }

    /// Finds the ids and the calls that an answer holds, wherever they stand.
    fn ids_in(&mut self, project: &'static str, client: usize, value: &Value) {
        match value {
            Value::String(text) => {
                let list = match text.split_once('-') {
                    Some(("m", hex)) if hex.len() == 8 => &mut self.memories,
                    Some(("msg", hex)) if hex.len() == 8 => &mut self.messages,
                    _ => return,
                };
                if !list.iter().any(|(_, id)| id == text) {
                    list.push((project, text.clone()));
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.ids_in(project, client, item)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    if let (true, Value::String(call)) = (name == "rest", value)
                        && self.spelled.len() < 50
                    {
                        self.spelled.push((client, call.clone()));
                    }
                    self.ids_in(project, client, value);
                }
            }
            _ => {}
        }
    }

    fn remember(&mut self, step: &Step) {
        const WRITES: [&str; 6] =
            ["task_create", "task_update", "task_takeover", "memory_add", "message_send", "task_revert"];
        if !WRITES.contains(&step.operation) {
            return;
        }
        self.writes.push(step.clone());
        let said = self.said.entry(CLIENTS[step.client].project.unwrap_or_default()).or_default();
        for (name, value) in &step.arguments {
            match value {
                Value::String(text) if name != "write_context" && said.len() < SAID => {
                    // The beginning and the end, so that what was cut is searched for as well.
                    said.push(text.chars().take(200).collect());
                    if text.len() > 400 {
                        let end = text.chars().rev().take(100).collect::<Vec<_>>();
                        said.push(end.into_iter().rev().collect());
                    }
                }
                Value::Array(tags) if name == "tags" => {
                    self.tags.extend(tags.iter().filter_map(Value::as_str).map(str::to_owned));
                }
                _ => {}
            }
        }
    }

    fn refused(&mut self, step: &Step, refusal: &Refusal) {
        let current = refusal.details.get("current_version").and_then(Value::as_i64);
        let reference = step.arguments.get("task_id").and_then(Value::as_str).unwrap_or_default();
        if let (Code::VersionConflict, Some(version)) = (refusal.code, current) {
            let found = self.tasks.iter_mut().find(|task| reference.len() >= 8 && task.id.starts_with(reference));
            if let Some(task) = found {
                task.version = task.version.max(version);
            }
        }
    }

    /// A project was purged: what was in it is no more, and a page of it leads nowhere that both sides must agree on,
    /// because a database may or may not give a removed row's key again.
    fn forget(&mut self, slug: &str) {
        self.projects.retain(|one| one != slug);
        self.archived.retain(|one| one != slug);
        self.gone.extend(self.tasks.iter().filter(|task| task.project == slug).map(|task| task.id.clone()));
        self.tasks.retain(|task| task.project != slug);
        self.memories.retain(|(project, _)| *project != slug);
        self.messages.retain(|(project, _)| *project != slug);
        self.runs.retain(|(project, ..)| *project != slug);
        self.pages.retain(|page| CLIENTS[page.step.client].project != Some(slug));
    }

    /// The tasks of a project.
    pub(super) fn tasks_of(&self, project: &str) -> Vec<&Known> {
        self.tasks.iter().filter(|task| task.project == project).collect()
    }

    /// The ids of these that are of a project.
    pub(super) fn of<'w>(list: &'w [(&'static str, String)], project: &str) -> Vec<&'w String> {
        list.iter().filter(|(one, _)| *one == project).map(|(_, id)| id).collect()
    }
}
