//! The parts of a process; clones share them.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::available_parallelism;
use std::time::Duration;

use anyhow::{Context, ensure};
use clap::Args;
use conduit_app::{PasswordSettings, PasswordStatus, Passwords, Readiness, Tokens};
use conduit_domain::Clock;
use conduit_runtime::settings::{DatabaseArgs, HttpArgs, LogArgs, TokenArgs, TokenSecrets};
use conduit_runtime::telemetry::DroppedEvents;
use conduit_runtime::{Database, SystemClock};
use conduit_store::db::{Db, DbSettings};
use conduit_web::{Metrics, Operations, PoolSize, PoolWaits};
use secrecy::ExposeSecret;

use crate::readiness::OwnStore;

/// Proxies and firewalls forget connections that are idle for some minutes.
const IDLE_PING_AFTER: Duration = Duration::from_secs(60);
/// A request that waits for its password to be hashed gives up in time to answer within its own deadline.
const SHARE_OF_DEADLINE: f64 = 0.75;

/// What can be set in every process.
#[derive(Args, Clone, Debug)]
pub struct CommonArgs {
    /// Ask the process that runs here with the same settings whether it is ready, and exit with 0 if it is; start nothing
    #[arg(long)]
    pub health: bool,
    /// The public API and the operations listener.
    #[command(flatten)]
    pub http: HttpArgs,
    /// Which PostgreSQL.
    #[command(flatten)]
    pub database: DatabaseArgs,
    /// What signs tokens.
    #[command(flatten)]
    pub tokens: TokenArgs,
    /// What is logged.
    #[command(flatten)]
    pub log: LogArgs,
}

/// What hashing a password costs; a stored hash keeps the cost it was made with.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Password hashing (argon2id)")]
pub struct HashingArgs {
    /// Memory of one hash in KiB
    #[arg(
        long,
        env = "CONDUIT_PASSWORD_MEMORY",
        value_name = "KIB",
        default_value = "19456"
    )]
    password_memory: u32,
    /// Passes over that memory
    #[arg(
        long,
        env = "CONDUIT_PASSWORD_PASSES",
        value_name = "COUNT",
        default_value = "2"
    )]
    password_passes: u32,
    /// Hashes at the same time [default: one per core]
    #[arg(long, env = "CONDUIT_PASSWORD_AT_ONCE", value_name = "COUNT")]
    password_at_once: Option<NonZeroUsize>,
}

/// What a process has once.
#[derive(Clone)]
pub struct Common {
    /// Issues and checks tokens.
    pub tokens: Tokens,
    /// The present.
    pub clock: Arc<dyn Clock>,
    /// Counts requests, shows pools.
    pub metrics: Metrics,
    /// How long a request may take.
    pub deadline: Duration,
    db: DbSettings,
    shares: Shares,
    secrets: Arc<TokenSecrets>,
    stopping: Arc<AtomicBool>,
    pools: Arc<AtomicUsize>,
}

/// How the connections of a process are shared out among its workers: all of them, and not one more.
#[derive(Clone, Copy)]
struct Shares {
    connections: NonZeroUsize,
    workers: NonZeroUsize,
}

impl Shares {
    /// How many a worker has; workers count from 0, and one that comes in place of another has that one's share.
    fn of(self, worker: usize) -> usize {
        let Self { connections, workers } = self;
        let more = worker % workers < connections.get() % workers;
        connections.get() / workers + usize::from(more)
    }
}

impl Common {
    /// Reads the settings; connects to nothing yet.
    ///
    /// # Errors
    /// A token secret that is missing or weak, a database URL that cannot be read, fewer connections than workers.
    pub fn new(args: &CommonArgs, database: &Database, workers: NonZeroUsize) -> anyhow::Result<Self> {
        let shares = Shares {
            connections: args.database.database_pool_size,
            workers,
        };
        ensure!(
            shares.connections >= workers,
            "CONDUIT_DATABASE_POOL_SIZE ({}) must not be less than CONDUIT_HTTP_WORKERS ({workers}): each worker has connections of \
             its own",
            shares.connections
        );
        let secrets = args.tokens.secrets(database.development_secret().as_deref())?;
        let previous: Vec<&[u8]> = secrets
            .previous
            .iter()
            .map(|secret| secret.expose_secret().as_bytes())
            .collect();
        let tokens = Tokens::new(
            secrets.current.expose_secret().as_bytes(),
            &previous,
            args.tokens.token_lifetime,
        )?;
        let db = DbSettings {
            options: database.url().options()?,
            connections: 1,
            wait: args.database.database_wait,
            connect_timeout: args.database.database_connect_timeout,
            idle_ping_after: IDLE_PING_AFTER,
        };
        Ok(Self {
            tokens,
            clock: Arc::new(SystemClock),
            metrics: Metrics::default(),
            deadline: args.http.request_deadline,
            db,
            shares,
            secrets: Arc::new(secrets),
            stopping: Arc::default(),
            pools: Arc::default(),
        })
    }

