//! The body of a request: whole, within its size and its time. Must never hold more memory for all callers together
//! than the limits say, nor hang on a sender that stops.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http::header::CONTENT_LENGTH;
use http::{HeaderMap, StatusCode};
use http_body::{Frame, SizeHint};
use http_body_util::BodyExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use crate::domain::text::grouped;
use crate::error::{Code, Refusal};
use crate::surface::http::Limits;
use crate::surface::http::answer::Denied;

/// Bodies up to this size need no reservation: the number of connections bounds them.
const SMALL: usize = 64 * 1024;
/// How many values a larger body may hold: each takes many times its length once it is parsed, and no call needs them.
const VALUES: usize = 65_536;
/// The unit of reservations, in bytes.
const UNIT: usize = 1024;
/// How long the rest of a small body that nobody wants is waited for, so that its connection can go on.
const DROPPING: Duration = Duration::from_millis(200);

/// Room for large bodies.
pub struct Room {
    units: Arc<Semaphore>,
    most: usize,
    patience: Duration,
}

/// A body, and the room that it takes.
pub struct Whole {
    /// The bytes.
    pub bytes: Bytes,
    _room: Option<OwnedSemaphorePermit>,
}

impl Room {
    /// Room within these limits.
    pub fn new(limits: &Limits) -> Self {
        let units = limits.bodies_bytes.max(limits.body_bytes).div_ceil(UNIT);
        Self { units: Arc::new(Semaphore::new(units)), most: limits.body_bytes, patience: limits.body }
    }

    /// Reads a body to its end.
    pub async fn read(&self, headers: &HeaderMap, body: Body) -> Result<Whole, Denied> {
        let deadline = Instant::now() + self.patience;
        let declared = declared(headers);
        if declared.is_some_and(|length| length > self.most) {
            return Err(self.too_large());
        }
        let expected = declared.unwrap_or(0);
        let mut room = if expected > SMALL { Some(self.reserve(expected, deadline).await?) } else { None };
        let bytes = self.collect(body, expected, &mut room, deadline).await?;
        if bytes.len() > SMALL && values(&bytes) > VALUES {
            return Err(too_many());
        }
        Ok(Whole { bytes, _room: room })
    }

    async fn reserve(&self, bytes: usize, deadline: Instant) -> Result<OwnedSemaphorePermit, Denied> {
        let units = u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX);
        let room = timeout_at(deadline, Arc::clone(&self.units).acquire_many_owned(units)).await;
        room.ok().and_then(Result::ok).ok_or_else(|| {
            let message = "other large requests took all the memory that is set aside for them";
            let busy = Refusal::new(Code::Unavailable, message, "Nothing was written. Call again in 5 seconds.");
            busy.with("retry_after_seconds", 5).into()
        })
    }

    async fn collect(
        &self,
        mut body: Body,
        expected: usize,
        room: &mut Option<OwnedSemaphorePermit>,
        deadline: Instant,
    ) -> Result<Bytes, Denied> {
        let mut first: Option<Bytes> = None;
        let mut more = BytesMut::new();
        let mut length = 0;
        while let Some(frame) = timeout_at(deadline, body.frame()).await.map_err(|_| self.too_slow())? {
            let Ok(data) = frame.map_err(|_| broken())?.into_data() else {
                continue;
            };
            length += data.len();
            if length > self.most {
                return Err(self.too_large());
            }
            if length > SMALL && room.is_none() {
                // Nobody said how long it will be.
                *room = Some(self.reserve(self.most, deadline).await?);
            }
            match first.take() {
                None if more.is_empty() => first = Some(data),
                before => {
                    more.reserve(expected.saturating_sub(more.len()).max(data.len()));
                    more.extend_from_slice(&before.unwrap_or_default());
                    more.extend_from_slice(&data);
                }
            }
        }
        Ok(first.unwrap_or_else(|| more.freeze()))
    }

    /// The rest is not waited for: the connection ends.
    fn too_large(&self) -> Denied {
        let message = format!("the body has more than {} bytes, the limit of a request", grouped(self.most));
        let next = "Send less, or split it over several tasks or memories. Nothing was written.";
        Denied::from(Refusal::new(Code::TooLarge, message, next)).closing()
    }

    fn too_slow(&self) -> Denied {
        let message = format!("the body did not arrive within {} seconds", self.patience.as_secs());
        Denied::invalid(StatusCode::REQUEST_TIMEOUT, message, "Send it again, faster. Nothing was written.").closing()
    }
}

/// At least as many values as JSON has, counted without parsing: each but the first stands behind one of these.
fn values(json: &[u8]) -> usize {
    let (mut count, mut quoted, mut escaped) = (0, false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = quoted,
            b'"' => quoted = !quoted,
            b',' | b'[' | b'{' | b':' if !quoted => count += 1,
            _ => {}
        }
    }
    count
}

fn too_many() -> Denied {
    let message = format!("the body holds more than {} values, the limit of a request", grouped(VALUES));
    Refusal::new(Code::TooLarge, message, "Send less, or split it over several calls. Nothing was written.").into()
}

/// A body that its lender can take back: an answer may come before its end, and the next request is behind it.
#[derive(Clone)]
pub struct Lent(Arc<Mutex<Body>>);

impl Lent {
    /// Lends a body.
    pub fn new(body: Body) -> Self {
        Self(Arc::new(Mutex::new(body)))
    }

    /// Reads and drops what is left of it. False if that is not worth it: then the connection must end.
    pub async fn drop_rest(mut self) -> bool {
        let deadline = Instant::now() + DROPPING;
        let mut left = SMALL;
        while let Ok(frame) = timeout_at(deadline, self.frame()).await {
            let Some(frame) = frame else {
                return true;
            };
            let length = frame.ok().and_then(|frame| frame.into_data().ok()).map_or(0, |data| data.len());
            let Some(less) = left.checked_sub(length) else {
                return false;
            };
            left = less;
        }
        false
    }
}

impl http_body::Body for Lent {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<std::result::Result<Frame<Bytes>, axum::Error>>> {
        let mut body = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Pin::new(&mut *body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).size_hint()
    }
}

fn declared(headers: &HeaderMap) -> Option<usize> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn broken() -> Denied {
    let message = "the body broke off or is badly framed";
    Denied::invalid(StatusCode::BAD_REQUEST, message, "Send it again, whole. Nothing was written.")
}
