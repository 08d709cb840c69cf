//! The monolith's read ports: one statement that joins what four services would ask each other for.
//!
//! Every statement here runs with a generic plan (the role says so), which knows neither how many rows a limit lets through nor
//! how many a name selects. So no shape is left to the planner's guess: a page of ids comes from one index in order, and what
//! belongs to an id comes by its key from a lateral sub-select with a limit of one, which cannot become a join that reads a
//! whole table. Start reading at `articles`.

mod articles;
mod comments;
mod profiles;
mod selection;

use conduit_domain::{AccountId, Error, Profile, Result, Viewer};
use conduit_store::db::Db;
use sqlx::postgres::PgRow;
use sqlx::{Postgres, QueryBuilder, Row};

/// The read ports over all four schemas. Reads all, writes none.
#[derive(Clone)]
pub struct Joined {
    db: Db,
}

impl Joined {
    /// The tables behind a pool, whose role sees all four schemas.
    pub fn new(db: Db) -> Self {
        Self { db }
    }
}

/// The columns of an author, an account called `u`; [`push_following`] adds the last one.
const AUTHOR: &str = ", u.id, u.username, u.bio, u.image";

/// The account of the author of an article or comment, by its key.
const JOIN_AUTHOR: &str = "
    left join lateral (
      select u.id, u.username, u.bio, u.image
      from users.accounts u
      where u.id = written.author_id
      limit 1
    ) u on true";

/// Whether the viewer follows the account `u`.
fn push_following(statement: &mut QueryBuilder<Postgres>, viewer: Option<AccountId>) {
    let Some(viewer) = viewer else {
        statement.push(", false");
        return;
    };
    statement
        .push(
            ",
      (
        select true
        from profiles.follows w
        where w.follower_id = ",
        )
        .push_bind(viewer.0)
        .push(
            "
          and w.followee_id = u.id
        limit 1
      )",
        );
}

/// Whether the account exists that acts; who merely looks need not exist.
fn push_present(statement: &mut QueryBuilder<Postgres>, viewer: Viewer) {
    let Viewer::Acting(caller) = viewer else {
        statement.push(", true");
        return;
    };
    statement
        .push(
            ",
      (
        select true
        from users.accounts c
        where c.id = ",
        )
        .push_bind(caller.0)
        .push(")");
}

/// A flag from a sub-select, which gives no row for "no".
fn flag(row: &PgRow, column: usize) -> sqlx::Result<bool> {
    Ok(row.try_get::<Option<bool>, _>(column)?.unwrap_or(false))
}

/// An author whose columns start here.
fn profile(row: &PgRow, first: usize) -> sqlx::Result<Profile> {
    Ok(Profile {
        id: AccountId(row.try_get(first)?),
        username: row.try_get(first + 1)?,
        bio: row.try_get(first + 2)?,
        image: row.try_get(first + 3)?,
        following: flag(row, first + 4)?,
    })
}

/// What was asked for, if the account that asks exists.
fn if_present<T>(found: Option<(T, bool)>) -> Result<Option<T>> {
    match found {
        Some((_, false)) => Err(Error::CallerGone),
        found => Ok(found.map(|(found, _)| found)),
    }
}
