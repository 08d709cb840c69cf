//! The templates that test databases are cloned from.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use conduit_runtime::database::{DatabaseSettings, DatabaseUrl, Owner, prepare};
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};

/// What every role logs in with.
pub(crate) const PASSWORD: &str = "for-tests-only";

const PREFIX: &str = "conduit_test";

/// Where the numbers of each kind begin: so far apart that an identifier of the wrong kind never names anything.
const FIRST_IDS: [(&str, i64); 3] = [
    ("users.accounts", 1_000_000),
    ("articles.articles", 2_000_000),
    ("comments.comments", 3_000_000),
];

/// Whether a database has the keys across owners.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Keys {
    /// As the monolith migrates it.
    All,
    /// As the four services do.
    OwnOnly,
}

impl Keys {
    fn template(self) -> &'static str {
        match self {
            Self::All => "conduit_test_template",
            Self::OwnOnly => "conduit_test_template_without_keys",
        }
    }

    fn logins(self) -> &'static [Owner] {
        match self {
            Self::All => &[Owner::Monolith],
            Self::OwnOnly => &[Owner::Users, Owner::Profiles, Owner::Articles, Owner::Comments],
        }
    }
}

/// The server as its superuser, with the templates made so far.
pub(crate) struct Templates {
    server: DatabaseUrl,
    maintenance: PgConnection,
    made: BTreeSet<Keys>,
    clones: usize,
}

impl Templates {
    /// Drops what an earlier process has left; the program may have other migrations by now.
    pub(crate) async fn open(server: DatabaseUrl) -> Result<Self> {
        let maintenance = connect(&server).await?;
        let mut templates = Self {
            server,
            maintenance,
            made: BTreeSet::new(),
            clones: 0,
        };
        let left: Vec<String> = sqlx::query_scalar(
            "select datname::text from pg_catalog.pg_database where starts_with(datname, $1)",
        )
        .bind(PREFIX)
        .fetch_all(&mut templates.maintenance)
        .await?;
        for name in left {
            templates.drop_database(&name).await?;
        }
        Ok(templates)
    }

    /// A new database, as the superuser reaches it.
    pub(crate) async fn clone_of(&mut self, keys: Keys) -> Result<DatabaseUrl> {
        let template = keys.template();
        if !self.made.contains(&keys) {
            self.make(keys)
                .await
                .with_context(|| format!("making {template}"))?;
            self.made.insert(keys);
        }
        self.clones += 1;
        let name = format!("{PREFIX}_{}", self.clones);
        self.run(format!(
            "create database {name} template {template} strategy file_copy"
        ))
        .await?;
        // The rights on a database are not cloned with it.
        let roles = Owner::ALL.map(Owner::role).join(", ");
        self.run(format!("revoke all on database {name} from public"))
            .await?;
        self.run(format!("grant connect on database {name} to {roles}"))
            .await?;
        Ok(self.server.with_database(&name)?)
    }

    /// Drops a database with everybody in it.
    pub(crate) async fn drop_database(&mut self, name: &str) -> Result<()> {
        self.run(format!("drop database if exists {name} with (force)"))
            .await
    }

    async fn make(&mut self, keys: Keys) -> Result<()> {
        let url = self.server.with_database(keys.template())?;
        for &login in keys.logins() {
            let passwords = Owner::ALL.map(|owner| (owner, PASSWORD.into())).into();
            prepare(
                &url,
                &DatabaseSettings {
                    create: true,
                    passwords,
                    ..DatabaseSettings::new(login)
                },
            )
            .await?;
        }
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

    async fn run(&mut self, statement: String) -> Result<()> {
        run(&mut self.maintenance, statement).await
    }
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
