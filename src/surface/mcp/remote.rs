//! The way to operations on a server elsewhere: each call goes there over plain HTTP, and comes back as it would from a
//! database here. Must never carry a write out twice, nor say that one was not carried out without knowing it.

pub mod address;
pub mod client;
pub mod credential;
pub mod keys;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use rmcp::model::Extensions;
use serde_json::Value;
use uuid::Uuid;

use crate::domain::session::Observed;
use crate::error::{Code, Refusal, Result};
use crate::operation::right::check_run;
use crate::operation::{Entry, Pinned};
use crate::surface::mcp::calls::{Calls, Surroundings, apart};
use crate::surface::mcp::observed::Environment;
use crate::surface::mcp::remote::address::Address;
use crate::surface::mcp::remote::client::{Call, Client, Outcome};
use crate::surface::mcp::remote::credential::Credential;
use crate::surface::mcp::remote::keys::{Ending, Key, Keys};
use crate::surface::mcp::subscriptions::Subscriptions;

/// How long a call may take with all its repetitions: a server's own limit of 30 seconds, and the way there and back.
const PATIENCE: Duration = Duration::from_secs(35);
/// How much longer than that is waited for the thread of a call.
const GRACE: Duration = Duration::from_secs(5);
/// The pauses before each sending: a server that is started anew is there again after the last.
const PAUSES: [Duration; 3] = [Duration::ZERO, Duration::from_millis(250), Duration::from_secs(1)];
/// When a caller may try again.
const RETRY_SECONDS: u64 = 5;

/// Finds the project; asked again at each call until it succeeds.
pub type Pin = Box<dyn Fn() -> Result<Pinned> + Send + Sync>;

/// One client's way to a server elsewhere.
pub struct Remote {
    shared: Arc<Shared>,
    environment: Environment,
}

struct Shared {
    client: Client,
    credential: Credential,
    pin: Pin,
    connection: String,
    run: Option<String>,
    state: Mutex<State>,
}

/// What a connection remembers between calls. The server keeps nothing of it.
#[derive(Default)]
struct State {
    pinned: Option<Pinned>,
    named_session: Option<String>,
    keys: Keys,
}

impl Remote {
    /// Nothing is asked or sent yet. What belongs to an unattended `run` reads alone, whatever its token may do.
    pub fn new(
        address: Address,
        credential: Credential,
        pin: Pin,
        environment: Vec<(String, String)>,
        run: Option<String>,
    ) -> Self {
        let connection = Uuid::new_v4().simple().to_string()[..12].to_owned();
        let shared = Shared { client: Client::new(address), credential, pin, connection, run, state: Mutex::default() };
        Self { shared: Arc::new(shared), environment: Environment::new(environment) }
    }
}

