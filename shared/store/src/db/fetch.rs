//! Statements that give rows.

use futures_util::stream::{BoxStream, TryStreamExt};
use sqlx::postgres::{PgConnection, PgRow, Postgres};
use sqlx::query::{Map, QueryAs, QueryScalar};
use sqlx::{FromRow, IntoArguments};

type Outcome<T> = Result<T, sqlx::Error>;

/// A statement whose rows become values: what `query!`, `query_as!` and `query_scalar!` give, and `query(..).try_map(..)`.
pub trait Fetch: Send + Sized {
    /// What a row becomes.
    type Row: Send + 'static;

    /// Runs it for its first row.
    fn first(self, connection: &mut PgConnection) -> impl Future<Output = Outcome<Option<Self::Row>>> + Send;

    /// Runs it for its rows, one after the other.
    fn each<'c>(self, connection: &'c mut PgConnection) -> BoxStream<'c, Outcome<Self::Row>>
    where
        Self: 'c;

    /// Runs it for all its rows; those that came before an error stay in `rows`.
    fn collect(
        self,
        connection: &mut PgConnection,
        rows: &mut Vec<Self::Row>,
    ) -> impl Future<Output = Outcome<()>> + Send {
        async move {
            let mut stream = self.each(connection);
            while let Some(row) = stream.try_next().await? {
                rows.push(row);
            }
            Ok(())
        }
    }
}

impl<'q, F, O, A> Fetch for Map<'q, Postgres, F, A>
where
    F: FnMut(PgRow) -> Outcome<O> + Send,
    O: Send + Unpin + 'static,
    A: 'q + Send + IntoArguments<Postgres>,
{
    type Row = O;

    async fn first(self, connection: &mut PgConnection) -> Outcome<Option<O>> {
        self.fetch_optional(connection).await
    }

    fn each<'c>(self, connection: &'c mut PgConnection) -> BoxStream<'c, Outcome<O>>
    where
        Self: 'c,
    {
        self.fetch(connection)
    }
}

impl<'q, O, A> Fetch for QueryScalar<'q, Postgres, O, A>
where
    O: Send + Unpin + 'static,
    A: 'q + Send + IntoArguments<Postgres>,
    (O,): for<'r> FromRow<'r, PgRow>,
{
    type Row = O;

    async fn first(self, connection: &mut PgConnection) -> Outcome<Option<O>> {
        self.fetch_optional(connection).await
    }

    fn each<'c>(self, connection: &'c mut PgConnection) -> BoxStream<'c, Outcome<O>>
    where
        Self: 'c,
    {
        self.fetch(connection)
    }
}

impl<'q, O, A> Fetch for QueryAs<'q, Postgres, O, A>
where
    O: Send + Unpin + 'static + for<'r> FromRow<'r, PgRow>,
    A: 'q + Send + IntoArguments<Postgres>,
{
    type Row = O;

    async fn first(self, connection: &mut PgConnection) -> Outcome<Option<O>> {
        self.fetch_optional(connection).await
    }

    fn each<'c>(self, connection: &'c mut PgConnection) -> BoxStream<'c, Outcome<O>>
    where
        Self: 'c,
    {
        self.fetch(connection)
    }
}
