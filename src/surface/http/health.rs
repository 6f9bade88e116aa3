//! Whether this server lives and whether it can serve. Must never tell more than that and the instance, by which servers
//! are told apart: everyone may ask.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::error::{Code, Refusal};
use crate::store::backend::work;
use crate::store::project;
use crate::surface::http::Server;
use crate::surface::http::answer::{self, Denied};

/// Where the process is asked whether it runs.
pub const ALIVE: &str = "/healthz";
/// Where it is asked whether it can serve.
pub const READY: &str = "/readyz";
/// What is answered under every name of a host: whoever asks need not know one.
pub const PATHS: [&str; 2] = [ALIVE, READY];

/// How long the database may take to answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// The process runs.
pub async fn alive() -> Response {
    answer::given(&json!({"status": "ok"}))
}

/// The database answers, and the end has not begun.
pub async fn ready(State(server): State<Arc<Server>>) -> Response {
    if server.ending().has_begun() {
        return not_ready("the server is stopping").into_response();
    }
    let service = server.service();
    let asked = work(|transaction| Box::pin(project::identity(transaction, None)));
    match service.store.read(Instant::now() + PATIENCE, asked).await {
        // Its first rows may be read though others cannot.
        Ok(_) if service.store.is_damaged() => not_ready("the database is damaged").into_response(),
        Ok((instance, _)) => answer::given(&json!({"status": "ready", "instance": instance.id})),
        Err(refusal) => {
            tracing::warn!(%refusal, "not ready");
            let _ = server.database.reopen_if_replaced(&service);
            not_ready("the database does not answer").into_response()
        }
    }
}

fn not_ready(why: &str) -> Denied {
    Refusal::new(Code::Unavailable, why, "Ask again in 1 second.").with("retry_after_seconds", 1).into()
}
