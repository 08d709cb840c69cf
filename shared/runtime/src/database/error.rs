//! What can go wrong before the first statement, in sentences for the person at the terminal. None of them
//! shows a password.

use std::time::Duration;

use sqlx::migrate::MigrateError;

use super::InvalidDatabaseUrl;

/// Why the database cannot be used. `target` is `user@host:port/database`.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// The address is not one.
    #[error(transparent)]
    Url(#[from] InvalidDatabaseUrl),
    /// Nothing answers there.
    #[error("the database {target} cannot be reached (tried for {} s): {cause}", wait.as_secs())]
    Unreachable {
        /// Which database.
        target: String,
        /// How long it was tried.
        wait: Duration,
        /// The last failure.
        cause: String,
    },
    /// It answers, and says no: a wrong password, a database that is not there.
    #[error("the database {target} refuses us: {cause}")]
    Refused {
        /// Which database.
        target: String,
        /// What it said.
        cause: String,
    },
    /// The connection is not as safe as it has to be: no TLS, or a certificate that does not hold.
    #[error(
        "the connection to {target} cannot be secured as DATABASE_URL asks (sslmode, sslrootcert): {cause}"
    )]
    Insecure {
        /// Which database.
        target: String,
        /// What is wrong.
        cause: String,
    },
    /// Roles or schemas are missing, and the role we were given may not make them.
    #[error(
        "the database {target} lacks the roles or the schemas of this program, and \"{user}\" may not create them ({cause}). Let \
         an administrator run: psql \"host={host} port={port} dbname={database} user=postgres\" -v ON_ERROR_STOP=1 -f sql/roles.sql"
    )]
    RolesMissing {
        /// Which database.
        target: String,
        /// The role that may not.
        user: String,
        /// What stands in its way.
        cause: String,
        /// The server's host or socket folder.
        host: String,
        /// Its port.
        port: u16,
        /// The database's name.
        database: String,
    },
    /// The role we were given may not act as the owner.
    #[error(
        "\"{user}\" may not act as \"{role}\" in {target}. Log in as \"{role}\", or let an administrator run: grant {role} to {user}"
    )]
    NotMember {
        /// Which database.
        target: String,
        /// The role we logged in as.
        user: String,
        /// The role needed.
        role: &'static str,
    },
    /// Another process holds the lock for too long.
    #[error("another process has been preparing {target} for {} s", wait.as_secs())]
    Locked {
        /// Which database.
        target: String,
        /// How long was waited.
        wait: Duration,
    },
    /// A migration failed; its transaction was rolled back.
    #[error("the migrations of {schema} failed in {target}: {source}")]
    Migration {
        /// Which database.
        target: String,
        /// Whose migrations.
        schema: &'static str,
        /// What failed.
        source: MigrateError,
    },
    /// Migrations are turned off, and some are missing.
    #[error(
        "{target} lacks migrations of {schema} that this program needs ({missing:?}), and CONDUIT_DATABASE_MIGRATE is false"
    )]
    Behind {
        /// Which database.
        target: String,
        /// Whose migrations.
        schema: &'static str,
        /// Their numbers.
        missing: Vec<i64>,
    },
    /// A statement failed.
    #[error("preparing {target} failed while {action}: {source}")]
    Statement {
        /// Which database.
        target: String,
        /// What was being done.
        action: &'static str,
        /// What failed.
        source: sqlx::Error,
    },
}
