//! How many refused credentials came from an address. Must never keep out a caller with a valid one, whoever shares
//! its address, and never remember without bound.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long failures count.
const WINDOW: Duration = Duration::from_mins(1);
/// How many addresses are remembered.
const ADDRESSES: usize = 4_096;

/// Failures by address.
pub struct Failures {
    most: u32,
    seen: Mutex<HashMap<IpAddr, Seen>>,
}

struct Seen {
    since: Instant,
    count: u32,
}

impl Failures {
    /// That many are told so one by one.
    pub fn new(most: u32) -> Self {
        Self { most, seen: Mutex::default() }
    }

    /// Counts one more; answers for how many seconds the address is told to wait, if it is.
    pub fn count(&self, address: IpAddr, now: Instant) -> Option<u64> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let network = network(address);
        if seen.len() >= ADDRESSES && !seen.contains_key(&network) {
            seen.retain(|_, one| now.duration_since(one.since) < WINDOW);
            if seen.len() >= ADDRESSES {
                // More attackers than can be told apart: all of them wait.
                return Some(WINDOW.as_secs());
            }
        }
        let one = seen.entry(network).or_insert(Seen { since: now, count: 0 });
        if now.duration_since(one.since) >= WINDOW {
            *one = Seen { since: now, count: 0 };
        }
        one.count = one.count.saturating_add(1);
        let left = WINDOW.saturating_sub(now.duration_since(one.since));
        (one.count > self.most).then_some(left.as_secs().max(1))
    }
}

/// Whoever has one IPv6 address has its whole /64.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(six) => {
            let [one, two, three, four, ..] = six.segments();
            IpAddr::from([one, two, three, four, 0, 0, 0, 0])
        }
        four @ IpAddr::V4(_) => four,
    }
}
