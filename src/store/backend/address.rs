//! Where a database is. Must never show the password of one.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use crate::error::{Refusal, Result};

mod url;

/// How many connections one server has at most, if nobody says.
pub const CONNECTIONS: usize = 16;

/// Where a database is: a file, or a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Database {
    /// A file of `SQLite`.
    File(PathBuf),
    /// A database of `PostgreSQL`.
    Server(Address),
}

impl Database {
    /// What a text names: `postgres://` and `postgresql://` a server, everything else a file, but for what only a mistyped
    /// address of a server looks like. That is refused and not quoted: as a file's name its password would be shown.
    pub fn of(text: &str) -> Result<Self> {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Address::of(text).map(Self::Server);
        }
        if is_mistyped_address(text) {
            return Err(Refusal::argument(
                "the database looks like the address of a server, but does not begin with postgres:// or postgresql:// in \
                 small letters, without a space or a quotation mark before it. For a file of such a name write ./ before it",
            ));
        }
        Ok(Self::File(PathBuf::from(text)))
    }

    /// The file, where it is one.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Server(_) => None,
        }
    }

    /// The same, with at most so many connections where it is a server.
    #[must_use]
    pub fn with_connections(self, most: usize) -> Self {
        match self {
            Self::Server(address) => Self::Server(Address { connections: most, ..address }),
            file @ Self::File(_) => file,
        }
    }
}

impl fmt::Display for Database {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(formatter),
            Self::Server(address) => address.fmt(formatter),
        }
    }
}

/// True for another scheme, for `postgres:` with a slash missing or too many, and for the `host=… password=…` of `libpq`.
fn is_mistyped_address(text: &str) -> bool {
    let text = text.trim_start_matches(|one: char| one.is_whitespace() || "\"'`".contains(one)).to_ascii_lowercase();
    let (start, rest) = text.split_once('/').unwrap_or((&text, ""));
    let names_scheme = start.ends_with(':') && start.len() > 1 && rest.starts_with('/');
    let is_near = ["postgres", "postgresql"]
        .iter()
        .any(|name| text.strip_prefix(name).is_some_and(|rest| rest.starts_with(':') || rest.starts_with("//")));
    let is_list = start.split_whitespace().any(|word| {
        word.split_once('=').is_some_and(|(name, _)| {
            ["host", "hostaddr", "port", "dbname", "user", "password", "passfile", "service"].contains(&name)
        })
    });
    names_scheme || is_near || is_list
}

/// How a connection is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encryption {
    /// Not at all.
    Plain,
    /// Where the server offers it, whatever its certificate.
    Offered,
    /// With a certificate of an authority that is named.
    OfAuthority,
    /// With a certificate of a trusted authority for the server's own name.
    OfHost,
}

/// One server of an address.
pub(super) struct Server {
    /// As it is shown.
    pub(super) name: String,
    /// What the driver connects by, to this one only.
    pub(super) config: Config,
    /// How.
    pub(super) encryption: Encryption,
}

/// The address of a server's database. Shown without its password.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    url: String,
    /// What all servers have in common; it names none.
    config: Box<Config>,
    hosts: Vec<(Host, u16)>,
    /// What was asked for; without that it depends on the host.
    encryption: Option<Encryption>,
    authorities: Option<PathBuf>,
    patience: Duration,
    connections: usize,
}

impl Address {
    /// The address that a URL names. All that is wrong with it is told at once, and nothing of it but names of settings that are known.
    pub fn of(url: &str) -> Result<Self> {
        url::read(url)
    }

    /// The whole URL, password included: for handing it on, never for showing it.
    pub fn secret_url(&self) -> &str {
        &self.url
    }

    /// How many connections there are at most.
    pub fn connections(&self) -> usize {
        self.connections
    }

    /// The file of the authorities whose certificates are trusted; without one the machine's are.
    pub(super) fn authorities(&self) -> Option<&Path> {
        self.authorities.as_deref()
    }

    /// How long one server may take to take a connection.
    pub(super) fn patience(&self) -> Duration {
        self.patience
    }

    /// The servers, in the order in which they are tried.
    pub(super) fn servers(&self) -> Vec<Server> {
        self.hosts.iter().map(|(host, port)| self.server(host, *port)).collect()
    }

    fn server(&self, host: &Host, port: u16) -> Server {
        let mut config = Config::clone(&self.config);
        let encryption = match host {
            #[cfg(unix)]
            Host::Unix(path) => {
                config.host_path(path);
                Encryption::Plain
            }
            Host::Tcp(name) => {
                config.host(name);
                // Nobody is on the way to the same machine; on the way to another one is nothing that need not be.
                let usual = if is_loopback(name) { Encryption::Offered } else { Encryption::OfHost };
                self.encryption.unwrap_or(usual)
            }
        };
        config.port(port).ssl_mode(match encryption {
            Encryption::Plain => SslMode::Disable,
            Encryption::Offered => SslMode::Prefer,
            Encryption::OfAuthority | Encryption::OfHost => SslMode::Require,
        });
        Server { name: shown(host, port), config, encryption }
    }
}

/// True for a name or number of this machine itself.
fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost") || host.parse::<std::net::IpAddr>().is_ok_and(|found| found.is_loopback())
}

fn shown(host: &Host, port: u16) -> String {
    match host {
        Host::Tcp(name) if name.contains(':') => format!("[{name}]:{port}"),
        Host::Tcp(name) => format!("{name}:{port}"),
        #[cfg(unix)]
        Host::Unix(path) => format!("{}:{port}", path.display()),
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hosts: Vec<String> = self.hosts.iter().map(|(host, port)| shown(host, *port)).collect();
        write!(formatter, "postgres://")?;
        if let Some(user) = self.config.get_user() {
            write!(formatter, "{user}@")?;
        }
        write!(formatter, "{}/{}", hosts.join(","), self.config.get_dbname().unwrap_or_default())
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}
