//! The body of a request: whole, within its size and its time. Must never hold more memory for all callers together
//! than the limits say, nor hang on a sender that stops.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http::header::CONTENT_LENGTH;
use http::{HeaderMap, StatusCode};
use http_body_util::BodyExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use crate::domain::text::grouped;
use crate::error::{Code, Refusal};
use crate::surface::http::Limits;
use crate::surface::http::answer::Denied;

/// Bodies up to this size need no reservation: the number of connections bounds them.
const SMALL: usize = 64 * 1024;
/// The unit of reservations, in bytes.
const UNIT: usize = 1024;
/// How much of a body that is too large is read and dropped, as a multiple of the limit, so that a client that sends
/// all before it reads gets the answer and not a broken connection.
const DROPPED: usize = 4;

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
            return Err(self.refused(body, deadline).await);
        }
        let needed = declared.unwrap_or(self.most);
        let room = if needed > SMALL { Some(self.reserve(needed, deadline).await?) } else { None };
        self.collect(body, declared.unwrap_or(0), deadline).await.map(|bytes| Whole { bytes, _room: room })
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

    async fn collect(&self, mut body: Body, expected: usize, deadline: Instant) -> Result<Bytes, Denied> {
        let mut first: Option<Bytes> = None;
        let mut more = BytesMut::new();
        let mut length = 0;
        while let Some(frame) = timeout_at(deadline, body.frame()).await.map_err(|_| self.too_slow())? {
            let Ok(data) = frame.map_err(|_| broken())?.into_data() else {
                continue;
            };
            length += data.len();
            if length > self.most {
                return Err(self.refused(body, deadline).await);
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

    /// Drops the rest of a body that is too large, as far as that is worth it.
    async fn refused(&self, mut body: Body, deadline: Instant) -> Denied {
        let mut left = self.most.saturating_mul(DROPPED);
        while let Ok(Some(Ok(frame))) = timeout_at(deadline, body.frame()).await {
            left = left.saturating_sub(frame.data_ref().map_or(0, Bytes::len));
            if left == 0 {
                break;
            }
        }
        let message = format!("the body has more than {} bytes, the limit of a request", grouped(self.most));
        let next = "Send less, or split it over several tasks or memories. Nothing was written.";
        Refusal::new(Code::TooLarge, message, next).into()
    }

    fn too_slow(&self) -> Denied {
        let message = format!("the body did not arrive within {} seconds", self.patience.as_secs());
        Denied::invalid(StatusCode::REQUEST_TIMEOUT, message, "Send it again, faster. Nothing was written.")
    }
}

fn declared(headers: &HeaderMap) -> Option<usize> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn broken() -> Denied {
    let message = "the body broke off or is badly framed";
    Denied::invalid(StatusCode::BAD_REQUEST, message, "Send it again, whole. Nothing was written.")
}
