//! A deployment that is measured: up, bounded, watched.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use conduit_runtime::database::DatabaseUrl;
use stack::{DatabaseChoice, Layout, Options, ProxyChoice, ServiceInfo, Stack, nginx};

use super::Surroundings;
use crate::account::budget::{self, Bounds, Group as ControlGroup};
use crate::account::{Counters, Watched, Who};
use crate::load::World;
use crate::plan::{Group, Remote};
use crate::results::{self, Budget, DeployedProcess, ProcessKind, Variant};

/// Connections of each process at most; the programs' own default.
const POOL: u32 = 16;

/// A deployment that is measured.
pub(super) struct Deployment {
    pub(super) layout: String,
    pub(super) target: String,
    pub(super) world: World,
    /// The name of its database; none of one elsewhere.
    pub(super) database: Option<String>,
    stack: Option<Stack>,
    bounds: Vec<Pot>,
    idle: BTreeMap<String, u64>,
}

/// A control group, and who is in it.
struct Pot {
    members: Vec<String>,
    group: ControlGroup,
}

/// How a layout is started, for smoke checks and for measuring alike.
pub(super) fn options(
    group: &Group,
    layout: &str,
    url: &DatabaseUrl,
    surroundings: &Surroundings,
) -> Options {
    let state = surroundings.state.join("stacks").join(layout);
    let mut options = Options::new(state, surroundings.binaries.clone());
    options.database = DatabaseChoice::Given(url.clone());
    options.batching = group.batching;
    options.boxes = group.boxes;
    options.unix_sockets = group.sockets == results::Sockets::Unix;
    options.workers = Some(group.workers);
    options.proxy = match group.proxy {
        true => ProxyChoice::IfInstalled,
        false => ProxyChoice::Without,
    };
    options.binaries.build = false;
    // The same for all; one event for each request costs more than some requests do (performance page, rule 19).
    options.environment = vec![("RUST_LOG".to_owned(), "warn".to_owned())];
    let further = group
        .environment
        .iter()
        .map(|(name, value)| (name.clone(), value.clone()));
    options.environment.extend(further);
    options
}

impl Deployment {
    /// Starts a layout on a filled database. `used`: what each process used in an earlier cell, for a budget by measured share.
    pub(super) async fn up(
        layout: Layout,
        group: &Group,
        options: &Options,
        viewers: u64,
        used: &BTreeMap<String, u64>,
    ) -> Result<Self> {
        // Signing the viewers in has passwords hashed, and the memory for that is kept: what is measured has seen no log-in.
        let first = Stack::up(layout, options).await?;
        let world = World::discover(first.address(), viewers).await;
        first.down().await?;
        let world = world?;
        let stack = Stack::up(layout, options).await?;
        let mut deployment = Self {
            layout: layout.to_string(),
            target: stack.address().to_owned(),
            world,
            database: match &options.database {
                DatabaseChoice::Given(url) => Some(url.database().to_owned()),
                DatabaseChoice::Kept | DatabaseChoice::Temporary => None,
            },
            bounds: bounded(&stack, group, used)?,
            stack: Some(stack),
            idle: BTreeMap::new(),
        };
        for watched in deployment.watched() {
            deployment
                .idle
                .insert(watched.name.clone(), watched.memory_bytes()?);
        }
        Ok(deployment)
    }

    /// A deployment elsewhere.
    pub(super) async fn elsewhere(remote: &Remote, viewers: u64) -> Result<Self> {
        let world = World::discover(&remote.address, viewers)
            .await
            .with_context(|| format!("{} at {}", remote.name, remote.address))?;
        Ok(Self {
            layout: remote.name.clone(),
            target: remote.address.clone(),
            world,
            database: None,
            stack: None,
            bounds: Vec::new(),
            idle: BTreeMap::new(),
        })
    }

    /// Its processes, as far as they are here.
    pub(super) fn watched(&self) -> Vec<Watched> {
        let Some(stack) = &self.stack else {
            return Vec::new();
        };
        let of = |service: ServiceInfo| {
            Some(Watched {
                service: Some(program(&service.name).to_owned()),
                kind: ProcessKind::App,
                who: Who::One(service.pid?),
                name: service.name,
            })
        };
        let mut watched: Vec<Watched> = stack.services().into_iter().filter_map(of).collect();
        if let Some(pid) = stack.summary().proxy.and_then(|proxy| proxy.pid) {
            watched.push(Watched {
                name: "nginx".to_owned(),
                service: None,
                kind: ProcessKind::Proxy,
                who: Who::Family(pid),
            });
        }
        watched
    }

    /// Resident memory of a process before its first load; 0 for one that is no part of it.
    pub(super) fn idle_bytes(&self, name: &str) -> u64 {
        self.idle.get(name).copied().unwrap_or(0)
    }

    /// Remembers what the database has before this deployment's first load.
    pub(super) fn remember_idle(&mut self, database: &Watched) -> Result<()> {
        self.idle.insert(database.name.clone(), database.memory_bytes()?);
        Ok(())
    }

    /// What its processes count themselves; none for one elsewhere.
    pub(super) async fn counters(&self) -> Result<Option<Counters>> {
        let Some(stack) = &self.stack else { return Ok(None) };
        let listeners: Vec<String> = stack
            .services()
            .into_iter()
            .map(|service| service.operations)
            .collect();
        Counters::of(&listeners).await.map(Some)
    }

    /// Whether its services call each other.
    pub(super) fn has_peers(&self) -> bool {
        self.stack.as_ref().is_some_and(|stack| {
            stack
                .services()
                .iter()
                .any(|service| program(&service.name) != "monolith")
        })
    }

