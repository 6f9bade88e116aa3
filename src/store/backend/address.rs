//! Where a database is. Must never show the password of one.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use tokio_postgres::Config;
use tokio_postgres::config::Host;

use crate::error::{Refusal, Result};

/// Where a database is: a file, or a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Database {
    /// A file of `SQLite`.
    File(PathBuf),
    /// A database of `PostgreSQL`.
    Server(Address),
}

impl Database {
    /// What a text names: `postgres://` and `postgresql://` a server, everything else a file.
    pub fn of(text: &str) -> Result<Self> {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Address::of(text).map(Self::Server);
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
}

impl fmt::Display for Database {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(formatter),
            Self::Server(address) => address.fmt(formatter),
        }
    }
}

/// The address of a server's database. Shown without its password.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    url: String,
    config: Box<Config>,
}

impl Address {
    /// The address that a URL names.
    pub fn of(url: &str) -> Result<Self> {
        // The driver's own message would quote the URL.
        let config = Config::from_str(url).map_err(|_| {
            Refusal::argument(
                "the database URL cannot be read: postgres://USER:PASSWORD@HOST:PORT/DATABASE, several hosts as \
                 HOST:PORT,HOST:PORT, settings behind a question mark",
            )
        })?;
        if config.get_hosts().is_empty() {
            return Err(Refusal::argument("the database URL names no host: postgres://USER@HOST:PORT/DATABASE"));
        }
        Ok(Self { url: url.to_owned(), config: Box::new(config) })
    }

    /// The whole URL, password included: for handing it on, never for showing it.
    pub fn secret_url(&self) -> &str {
        &self.url
    }

    /// What the driver connects by.
    pub(super) fn config(&self) -> &Config {
        &self.config
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ports = self.config.get_ports();
        let host = |(number, host): (usize, &Host)| {
            let port = ports.get(number).or_else(|| ports.first().filter(|_| ports.len() == 1)).unwrap_or(&5432);
            match host {
                Host::Tcp(name) => format!("{name}:{port}"),
                #[cfg(unix)]
                Host::Unix(path) => format!("{}:{port}", path.display()),
            }
        };
        let hosts: Vec<String> = self.config.get_hosts().iter().enumerate().map(host).collect();
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
