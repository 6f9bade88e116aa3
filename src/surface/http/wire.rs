//! The socket under a connection: it knows what the connection owes its client. Must never let out an answer that the
//! protocol library makes up by itself, which has no body and tells nobody what to do.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio_io_timeout::TimeoutStream;

/// How a connection is used.
pub struct Use {
    /// Calls that are in flight, or whose answers are being written.
    calls: AtomicUsize,
    /// Streams that go on until one side ends them.
    streams: AtomicUsize,
    /// True while the end of an answer has not left for the system.
    unsent: AtomicBool,
    /// True if something came after the last request that was answered.
    heard: AtomicBool,
    since: Mutex<Instant>,
    close: Notify,
}

impl Default for Use {
    fn default() -> Self {
        Self {
            calls: AtomicUsize::new(0),
            streams: AtomicUsize::new(0),
            unsent: AtomicBool::new(false),
            heard: AtomicBool::new(false),
            since: Mutex::new(Instant::now()),
            close: Notify::new(),
        }
    }
}

impl Use {
    /// True while a call is in flight.
    pub fn is_called(&self) -> bool {
        self.calls.load(Ordering::Acquire) > 0
    }

    /// True while the client has something to come.
    pub fn owes(&self) -> bool {
        self.is_called() || self.streams.load(Ordering::Acquire) > 0 || self.unsent.load(Ordering::Acquire)
    }

    /// True if a request may be arriving.
    pub fn is_arriving(&self) -> bool {
        self.heard.load(Ordering::Acquire)
    }

    /// When this became what it is: idle, a stream, or an answer that its client does not read.
    pub fn since(&self) -> Instant {
        *self.since.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How willingly it is closed to make room: idle first, then streams and clients that read nothing for that long.
    pub fn closable(&self, patience: Duration) -> Option<(bool, Instant)> {
        let (owes, since) = (self.owes(), self.since());
        let is_stuck = owes && since.elapsed() >= patience;
        (!self.is_called() && (!owes || is_stuck)).then_some((owes, since))
    }

    /// Asks for the end of the connection.
    pub fn close(&self) {
        self.close.notify_one();
    }

    /// Waits until the end is asked for.
    pub async fn closed(&self) {
        self.close.notified().await;
    }

    fn now(&self) {
        *self.since.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn sent(&self) {
        if self.unsent.swap(false, Ordering::AcqRel) {
            self.now();
        }
    }
}

/// Held from the beginning of a request to the end of its answer.
pub struct Busy {
    used: Arc<Use>,
    streams: bool,
}

impl Busy {
    /// A request begins.
    pub fn begin(used: &Arc<Use>) -> Self {
        used.calls.fetch_add(1, Ordering::AcqRel);
        Self { used: Arc::clone(used), streams: false }
    }

    /// Its answer is a stream.
    #[must_use]
    pub fn streams(mut self) -> Self {
        self.streams = true;
        self.used.streams.fetch_add(1, Ordering::AcqRel);
        self.used.now();
        self.used.calls.fetch_sub(1, Ordering::AcqRel);
        self
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.used.now();
        self.used.heard.store(false, Ordering::Release);
        // Whoever drops this has handed over the last bytes, not sent them.
        self.used.unsent.store(true, Ordering::Release);
        let count = if self.streams { &self.used.streams } else { &self.used.calls };
        count.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A socket, and how its connection is used.
pub struct Wire {
    stream: Pin<Box<TimeoutStream<TcpStream>>>,
    used: Arc<Use>,
    withheld: bool,
}

impl Wire {
    /// The wire of a connection whose client must read something now and then.
    pub fn new(stream: TcpStream, used: Arc<Use>, stalled: Duration) -> Self {
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(stalled));
        Self { stream: Box::pin(stream), used, withheld: false }
    }

    /// True if an answer was withheld that no request had asked for.
    pub fn has_withheld(&self) -> bool {
        self.withheld
    }

    /// The socket.
    pub fn into_stream(self) -> Pin<Box<TimeoutStream<TcpStream>>> {
        self.stream
    }
}

impl AsyncRead for Wire {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        ready!(self.stream.as_mut().poll_read(context, into))?;
        if into.filled().len() > before {
            self.used.heard.store(true, Ordering::Release);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Wire {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if !self.used.owes() {
            self.withheld = true;
            return Poll::Ready(Ok(bytes.len()));
        }
        self.stream.as_mut().poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if !self.used.owes() {
            self.withheld = true;
            return Poll::Ready(Ok(parts.iter().map(|part| part.len()).sum()));
        }
        self.stream.as_mut().poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.stream.as_mut().poll_flush(context))?;
        // The library flushes after its own buffer is empty.
        self.used.sent();
        Poll::Ready(Ok(()))
    }

    /// The end is sent by whoever takes the socket back: there may be something left to say.
    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(context)
    }
}
