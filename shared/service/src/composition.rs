//! From settings to a running service.

use std::num::NonZeroUsize;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use actix_server::Server;
use conduit_app::{Articles, Comments, Profiles, Readiness, Users};
use conduit_process::Common;
use conduit_rpc::grpc::server::{Health, Routes, routes};
use conduit_rpc::{ArticlesApi, CallSettings, Counts, ProfilesApi, Secrets, Served, Transport, UsersApi};
use conduit_runtime::Database;
use conduit_runtime::database::Owner;
use conduit_runtime::process::{self, Listener};
use conduit_runtime::settings::DataArgs;
use conduit_runtime::telemetry::DroppedEvents;
use conduit_store::db::Db;
use conduit_web::Api;

use crate::per_worker::PerWorker;
use crate::server::Listeners;
use crate::settings::{Peering, ServiceArgs};

/// What a service is made from; clones share it.
#[derive(Clone)]
pub struct Parts {
    /// What every process has.
    pub common: Common,
    /// How peers are asked.
    pub calls: CallSettings,
    transport: Transport,
}

impl Parts {
    /// A peer over the transport that the settings choose. Call it inside the worker's runtime.
    pub fn connect(&self, peer: &Peering) -> conduit_rpc::Peers {
        peer.connect(self.transport, &self.calls)
    }
}

/// What one worker of a service answers with. Everything in it belongs to the worker's runtime.
pub struct Worker {
    /// The users area, in the users service.
    pub users: Option<Users>,
    /// The profiles area, in the profiles service.
    pub profiles: Option<Profiles>,
    /// The articles area, in the articles service.
    pub articles: Option<Articles>,
    /// The comments area, in the comments service.
    pub comments: Option<Comments>,
    /// What peers may ask of the users service.
    pub users_api: Option<Arc<dyn UsersApi>>,
    /// What peers may ask of the profiles service.
    pub profiles_api: Option<Arc<dyn ProfilesApi>>,
    /// What peers may ask of the articles service.
    pub articles_api: Option<Arc<dyn ArticlesApi>>,
    /// What the public `/readyz` depends on: the own store and every peer that is asked.
    pub readiness: Arc<dyn Readiness>,
}

impl Worker {
    /// A worker without areas.
    pub fn new(readiness: Arc<dyn Readiness>) -> Self {
        Self {
            users: None,
            profiles: None,
            articles: None,
            comments: None,
            users_api: None,
            profiles_api: None,
            articles_api: None,
            readiness,
        }
    }
}

/// What a worker has, in the shape that its listeners want.
struct Ready {
    worker: Worker,
    served: Served,
    routes: Rc<Routes>,
}

/// A service that listens and serves nobody yet; [`Service::run`] makes it serve.
pub struct Service {
    servers: Vec<Server>,
    parts: Parts,
    args: ServiceArgs,
    database: Database,
    background: Vec<Pin<Box<dyn Future<Output = ()>>>>,
    addresses: Addresses,
}

/// Where a service listens, each as `http://127.0.0.1:3010` or `unix:/path`; `None` for what is off.
#[derive(Clone, Debug)]
pub struct Addresses {
    /// The public API.
    pub public: String,
    /// Probes and metrics.
    pub operations: Option<String>,
    /// Peers over HTTP.
    pub internal_http: Option<String>,
    /// Peers over gRPC.
    pub internal_grpc: Option<String>,
}

/// Takes the addresses, opens the database as `owner` and migrates its schema, and serves what `assemble` makes for each worker.
/// `assemble` runs in each worker's thread, with that worker's pool.
///
/// # Errors
/// One sentence for the person who started the program, never with a secret.
pub async fn build(
    owner: Owner,
    args: ServiceArgs,
    assemble: impl Fn(&Parts, Db) -> Worker + Send + Sync + 'static,
) -> anyhow::Result<Service> {
    build_with(owner, args, |_| Ok(assemble)).await
}

