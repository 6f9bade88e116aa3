//! The signals that end a server. Must never end the process at once where they can be caught.

/// Waits for SIGINT or SIGTERM (elsewhere: for Ctrl-C).
#[cfg(unix)]
pub async fn ended() {
    use tokio::signal::unix::{SignalKind, signal};
    let both = signal(SignalKind::interrupt()).and_then(|one| Ok((one, signal(SignalKind::terminate())?)));
    match both {
        Ok((mut interrupt, mut terminate)) => {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        }
        Err(error) => {
            tracing::warn!(%error, "signals cannot be caught; they end the process at once");
            std::future::pending::<()>().await;
        }
    }
}

/// Waits for SIGINT or SIGTERM (elsewhere: for Ctrl-C).
#[cfg(not(unix))]
pub async fn ended() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
