//! The URL of a database on a server, as users of `libpq` write it. Must never quote a value: where a password was not
//! written as it has to be, any part of the URL may be a piece of it.

use std::path::PathBuf;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use tokio_postgres::Config;
use tokio_postgres::config::{ChannelBinding, Host, LoadBalanceHosts, SslNegotiation, TargetSessionAttrs};

use super::{Address, CONNECTIONS, Encryption};
use crate::error::{Refusal, Result};

/// The port of a server that names none.
const PORT: u16 = 5432;
/// How long a server may take to take a connection, if the URL does not say.
const PATIENCE: Duration = Duration::from_secs(3);
/// The longest time that can be set, in seconds.
const LONGEST: u64 = 3_600;
/// When a silent server is asked whether it is there, how often after that, and how many answers it may owe.
const KEEPALIVE: (Duration, Duration, u32) = (Duration::from_secs(10), Duration::from_secs(5), 3);
/// How long bytes that were sent may stay without an answer of the other system.
const UNANSWERED: Duration = Duration::from_secs(10);

const SHAPE: &str = "postgres://USER:PASSWORD@HOST:PORT/DATABASE, several hosts as HOST:PORT,HOST:PORT, settings as \
                     ?NAME=VALUE&NAME=VALUE; in a user or password / ? # @ : and % are written %2F %3F %23 %40 %3A %25";

/// The settings that are known, for whoever wrote another.
const KNOWN: [&str; 19] = [
    "sslmode",
    "sslrootcert",
    "target_session_attrs",
    "connect_timeout",
    "application_name",
    "options",
    "host",
    "port",
    "user",
    "password",
    "dbname",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_count",
    "tcp_user_timeout",
    "load_balance_hosts",
    "channel_binding",
    "sslnegotiation",
];

/// Reads it.
pub(super) fn read(url: &str) -> Result<Address> {
    let mut reading = Reading::new();
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let (place, settings) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, database) = place.split_once('/').unwrap_or((place, ""));
    if database.contains('@') || settings.contains('@') {
        reading.wrong("behind the first / or ? an @ is written %40, and before it / and ? are written %2F and %3F");
        return reading.finish(url);
    }
    reading.authority(authority);
    if !database.is_empty() {
        match decoded(database) {
            Some(name) => drop(reading.config.dbname(name)),
            None => reading.wrong("the name of the database is not UTF-8 behind its % signs"),
        }
    }
    for (number, setting) in (1..).zip(settings.split('&').filter(|setting| !setting.is_empty())) {
        reading.setting(number, setting);
    }
    reading.finish(url)
}

fn decoded(text: &str) -> Option<String> {
    percent_decode_str(text).decode_utf8().ok().map(std::borrow::Cow::into_owned)
}

struct Reading {
    config: Config,
    hosts: Vec<Host>,
    ports: Vec<u16>,
    encryption: Option<Encryption>,
    authorities: Option<PathBuf>,
    patience: Duration,
    problems: Vec<String>,
}

impl Reading {
    fn new() -> Self {
        let mut config = Config::new();
        let (idle, interval, count) = KEEPALIVE;
        config.keepalives_idle(idle).keepalives_interval(interval).keepalives_retries(count);
        config.tcp_user_timeout(UNANSWERED).application_name("heyaira");
        // A standby would answer with what is no longer so.
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        Self {
            config,
            hosts: Vec::new(),
            ports: Vec::new(),
            encryption: None,
            authorities: None,
            patience: PATIENCE,
            problems: Vec::new(),
        }
    }

    fn wrong(&mut self, problem: impl Into<String>) {
        self.problems.push(problem.into());
    }

    fn authority(&mut self, authority: &str) {
        let (login, hosts) =
            authority.rsplit_once('@').map_or((None, authority), |(login, hosts)| (Some(login), hosts));
        if let Some(login) = login {
            self.login(login);
        }
        for one in hosts.split(',').filter(|_| !hosts.is_empty()) {
            self.host_and_port(one);
        }
    }

