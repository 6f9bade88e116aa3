//! The body of a request: whole, within its size and its time. Must never hold more memory for all callers together
//! than the limits say, nor hang on a sender that stops.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
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

/// Into how many shares the room is divided: one caller takes no more than one of them.
const SHARES: usize = 4;

/// Room for large bodies. A body takes its place in its caller's share whole, so that those of one caller never wait for
/// each other half read, and takes memory as its bytes arrive, so that nobody holds what is only promised.
///
/// The shares of many callers are more than the room. Bodies that are half read may then all wait for more: that ends by
/// itself, as each waits for half its time at most and then gives everything back; to keep it from happening, bodies would
/// have to take room for all that they promise, and slow senders would hold what they do not fill.
pub struct Room {
    units: Arc<Semaphore>,
    shares: Mutex<HashMap<String, Arc<Semaphore>>>,
    share: usize,
    most: usize,
    patience: Duration,
}

/// A body, and the room that it takes.
pub struct Whole {
    /// The bytes.
    pub bytes: Bytes,
    _room: Option<Held>,
}

/// What one body holds of its caller's share and of the room.
struct Held {
    _share: OwnedSemaphorePermit,
    room: OwnedSemaphorePermit,
}

impl Room {
    /// Room within these limits; `apart`: callers have names of their own, and each its share.
    pub fn new(limits: &Limits, apart: bool) -> Self {
        let (whole, one) = (units(limits.bodies_bytes.max(limits.body_bytes)), units(limits.body_bytes));
        Self {
            units: Arc::new(Semaphore::new(whole)),
            shares: Mutex::default(),
            share: if apart { (whole / SHARES).max(one) } else { whole },
            most: limits.body_bytes,
            patience: limits.body,
        }
    }

    /// Reads a body of a caller to its end.
    pub async fn read(&self, caller: &str, headers: &HeaderMap, body: Body) -> Result<Whole, Denied> {
        let deadline = Instant::now() + self.patience;
        let declared = declared(headers);
        if declared.is_some_and(|length| length > self.most) {
            return Err(self.too_large());
        }
        let arriving = Arriving { room: self, caller, longest: declared.unwrap_or(self.most), deadline, held: None };
        let whole = arriving.collect(body).await?;
        if whole.bytes.len() > SMALL && values(&whole.bytes) > VALUES {
            return Err(too_many());
        }
        Ok(whole)
    }

    /// The share of a caller. Those that nobody holds any more are forgotten.
    fn share(&self, caller: &str) -> Arc<Semaphore> {
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        shares.retain(|_, share| Arc::strong_count(share) > 1);
        let share = shares.entry(caller.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(self.share)));
        Arc::clone(share)
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

/// A body on its way in.
struct Arriving<'r> {
    room: &'r Room,
    caller: &'r str,
    /// How long it will be, or may be where nobody said.
    longest: usize,
    deadline: Instant,
    held: Option<Held>,
}

impl Arriving<'_> {
    async fn collect(mut self, mut body: Body) -> Result<Whole, Denied> {
        let mut first: Option<Bytes> = None;
        let mut more = Vec::new();
        let mut length = 0;
        while let Some(frame) = timeout_at(self.deadline, body.frame()).await.map_err(|_| self.room.too_slow())? {
            let Ok(data) = frame.map_err(|_| broken())?.into_data() else {
                continue;
            };
            length += data.len();
            if length > self.room.most {
                return Err(self.room.too_large());
            }
            // In steps that double, so that no byte is moved often.
            let capacity = length.next_power_of_two().min(self.longest).max(length);
            self.hold(length, capacity).await?;
            match first.take() {
                None if more.is_empty() => first = Some(data),
                before => {
                    if more.capacity() < length {
                        more.reserve_exact(capacity - more.len());
                    }
                    more.extend_from_slice(&before.unwrap_or_default());
                    more.extend_from_slice(&data);
                }
            }
        }
        Ok(Whole { bytes: first.unwrap_or_else(|| more.into()), _room: self.held })
    }

    /// Waits for the room of a body that has become so long, if it is no small one.
    async fn hold(&mut self, length: usize, capacity: usize) -> Result<(), Denied> {
        if length <= SMALL {
            return Ok(());
        }
        // The rest of its time is for the body itself.
        let until = self.deadline.min(Instant::now() + self.room.patience / 2);
        if let Some(held) = &mut self.held {
            if units(length) > held.room.num_permits() {
                let missing = units(capacity) - held.room.num_permits();
                let more = acquire(&self.room.units, missing, until).await.ok_or_else(full)?;
                held.room.merge(more);
            }
            return Ok(());
        }
        let share = acquire(&self.room.share(self.caller), units(self.longest.max(capacity)), until).await;
        let share = share.ok_or_else(share_taken)?;
        let room = acquire(&self.room.units, units(capacity), until).await.ok_or_else(full)?;
        self.held = Some(Held { _share: share, room });
        Ok(())
    }
}

/// So many units, once they are free; none if that takes too long.
async fn acquire(of: &Arc<Semaphore>, units: usize, deadline: Instant) -> Option<OwnedSemaphorePermit> {
    let units = u32::try_from(units).unwrap_or(u32::MAX);
    timeout_at(deadline, Arc::clone(of).acquire_many_owned(units)).await.ok()?.ok()
}

fn units(bytes: usize) -> usize {
    bytes.div_ceil(UNIT)
}

fn full() -> Denied {
    let message = "other large requests took all the memory that is set aside for them";
    let busy = Refusal::new(Code::Unavailable, message, "Nothing was written. Call again in 5 seconds.");
    Denied::from(busy.with("retry_after_seconds", 5))
}

fn share_taken() -> Denied {
    let message = "other large requests of this caller took the memory that one caller may take";
    let next = "Nothing was written. Call again in 5 seconds, with fewer large requests at a time.";
    Denied::from(Refusal::new(Code::RateLimited, message, next).with("retry_after_seconds", 5))
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
