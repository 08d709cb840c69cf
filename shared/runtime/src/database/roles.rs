//! Roles, schemas and passwords.

use secrecy::{ExposeSecret, SecretString};
use sqlx::AssertSqlSafe;
use sqlx::Executor;

use super::session::Session;
use super::{DatabaseError, DatabaseSettings, DatabaseUrl, Owner};

/// The lock for everything that is the cluster's rather than a database's. Any constant will do; this is
/// "conduit" and a number.
const CLUSTER_LOCK: i64 = 0x63_6f_6e_64_75_69_74_01;

/// The database that every cluster has. Locks are kept per database, so all processes must take theirs in the
/// same one.
const MAINTENANCE: &str = "postgres";

/// `sql/roles.sql`: the roles, the schemas, and who may do what.
pub const ROLES: &str = include_str!("../../../../sql/roles.sql");

const INSUFFICIENT_PRIVILEGE: &str = "42501";

/// Makes the database where it is missing and `create` asks for it, then the roles and schemas where we may,
/// else sees that they are there.
pub(super) async fn prepare(
    url: &DatabaseUrl,
    settings: &DatabaseSettings,
) -> Result<Session, DatabaseError> {
    if settings.create {
        let mut maintenance = locked_maintenance(url, settings).await?;
        create_database(&mut maintenance, url.database()).await?;
        let mut session = Session::open(url, settings.wait).await?;
        apply(&mut session, url, settings).await?;
        maintenance.close().await;
        return Ok(session);
    }
    let mut session = Session::open(url, settings.wait).await?;
    if !may_manage_roles(&mut session).await? {
        let cause = "it has neither SUPERUSER nor CREATEROLE";
        return if are_there(&mut session, settings.login).await? {
            Ok(session)
        } else {
            Err(missing(url, cause)?)
        };
    }
    match locked_maintenance(url, settings).await {
        Ok(maintenance) => {
            apply(&mut session, url, settings).await?;
            maintenance.close().await;
        }
        // Some providers close the maintenance database even to administrators; the lock in our own is the next
        // best.
        Err(DatabaseError::Refused { .. }) => {
            session.lock(CLUSTER_LOCK).await?;
            apply(&mut session, url, settings).await?;
        }
        Err(error) => return Err(error),
    }
    Ok(session)
}

async fn locked_maintenance(
    url: &DatabaseUrl,
    settings: &DatabaseSettings,
) -> Result<Session, DatabaseError> {
    let mut session = Session::open(&url.with_database(MAINTENANCE)?, settings.wait).await?;
    session.lock(CLUSTER_LOCK).await?;
    Ok(session)
}

async fn create_database(session: &mut Session, name: &str) -> Result<(), DatabaseError> {
    let statement: Option<String> = sqlx::query_scalar(
        "select format('create database %I', $1) where not exists (select from pg_catalog.pg_database where datname = $1)",
    )
    .bind(name)
    .fetch_optional(&mut session.connection)
    .await
    .map_err(session.failed("looking for the database"))?;
    match statement {
        None => Ok(()),
        // The server itself has quoted the name.
        Some(statement) => session
            .connection
            .execute(AssertSqlSafe(statement))
            .await
            .map(drop)
            .map_err(session.failed("creating the database")),
    }
}

async fn may_manage_roles(session: &mut Session) -> Result<bool, DatabaseError> {
    sqlx::query_scalar(
        "select rolsuper or rolcreaterole from pg_catalog.pg_roles where rolname = current_user",
    )
    .fetch_one(&mut session.connection)
    .await
    .map_err(session.failed("asking what our role may do"))
}

async fn are_there(session: &mut Session, login: Owner) -> Result<bool, DatabaseError> {
    let needed = login.uses();
    let roles: Vec<&str> = needed.iter().map(|owner| owner.role()).collect();
    let schemas: Vec<&str> = needed.iter().map(|owner| owner.schema()).collect();
    sqlx::query_scalar(
        "select not exists (select unnest($1::text[]) except select rolname::text from pg_catalog.pg_roles)
            and not exists (select unnest($2::text[]) except select nspname::text from pg_catalog.pg_namespace)",
    )
    .bind(roles)
    .bind(schemas)
    .fetch_one(&mut session.connection)
    .await
    .map_err(session.failed("looking for the roles and schemas"))
}

fn missing(url: &DatabaseUrl, cause: &str) -> Result<DatabaseError, DatabaseError> {
    let options = url.options()?;
    let host = options.get_socket().map_or_else(
        || options.get_host().to_owned(),
        |folder| folder.display().to_string(),
    );
    Ok(DatabaseError::RolesMissing {
        target: url.to_string(),
        user: options.get_username().to_owned(),
        cause: cause.to_owned(),
        host,
        port: options.get_port(),
        database: url.database().to_owned(),
    })
}

/// Under the lock. The statements are one transaction: all or nothing.
async fn apply(
    session: &mut Session,
    url: &DatabaseUrl,
    settings: &DatabaseSettings,
) -> Result<(), DatabaseError> {
    match session.run("applying sql/roles.sql", ROLES).await {
        Ok(()) => {}
        Err(DatabaseError::Statement { source, .. }) if is_forbidden(&source) => {
            if !are_there(session, settings.login).await? {
                return Err(missing(url, &source.to_string())?);
            }
            tracing::warn!(cause = %source, "the roles are there but could not be brought up to date; an administrator may run sql/roles.sql");
        }
        Err(error) => return Err(error),
    }
    for (owner, password) in &settings.passwords {
        set_password(session, *owner, password).await?;
    }
    Ok(())
}

fn is_forbidden(error: &sqlx::Error) -> bool {
    error
        .as_database_error()
        .and_then(sqlx::error::DatabaseError::code)
        .as_deref()
        == Some(INSUFFICIENT_PRIVILEGE)
}

/// The password goes to the server as a parameter and is quoted there, inside a block, so that a server that
/// logs DDL does not log it.
async fn set_password(
    session: &mut Session,
    owner: Owner,
    password: &SecretString,
) -> Result<(), DatabaseError> {
    set_variable(session, password.expose_secret()).await?;
    let role = owner.role();
    let statement = format!(
        "do $$ begin
           execute format('alter role {role} with login password %L', current_setting('conduit.password'));
         end $$"
    );
    let altered = session.connection.execute(AssertSqlSafe(statement)).await;
    altered.map_err(session.failed("setting a password"))?;
    set_variable(session, "").await
}

async fn set_variable(session: &mut Session, value: &str) -> Result<(), DatabaseError> {
    sqlx::query("select pg_catalog.set_config('conduit.password', $1, false)")
        .bind(value)
        .execute(&mut session.connection)
        .await
        .map(drop)
        .map_err(session.failed("setting a password"))
}
