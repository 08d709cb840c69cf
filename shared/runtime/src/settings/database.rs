//! The database and the pool in front of it.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args};
use secrecy::{ExposeSecret, SecretString};

use super::secret::{read, secret_text};
use super::{SettingsError, duration, positive_duration};
use crate::database::{DatabaseSettings, DatabaseUrl, Owner};

const URL: &str = "DATABASE_URL";

/// Settings of the database.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Database")]
pub struct DatabaseArgs {
    /// PostgreSQL to use, as in postgres://user:password@host:5432/conduit?sslmode=verify-full
    #[arg(long, env = URL, hide_env_values = true, value_name = "URL", value_parser = secret_text)]
    database_url: Option<SecretString>,
    /// File that holds the URL instead
    #[arg(long, env = "DATABASE_URL_FILE", value_name = "PATH")]
    database_url_file: Option<PathBuf>,
    /// Most connections for requests, over all worker threads, so at least as many as those. Probes have one of their own, and so
    /// has the purge of the comments service
    #[arg(
        long,
        env = "CONDUIT_DATABASE_POOL_SIZE",
        value_name = "COUNT",
        default_value = "16"
    )]
    pub database_pool_size: NonZeroUsize,
    /// How long a request may wait for a connection
    #[arg(long, env = "CONDUIT_DATABASE_WAIT", value_name = "DURATION", default_value = "2s", value_parser = positive_duration)]
    pub database_wait: Duration,
    /// How long a new connection may take, and the answer to a ping of one that was idle
    #[arg(long, env = "CONDUIT_DATABASE_CONNECT_TIMEOUT", value_name = "DURATION", default_value = "3s", value_parser = positive_duration)]
    pub database_connect_timeout: Duration,
    /// How long to try to reach the database at start
    #[arg(long, env = "CONDUIT_DATABASE_START_WAIT", value_name = "DURATION", default_value = "20s", value_parser = duration)]
    pub database_start_wait: Duration,
    /// Bring the tables up to date at start; otherwise only check that they are
    #[arg(long, env = "CONDUIT_DATABASE_MIGRATE", value_name = "BOOL", default_value = "true", action = ArgAction::Set)]
    pub database_migrate: bool,
    #[command(flatten)]
    passwords: PasswordArgs,
}

/// Passwords to set for the roles.
#[derive(Args, Clone, Debug)]
#[command(
    next_help_heading = "Passwords of the database's roles (set at start, where DATABASE_URL may do so)"
)]
struct PasswordArgs {
    /// Password of conduit_users
    #[arg(long, env = "CONDUIT_DATABASE_USERS_PASSWORD", hide_env_values = true, value_name = "TEXT", value_parser = secret_text)]
    database_users_password: Option<SecretString>,
    /// File that holds it instead
    #[arg(long, env = "CONDUIT_DATABASE_USERS_PASSWORD_FILE", value_name = "PATH")]
    database_users_password_file: Option<PathBuf>,
    /// Password of conduit_profiles
    #[arg(long, env = "CONDUIT_DATABASE_PROFILES_PASSWORD", hide_env_values = true, value_name = "TEXT", value_parser = secret_text)]
    database_profiles_password: Option<SecretString>,
    /// File that holds it instead
    #[arg(long, env = "CONDUIT_DATABASE_PROFILES_PASSWORD_FILE", value_name = "PATH")]
    database_profiles_password_file: Option<PathBuf>,
    /// Password of conduit_articles
    #[arg(long, env = "CONDUIT_DATABASE_ARTICLES_PASSWORD", hide_env_values = true, value_name = "TEXT", value_parser = secret_text)]
    database_articles_password: Option<SecretString>,
    /// File that holds it instead
    #[arg(long, env = "CONDUIT_DATABASE_ARTICLES_PASSWORD_FILE", value_name = "PATH")]
    database_articles_password_file: Option<PathBuf>,
    /// Password of conduit_comments
    #[arg(long, env = "CONDUIT_DATABASE_COMMENTS_PASSWORD", hide_env_values = true, value_name = "TEXT", value_parser = secret_text)]
    database_comments_password: Option<SecretString>,
    /// File that holds it instead
    #[arg(long, env = "CONDUIT_DATABASE_COMMENTS_PASSWORD_FILE", value_name = "PATH")]
    database_comments_password_file: Option<PathBuf>,
    /// Password of conduit_monolith
    #[arg(long, env = "CONDUIT_DATABASE_MONOLITH_PASSWORD", hide_env_values = true, value_name = "TEXT", value_parser = secret_text)]
    database_monolith_password: Option<SecretString>,
    /// File that holds it instead
    #[arg(long, env = "CONDUIT_DATABASE_MONOLITH_PASSWORD_FILE", value_name = "PATH")]
    database_monolith_password_file: Option<PathBuf>,
}

impl DatabaseArgs {
    /// The database to use; none where neither the variable nor the file is set.
    ///
    /// # Errors
    /// [`SettingsError`] where the file cannot be read or the text is no URL.
    pub fn url(&self) -> Result<Option<DatabaseUrl>, SettingsError> {
        let given = read(URL, self.database_url.as_ref(), self.database_url_file.as_deref())?;
        Ok(given.map(|text| text.expose_secret().parse()).transpose()?)
    }

    /// The database to use, for programs that have none of their own.
    ///
    /// # Errors
    /// As [`DatabaseArgs::url`]; [`SettingsError::Missing`] where there is none.
    pub fn required_url(&self) -> Result<DatabaseUrl, SettingsError> {
        self.url()?.ok_or(SettingsError::Missing { name: URL })
    }

    /// How to prepare the database for a process that logs in as `login`.
    ///
    /// # Errors
    /// [`SettingsError`] where a password's file cannot be read.
    pub fn preparation(&self, login: Owner) -> Result<DatabaseSettings, SettingsError> {
        Ok(DatabaseSettings {
            login,
            create: false,
            passwords: self.passwords.read()?,
            migrate: self.database_migrate,
            wait: self.database_start_wait,
        })
    }
}

impl PasswordArgs {
    fn read(&self) -> Result<Vec<(Owner, SecretString)>, SettingsError> {
        let given = [
            (
                Owner::Users,
                "CONDUIT_DATABASE_USERS_PASSWORD",
                &self.database_users_password,
                &self.database_users_password_file,
            ),
            (
                Owner::Profiles,
                "CONDUIT_DATABASE_PROFILES_PASSWORD",
                &self.database_profiles_password,
                &self.database_profiles_password_file,
            ),
            (
                Owner::Articles,
                "CONDUIT_DATABASE_ARTICLES_PASSWORD",
                &self.database_articles_password,
                &self.database_articles_password_file,
            ),
            (
                Owner::Comments,
                "CONDUIT_DATABASE_COMMENTS_PASSWORD",
                &self.database_comments_password,
                &self.database_comments_password_file,
            ),
            (
                Owner::Monolith,
                "CONDUIT_DATABASE_MONOLITH_PASSWORD",
                &self.database_monolith_password,
                &self.database_monolith_password_file,
            ),
        ];
        let mut passwords = Vec::new();
        for (owner, name, value, file) in given {
            if let Some(password) = read(name, value.as_ref(), file.as_deref())? {
                passwords.push((owner, password));
            }
        }
        Ok(passwords)
    }
}
