//! One PostgreSQL for all deployments of a run, with a database for each size, kept from run to run.

use std::collections::BTreeMap;
use std::net::TcpListener;

use anyhow::{Context, Result};
use conduit_runtime::database::{DatabaseSettings, DatabaseUrl, Owner, prepare};
use conduit_runtime::embedded::{Embedded, EmbeddedSettings};
use indicatif::ProgressBar;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection};
use url::Url;

use super::Surroundings;
use crate::account::budget::{Bounds, Group};
use crate::account::{Backends, Watched, Who};
use crate::plan::Plan;
use crate::results::{ProcessKind, Sockets};
use crate::seed::{Seeding, fill};

/// Enough for the processes of all layouts at once; plenty of log between two checkpoints, so that none falls into every cell.
const PARAMETERS: [(&str, &str); 4] = [
    ("max_connections", "900"),
    ("shared_buffers", "512MB"),
    ("max_wal_size", "8GB"),
    ("checkpoint_timeout", "30min"),
];

/// Where smoke checks leave what they make.
const SMOKE: &str = "conduit_bench_smoke";

/// The server.
pub(super) struct Cluster {
    embedded: Embedded,
    port: u16,
    seed: u64,
    progress: ProgressBar,
    _cores: Option<Group>,
}

impl Cluster {
    pub(super) async fn start(plan: &Plan, surroundings: &Surroundings) -> Result<Self> {
        let mut settings = EmbeddedSettings::new(surroundings.state.join("postgres"));
        let port = free_port()?;
        settings.port = Some(port);
        settings.parameters = PARAMETERS
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        let embedded = Embedded::start(&settings).await?;
        let cores = match &plan.load.database_cores {
            Some(cores) => Some(pinned(cores, embedded.process_id())?),
            None => None,
        };
        Ok(Self {
            embedded,
            port,
            seed: plan.seed,
            progress: surroundings.progress.clone(),
            _cores: cores,
        })
    }

    pub(super) async fn stop(self) -> Result<()> {
        self.embedded.stop().await.context("stopping PostgreSQL")
    }

    pub(super) fn watched(&self) -> Watched {
        Watched {
            name: "postgres".to_owned(),
            service: None,
            kind: ProcessKind::Database,
            who: Who::Family(self.embedded.process_id()),
        }
    }

    /// What every session has used so far.
    pub(super) fn backends(&self) -> Result<Backends> {
        Backends::of(self.embedded.process_id())
    }

    /// Which service each session in a database serves (`monolith`, `users`), by its process id.
    pub(super) async fn serves(&self, database: &str) -> Result<BTreeMap<i32, String>> {
        let mut connection = connect(&self.embedded.url()).await?;
        // The name is that of the role where a process takes its role from another login.
        let sessions: Vec<(i32, String)> = sqlx::query_as(
            "select pid, role
             from pg_stat_activity, unnest(array[usename::text, application_name]) as role
             where datname = $1 and role like 'conduit\\_%'",
        )
        .bind(database)
        .fetch_all(&mut connection)
        .await
        .context("asking PostgreSQL whom its sessions serve")?;
        connection.close().await?;
        let service = |role: &str| Owner::ALL.into_iter().find(|owner| owner.role() == role);
        let served = sessions
            .into_iter()
            .filter_map(|(pid, role)| Some((pid, service(&role)?.schema().to_owned())));
        Ok(served.collect())
    }

    /// As the server says it.
    pub(super) async fn version(&self) -> Result<String> {
        let mut connection = connect(&self.embedded.url()).await?;
        let version = sqlx::query_scalar("select current_setting('server_version')");
        Ok(version.fetch_one(&mut connection).await?)
    }

    /// A database with so many articles, filled if it is not.
    pub(super) async fn data(&self, articles: u64, sockets: Sockets) -> Result<DatabaseUrl> {
        let url = self.url_of(articles);
        if !self.is_filled(&url, articles).await? {
            self.fill(&url, articles).await?;
        }
        tidy(&url).await?;
        self.over(&url, sockets)
    }

    /// What a load has written and taken back is no burden for the next: dead rows and a map of visible pages that has lost its marks
    /// make every later read dearer, and a checkpoint costs whoever is measured when it comes.
    pub(super) async fn tidy(&self, articles: u64) -> Result<()> {
        tidy(&self.url_of(articles)).await
    }