    /// Password hashing for this process, shown in the metrics.
    ///
    /// # Errors
    /// A cost outside what argon2 allows.
    pub fn passwords(&self, args: &HashingArgs) -> anyhow::Result<Passwords> {
        let settings = PasswordSettings {
            memory_kib: args.password_memory,
            passes: args.password_passes,
            at_once: args
                .password_at_once
                .or(available_parallelism().ok())
                .map_or(1, NonZeroUsize::get),
            longest_wait: self.deadline.mul_f64(SHARE_OF_DEADLINE),
        };
        let passwords =
            Passwords::new(settings).context("CONDUIT_PASSWORD_MEMORY or CONDUIT_PASSWORD_PASSES")?;
        let watched = passwords.clone();
        self.metrics.watch_pool("password-hashing", move || {
            let PasswordStatus {
                at_once,
                free,
                waiting,
                ..
            } = watched.status();
            PoolSize {
                size: at_once,
                available: free,
                waiting,
            }
        });
        let counted = passwords.clone();
        self.metrics.watch_count(
            "password_hashes",
            "Passwords hashed, to be kept or compared",
            move || counted.status().hashed,
        );
        Ok(passwords)
    }

    /// Shows in the metrics how many lines of the log were dropped because it did not keep up.
    pub fn watch_log(&self, dropped: DroppedEvents) {
        self.metrics.watch_count(
            "log_lines_dropped",
            "Lines of the log dropped because whoever takes them did not keep up",
            move || u64::try_from(dropped.count()).unwrap_or(u64::MAX),
        );
    }

    /// The pool of one worker, shown in the metrics. Call it inside the worker's runtime.
    pub fn worker_db(&self) -> Db {
        let worker = self.pools.fetch_add(1, Ordering::Relaxed);
        let db = Db::new(DbSettings {
            connections: self.shares.of(worker),
            ..self.db.clone()
        });
        let watched = db.clone();
        self.metrics.watch_pool(format!("worker-{worker}"), move || {
            let status = watched.status();
            PoolSize {
                size: status.size,
                available: status.available,
                waiting: status.waiting,
            }
        });
        let counted = db.clone();
        self.metrics.watch_waits(format!("worker-{worker}"), move || {
            let waits = counted.waits();
            PoolWaits {
                count: waits.count,
                total: waits.total,
            }
        });
        db
    }

    /// A single connection beside the workers' pools, for what must not queue behind requests.
    pub fn spare_db(&self) -> Db {
        Db::new(self.db.clone())
    }

    /// Ready while the store answers and nobody has asked us to stop.
    pub fn own_store(&self, db: Db) -> Arc<dyn Readiness> {
        Arc::new(OwnStore {
            db,
            stopping: Arc::clone(&self.stopping),
        })
    }

    /// The operations listener, which answers from the own store alone.
    pub fn operations(&self) -> Operations {
        Operations {
            readiness: self.own_store(self.spare_db()),
            deadline: self.deadline,
            metrics: self.metrics.clone(),
        }
    }

    /// From now on the process says that it is not ready, so that balancers look elsewhere.
    pub fn stopping(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    /// Where the token secret is kept, if it was not given.
    pub fn token_secret_file(&self) -> Option<&Path> {
        self.secrets.kept_in.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_share_all_connections_and_not_one_more() {
        for (connections, workers, expected) in [
            (5, 2, vec![3, 2]),
            (16, 1, vec![16]),
            (16, 3, vec![6, 5, 5]),
            (4, 4, vec![1, 1, 1, 1]),
        ] {
            let shares = Shares {
                connections: NonZeroUsize::new(connections).unwrap(),
                workers: NonZeroUsize::new(workers).unwrap(),
            };
            let all: Vec<usize> = (0..workers).map(|worker| shares.of(worker)).collect();
            assert_eq!(all, expected);
            assert_eq!(shares.of(workers), shares.of(0), "one in place of the first");
        }
    }
}
