//! The writing half: one task that writes whole lines. Must never write part of a line and go on with another, and
//! never wait for a client for ever once the end has begun.

use std::time::Duration;

use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::surface::mcp::end::End;
use crate::surface::mcp::transport::in_flight::Place;

/// How many lines wait to be written before those who want to write wait too.
const WAITING: usize = 16;

/// One line to write.
#[derive(Debug)]
pub(super) struct Line {
    /// The line with its end.
    pub(super) bytes: Vec<u8>,
    /// The place of the request that it answers, held until it is written.
    pub(super) place: Option<Place>,
}

/// Starts the task. It ends when all senders are gone, `limit` after the end began, or at the first failure, which
/// begins the end.
pub(super) fn start<W: AsyncWrite + Send + Unpin + 'static>(
    writer: W,
    end: End,
    limit: Duration,
) -> (mpsc::Sender<Line>, JoinHandle<()>) {
    let (sender, receiver) = mpsc::channel(WAITING);
    let task = tokio::spawn(async move {
        tokio::select! {
            () = write_all(writer, receiver, &end) => {}
            () = end.passed(limit) => {}
        }
    });
    (sender, task)
}

async fn write_all<W: AsyncWrite + Unpin>(mut writer: W, mut lines: mpsc::Receiver<Line>, end: &End) {
    while let Some(Line { bytes, place }) = lines.recv().await {
        let written = match writer.write_all(&bytes).await {
            Ok(()) => writer.flush().await,
            failed => failed,
        };
        drop(place);
        if let Err(error) = written {
            tracing::debug!(%error, "the output is closed");
            end.begin();
            return;
        }
    }
    let _ = writer.shutdown().await;
}