    fn url_of(&self, articles: u64) -> DatabaseUrl {
        self.embedded
            .url_of(&format!("conduit_bench_{articles}_{}", self.seed))
    }

    async fn fill(&self, url: &DatabaseUrl, articles: u64) -> Result<()> {
        self.progress
            .set_message(format!("filling a database with {articles} articles"));
        let seeding = Seeding {
            articles,
            seed: self.seed,
            replace: true,
        };
        fill(url, &seeding, &ProgressBar::hidden())
            .await
            .with_context(|| format!("filling a database with {articles} articles"))?;
        Ok(())
    }

    /// An empty one for smoke checks.
    pub(super) async fn smoke(&self, sockets: Sockets) -> Result<DatabaseUrl> {
        let mut maintenance = connect(&self.embedded.url()).await?;
        for statement in [
            format!("drop database if exists {SMOKE} with (force)"),
            format!("create database {SMOKE}"),
        ] {
            sqlx::raw_sql(AssertSqlSafe(statement))
                .execute(&mut maintenance)
                .await?;
        }
        let url = self.embedded.url_of(SMOKE);
        prepare(&url, &DatabaseSettings::new(Owner::Monolith)).await?;
        self.over(&url, sockets)
    }

    /// Filled by an earlier run, and left as it was.
    async fn is_filled(&self, url: &DatabaseUrl, articles: u64) -> Result<bool> {
        let mut maintenance = connect(&self.embedded.url()).await?;
        let exists: bool = sqlx::query_scalar("select exists (select from pg_database where datname = $1)")
            .bind(url.database())
            .fetch_one(&mut maintenance)
            .await?;
        if !exists {
            return Ok(false);
        }
        // An older program's tables are brought up to date.
        prepare(url, &DatabaseSettings::new(Owner::Monolith)).await?;
        let mut connection = connect(url).await?;
        let total: i64 = sqlx::query_scalar("select articles from articles.article_total")
            .fetch_one(&mut connection)
            .await?;
        Ok(u64::try_from(total).is_ok_and(|total| total == articles))
    }

    fn over(&self, url: &DatabaseUrl, sockets: Sockets) -> Result<DatabaseUrl> {
        match sockets {
            Sockets::Unix => Ok(url.clone()),
            Sockets::Tcp => over_tcp(url, self.port),
        }
    }
}

async fn connect(url: &DatabaseUrl) -> Result<PgConnection> {
    url.options()?
        .connect()
        .await
        .with_context(|| format!("connecting to {url}"))
}

async fn tidy(url: &DatabaseUrl) -> Result<()> {
    let mut connection = connect(url).await?;
    for statement in ["vacuum (analyze)", "checkpoint"] {
        sqlx::raw_sql(statement)
            .execute(&mut connection)
            .await
            .context("tidying up after a load that wrote")?;
    }
    connection.close().await?;
    Ok(())
}

/// The same database through its port.
fn over_tcp(url: &DatabaseUrl, port: u16) -> Result<DatabaseUrl> {
    let mut changed = Url::parse(url.expose()).context("the database's address")?;
    changed.set_query(None);
    changed.set_host(Some("127.0.0.1"))?;
    if changed.set_port(Some(port)).is_err() {
        anyhow::bail!("the database's address takes no port");
    }
    Ok(changed.as_str().parse()?)
}

fn pinned(cores: &str, postmaster: u32) -> Result<Group> {
    let bounds = Bounds {
        millicores: None,
        cores: Some(cores.to_owned()),
    };
    let group = Group::make(&format!("conduit-bench-database-{}", std::process::id()), &bounds)?;
    for pid in crate::account::family(postmaster)? {
        group.add(pid)?;
    }
    Ok(group)
}

fn free_port() -> Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).context("looking for a free port")?;
    Ok(listener.local_addr()?.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_database_is_reached_through_its_port() {
        let url: DatabaseUrl = "postgres://postgres:s@localhost:5432/data?host=%2Frun%2Fpg"
            .parse()
            .unwrap();
        let changed = over_tcp(&url, 4711).unwrap();
        assert_eq!(changed.expose(), "postgres://postgres:s@127.0.0.1:4711/data");
    }
}
