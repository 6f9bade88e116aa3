//! Tokens for the HTTP surface, for the owner of the instance.
//! Must never show a secret but in the one answer that hands it out.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::domain::session::Observed;
use crate::domain::text::quoted;
use crate::domain::time::Timestamp;
use crate::domain::token::{EXPIRY_MAX, NAME_MAX, Role, Secret, State, Token, expiry};
use crate::error::{Refusal, Result};
use crate::operation::{Audience, Context, Effect, Operation};
use crate::operations::project;
use crate::store::token;

/// What stands beside every token that is handed out.
const SHOWN_ONCE: &str = "The token is not shown again, and only its hash is kept: store it now where only its user can read it. \
     If it is lost or seen: heyaira token rotate NAME.";

/// A token as answers show it, without its secret. All projects have a field of their own: a project may be named `all`.
fn shown(token: &Token, now: Timestamp) -> Value {
    let (field, opens) = token.project.as_deref().map_or(("projects", "all"), |slug| ("project", slug));
    json!({
        "name": token.name,
        field: opens,
        "role": token.role.as_str(),
        "created": token.created.rfc3339(),
        "created_by": token.created_by,
        "expires": token.expires.map(Timestamp::rfc3339),
        "state": token.state(now).as_str(),
    })
}

fn handed_out(token: &Token, secret: &Secret, now: Timestamp) -> Value {
    let mut answer = shown(token, now);
    answer["token"] = json!(secret.reveal());
    answer["note"] = json!(SHOWN_ONCE);
    answer
}

async fn load(context: &mut Context<'_>, name: &str) -> Result<Token> {
    let found = token::get(context.transaction, name).await?;
    found.ok_or_else(|| {
        Refusal::not_found(
            format!("no token {} here", quoted(name, NAME_MAX)),
            "heyaira token list names the tokens. Nothing was written.",
        )
    })
}

/// Create a token for the HTTP surface; it is shown this once.
#[derive(Deserialize, JsonSchema)]
pub struct TokenCreate {
    /// Its name, the caller of all that is written with it: 1 to 64 characters that can be seen, given once for ever.
    #[schemars(length(min = 1, max = NAME_MAX), extend("x-check" = "new-token-name", "x-position" = true))]
    name: String,
    /// The one project that it opens; either this or `all_projects`, there is no default.
    #[schemars(length(min = 1, max = 63))]
    project: Option<String>,
    /// Opens every project, also those to come.
    all_projects: Option<bool>,
    /// What it may do; write if left out, which is read and write.
    #[schemars(extend("minLength" = 1))]
    role: Option<Role>,
    /// From when on it is refused: 30d, 12h or 90m from now, or a time such as 2027-01-31T18:00:00Z; never if left out.
    #[schemars(length(min = 1, max = EXPIRY_MAX), extend("x-check" = "expiry"))]
    expires: Option<String>,
}

impl Operation for TokenCreate {
    const NAME: &'static str = "token_create";
    const COMMAND: &'static str = "token create";
    const EFFECT: Effect = Effect::Administers;
    const AUDIENCE: Audience = Audience::People;
    const IN_PROJECT: bool = false;

    fn problems(given: &Map<String, Value>, _observed: &Observed) -> Vec<String> {
        let problem = match (given.contains_key("project"), given.get("all_projects") == Some(&json!(true))) {
            (true, true) => "--project and --all-projects are both given: a token opens one project or all",
            (false, false) => {
                "--project NAME or --all-projects is missing: a token opens one project or all, without a default"
            }
            _ => return Vec::new(),
        };
        vec![problem.to_owned()]
    }

    async fn run(self, context: &mut Context<'_>) -> Result<Value> {
        let expires = self.expires.map(|given| expiry(&given, context.now)).transpose()?;
        let project = match (self.project, self.all_projects) {
            (Some(slug), _) => Some(project::load(context, &slug).await?),
            (None, Some(true)) => None,
            (None, _) => return Err(Refusal::internal(&"a token without a project was not refused")),
        };
        let secret = context.new_secret()?;
        let new = Token {
            name: self.name,
            project: project.as_ref().map(|project| project.slug.clone()),
            role: self.role.unwrap_or(Role::Write),
            created_by: context.connection.caller.clone(),
            created: context.now,
            expires,
            revoked: None,
        };
        let project_id = project.map(|project| project.project_id);
        if !token::create(context.transaction, &new, project_id, secret.hash()).await? {
            return Err(taken(&load(context, &new.name).await?));
        }
        Ok(handed_out(&new, &secret, context.now))
    }
}

