//! What is killed, and when.

use std::time::{Duration, Instant};

use crate::chaos::client::Scene;
use crate::chaos::nodes::{Death, Nodes, Rejoined};
use crate::dice::Dice;
use crate::linearizable::Moment;

/// Between the kills of servers.
const SERVER_LIVES: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(3));
/// How long a killed server stays away.
const SERVER_AWAY: (Duration, Duration) = (Duration::ZERO, Duration::from_millis(800));
/// How long a primary lives with its synchronous standby.
const PRIMARY_LIVES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(4));
/// How long it takes until somebody notices that the primary is gone.
const NOTICING: (Duration, Duration) = (Duration::ZERO, Duration::from_millis(500));

/// A kill.
#[derive(Clone, Debug)]
pub struct Fault {
    /// When.
    pub at: Moment,
    /// Of what.
    pub what: String,
}

/// A primary that was killed, and its standby that took over.
#[derive(Clone, Debug)]
pub struct FailOver {
    /// When the old one was killed.
    pub at: Moment,
    /// How.
    pub death: Death,
    /// From there until the new one could be written to.
    pub promoted: Duration,
    /// From there until the old one was the synchronous standby.
    pub rejoined: Duration,
    /// How it became that.
    pub how: Rejoined,
}

/// Kills servers and starts them again until that moment.
pub fn kill_servers(scene: &Scene<'_>, mut dice: Dice, until: Instant) -> Vec<Fault> {
    let mut faults = Vec::new();
    while let Some(pause) = pause_before(until, dice.between(SERVER_LIVES.0, SERVER_LIVES.1)) {
        std::thread::sleep(pause);
        let number = dice.below(scene.servers.len());
        let server = &scene.servers[number];
        let at = scene.now();
        if server.kill() {
            faults.push(Fault { at, what: format!("server {number}") });
            std::thread::sleep(dice.between(SERVER_AWAY.0, SERVER_AWAY.1));
            server.restart(scene.home);
        }
    }
    faults
}

/// Kills the primary and lets the standby take over, again and again until that moment.
pub fn fail_over(scene: &Scene<'_>, nodes: &mut Nodes, mut dice: Dice, until: Instant) -> Vec<FailOver> {
    let mut done = Vec::new();
    while let Some(pause) = pause_before(until, dice.between(PRIMARY_LIVES.0, PRIMARY_LIVES.1)) {
        std::thread::sleep(pause);
        let (at, began) = (scene.now(), Instant::now());
        let death = if dice.percent(50) { Death::Postmaster } else { Death::Machine };
        nodes.kill_primary(death);
        std::thread::sleep(dice.between(NOTICING.0, NOTICING.1));
        nodes.promote();
        let promoted = began.elapsed();
        let how = nodes.rejoin();
        done.push(FailOver { at, death, promoted, rejoined: began.elapsed(), how });
    }
    done
}

/// The pause, if there is time for it.
fn pause_before(until: Instant, pause: Duration) -> Option<Duration> {
    (Instant::now() + pause < until).then_some(pause)
}
