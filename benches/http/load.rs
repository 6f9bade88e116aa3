//! Clients at work for a while, and what that came to.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use crate::agent::Agent;
use crate::client::Client;
use crate::process::Process;

/// What came of one row's turn.
pub(crate) struct Turn {
    /// How long each request took.
    pub(crate) times: Vec<Duration>,
    /// From the first to the last.
    pub(crate) elapsed: Duration,
    /// What the processes that were asked spent on a processor.
    pub(crate) processor: Option<Duration>,
}

impl Turn {
    /// Requests in a second.
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52")]
    pub(crate) fn rate(&self) -> f64 {
        self.times.len() as f64 / self.elapsed.as_secs_f64()
    }
}

/// Lets all clients ask for so long, each with a pause after every answer.
pub(crate) fn run(
    runtime: &Runtime,
    processes: &[&Process],
    agents: Vec<Agent>,
    length: Duration,
    pause: Duration,
) -> Turn {
    runtime.block_on(async {
        let ready = Arc::new(Barrier::new(agents.len() + 1));
        let mut clients: JoinSet<Vec<Duration>> =
            agents.into_iter().map(|agent| work(agent, Arc::clone(&ready), length, pause)).collect();
        ready.wait().await;
        let (start, before) = (Instant::now(), processor(processes));
        let mut times = Vec::new();
        while let Some(of_one) = clients.join_next().await {
            times.append(&mut of_one.expect("a client ends well"));
        }
        let elapsed = start.elapsed();
        let spent = processor(processes).zip(before).map(|(after, before)| after.saturating_sub(before));
        Turn { times, elapsed, processor: spent }
    })
}

fn processor(processes: &[&Process]) -> Option<Duration> {
    processes.iter().map(|process| process.processor()).sum()
}

/// The first call is not counted: the connection is new.
async fn work(mut agent: Agent, ready: Arc<Barrier>, length: Duration, pause: Duration) -> Vec<Duration> {
    let mut client = Client::connect(agent.address.socket).await;
    agent.ask(&mut client).await;
    ready.wait().await;
    let start = Instant::now();
    let mut times = Vec::new();
    while start.elapsed() < length {
        times.push(agent.ask(&mut client).await);
        if pause > Duration::ZERO {
            tokio::time::sleep(pause).await;
        }
    }
    times
}
