//! A database's address, which may contain a password.

use std::fmt;
use std::fs::File;
#[cfg(feature = "embedded")]
use std::path::Path;
use std::str::FromStr;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use secrecy::{ExposeSecret, SecretString};
use sqlx::postgres::PgConnectOptions;
use url::Url;

/// `postgres://user:password@host:port/database`, or with `?host=/folder` the Unix socket in that folder.
///
/// Shown and debugged without its password; [`DatabaseUrl::expose`] is the one way to the whole text.
#[derive(Clone)]
pub struct DatabaseUrl {
    text: SecretString,
    shown: String,
    database: String,
}

/// The text is not the URL of a PostgreSQL database. The reason never repeats the text, which may hold a password.
#[derive(Debug, thiserror::Error)]
#[error("not a database URL as in postgres://user:password@host:5432/database: {0}")]
pub struct InvalidDatabaseUrl(String);

/// The parameters that name files, as the driver knows them.
const CERTIFICATES: [&str; 7] = [
    "sslrootcert",
    "ssl-root-cert",
    "ssl-ca",
    "sslcert",
    "ssl-cert",
    "sslkey",
    "ssl-key",
];

impl DatabaseUrl {
    #[cfg(feature = "embedded")]
    pub(crate) fn over_socket(user: &str, password: &str, folder: &Path, port: u16, database: &str) -> Self {
        let shown = format!("{user}@{}/{database}", folder.display());
        let folder: String =
            url::form_urlencoded::byte_serialize(folder.as_os_str().as_encoded_bytes()).collect();
        let text = format!("postgres://{user}:{password}@localhost:{port}/{database}?host={folder}").into();
        Self {
            text,
            shown,
            database: database.to_owned(),
        }
    }

    /// The whole text, with its password.
    #[must_use]
    pub fn expose(&self) -> &str {
        self.text.expose_secret()
    }

    /// The same as sqlx takes it.
    ///
    /// # Errors
    /// Where sqlx cannot read what it could read before.
    pub fn options(&self) -> Result<PgConnectOptions, InvalidDatabaseUrl> {
        PgConnectOptions::from_str(self.expose()).map_err(|error| InvalidDatabaseUrl(error.to_string()))
    }

    /// The database's name.
    #[must_use]
    pub fn database(&self) -> &str {
        &self.database
    }

    /// The same server, another database.
    ///
    /// # Errors
    /// Where the name makes no URL.
    pub fn with_database(&self, name: &str) -> Result<Self, InvalidDatabaseUrl> {
        self.changed(|url| {
            drop_parameters(url, &["dbname"]);
            url.set_path(&encoded(name));
            Some(())
        })
    }

    /// The same database, another role.
    ///
    /// # Errors
    /// Where the name or the password make no URL.
    pub fn with_login(&self, role: &str, password: &str) -> Result<Self, InvalidDatabaseUrl> {
        self.changed(|url| {
            drop_parameters(url, &["user", "password"]);
            url.set_username(&encoded(role)).ok()?;
            url.set_password(Some(&encoded(password))).ok()
        })
    }

    /// The same database with settings for each session, as in `psql`'s `PGOPTIONS`.
    ///
    /// # Errors
    /// Never for names and values without control characters.
    pub fn with_parameters<'a>(
        &self,
        parameters: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, InvalidDatabaseUrl> {
        let options: Vec<String> = parameters
            .into_iter()
            .map(|(name, value)| format!("-c {name}={}", escaped(value)))
            .collect();
        self.changed(|url| {
            url.query_pairs_mut().append_pair("options", &options.join(" "));
            Some(())
        })
    }

    /// Sees that the files with certificates can be read: the driver does not say which it could not.
    ///
    /// # Errors
    /// The parameter, its file and what the system says of it.
    pub(super) fn check_certificates(&self) -> Result<(), String> {
        let Ok(url) = Url::parse(self.expose()) else {
            return Ok(());
        };
        for (name, file) in url.query_pairs() {
            // A certificate may stand in the URL itself.
            if !CERTIFICATES.contains(&&*name) || file.trim().starts_with("-----BEGIN") {
                continue;
            }
            File::open(&*file)
                .map_err(|error| format!("{name} names {file}, which cannot be read: {error}"))?;
        }
        Ok(())
    }

