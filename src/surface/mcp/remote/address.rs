//! Where a server is: its base, checked before a token is ever sent there.
//! Must never let a token travel in the clear to another machine unless that was asked for, nor repeat a credential.

use http::Uri;

use crate::domain::secret;
use crate::domain::text::quoted;
use crate::error::{Refusal, Result};

/// The base of a server's addresses.
#[derive(Clone, Debug)]
pub struct Address {
    base: String,
    /// True for TLS.
    pub secure: bool,
}

impl Address {
    /// The base that a person wrote: scheme, host, perhaps a port and a path.
    pub fn new(text: &str, insecure_http: bool) -> Result<Self> {
        // First what must not be repeated.
        let sent = text.split('/').nth(2).unwrap_or_default();
        if sent.contains('@') || text.contains(['?', '#']) || secret::holds(text) {
            return Err(Refusal::argument(
                "remote holds more than an address (a user, a query, a fragment or a token): give scheme, host and path \
                 alone, and the token by HEYAIRA_TOKEN or --token-file",
            ));
        }
        let malformed = || {
            let shown = quoted(text, 120);
            Refusal::argument(format!("remote {shown} is no address such as https://heyaira.example.org"))
        };
        let uri: Uri = text.trim_end_matches('/').parse().map_err(|_| malformed())?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(malformed());
        };
        let secure = scheme.eq_ignore_ascii_case("https");
        if authority.host().is_empty() || !(secure || scheme.eq_ignore_ascii_case("http")) {
            return Err(malformed());
        }
        check_path(uri.path())?;
        if !(secure || insecure_http || is_loopback(authority.host())) {
            return Err(Refusal::not_allowed(
                format!("{} is another machine, and over http everyone on the way reads the token", authority.host()),
                "Use https, or an ssh tunnel to 127.0.0.1. Only on a network that you trust whole: --insecure-http.",
            ));
        }
        let scheme = if secure { "https" } else { "http" };
        Ok(Self { base: format!("{scheme}://{authority}{}", uri.path().trim_end_matches('/')), secure })
    }

    /// The base, for people: it holds no secret.
    pub fn shown(&self) -> &str {
        &self.base
    }

    /// Where a server tells whether it is ready.
    pub fn readiness(&self) -> String {
        format!("{}/readyz", self.base)
    }

    /// Where a tool of a project is called.
    pub fn tool(&self, project: &str, tool: &str) -> String {
        format!("{}/api/{project}/{tool}", self.base)
    }
}

/// The address of MCP is what other clients are given; here it would be asked for `/mcp/NAME/api/…`.
fn check_path(path: &str) -> Result<()> {
    let mut words = path.trim_matches('/').rsplit('/').take(2);
    if words.any(|word| word == "mcp") {
        return Err(Refusal::argument(
            "remote ends in the address of MCP: give the server's base, without /mcp/NAME, and the project by --project",
        ));
    }
    Ok(())
}

fn is_loopback(host: &str) -> bool {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    host.eq_ignore_ascii_case("localhost")
        || bare.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}
