//! Connections: accepted, bounded, ended. Must never let idle or slow clients keep out others, and never end a call in
//! flight before its time.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, Semaphore};
use tokio::time::{sleep, timeout};

use crate::error::{Code, Refusal};
use crate::surface::http::Server;
use crate::surface::http::answer::Denied;
use crate::surface::http::connection::{Connection, end};
use crate::surface::http::wire::Use;

/// How long the accepting of connections rests after the system refused one, or while many make room.
const REST: Duration = Duration::from_millis(50);
/// How long a client may read nothing, or a stream go on, before it is closed to make room for another.
const PATIENCE: Duration = Duration::from_secs(5);
/// How many clients are told at once that there is no room, and how long that may take.
const TURNED_AWAY: usize = 64;
/// How many connections may be finishing their last call to make room for others.
const LEAVING: usize = 64;
const TURNING: Duration = Duration::from_millis(500);

/// How many file descriptors are left for all that is no connection.
#[cfg(unix)]
const SPARED: u64 = 256;

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

/// Serves until the end; answers when all calls in flight are through or their time is.
pub async fn serve(listener: TcpListener, router: Router, server: Arc<Server>) {
    let limits = &server.settings.limits;
    let draining = limits.draining.min(limits.finishing);
    let open = Arc::new(Open::new(limits.connections));
    let turning = Arc::new(Semaphore::new(TURNED_AWAY));
    let mut drained = pin!(drained(&server, &open, draining));
    while let Some(accepted) = accepted(&listener, drained.as_mut()).await {
        match accepted {
            Ok((stream, peer)) => match open.place().await {
                Some(place) => {
                    let connection = Connection { stream, peer, place, router: router.clone() };
                    tokio::spawn(connection.serve(Arc::clone(&server)));
                }
                None => turn_away(stream, peer, &turning),
            },
            Err(error) => {
                // Most likely all file descriptors are taken: the oldest idle connection gives one back.
                tracing::warn!(%error, "a connection cannot be accepted");
                open.places().close_one();
                sleep(REST).await;
            }
        }
    }
    drop(listener);
    server.ending().drain();
    tokio::select! {
        () = server.ending().hurried() => {}
        _ = timeout(limits.finishing.saturating_sub(draining), open.emptied()) => {}
    }
}

/// Waits until the end has begun and nobody is connected any more, or the time for it is over.
async fn drained(server: &Server, open: &Open, draining: Duration) {
    server.ending().begun().await;
    tokio::select! {
        () = server.ending().hurried() => {}
        _ = timeout(draining, open.emptied()) => {}
    }
}

/// The next connection, or none once `drained` is through. One that is there already comes first.
async fn accepted(
    listener: &TcpListener,
    drained: Pin<&mut impl Future<Output = ()>>,
) -> Option<io::Result<(TcpStream, SocketAddr)>> {
    tokio::select! {
        biased;
        accepted = listener.accept() => Some(accepted),
        () = drained => None,
    }
}

/// Tells a client that everyone else is being served. More of them than can be told at once are not told.
fn turn_away(stream: TcpStream, peer: SocketAddr, turning: &Arc<Semaphore>) {
    let Ok(turn) = Arc::clone(turning).try_acquire_owned() else {
        return;
    };
    let next = "Nothing was written. Call again in 1 second.";
    let full = Refusal::new(Code::Unavailable, "all connections are in use", next).with("retry_after_seconds", 1);
    tokio::spawn(async move {
        let _ = timeout(TURNING, end(stream, Some(Denied::from(full).into_bytes(peer)))).await;
        drop(turn);
    });
}

/// The connections that are open.
struct Open {
    most: usize,
    places: Mutex<Places>,
    left: Notify,
}

#[derive(Default)]
struct Places {
    last: u64,
    /// Those that are not asked to end.
    staying: HashMap<u64, Arc<Use>>,
    /// How many are asked to, and have not ended yet.
    leaving: usize,
}

/// A connection's place; given back when dropped.
pub struct Place {
    open: Arc<Open>,
    number: u64,
    /// How it is used.
    pub used: Arc<Use>,
}

impl Places {
    /// Asks a connection to end: the one that is idle longest, or else a stream or a client that reads nothing. False
    /// if there is none.
    fn close_one(&mut self) -> bool {
        let closable = self.staying.iter().filter_map(|(number, used)| Some((used.closable(PATIENCE)?, *number)));
        let Some((_, number)) = closable.min() else {
            return false;
        };
        if let Some(used) = self.staying.remove(&number) {
            used.close();
            self.leaving += 1;
        }
        true
    }
}

impl Open {
    fn new(most: usize) -> Self {
        Self { most, places: Mutex::default(), left: Notify::new() }
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place, made by closing another connection if need be; none if all are busy.
    fn enter(self: &Arc<Self>) -> Option<Place> {
        let mut places = self.places();
        if places.staying.len() >= self.most && (places.leaving >= LEAVING || !places.close_one()) {
            return None;
        }
        places.last += 1;
        let (number, used) = (places.last, Arc::<Use>::default());
        places.staying.insert(number, Arc::clone(&used));
        Some(Place { open: Arc::clone(self), number, used })
    }

    /// The same, after a moment for those that are leaving, if they are many.
    async fn place(self: &Arc<Self>) -> Option<Place> {
        let _ = timeout(REST, self.until(|places| places.leaving < LEAVING)).await;
        self.enter()
    }

    async fn emptied(&self) {
        self.until(|places| places.staying.is_empty() && places.leaving == 0).await;
    }

    /// Waits until enough connections have ended.
    async fn until(&self, enough: impl Fn(&Places) -> bool) {
        loop {
            let left = self.left.notified();
            if enough(&self.places()) {
                return;
            }
            left.await;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut places = self.open.places();
        if places.staying.remove(&self.number).is_none() {
            places.leaving -= 1;
        }
        drop(places);
        self.open.left.notify_waiters();
    }
}
