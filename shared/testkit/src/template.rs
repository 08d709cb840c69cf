//! The template that test databases are cloned from.

use anyhow::{Context, Result};
use conduit_runtime::database::{DatabaseSettings, DatabaseUrl, Owner, prepare};
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Row};

/// What every role logs in with.
pub(crate) const PASSWORD: &str = "for-tests-only";

const TEMPLATE: &str = "conduit_template";
const PREFIX: &str = "conduit_test_";

/// Where the numbers of each kind begin: so far apart that an identifier of the wrong kind never names anything.
const FIRST_IDS: [(&str, i64); 3] = [
    ("users.accounts", 1_000_000),
    ("articles.articles", 2_000_000),
    ("comments.comments", 3_000_000),
];

/// Makes the template anew, and drops what an earlier process has left.
pub(crate) async fn make(server: &DatabaseUrl) -> Result<()> {
    let mut maintenance = connect(server).await?;
    let left =
        sqlx::query("select datname from pg_catalog.pg_database where datname like $1 or datname = $2")
            .bind(format!("{PREFIX}%"))
            .bind(TEMPLATE)
            .fetch_all(&mut maintenance)
            .await?;
    for row in left {
        drop_database(server, row.try_get("datname")?).await?;
    }
    maintenance.close().await?;

    let url = server.with_database(TEMPLATE)?;
    let passwords = Owner::ALL.map(|owner| (owner, PASSWORD.into()));
    let settings = DatabaseSettings {
        create: true,
        passwords: passwords.into(),
        ..DatabaseSettings::new(Owner::Monolith)
    };
    prepare(&url, &settings).await?;
    let mut template = connect(&url).await?;
    for (table, first) in FIRST_IDS {
        run(
            &mut template,
            format!("alter table {table} alter column id restart with {first}"),
        )
        .await?;
    }
    // Nobody may be connected to a database that is cloned.
    Ok(template.close().await?)
}

/// Clones the template and returns the name of the clone.
pub(crate) async fn clone(server: &DatabaseUrl, number: usize) -> Result<String> {
    let name = format!("{PREFIX}{}_{number}", std::process::id());
    let mut maintenance = connect(server).await?;
    run(
        &mut maintenance,
        format!("create database {name} template {TEMPLATE} strategy file_copy"),
    )
    .await?;
    // The rights on a database are not cloned with it.
    let roles = Owner::ALL.map(Owner::role).join(", ");
    run(
        &mut maintenance,
        format!("revoke all on database {name} from public"),
    )
    .await?;
    run(
        &mut maintenance,
        format!("grant connect on database {name} to {roles}"),
    )
    .await?;
    maintenance.close().await?;
    Ok(name)
}

/// Drops a database with everybody in it.
pub(crate) async fn drop_database(server: &DatabaseUrl, name: &str) -> Result<()> {
    let mut maintenance = connect(server).await?;
    run(
        &mut maintenance,
        format!("drop database if exists {name} with (force)"),
    )
    .await?;
    Ok(maintenance.close().await?)
}

pub(crate) async fn connect(url: &DatabaseUrl) -> Result<PgConnection> {
    Ok(url.options()?.connect().await?)
}

/// The names in these statements are made here.
async fn run(connection: &mut PgConnection, statement: String) -> Result<()> {
    sqlx::raw_sql(AssertSqlSafe(statement.clone()))
        .execute(connection)
        .await
        .context(statement)?;
    Ok(())
}
