//! One connection from its first byte to its last. Must never end without an answer where HTTP still allows one, and
//! never lose an answer to a client that goes on sending.

use std::convert::Infallible;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use http::{Request, StatusCode};
use http_body::{Body as _, Frame, SizeHint};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{HttpService, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::yield_now;
use tokio::time::timeout;
use tower_service::Service as _;

use crate::domain::text::grouped;
use crate::error::{Code, Refusal};
use crate::surface::http::answer::Denied;
use crate::surface::http::connections::{Peer, Place};
use crate::surface::http::ending::Ending;
use crate::surface::http::wire::{Busy, Use, Wire};
use crate::surface::http::{Limits, Server};

/// How long a client may be silent, and how long it may go on sending, after the last answer on its connection.
const QUIET: Duration = Duration::from_secs(1);
const LINGER: Duration = Duration::from_secs(5);

/// How often it is looked whether a connection has become idle while the server ends. A request may take as long from its
/// client to here.
const ON_THE_WAY: Duration = Duration::from_millis(250);
/// How long after its last answer a connection counts as idle then: whoever uses it more often sends the next request
/// soon, and is told by its answer to send none after it.
const UNUSED: Duration = Duration::from_secs(1);

/// A connection that was let in.
pub struct Connection {
    /// Its socket.
    pub stream: TcpStream,
    /// The address at its other end.
    pub peer: SocketAddr,
    /// Its place among the others.
    pub place: Place,
    /// What answers its requests.
    pub router: Router,
}

impl Connection {
    /// Answers its requests until it ends.
    pub async fn serve(self, server: Arc<Server>) {
        let Self { stream, peer, place, router } = self;
        let limits = &server.settings.limits;
        prepare(&stream, limits);
        let used = Arc::clone(&place.used);
        let service = service_fn(move |mut request: Request<Incoming>| {
            let busy = Busy::begin(&used);
            request.extensions_mut().insert(Peer(peer));
            let answer = router.clone().call(request);
            async move { answer.await.map(|response| response.map(|body| Counted::new(body, busy))) }
        });
        let wire = Wire::new(stream, Arc::clone(&place.used), limits.stalled);
        let mut connection = http1::Builder::new()
            .timer(TokioTimer::new())
            // A client that has said all that it will say still reads.
            .half_close(true)
            .header_read_timeout(limits.head)
            .max_header_size(limits.head_bytes)
            .max_buf_size(limits.head_bytes.max(64 * 1024))
            .serve_connection(TokioIo::new(wire), service);
        let ended = tokio::select! {
            biased;
            ended = answer(&mut connection, &place.used, server.ending()) => ended,
            () = place.used.closed() => return make_room(connection, &place.used).await,
        };
        let parts = connection.into_parts();
        let wire = parts.io.into_inner();
        let begun = !parts.read_buf.is_empty() && !place.used.owes();
        let last = match ended {
            None => begun.then(stopping),
            Some(Ok(())) => None,
            Some(Err(error)) => {
                tracing::debug!(peer = %peer.ip().to_canonical(), %error, "a connection broke");
                unreadable(&error, wire.has_withheld(), begun, limits)
            }
        };
        tokio::select! {
            () = end(wire.into_stream(), last.map(|last| last.into_bytes(peer))) => {}
            () = place.used.closed() => {}
        }
    }
}

/// Answers the requests of a connection, until one side ends it or the server ends: then those that are arriving are
/// answered as long as requests are taken, and a connection that is idle ends at once. None if it was ended so.
async fn answer<S>(
    connection: &mut http1::Connection<TokioIo<Wire>, S>,
    used: &Use,
    ending: &Ending,
) -> Option<hyper::Result<()>>
where
    S: HttpService<Incoming, ResBody = Counted, Error = Infallible> + Unpin,
{
    tokio::select! {
        biased;
        ended = &mut *connection => return Some(ended),
        () = ending.begun() => {}
    }
    loop {
        match timeout(ON_THE_WAY, &mut *connection).await {
            Ok(ended) => return Some(ended),
            Err(_) if used.owes() && ending.is_drained() => {
                Pin::new(&mut *connection).graceful_shutdown();
                return Some(connection.await);
            }
            Err(_) if used.owes() => {}
            Err(_) if !ending.is_drained() && (used.is_arriving() || used.since().elapsed() < UNUSED) => {}
            Err(_) => return None,
        }
    }
}

/// What is said to a client whose request has not arrived when requests are no longer taken.
fn stopping() -> Denied {
    let next = "Nothing was written. Call again in 1 second.";
    Refusal::new(Code::Unavailable, "the server is stopping", next).with("retry_after_seconds", 1).into()
}

/// Ends a connection for another's sake, though not the call that is in flight, nor the one that has arrived unread.
async fn make_room<S>(mut connection: http1::Connection<TokioIo<Wire>, S>, used: &Use)
where
    S: HttpService<Incoming, ResBody = Counted, Error = Infallible> + Unpin,
{
    // Lets the runtime look at the sockets.
    yield_now().await;
    if poll_fn(|context| Poll::Ready(Pin::new(&mut connection).poll(context))).await.is_pending() && used.is_called() {
        Pin::new(&mut connection).graceful_shutdown();
        let _ = connection.await;
    }
}

/// Small answers go out at once, and a peer that is gone without a word is noticed.
fn prepare(stream: &TcpStream, limits: &Limits) {
    let _ = stream.set_nodelay(true);
    let socket = SockRef::from(stream);
    let _ = socket.set_tcp_keepalive(&socket2::TcpKeepalive::new().with_time(limits.stalled));
    #[cfg(target_os = "linux")]
    let _ = socket.set_tcp_user_timeout(Some(limits.stalled));
}

/// What is said to a client whose request has no head that can be read. `begun`: a part of one is there.
fn unreadable(error: &hyper::Error, withheld: bool, begun: bool, limits: &Limits) -> Option<Denied> {
    let denied = if error.is_parse_version_h2() {
        let next = "Speak HTTP/1.1. Nothing was written.";
        Denied::invalid(StatusCode::HTTP_VERSION_NOT_SUPPORTED, "HTTP/2 is not served here", next)
    } else if withheld && error.is_parse_too_large() {
        let most = grouped(limits.head_bytes);
        let message = format!("the address and headers of the request have more than {most} bytes, or are too many");
        let refusal = Refusal::new(Code::TooLarge, message, "Send fewer or shorter headers. Nothing was written.");
        Denied::with_status(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, refusal)
    } else if withheld {
        let next = "Send an HTTP/1.1 request; for https put a proxy in front. Nothing was written.";
        Denied::invalid(StatusCode::BAD_REQUEST, "what was sent is no HTTP/1.1 request", next)
    } else if begun && error.is_timeout() {
        let message = format!("the head of the request did not arrive within {} seconds", limits.head.as_secs());
        Denied::invalid(StatusCode::REQUEST_TIMEOUT, message, "Send it again, faster. Nothing was written.")
    } else if begun && error.is_incomplete_message() {
        let message = "the head of the request broke off";
        Denied::invalid(StatusCode::BAD_REQUEST, message, "Send it again, whole. Nothing was written.")
    } else {
        return None;
    };
    Some(denied)
}

/// Says the last word, if there is one, and closes when the client has, or is silent: closed before that, what the
/// client still sends would make its system throw away the answer unread.
pub async fn end<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S, last: Option<Vec<u8>>) {
    let ending = async {
        stream.write_all(&last.unwrap_or_default()).await?;
        stream.shutdown().await?;
        let mut dropped = vec![0; 8 * 1024];
        while let Ok(more) = timeout(QUIET, stream.read(&mut dropped)).await
            && more? > 0
        {}
        Ok::<(), std::io::Error>(())
    };
    let _ = timeout(LINGER, ending).await;
}

/// A body during which its connection is busy.
struct Counted {
    body: Body,
    _busy: Busy,
}

impl Counted {
    /// A body without a length is a stream, which goes on until one side ends it.
    fn new(body: Body, busy: Busy) -> Self {
        let is_stream = body.size_hint().exact().is_none();
        Self { body, _busy: if is_stream { busy.streams() } else { busy } }
    }
}

impl http_body::Body for Counted {
    type Data = bytes::Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
