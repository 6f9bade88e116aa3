//! A client that costs little: it shares the processors with the server. One connection that is kept, one request at a
//! time, and no more of the answer looked at than shows that it is the right one.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The most bytes of an answer.
const ROOM: usize = 256 * 1024;

/// One connection.
pub(crate) struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Client {
    /// A new connection.
    pub(crate) async fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.expect("connected");
        stream.set_nodelay(true).expect("a setting");
        Self { stream, buffer: vec![0; ROOM] }
    }

    /// Sends a request; answers the body of what comes back, which must be a success.
    pub(crate) async fn ask(&mut self, request: &[u8]) -> &[u8] {
        self.stream.write_all(request).await.expect("sent");
        let (mut filled, mut body) = (0, None);
        while body.is_none_or(|(start, length)| filled < start + length) {
            let read = self.stream.read(&mut self.buffer[filled..]).await.expect("an answer");
            assert!(read > 0, "the connection ended: {}", String::from_utf8_lossy(&self.buffer[..filled]));
            filled += read;
            body = body.or_else(|| place(&self.buffer[..filled]));
        }
        let whole = &self.buffer[..filled];
        assert!(whole.starts_with(b"HTTP/1.1 200 "), "refused: {}", String::from_utf8_lossy(whole));
        body.map_or(&[], |(start, _)| &whole[start..])
    }
}

/// Where the body starts and how long it is, once the whole head is there.
fn place(answer: &[u8]) -> Option<(usize, usize)> {
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n")?;
    let mut lines = answer[..end].split(|byte| *byte == b'\n');
    let length = lines.find_map(|line| {
        let (name, value) = line.split_at_checked(15)?;
        let value = name.eq_ignore_ascii_case(b"content-length:").then_some(value)?;
        std::str::from_utf8(value).ok()?.trim().parse().ok()
    });
    Some((end + 4, length.expect("a content-length")))
}