/// As [`build`], for a service whose workers share something made once: `prepare` makes it, and returns what assembles a worker.
///
/// # Errors
/// As [`build`]; those of `prepare`.
pub async fn build_with<A>(
    owner: Owner,
    args: ServiceArgs,
    prepare: impl FnOnce(&Parts) -> anyhow::Result<A>,
) -> anyhow::Result<Service>
where
    A: Fn(&Parts, Db) -> Worker + Send + Sync + 'static,
{
    let http = &args.common.http;
    let public = Listener::bind(&http.http_listen)?;
    let bind =
        |address: &conduit_runtime::settings::ListenOrOff| address.0.as_ref().map(Listener::bind).transpose();
    let operations = bind(&http.ops_listen)?;
    let internal_http = bind(&args.internal.internal_http_listen)?;
    let internal_grpc = bind(&args.internal.internal_grpc_listen)?;
    let addresses = Addresses {
        public: public.address(),
        operations: operations.as_ref().map(Listener::address),
        internal_http: internal_http.as_ref().map(Listener::address),
        internal_grpc: internal_grpc.as_ref().map(Listener::address),
    };

    let secrets = args.internal.secrets()?;
    // Judged before the database is waited for: whoever forgot it shall hear of it at once.
    args.common.tokens.secrets(None)?;
    let database = Database::open(&args.common.database, &DataArgs::default(), owner).await?;
    let workers = http.workers(NonZeroUsize::MIN);
    let common = Common::new(&args.common, &database, workers)?;
    let counts = Arc::new(Counts::default());
    common.metrics.register(|registry| counts.register(registry));
    let calls = args.rpc.settings(secrets.current.clone(), Arc::clone(&counts))?;
    let parts = Parts {
        common,
        calls,
        transport: args.rpc.rpc_transport,
    };
    let assemble = prepare(&parts)?;

    let workers_parts = per_worker(
        parts.clone(),
        secrets,
        counts,
        args.internal.internal_grpc_reflection,
        assemble,
    );
    let mut listeners = Listeners::new(workers, http);
    let (api, here) = (parts.clone(), workers_parts.clone());
    listeners = listeners.http("public", public, parts.common.deadline, move |config| {
        conduit_web::configure(config, public_api(&api, &here.here().worker));
    })?;
    if let Some(listener) = internal_http {
        let here = workers_parts.clone();
        listeners = listeners.http("internal-http", listener, parts.common.deadline, move |config| {
            conduit_rpc::http::server::configure(config, here.here().served.clone());
        })?;
    }
    if let Some(listener) = internal_grpc {
        listeners = listeners.grpc("internal-grpc", listener, move || {
            Rc::clone(&workers_parts.here().routes)
        })?;
    }
    let mut servers = vec![listeners.run()];
    if let Some(listener) = operations {
        let common = parts.common.clone();
        let configure = move |config: &mut _| conduit_web::operations(config, common.operations());
        servers.push(process::serve(listener, NonZeroUsize::MIN, http, configure)?);
    }
    Ok(Service {
        servers,
        parts,
        args,
        database,
        background: Vec::new(),
        addresses,
    })
}

fn per_worker(
    parts: Parts,
    secrets: Secrets,
    counts: Arc<Counts>,
    reflection: bool,
    assemble: impl Fn(&Parts, Db) -> Worker + Send + Sync + 'static,
) -> PerWorker<Ready> {
    PerWorker::new(move || {
        let worker = assemble(&parts, parts.common.worker_db());
        let served = Served {
            users: worker.users_api.clone(),
            profiles: worker.profiles_api.clone(),
            articles: worker.articles_api.clone(),
            counts: Arc::clone(&counts),
            ..Served::new(secrets.clone())
        };
        let health = Health::default();
        let routes = Rc::new(routes(&served, &health, reflection));
        let offered = served.clone();
        actix_web::rt::spawn(async move { health.start_serving(&offered).await });
        Ready {
            worker,
            served,
            routes,
        }
    })
}

fn public_api(parts: &Parts, worker: &Worker) -> Api {
    Api {
        tokens: parts.common.tokens.clone(),
        clock: Arc::clone(&parts.common.clock),
        users: worker.users.clone(),
        profiles: worker.profiles.clone(),
        articles: worker.articles.clone(),
        comments: worker.comments.clone(),
        readiness: Arc::clone(&worker.readiness),
        deadline: parts.common.deadline,
        metrics: parts.common.metrics.clone(),
    }
}

impl Service {
    /// Where it listens.
    pub fn addresses(&self) -> &Addresses {
        &self.addresses
    }

    /// What it was made from.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// Shows in the metrics how many lines of the log were dropped.
    pub fn watch_log(&self, dropped: DroppedEvents) {
        self.parts.common.watch_log(dropped);
    }

    /// Work to be done beside requests, until the service stops.
    #[must_use]
    pub fn with_background(mut self, work: impl Future<Output = ()> + 'static) -> Self {
        self.background.push(Box::pin(work));
        self
    }

    /// What to tell the person who started it, line by line.
    pub fn description(&self) -> Vec<String> {
        let Addresses {
            public,
            operations,
            internal_http,
            internal_grpc,
        } = &self.addresses;
        let mut lines = vec![format!("serves at {public}")];
        let others = [
            ("operations", operations),
            ("internal HTTP", internal_http),
            ("internal gRPC", internal_grpc),
        ];
        lines.extend(
            others
                .into_iter()
                .filter_map(|(what, address)| Some(format!("{what}: {}", address.as_ref()?))),
        );
        lines.push(self.database.description());
        lines
    }

    /// Serves until `stop` resolves, then finishes what is under way.
    ///
    /// # Errors
    /// That of a server that ended by itself.
    pub async fn run(self, stop: impl Future<Output = &'static str>) -> anyhow::Result<()> {
        let drain = self.args.common.http.http_drain;
        let serving = process::run(self.servers, stop, drain, || self.parts.common.stopping());
        let mut background = futures_util::future::join_all(self.background);
        let mut serving = std::pin::pin!(serving);
        let ended = tokio::select! {
            ended = &mut serving => ended,
            _ = &mut background => serving.await,
        };
        self.database.close().await?;
        Ok(ended?)
    }
}
