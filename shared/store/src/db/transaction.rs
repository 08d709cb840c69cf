//! Several statements that happen all or not at all.

use std::ops::{Deref, DerefMut};

use conduit_domain::{Error, Result};
use sqlx::Executor;
use sqlx::postgres::{PgArguments, PgConnection, Postgres};
use sqlx::query::Query;
use tokio::time::{Instant, timeout_at};

use super::{Conn, Fetch};
use crate::error::Failure;

/// An open transaction with a connection of its own. Dropped without [`Transaction::commit`] or [`Transaction::roll_back`], it
/// closes the connection, and the server undoes what was written.
pub struct Transaction {
    conn: Conn,
    deadline: Instant,
    failed: bool,
}

impl Transaction {
    pub(super) async fn begin(mut conn: Conn, deadline: Instant) -> Result<Self, Failure> {
        match conn.execute("begin").await {
            Ok(_) => Ok(Self {
                conn,
                deadline,
                failed: false,
            }),
            Err(error) => conn.settle(Err(Failure::of(error, false))).await,
        }
    }

    /// Runs a statement that gives one row or none.
    ///
    /// # Errors
    /// As [`Db::write_optional`](super::Db::write_optional); the transaction can then only be dropped or rolled back.
    pub async fn optional<Q: Fetch>(&mut self, query: Q) -> Result<Option<Q::Row>> {
        let outcome = timeout_at(self.deadline, query.first(&mut self.conn)).await;
        self.judge(outcome)
    }

    /// Runs a statement that gives one row.
    ///
    /// # Errors
    /// As [`Transaction::optional`]; [`Error::Internal`] when there is no row.
    pub async fn one<Q: Fetch>(&mut self, query: Q) -> Result<Q::Row> {
        crate::error::row(self.optional(query).await?)
    }

    /// Runs a statement that gives any number of rows.
    ///
    /// # Errors
    /// As [`Transaction::optional`].
    pub async fn all<Q: Fetch>(&mut self, query: Q) -> Result<Vec<Q::Row>> {
        let mut rows = Vec::new();
        let outcome = timeout_at(self.deadline, query.collect(&mut self.conn, &mut rows)).await;
        self.judge(outcome)?;
        Ok(rows)
    }

    /// Runs a statement and returns the number of rows that it changed.
    ///
    /// # Errors
    /// As [`Transaction::optional`].
    pub async fn execute(&mut self, query: Query<'_, Postgres, PgArguments>) -> Result<u64> {
        let outcome = timeout_at(self.deadline, query.execute(&mut *self.conn)).await;
        Ok(self.judge(outcome)?.rows_affected())
    }

    /// Makes all of it happen.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the answer does not come: it has happened whole or not at all. [`Error::Internal`] when a
    /// statement before has failed, for then nothing has happened.
    pub async fn commit(self) -> Result<()> {
        if self.failed {
            return Err(Error::Internal(
                "a transaction with a failed statement was to be committed".into(),
            ));
        }
        self.end("commit").await
    }

    /// Makes none of it happen, and keeps the connection.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the answer does not come; nothing has happened then either.
    pub async fn roll_back(self) -> Result<()> {
        self.end("rollback").await
    }

    async fn end(mut self, statement: &'static str) -> Result<()> {
        let outcome = timeout_at(self.deadline, self.conn.execute(statement)).await;
        self.judge(outcome)?;
        self.conn.hand_back();
        Ok(())
    }

    fn judge<T>(
        &mut self,
        outcome: Result<Result<T, sqlx::Error>, tokio::time::error::Elapsed>,
    ) -> Result<T> {
        let outcome = match outcome {
            Ok(outcome) => outcome.map_err(|error| Failure::of(error, true)),
            Err(_) => Err(Failure::TooLate),
        };
        if let Err(failure) = &outcome {
            self.failed = true;
            self.conn.note(failure);
        }
        outcome.map_err(Error::from)
    }
}

impl Deref for Transaction {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        &self.conn
    }
}

impl DerefMut for Transaction {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.conn
    }
}
