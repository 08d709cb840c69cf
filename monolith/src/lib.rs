//! Conduit as one process: reads across areas are joins.
//!
//! [`build`] is the composition root, for `main` and for tests. What only the monolith has is in [`reads`]; everything else comes
//! from the shared crates. It must not contain a rule, a route or a write.

pub mod demo;
pub mod reads;
mod settings;

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread::available_parallelism;

use actix_web::dev::Server;
use conduit_app::{Articles, Comments, Passwords, Profiles, Users};
use conduit_process::Common;
use conduit_runtime::Database;
use conduit_runtime::database::Owner;
use conduit_runtime::process::{self, Listener};
use conduit_runtime::telemetry::DroppedEvents;
use conduit_store::db::Db;
use conduit_store::{ArticleStore, CommentStore, ProfileStore, UserStore};
use conduit_web::Api;
pub use settings::Settings;

use crate::reads::Joined;

/// A monolith that listens and serves nobody yet; [`Monolith::run`] makes it serve.
pub struct Monolith {
    servers: Vec<Server>,
    common: Common,
    database: Database,
    settings: Settings,
    public: String,
    operations: Option<String>,
}

/// Takes the addresses, opens and migrates the database, and puts the parts together.
///
/// # Errors
/// One sentence for the person who started the program: an address that is taken, a database that cannot be used, a setting that
/// is missing or refused. Never with a secret.
pub async fn build(settings: Settings) -> anyhow::Result<Monolith> {
    let http = &settings.common.http;
    let public = Listener::bind(&http.http_listen)?;
    let operations = http.ops_listen.0.as_ref().map(Listener::bind).transpose()?;
    let (public_address, operations_address) = (public.address(), operations.as_ref().map(Listener::address));
    if settings.common.database.url()?.is_some() {
        // Judged before the database is waited for: whoever forgot it shall hear of it at once.
        settings.common.tokens.secrets(None)?;
    }
    let database = Database::open(&settings.common.database, &settings.data, Owner::Monolith).await?;
    let cores = available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let workers = http.workers(cores.min(settings.common.database.database_pool_size));
    let common = Common::new(&settings.common, &database, workers)?;

    let (parts, passwords) = (common.clone(), common.passwords(&settings.passwords)?);
    if settings.demo {
        let db = common.spare_db();
        let filled = demo::fill(db.clone(), &api(&common, &passwords, db)).await?;
        tracing::info!(
            filled,
            accounts = "ada, grace, linus-the-baker, zoë",
            password = demo::PASSWORD,
            "demonstration"
        );
    }
    let serve_api =
        move |config: &mut _| conduit_web::configure(config, api(&parts, &passwords, parts.worker_db()));
    let mut servers = vec![process::serve(public, workers, http, serve_api)?];
    if let Some(listener) = operations {
        let parts = common.clone();
        let serve_operations = move |config: &mut _| conduit_web::operations(config, parts.operations());
        servers.push(process::serve(
            listener,
            NonZeroUsize::MIN,
            http,
            serve_operations,
        )?);
    }
    Ok(Monolith {
        servers,
        common,
        database,
        settings,
        public: public_address,
        operations: operations_address,
    })
}

/// The public API over one pool, a worker's own.
fn api(common: &Common, passwords: &Passwords, db: Db) -> Api {
    let joined = Arc::new(Joined::new(db.clone()));
    let clock = || Arc::clone(&common.clock);
    let users = Users::new(
        UserStore::new(db.clone()),
        passwords.clone(),
        common.tokens.clone(),
        clock(),
    );
    Api {
        tokens: common.tokens.clone(),
        clock: clock(),
        users: Some(users),
        profiles: Some(Profiles::new(joined.clone(), ProfileStore::new(db.clone()))),
        articles: Some(Articles::new(
            joined.clone(),
            ArticleStore::new(db.clone()),
            clock(),
        )),
        comments: Some(Comments::new(joined, CommentStore::new(db.clone()), clock())),
        readiness: common.own_store(db),
        deadline: common.deadline,
        metrics: common.metrics.clone(),
    }
}

impl Monolith {
    /// Where the public API is: `http://127.0.0.1:3000`, or `unix:/path`.
    pub fn address(&self) -> &str {
        &self.public
    }

    /// Where the operations listener is, unless it is off.
    pub fn operations_address(&self) -> Option<&str> {
        self.operations.as_deref()
    }

    /// Shows in the metrics how many lines of the log were dropped.
    pub fn watch_log(&self, dropped: DroppedEvents) {
        self.common.watch_log(dropped);
    }

    /// What to tell the person who started it, line by line.
    pub fn description(&self) -> Vec<String> {
        let mut lines = vec![format!(
            "Conduit serves at {} (to read and try: {}/docs)",
            self.public, self.public
        )];
        lines.extend(
            self.operations
                .as_ref()
                .map(|address| format!("operations: {address}/metrics")),
        );
        lines.push(self.database.description());
        let kept_in = self.common.token_secret_file();
        lines.extend(
            kept_in.map(|path| format!("token secret: {} (or set CONDUIT_TOKEN_SECRET)", path.display())),
        );
        lines
    }

    /// Serves until `stop` resolves, then finishes what is under way and stops an own PostgreSQL.
    ///
    /// # Errors
    /// That of a server that ended by itself.
    pub async fn run(self, stop: impl Future<Output = &'static str>) -> anyhow::Result<()> {
        let drain = self.settings.common.http.http_drain;
        let ended = process::run(self.servers, stop, drain, || self.common.stopping()).await;
        self.database.close().await?;
        Ok(ended?)
    }
}
