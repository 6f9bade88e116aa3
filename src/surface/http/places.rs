//! Under which names this server is reached, and from which web pages. Must never answer a request that a web page made
//! through a name that an attacker points at this machine.

use std::net::IpAddr;

use http::header::{HOST, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, StatusCode, Uri};

use crate::domain::text::quoted;
use crate::error::{Code, Refusal};
use crate::surface::http::Settings;
use crate::surface::http::answer::Denied;

const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// The names and origins that are served.
pub struct Places {
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl Places {
    /// The loopback names where they lead here, the address, the host of the resource, and what the settings name.
    pub fn new(settings: &Settings, resource: &str) -> Self {
        let address = settings.listen.ip();
        let mut hosts: Vec<String> = settings.hosts.iter().map(|host| host.to_ascii_lowercase()).collect();
        if address.is_loopback() || address.is_unspecified() {
            hosts.extend(LOOPBACK.map(str::to_owned));
        }
        hosts.push(match address {
            IpAddr::V4(four) => four.to_string(),
            IpAddr::V6(six) => format!("[{six}]"),
        });
        let of_resource = resource.parse::<Uri>().ok();
        hosts.extend(of_resource.and_then(|uri| uri.host().map(str::to_ascii_lowercase)));
        let origins = settings.origins.iter().map(|origin| origin.trim_end_matches('/').to_ascii_lowercase());
        Self { hosts, origins: origins.collect() }
    }

    /// Refuses a request for another host, or from another origin than this server's own pages.
    pub fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Denied> {
        let authority = authority(uri, headers)?;
        let host = authority.host().to_ascii_lowercase();
        if !self.hosts.contains(&host) {
            return Err(forbidden(
                format!("this server is not reached as host {}", quoted(&host, 80)),
                "Use its own address, or have the owner serve that name: heyaira serve --allow-host NAME. Nothing was written.",
            ));
        }
        let Some(origin) = headers.get(ORIGIN) else {
            return Ok(());
        };
        let origin = origin.to_str().unwrap_or_default().to_ascii_lowercase();
        let own = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        if own == Some(authority.as_str().to_ascii_lowercase().as_str()) || self.origins.contains(&origin) {
            return Ok(());
        }
        Err(forbidden(
            format!("web pages of {} may not call this server", quoted(&origin, 80)),
            "Have the owner allow them: heyaira serve --allow-origin ORIGIN. Nothing was written.",
        ))
    }
}

fn authority(uri: &Uri, headers: &HeaderMap) -> Result<Authority, Denied> {
    let mut hosts = headers.get_all(HOST).iter();
    let named = hosts.next().and_then(|host| Authority::try_from(host.as_bytes()).ok());
    let found = uri.authority().cloned().or(named);
    found.filter(|_| hosts.next().is_none()).ok_or_else(|| {
        let message = "the request names no host, several, or none that can be read";
        Denied::invalid(StatusCode::BAD_REQUEST, message, "Send one Host header. Nothing was written.")
    })
}

fn forbidden(message: String, next: &str) -> Denied {
    Refusal::new(Code::Forbidden, message, next).into()
}
