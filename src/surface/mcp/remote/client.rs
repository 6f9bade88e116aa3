//! One call sent to a server, and what came back. Must never follow a redirect, which would take the token along, and
//! never repeat what a stranger's page says.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, Uri};
use serde_json::Value;
use ureq::config::Config;
use ureq::tls::{RootCerts, TlsConfig};
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use ureq::{Agent, Body, Error, Proxy, Timeout};

use crate::domain::session::Observed;
use crate::domain::text::quoted;
use crate::error::{Refusal, Result};
use crate::operation::{Entry, Pinned};
use crate::surface::headers::{
    CONNECTION, HARNESS, INSTANCE, KEY, MODEL, NAMED_SESSION, SESSION, decoded, encoded, is_json,
};
use crate::surface::mcp::remote::address::Address;

/// Names as the system resolves them. The library tells a name that cannot be resolved as any failure of input or
/// output; here it must be known that nothing was sent.
#[derive(Debug)]
struct Names;

impl Resolver for Names {
    fn resolve(&self, uri: &Uri, config: &Config, timeout: NextTimeout) -> Result<ResolvedSocketAddrs, Error> {
        let resolved = DefaultResolver::default().resolve(uri, config, timeout);
        resolved.map_err(|error| if matches!(error, Error::Io(_)) { Error::HostNotFound } else { error })
    }
}

/// How long a connection may take: its name, the way there, TLS.
const CONNECTING: Duration = Duration::from_secs(5);
/// The largest answer, in bytes; far more than any operation gives.
const ANSWER_MAX: u64 = 64 * 1024 * 1024;
/// Shorter than a server leaves a connection idle, so that one is rarely used while it is being closed.
const IDLE: Duration = Duration::from_secs(10);

/// A call, and everything that goes beside it.
pub struct Call<'c> {
    /// What is called.
    pub entry: &'static Entry,
    /// The arguments, as JSON.
    pub body: &'c [u8],
    /// The project, and the instance of the profile.
    pub pinned: &'c Pinned,
    /// The token's header.
    pub authorization: Option<HeaderValue>,
    /// What the client told.
    pub observed: &'c Observed,
    /// The id of this connection.
    pub connection: &'c str,
    /// The session that this connection last wrote as.
    pub named_session: Option<&'c str>,
    /// The key of a write.
    pub key: Option<&'c str>,
}

/// What became of a call.
#[derive(Debug)]
pub enum Outcome {
    /// Carried out: the answer, and the session that the connection wrote as.
    Answered(Value, Option<String>),
    /// Refused by the server.
    Refused(Refusal),
    /// It never reached a server.
    Unreached(String),
    /// It may have been carried out, or may still be.
    Lost(String),
    /// What answered is no server of ours, or another version.
    Stranger(String),
}

/// A client of one server.
pub struct Client {
    agent: Agent,
    address: Address,
}

impl Client {
    /// Nothing is connected yet.
    pub fn new(address: Address) -> Self {
        let tls = TlsConfig::builder()
            .root_certs(RootCerts::PlatformVerifier)
            .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .build();
        // Over TLS a proxy sees nothing but the host; in the clear it would see the token.
        let proxy = if address.secure { Proxy::try_from_env() } else { None };
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .https_only(address.secure)
            .proxy(proxy)
            .tls_config(tls)
            .timeout_connect(Some(CONNECTING))
            .max_idle_age(IDLE)
            .user_agent(concat!("heyaira/", env!("CARGO_PKG_VERSION")))
            .build();
        Self { agent: Agent::with_parts(config, DefaultConnector::default(), Names), address }
    }

    /// Where the server is.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Which database a server that is ready has; asked without a credential.
    pub fn instance(&self, patience: Duration) -> Option<String> {
        let request = Request::get(self.address.readiness()).body(()).ok()?;
        let request = self.agent.configure_request(request).timeout_global(Some(patience)).build();
        let mut response = self.agent.run(request).ok().filter(|response| response.status() == StatusCode::OK)?;
        let bytes = response.body_mut().with_config().limit(4_096).read_to_vec().ok()?;
        serde_json::from_slice::<Value>(&bytes).ok()?["instance"].as_str().map(str::to_owned)
    }

    /// Sends a call once and waits at most `patience` for its answer.
    pub fn send(&self, call: &Call<'_>, patience: Duration) -> Result<Outcome> {
        let request = self.request(call)?;
        let request = self.agent.configure_request(request).timeout_global(Some(patience)).build();
        Ok(match self.agent.run(request) {
            Ok(response) => read(response, call.connection),
            Err(error) => failed(&error),
        })
    }

