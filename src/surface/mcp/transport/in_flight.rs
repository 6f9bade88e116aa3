//! The requests that are being worked on: which, and how many there may be. Must never let a request in that would
//! take the memory of one too many.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::RequestId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many places there are: so many small requests are worked on at a time.
pub const PLACES: u32 = 32;
/// A request takes one place, and one more for each so many bytes of its line.
const BYTES_A_PLACE: usize = 256 * 1024;

/// The places that one request takes; free again when the last clone is gone.
#[derive(Clone, Debug)]
pub struct Place {
    _permit: Arc<OwnedSemaphorePermit>,
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
        let place = Place { _permit: Arc::new(permit) };
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
