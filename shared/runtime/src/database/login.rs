//! The URL that a process's pool logs in with.

use secrecy::ExposeSecret;

use super::session::Session;
use super::{DatabaseError, DatabaseSettings, DatabaseUrl, Owner};

/// The URL to work as `owner`, if there is a way: the given URL where it is the owner's own; one with the
/// owner's password where that is known; else the given login that takes the owner's role at once, with the
/// settings that come with that role (a server applies those of the login only). None where the login is no
/// member of the role.
pub(super) async fn url_of(
    owner: Owner,
    session: &mut Session,
    url: &DatabaseUrl,
    settings: &DatabaseSettings,
) -> Result<Option<DatabaseUrl>, DatabaseError> {
    let password = settings
        .passwords
        .iter()
        .find(|(whose, _)| *whose == owner)
        .map(|(_, password)| password);
    let (own, member) = relation(owner, session).await?;
    match (own, password, member) {
        (true, _, _) => Ok(Some(url.clone())),
        (false, Some(password), _) => Ok(Some(url.with_login(owner.role(), password.expose_secret())?)),
        (false, None, false) => Ok(None),
        (false, None, true) => {
            let role_settings = settings_of(owner, session).await?;
            let pairs = role_settings.iter().filter_map(|setting| setting.split_once('='));
            // Other sessions see the login alone, so the name says who it works for.
            let owner = [("role", owner.role()), ("application_name", owner.role())];
            Ok(Some(url.with_parameters(pairs.chain(owner))?))
        }
    }
}

/// Whether we are logged in as the owner, and whether we may become it.
async fn relation(owner: Owner, session: &mut Session) -> Result<(bool, bool), DatabaseError> {
    sqlx::query_as(
        "select rolname = session_user, pg_catalog.pg_has_role(session_user, oid, 'member')
         from pg_catalog.pg_roles
         where rolname = $1",
    )
    .bind(owner.role())
    .fetch_optional(&mut session.connection)
    .await
    .map(Option::unwrap_or_default)
    .map_err(session.failed("asking whom we may act as"))
}

async fn settings_of(owner: Owner, session: &mut Session) -> Result<Vec<String>, DatabaseError> {
    sqlx::query_scalar(
        "select unnest(setconfig)
         from pg_catalog.pg_db_role_setting
         where setrole = $1::regrole and setdatabase = 0",
    )
    .bind(owner.role())
    .fetch_all(&mut session.connection)
    .await
    .map_err(session.failed("reading a role's settings"))
}
