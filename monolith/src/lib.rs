//! Conduit as one process: reads across areas are joins.
//!
//! [`build`] is the composition root, for `main` and for tests. What only the monolith has is in [`reads`]; everything else comes
//! from the shared crates. It must not contain a rule, a route or a write.

pub mod reads;
mod settings;
mod worker;

use std::io;
use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use actix_web::dev::Server;
use anyhow::Context;
use conduit_runtime::database::Owner;
use conduit_runtime::Database;
use conduit_runtime::process::{self, Listener};
pub use settings::Settings;

use crate::worker::Parts;

/// A monolith that listens and serves nobody yet; [`Monolith::run`] makes it serve.
pub struct Monolith {
    servers: Vec<Server>,
    parts: Parts,
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
    let public = Listener::bind(&settings.http.http_listen)?;
    let operations = settings.http.ops_listen.0.as_ref().map(Listener::bind).transpose()?;
    let (public_address, operations_address) = (public.address(), operations.as_ref().map(Listener::address));
    let database = Database::open(&settings.database, &settings.data, Owner::Monolith).await?;
    let workers = settings.http.workers(available_parallelism().unwrap_or(NonZeroUsize::MIN));
    let parts = Parts::new(&settings, &database, workers).context("starting")?;

    let api = parts.clone();
    let mut servers =
        vec![process::serve(public, workers, &settings.http, move |config| conduit_web::configure(config, api.api()))?];
    if let Some(listener) = operations {
        let parts = parts.clone();
        let operations = move |config: &mut _| conduit_web::operations(config, parts.operations());
        servers.push(process::serve(listener, NonZeroUsize::MIN, &settings.http, operations)?);
    }
    Ok(Monolith { servers, parts, database, settings, public: public_address, operations: operations_address })
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

    /// What to tell the person who started it, line by line.
    pub fn description(&self) -> Vec<String> {
        let mut lines = vec![format!("Conduit serves at {} (try {}/docs)", self.public, self.public)];
        lines.extend(self.operations.as_ref().map(|address| format!("operations: {address}/metrics")));
        lines.push(self.database.description());
        let kept_in = self.parts.token_secret_file();
        lines.extend(kept_in.map(|path| format!("token secret: {} (or set CONDUIT_TOKEN_SECRET)", path.display())));
        lines
    }

    /// Serves until `stop` resolves, then finishes what is under way and stops an own PostgreSQL.
    ///
    /// # Errors
    /// That of a server that ended by itself.
    pub async fn run(self, stop: impl Future<Output = &'static str>) -> anyhow::Result<()> {
        let ended: io::Result<()> =
            process::run(self.servers, stop, self.settings.http.http_drain, || self.parts.stopping()).await;
        self.database.close().await?;
        Ok(ended?)
    }
}
