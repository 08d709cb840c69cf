//! The inventory: which boxes there are, what runs where, and what all of it shares.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use stack::Program;
use stack::nginx::{LoginLimit, Tls};

/// A deployment over several boxes, as a file in TOML describes it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Inventory {
    /// How the services ask each other.
    #[serde(default)]
    pub transport: Transport,
    /// The images' tag, for deployments with Docker: what is rolled out and rolled back.
    #[serde(default = "latest")]
    pub tag: String,
    /// The machines.
    pub boxes: Vec<Machine>,
    /// What runs where, one line for each process.
    pub copies: Vec<Line>,
    /// The way in.
    pub proxy: Proxy,
    /// Where the data are.
    pub database: Database,
    /// Further variables for every process, as `RUST_LOG`. They win over ours.
    #[serde(default)]
    pub variables: BTreeMap<String, String>,
}

/// How the services ask each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// HTTP/JSON.
    #[default]
    Http,
    /// gRPC.
    Grpc,
}

/// A machine.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// What it is called here: lower-case letters, digits, `-`.
    pub name: String,
    /// Where the other boxes reach it, on a network that strangers do not.
    pub address: Ipv4Addr,
    /// Its Docker context (`docker context create one --docker host=ssh://admin@one`).
    #[serde(default)]
    pub context: Option<String>,
}

/// One process.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// Which program.
    pub service: Program,
    /// On which box.
    #[serde(rename = "box")]
    pub machine: String,
    /// Its share of the service's requests, relative to the other copies.
    #[serde(default = "one")]
    pub weight: u32,
    /// Its public port; operations, internal HTTP and internal gRPC are at the three after it. The service's usual one if not given;
    /// a second copy on the same box needs its own.
    #[serde(default)]
    pub port: Option<u16>,
}

/// nginx.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Proxy {
    /// The box it runs on.
    #[serde(rename = "box")]
    pub machine: String,
    /// Where it listens, as its directive has it; `80` or `443` is every address of the box.
    pub listen: Vec<String>,
    /// Speak TLS.
    #[serde(default)]
    pub tls: Option<Tls>,
    /// Limit attempts to log in.
    #[serde(default)]
    pub login_limit: Option<LoginLimit>,
    /// A folder with a front end.
    #[serde(default)]
    pub static_folder: Option<PathBuf>,
    /// How long it keeps unused connections to the copies, if not for the usual 60 s; `CONDUIT_HTTP_KEEP_ALIVE` is longer.
    #[serde(default)]
    pub idle_milliseconds: Option<u32>,
}

/// PostgreSQL: on one of the boxes, or somebody else's.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Database {
    /// The box that it is started on; none where it is managed elsewhere.
    #[serde(default, rename = "box")]
    pub machine: Option<String>,
    /// Its host; that of its box if not given.
    #[serde(default)]
    pub host: Option<String>,
    /// Its port.
    #[serde(default = "postgres_port")]
    pub port: u16,
    /// The database's name.
    #[serde(default = "conduit")]
    pub name: String,
    /// How many connections it takes: its `max_connections`, which is set where it is started on a box.
    #[serde(default = "connections")]
    pub connections: usize,
    /// Further parameters of the URL, as `sslmode=verify-full`.
    #[serde(default)]
    pub options: String,
}

fn latest() -> String {
    "latest".to_owned()
}

fn one() -> u32 {
    1
}

fn postgres_port() -> u16 {
    5432
}

/// A change means a restart of the database, so there is room for the largest shipped layout twice.
fn connections() -> usize {
    200
}

/// As `CONDUIT_DATABASE_POOL_SIZE` has it by default.
const POOL: usize = 16;

/// For people, and what the server keeps for itself.
const OTHER_CONNECTIONS: usize = 10;

fn conduit() -> String {
    "conduit".to_owned()
}

