//! How a server ends, step by step: it is asked to, it takes no more requests, it is told to hurry. Must never go back a
//! step.

use tokio_util::sync::CancellationToken;

/// The steps. Each one is for ever, and begins with or after the one before.
#[derive(Default)]
pub struct Ending {
    begun: CancellationToken,
    drained: CancellationToken,
    hurried: CancellationToken,
}

impl Ending {
    /// The end begins: nobody is to send more, and what arrives all the same is served.
    pub fn begin(&self) {
        self.begun.cancel();
    }

    /// From now on no request is taken; calls in flight go on.
    pub fn drain(&self) {
        self.begun.cancel();
        self.drained.cancel();
    }

    /// From now on nothing is waited for.
    pub fn hurry(&self) {
        self.drain();
        self.hurried.cancel();
    }

    /// True once the end has begun.
    pub fn has_begun(&self) -> bool {
        self.begun.is_cancelled()
    }

    /// True once no request is taken any more.
    pub fn is_drained(&self) -> bool {
        self.drained.is_cancelled()
    }

    /// Waits until the end begins.
    pub async fn begun(&self) {
        self.begun.cancelled().await;
    }

    /// Waits until nothing is to be waited for.
    pub async fn hurried(&self) {
        self.hurried.cancelled().await;
    }
}
