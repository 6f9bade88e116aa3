//! A connection that breaks while a write is being committed: nobody is told that it was written who cannot know it, and
//! a write with a key is found out about.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::Value;

use crate::program::{Answer, Place};
use crate::servers::cluster::Cluster;

/// The end of the message that commits, as the driver sends it.
const COMMIT: &[u8] = b"commit\0";
/// The server's word that it did.
const COMMITTED: &[u8] = b"COMMIT\0";

/// When the next connection breaks.
#[derive(Clone, Copy, PartialEq)]
enum Break {
    /// The commit does not reach the server.
    Before,
    /// The server's answer does not reach the client.
    After,
}

/// A way to the server of the tests that breaks once.
struct Way {
    address: String,
    next: Arc<Mutex<Option<Break>>>,
}

impl Way {
    fn to(database: &str) -> Self {
        let (scheme, rest) = database.split_once("://").expect("a URL");
        let (user, rest) = rest.split_once('@').expect("a user");
        let (server, name) = rest.split_once('/').expect("a name");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let next = Arc::new(Mutex::new(None));
        let (server, breaks) = (server.to_owned(), Arc::clone(&next));
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let server = TcpStream::connect(&server).expect("the server of the tests");
                for (from, to, mark, when) in
                    [(&client, &server, COMMIT, Break::Before), (&server, &client, COMMITTED, Break::After)]
                {
                    let ends = (from.try_clone().expect("a socket"), to.try_clone().expect("a socket"));
                    let breaks = Arc::clone(&breaks);
                    thread::spawn(move || carry(ends, mark, when, &breaks));
                }
            }
        });
        Self { address: format!("{scheme}://{user}@127.0.0.1:{port}/{name}"), next }
    }

    fn breaks(&self, when: Break) {
        *self.next.lock().expect("free") = Some(when);
    }

    fn has_broken(&self) -> bool {
        self.next.lock().expect("free").is_none()
    }
}

/// Carries what comes until one end is closed, or the mark is met and the connection is to break there.
fn carry((mut from, mut to): (TcpStream, TcpStream), mark: &[u8], when: Break, breaks: &Mutex<Option<Break>>) {
    let mut chunk = [0; 65_536];
    while let Ok(count @ 1..) = from.read(&mut chunk) {
        let meets = chunk[..count].windows(mark.len()).any(|window| window == mark);
        if meets && breaks.lock().expect("free").take_if(|next| *next == when).is_some() {
            break;
        }
        if to.write_all(&chunk[..count]).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}

/// An update of a new task over a connection that breaks; the answer, and how the task stands then.
fn update_that_breaks(place: &Place, when: Break, key: Option<&str>) -> (Answer, Value) {
    let way = Way::to(place.database.address());
    let task = place.task("Import bank statements");
    let mut command = place.command();
    command.env("HEYAIRA_DATABASE", &way.address).args(["task", "update", &task, "--expected-version", "1"]);
    command.args(["--summary", "half way", "--project", "ledger", "--json"]);
    if let Some(key) = key {
        command.args(["--idempotency-key", key]);
    }
    way.breaks(when);
    let answer = Answer::from(command.output().expect("the program runs"));
    assert!(way.has_broken(), "{answer:?}");
    (answer, place.ask(&["task", "history", &task]))
}

fn versions(history: &Value) -> usize {
    history["versions"].as_array().unwrap_or_else(|| panic!("no versions: {history}")).len()
}

#[test]
fn a_write_without_a_key_says_that_it_is_uncertain_and_how_to_find_out() {
    let cluster = Cluster::start();
    let place = cluster.place();
    for (when, written) in [(Break::Before, 1), (Break::After, 2)] {
        let (answer, history) = update_that_breaks(&place, when, None);
        assert_eq!(answer.code, 7, "{answer:?}");
        let error = &answer.json()["error"];
        assert_eq!(error["code"], "unavailable", "{error}");
        assert_eq!(error["details"]["uncertain"], true, "{error}");
        assert_eq!(error["details"]["retry_after_seconds"], 1, "{error}");
        let next = error["next"].as_str().expect("words");
        assert!(next.contains("same idempotency_key") && next.contains("read"), "{next}");
        assert!(!next.contains("Nothing was written"), "{next}");
        assert_eq!(versions(&history), written, "{history}");
    }
}

#[test]
fn a_write_with_a_key_is_found_out_about_and_happens_once() {
    let cluster = Cluster::start();
    let place = cluster.place();
    for (when, key) in [(Break::Before, "before-1"), (Break::After, "after-1")] {
        let (answer, history) = update_that_breaks(&place, when, Some(key));
        assert_eq!(answer.code, 0, "{answer:?}");
        let told = answer.json();
        assert_eq!(told["version"], 2, "{told}");
        assert_eq!(told.get("replayed").is_some(), when == Break::After, "{told}");
        assert_eq!(versions(&history), 2, "{history}");
    }
}
