//! The wish that a run should end, which comes at any moment from another thread. Must never be lost.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};

use super::process::Event;

/// Shared between who wishes and who ends.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    is_asked: AtomicBool,
    listener: Mutex<Option<Sender<Event>>>,
}

impl Stop {
    /// Asks for the end.
    pub fn ask(&self) {
        self.shared.is_asked.store(true, Ordering::SeqCst);
        let listener = self.shared.listener.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(listener) = &*listener {
            // Who no longer listens is at its end already.
            let _ = listener.send(Event::Stop);
        }
    }

    /// True once somebody asked.
    pub fn is_asked(&self) -> bool {
        self.shared.is_asked.load(Ordering::SeqCst)
    }

    /// Wakes that listener, who then asks.
    pub(super) fn wake(&self, listener: Sender<Event>) {
        *self.shared.listener.lock().unwrap_or_else(PoisonError::into_inner) = Some(listener);
    }
}
