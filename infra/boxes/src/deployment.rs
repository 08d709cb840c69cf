//! What is deployed, and how it becomes something else without a failed request.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use stack::nginx::Site;
use stack::{Program, write_private};

use crate::inventory::Inventory;
use crate::plan::{self, Unit};
use crate::runner::Runner;
use crate::secrets::{Logins, Secrets};

/// Where nginx keeps its files, unless the runner knows better.
const NGINX_FOLDER: &str = "/run/nginx";

/// A deployment over several boxes.
#[derive(Debug)]
pub struct Deployment {
    pub(crate) runner: Runner,
    pub(crate) secrets: Secrets,
    /// The inventory with the boxes' real addresses.
    settled: Option<Inventory>,
    running: BTreeMap<String, Running>,
    /// The unit that is being restarted: it gets no requests.
    down: BTreeSet<String>,
    /// The file that remembers what runs, for whoever deploys next.
    record: Option<PathBuf>,
    keep_leftovers: bool,
}

/// A process as it was started.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Running {
    pub(crate) unit: Unit,
    pub(crate) tag: String,
    pub(crate) environment: BTreeMap<String, String>,
}

impl Running {
    /// What was started.
    #[must_use]
    pub fn unit(&self) -> &Unit {
        &self.unit
    }
}

impl Deployment {
    /// A deployment that begins with nothing.
    #[must_use]
    pub fn new(runner: Runner, secrets: Secrets) -> Self {
        Self {
            runner,
            secrets,
            settled: None,
            running: BTreeMap::new(),
            down: BTreeSet::new(),
            record: None,
            keep_leftovers: false,
        }
    }