impl Inventory {
    /// Reads and judges a file.
    ///
    /// # Errors
    /// The file cannot be read, or what [`Inventory::parse`] finds.
    pub fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
        Self::parse(&text).with_context(|| format!("the inventory {}", path.display()))
    }

    /// Reads and judges the text of a file.
    ///
    /// # Errors
    /// It is no inventory, or one that cannot be: unknown boxes, names that are taken twice, ports that collide, services missing.
    pub fn parse(text: &str) -> Result<Self> {
        let inventory: Self = toml::from_str(text)?;
        inventory.check()?;
        Ok(inventory)
    }

    /// The box of this name.
    ///
    /// # Errors
    /// There is none.
    pub fn machine(&self, name: &str) -> Result<&Machine> {
        self.boxes
            .iter()
            .find(|machine| machine.name == name)
            .with_context(|| format!("there is no box {name:?}"))
    }

    fn check(&self) -> Result<()> {
        let mut names = BTreeSet::new();
        for machine in &self.boxes {
            ensure!(
                is_word(&machine.name),
                "a box cannot be called {:?}",
                machine.name
            );
            ensure!(
                names.insert(&machine.name),
                "two boxes are called {:?}",
                machine.name
            );
            let context = machine.context.as_deref().unwrap_or("default");
            ensure!(is_word(context), "a Docker context cannot be called {context:?}");
        }
        ensure!(
            is_word(&self.tag.replace(['.', '_'], "-")),
            "an image cannot have the tag {:?}",
            self.tag
        );
        self.machine(&self.proxy.machine).context("the proxy")?;
        match (&self.database.machine, &self.database.host) {
            (Some(machine), _) => drop(self.machine(machine).context("the database")?),
            (None, host) => ensure!(host.is_some(), "the database has neither a box nor a host"),
        }
        self.check_connections()?;
        self.check_copies()
    }

    /// The pools of all processes fit, while one more is just being replaced.
    fn check_connections(&self) -> Result<()> {
        let pool = self.variables.get("CONDUIT_DATABASE_POOL_SIZE");
        let pool = pool.and_then(|text| text.parse().ok()).unwrap_or(POOL);
        let needed = pool * (self.copies.len() + 1) + OTHER_CONNECTIONS;
        let there = self.database.connections;
        ensure!(
            needed <= there,
            "{} pools of {pool} need {needed} connections and the database has {there}: lower CONDUIT_DATABASE_POOL_SIZE in \
             [variables], or raise `connections` of [database]",
            self.copies.len()
        );
        Ok(())
    }

    fn check_copies(&self) -> Result<()> {
        let services: BTreeSet<Program> = self.copies.iter().map(|line| line.service).collect();
        let all: BTreeSet<Program> = Program::ALL
            .into_iter()
            .filter(|one| *one != Program::Monolith)
            .collect();
        ensure!(
            services == [Program::Monolith].into() || services == all,
            "the copies are neither monoliths alone nor all four services"
        );
        let mut taken = BTreeSet::new();
        for line in &self.copies {
            let name = line.service.name();
            self.machine(&line.machine)
                .with_context(|| format!("a copy of {name}"))?;
            ensure!(
                line.weight > 0,
                "a copy of {name} on {} has no weight",
                line.machine
            );
            ensure!(
                line.service != Program::Monolith || line.weight == 1,
                "monoliths take turns: they have no weight"
            );
            let first = line.port();
            ensure!(
                first < u16::MAX - 3,
                "{name} on {} has no room for its ports",
                line.machine
            );
            for port in first..=first + 3 {
                ensure!(
                    taken.insert((&line.machine, port)),
                    "port {port} of the box {} is taken twice; give one of the copies another `port`",
                    line.machine
                );
            }
        }
        Ok(())
    }
}

impl Line {
    /// The first of its ports.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port.unwrap_or(match self.service {
            Program::Monolith => 3000,
            Program::Users => 3010,
            Program::Profiles => 3020,
            Program::Articles => 3030,
            Program::Comments => 3040,
        })
    }
}

impl Transport {
    /// As `CONDUIT_RPC_TRANSPORT` has it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Grpc => "grpc",
        }
    }
}

/// What can be part of a command, a file's name and a name of the system's.
fn is_word(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !text.is_empty() && text.len() <= 63 && !text.starts_with('-') && text.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPLIT: &str = include_str!("../one-service-per-box.toml");

    fn told(from: &str, to: &str) -> String {
        assert!(SPLIT.contains(from), "{from}");
        format!("{:#}", Inventory::parse(&SPLIT.replace(from, to)).unwrap_err())
    }

    #[test]
    fn what_cannot_be_is_refused() {
        assert!(
            told(
                r#"service = "users", box = "one""#,
                r#"service = "users", box = "nine""#
            )
            .contains("nine")
        );
        assert!(told(r#"{ name = "two","#, r#"{ name = "one","#).contains("two boxes"));
        assert!(told(r#"    { service = "users", box = "one" },"#, "").contains("all four"));
        assert!(
            told(
                r#"service = "users", box = "one""#,
                r#"service = "monolith", box = "one""#
            )
            .contains("all four")
        );
        assert!(
            told(
                r#"service = "profiles", box = "two""#,
                r#"service = "users", box = "one""#
            )
            .contains("all four")
        );
        assert!(
            told(
                r#"{ service = "users", box = "one" }"#,
                r#"{ service = "users", box = "one" }, { service = "users", box = "one" }"#
            )
            .contains("taken twice")
        );
        assert!(told(r#"box = "one" }"#, r#"box = "one", weight = 0 }"#).contains("no weight"));
        assert!(told(r#"context = "one""#, r#"context = "--host""#).contains("context"));
        assert!(told("[database]\nbox = \"database\"", "[database]").contains("neither a box nor a host"));
        assert!(
            told("box = \"database\"", "box = \"database\"\nconnections = 89")
                .contains("need 90 connections")
        );
        assert!(told("transport = \"http\"", "transport = \"http\"\nsecrets = 1").contains("secrets"));
    }
}
