//! Indexes that no constraint needs, made anew when the rows are there: filling them row by row takes several times as long.

use anyhow::{Context, Result};
use sqlx::{AssertSqlSafe, PgConnection};

/// The statements that make them again.
pub(super) struct Indexes(Vec<String>);

/// Drops them.
pub(super) async fn drop_all(connection: &mut PgConnection) -> Result<Indexes> {
    let found: Vec<(String, String)> = sqlx::query_as(
        "select
           format('%I.%I', n.nspname, c.relname),
           pg_catalog.pg_get_indexdef(i.indexrelid)
         from pg_catalog.pg_index i
         join pg_catalog.pg_class c on c.oid = i.indexrelid
         join pg_catalog.pg_namespace n on n.oid = c.relnamespace
         where n.nspname in ('users', 'profiles', 'articles', 'comments')
           and not exists (select from pg_catalog.pg_constraint k where k.conindid = i.indexrelid)
         order by 1",
    )
    .fetch_all(&mut *connection)
    .await
    .context("looking for indexes")?;
    for (name, _) in &found {
        run(connection, format!("drop index {name}")).await?;
    }
    Ok(Indexes(
        found.into_iter().map(|(_, definition)| definition).collect(),
    ))
}

impl Indexes {
    /// Makes them again.
    pub(super) async fn make(self, connection: &mut PgConnection) -> Result<()> {
        for definition in self.0 {
            run(connection, definition).await?;
        }
        Ok(())
    }
}

/// The statement's names are the catalog's or ours.
pub(super) async fn run(connection: &mut PgConnection, statement: impl Into<String>) -> Result<()> {
    let statement = statement.into();
    sqlx::raw_sql(AssertSqlSafe(statement.clone()))
        .execute(connection)
        .await
        .context(statement)?;
    Ok(())
}
