//! Answers as HTTP: the status of each code, the body of the contract. Must never leave a refusal without a body that
//! says what to do.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::header::{ALLOW, CONNECTION, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{Method, StatusCode};
use serde_json::Value;

use crate::error::{Code, Refusal};

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// A request that is not served, and why.
#[derive(Debug)]
pub struct Denied {
    status: StatusCode,
    refusal: Box<Refusal>,
    header: Option<(HeaderName, HeaderValue)>,
}

impl From<Refusal> for Denied {
    fn from(refusal: Refusal) -> Self {
        let status = StatusCode::from_u16(refusal.code.http()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let header = match refusal.code {
            Code::Unauthenticated => Some((WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"heyaira\""))),
            _ => retry_after(&refusal),
        };
        Self { status, refusal: Box::new(refusal), header }
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
        Self { header: Some((CONNECTION, HeaderValue::from_static("close"))), ..self }
    }

    /// 405, naming the method that is served.
    pub fn method(given: &Method, allowed: &'static str) -> Self {
        let message = format!("{} is not served here", crate::domain::text::quoted(given.as_str(), 20));
        let denied =
            Self::invalid(StatusCode::METHOD_NOT_ALLOWED, message, format!("Send {allowed}. Nothing was written."));
        Self { header: Some((ALLOW, HeaderValue::from_static(allowed))), ..denied }
    }
}

impl Denied {
    /// The same where there is no request, or none that could be read: the whole of an answer, after which the
    /// connection ends.
    pub fn into_bytes(self) -> Vec<u8> {
        let (status, body) = (self.status, self.refusal.body().to_string());
        tracing::info!(status = status.as_u16(), code = self.refusal.code.as_str(), "refused");
        let more = self.header.map(|(name, value)| format!("{name}: {}\r\n", value.to_str().unwrap_or_default()));
        let head = format!(
            "HTTP/1.1 {status}\r\n{}content-type: application/json\r\ncache-control: no-store\r\n\
             x-content-type-options: nosniff\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
            more.unwrap_or_default(),
            body.len()
        );
        (head + &body).into_bytes()
    }
}

impl IntoResponse for Denied {
    fn into_response(self) -> Response {
        let mut response = json(self.status, self.refusal.body().to_string());
        if let Some((name, value)) = self.header {
            response.headers_mut().insert(name, value);
        }
        response.extensions_mut().insert(Told(self.refusal.code));
        response
    }
}

/// The code of a refusal, for the log.
#[derive(Clone, Copy, Debug)]
pub struct Told(pub Code);

/// An answer.
pub fn given(answer: &Value) -> Response {
    json(StatusCode::OK, answer.to_string())
}

/// A body of JSON.
pub fn json(status: StatusCode, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response
}
