//! Projects and their profiles, for the owner of the instance.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::domain::project::Project;
use crate::domain::rule::{Rule, Setting, Settings};
use crate::domain::secret::refuse_text;
use crate::domain::text::{TITLE_MAX, quoted};
use crate::error::{Refusal, Result};
use crate::operation::{Audience, Context, Effect, Operation};
use crate::store::project;

fn shown(project: &Project) -> Value {
    json!({
        "project": project.slug,
        "name": project.name,
        "language": project.language,
        "stale_hours": project.stale_hours,
        "archived": project.archived,
    })
}

/// Settings by the name of their rule.
pub(crate) fn by_name(settings: impl Iterator<Item = (Rule, Setting)>) -> Value {
    let fields = settings.map(|(rule, setting)| (rule.as_str().to_owned(), json!(setting)));
    Value::Object(fields.collect())
}

/// The project of that slug.
pub(crate) async fn load(context: &mut Context<'_>, slug: &str) -> Result<Project> {
    let (_, found) = project::identity(context.transaction, Some(slug)).await?;
    found.ok_or_else(|| {
        Refusal::not_found(format!("no project {} here", quoted(slug, 80)), "heyaira project list names the projects.")
    })
}

/// Create a project.
#[derive(Deserialize, JsonSchema)]
pub struct ProjectCreate {
    /// Its name in addresses and profiles: 1 to 63 of a-z, 0-9 and -.
    #[schemars(extend("x-check" = "slug", "x-position" = true))]
    project: String,
    /// The display name; the slug if left out.
    #[schemars(length(min = 1, max = TITLE_MAX))]
    name: Option<String>,
    /// The working language, e.g. en or ja; en if left out.
    #[schemars(length(min = 2, max = 35))]
    language: Option<String>,
}

impl Operation for ProjectCreate {
    const NAME: &'static str = "project_create";
    const COMMAND: &'static str = "project create";
    const EFFECT: Effect = Effect::Administers;
    const AUDIENCE: Audience = Audience::People;
    const IN_PROJECT: bool = false;

    async fn run(self, context: &mut Context<'_>) -> Result<Value> {
        let new = Project {
            project_id: 0,
            name: self.name.unwrap_or_else(|| self.project.clone()),
            slug: self.project,
            language: checked_language(self.language.unwrap_or_else(|| "en".to_owned()))?,
            generation: first_generation(context.new_uuid()),
            stale_hours: 24,
            archived: false,
            rules: Settings::default(),
        };
        if !project::create(context.transaction, &new, context.now).await? {
            return Err(Refusal::not_allowed(
                format!("there is a project {} already", new.slug),
                format!("Use it, or choose another name: heyaira profile {}. Nothing was written.", new.slug),
            ));
        }
        Ok(shown(&new))
    }
}

/// A random first generation, so that the profile of a purged project never fits a new one of the same name.
fn first_generation(random: uuid::Uuid) -> i64 {
    i64::try_from(random.as_u128() >> 80).unwrap_or(1)
}

