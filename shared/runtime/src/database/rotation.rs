//! A second login for an owner. A role has one password, so changing that of a role in use refuses every process that still has the
//! old one; two logins that act as the same owner can take turns.

use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};

use super::session::Session;
use super::{DatabaseError, DatabaseUrl, Owner};

/// How long to try to reach the server.
const WAIT: Duration = Duration::from_secs(20);

/// What [`set_login`] runs, for administrators who do it by hand: the session's settings `conduit.owner`, `conduit.login` and
/// `conduit.password` are its arguments. They are quoted in the server, so that one that logs DDL logs no password.
pub const SET_LOGIN: &str = "
do $$
declare
  owner text := current_setting('conduit.owner');
  login text := current_setting('conduit.login');
  secret text := current_setting('conduit.password');
begin
  if not exists (select from pg_catalog.pg_roles where rolname = login) then
    execute format('create role %I login', login);
  end if;
  if login <> owner and not pg_catalog.pg_has_role(login, owner, 'member') then
    execute format('grant %I to %I', owner, login);
  end if;
  if secret = '' then
    execute format('alter role %I password null', login);
  else
    execute format('alter role %I login password %L', login, secret);
  end if;
end
$$";

/// Lets `login`, which is the owner's own role or another one, act as the owner with this password; with none it opens no door any
/// more. Sessions that exist go on. The owner's role must be there (`sql/roles.sql`), and `url` an administrator's.
///
/// # Errors
/// The server cannot be reached, or `url` may not manage roles.
pub async fn set_login(
    url: &DatabaseUrl,
    owner: Owner,
    login: &str,
    password: Option<&SecretString>,
) -> Result<(), DatabaseError> {
    let mut session = Session::open(url, WAIT).await?;
    let password = password.map_or("", |password| password.expose_secret());
    for (name, value) in [("owner", owner.role()), ("login", login), ("password", password)] {
        set_variable(&mut session, name, value).await?;
    }
    session.run("setting a login", SET_LOGIN).await?;
    session.close().await;
    Ok(())
}

async fn set_variable(session: &mut Session, name: &str, value: &str) -> Result<(), DatabaseError> {
    sqlx::query("select pg_catalog.set_config('conduit.' || $1, $2, false)")
        .bind(name)
        .bind(value)
        .execute(&mut session.connection)
        .await
        .map(drop)
        .map_err(session.failed("setting a login"))
}