impl Calls for Remote {
    fn call<'c>(
        &'c self,
        _: &'c Extensions,
        entry: &'static Entry,
        observed: Observed,
        arguments: Value,
    ) -> BoxFuture<'c, Result<Value>> {
        let shared = Arc::clone(&self.shared);
        Box::pin(apart(PATIENCE + GRACE, move || shared.call(entry, &observed, &arguments)))
    }

    fn project<'c>(&'c self, _: &'c Extensions) -> BoxFuture<'c, Result<String>> {
        let shared = Arc::clone(&self.shared);
        Box::pin(apart(PATIENCE + GRACE, move || shared.pinned().map(|pinned| pinned.project)))
    }

    fn subscriptions(&self) -> Option<&Arc<Subscriptions>> {
        None
    }

    fn surroundings<'c>(&'c self, _: &'c Extensions) -> Surroundings<'c> {
        Surroundings { environment: Some(&self.environment), ..Surroundings::default() }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pinned(&self) -> Result<Pinned> {
        if let Some(pinned) = self.state().pinned.clone() {
            return Ok(pinned);
        }
        let pinned = (self.pin)()?;
        Ok(self.state().pinned.get_or_insert(pinned).clone())
    }

    fn call(&self, entry: &'static Entry, observed: &Observed, arguments: &Value) -> Result<Value> {
        let pinned = self.pinned()?;
        self.run.as_deref().map_or(Ok(()), |run| check_run(run, entry))?;
        let authorization = self.credential.header()?;
        let body = serde_json::to_vec(arguments).map_err(|error| Refusal::internal(&error))?;
        let (key, named_session) = {
            let state = self.state();
            (state.keys.key(entry, arguments, observed.session_ref.as_deref()), state.named_session.clone())
        };
        let call = Call {
            entry,
            body: &body,
            pinned: &pinned,
            authorization,
            observed,
            connection: &self.connection,
            named_session: named_session.as_deref(),
            key: key.as_ref().map(|key| key.text.as_str()),
        };
        let outcome = self.exchange(&call, key.as_ref())?;
        let writes = key.is_some();
        self.remember(&outcome, key);
        match outcome {
            Outcome::Answered(answer, _) => Ok(answer),
            Outcome::Refused(refusal) => Err(self.with_mend(refusal)),
            Outcome::Unreached(reason) => Err(self.unreached(&reason)),
            Outcome::Lost(reason) => Err(self.lost(&reason, writes)),
            Outcome::Stranger(reason) => Err(self.stranger(&reason)),
        }
    }

    /// Sends a call until something is known of it. Each sending of a write has the same key, so that it is carried out
    /// once however many arrive.
    fn exchange(&self, call: &Call<'_>, key: Option<&Key>) -> Result<Outcome> {
        let deadline = Instant::now() + PATIENCE;
        let mut lost = None;
        let mut since = None;
        let mut unreached = None;
        for pause in PAUSES {
            let left = deadline.saturating_duration_since(Instant::now() + pause);
            if left.is_zero() {
                break;
            }
            std::thread::sleep(pause);
            match self.client.send(call, left)? {
                Outcome::Lost(reason) => lost = Some(reason),
                Outcome::Unreached(reason) => unreached = Some(reason),
                Outcome::Answered(answer, session) if lost.is_some() && key.is_some_and(|key| key.fresh) => {
                    return Ok(Outcome::Answered(first_answer(answer), session));
                }
                // What is said of a later sending says nothing of one that was lost.
                Outcome::Refused(refusal) if lost.is_some() && key.is_some() && !settles(refusal.code) => {
                    since = Some(format!("sent again it was refused, {}: {}", refusal.code.as_str(), refusal.message));
                }
                Outcome::Stranger(reason) if lost.is_some() && key.is_some() => since = Some(reason),
                known => return Ok(known),
            }
        }
        let lost = lost.map(|reason| since.map_or_else(|| reason.clone(), |since| format!("{reason}, and {since}")));
        // Once a sending was lost, a later one that did not arrive says nothing of it.
        let unreached = unreached.unwrap_or_else(|| "no answer came in time".to_owned());
        Ok(lost.map_or(Outcome::Unreached(unreached), Outcome::Lost))
    }

    fn remember(&self, outcome: &Outcome, key: Option<Key>) {
        let mut state = self.state();
        let ending = match outcome {
            Outcome::Answered(_, session) => {
                if session.is_some() {
                    state.named_session.clone_from(session);
                }
                Ending::Done
            }
            Outcome::Refused(_) => Ending::Refused,
            Outcome::Unreached(_) | Outcome::Lost(_) | Outcome::Stranger(_) => Ending::Unknown,
        };
        if let Some(key) = key {
            state.keys.ended(key, ending);
        }
    }

    /// A server speaks to whoever sends it headers; here the token comes from the one who set this process up.
    fn with_mend(&self, mut refusal: Refusal) -> Refusal {
        if refusal.code == Code::Unauthenticated {
            let sent = match self.credential {
                Credential::Nothing => "heyaira mcp --remote takes it from HEYAIRA_TOKEN or --token-file.",
                Credential::Environment(_) => "It was taken from HEYAIRA_TOKEN.",
                Credential::File(_) => "It was taken from the file of --token-file.",
            };
            refusal.next = format!("{} {sent}", refusal.next);
        }
        refusal
    }

    fn unavailable(&self, message: String, next: String) -> Refusal {
        tracing::warn!(address = self.client.address().shown(), message, "a call was not answered");
        Refusal::new(Code::Unavailable, message, next).with("retry_after_seconds", RETRY_SECONDS)
    }

    fn unreached(&self, reason: &str) -> Refusal {
        let message = format!("the HeyAira server at {} cannot be reached: {reason}", self.client.address().shown());
        let next = format!(
            "Nothing was written. Call again in {RETRY_SECONDS} seconds; if it stays so, tell the owner of the server."
        );
        self.unavailable(message, next)
    }

    fn lost(&self, reason: &str, writes: bool) -> Refusal {
        let message = format!("the HeyAira server at {} did not answer: {reason}", self.client.address().shown());
        if !writes {
            return self.unavailable(message, format!("Call again in {RETRY_SECONDS} seconds."));
        }
        let next = format!(
            "Call again with the same arguments in {RETRY_SECONDS} seconds: what was carried out is answered then, not \
             done twice. In another session read the state first, with task_get or a list."
        );
        self.unavailable(format!("{message}; the call may have been carried out"), next)
    }

    fn stranger(&self, reason: &str) -> Refusal {
        let message = format!("no HeyAira server answers at {}: {reason}", self.client.address().shown());
        let next = "Have the address of --remote compared with the server's, its path too, and what stands between, such \
                    as a proxy that asks for a sign-in.";
        self.unavailable(message, next.to_owned())
    }
}

/// True for a refusal that is made only after the server has looked for the answer of an earlier sending, or that meets
/// every sending of the same call.
const fn settles(code: Code) -> bool {
    matches!(
        code,
        Code::VersionConflict
            | Code::AmbiguousId
            | Code::InvalidArgument
            | Code::TooLarge
            | Code::SecretRefused
            | Code::NotAllowed
    )
}

/// An answer as it was when it was lost: nobody but this process has called twice.
fn first_answer(mut answer: Value) -> Value {
    if let Some(fields) = answer.as_object_mut()
        && fields.shift_remove("replayed").is_some()
    {
        fields.shift_remove("current_version");
    }
    answer
}
