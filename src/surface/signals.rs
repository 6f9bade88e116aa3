//! The signals that end a server. Must never end the process at once where they can be caught.

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGINT and SIGTERM (elsewhere: Ctrl-C), of which none is lost once this is made.
pub struct Signals {
    #[cfg(unix)]
    both: Option<(Signal, Signal)>,
}

impl Signals {
    /// Catches them from now on.
    #[cfg(unix)]
    pub fn catch() -> Self {
        let both = signal(SignalKind::interrupt()).and_then(|one| Ok((one, signal(SignalKind::terminate())?)));
        let unheard = |error: &std::io::Error| {
            tracing::warn!(%error, "signals cannot be caught; they end the process at once");
        };
        Self { both: both.inspect_err(unheard).ok() }
    }

    /// Catches them from now on.
    #[cfg(not(unix))]
    pub fn catch() -> Self {
        Self {}
    }

    /// Waits for the next one.
    #[cfg(unix)]
    pub async fn next(&mut self) {
        match &mut self.both {
            Some((interrupt, terminate)) => {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
            }
            None => std::future::pending().await,
        }
    }

    /// Waits for the next one.
    #[cfg(not(unix))]
    pub async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Waits for the first one.
pub async fn ended() {
    Signals::catch().next().await;
}
