//! Statements put together at run time.

use sqlx::postgres::PgArguments;
use sqlx::query::Query;
use sqlx::{Execute, Postgres, QueryBuilder, SqlStr};

/// A statement with its values, to be sent as often as need be.
pub struct Statement {
    text: SqlStr,
    values: PgArguments,
}

impl From<QueryBuilder<Postgres>> for Statement {
    fn from(mut builder: QueryBuilder<Postgres>) -> Self {
        let mut query = builder.build();
        // The builder has encoded every value when it was pushed; nothing is left that could fail.
        let values = query.take_arguments().ok().flatten().unwrap_or_default();
        Self {
            text: query.sql(),
            values,
        }
    }
}

impl Statement {
    /// The statement once more.
    pub fn query(&self) -> Query<'static, Postgres, PgArguments> {
        sqlx::query_with(self.text.clone(), self.values.clone())
    }
}
