//! Standard input and output as streams, and the signals that end a server.
//! Must never make the end of the process wait for a client: reads and writes that may block for ever have threads of
//! their own, which the runtime does not wait for.

use std::io::{ErrorKind, Read, Write};

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::surface::mcp::end::End;
use crate::surface::signals;

/// The size of a buffer between a thread and the runtime.
const BUFFER: usize = 64 * 1024;

/// Standard input. It ends when that ends or fails.
pub(super) fn input() -> DuplexStream {
    let (mut to, stream) = tokio::io::duplex(BUFFER);
    let runtime = Handle::current();
    spawn("input", move || {
        let mut chunk = vec![0; BUFFER];
        loop {
            match std::io::stdin().lock().read(&mut chunk) {
                Ok(0) => return,
                Ok(count) => {
                    if runtime.block_on(to.write_all(&chunk[..count])).is_err() {
                        return;
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    tracing::debug!(%error, "standard input failed");
                    return;
                }
            }
        }
    });
    stream
}

/// Standard output, and what resolves when everything was written or could not be; a failure begins the end.
pub(super) fn output(end: End) -> (DuplexStream, oneshot::Receiver<()>) {
    let (stream, mut from) = tokio::io::duplex(BUFFER);
    let (done, written) = oneshot::channel();
    let runtime = Handle::current();
    spawn("output", move || {
        let mut chunk = vec![0; BUFFER];
        while let Ok(count @ 1..) = runtime.block_on(from.read(&mut chunk)) {
            let mut stdout = std::io::stdout().lock();
            if let Err(error) = stdout.write_all(&chunk[..count]).and_then(|()| stdout.flush()) {
                tracing::debug!(%error, "standard output is closed");
                end.begin();
                break;
            }
        }
        let _ = done.send(());
    });
    (stream, written)
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) {
    if let Err(error) = std::thread::Builder::new().name(name.to_owned()).spawn(run) {
        // The stream's other half went with the closure, so the server sees the end of it and leaves.
        tracing::error!(%error, "no thread for standard {name}");
    }
}

/// Begins the end at SIGINT and SIGTERM (elsewhere: at Ctrl-C).
pub(super) fn end_at_signals(end: &End) {
    let end = end.clone();
    tokio::spawn(async move {
        signals::ended().await;
        end.begin();
    });
}
