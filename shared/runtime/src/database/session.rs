//! A connection for preparing a database: patient while the server starts, bound by none of the limits that
//! requests live under.

use std::io::ErrorKind;
use std::time::Duration;

use sqlx::{ConnectOptions, Connection, Executor, PgConnection};
use tokio::time::{Instant, sleep, timeout};

use super::{DatabaseError, DatabaseUrl};

/// How long one attempt to connect may take.
const ATTEMPT_WAIT: Duration = Duration::from_secs(5);

/// How often to try again, for the database or for a lock.
const TRY_EVERY: Duration = Duration::from_millis(200);

/// How long another process may hold the lock: migrations of large tables take their time.
const LOCK_WAIT: Duration = Duration::from_secs(600);

/// The roles' own limits are for requests; only DDL must not stand in everybody's way for long.
const LIMITS: &str = "
set statement_timeout = 0;
set idle_in_transaction_session_timeout = 0;
set lock_timeout = '30s';
set client_min_messages = warning;
";

pub(super) struct Session {
    pub(super) connection: PgConnection,
    target: String,
}

impl Session {
    /// Tries until `wait` is over; a server that says no is believed at once.
    pub(super) async fn open(url: &DatabaseUrl, wait: Duration) -> Result<Self, DatabaseError> {
        let connection = connect(url, wait).await?;
        let mut session = Self {
            connection,
            target: url.to_string(),
        };
        session.run("setting limits", LIMITS).await?;
        Ok(session)
    }

    pub(super) fn target(&self) -> String {
        self.target.clone()
    }

    /// Runs statements that take no parameters.
    pub(super) async fn run(&mut self, action: &'static str, sql: &'static str) -> Result<(), DatabaseError> {
        self.connection
            .execute(sql)
            .await
            .map(drop)
            .map_err(self.failed(action))
    }

    pub(super) fn failed(&self, action: &'static str) -> impl FnOnce(sqlx::Error) -> DatabaseError + use<> {
        let target = self.target();
        move |source| DatabaseError::Statement {
            target,
            action,
            source,
        }
    }

    /// Takes an advisory lock that the end of the session gives back. Asks again and again rather than wait
    /// inside a statement, whose snapshot would hold up whoever builds an index concurrently under the lock.
    pub(super) async fn lock(&mut self, key: i64) -> Result<(), DatabaseError> {
        let deadline = Instant::now() + LOCK_WAIT;
        let mut told = false;
        while !self.try_lock(key).await? {
            if Instant::now() > deadline {
                return Err(DatabaseError::Locked {
                    target: self.target(),
                    wait: LOCK_WAIT,
                });
            }
            if !std::mem::replace(&mut told, true) {
                tracing::info!(
                    database = self.target,
                    "waiting for another process that prepares the database"
                );
            }
            sleep(TRY_EVERY).await;
        }
        Ok(())
    }

    async fn try_lock(&mut self, key: i64) -> Result<bool, DatabaseError> {
        sqlx::query_scalar("select pg_catalog.pg_try_advisory_lock($1)")
            .bind(key)
            .fetch_one(&mut self.connection)
            .await
            .map_err(self.failed("taking a lock"))
    }

    pub(super) async fn close(self) {
        // A failure here costs nothing: the server notices the end of the connection.
        let _ = self.connection.close().await;
    }
}

async fn connect(url: &DatabaseUrl, wait: Duration) -> Result<PgConnection, DatabaseError> {
    let options = url.options()?;
    url.check_certificates()
        .map_err(|cause| DatabaseError::Insecure {
            target: url.to_string(),
            cause,
        })?;
    let deadline = Instant::now() + wait;
    let mut told = false;
    loop {
        let left = deadline
            .saturating_duration_since(Instant::now())
            .min(ATTEMPT_WAIT);
        let cause = match timeout(left, options.connect()).await {
            Ok(Ok(connection)) => return Ok(connection),
            Ok(Err(error)) => match lasting(&error, url) {
                Some(lasting) => return Err(lasting),
                None => error.to_string(),
            },
            Err(_) => "it does not answer".to_owned(),
        };
        if Instant::now() + TRY_EVERY > deadline {
            return Err(DatabaseError::Unreachable {
                target: url.to_string(),
                wait,
                cause,
            });
        }
        if !std::mem::replace(&mut told, true) {
            tracing::warn!(database = %url, cause, "the database cannot be reached yet; trying again");
        }
        sleep(TRY_EVERY).await;
    }
}

/// What does not pass by itself, as do a server that starts, stops or is full, and a host or a name that is not there yet.
fn lasting(error: &sqlx::Error, url: &DatabaseUrl) -> Option<DatabaseError> {
    let target = url.to_string();
    let insecure = |cause: String| {
        Some(DatabaseError::Insecure {
            target: target.clone(),
            cause,
        })
    };
    match error {
        sqlx::Error::Tls(cause) => insecure(cause.to_string()),
        // A certificate that does not hold comes as data that do not.
        sqlx::Error::Io(cause) if cause.kind() == ErrorKind::InvalidData => insecure(cause.to_string()),
        sqlx::Error::Io(_) => None,
        sqlx::Error::Database(told)
            if matches!(told.code().as_deref(), Some("57P03" | "53300" | "57P01")) =>
        {
            None
        }
        _ => Some(DatabaseError::Refused {
            target,
            cause: error.to_string(),
        }),
    }
}
