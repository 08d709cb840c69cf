//! One connection: how it is made, judged and handed back.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU64, AtomicUsize};
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
type Slot = Option<Link>;

/// A connection and when it was made.
pub(super) struct Link {
    connection: PgConnection,
    /// How many breaks had been seen before.
    generation: u64,
}

/// Makes connections for the pool and decides whether one that has lain idle is still good.
pub(super) struct Connector {
    options: PgConnectOptions,
    ping_limit: Duration,
    idle_ping_after: Duration,
    /// What breaks one connection has most likely broken all, and a write has no second try; so a break ends a generation.
    generation: AtomicU64,
    opened: AtomicUsize,
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
            generation: AtomicU64::new(0),
            opened: AtomicUsize::new(0),
        }
    }

    /// How many connections have been opened so far, those that are gone included.
    pub(super) fn opened(&self) -> usize {
        self.opened.load(Relaxed)
    }

    /// Whether the slot holds a connection that may still be good.
    pub(super) fn is_current(&self, slot: &Slot) -> bool {
        slot.as_ref()
            .is_some_and(|link| link.generation == self.generation.load(Relaxed))
    }

    /// Ends a generation, once for all of its connections.
    fn end_generation(&self, generation: u64) {
        let _ = self
            .generation
            .compare_exchange(generation, generation + 1, Relaxed, Relaxed);
    }
}

impl Manager for Connector {
    type Type = Slot;
    type Error = sqlx::Error;

    async fn create(&self) -> Result<Slot, sqlx::Error> {
        let generation = self.generation.load(Relaxed);
        // Boxed, here and below: the futures of what is rare would make those of every call of the store many times as large.
        let connection = Box::pin(self.options.connect()).await?;
        self.opened.fetch_add(1, Relaxed);
        Ok(Some(Link {
            connection,
            generation,
        }))
    }

    async fn recycle(&self, slot: &mut Slot, metrics: &Metrics) -> RecycleResult<sqlx::Error> {
        if !self.is_current(slot) {
            return Err(RecycleError::message("closed in use, or older than a break"));
        }
        let Some(link) = slot
            .as_mut()
            .filter(|_| metrics.last_used() >= self.idle_ping_after)
        else {
            return Ok(());
        };
        match Box::pin(timeout(self.ping_limit, link.connection.ping())).await {
            Ok(answer) => answer.map_err(RecycleError::Backend),
            Err(_) => Err(RecycleError::message("no answer to a ping")),
        }
    }
}

/// A connection in use, taken out of its slot. Dropped without [`Conn::settle`] or [`Conn::hand_back`], for whatever reason, it
/// is closed: an answer may be under way that the next caller would take for its own.
pub(super) struct Conn {
    link: Link,
    slot: Object<Connector>,
}

impl Conn {
    pub(super) fn new(mut slot: Object<Connector>) -> Result<Self, Failure> {
        let link = slot
            .take()
            .ok_or_else(|| Failure::NoConnection("the pool gave an empty slot".into()))?;
        Ok(Self { link, slot })
    }

    /// Hands the connection back where the outcome allows it, else closes it.
    pub(super) async fn settle<T>(mut self, outcome: Result<T, Failure>) -> Result<T, Failure> {
        match &outcome {
            Ok(_) => self.hand_back(),
            // What is left of the answer (the server's "ready") is read before anybody else gets the connection.
            Err(failure) if failure.leaves_connection_usable() => {
                if self.link.connection.flush().await.is_ok() {
                    self.hand_back();
                }
            }
            Err(failure) => self.note(failure),
        }
        outcome
    }

    /// Tells the pool when the connection has broken.
    pub(super) fn note(&self, failure: &Failure) {
        if let (Failure::Lost { error, .. }, Some(pool)) = (failure, Object::pool(&self.slot)) {
            tracing::warn!(%error, "a connection to the database broke");
            pool.manager().end_generation(self.link.generation);
        }
    }

    /// The statement has finished, and no transaction is open.
    pub(super) fn hand_back(mut self) {
        *self.slot = Some(self.link);
    }
}

impl Deref for Conn {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        &self.link.connection
    }
}

impl DerefMut for Conn {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.link.connection
    }
}
