//! The real server on a port of its own, and clients that write what they like.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Signal, getrlimit, kill_process, setrlimit};
use serde_json::{Value, json};

use crate::program::Place;

/// No answer of the server takes longer than that, whatever the machine does beside.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// A server in a place of its own.
pub struct Served {
    /// Its database and project.
    pub place: Place,
    /// Where it listens.
    pub address: SocketAddr,
    child: Child,
}

/// What a client got.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    head: String,
    /// The body.
    pub body: String,
}

impl Answer {
    /// The body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("no JSON ({error}): {self:?}"))
    }

    /// A header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(':'));
        lines.into_iter().find(|(one, _)| one.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }

    /// Fails unless this is the refusal of the contract, with a sentence that says what to do.
    #[track_caller]
    pub fn refused(&self, status: u16, code: &str) -> String {
        assert_eq!(self.status, status, "{self:?}");
        assert_eq!(self.header("content-type"), Some("application/json"), "{self:?}");
        let error = &self.json()["error"];
        assert_eq!(error["code"], code, "{self:?}");
        let next = error["next"].as_str().expect("it says what to do");
        assert!(next.len() > 10 && next.ends_with('.'), "{next}");
        error["message"].as_str().expect("it says what is wrong").to_owned()
    }
}

/// A connection of a client.
#[derive(Debug)]
pub struct Client {
    /// Its socket.
    pub stream: TcpStream,
    read: Vec<u8>,
}

impl Client {
    /// Connects.
    pub fn new(address: SocketAddr) -> Self {
        Self::try_new(address).expect("a connection")
    }

    /// Connects, if it is let.
    pub fn try_new(address: SocketAddr) -> std::io::Result<Self> {
        TcpStream::connect_timeout(&address, PATIENCE).map(Self::over)
    }

    /// A client on a socket that is connected.
    pub fn over(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
        stream.set_write_timeout(Some(PATIENCE)).expect("a socket");
        stream.set_nodelay(true).expect("a socket");
        Self { stream, read: Vec::new() }
    }

    /// Writes; false if the server took no more.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        self.stream.write_all(bytes.as_ref()).is_ok()
    }

    /// Says that nothing more is coming.
    pub fn end(&self) {
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    /// Goes without a word: the other end gets a reset.
    pub fn vanish(self) {
        let _ = socket2::SockRef::from(&self.stream).set_linger(Some(Duration::ZERO));
    }

    /// The next answer; none if the connection ended before one came.
    pub fn answer(&mut self) -> Option<Answer> {
        let head_end = loop {
            if let Some(at) = self.read.windows(4).position(|four| four == b"\r\n\r\n") {
                break at;
            }
            if !self.more() {
                assert!(self.read.is_empty(), "broken off: {}", String::from_utf8_lossy(&self.read));
                return None;
            }
        };
        let head = String::from_utf8(self.read.drain(..head_end + 4).collect()).expect("a head is ASCII");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        let mut answer = Answer { status, head, body: String::new() };
        let length: usize = answer.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        while self.read.len() < length {
            assert!(self.more(), "the body broke off: {answer:?} {}", String::from_utf8_lossy(&self.read));
        }
        answer.body = String::from_utf8(self.read.drain(..length).collect()).expect("a body is UTF-8");
        Some(answer)
    }

    /// Everything that still comes, up to the end.
    pub fn rest(&mut self) -> String {
        while self.more() {}
        String::from_utf8_lossy(&std::mem::take(&mut self.read)).into_owned()
    }

    /// Reads what is there; false at the end, or when the server broke the connection.
    fn more(&mut self) -> bool {
        let mut bytes = [0; 8 * 1024];
        match self.stream.read(&mut bytes) {
            Ok(0) => false,
            Ok(length) => {
                self.read.extend_from_slice(&bytes[..length]);
                true
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                panic!("nothing came and nothing ended for {PATIENCE:?}")
            }
            Err(_) => false,
        }
    }

    /// A call and its answer.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Answer {
        self.send(post(tool, &arguments.to_string()));
        self.answer().expect("an answer")
    }
}

/// The head of a call with more headers, up to where the body begins.
pub fn head(tool: &str, headers: &str) -> String {
    format!("POST /api/ledger/{tool} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{headers}\r\n")
}

/// A whole call.
pub fn post(tool: &str, body: &str) -> Vec<u8> {
    (head(tool, &format!("Content-Length: {}\r\n", body.len())) + body).into_bytes()
}

/// The memory of a process in KiB, as the kernel counts it.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// The most that was ever resident.
    pub most: u64,
    /// What is resident now and is not a file.
    pub anonymous: u64,
}

