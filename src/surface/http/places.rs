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
        let authority = self.authority(uri, headers)?;
        self.check_pages(headers, Some(&authority))
    }

    /// Refuses a request from another origin, whatever host it is for.
    pub fn check_origin(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Denied> {
        // Pages of a host that is not ours are not our own, though they were asked for here.
        self.check_pages(headers, self.authority(uri, headers).ok().as_ref())
    }

    fn check_pages(&self, headers: &HeaderMap, own: Option<&Authority>) -> Result<(), Denied> {
        let Some(origin) = headers.get(ORIGIN) else {
            return Ok(());
        };
        let origin = origin.to_str().unwrap_or_default().to_ascii_lowercase();
        let page = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        let is_own = page.zip(own).is_some_and(|(page, own)| own.as_str().eq_ignore_ascii_case(page));
        if is_own || self.origins.contains(&origin) {
            return Ok(());
        }
        Err(forbidden(
            format!("web pages of {} may not call this server", quoted(&origin, 80)),
            "Have the owner allow them: heyaira serve --allow-origin ORIGIN. Nothing was written.",
        ))
    }

    /// The host and port that a request is for, if they are served.
    fn authority(&self, uri: &Uri, headers: &HeaderMap) -> Result<Authority, Denied> {
        let authority = named(uri, headers)?;
        let host = authority.host().to_ascii_lowercase();
        if self.hosts.contains(&host) {
            return Ok(authority);
        }
        Err(forbidden(
            format!("this server is not reached as host {}", quoted(&host, 80)),
            "Use its own address, or have the owner serve that name: heyaira serve --allow-host NAME. Nothing was written.",
        ))
    }
}

fn named(uri: &Uri, headers: &HeaderMap) -> Result<Authority, Denied> {
    let mut hosts = headers.get_all(HOST).iter();
    let host = hosts.next().and_then(|host| Authority::try_from(host.as_bytes()).ok());
    let is_one = hosts.next().is_none();
    // A host has no user: what stands before an @ is there to deceive who reads it.
    let has_user = [uri.authority(), host.as_ref()].into_iter().flatten().any(|named| named.as_str().contains('@'));
    let found = uri.authority().cloned().or(host).filter(|_| is_one && !has_user);
    found.ok_or_else(|| {
        let message = "the request names no host, several, one with a user, or none that can be read";
        Denied::invalid(StatusCode::BAD_REQUEST, message, "Send one Host header. Nothing was written.")
    })
}

fn forbidden(message: String, next: &str) -> Denied {
    Refusal::new(Code::Forbidden, message, next).into()
}
