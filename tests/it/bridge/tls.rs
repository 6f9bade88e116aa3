//! A bridge over TLS, to a server behind a proxy with a certificate made here.

use std::io::{BufReader, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::json;

use super::Bridge;
use super::front::{message, passed};
use crate::http::served::{Served, token};
use crate::program::{Place, write_file};

/// What ends TLS in front of a server.
struct Proxy {
    port: u16,
    authority: String,
    requests: Arc<AtomicUsize>,
}

impl Proxy {
    /// For the host `localhost`, by an authority that nobody knows yet.
    fn new(behind: &str) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        let authority = params.self_signed(&key).expect("an authority");
        let issuer = Issuer::new(params, key);
        let key = KeyPair::generate().expect("a key");
        let certificate = CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
        let certificate = certificate.signed_by(&key, &issuer).expect("a certificate");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], PrivateKeyDer::Pkcs8(key.serialize_der().into()))
            .expect("a certificate and its key");
        let listener = TcpListener::bind("localhost:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let requests = Arc::new(AtomicUsize::new(0));
        let (config, behind, counted) = (Arc::new(config), behind.to_owned(), Arc::clone(&requests));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let connection = ServerConnection::new(Arc::clone(&config)).expect("a connection");
                let mut stream = BufReader::new(StreamOwned::new(connection, stream));
                while let Some(request) = message(&mut stream) {
                    counted.fetch_add(1, Ordering::SeqCst);
                    let answer = passed(&behind, &request).expect("an answer");
                    if stream.get_mut().write_all(&answer).and_then(|()| stream.get_mut().flush()).is_err() {
                        break;
                    }
                }
            }
        });
        Self { port, authority: authority.pem(), requests }
    }
}

#[test]
fn a_server_behind_tls_is_reached_and_only_with_a_certificate_that_is_trusted_for_its_name() {
    let place = Place::new();
    let secret = token(&place, "agent", &["--project", "ledger"]);
    let served = Served::start(&place, &[]);
    let proxy = Proxy::new(&served.address);
    let bridge = |host: &str, trusts: bool| {
        let bridge = Bridge::to_url(&format!("https://{host}:{}", proxy.port)).with_token(&secret).in_project("ledger");
        write_file(bridge.folder(), "authority.pem", &proxy.authority);
        let file = bridge.folder().join("authority.pem").display().to_string();
        let bridge = if trusts { bridge.with_variable("SSL_CERT_FILE", &file) } else { bridge };
        bridge.start(&place.write_context)
    };
    for (host, trusts, why) in [("localhost", false, "UnknownIssuer"), ("127.0.0.1", true, "NotValidForName")] {
        let refused =
            bridge(host, trusts).call("memory_add", json!({"kind": "fact", "summary": "s"})).expect_err("not trusted");
        assert!(
            refused.starts_with("unavailable: ") && refused.contains("its certificate is not trusted on this machine"),
            "{refused}"
        );
        assert!(refused.contains(why) && refused.contains("Nothing was written."), "{refused}");
    }
    assert_eq!(proxy.requests.load(Ordering::SeqCst), 0, "no byte of a call came");
    let mut bridge = bridge("localhost", true);
    for _ in 0..2 {
        assert_eq!(bridge.call("server_identity", json!({})).expect("an identity")["caller"], "agent");
    }
    bridge.call("memory_add", json!({"kind": "fact", "summary": "s"})).expect("added");
    assert_eq!(place.ask(&["memory", "search", "--kind", "fact"])["total"], 1);
}