impl Served {
    /// Calls on new connections until one is served; answers how many were not.
    pub fn refused_until_room(&self) -> usize {
        let began = Instant::now();
        let mut refused = 0;
        loop {
            let mut client = self.client();
            client.send(post("server_identity", "{}"));
            match client.answer() {
                Some(answer) if answer.status == 200 => return refused,
                _ => refused += 1,
            }
            assert!(began.elapsed() < PATIENCE, "nobody made room");
        }
    }

    /// A server with these flags that lets everyone in.
    pub fn open(flags: &[&str]) -> Self {
        Self::start(Place::new(), &[&["--auth", "none"], flags].concat())
    }

    /// A server with these flags.
    pub fn start(place: Place, flags: &[&str]) -> Self {
        let mut command = place.command();
        command.args(["serve", "--json", "--listen", "127.0.0.1:0"]).args(flags);
        Self::spawn(place, command)
    }

    /// The server that a command starts.
    pub fn spawn(place: Place, mut command: std::process::Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the program runs");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
        let told: Value = serde_json::from_str(&line).expect("the address as JSON");
        let address = told["listening"].as_str().and_then(|address| address.parse().ok()).expect("an address");
        Self { place, address, child }
    }

    /// Connects a client.
    pub fn client(&self) -> Client {
        Client::new(self.address)
    }

    /// Sends bytes on a new connection and reads the answer.
    #[track_caller]
    pub fn ask(&self, bytes: impl AsRef<[u8]>) -> Answer {
        let mut client = self.client();
        client.send(bytes);
        client.answer().expect("an answer")
    }

    /// Its memory.
    pub fn memory(&self) -> Memory {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("it runs");
        let field = |name: &str| {
            let line = status.lines().find(|line| line.starts_with(name)).expect("the kernel tells");
            line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number")
        };
        Memory { most: field("VmHWM:"), anonymous: field("RssAnon:") }
    }

    /// Asks it to end.
    pub fn terminate(&self) {
        let id = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).expect("an id");
        kill_process(id, Signal::TERM).expect("it is ours");
    }

    /// Waits for its end; answers the exit code.
    pub fn ended(&mut self) -> Option<i32> {
        self.child.wait().expect("it ends").code()
    }

    /// Runs an attack while a client that does nothing wrong calls on; prints what both cost. Fails if that client was
    /// not served, or the memory grew beyond so many MiB.
    pub fn endure<T>(&self, name: &str, mebibytes: u64, attack: impl FnOnce() -> T) -> T {
        let before = self.memory();
        let neighbour = Neighbour::start(self.address, self.place.task("of the neighbour"));
        let began = Instant::now();
        let outcome = attack();
        let took = began.elapsed();
        let latencies = neighbour.end();
        let after = self.memory();
        let at = |part: usize| latencies.get((latencies.len() * part / 100).min(latencies.len() - 1)).copied();
        println!(
            "{name}: {took:.1?}; memory {} to {} KiB anonymous, {} KiB at most; neighbour: {} calls, p50 {:.1?}, p99 {:.1?}, \
             longest {:.1?}",
            before.anonymous,
            after.anonymous,
            after.most,
            latencies.len(),
            at(50).unwrap_or_default(),
            at(99).unwrap_or_default(),
            at(100).unwrap_or_default()
        );
        assert!(after.most < mebibytes * 1024, "{name}: {} KiB", after.most);
        outcome
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A client that does nothing wrong: it reads a task, each time on a new connection.
struct Neighbour {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Vec<Duration>>,
}

impl Neighbour {
    fn start(address: SocketAddr, task: String) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut latencies = Vec::new();
            loop {
                let is_last = stopped.load(Ordering::Acquire);
                let began = Instant::now();
                let answer = patiently(address, &post("task_get", &json!({"task_id": task}).to_string()));
                assert_eq!(answer.status, 200, "{answer:?}");
                latencies.push(began.elapsed());
                if is_last {
                    latencies.sort();
                    return latencies;
                }
            }
        });
        Self { stop, thread }
    }

    /// One more call, then the latencies in order.
    fn end(self) -> Vec<Duration> {
        self.stop.store(true, Ordering::Release);
        self.thread.join().expect("the neighbour was served")
    }
}

/// The answer to a call that is made again when its connection was closed before it began, as every client may.
fn patiently(address: SocketAddr, request: &[u8]) -> Answer {
    let answers = (0..3).filter_map(|_| {
        let mut client = Client::new(address);
        client.send(request);
        client.answer()
    });
    answers.into_iter().next().expect("an answer at the third time")
}

/// As many of the wanted connections as this process may have files for, having asked for as many as it may.
pub fn affordable(wanted: usize) -> usize {
    const SPARED: u64 = 512;
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    let _ = setrlimit(Resource::Nofile, limit);
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let affordable = usize::try_from(files.saturating_sub(SPARED)).unwrap_or(usize::MAX).min(wanted);
    println!("{affordable} connections of {wanted} wanted: {files} files for this process");
    affordable
}
