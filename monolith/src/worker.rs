//! What the process has once, and what each of its workers makes of it.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::available_parallelism;
use std::time::Duration;

use async_trait::async_trait;
use conduit_app::{Articles, Comments, PasswordSettings, Passwords, Profiles, Readiness, Tokens, Users};
use conduit_domain::Clock;
use conduit_runtime::clock::SystemClock;
use conduit_runtime::Database;
use conduit_runtime::settings::TokenSecrets;
use conduit_store::db::{Db, DbSettings};
use conduit_store::{ArticleStore, CommentStore, ProfileStore, UserStore};
use conduit_web::{Api, Metrics, Operations, PoolSize};
use secrecy::ExposeSecret;

use crate::Settings;
use crate::reads::Joined;

/// A new connection, or the answer to a ping, that takes longer is given up.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// Proxies and firewalls forget connections that are idle for some minutes.
const IDLE_PING_AFTER: Duration = Duration::from_secs(60);

/// The parts of the process; clones share them.
#[derive(Clone)]
pub(crate) struct Parts {
    db: DbSettings,
    tokens: Tokens,
    secrets: Arc<TokenSecrets>,
    passwords: Passwords,
    clock: Arc<dyn Clock>,
    metrics: Metrics,
    deadline: Duration,
    stopping: Arc<AtomicBool>,
    pools: Arc<AtomicUsize>,
}

impl Parts {
    pub(crate) fn new(settings: &Settings, database: &Database, workers: NonZeroUsize) -> anyhow::Result<Self> {
        let secrets = settings.tokens.secrets(database.development_secret().as_deref())?;
        let previous: Vec<&[u8]> = secrets.previous.iter().map(|secret| secret.expose_secret().as_bytes()).collect();
        let current = secrets.current.expose_secret().as_bytes();
        let tokens = Tokens::new(current, &previous, settings.tokens.token_lifetime)?;
        let passwords = Passwords::new(PasswordSettings {
            at_once: available_parallelism().map_or(1, NonZeroUsize::get),
            // Long enough for a burst, short enough that the answer still comes before the deadline.
            longest_wait: settings.http.request_deadline.mul_f64(0.75),
        })?;
        let db = DbSettings {
            options: database.url().options()?,
            connections: settings.database.database_pool_size.get().div_ceil(workers.get()),
            wait: settings.database.database_wait,
            connect_timeout: CONNECT_TIMEOUT,
            idle_ping_after: IDLE_PING_AFTER,
        };
        Ok(Self {
            db,
            tokens,
            secrets: Arc::new(secrets),
            passwords,
            clock: Arc::new(SystemClock),
            metrics: Metrics::default(),
            deadline: settings.http.request_deadline,
            stopping: Arc::default(),
            pools: Arc::default(),
        })
    }

    /// The public API of one worker, with a pool of its own.
    pub(crate) fn api(&self) -> Api {
        let db = Db::new(self.db.clone());
        self.watch(db.clone());
        let joined = Arc::new(Joined::new(db.clone()));
        let clock = || Arc::clone(&self.clock);
        let users = Users::new(UserStore::new(db.clone()), self.passwords.clone(), self.tokens.clone(), clock());
        Api {
            tokens: self.tokens.clone(),
            clock: clock(),
            users: Some(users),
            profiles: Some(Profiles::new(joined.clone(), ProfileStore::new(db.clone()))),
            articles: Some(Articles::new(joined.clone(), ArticleStore::new(db.clone()), clock())),
            comments: Some(Comments::new(joined, CommentStore::new(db.clone()), clock())),
            readiness: Arc::new(OwnStore { db, stopping: Arc::clone(&self.stopping) }),
            deadline: self.deadline,
            metrics: self.metrics.clone(),
        }
    }

    /// The operations listener, with one connection of its own so that a probe never queues behind requests.
    pub(crate) fn operations(&self) -> Operations {
        let db = Db::new(DbSettings { connections: 1, ..self.db.clone() });
        Operations {
            readiness: Arc::new(OwnStore { db, stopping: Arc::clone(&self.stopping) }),
            deadline: self.deadline,
            metrics: self.metrics.clone(),
        }
    }

    /// From now on the process says that it is not ready, so that balancers look elsewhere.
    pub(crate) fn stopping(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    /// Where the token secret is kept, if it was not given.
    pub(crate) fn token_secret_file(&self) -> Option<&Path> {
        self.secrets.kept_in.as_deref()
    }

    fn watch(&self, db: Db) {
        let worker = self.pools.fetch_add(1, Ordering::Relaxed);
        self.metrics.watch_pool(format!("worker-{worker}"), move || {
            let status = db.status();
            PoolSize { size: status.size, available: status.available, waiting: status.waiting }
        });
    }
}

/// Ready while the store answers and nobody has asked us to stop.
struct OwnStore {
    db: Db,
    stopping: Arc<AtomicBool>,
}

#[async_trait]
impl Readiness for OwnStore {
    async fn ready(&self) -> bool {
        !self.stopping.load(Ordering::Relaxed) && self.db.ready().await
    }
}
