//! Ports that stay with a server over its restarts. Below those that the system hands out to clients by itself, else one of
//! these could take the port of a server that is down.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU16, Ordering};

const FIRST: u16 = 20_000;
const LAST: u16 = 32_000;

/// A port that nobody listens on.
pub fn free() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let start = u16::try_from(std::process::id() % 10_000).expect("small");
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = FIRST + (start + number) % (LAST - FIRST);
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}
