//! The database as the stores see it: statements in, rows out, one round trip each.
//!
//! [`Db`] is a pool of plain connections of one worker (performance page, rules 1 and 2). A connection goes back into the pool
//! only when its statement has finished; whoever is cancelled, runs out of time or loses the server closes it by dropping it.
//!
//! A pool opens its connections one after the other. A burst at a cold pool would otherwise open all of them at once, each slower
//! for the others (a process and a proof of the password each), while whoever waits is served sooner by the first that is there.

mod connection;
mod fetch;
mod statement;
mod transaction;
mod waits;

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use conduit_domain::{Error, Result};
use deadpool::Runtime;
use deadpool::managed::{Pool, QueueMode, Timeouts};
use sqlx::postgres::{PgArguments, PgConnectOptions, Postgres};
use sqlx::query::Query;
use tokio::time::timeout;

use crate::error::{self, Failure};
use connection::{Conn, Connector};
pub use fetch::Fetch;
pub use statement::Statement;
pub use transaction::Transaction;
pub use waits::PoolWaits;
use waits::Waits;

/// A call that takes longer than this fails, so that a client has its answer within the five seconds of contract 4.5 even where
/// the server has frozen.
const CALL_LIMIT: Duration = Duration::from_secs(4);
/// A probe that takes longer than this says no.
const READY_LIMIT: Duration = Duration::from_secs(1);

/// How to reach the database, and how long to wait for what.
#[derive(Clone)]
pub struct DbSettings {
    /// Where, and as whom.
    pub options: PgConnectOptions,
    /// Connections of this [`Db`], at least one.
    pub connections: usize,
    /// The longest wait for a free connection; zero does not wait.
    pub wait: Duration,
    /// The longest wait for a new connection, and for the answer to a ping.
    pub connect_timeout: Duration,
    /// A connection unused for longer than this is pinged before it is used again.
    pub idle_ping_after: Duration,
}

/// How many connections there are; for metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolStatus {
    /// Open connections, in use or not.
    pub size: usize,
    /// Open connections not in use.
    pub available: usize,
    /// Callers waiting for one.
    pub waiting: usize,
}

/// A pool of connections of one worker thread, made inside its runtime; connects when first asked. Cheap to clone.
#[derive(Clone)]
pub struct Db {
    pool: Pool<Connector>,
    /// How many connections there may be at most, and how many for now: one more than have been opened.
    connections: usize,
    allowed: Arc<AtomicUsize>,
    waits: Arc<Waits>,
    limit: Duration,
}