    fn changed(&self, change: impl FnOnce(&mut Url) -> Option<()>) -> Result<Self, InvalidDatabaseUrl> {
        let mut url = Url::parse(self.expose()).map_err(|error| InvalidDatabaseUrl(error.to_string()))?;
        change(&mut url).ok_or_else(|| InvalidDatabaseUrl("it names no host".to_owned()))?;
        url.as_str().parse()
    }
}

/// The server splits the options at spaces, unless a backslash stands before them.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace(' ', "\\ ")
}

/// The setters of `Url` take a percent sign for the beginning of something already encoded.
fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

fn drop_parameters(url: &mut Url, names: &[&str]) {
    let kept: Vec<(String, String)> = url
        .query_pairs()
        .filter(|(name, _)| !names.contains(&name.as_ref()))
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    url.set_query(None);
    if !kept.is_empty() {
        url.query_pairs_mut().extend_pairs(kept);
    }
}

impl FromStr for DatabaseUrl {
    type Err = InvalidDatabaseUrl;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let url = Url::parse(text.trim()).map_err(|error| InvalidDatabaseUrl(error.to_string()))?;
        if !matches!(url.scheme(), "postgres" | "postgresql") {
            return Err(InvalidDatabaseUrl("it begins with another scheme".to_owned()));
        }
        let options = PgConnectOptions::from_str(url.as_str())
            .map_err(|error| InvalidDatabaseUrl(error.to_string()))?;
        let database = options
            .get_database()
            .unwrap_or_else(|| options.get_username())
            .to_owned();
        let place = match options.get_socket() {
            Some(folder) => folder.display().to_string(),
            None => format!("{}:{}", options.get_host(), options.get_port()),
        };
        let shown = format!("{}@{place}/{database}", options.get_username());
        Ok(Self {
            text: url.as_str().into(),
            shown,
            database,
        })
    }
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.shown)
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("DatabaseUrl").field(&self.shown).finish()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn url(text: &str) -> DatabaseUrl {
        text.parse().unwrap()
    }

    #[test]
    fn password_is_never_shown() {
        let url = url("postgres://ann:s3cret@db.example:5433/conduit");
        assert_eq!(url.to_string(), "ann@db.example:5433/conduit");
        assert!(!format!("{url:?}").contains("s3cret"));
        for text in [
            "postgres://ann:s3cret@:x/",
            "mysql://ann:s3cret@h/d",
            "postgres://ann:s3cret@h:99999/d",
            "s3cret",
        ] {
            let error = text.parse::<DatabaseUrl>().unwrap_err();
            assert!(!format!("{error} {error:?}").contains("s3cret"), "{error:?}");
        }
    }

    #[test]
    fn login_and_database_are_replaced_wherever_they_are_written() {
        let url = url("postgres://h:1/?user=ann&password=a&dbname=old&sslmode=disable");
        let changed = url
            .with_login("ben", "p@ss w/d")
            .unwrap()
            .with_database("new")
            .unwrap();
        assert_eq!(changed.to_string(), "ben@h:1/new");
        assert!(
            changed.expose().contains("sslmode=disable"),
            "{}",
            changed.expose()
        );
    }

    #[cfg(feature = "embedded")]
    #[test]
    fn socket_is_kept_when_the_login_changes() {
        let url = DatabaseUrl::over_socket("postgres", "p", Path::new("/a b/run"), 5432, "postgres");
        let changed = url.with_login("ann", "q").unwrap();
        assert_eq!(changed.to_string(), "ann@/a b/run/postgres");
    }

    #[test]
    fn parameters_survive_spaces() {
        let url = url("postgres://h/d")
            .with_parameters([("role", "r"), ("search_path", "a, b")])
            .unwrap();
        assert_eq!(
            url.options().unwrap().get_options(),
            Some("-c role=r -c search_path=a,\\ b")
        );
    }
}
