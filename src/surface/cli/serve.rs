//! Serving over the network: `serve`, and what `start` does at its end.

use std::net::{SocketAddr, TcpListener};
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Arg, ArgAction, ArgMatches};
use http::Uri;
use http::uri::Authority;
use serde_json::json;

use crate::domain::token::ANONYMOUS;
use crate::error::{Code, Refusal, Result};
use crate::operation::Service;
use crate::surface::cli::{Session, answer, connections as database_connections, limits, wait};
use crate::surface::http::{Auth, Server, Settings, connections, router};
use crate::surface::signals::Signals;

/// The address that is listened on if none is named.
pub const LISTEN: &str = "127.0.0.1:7420";

/// How many connections wait to be accepted; the system may allow fewer.
const BACKLOG: i32 = 1_024;

/// The flags of every command that serves.
pub fn flags() -> Vec<Arg> {
    let text = |name: &'static str| Arg::new(name).long(name).action(ArgAction::Set);
    let mut flags = vec![
        text("listen")
            .value_name("ADDRESS:PORT")
            .default_value(LISTEN)
            .help("Where to listen; port 0 takes a free one"),
        text("allow-host")
            .value_name("NAME")
            .action(ArgAction::Append)
            .help("A name under which clients reach this server, beside its address and the host of the resource"),
        text("allow-origin")
            .value_name("ORIGIN")
            .action(ArgAction::Append)
            .help("Web pages that may call it, e.g. https://tasks.example.org"),
    ];
    flags.extend(limits::flags());
    flags.push(database_connections::flag());
    flags
}

/// The flag that only `serve` has.
pub fn auth_flag() -> Arg {
    Arg::new("auth")
        .long("auth")
        .value_name("token|none")
        .value_parser(["token", "none"])
        .default_value("token")
        .help("Who is let in: callers with a token, or, on a loopback address only, everyone")
}

/// `heyaira serve`.
pub fn serve(session: &Session, matches: &ArgMatches) -> Result<ExitCode> {
    let open = matches.get_one::<String>("auth").is_some_and(|auth| auth == "none");
    let auth = if open { Auth::Open(ANONYMOUS.to_owned()) } else { Auth::Tokens };
    let settings = settings(matches, auth)?;
    let bound = Bound::new(session, session.config.open(false)?, settings)?;
    let address = bound.address;
    if session.json {
        let told = json!({"listening": address, "mcp": mcp(address, "PROJECT"), "http": http(address, "PROJECT")});
        answer::print(&told, true)?;
    } else {
        answer::write(&format!(
            "HeyAira listens on {address}.\n  MCP: {}\n  plain HTTP: {}\n",
            mcp(address, "PROJECT"),
            http(address, "PROJECT")
        ))?;
    }
    bound.serve()
}

/// The address of a project's MCP.
pub fn mcp(address: SocketAddr, project: &str) -> String {
    format!("http://{address}/mcp/{project}")
}

fn http(address: SocketAddr, project: &str) -> String {
    format!("http://{address}/api/{project}/TOOL")
}

/// The settings of the flags.
pub fn settings(matches: &ArgMatches, auth: Auth) -> Result<Settings> {
    let listen = matches.get_one::<String>("listen").map_or(LISTEN, String::as_str);
    let listen = listen.parse::<SocketAddr>().map_err(|_| {
        let shown = shown(listen);
        Refusal::argument(format!("listen {shown} is no address with a port, such as {LISTEN} or [::1]:7420"))
    })?;
    let list = |name: &str| matches.get_many::<String>(name).into_iter().flatten().cloned().collect::<Vec<_>>();
    let (hosts, origins) = (list("allow-host"), list("allow-origin"));
    check_names(&hosts, &origins)?;
    Ok(Settings { listen, auth, hosts, origins, limits: limits::limits(matches) })
}

/// Refuses names that no request can have: allowed in vain, they would keep out whom the owner means to let in.
fn check_names(hosts: &[String], origins: &[String]) -> Result<()> {
    let is_host = |host: &String| host.parse::<Authority>().is_ok_and(|found| found.host() == host);
    let is_origin = |origin: &String| {
        let uri = origin.trim_end_matches('/').parse::<Uri>().ok();
        let bare = |uri: &Uri| uri.path() == "/" && uri.query().is_none() && uri.authority().is_some();
        uri.is_some_and(|uri| matches!(uri.scheme_str(), Some("http" | "https")) && bare(&uri))
    };
    let host = hosts.iter().find(|host| !is_host(host)).map(|host| {
        format!("allow-host {} is no name of a host, such as heyaira.example.org, without scheme and port", shown(host))
    });
    let origin = origins.iter().find(|origin| !is_origin(origin)).map(|origin| {
        format!("allow-origin {} is no origin, such as https://tasks.example.org; each is named", shown(origin))
    });
    let problems: Vec<String> = host.into_iter().chain(origin).collect();
    if problems.is_empty() { Ok(()) } else { Err(Refusal::argument(problems.join(". "))) }
}

fn shown(name: &str) -> String {
    crate::domain::text::quoted(name, 60)
}

/// A server whose port is taken and whose database is open.
pub struct Bound {
    server: Arc<Server>,
    listener: TcpListener,
    /// Where it listens.
    pub address: SocketAddr,
}

impl Bound {
    /// Takes the port for the session's database, which is open.
    pub fn new(session: &Session, service: Service, mut settings: Settings) -> Result<Self> {
        let config = session.config.clone();
        let opener = move || config.open(false);
        let (instance, _) = wait(service.identity(None))?;
        let listener = TcpListener::bind(settings.listen).map_err(|error| unbound(settings.listen, &error))?;
        // So that a burst of clients waits here, and not for the second after which their systems knock again.
        let _ = socket2::SockRef::from(&listener).listen(BACKLOG);
        let address = listener.local_addr().map_err(|error| unbound(settings.listen, &error))?;
        listener.set_nonblocking(true).map_err(|error| unbound(address, &error))?;
        settings.limits.connections = connections::affordable(settings.limits.connections);
        settings.listen = address;
        let server = Arc::new(Server::over(service, Box::new(opener), settings, &instance.resource)?);
        Ok(Self { server, listener, address })
    }

    /// Serves until a signal ends it.
    pub fn serve(self) -> Result<ExitCode> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(|error| Refusal::internal(&error))?;
        runtime.block_on(self.run())?;
        runtime.shutdown_background();
        Ok(ExitCode::SUCCESS)
    }

    async fn run(self) -> Result<()> {
        let listener =
            tokio::net::TcpListener::from_std(self.listener).map_err(|error| unbound(self.address, &error))?;
        let server = Arc::clone(&self.server);
        let mut signals = Signals::catch();
        tokio::spawn(async move {
            signals.next().await;
            tracing::info!("stopping: calls in flight are finished first, unless a second signal comes");
            server.ending().begin();
            // Streams would last for ever.
            server.subscriptions().close().await;
            signals.next().await;
            tracing::warn!("stopping now: calls in flight are cut");
            server.ending().hurry();
        });
        tracing::info!(address = %self.address, "listening");
        connections::serve(listener, router::router(&self.server), Arc::clone(&self.server)).await;
        // Something may still hold the server, and must not keep the database open.
        self.server.service().store.close();
        Ok(())
    }
}

fn unbound(address: SocketAddr, error: &std::io::Error) -> Refusal {
    Refusal::new(
        Code::Unavailable,
        format!("{address} cannot be listened on: {error}"),
        "Another server may have the port, perhaps an earlier heyaira: end it, or choose another with --listen.",
    )
}
