//! Encryption of the connections to the database, with `rustls`. Must never look less closely at a certificate than was
//! asked for.

use std::path::Path;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use rustls_platform_verifier::BuilderVerifierExt;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::{Refusal, Result};
use crate::store::backend::address::Encryption;

/// How connections are encrypted that are to be. `authorities` is the file of those that are trusted; without one they
/// are the machine's.
pub(super) fn connector(encryption: Encryption, authorities: Option<&Path>) -> Result<MakeRustlsConnect> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| Refusal::internal(&error))?;
    let verified = match authorities {
        Some(file) => {
            let roots = Arc::new(read(file)?);
            WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&provider)).build().map(Some)
        }
        None => Ok(None),
    };
    let verified = verified.map_err(|error| Refusal::internal(&error))?;
    let config = match (encryption, verified) {
        (Encryption::Plain | Encryption::Offered, _) => {
            let lenient = Lenient { chain: None, provider };
            builder.dangerous().with_custom_certificate_verifier(Arc::new(lenient)).with_no_client_auth()
        }
        (Encryption::OfAuthority, Some(chain)) => {
            let lenient = Lenient { chain: Some(chain), provider };
            builder.dangerous().with_custom_certificate_verifier(Arc::new(lenient)).with_no_client_auth()
        }
        (Encryption::OfHost, Some(verifier)) => {
            builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()
        }
        (Encryption::OfHost | Encryption::OfAuthority, None) => {
            let platform = builder.with_platform_verifier().map_err(|error| Refusal::internal(&error))?;
            platform.with_no_client_auth()
        }
    };
    Ok(MakeRustlsConnect::new(config))
}

/// The certificates of a file.
fn read(file: &Path) -> Result<RootCertStore> {
    let wrong = |what: String| Refusal::argument(format!("sslrootcert {}: {what}", file.display()));
    let found = CertificateDer::pem_file_iter(file).map_err(|error| wrong(format!("it cannot be read: {error}")))?;
    let mut roots = RootCertStore::empty();
    for certificate in found {
        let added = certificate
            .map_err(|error| error.to_string())
            .and_then(|certificate| roots.add(certificate).map_err(|error| error.to_string()));
        added.map_err(|error| wrong(format!("it holds what is no certificate of an authority: {error}")))?;
    }
    if roots.is_empty() {
        return Err(wrong("it holds no certificate (PEM, -----BEGIN CERTIFICATE-----)".to_owned()));
    }
    Ok(roots)
}

/// Looks at who issued a certificate, or at nothing, and never at whom it is for.
#[derive(Debug)]
struct Lenient {
    chain: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        match chain.verify_server_cert(certificate, intermediates, name, ocsp, now) {
            // It looks at the name last.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