    fn request<'c>(&self, call: &Call<'c>) -> Result<Request<&'c [u8]>> {
        let mut request = Request::new(call.body);
        *request.method_mut() = http::Method::POST;
        let address = self.address.tool(&call.pinned.project, call.entry.name);
        *request.uri_mut() = address.parse().map_err(|_| Refusal::internal(&"the address of a tool is malformed"))?;
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        if let Some(authorization) = &call.authorization {
            headers.insert(AUTHORIZATION, authorization.clone());
        }
        let Observed { harness, model, session_ref } = call.observed;
        for (name, text) in [
            (CONNECTION, Some(call.connection)),
            (INSTANCE, call.pinned.instance.as_deref()),
            (SESSION, session_ref.as_deref()),
            (HARNESS, harness.as_deref()),
            (MODEL, model.as_deref()),
            (NAMED_SESSION, call.named_session),
            (KEY, call.key),
        ] {
            if let Some(text) = text {
                let value = HeaderValue::from_str(&encoded(text)).map_err(|error| Refusal::internal(&error))?;
                headers.insert(name, value);
            }
        }
        Ok(request)
    }
}

fn header<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

fn read(mut response: Response<Body>, connection: &str) -> Outcome {
    let status = response.status();
    if status.is_redirection() {
        let next = "a redirect, which is not followed, since the token would go along";
        return Outcome::Stranger(format!("it answered with status {}, {next}", status.as_u16()));
    }
    let bytes = match response.body_mut().with_config().limit(ANSWER_MAX).read_to_vec() {
        Ok(bytes) => bytes,
        Err(Error::BodyExceedsLimit(_)) => return Outcome::Stranger("its answer has no end".to_owned()),
        Err(error) => return failed(&error),
    };
    let said_json = header(response.headers(), CONTENT_TYPE.as_str()).is_some_and(is_json);
    let body = serde_json::from_slice::<Value>(&bytes).ok().filter(|_| said_json);
    let is_ours = header(response.headers(), CONNECTION) == Some(connection);
    match body {
        Some(answer) if status == StatusCode::OK && is_ours => {
            let session = header(response.headers(), NAMED_SESSION).and_then(decoded);
            Outcome::Answered(answer, session.map(std::borrow::Cow::into_owned))
        }
        Some(body) if !status.is_success() => Refusal::from_body(&body).map_or_else(|| other(status), Outcome::Refused),
        _ => other(status),
    }
}

/// An answer that no server of ours gave: one of a gateway in front of it, or of something else altogether.
fn other(status: StatusCode) -> Outcome {
    let number = status.as_u16();
    if status.is_server_error() {
        return Outcome::Lost(format!("something before the server answered with status {number}"));
    }
    Outcome::Stranger(format!("it answered with status {number} and what is no answer of HeyAira"))
}

/// A failure counts as before the call was sent only where that is certain.
fn failed(error: &Error) -> Outcome {
    let unreached = |reason: &str| Outcome::Unreached(reason.to_owned());
    match error {
        Error::HostNotFound => unreached("its name cannot be resolved"),
        Error::Timeout(Timeout::Resolve | Timeout::Connect) => unreached("the connection was not made in time"),
        Error::ConnectionFailed => unreached("no connection can be made"),
        Error::ConnectProxyFailed(_) | Error::InvalidProxyUrl => unreached("the proxy of the environment fails"),
        Error::Timeout(_) => Outcome::Lost("no answer came in time".to_owned()),
        Error::Rustls(error) => not_trusted(error).unwrap_or_else(broken),
        Error::Io(error) => match error.kind() {
            ErrorKind::ConnectionRefused => unreached("the connection was refused"),
            ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => unreached("there is no way to it"),
            _ => error.get_ref().and_then(|inner| inner.downcast_ref()).and_then(not_trusted).unwrap_or_else(broken),
        },
        _ => broken(),
    }
}

fn broken() -> Outcome {
    Outcome::Lost("the connection broke off".to_owned())
}

/// A certificate is looked at before anything is sent.
fn not_trusted(error: &rustls::Error) -> Option<Outcome> {
    match error {
        rustls::Error::InvalidCertificate(why) => {
            let why = quoted(&format!("{why:?}"), 80);
            Some(Outcome::Unreached(format!("its certificate is not trusted on this machine: {why}")))
        }
        _ => None,
    }
}
