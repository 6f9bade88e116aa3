//! The servers that an address names, and how one of them is connected to. Must never send a password before the
//! encryption that was asked for stands.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio_postgres::config::LoadBalanceHosts;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Config, Connection, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::Result;
use crate::store::backend::address::Address;
use crate::store::backend::failure::{Failure, Unreached};
use crate::store::backend::postgres::tls;

/// What a new connection is told first. Transactions are short: one that is idle has lost its process or its host, and
/// must not hold rows for long. No statement runs much longer than a call may take, and none gives up a lock before that.
/// A server that acknowledges before the disk has it is asked not to. Statements are short, and not worth compiling.
const PREPARE: &str = "set idle_in_transaction_session_timeout = '10s'; set statement_timeout = '40s'; \
    set lock_timeout = 0; set jit = off; \
    select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'";

type Stream = <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream;

/// A client, and what moves its bytes while it is polled.
pub(super) type Connected = (Client, Connection<Socket, Stream>);

/// The servers of one address.
pub(super) struct Servers {
    all: Vec<Server>,
    /// The one that took the last connection, which is tried first: one that is gone may answer nothing at all.
    last: AtomicUsize,
    patience: Duration,
}

struct Server {
    /// As it is shown.
    name: String,
    config: Config,
    tls: MakeRustlsConnect,
}

impl Servers {
    /// Connects to none of them yet; reads the certificates of the authorities.
    pub(super) fn new(address: &Address) -> Result<Self> {
        let mut servers = Vec::new();
        for one in address.servers() {
            let tls = tls::connector(one.encryption, address.authorities())?;
            servers.push(Server { name: one.name, config: one.config, tls });
        }
        Ok(Self { all: servers, last: AtomicUsize::new(0), patience: address.patience() })
    }

    /// A connection to the first of them that takes it.
    pub(super) async fn connect(&self) -> Result<Connected, Failure> {
        let count = self.all.len();
        let first = self.last.load(Ordering::Relaxed);
        let mut refused = Vec::with_capacity(count);
        for number in (first..first + count).map(|number| number % count) {
            let server = &self.all[number];
            match tokio::time::timeout(self.patience, server.config.connect(server.tls.clone())).await {
                Ok(Ok(connected)) => {
                    let any = server.config.get_load_balance_hosts() == LoadBalanceHosts::Random;
                    self.last.store(if any { number + 1 } else { number } % count, Ordering::Relaxed);
                    return Ok(connected);
                }
                Ok(Err(error)) => refused.push(Unreached::new(&server.name, &error)),
                Err(_) => refused.push(Unreached::silent(&server.name)),
            }
        }
        Err(Failure::unreached(&refused))
    }

    /// Makes a new connection's session ours.
    pub(super) async fn prepare(&self, client: &Client) -> Result<(), Failure> {
        match tokio::time::timeout(self.patience, client.batch_execute(PREPARE)).await {
            Ok(prepared) => prepared.map_err(|error| Failure::of_statement(&error)),
            Err(_) => Err(Failure::silent()),
        }
    }
}