    /// How long each process was held back so far; one pot counts at its first process.
    pub(super) fn throttled_us(&self) -> Result<BTreeMap<String, u64>> {
        self.bounds
            .iter()
            .filter_map(|pot| Some((pot.members.first()?, &pot.group)))
            .map(|(name, group)| Ok((name.clone(), group.throttled_us()?)))
            .collect()
    }

    /// Who ended without being told to. They are started again within their bounds, for the next cell.
    pub(super) async fn ended(&mut self) -> Vec<String> {
        let Some(stack) = &mut self.stack else {
            return Vec::new();
        };
        let mut ended = stack.ended();
        let gone: Vec<String> = stack
            .services()
            .into_iter()
            .filter(|service| service.pid.is_none())
            .map(|service| service.name)
            .collect();
        for name in gone {
            if let Err(error) = start_again(stack, &name, &self.bounds).await {
                ended.push(format!("{name} cannot be started again: {error:#}"));
            }
        }
        ended
    }

    /// For the run's record.
    pub(super) fn described(
        &self,
        variant: &Variant,
        group: &Group,
        checks: Option<u32>,
    ) -> results::Deployment {
        let services = self.stack.as_ref().map(Stack::services).unwrap_or_default();
        let transport = |service: &ServiceInfo| match program(&service.name) {
            "monolith" | "users" => None,
            name => Some(transport(&self.layout, name).to_owned()),
        };
        results::Deployment {
            layout: self.layout.clone(),
            variant: variant.clone(),
            proxy: (group.proxy && self.stack.is_some()).then(proxy_version),
            processes: services
                .iter()
                .map(|service| DeployedProcess {
                    name: service.name.clone(),
                    workers: u32::try_from(group.workers.get()).unwrap_or(u32::MAX),
                    pool: POOL,
                    transport: transport(service),
                })
                .collect(),
            checks,
        }
    }

    pub(super) async fn down(self) -> Result<()> {
        drop(self.bounds);
        match self.stack {
            Some(stack) => stack.down().await,
            None => Ok(()),
        }
    }
}

async fn start_again(stack: &mut Stack, name: &str, bounds: &[Pot]) -> Result<()> {
    stack.start_service(name).await?;
    let services = stack.services();
    let pid = services
        .iter()
        .find(|service| service.name == name)
        .and_then(|service| service.pid);
    let pot = bounds
        .iter()
        .find(|pot| pot.members.iter().any(|member| member == name));
    match (pot, pid) {
        (Some(pot), Some(pid)) => pot.group.add(pid),
        _ => Ok(()),
    }
}

/// The program that a process runs: `articles-2` is `articles`.
fn program(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit())
        .trim_end_matches('-')
}

/// As `stack` sets it for the layout (profiles and comments ask over gRPC in a mixed split).
fn transport(layout: &str, program: &str) -> &'static str {
    match (layout.ends_with("grpc"), layout.ends_with("mixed"), program) {
        (true, ..) | (_, true, "profiles" | "comments") => "grpc",
        _ => "http",
    }
}

fn proxy_version() -> String {
    let said =
        nginx::installed().and_then(|program| std::process::Command::new(program).arg("-v").output().ok());
    let said = said.map(|output| String::from_utf8_lossy(&output.stderr).trim().to_owned());
    said.and_then(|text| {
        text.rsplit_once("version: ")
            .map(|(_, version)| version.to_owned())
    })
    .unwrap_or_else(|| "nginx".to_owned())
}

/// Puts the processes into control groups, where the plan asks for it.
fn bounded(stack: &Stack, group: &Group, used: &BTreeMap<String, u64>) -> Result<Vec<Pot>> {
    let services: Vec<(String, u32)> = stack
        .services()
        .into_iter()
        .filter_map(|service| Some((service.name, service.pid?)))
        .collect();
    let shares: Vec<Option<u32>> = match (group.budget, &group.cores) {
        (None, None) => return Ok(Vec::new()),
        (None, Some(_)) => vec![None],
        (Some(budget), _) => divided(budget, &services, used)?.into_iter().map(Some).collect(),
    };
    let pots = shares.len();
    let mut groups = Vec::new();
    for (number, millicores) in shares.into_iter().enumerate() {
        let members = match pots {
            1 => services.as_slice(),
            _ => services
                .get(number..=number)
                .context("a process for each share")?,
        };
        let Some((first, _)) = members.first() else {
            bail!("there is no process to bound");
        };
        let bounds = Bounds {
            millicores,
            cores: group.cores.clone(),
        };
        let name = format!(
            "conduit-bench-{}-{}-{first}",
            std::process::id(),
            stack.summary().layout
        );
        let pot = ControlGroup::make(&name, &bounds)?;
        for (_, pid) in members {
            pot.add(*pid)?;
        }
        groups.push(Pot {
            members: members.iter().map(|(name, _)| name.clone()).collect(),
            group: pot,
        });
    }
    Ok(groups)
}

fn divided(budget: Budget, services: &[(String, u32)], used: &BTreeMap<String, u64>) -> Result<Vec<u32>> {
    let used: Vec<u64> = services
        .iter()
        .filter_map(|(name, _)| used.get(name).copied())
        .collect();
    budget::shares(
        budget.millicores,
        budget.split,
        u32::try_from(services.len())?,
        &used,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_the_same_program() {
        assert_eq!(program("articles-2"), "articles");
        assert_eq!(program("monolith"), "monolith");
        assert_eq!(program("monolith-4"), "monolith");
    }

    #[test]
    fn a_mixed_split_mixes_as_stack_does() {
        let mixed = |program| transport("split-mixed", program);
        assert_eq!(
            [mixed("profiles"), mixed("articles"), mixed("comments")],
            ["grpc", "http", "grpc"]
        );
        assert_eq!(transport("split-rebalanced-grpc", "articles"), "grpc");
        assert_eq!(transport("split-http", "comments"), "http");
    }
}
