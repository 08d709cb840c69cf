//! TLS to PostgreSQL: what `sslmode` and `sslrootcert` promise, with a server whose certificate was made for the test. Where openssl
//! is not installed the test says so and passes, but in CI.

#![cfg(feature = "embedded")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::disallowed_methods,
    missing_docs
)]

use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use conduit_runtime::database::{self, DatabaseError, DatabaseSettings, DatabaseUrl, Owner};
use conduit_runtime::embedded::{Embedded, EmbeddedError, EmbeddedSettings};
use sqlx::{ConnectOptions, Row};
use tempfile::TempDir;

/// A folder with two authorities, `ours` and `other`, and what the first has made for a server called `localhost`.
struct Certificates(TempDir);

impl Certificates {
    fn make() -> Self {
        let made = Self(tempfile::tempdir().unwrap());
        for authority in ["ours", "other"] {
            made.openssl(&format!(
                "req -x509 {KEY} -keyout {authority}.key -out {authority}.pem -days 2 -subj /CN={authority}"
            ));
        }
        fs::write(made.path("names"), "subjectAltName = DNS:localhost\n").unwrap();
        made.openssl(&format!(
            "req -new {KEY} -keyout server.key -out server.csr -subj /CN=localhost"
        ));
        made.openssl(
            "x509 -req -in server.csr -CA ours.pem -CAkey ours.key -CAcreateserial -days 2 -extfile names -out server.crt",
        );
        made
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn openssl(&self, arguments: &str) {
        let mut command = Command::new("openssl");
        command.args(arguments.split(' ')).current_dir(self.0.path());
        let output = command.stdin(Stdio::null()).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "openssl {arguments}: {told}");
    }

    /// Puts the server's into the folder of its data, where it looks for them.
    fn give_to(&self, data: &Path) {
        let owner = fs::metadata(data).unwrap();
        for name in ["server.key", "server.crt"] {
            let place = data.join(name);
            fs::copy(self.path(name), &place).unwrap();
            fs::set_permissions(&place, Permissions::from_mode(0o600)).unwrap();
            chown(&place, Some(owner.uid()), Some(owner.gid())).unwrap();
        }
    }
}

const KEY: &str = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";

/// A server at a free port.
async fn start(settings: &mut EmbeddedSettings) -> Embedded {
    // The port can be taken between our look and the server's start.
    for _ in 0..20 {
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        settings.port = Some(free.port());
        match Embedded::start(settings).await {
            Err(EmbeddedError::Program { .. }) => {}
            outcome => return outcome.unwrap(),
        }
    }
    panic!("no port is free");
}

fn url(server: &Embedded, settings: &EmbeddedSettings, host: &str, parameters: &str) -> DatabaseUrl {
    let password = fs::read_to_string(server.folder().join("superuser-password")).unwrap();
    let (password, port) = (password.trim(), settings.port.unwrap());
    format!("postgres://postgres:{password}@{host}:{port}/conduit?{parameters}")
        .parse()
        .unwrap()
}

async fn prepared(url: &DatabaseUrl) -> Result<DatabaseUrl, DatabaseError> {
    let settings = DatabaseSettings {
        create: true,
        passwords: Owner::ALL.map(|owner| (owner, "for-tests-only".into())).into(),
        ..DatabaseSettings::new(Owner::Monolith)
    };
    Ok(database::prepare(url, &settings).await?.url().clone())
}

/// What a program says when it cannot use the database: one line, told at once.
async fn refusal(url: DatabaseUrl) -> String {
    let refused = prepared(&url).await.unwrap_err();
    assert!(matches!(refused, DatabaseError::Insecure { .. }), "{refused}");
    let told = refused.to_string();
    assert!(!told.contains('\n'), "{told}");
    told
}

async fn is_encrypted(url: &DatabaseUrl) -> bool {
    let mut connection = url.options().unwrap().connect().await.unwrap();
    sqlx::query("select ssl from pg_stat_ssl where pid = pg_backend_pid()")
        .fetch_one(&mut connection)
        .await
        .unwrap()
        .get(0)
}

#[tokio::test]
async fn a_connection_is_as_safe_as_the_url_asks_or_there_is_none() {
    if Command::new("openssl").arg("version").output().is_err() {
        let missing = "openssl is not installed, so no certificate can be made";
        assert!(std::env::var("CI").as_deref() != Ok("true"), "{missing}");
        eprintln!("SKIPPED: {missing}");
        return;
    }
    let certificates = Certificates::make();
    let home = tempfile::tempdir().unwrap();
    fs::set_permissions(home.path(), Permissions::from_mode(0o711)).unwrap();
    let mut settings = EmbeddedSettings::new(home.path().join("postgres"));
    let server = start(&mut settings).await;
    let told = refusal(url(&server, &settings, "localhost", "sslmode=require")).await;
    assert!(told.contains("server does not support TLS"), "{told}");

    certificates.give_to(&server.folder().join("data"));
    server.stop().await.unwrap();
    settings.parameters = vec![("ssl".to_owned(), "on".to_owned())];
    let server = start(&mut settings).await;
    let with = |host, mode: &str, authority: &str| {
        let file = certificates.path(authority);
        let parameters = format!("sslmode={mode}&sslrootcert={}", file.display());
        url(&server, &settings, host, &parameters)
    };
    for good in [
        url(&server, &settings, "127.0.0.1", "sslmode=require"),
        with("127.0.0.1", "verify-ca", "ours.pem"),
        with("localhost", "verify-full", "ours.pem"),
    ] {
        // The role of the pool has another login at the same server.
        let own = prepared(&good).await.unwrap();
        assert!(is_encrypted(&own).await, "{own}");
    }
    for (bad, cause) in [
        (with("localhost", "verify-full", "other.pem"), "UnknownIssuer"),
        (with("127.0.0.1", "verify-ca", "other.pem"), "UnknownIssuer"),
        (with("127.0.0.1", "verify-full", "ours.pem"), "not valid for name"),
        (
            with("localhost", "verify-full", "nowhere.pem"),
            "nowhere.pem, which cannot be read: No such file",
        ),
    ] {
        let told = refusal(bad).await;
        assert!(told.contains(cause), "{told}");
    }
    server.stop().await.unwrap();
}