    /// A deployment that goes on with what an earlier one has left, as the file remembers it, and with `remember` goes on remembering
    /// there.
    ///
    /// # Errors
    /// The file is there and holds something else, or the inventory has no place for what the runner needs.
    pub fn resume(
        runner: Runner,
        secrets: Secrets,
        record: PathBuf,
        remember: bool,
        inventory: &Inventory,
    ) -> Result<Self> {
        let mut deployment = Self::new(runner, secrets);
        deployment.settled = Some(deployment.runner.settle(inventory)?);
        deployment.running = match fs::read_to_string(&record) {
            Ok(text) => {
                serde_json::from_str(&text).with_context(|| format!("reading {}", record.display()))?
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => return Err(error).with_context(|| format!("reading {}", record.display())),
        };
        deployment.record = remember.then_some(record);
        Ok(deployment)
    }

    fn remember(&self) -> Result<()> {
        let Some(record) = &self.record else { return Ok(()) };
        write_private(record, &serde_json::to_string_pretty(&self.running)?)
            .with_context(|| format!("writing {}", record.display()))
    }

    /// The secrets that are deployed, or will be with the next deployment.
    #[must_use]
    pub fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// What runs, by name.
    #[must_use]
    pub fn running(&self) -> &BTreeMap<String, Running> {
        &self.running
    }

    /// Whether a deployment leaves running what has no line any more, to be looked at; the next one without it stops it.
    pub fn keep_leftovers(&mut self, keep: bool) {
        self.keep_leftovers = keep;
    }

    /// The runner, when the rest is not needed any more.
    #[must_use]
    pub fn into_runner(self) -> Runner {
        self.runner
    }

    /// The runner, for what only one of them can do.
    pub fn runner(&mut self) -> &mut Runner {
        &mut self.runner
    }

    /// The public address, once something is deployed.
    ///
    /// # Errors
    /// Nothing is deployed, or the proxy listens nowhere.
    pub fn address(&self) -> Result<String> {
        let inventory = self.inventory()?;
        let front = inventory.machine(&inventory.proxy.machine)?.address;
        let listen = inventory
            .proxy
            .listen
            .first()
            .context("the proxy listens nowhere")?;
        let port = listen.rsplit(':').next().unwrap_or(listen);
        let scheme = if inventory.proxy.tls.is_some() {
            "https"
        } else {
            "http"
        };
        Ok(format!("{scheme}://{front}:{port}"))
    }

    fn inventory(&self) -> Result<&Inventory> {
        self.settled.as_ref().context("nothing is deployed yet")
    }

    /// Makes the boxes what the inventory says: the database, then users, profiles, articles, comments, then nginx. What runs as it
    /// should is left alone; what has to change is restarted copy by copy, out of nginx's sight where another copy goes on; what has no
    /// line any more is stopped at the end.
    ///
    /// # Errors
    /// One sentence for whoever started it. What was done stays done: deploying again goes on from there.
    pub async fn deploy(&mut self, wanted: &Inventory) -> Result<()> {
        let inventory = self.runner.settle(wanted)?;
        let units = plan::units(&inventory)?;
        self.settled = Some(inventory.clone());
        self.runner
            .database(&inventory, &self.secrets)
            .await
            .context("the database")?;
        self.runner
            .set_logins(&inventory, &self.secrets.logins)
            .await
            .context("the database's logins")?;
        for unit in &units {
            let wanted = Running {
                unit: unit.clone(),
                tag: inventory.tag.clone(),
                environment: plan::environment(&inventory, &units, unit, &self.secrets)?,
            };
            if self.running.get(&unit.name) != Some(&wanted) {
                self.put(wanted).await?;
            }
        }
        let site = plan::site(&inventory, &units, &self.down, Path::new(NGINX_FOLDER));
        self.front(site).await?;
        if self.keep_leftovers {
            return Ok(());
        }
        self.stop_all_but(&units).await
    }

    /// Lets these logins to the database open no door any more.
    pub(crate) async fn lock_logins(&mut self, inventory: &Inventory, mut logins: Logins) -> Result<()> {
        for login in logins.values_mut() {
            login.password.clear();
        }
        let settled = self.runner.settle(inventory)?;
        self.runner
            .set_logins(&settled, &logins)
            .await
            .context("the database's logins")
    }

    /// Restarts all copies of a service, one after the other. No request fails where there are several copies.
    ///
    /// # Errors
    /// There is no such service, or, unless an `outage` is allowed, it has a single copy.
    pub async fn rolling_restart(&mut self, service: Program, outage: bool) -> Result<()> {
        let copies: Vec<Running> = self
            .running
            .values()
            .filter(|running| running.unit.program == service)
            .cloned()
            .collect();
        let name = service.name();
        ensure!(!copies.is_empty(), "no copy of {name} is deployed");
        ensure!(
            outage || copies.len() > 1,
            "{name} has a single copy, so requests would fail while it restarts: add a line to the inventory and deploy it first, or \
             say --allow-outage"
        );
        for copy in copies {
            self.put(copy).await?;
        }
        self.front_of_running().await
    }

    /// Starts or restarts one unit, out of nginx's sight where another copy goes on meanwhile.
    async fn put(&mut self, wanted: Running) -> Result<()> {
        let name = wanted.unit.name.clone();
        let others = self.running.values().any(|other| {
            other.unit.program == wanted.unit.program
                && other.unit.name != name
                && !self.down.contains(&other.unit.name)
        });
        let known = self.running.contains_key(&name);
        if known && others {
            self.down.insert(name.clone());
            self.front_of_running()
                .await
                .with_context(|| format!("taking {name} out of nginx"))?;
        }
        let inventory = self.inventory()?.clone();
        if known {
            self.stop(&inventory, &wanted.unit).await?;
        }
        self.runner
            .start(&inventory, &wanted.unit, &wanted.environment)
            .await
            .with_context(|| format!("starting {name}"))?;
        self.running.insert(name.clone(), wanted);
        self.down.remove(&name);
        self.remember()
    }

    async fn stop(&mut self, inventory: &Inventory, unit: &Unit) -> Result<()> {
        let name = &unit.name;
        self.runner
            .stop(inventory, unit)
            .await
            .with_context(|| format!("stopping {name}"))?;
        self.running.remove(name);
        self.remember()
    }

    async fn front_of_running(&mut self) -> Result<()> {
        let mut units: Vec<Unit> = self
            .running
            .values()
            .map(|running| running.unit.clone())
            .collect();
        plan::sort(&mut units);
        let site = plan::site(self.inventory()?, &units, &self.down, Path::new(NGINX_FOLDER));
        self.front(site).await
    }

    async fn front(&mut self, site: Site) -> Result<()> {
        let inventory = self.inventory()?.clone();
        self.runner.front(&inventory, site).await.context("nginx")
    }

    async fn stop_all_but(&mut self, units: &[Unit]) -> Result<()> {
        let kept: BTreeSet<&str> = units.iter().map(|unit| unit.name.as_str()).collect();
        let mut gone: Vec<Unit> = self
            .running
            .values()
            .filter(|running| !kept.contains(running.unit.name.as_str()))
            .map(|running| running.unit.clone())
            .collect();
        let inventory = self.inventory()?.clone();
        // Those that ask before those that are asked.
        gone.sort_by_key(|unit| std::cmp::Reverse(unit.program));
        for unit in &gone {
            self.stop(&inventory, unit).await?;
        }
        Ok(())
    }

    /// Each unit with what it says against being ready, if anything.
    ///
    /// # Errors
    /// Nothing is deployed.
    pub async fn status(&mut self) -> Result<Vec<(String, Option<String>)>> {
        let inventory = self.inventory()?.clone();
        let mut all = Vec::new();
        for running in self.running.values() {
            let told = self.runner.complaint(&inventory, &running.unit).await;
            all.push((running.unit.name.clone(), told));
        }
        Ok(all)
    }
}
