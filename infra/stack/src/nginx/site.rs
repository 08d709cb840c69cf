//! The variables of a rendering.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What stands behind nginx; each topology has its template.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Topology {
    /// One monolith.
    Single,
    /// Several monoliths that take turns.
    Replicas,
    /// One copy of each service.
    Split,
    /// The services, some in several copies with a share each.
    Rebalanced,
}

impl Topology {
    /// As in the template's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Replicas => "replicas",
            Self::Split => "split",
            Self::Rebalanced => "rebalanced",
        }
    }
}

/// The variables of a configuration.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Site {
    /// Where nginx listens, as its directive has it: `127.0.0.1:3000`, `80`, `[::]:443`.
    pub listen: Vec<String>,
    /// The copies of each service; `monolith` is one.
    pub services: BTreeMap<String, Vec<Copy>>,
    /// Where the process id and temporary files are kept.
    pub folder: PathBuf,
    /// A file, or `stderr`.
    #[serde(default = "stderr")]
    pub error_log: String,
    /// A file for a line of JSON per request; none by default, since the application writes one.
    #[serde(default)]
    pub access_log: Option<String>,
    /// The account of the worker processes where nginx is started by root.
    #[serde(default)]
    pub account: Option<Account>,
    /// How many worker processes; one per processor by default.
    #[serde(default)]
    pub workers: Option<u16>,
    /// The most connections of a worker process, to clients and services together.
    #[serde(default = "connections")]
    pub connections: u32,
    /// How many unused connections to each service a worker process keeps.
    #[serde(default = "idle_connections")]
    pub idle_connections: u32,
    /// For how long it keeps them, in milliseconds; shorter than the application does (`CONDUIT_HTTP_KEEP_ALIVE`, 75 s).
    #[serde(default = "idle_milliseconds")]
    pub idle_milliseconds: u32,
    /// For how many seconds a copy that could not be reached, or did not answer in time, is left out.
    #[serde(default = "rest_seconds")]
    pub rest_seconds: u32,
    /// The largest body that is passed on at all, in MiB; above the application's own limit.
    #[serde(default = "body_limit_megabytes")]
    pub body_limit_megabytes: u32,
    /// Speak TLS.
    #[serde(default)]
    pub tls: Option<Tls>,
    /// Limit attempts to log in.
    #[serde(default)]
    pub login_limit: Option<LoginLimit>,
    /// A folder with a front end, whose `index.html` answers all paths that are neither files nor the application's.
    #[serde(default)]
    pub static_folder: Option<PathBuf>,
}

/// One copy of a service.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Copy {
    /// Its public listener: `host:port` or `unix:/path`.
    pub address: String,
    /// Its share of the requests, relative to the other copies. Only the rebalanced topology looks at it.
    #[serde(default = "one")]
    pub weight: u32,
    /// It gets no requests: set it and reload before the copy is stopped.
    #[serde(default)]
    pub down: bool,
}

/// An account of the machine.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Account {
    /// Its name.
    pub user: String,
    /// Its group's name.
    pub group: String,
}

/// Files for TLS.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// The certificate and those that vouch for it, in PEM.
    pub certificate: PathBuf,
    /// The certificate's key, in PEM.
    pub key: PathBuf,
}

/// How often one client address may try to log in.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LoginLimit {
    /// Lasting rate.
    pub per_minute: u32,
    /// So many more at once.
    pub burst: u32,
}

impl Copy {
    /// The only copy, or one of several equal ones.
    #[must_use]
    pub fn new(address: impl Into<String>) -> Self {
        Self {
            address: address.into(),
            weight: 1,
            down: false,
        }
    }
}

impl Site {
    /// The defaults, with files in `folder`.
    #[must_use]
    pub fn new(
        listen: impl Into<String>,
        folder: impl Into<PathBuf>,
        services: BTreeMap<String, Vec<Copy>>,
    ) -> Self {
        Self {
            listen: vec![listen.into()],
            services,
            folder: folder.into(),
            error_log: stderr(),
            access_log: None,
            account: None,
            workers: None,
            connections: connections(),
            idle_connections: idle_connections(),
            idle_milliseconds: idle_milliseconds(),
            rest_seconds: rest_seconds(),
            body_limit_megabytes: body_limit_megabytes(),
            tls: None,
            login_limit: None,
            static_folder: None,
        }
    }
}

fn stderr() -> String {
    "stderr".to_owned()
}

fn connections() -> u32 {
    4096
}

fn idle_connections() -> u32 {
    64
}

fn idle_milliseconds() -> u32 {
    60_000
}

fn rest_seconds() -> u32 {
    5
}

fn body_limit_megabytes() -> u32 {
    8
}

fn one() -> u32 {
    1
}