fn taken(token: &Token) -> Refusal {
    let (ending, next) = match token.revoked {
        Some(_) => (", revoked", "Choose another; heyaira token list names those that are taken."),
        None => ("", "Choose another, or give this one a new secret: heyaira token rotate NAME."),
    };
    Refusal::not_allowed(
        format!("there is a token {} already{ending}", quoted(&token.name, NAME_MAX)),
        format!("A name is given once for ever, because what was written carries it. {next} Nothing was written."),
    )
}

/// List the tokens, never their secrets.
#[derive(Deserialize, JsonSchema)]
pub struct TokenList {}

impl Operation for TokenList {
    const NAME: &'static str = "token_list";
    const COMMAND: &'static str = "token list";
    const EFFECT: Effect = Effect::Administers;
    const WRITES: bool = false;
    const AUDIENCE: Audience = Audience::People;
    const IN_PROJECT: bool = false;

    async fn run(self, context: &mut Context<'_>) -> Result<Value> {
        let found = token::list(context.transaction).await?;
        let tokens: Vec<Value> = found.iter().map(|token| shown(token, context.now)).collect();
        Ok(json!({"total": tokens.len(), "shown": tokens.len(), "tokens": tokens}))
    }
}

/// Revoke a token: it is refused from then on, and its name stays taken.
#[derive(Deserialize, JsonSchema)]
pub struct TokenRevoke {
    /// Which token.
    #[schemars(length(min = 1, max = NAME_MAX), extend("x-check" = "token-name", "x-position" = true))]
    name: String,
}

impl Operation for TokenRevoke {
    const NAME: &'static str = "token_revoke";
    const COMMAND: &'static str = "token revoke";
    const EFFECT: Effect = Effect::Administers;
    const AUDIENCE: Audience = Audience::People;
    const IN_PROJECT: bool = false;

    async fn run(self, context: &mut Context<'_>) -> Result<Value> {
        let mut found = load(context, &self.name).await?;
        let (revoked, note) = match found.revoked {
            Some(earlier) => (earlier, "It was revoked before: nothing was changed."),
            None => (context.now, "It is refused from now on."),
        };
        token::revoke(context.transaction, &found.name, context.now).await?;
        found.revoked = Some(revoked);
        let mut answer = shown(&found, context.now);
        answer["revoked"] = json!(revoked.rfc3339());
        answer["note"] = json!(note);
        Ok(answer)
    }
}

/// Give a token a new secret, shown this once: the old one is refused from then on.
#[derive(Deserialize, JsonSchema)]
pub struct TokenRotate {
    /// Which token.
    #[schemars(length(min = 1, max = NAME_MAX), extend("x-check" = "token-name", "x-position" = true))]
    name: String,
    /// From when on it is refused: 30d, 12h or 90m from now, or a time such as 2027-01-31T18:00:00Z; as before if left out.
    #[schemars(length(min = 1, max = EXPIRY_MAX), extend("x-check" = "expiry"))]
    expires: Option<String>,
}

impl Operation for TokenRotate {
    const NAME: &'static str = "token_rotate";
    const COMMAND: &'static str = "token rotate";
    const EFFECT: Effect = Effect::Administers;
    const AUDIENCE: Audience = Audience::People;
    const IN_PROJECT: bool = false;

    async fn run(self, context: &mut Context<'_>) -> Result<Value> {
        let mut found = load(context, &self.name).await?;
        if let Some(given) = self.expires {
            found.expires = Some(expiry(&given, context.now)?);
        }
        check_opens(&found, context.now)?;
        let secret = context.new_secret()?;
        token::rotate(context.transaction, &found.name, secret.hash(), found.expires).await?;
        Ok(handed_out(&found, &secret, context.now))
    }
}

/// Refuses a new secret that would open nothing.
fn check_opens(token: &Token, now: Timestamp) -> Result<()> {
    let (what, next) = match token.state(now) {
        State::Active => return Ok(()),
        State::Expired => ("has expired", "Give it a new expiry: heyaira token rotate NAME --expires 30d."),
        State::Revoked => ("is revoked", "Create one of another name: heyaira token create."),
    };
    Err(Refusal::not_allowed(
        format!("token {} {what}", quoted(&token.name, NAME_MAX)),
        format!("{next} Nothing was written."),
    ))
}
