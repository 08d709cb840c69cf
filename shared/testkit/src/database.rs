//! A database per test.

use std::time::Duration;

use anyhow::Result;
use conduit_runtime::database::DatabaseUrl;
use conduit_store::db::{Db, DbSettings};
use sqlx::AssertSqlSafe;
use sqlx::postgres::PgConnection;

use crate::bulk::{Bulk, BulkIds};
use crate::cluster::{self, Cluster};
use crate::or_panic;
use crate::seed::Seed;
use crate::server::OwnServer;
use crate::template::{self, Keys, PASSWORD};

/// Longer than anything takes on a machine that does ten other things; a test that meets it has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// An empty, migrated database that goes when the value goes. Accounts count from 1,000,000, articles from 2,000,000, comments
/// from 3,000,000, so that an identifier of the wrong kind finds nothing.
///
/// All methods panic where the database cannot be reached.
pub struct TestDatabase {
    home: Home,
    url: DatabaseUrl,
}

/// Whose server a database is on.
enum Home {
    Shared(&'static Cluster),
    Own(Box<OwnServer>),
}

impl TestDatabase {
    /// A database with everything in it, the keys across owners included.
    pub async fn new() -> Self {
        or_panic(Self::create(Keys::All).await)
    }

    /// A database as the four services make it, where nothing holds the owners together.
    pub async fn without_shared_keys() -> Self {
        or_panic(Self::create(Keys::OwnOnly).await)
    }

    async fn create(keys: Keys) -> Result<Self> {
        let cluster = cluster::shared().await?;
        let url = cluster.make_database(keys).await?;
        Ok(Self {
            home: Home::Shared(cluster),
            url,
        })
    }

    /// A database with everything in it on a server of its own, which takes some seconds to make and can be stopped.
    pub async fn on_own_server() -> Self {
        let (server, url) = or_panic(OwnServer::with_database(Keys::All).await);
        Self {
            home: Home::Own(Box::new(server)),
            url,
        }
    }

    /// Ends all sessions and stops the server. Panics where other tests have it, too.
    pub async fn stop_server(&self) {
        or_panic(self.own_server().stop().await);
    }

    /// Starts the server again at the address that it had.
    pub async fn start_server(&self) {
        or_panic(self.own_server().start().await);
    }

    fn own_server(&self) -> &OwnServer {
        match &self.home {
            Home::Own(server) => server,
            Home::Shared(_) => panic!("the server is not this test's own"),
        }
    }

    /// The address to log in at as `users`, `profiles`, `articles`, `comments` or `monolith`.
    pub fn url(&self, owner: &str) -> DatabaseUrl {
        or_panic(
            self.url
                .with_login(&format!("conduit_{owner}"), PASSWORD)
                .map_err(Into::into),
        )
    }

    /// The superuser's address.
    pub fn admin_url(&self) -> &DatabaseUrl {
        &self.url
    }

    /// A superuser's connection, for looking behind the scenes.
    pub async fn admin(&self) -> PgConnection {
        or_panic(template::connect(&self.url).await)
    }

    /// A superuser's connection that takes statements as text, for crates that know no SQL.
    pub async fn session(&self) -> Session {
        Session(self.admin().await)
    }

    /// The settings of a patient pool of four connections.
    pub fn settings(&self, owner: &str) -> DbSettings {
        DbSettings {
            options: or_panic(self.url(owner).options().map_err(Into::into)),
            connections: 4,
            wait: PATIENCE,
            connect_timeout: PATIENCE,
            idle_ping_after: PATIENCE,
        }
    }

    /// A patient pool of four connections.
    pub fn db(&self, owner: &str) -> Db {
        Db::new(self.settings(owner)).with_limit(PATIENCE)
    }

    /// A session that holds these tables (comma-separated): whoever asks them anything waits until [`Session::let_go`].
    pub async fn holding(&self, tables: &str) -> Session {
        let mut session = self.session().await;
        session
            .run(&format!("begin; lock table {tables} in access exclusive mode"))
            .await;
        session
    }

    /// Puts many rows in at once, into a database without articles.
    pub async fn fill(&self, bulk: &Bulk) -> BulkIds {
        or_panic(bulk.fill(&mut self.admin().await).await)
    }

    /// Something to put accounts and articles in with.
    pub fn seed(&self) -> Seed {
        Seed::new(&self.db("monolith"))
    }
}

/// A superuser's connection; what it begins, it has to end. All methods panic where a statement fails.
pub struct Session(PgConnection);

impl Session {
    /// Runs statements.
    pub async fn run(&mut self, statements: &str) {
        let outcome = sqlx::raw_sql(AssertSqlSafe(statements))
            .execute(&mut self.0)
            .await;
        or_panic(outcome.map(drop).map_err(Into::into));
    }

    /// Ends what this session began, and with it its locks.
    pub async fn let_go(mut self) {
        self.run("rollback").await;
    }

    /// The rows of a statement with one `bigint` column.
    pub async fn numbers(&mut self, statement: &str) -> Vec<i64> {
        let query = sqlx::query_scalar(AssertSqlSafe(statement));
        or_panic(query.fetch_all(&mut self.0).await.map_err(Into::into))
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        if let Home::Shared(cluster) = self.home {
            cluster.drop_database(self.url.database());
        }
    }
}
