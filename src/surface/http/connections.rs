//! Connections: accepted, bounded, ended. Must never let idle or slow clients keep out others, and never end a call in
//! flight before its time.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use http::Request;
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use socket2::SockRef;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio_io_timeout::TimeoutStream;
use tokio_util::sync::CancellationToken;
use tower_service::Service as _;

use crate::surface::http::{Limits, Server};

/// How long the accepting of connections rests after the system refused one.
const REST: Duration = Duration::from_millis(50);
/// What is said to a client for which there is no room: everyone else is being served.
const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-type: application/json\r\n\
    connection: close\r\ncontent-length: 151\r\n\r\n\
    {\"error\":{\"code\":\"unavailable\",\"message\":\"all connections are in use\",\
    \"next\":\"Nothing was written. Call again in 1 second.\",\"details\":{\"retry_after_seconds\":1}}}";

/// How many file descriptors are left for all that is no connection.
const SPARED: u64 = 128;

/// As many connections as the system lets this process have files for, after asking it for as many as it may.
pub fn affordable(wanted: usize) -> usize {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit, setrlimit};
        let needed = wanted as u64 + SPARED;
        let mut limit = getrlimit(Resource::Nofile);
        if limit.current.is_some_and(|current| current < needed) {
            limit.current = Some(limit.maximum.map_or(needed, |most| most.min(needed)));
            let _ = setrlimit(Resource::Nofile, limit);
        }
        let files = getrlimit(Resource::Nofile).current.unwrap_or(needed);
        usize::try_from(files.saturating_sub(SPARED)).unwrap_or(wanted).clamp(1, wanted)
    }
    #[cfg(not(unix))]
    wanted
}

/// The address at the other end of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub SocketAddr);

/// Serves until the end begins; answers when all calls in flight are through or their time is.
pub async fn serve(listener: TcpListener, router: Router, server: Arc<Server>) {
    let limits = &server.settings.limits;
    let open = Arc::new(Open::new(limits.connections));
    while let Some(accepted) = accepted(&listener, server.stopping()).await {
        match accepted {
            Ok((stream, peer)) => match open.enter() {
                Some(place) => {
                    let connection = Connection { stream, peer, place, router: router.clone() };
                    tokio::spawn(connection.serve(Arc::clone(&server)));
                }
                None => drop(tokio::spawn(turn_away(stream))),
            },
            Err(error) => {
                // Most likely all file descriptors are taken: the oldest idle connection gives one back.
                tracing::warn!(%error, "a connection cannot be accepted");
                open.close_one();
                tokio::time::sleep(REST).await;
            }
        }
    }
    drop(listener);
    let _ = tokio::time::timeout(limits.finishing, open.emptied()).await;
}

async fn accepted(listener: &TcpListener, stopping: &CancellationToken) -> Option<io::Result<(TcpStream, SocketAddr)>> {
    tokio::select! {
        biased;
        () = stopping.cancelled() => None,
        accepted = listener.accept() => Some(accepted),
    }
}

async fn turn_away(mut stream: TcpStream) {
    let _ = tokio::time::timeout(REST, stream.write_all(FULL)).await;
}

/// The connections that are open.
struct Open {
    most: usize,
    places: Mutex<HashMap<u64, Arc<Use>>>,
    emptied: Notify,
}

/// How one connection is used.
struct Use {
    /// Requests whose answers are not wholly sent.
    busy: AtomicUsize,
    idle_since: Mutex<Instant>,
    close: Notify,
}

/// A connection's place; given back when dropped.
struct Place {
    open: Arc<Open>,
    number: u64,
    used: Arc<Use>,
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Open {
    fn new(most: usize) -> Self {
        Self { most, places: Mutex::default(), emptied: Notify::new() }
    }

    /// A place, made by closing the connection that is idle longest if need be; none if all are busy.
    fn enter(self: &Arc<Self>) -> Option<Place> {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        if lock(&self.places).len() >= self.most && !self.close_one() {
            return None;
        }
        let number = NUMBER.fetch_add(1, Ordering::Relaxed) as u64;
        let used =
            Arc::new(Use { busy: AtomicUsize::new(0), idle_since: Mutex::new(Instant::now()), close: Notify::new() });
        lock(&self.places).insert(number, Arc::clone(&used));
        Some(Place { open: Arc::clone(self), number, used })
    }

    /// Closes the connection that is idle longest; false if none is.
    fn close_one(&self) -> bool {
        let mut places = lock(&self.places);
        let idle = places.iter().filter(|(_, used)| used.busy.load(Ordering::Acquire) == 0);
        let oldest = idle.min_by_key(|(_, used)| *lock(&used.idle_since)).map(|(number, _)| *number);
        let Some(used) = oldest.and_then(|number| places.remove(&number)) else {
            return false;
        };
        used.close.notify_one();
        true
    }

    async fn emptied(&self) {
        loop {
            let emptied = self.emptied.notified();
            if lock(&self.places).is_empty() {
                return;
            }
            emptied.await;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut places = lock(&self.open.places);
        places.remove(&self.number);
        if places.is_empty() {
            self.open.emptied.notify_waiters();
        }
    }
}

/// Held while a request is being served and its answer sent.
struct Busy(Arc<Use>);

impl Busy {
    fn begin(used: &Arc<Use>) -> Self {
        used.busy.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(used))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        *lock(&self.0.idle_since) = Instant::now();
        self.0.busy.fetch_sub(1, Ordering::AcqRel);
    }
}

struct Connection {
    stream: TcpStream,
    peer: SocketAddr,
    place: Place,
    router: Router,
}

impl Connection {
    async fn serve(self, server: Arc<Server>) {
        let Self { stream, peer, place, router } = self;
        let limits = &server.settings.limits;
        prepare(&stream, limits);
        let used = Arc::clone(&place.used);
        let service = service_fn(move |mut request: Request<Incoming>| {
            let busy = Busy::begin(&used);
            request.extensions_mut().insert(Peer(peer));
            let answer = router.clone().call(request);
            async move { answer.await.map(|response| response.map(|body| Counted { body, _busy: busy })) }
        });
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(limits.stalled));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.head)
            .max_header_size(limits.head_bytes)
            .max_buf_size(limits.head_bytes.max(64 * 1024))
            .serve_connection(TokioIo::new(Box::pin(stream)), service);
        let mut connection = pin!(connection);
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            () = place.used.close.notified() => return,
            () = server.stopping().cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection broke");
        }
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

/// A body during which its connection counts as busy.
struct Counted {
    body: Body,
    _busy: Busy,
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
