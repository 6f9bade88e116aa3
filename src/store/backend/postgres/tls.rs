//! Encryption of the connections to the database, with `rustls`.

use std::sync::Arc;

use rustls::ClientConfig;
use rustls_platform_verifier::BuilderVerifierExt;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::{Refusal, Result};

/// How connections are encrypted that are to be: the server's certificate must be one that this machine trusts.
pub(super) fn connector() -> Result<MakeRustlsConnect> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(BuilderVerifierExt::with_platform_verifier)
        .map_err(|error| Refusal::internal(&error))?;
    Ok(MakeRustlsConnect::new(config.with_no_client_auth()))
}
