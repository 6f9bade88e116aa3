//! The requests that are being worked on: which, and how many there may be. Must never let a request in that would
//! take the memory of one too many.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::RequestId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

/// How many places there are: so many small requests are worked on at a time.
pub const PLACES: u32 = 32;
/// A request takes one place, and one more for each so many bytes of its line.
const BYTES_A_PLACE: usize = 256 * 1024;

/// The places that one request takes; free again when the last clone is gone.
#[derive(Clone, Debug)]
pub struct Place(Arc<Taken>);

#[derive(Debug)]
struct Taken {
    permit: Mutex<Option<OwnedSemaphorePermit>>,
    /// Nothing is ever sent: it is closed when the last clone of the place is gone.
    answered: watch::Sender<()>,
}

impl Place {
    /// Gives the places back before the request is answered, where something else bounds such requests.
    pub fn give_back(&self) {
        drop(self.0.permit.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    /// What tells when the answer was written. Its holder takes no place.
    pub fn answered(&self) -> Answered {
        Answered(self.0.answered.subscribe())
    }
}

/// Tells when the answer to a request was written, or will never be.
#[derive(Clone, Debug)]
pub struct Answered(watch::Receiver<()>);

impl Answered {
    /// Waits for that. Cancel-safe.
    pub async fn wait(&mut self) {
        while self.0.changed().await.is_ok() {}
    }
}

/// All requests being worked on.
#[derive(Clone, Debug)]
pub struct InFlight {
    places: Arc<Semaphore>,
    open: Arc<Mutex<HashMap<RequestId, Place>>>,
}

impl Default for InFlight {
    fn default() -> Self {
        Self { places: Arc::new(Semaphore::new(PLACES as usize)), open: Arc::default() }
    }
}

impl InFlight {
    fn open(&self) -> MutexGuard<'_, HashMap<RequestId, Place>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a place for a request whose line has `bytes` bytes. Cancel-safe.
    ///
    /// The place is given back when the request was left *and* the answered clone is gone: a cancelled call that is
    /// still running holds its place, and so does an answer that is still being written.
    pub async fn enter(&self, id: &RequestId, bytes: usize) -> Option<Place> {
        let wanted = u32::try_from(1 + bytes / BYTES_A_PLACE).unwrap_or(PLACES).min(PLACES);
        // An id that is in use: two answers with one id can only be told apart if they come one after the other.
        let wanted = if self.open().contains_key(id) { PLACES } else { wanted };
        let permit = Arc::clone(&self.places).acquire_many_owned(wanted).await.ok()?;
        let taken = Taken { permit: Mutex::new(Some(permit)), answered: watch::Sender::new(()) };
        let place = Place(Arc::new(taken));
        self.open().insert(id.clone(), place.clone());
        Some(place)
    }

    /// The request was answered or cancelled.
    pub fn leave(&self, id: &RequestId) -> Option<Place> {
        self.open().remove(id)
    }

    /// Waits until no request is being worked on. Cancel-safe.
    pub async fn all_left(&self) {
        // Never closed, so this cannot fail; the places are free again at once.
        let _ = self.places.acquire_many(PLACES).await;
    }
}
