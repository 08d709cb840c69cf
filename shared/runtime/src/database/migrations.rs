//! Each owner's migrations, run as the owner.

use sqlx::{AssertSqlSafe, Executor};

use super::session::Session;
use super::{DatabaseError, Owner};

/// The lock for a database's tables; see the other one for the number.
const DATABASE_LOCK: i64 = 0x63_6f_6e_64_75_69_74_02;

/// Brings the tables of all owners that `login` uses up to date.
pub(super) async fn run(session: &mut Session, login: Owner) -> Result<(), DatabaseError> {
    session.lock(DATABASE_LOCK).await?;
    for owner in login.uses() {
        become_owner(session, owner).await?;
        owner
            .migrator()
            .run(&mut session.connection)
            .await
            .map_err(|source| DatabaseError::Migration {
                target: session.target(),
                schema: owner.schema(),
                source,
            })?;
        session.run("taking the first role again", "reset role").await?;
    }
    Ok(())
}

/// Sees that none is missing, where somebody else runs them.
pub(super) async fn check(session: &mut Session, login: Owner) -> Result<(), DatabaseError> {
    for owner in login.uses() {
        become_owner(session, owner).await?;
        let missing = missing(session, owner).await?;
        session.run("taking the first role again", "reset role").await?;
        if !missing.is_empty() {
            return Err(DatabaseError::Behind {
                target: session.target(),
                schema: owner.schema(),
                missing,
            });
        }
    }
    Ok(())
}

async fn become_owner(session: &mut Session, owner: Owner) -> Result<(), DatabaseError> {
    let (user, member): (String, bool) =
        sqlx::query_as("select session_user::text, pg_catalog.pg_has_role(session_user, $1, 'member')")
            .bind(owner.role())
            .fetch_one(&mut session.connection)
            .await
            .map_err(session.failed("asking whom we may act as"))?;
    if !member {
        return Err(DatabaseError::NotMember {
            target: session.target(),
            user,
            role: owner.role(),
        });
    }
    let set_role = session
        .connection
        .execute(AssertSqlSafe(format!("set role {}", owner.role())))
        .await;
    set_role.map(drop).map_err(session.failed("acting as an owner"))
}

async fn missing(session: &mut Session, owner: Owner) -> Result<Vec<i64>, DatabaseError> {
    let needed = owner
        .migrator()
        .iter()
        .map(|migration| migration.version)
        .collect::<Vec<_>>();
    let recorded: Option<String> = sqlx::query_scalar("select pg_catalog.to_regclass($1)::text")
        .bind(owner.migration_table())
        .fetch_one(&mut session.connection)
        .await
        .map_err(session.failed("looking for the migrations"))?;
    let Some(_) = recorded else { return Ok(needed) };
    let statement = format!(
        "select needed from unnest($1::bigint[]) needed
         where needed not in (select version from {} where success) order by needed",
        owner.migration_table()
    );
    sqlx::query_scalar(AssertSqlSafe(statement))
        .bind(needed)
        .fetch_all(&mut session.connection)
        .await
        .map_err(session.failed("reading the migrations"))
}
