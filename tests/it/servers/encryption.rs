//! A cluster with a certificate: who is trusted under which sslmode, and that nothing goes in clear text unasked.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use heyaira::store::backend::{Database, Store};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

use super::cluster::{Cluster, owner};

/// A cluster whose certificate is for `localhost`.
struct Encrypted {
    cluster: Cluster,
    folder: tempfile::TempDir,
}

/// An authority: its certificate as text, and what signs.
fn authority() -> (String, Issuer<'static, KeyPair>) {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().expect("a key");
    let text = params.self_signed(&key).expect("an authority").pem();
    (text, Issuer::new(params, key))
}

impl Encrypted {
    fn start() -> Self {
        let cluster = Cluster::start();
        cluster.place();
        let folder = tempfile::tempdir().expect("a folder");
        let (text, issuer) = authority();
        std::fs::write(folder.path().join("right.pem"), text).expect("a file");
        std::fs::write(folder.path().join("wrong.pem"), authority().0).expect("a file");
        std::fs::write(folder.path().join("empty.pem"), "nothing").expect("a file");
        let key = KeyPair::generate().expect("a key");
        let certificate = CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
        let certificate = certificate.signed_by(&key, &issuer).expect("a certificate");
        for (name, text) in [("server.crt", certificate.pem()), ("server.key", key.serialize_pem())] {
            let file = cluster.data().join(name);
            std::fs::write(&file, text).expect("a file");
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).expect("permissions");
            let given = Command::new("chown").arg(owner(&cluster.data())).arg(&file).status();
            assert!(given.expect("chown").success());
        }
        cluster.set("ssl = on");
        Self { cluster, folder }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The URL with that host and these settings; `@` before a name stands for the file of that name.
    fn url(&self, host: &str, settings: &str) -> String {
        let settings = settings.replace('@', &format!("{}/", self.folder.path().display()));
        self.cluster.url_with(&settings).replace("127.0.0.1", host)
    }

    /// How a connection is encrypted, or why there is none.
    fn opened(&self, host: &str, settings: &str) -> Result<String, String> {
        let database = Database::of(&self.url(host, settings)).map_err(|refusal| refusal.to_string())?;
        let store = Store::open(&database, false).map_err(|refusal| refusal.of_owner().to_string())?;
        let findings = store.findings().expect("findings");
        Ok(findings.into_iter().find(|one| one.check == "encryption").expect("it is looked at").told)
    }
}

#[test]
fn a_server_is_trusted_as_the_url_says() {
    let encrypted = Encrypted::start();
    let (trusted, name) = ("is not trusted here", "for another name");
    for (host, settings, outcome) in [
        ("localhost", "sslmode=verify-full&sslrootcert=@right.pem", Ok("TLS")),
        ("localhost", "sslmode=require&sslrootcert=@right.pem", Ok("TLS")),
        ("localhost", "sslmode=verify-ca&sslrootcert=@right.pem", Ok("TLS")),
        ("127.0.0.1", "sslmode=verify-ca&sslrootcert=@right.pem", Ok("TLS")),
        ("127.0.0.1", "sslmode=prefer", Ok("TLS")),
        ("127.0.0.1", "", Ok("TLS")),
        ("127.0.0.1", "sslmode=disable", Ok("none")),
        ("127.0.0.1", "sslmode=verify-full&sslrootcert=@right.pem", Err(name)),
        ("127.0.0.1", "sslmode=require&sslrootcert=@right.pem", Err(name)),
        ("localhost", "sslmode=verify-full&sslrootcert=@wrong.pem", Err(trusted)),
        ("localhost", "sslmode=verify-ca&sslrootcert=@wrong.pem", Err(trusted)),
        ("localhost", "sslmode=require", Err(trusted)),
        ("localhost", "sslmode=require&sslrootcert=system", Err(trusted)),
        // An address of this machine that does not look like one: any other host is treated so.
        ("[::ffff:127.0.0.1]", "", Err(trusted)),
        ("localhost", "sslmode=require&sslrootcert=@empty.pem", Err("holds no certificate")),
        ("localhost", "sslmode=require&sslrootcert=@none.pem", Err("cannot be read")),
    ] {
        let found = encrypted.opened(host, settings);
        let fits = match (&found, outcome) {
            (Ok(found), Ok(wanted)) => found.starts_with(wanted),
            (Err(found), Err(wanted)) => found.contains(wanted),
            _ => false,
        };
        assert!(fits, "{host} {settings}: {found:?}, not {outcome:?}");
    }
    assert!(encrypted.file("right.pem").exists());
}

#[test]
fn nothing_goes_to_another_host_in_clear_text_unless_that_is_said() {
    let cluster = Cluster::start();
    cluster.place();
    let open = |host: &str, settings: &str| {
        let url = cluster.url_with(settings).replace("127.0.0.1", host);
        Store::open(&Database::of(&url).expect("an address"), false)
            .map(drop)
            .map_err(|refusal| refusal.of_owner().to_string())
    };
    for (host, settings) in
        [("127.0.0.1", "sslmode=require"), ("127.0.0.1", "sslmode=verify-full"), ("[::ffff:127.0.0.1]", "")]
    {
        let refused = open(host, settings).expect_err("it offers none");
        assert!(refused.contains("offers no encryption") && refused.contains("sslmode=disable"), "{refused}");
        let password = cluster.url.split([':', '@']).nth(2).expect("a password");
        assert!(!refused.contains(password), "{refused}");
    }
    assert_eq!(open("127.0.0.1", ""), Ok(()));
    assert_eq!(open("[::ffff:127.0.0.1]", "sslmode=disable"), Ok(()));
    assert_eq!(open("[::ffff:127.0.0.1]", "sslmode=prefer"), Ok(()));
}
