//! Accounts as others see them.

use async_trait::async_trait;
use conduit_app::reads::ProfileReads;
use conduit_domain::{NameKey, Profile, Result, Viewer};
use conduit_store::db::Statement;
use sqlx::postgres::PgRow;
use sqlx::{Postgres, QueryBuilder};

use super::{AUTHOR, Joined, flag, if_present, profile, push_following, push_present};

#[async_trait]
impl ProfileReads for Joined {
    async fn by_username(&self, viewer: Viewer, name: &NameKey) -> Result<Option<Profile>> {
        let statement = by_username(viewer, name);
        let found = self
            .db
            .optional(|| statement.query().try_map(|row| read(&row)))
            .await?;
        if_present(found)
    }
}

fn by_username(viewer: Viewer, name: &NameKey) -> Statement {
    let mut statement = QueryBuilder::<Postgres>::new("select true");
    statement.push(AUTHOR);
    push_following(&mut statement, viewer.id());
    push_present(&mut statement, viewer);
    statement
        .push(
            "
    from users.accounts u
    where u.username_key = ",
        )
        .push_bind(name.as_str());
    statement.into()
}

fn read(row: &PgRow) -> sqlx::Result<(Profile, bool)> {
    Ok((profile(row, 1)?, flag(row, 6)?))
}
