//! MCP's lines over two streams of bytes: bounded, with back-pressure, and with an answer to every bad line.
//! Must never write anything but whole messages, and never lose a message when a waiting call is dropped.
//!
//! The library polls [`Transport::receive`] in a `select!` and drops it whenever something else is ready, so all state
//! lives in [`LineTransport`] and every wait in here is cancel-safe.

pub mod in_flight;
pub mod lines;
pub mod message;
mod output;

use std::io;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorData, GetExtensions, GetMeta, JsonRpcMessage,
    ProtocolVersion, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::domain::text;
use crate::surface::mcp::end::End;
use crate::surface::mcp::transport::in_flight::InFlight;
use crate::surface::mcp::transport::lines::{Lines, Read};
use crate::surface::mcp::transport::message::{Parsed, error_line, parse};
use crate::surface::mcp::transport::output::Line;

/// The longest line, in bytes: the largest request with every character escaped as ASCII JSON writers do, and its
/// wrapping.
pub const LINE_MAX: usize = 4 * 1024 * 1024;
/// How long calls in flight may take to finish once the end has begun.
const FINISHING: Duration = Duration::from_millis(1_500);

/// The transport. It begins the end at end of input and when the output is closed, and reads no further once the end
/// has begun, whoever began it.
#[derive(Debug)]
pub struct LineTransport<R> {
    lines: Lines<R>,
    output: Option<mpsc::Sender<Line>>,
    writer: Option<JoinHandle<()>>,
    in_flight: InFlight,
    end: End,
    /// The answer to a bad line, until the writer has taken it.
    owed: Option<Vec<u8>>,
    /// A message that waits for a place, and the length of its line.
    next: Option<(Box<ClientJsonRpcMessage>, usize)>,
    /// The client has chosen between handshake and self-contained requests.
    chosen: bool,
}

impl<R: AsyncRead + Send + Unpin> LineTransport<R> {
    /// A transport over two streams; the writing half is run by a task of its own, which gives up `limit` after the
    /// end began.
    pub fn new<W: AsyncWrite + Send + Unpin + 'static>(reader: R, writer: W, end: End, limit: Duration) -> Self {
        let (output, writer) = output::start(writer, end.clone(), limit);
        Self {
            lines: Lines::new(reader, LINE_MAX),
            output: Some(output),
            writer: Some(writer),
            in_flight: InFlight::default(),
            end,
            owed: None,
            next: None,
            chosen: false,
        }
    }

    /// The next message; `None` at end of input.
    async fn next_message(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if self.owed.is_some() {
                let room = self.output.as_ref()?.reserve().await.ok()?;
                room.send(Line { bytes: self.owed.take().unwrap_or_default(), place: None });
            }
            if let Some((message, bytes)) = &self.next {
                if let JsonRpcMessage::Request(request) = &**message {
                    let place = self.in_flight.enter(&request.id, *bytes).await?;
                    return self.next.take().map(|(message, _)| with_place(*message, place));
                }
                return self.next.take().map(|(message, _)| *message);
            }
            match self.lines.next().await {
                Read::Line => self.take_line(),
                Read::TooLong => self.owed = Some(too_long()),
                Read::End => return None,
            }
        }
    }

    fn take_line(&mut self) {
        let bytes = self.lines.line().len();
        match parse(self.lines.line()) {
            Parsed::Message(message) => {
                if self.is_wanted(&message) {
                    self.next = Some((message, bytes));
                }
            }
            Parsed::Bad(answer) => self.owed = Some(answer),
            Parsed::Nothing => {}
        }
    }

    /// False for what the library's handshake would take for a reason to give up: anything but a request while the
    /// client has not chosen its way of talking.
    fn is_wanted(&mut self, message: &ClientJsonRpcMessage) -> bool {
        match message {
            JsonRpcMessage::Request(request) => {
                self.chosen |= chooses(&request.request);
                true
            }
            JsonRpcMessage::Notification(notification) => {
                if let Some(id) = cancelled(&notification.notification) {
                    // The library drops the answer; the call itself goes on and keeps its place until it is through.
                    self.in_flight.leave(id);
                }
                self.chosen
            }
            _ => self.chosen,
        }
    }
}

fn cancelled(notification: &ClientNotification) -> Option<&RequestId> {
    match notification {
        ClientNotification::CancelledNotification(cancelled) => cancelled.params.request_id.as_ref(),
        _ => None,
    }
}

/// True for the request that ends the library's handshake: `initialize`, or one that says all about itself.
fn chooses(request: &ClientRequest) -> bool {
    let meta = request.get_meta();
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::DiscoverRequest(_) | ClientRequest::PingRequest(_) => false,
        _ => {
            let known = |version: ProtocolVersion| ProtocolVersion::KNOWN_VERSIONS.contains(&version);
            meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
                && meta.protocol_version().is_some_and(known)
        }
    }
}

/// The place travels with the request and is given back when the handler is through.
fn with_place(mut message: ClientJsonRpcMessage, place: in_flight::Place) -> ClientJsonRpcMessage {
    if let JsonRpcMessage::Request(request) = &mut message {
        request.request.extensions_mut().insert(place);
    }
    message
}

fn too_long() -> Vec<u8> {
    let limit = text::grouped(LINE_MAX);
    let what = format!("Invalid request: the line has more than {limit} bytes, the limit of a message; it was skipped");
    error_line(&ErrorData::invalid_request(what, None), None)
}

fn line_of(message: &ServerJsonRpcMessage) -> io::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(message)?;
    bytes.push(b'\n');
    Ok(bytes)
}

impl<R: AsyncRead + Send + Unpin> Transport<RoleServer> for LineTransport<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let id = match &message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        let place = id.and_then(|id| self.in_flight.leave(id));
        let output = self.output.clone();
        async move {
            let bytes = line_of(&message)?;
            if let Some(output) = output {
                // Whoever closed the output knows that; it is no error of each answer that was still to be sent.
                let _ = output.send(Line { bytes, place }).await;
            }
            Ok(())
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let end = self.end.clone();
        tokio::select! {
            biased;
            _ = end.begun() => {}
            message = self.next_message() => match message {
                Some(message) => return Some(message),
                None => end.begin(),
            },
        }
        // The library waits longer for calls in flight than a client does for this process.
        tokio::select! {
            () = self.in_flight.all_left() => {}
            () = end.passed(FINISHING) => {}
        }
        None
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.output = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.await;
        }
        Ok(())
    }
}