/// A language tag in form: letters first, then groups of letters and digits.
fn checked_language(language: String) -> Result<String> {
    let mut groups = language.split('-');
    let first = groups.next().unwrap_or_default();
    let fits = (2..=8).contains(&first.len())
        && first.bytes().all(|byte| byte.is_ascii_alphabetic())
        && groups.all(|group| (1..=8).contains(&group.len()) && group.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    if fits {
        return Ok(language);
    }
    Err(Refusal::argument(format!("language {} is no language tag such as en, ja or pt-BR", quoted(&language, 40))))
}

/// List the projects of this instance.
#[derive(Deserialize, JsonSchema)]
pub struct ProjectList {}

impl Operation for ProjectList {
    const NAME: &'static str = "project_list";
    const COMMAND: &'static str = "project list";
    const EFFECT: Effect = Effect::Reads;
    const AUDIENCE: Audience = Audience::People;
    const IN_PROJECT: bool = false;

    async fn run(self, context: &mut Context<'_>) -> Result<Value> {
        let projects: Vec<Value> = project::list(context.transaction).await?.iter().map(shown).collect();
        Ok(json!({"total": projects.len(), "shown": projects.len(), "projects": projects}))
    }
}

/// Show one project with its counts.
#[derive(Deserialize, JsonSchema)]
pub struct ProjectShow {
    /// Which project.
    #[schemars(extend("x-check" = "slug", "x-position" = true))]
    project: String,
}

impl Operation for ProjectShow {
    const NAME: &'static str = "project_show";
    const COMMAND: &'static str = "project show";
    const EFFECT: Effect = Effect::Reads;
    const AUDIENCE: Audience = Audience::People;
    const IN_PROJECT: bool = false;

    async fn run(self, context: &mut Context<'_>) -> Result<Value> {
        let found = load(context, &self.project).await?;
        let counts = context.transaction.ask(project::counts(found.project_id)).await?;
        let counts: serde_json::Map<String, Value> =
            counts.into_iter().map(|(status, count)| (status.as_str().to_owned(), json!(count))).collect();
        let mut answer = shown(&found);
        answer["counts"] = Value::Object(counts);
        answer["rules"] = by_name(found.rules.all());
        Ok(answer)
    }
}

/// Change a project's display name, language, stale time or rules, or the instance's resource.
#[derive(Deserialize, JsonSchema)]
pub struct ProjectSet {
    /// Which project.
    #[schemars(extend("x-check" = "slug", "x-position" = true))]
    project: String,
    /// The new display name.
    #[schemars(length(min = 1, max = TITLE_MAX))]
    name: Option<String>,
    /// The new working language.
    #[schemars(length(min = 2, max = 35))]
    language: Option<String>,
    /// After how many hours without a write a task in progress is stale.
    #[schemars(range(min = 1, max = 8760))]
    stale_hours: Option<i64>,
    /// What to do with what a rule finds, as `NAME=SETTING`: off, warn or refuse; several with commas between them, or with the flag once for each.
    #[schemars(length(max = 50), inner(length(min = 1, max = 100)))]
    rule: Option<Vec<String>>,
    /// The canonical URI of the whole instance.
    #[schemars(length(min = 3, max = 300))]
    resource: Option<String>,
}

impl Operation for ProjectSet {
    const NAME: &'static str = "project_set";
    const COMMAND: &'static str = "project set";
    const EFFECT: Effect = Effect::Administers;
    const AUDIENCE: Audience = Audience::People;
    const IN_PROJECT: bool = false;

    async fn run(self, context: &mut Context<'_>) -> Result<Value> {
        let mut found = load(context, &self.project).await?;
        if let Some(name) = self.name {
            found.name = name;
        }
        if let Some(language) = self.language {
            found.language = checked_language(language)?;
        }
        found.stale_hours = self.stale_hours.unwrap_or(found.stale_hours);
        if let Some(words) = &self.rule {
            found
                .rules
                .set_all(words)
                .map_err(|problems| Refusal::argument(problems.join(". ").replace("?. ", "? ")))?;
        }
        project::save(context.transaction, &found, context.now).await?;
        let mut answer = shown(&found);
        if self.rule.is_some() {
            answer["rules"] = by_name(found.rules.changed());
        }
        if found.rules.of(Rule::Secrets) != Setting::Refuse {
            let note = "Texts with secrets in them are saved in this project: the rule secrets is not at refuse.";
            answer["note"] = json!(note);
        }
        if let Some(resource) = self.resource {
            check_resource(&resource)?;
            project::set_resource(context.transaction, &resource).await?;
            answer["resource"] = json!(resource);
        }
        Ok(answer)
    }
}

/// Refuses a resource that is no URI, or one with a password in it.
pub fn check_resource(resource: &str) -> Result<()> {
    refuse_text("resource", resource)?;
    let scheme = resource.split_once(':').map(|(scheme, rest)| (scheme, rest.trim_start_matches('/')));
    let fits = scheme.is_some_and(|(scheme, rest)| {
        !rest.is_empty()
            && scheme.starts_with(|character: char| character.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+.-".contains(&byte))
    }) && !resource.chars().any(|character| character.is_whitespace() || character.is_control());
    if fits {
        return Ok(());
    }
    Err(Refusal::argument(format!("resource {} is no URI such as https://heyaira.example.org", quoted(resource, 80))))
}

/// Archive a project: it can be read, not written.
#[derive(Deserialize, JsonSchema)]
pub struct ProjectArchive {
    /// Which project.
    #[schemars(extend("x-check" = "slug", "x-position" = true))]
    project: String,
    /// Opens it again.
    undo: Option<bool>,
}

impl Operation for ProjectArchive {
    const NAME: &'static str = "project_archive";
    const COMMAND: &'static str = "project archive";
    const EFFECT: Effect = Effect::Administers;
    const AUDIENCE: Audience = Audience::People;
    const IN_PROJECT: bool = false;

    async fn run(self, context: &mut Context<'_>) -> Result<Value> {
        let mut found = load(context, &self.project).await?;
        found.archived = !self.undo.unwrap_or(false);
        project::save(context.transaction, &found, context.now).await?;
        Ok(shown(&found))
    }
}

/// Remove a project with all its tasks, history, memories and messages, for ever.
#[derive(Deserialize, JsonSchema)]
pub struct ProjectPurge {
    /// Which project.
    #[schemars(extend("x-check" = "slug", "x-position" = true))]
    project: String,
    /// The project's name once more, to confirm.
    #[schemars(extend("x-check" = "slug"))]
    confirm: Option<String>,
}

impl Operation for ProjectPurge {
    const NAME: &'static str = "project_purge";
    const COMMAND: &'static str = "project purge";
    const EFFECT: Effect = Effect::Administers;
    const AUDIENCE: Audience = Audience::People;
    const IN_PROJECT: bool = false;

    async fn run(self, context: &mut Context<'_>) -> Result<Value> {
        let found = load(context, &self.project).await?;
        if self.confirm.as_deref() != Some(found.slug.as_str()) {
            return Err(Refusal::not_allowed(
                format!("purging removes project {} for ever, with its whole history", found.slug),
                format!(
                    "Make a backup, then confirm: heyaira project purge {0} --confirm {0}. Nothing was removed.",
                    found.slug
                ),
            ));
        }
        let tasks = project::purge(context.transaction, found.project_id).await?;
        Ok(json!({"purged": found.slug, "tasks": tasks}))
    }
}

/// Show a project's connection profile, with the `write_context` that writes need.
#[derive(Deserialize, JsonSchema)]
pub struct ProfileShow {
    /// Which project.
    #[schemars(extend("x-check" = "slug", "x-position" = true))]
    project: String,
}

impl Operation for ProfileShow {
    const NAME: &'static str = "profile_show";
    const COMMAND: &'static str = "profile";
    const EFFECT: Effect = Effect::Administers;
    const WRITES: bool = false;
    const AUDIENCE: Audience = Audience::People;
    const IN_PROJECT: bool = false;

    async fn run(self, context: &mut Context<'_>) -> Result<Value> {
        let found = load(context, &self.project).await?;
        profile(context, &found)
    }
}

fn profile(context: &Context<'_>, project: &Project) -> Result<Value> {
    Ok(json!({
        "resource": context.instance.resource,
        "instance": context.instance.id,
        "project": project.slug,
        "language": project.language,
        "write_context": project.write_context(&context.instance)?,
    }))
}

/// Start a new generation of a project's profile: older ones are refused from then on.
#[derive(Deserialize, JsonSchema)]
pub struct ProfileRotate {
    /// Which project.
    #[schemars(extend("x-check" = "slug", "x-position" = true))]
    project: String,
}

impl Operation for ProfileRotate {
    const NAME: &'static str = "profile_rotate";
    const COMMAND: &'static str = "profile rotate";
    const EFFECT: Effect = Effect::Administers;
    const AUDIENCE: Audience = Audience::People;
    const IN_PROJECT: bool = false;

    async fn run(self, context: &mut Context<'_>) -> Result<Value> {
        let mut found = load(context, &self.project).await?;
        found.generation += 1;
        project::save(context.transaction, &found, context.now).await?;
        profile(context, &found)
    }
}
