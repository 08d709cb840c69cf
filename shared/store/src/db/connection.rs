//! One connection: how it is made, judged and handed back.

use std::ops::{Deref, DerefMut};
use std::time::Duration;

use deadpool::managed::{Manager, Metrics, Object, RecycleError, RecycleResult};
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions, Connection};
use tokio::time::timeout;

use super::DbSettings;
use crate::error::Failure;

/// More than all the statements of the monolith, so that none is prepared twice.
const PREPARED_STATEMENTS: usize = 256;

/// What the pool keeps: a connection, or nothing where one was closed in use.
type Slot = Option<PgConnection>;

/// Makes connections for the pool and decides whether one that has lain idle is still good.
pub(super) struct Connector {
    options: PgConnectOptions,
    ping_limit: Duration,
    idle_ping_after: Duration,
}

impl Connector {
    pub(super) fn new(settings: DbSettings) -> Self {
        // One event per request is written elsewhere; slow statements are the server's to log, which knows their plans.
        let options = settings
            .options
            .statement_cache_capacity(PREPARED_STATEMENTS)
            .disable_statement_logging();
        Self {
            options,
            ping_limit: settings.connect_timeout,
            idle_ping_after: settings.idle_ping_after,
        }
    }
}

impl Manager for Connector {
    type Type = Slot;
    type Error = sqlx::Error;

    async fn create(&self) -> Result<Slot, sqlx::Error> {
        self.options.connect().await.map(Some)
    }

    async fn recycle(&self, slot: &mut Slot, metrics: &Metrics) -> RecycleResult<sqlx::Error> {
        let Some(connection) = slot else {
            return Err(RecycleError::message("closed in use"));
        };
        if metrics.last_used() < self.idle_ping_after {
            return Ok(());
        }
        match timeout(self.ping_limit, connection.ping()).await {
            Ok(answer) => answer.map_err(RecycleError::Backend),
            Err(_) => Err(RecycleError::message("no answer to a ping")),
        }
    }
}

/// A connection in use, taken out of its slot. Dropped without [`Conn::settle`] or [`Conn::hand_back`], for whatever reason, it
/// is closed: an answer may be under way that the next caller would take for its own.
pub(super) struct Conn {
    connection: PgConnection,
    slot: Object<Connector>,
}

impl Conn {
    pub(super) fn new(mut slot: Object<Connector>) -> Result<Self, Failure> {
        let connection = slot
            .take()
            .ok_or_else(|| Failure::NoConnection("the pool gave an empty slot".into()))?;
        Ok(Self { connection, slot })
    }

    /// Hands the connection back where the outcome allows it, else closes it.
    pub(super) async fn settle<T>(mut self, outcome: Result<T, Failure>) -> Result<T, Failure> {
        match &outcome {
            Ok(_) => self.hand_back(),
            // What is left of the answer (the server's "ready") is read before anybody else gets the connection.
            Err(failure) if failure.leaves_connection_usable() => {
                if self.connection.flush().await.is_ok() {
                    self.hand_back();
                }
            }
            Err(_) => {}
        }
        outcome
    }

    /// The statement has finished, and no transaction is open.
    pub(super) fn hand_back(mut self) {
        *self.slot = Some(self.connection);
    }
}

impl Deref for Conn {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        &self.connection
    }
}

impl DerefMut for Conn {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.connection
    }
}