impl Db {
    /// A pool without connections yet.
    pub fn new(settings: DbSettings) -> Self {
        let timeouts = Timeouts {
            wait: Some(settings.wait),
            create: Some(settings.connect_timeout),
            recycle: None,
        };
        let connections = settings.connections.max(1);
        let builder = Pool::builder(Connector::new(settings))
            .max_size(1)
            .timeouts(timeouts)
            .runtime(Runtime::Tokio1)
            // The connection used last is warm; the others may grow old and are pinged when they are needed again.
            .queue_mode(QueueMode::Lifo);
        #[allow(
            clippy::expect_used,
            reason = "building fails only where time-outs are set and no runtime is"
        )]
        let pool = builder.build().expect("a runtime is set");
        Self {
            pool,
            connections,
            allowed: Arc::new(AtomicUsize::new(1)),
            waits: Arc::default(),
            limit: CALL_LIMIT,
        }
    }

    /// The same pool with another limit for a whole call: waiting, connecting, the statement and its repetition.
    #[must_use]
    pub fn with_limit(self, limit: Duration) -> Self {
        Self { limit, ..self }
    }

    /// Reads one row or none. The statement is built again and sent once more, on a fresh connection, only where the first
    /// connection broke before any reply.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when there is no connection or no answer in time, else as [`error::from_driver`] says.
    pub async fn optional<Q: Fetch>(&self, query: impl Fn() -> Q) -> Result<Option<Q::Row>> {
        let call = async {
            match self.fetch_optional(query()).await {
                Err(failure) if failure.before_any_reply() => self.fetch_optional(query()).await,
                outcome => outcome,
            }
        };
        self.in_time(call).await
    }

    /// Reads one row; otherwise as [`Db::optional`].
    ///
    /// # Errors
    /// As [`Db::optional`]; [`Error::Internal`] when there is no row.
    pub async fn one<Q: Fetch>(&self, query: impl Fn() -> Q) -> Result<Q::Row> {
        error::row(self.optional(query).await?)
    }

    /// Reads all rows; otherwise as [`Db::optional`].
    ///
    /// # Errors
    /// As [`Db::optional`].
    pub async fn all<Q: Fetch>(&self, query: impl Fn() -> Q) -> Result<Vec<Q::Row>> {
        let call = async {
            match self.fetch_all(query()).await {
                Err(failure) if failure.before_any_reply() => self.fetch_all(query()).await,
                outcome => outcome,
            }
        };
        self.in_time(call).await
    }

    /// Runs a statement that changes something and returns one row or none. Never repeated.
    ///
    /// # Errors
    /// As [`Db::optional`]; after [`Error::Unavailable`] the change has happened whole or not at all.
    pub async fn write_optional<Q: Fetch>(&self, query: Q) -> Result<Option<Q::Row>> {
        self.in_time(self.fetch_optional(query)).await
    }

    /// Runs a statement that changes something and returns the number of rows that it changed. Never repeated.
    ///
    /// # Errors
    /// As [`Db::write_optional`].
    pub async fn execute(&self, query: Query<'_, Postgres, PgArguments>) -> Result<u64> {
        let call = async {
            let mut conn = self.acquire().await?;
            let outcome = query.execute(&mut *conn).await.map(|done| done.rows_affected());
            conn.settle(outcome.map_err(|error| Failure::of(error, false)))
                .await
        };
        self.in_time(call).await
    }

    /// Opens a transaction, for what one statement cannot do. Opening writes nothing, so it is repeated as a read is.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when there is no connection or no answer in time.
    pub async fn begin(&self) -> Result<Transaction> {
        let deadline = tokio::time::Instant::now() + self.limit;
        let call = async {
            match Transaction::begin(self.acquire().await?, deadline).await {
                Err(failure) if failure.before_any_reply() => {
                    Transaction::begin(self.acquire().await?, deadline).await
                }
                outcome => outcome,
            }
        };
        self.in_time(call).await
    }

    /// Whether the database answers within a second.
    pub async fn ready(&self) -> bool {
        let probe = self.one(|| sqlx::query_scalar::<_, i32>("select 1"));
        matches!(timeout(READY_LIMIT, probe).await, Ok(Ok(_)))
    }

    /// How many connections there are.
    pub fn status(&self) -> PoolStatus {
        // What will never be used again does not count.
        self.pool.retain(|slot, _| self.pool.manager().is_current(slot));
        let status = self.pool.status();
        PoolStatus {
            size: status.size,
            available: status.available,
            waiting: status.waiting,
        }
    }

    /// How often callers got no connection at once.
    pub fn waits(&self) -> PoolWaits {
        self.waits.so_far()
    }

    async fn fetch_optional<Q: Fetch>(&self, query: Q) -> Result<Option<Q::Row>, Failure> {
        let mut conn = self.acquire().await?;
        let outcome = query.first(&mut conn).await;
        conn.settle(outcome.map_err(|error| Failure::of(error, false)))
            .await
    }

    async fn fetch_all<Q: Fetch>(&self, query: Q) -> Result<Vec<Q::Row>, Failure> {
        let mut conn = self.acquire().await?;
        let mut rows = Vec::new();
        let outcome = query.collect(&mut conn, &mut rows).await;
        let replied = !rows.is_empty();
        conn.settle(
            outcome
                .map(|()| rows)
                .map_err(|error| Failure::of(error, replied)),
        )
        .await
    }

    async fn acquire(&self) -> Result<Conn, Failure> {
        // Whoever opened the last one may have gone away before the line below.
        self.allow_another();
        let object = self.waits.watch(pin!(self.pool.get())).await;
        self.allow_another();
        Conn::new(object.map_err(|error| Failure::NoConnection(error.into()))?)
    }

    /// The next connection may be opened once the one before is open.
    fn allow_another(&self) {
        let allowed = self
            .pool
            .manager()
            .opened()
            .saturating_add(1)
            .min(self.connections);
        if self.allowed.load(Relaxed) < allowed && self.allowed.fetch_max(allowed, Relaxed) < allowed {
            self.pool.resize(self.allowed.load(Relaxed));
        }
    }

    async fn in_time<T>(&self, call: impl Future<Output = Result<T, Failure>>) -> Result<T> {
        let outcome = timeout(self.limit, call).await;
        outcome.unwrap_or(Err(Failure::TooLate)).map_err(Error::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_send<T: Send>(_: &T) {}

    #[test]
    fn calls_may_cross_threads() {
        let settings = DbSettings {
            options: PgConnectOptions::new_without_pgpass(),
            connections: 1,
            wait: Duration::ZERO,
            connect_timeout: Duration::ZERO,
            idle_ping_after: Duration::ZERO,
        };
        let db = Db::new(settings);
        let name = String::from("x");
        assert_send(&db.optional(|| sqlx::query("select $1").bind(&name).try_map(|_| Ok(()))));
        assert_send(&db.all(|| sqlx::query("select $1").bind(&name).try_map(|_| Ok(()))));
        assert_send(&db.begin());
        assert_send(&async {
            let mut transaction = db.begin().await?;
            transaction.execute(sqlx::query("select 1")).await?;
            transaction.commit().await
        });
        assert_send(&db.ready());
    }
}