    fn login(&mut self, login: &str) {
        if login.contains('@') {
            return self.wrong("an @ in the user or the password is written %40");
        }
        let (user, password) = login.split_once(':').map_or((login, None), |(user, word)| (user, Some(word)));
        match decoded(user) {
            Some(user) if !user.is_empty() => drop(self.config.user(user)),
            Some(_) => {}
            None => self.wrong("the user is not UTF-8 behind its % signs"),
        }
        if let Some(password) = password {
            self.config.password(percent_decode_str(password).collect::<Vec<u8>>());
        }
    }

    fn host_and_port(&mut self, text: &str) {
        let number = self.hosts.len() + 1;
        let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((host, "")) => (host, None),
            Some((host, rest)) => (host, Some(rest.strip_prefix(':').unwrap_or("no"))),
            None => text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port))),
        };
        self.host(host);
        match port.map_or(Ok(PORT), str::parse) {
            Ok(port) if port > 0 => self.ports.push(port),
            _ => {
                self.ports.push(PORT);
                self.wrong(format!("the port of host {number} is no number from 1 to 65535"));
            }
        }
    }

    fn host(&mut self, text: &str) {
        let number = self.hosts.len() + 1;
        match decoded(text) {
            #[cfg(unix)]
            Some(path) if path.starts_with('/') => self.hosts.push(Host::Unix(PathBuf::from(path))),
            Some(name) if is_name(&name) => self.hosts.push(Host::Tcp(name)),
            _ => {
                // Counted, so that those behind it keep their numbers.
                self.hosts.push(Host::Tcp(String::new()));
                self.wrong(format!("host {number} is no name of a host"));
            }
        }
    }

    /// `number` is where it stands among the settings: of one that is not known the name is not quoted, as that may be a
    /// piece of a password.
    fn setting(&mut self, number: usize, setting: &str) {
        let Some((name, value)) = setting.split_once('=') else {
            return self.wrong(format!("setting {number} has no = between its name and its value"));
        };
        if !KNOWN.contains(&name) {
            let known = KNOWN.join(", ");
            return self.wrong(format!("setting {number} is none that is known here: {known}"));
        }
        let Some(value) = decoded(value) else {
            return self.wrong(format!("{name} is not UTF-8 behind its % signs"));
        };
        match name {
            "user" => drop(self.config.user(value)),
            "password" => drop(self.config.password(value)),
            "dbname" => drop(self.config.dbname(value)),
            "application_name" => drop(self.config.application_name(value)),
            "options" => drop(self.config.options(value)),
            "host" if !self.hosts.is_empty() => self.wrong("hosts are named twice, before the database and by host"),
            "host" => value.split(',').for_each(|host| self.host(host)),
            "port" => self.ports(&value),
            "sslrootcert" if value == "system" => self.authorities = None,
            "sslrootcert" => self.authorities = Some(PathBuf::from(value)),
            "sslmode" | "sslnegotiation" | "target_session_attrs" | "load_balance_hosts" | "channel_binding" => {
                self.word(name, &value);
            }
            _ => self.number(name, &value),
        }
    }

    fn ports(&mut self, list: &str) {
        self.ports.clear();
        for port in list.split(',') {
            match port.parse() {
                Ok(port) if port > 0 => self.ports.push(port),
                _ => {
                    self.ports.push(PORT);
                    self.wrong("port is no number from 1 to 65535");
                }
            }
        }
    }

    fn word(&mut self, name: &str, value: &str) {
        match (name, value) {
            ("sslmode", "disable") => self.encryption = Some(Encryption::Plain),
            ("sslmode", "prefer") => self.encryption = Some(Encryption::Offered),
            ("sslmode", "verify-ca") => self.encryption = Some(Encryption::OfAuthority),
            ("sslmode", "require" | "verify-full") => self.encryption = Some(Encryption::OfHost),
            ("sslmode", _) => self.wrong("sslmode is one of disable, prefer, require, verify-ca, verify-full"),
            ("sslnegotiation", "postgres") => drop(self.config.ssl_negotiation(SslNegotiation::Postgres)),
            ("sslnegotiation", "direct") => drop(self.config.ssl_negotiation(SslNegotiation::Direct)),
            ("sslnegotiation", _) => self.wrong("sslnegotiation is one of postgres, direct"),
            ("target_session_attrs", "read-write") => self.target(TargetSessionAttrs::ReadWrite),
            ("target_session_attrs", "any") => self.target(TargetSessionAttrs::Any),
            ("target_session_attrs", _) => self.wrong("target_session_attrs is one of read-write, any"),
            ("load_balance_hosts", "disable") => drop(self.config.load_balance_hosts(LoadBalanceHosts::Disable)),
            ("load_balance_hosts", "random") => drop(self.config.load_balance_hosts(LoadBalanceHosts::Random)),
            ("load_balance_hosts", _) => self.wrong("load_balance_hosts is one of disable, random"),
            ("channel_binding", "disable") => drop(self.config.channel_binding(ChannelBinding::Disable)),
            ("channel_binding", "prefer") => drop(self.config.channel_binding(ChannelBinding::Prefer)),
            ("channel_binding", "require") => drop(self.config.channel_binding(ChannelBinding::Require)),
            _ => self.wrong("channel_binding is one of disable, prefer, require"),
        }
    }

    fn target(&mut self, target: TargetSessionAttrs) {
        self.config.target_session_attrs(target);
    }

    fn number(&mut self, name: &str, value: &str) {
        let (least, most) = match name {
            "keepalives" => (0, 1),
            "tcp_user_timeout" => (1, LONGEST * 1_000),
            "keepalives_count" => (1, 100),
            _ => (1, LONGEST),
        };
        let Some(number) = value.parse::<u64>().ok().filter(|number| (least..=most).contains(number)) else {
            return self.wrong(format!("{name} is a number from {least} to {most}"));
        };
        let seconds = Duration::from_secs(number);
        match name {
            "connect_timeout" => self.patience = seconds,
            "keepalives" => drop(self.config.keepalives(number == 1)),
            "keepalives_idle" => drop(self.config.keepalives_idle(seconds)),
            "keepalives_interval" => drop(self.config.keepalives_interval(seconds)),
            "keepalives_count" => drop(self.config.keepalives_retries(u32::try_from(number).unwrap_or(u32::MAX))),
            _ => drop(self.config.tcp_user_timeout(Duration::from_millis(number))),
        }
    }

    fn finish(mut self, url: &str) -> Result<Address> {
        if self.hosts.is_empty() && self.problems.is_empty() {
            self.wrong("it names no host");
        }
        let ports = match (self.ports.as_slice(), self.hosts.len()) {
            ([], hosts) => vec![PORT; hosts],
            ([one], hosts) => vec![*one; hosts],
            (ports, hosts) if ports.len() == hosts => ports.to_vec(),
            _ => {
                self.wrong("there is one port, or one for each host");
                Vec::new()
            }
        };
        if self.encryption == Some(Encryption::OfAuthority) && self.authorities.is_none() {
            self.wrong("sslmode=verify-ca needs sslrootcert=FILE: of a public authority everyone has a certificate");
        }
        if !self.problems.is_empty() {
            self.problems.dedup();
            let problems = self.problems.join("; ");
            return Err(Refusal::argument(format!("the database URL is wrong: {problems}. It is written {SHAPE}")));
        }
        Ok(Address {
            url: url.to_owned(),
            config: Box::new(self.config),
            hosts: self.hosts.into_iter().zip(ports).collect(),
            encryption: self.encryption,
            authorities: self.authorities,
            patience: self.patience,
            connections: CONNECTIONS,
        })
    }
}

/// True for what may be a name or a number of a host.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_:%".contains(&byte))
}
