//! MCP over standard input and output, in both eras of the protocol: tools, prompts and resources.
//! Must never write anything but protocol to standard output, and never know an operation that the list does not have.

pub mod calls;
pub mod end;
#[cfg(feature = "conformance-fixtures")]
pub mod fixtures;
pub mod handler;
pub mod observed;
pub mod procedures;
pub mod prompts;
pub mod remote;
pub mod resources;
mod stdio;
pub mod subscriptions;
pub mod tools;
pub mod transport;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use rmcp::ServiceExt;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::operation::{Connection, Service};
use crate::surface::mcp::calls::Calls;
use crate::surface::mcp::end::End;
use crate::surface::mcp::handler::Handler;
use crate::surface::mcp::subscriptions::streams::Preparing;
use crate::surface::mcp::transport::LineTransport;

/// When the process gives up waiting for calls in flight, counted from the end of input or a signal.
const GIVING_UP: Duration = Duration::from_millis(1_400);
/// When it gives up waiting for a client that does not read its last answers.
const LEAVING: Duration = Duration::from_millis(1_500);

/// What answers messages over HTTP: our handler, with the fixtures of the conformance suite around it where that feature
/// compiles them.
#[cfg(feature = "conformance-fixtures")]
pub use fixtures::Fixtures as Served;
#[cfg(not(feature = "conformance-fixtures"))]
pub use handler::Handler as Served;

/// What calls need: the database, and the connection pinned to a project.
#[derive(Clone)]
pub struct Open {
    /// The database with its clock and ids.
    pub service: Service,
    /// Who calls and what it is pinned to.
    pub connection: Arc<Connection>,
}

/// Opens the database and pins the project; asked again at each call until it succeeds. It may block.
pub type Opener = Box<dyn Fn() -> crate::error::Result<Open> + Send + Sync>;

/// Serves until end of input, SIGINT, SIGTERM or a closed output; returns the exit code within 2 seconds after that.
///
/// A thread may still be waiting in a read of standard input then: the process ends all the same when `main` returns.
pub async fn serve_stdio(handler: Handler) -> ExitCode {
    let end = End::default();
    stdio::end_at_signals(&end);
    let (output, written) = stdio::output(end.clone());
    serve(handler, stdio::input(), output, end.clone()).await;
    tokio::select! {
        _ = written => {}
        () = end.passed(LEAVING) => tracing::warn!("left without having written everything: the client does not read"),
    }
    ExitCode::SUCCESS
}

/// Serves one connection over any two streams until `end` begins, which end of input and a failed write do too.
pub async fn serve<R, W>(handler: Handler, reader: R, writer: W, end: End)
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let transport = LineTransport::new(reader, writer, end.clone(), GIVING_UP);
    let calls = Arc::clone(handler.calls());
    let served = async {
        // A client that only asks what this is and leaves, ends the handshake with an error that is none.
        match Preparing(handler).serve(transport).await {
            Ok(running) => drop(running.waiting().await),
            Err(error) => tracing::debug!(%error, "the client left before it chose a way of talking"),
        }
    };
    let closed = async {
        end.begun().await;
        close(calls.as_ref()).await;
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = served => end.begin(),
        () = end.passed(GIVING_UP) => tracing::warn!("left while calls were still running"),
        () = closed => {}
    }
    // Nothing may hold the database when the process leaves, and what is still at it must not hold the process.
    tokio::select! {
        () = close(calls.as_ref()) => {}
        () = end.passed(GIVING_UP) => {}
    }
    calls.let_go();
}

/// Ends all subscriptions, where there can be some.
async fn close(calls: &dyn Calls) {
    if let Some(subscriptions) = calls.subscriptions() {
        subscriptions.close().await;
    }
}
