//! Answers as HTTP: the status of each code, the body of the contract. Must never leave a refusal without a body that
//! says what to do.

use std::net::SocketAddr;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::header::{
    ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER,
    WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use http::{Method, StatusCode};
use serde_json::Value;

use crate::domain::project::slug_problem;
use crate::error::{Code, Refusal};

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// A request that is not served, and why.
#[derive(Debug)]
pub struct Denied {
    status: StatusCode,
    refusal: Box<Refusal>,
    header: Option<(HeaderName, HeaderValue)>,
    asked: Option<Box<Asked>>,
}

/// Who was refused where, for the log.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The credential's name.
    pub caller: String,
    /// The project that was asked for, if it has a name that a project can have.
    pub project: String,
}

impl From<Refusal> for Denied {
    fn from(refusal: Refusal) -> Self {
        let status = StatusCode::from_u16(refusal.code.http()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let header = match refusal.code {
            Code::Unauthenticated => Some((WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"heyaira\""))),
            _ => retry_after(&refusal),
        };
        Self { status, refusal: Box::new(refusal), header, asked: None }
    }
}

fn retry_after(refusal: &Refusal) -> Option<(HeaderName, HeaderValue)> {
    let seconds = refusal.details.get("retry_after_seconds")?.as_u64()?;
    Some((RETRY_AFTER, HeaderValue::from(seconds)))
}

impl Denied {
    /// A refusal for which HTTP has a status that the code does not tell.
    pub fn with_status(status: StatusCode, refusal: Refusal) -> Self {
        Self { status, ..Self::from(refusal) }
    }

    /// A refusal of a request that HTTP itself does not allow here.
    pub fn invalid(status: StatusCode, message: impl Into<String>, next: impl Into<String>) -> Self {
        Self::with_status(status, Refusal::new(Code::InvalidArgument, message, next))
    }

    /// The connection ends after the answer: what else comes on it is not worth reading.
    #[must_use]
    pub fn closing(self) -> Self {
        self.with_header(CONNECTION, HeaderValue::from_static("close"))
    }

    /// 405, naming the method that is served.
    pub fn method(given: &Method, allowed: &'static str) -> Self {
        let message = format!("{} is not served here", crate::domain::text::quoted(given.as_str(), 20));
        let next = format!("Send {allowed}. Nothing was written.");
        Self::invalid(StatusCode::METHOD_NOT_ALLOWED, message, next)
            .with_header(ALLOW, HeaderValue::from_static(allowed))
    }

    /// The same with a header that says more.
    #[must_use]
    pub fn with_header(self, name: HeaderName, value: HeaderValue) -> Self {
        Self { header: Some((name, value)), ..self }
    }

    /// The same for a caller whose credential is valid, wherever it wanted to go.
    #[must_use]
    pub fn of(self, caller: &str, project: &str) -> Self {
        let asked = if slug_problem(project).is_none() { project } else { "" };
        let asked = Asked { caller: caller.to_owned(), project: asked.to_owned() };
        Self { asked: Some(Box::new(asked)), ..self }
    }

    /// The same where there is no request, or none that could be read: the whole of an answer, after which the
    /// connection ends.
    pub fn into_bytes(self, peer: SocketAddr) -> Vec<u8> {
        let (status, body) = (self.status, self.refusal.body().to_string());
        let (code, peer) = (self.refusal.code.as_str(), peer.ip().to_canonical());
        tracing::info!(%peer, status = status.as_u16(), code, "refused");
        let mut response = self.into_response();
        let headers = response.headers_mut();
        protect(headers);
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
        headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
        let mut bytes = format!("HTTP/1.1 {status}\r\n").into_bytes();
        for (name, value) in response.headers() {
            bytes.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
        }
        bytes.extend([b"\r\n", body.as_bytes()].concat());
        bytes
    }
}

/// What every answer says: that it is for nobody else, and is what it says it is.
pub fn protect(headers: &mut HeaderMap) {
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
}

impl IntoResponse for Denied {
    fn into_response(self) -> Response {
        let mut response = json(self.status, self.refusal.body().to_string());
        if let Some((name, value)) = self.header {
            response.headers_mut().insert(name, value);
        }
        let extensions = response.extensions_mut();
        extensions.insert(Told(self.refusal.code));
        if let Some(asked) = self.asked {
            extensions.insert(*asked);
        }
        response
    }
}

/// The code of a refusal, for the log.
#[derive(Clone, Copy, Debug)]
pub struct Told(pub Code);

/// An answer.
pub fn given(answer: &Value) -> Response {
    // Not by way of `Display`, which goes through a formatter piece by piece and takes twice as long.
    match serde_json::to_vec(answer) {
        Ok(body) => json(StatusCode::OK, body),
        Err(error) => Denied::from(Refusal::internal(&error)).into_response(),
    }
}

/// A body of JSON.
pub fn json(status: StatusCode, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response
}
