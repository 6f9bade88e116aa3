//! One client's connection to one server: it tells apart what was never sent and what may have been carried out.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

use crate::chaos::home::PROJECT;

/// How long a client waits for an answer: longer than a server works at one.
const PATIENCE: Duration = Duration::from_secs(40);

/// What came of sending a call.
#[derive(Debug)]
pub enum Told {
    /// No connection was made.
    Unsent,
    /// The status, the seconds after which to try again, and the body.
    Answer(u16, Option<u64>, Value),
    /// The connection broke before the whole answer was there.
    Broken,
    /// No answer came in time.
    Silent,
}

/// A connection that is made when it is needed.
pub struct Wire {
    address: SocketAddr,
    stream: Option<BufReader<TcpStream>>,
}

impl Wire {
    /// A connection to be.
    pub fn new(address: SocketAddr) -> Self {
        Self { address, stream: None }
    }

    /// Sends a call of a tool and reads what comes.
    pub fn call(&mut self, tool: &str, token: &str, body: &str) -> Told {
        let Some(stream) = self.connected() else { return Told::Unsent };
        let head = format!(
            "POST /api/{PROJECT}/{tool} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        let outcome = stream.get_mut().write_all(format!("{head}{body}").as_bytes()).and_then(|()| answer(stream));
        outcome.unwrap_or_else(|error| {
            self.stream = None;
            let late = matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
            if late { Told::Silent } else { Told::Broken }
        })
    }

    /// The connection; a kept one that the server has closed is not used any more.
    fn connected(&mut self) -> Option<&mut BufReader<TcpStream>> {
        if self.stream.as_ref().is_some_and(|stream| !is_open(stream.get_ref())) {
            self.stream = None;
        }
        if self.stream.is_none() {
            let stream = TcpStream::connect_timeout(&self.address, PATIENCE).ok()?;
            stream.set_read_timeout(Some(PATIENCE)).ok()?;
            stream.set_nodelay(true).ok()?;
            self.stream = Some(BufReader::new(stream));
        }
        self.stream.as_mut()
    }
}

fn is_open(stream: &TcpStream) -> bool {
    let looked = stream.set_nonblocking(true).and_then(|()| stream.peek(&mut [0]));
    let is_open = looked.is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
    is_open && stream.set_nonblocking(false).is_ok()
}

fn answer(stream: &mut BufReader<TcpStream>) -> std::io::Result<Told> {
    let broken = || std::io::Error::from(ErrorKind::UnexpectedEof);
    let mut head = Vec::new();
    while head.last().is_none_or(|line: &String| !line.is_empty()) {
        let mut line = String::new();
        if stream.read_line(&mut line)? == 0 || !line.ends_with('\n') {
            return Err(broken());
        }
        head.push(line.trim_end().to_owned());
    }
    let status = head[0].split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(broken)?;
    let header = |name: &str| {
        let pairs = head.iter().filter_map(|line| line.split_once(':'));
        pairs.into_iter().find(|(one, _)| one.eq_ignore_ascii_case(name))?.1.trim().parse::<u64>().ok()
    };
    let length = header("content-length").ok_or_else(broken)?;
    let mut body = vec![0; usize::try_from(length).expect("small")];
    stream.read_exact(&mut body)?;
    let body = serde_json::from_slice(&body).map_err(|_| broken())?;
    Ok(Told::Answer(status, header("retry-after"), body))
}

/// True if the server there says that it can serve.
pub fn is_ready(address: SocketAddr) -> bool {
    let ask = || -> std::io::Result<Told> {
        let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n")?;
        answer(&mut BufReader::new(stream))
    };
    matches!(ask(), Ok(Told::Answer(200, _, _)))
}
