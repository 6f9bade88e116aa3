//! What may stand between a bridge and its server, and do wrong.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a front does with a request.
pub enum Act {
    /// Answers this, and closes.
    Answer(String),
    /// Passes it on, and the answer back.
    Pass,
    /// Passes it on, and breaks off before the answer.
    Lose,
    /// Neither answers nor closes.
    Hang,
}

/// A front that listens on a port of this machine.
pub struct Front {
    /// Where.
    pub address: String,
    requests: Arc<AtomicUsize>,
}

impl Front {
    /// Acts on each request by its number, which starts at 0, and its text.
    pub fn new(behind: &str, act: impl Fn(usize, &str) -> Act + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let requests = Arc::new(AtomicUsize::new(0));
        let (behind, act, counted) = (behind.to_owned(), Arc::new(act), Arc::clone(&requests));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (behind, act, counted) = (behind.clone(), Arc::clone(&act), Arc::clone(&counted));
                std::thread::spawn(move || serve(&stream, &behind, act.as_ref(), &counted));
            }
        });
        Self { address, requests }
    }

    /// A page of HTML with this status.
    pub fn page(status: &'static str, page: &'static str) -> Self {
        Self::new("", move |_, _| {
            let length = page.len();
            Act::Answer(format!(
                "HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{page}"
            ))
        })
    }

    /// An answer of JSON with this status.
    pub fn json(status: &str, body: &serde_json::Value) -> String {
        let body = body.to_string();
        let length = body.len();
        format!(
            "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        )
    }

    /// How many requests came.
    pub fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

fn serve(stream: &TcpStream, behind: &str, act: &dyn Fn(usize, &str) -> Act, requests: &AtomicUsize) {
    let mut reader = BufReader::new(stream);
    while let Some(request) = message(&mut reader) {
        let number = requests.fetch_add(1, Ordering::SeqCst);
        let mut stream = stream;
        match act(number, &String::from_utf8_lossy(&request)) {
            Act::Answer(answer) => {
                let _ = stream.write_all(answer.as_bytes());
                return;
            }
            Act::Pass => {
                let Some(answer) = passed(behind, &request) else { return };
                if stream.write_all(&answer).is_err() {
                    return;
                }
            }
            Act::Lose => {
                passed(behind, &request).expect("an answer to lose");
                return;
            }
            Act::Hang => {
                // Until the other side is gone.
                let _ = stream.read(&mut [0]);
                return;
            }
        }
    }
}

/// Sends a request to the server; answers its answer.
pub fn passed(behind: &str, request: &[u8]) -> Option<Vec<u8>> {
    let mut stream = TcpStream::connect(behind).ok()?;
    stream.write_all(request).ok()?;
    message(&mut BufReader::new(stream))
}

/// One request or answer, whole.
pub fn message(stream: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut length = 0;
    loop {
        let start = bytes.len();
        if stream.read_until(b'\n', &mut bytes).ok()? == 0 {
            return None;
        }
        let line = String::from_utf8_lossy(&bytes[start..]).to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().expect("a length");
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let start = bytes.len();
    bytes.resize(start + length, 0);
    stream.read_exact(&mut bytes[start..]).ok()?;
    Some(bytes)
}
