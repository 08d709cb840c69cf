//! Network namespaces of this machine as boxes ([`Network`]). At our end of the switch PostgreSQL listens, and there whoever asks comes
//! from.

mod reload;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use conduit_runtime::database::{DatabaseSettings, DatabaseUrl, Owner, prepare};
use conduit_runtime::embedded::Embedded;
use nix::sys::signal::Signal;
use stack::nginx::{self, RouteTable, Site};
use stack::{
    Binaries, Guard, Network, Process, Program, Start, make_folder, tail_of, temporary_folder, write_private,
};
use tempfile::TempDir;

use self::reload::reload;
use crate::inventory::{Inventory, Transport};
use crate::plan::{self, Unit};

/// Connections for all processes of the largest layout, and for as many again while one follows the other.
const MAX_CONNECTIONS: &str = "400";

/// The database's name.
const DATABASE: &str = "conduit";

/// A network on this machine, and what runs in it. Everything goes when the value goes, and when this process goes.
#[derive(Debug)]
pub struct Namespaces {
    // Fields are dropped in this order: who asks before who is asked, and the network last.
    front: Option<Process>,
    units: BTreeMap<String, Process>,
    database: Option<Embedded>,
    network: Network,
    guard: Arc<Guard>,
    binaries: Binaries,
    run: TempDir,
}

impl Namespaces {
    /// An empty network.
    ///
    /// # Errors
    /// We may not make network namespaces, or `ip` or nginx is not installed; see [`Namespaces::missing`].
    pub fn new(binaries: Binaries) -> Result<Self> {
        if let Some(missing) = Self::missing() {
            bail!(missing);
        }
        let run = temporary_folder().context("making a temporary folder")?;
        make_folder(&run.path().join("logs"))?;
        make_folder(&run.path().join("nginx"))?;
        let guard = Arc::new(Guard::start(run.path()).context("starting a shell")?);
        let network = Network::new(&guard)?;
        Ok(Self {
            front: None,
            units: BTreeMap::new(),
            database: None,
            network,
            guard,
            binaries,
            run,
        })
    }

    /// What is missing here, as a sentence; none if nothing is.
    #[must_use]
    pub fn missing() -> Option<String> {
        if nginx::installed().is_none() {
            return Some("nginx is not installed (Debian's package is nginx-light)".to_owned());
        }
        Network::missing()
    }

    /// The log of a unit, or of `nginx`.
    #[must_use]
    pub fn log(&self, name: &str) -> PathBuf {
        self.run.path().join("logs").join(format!("{name}.log"))
    }

    /// A login that may look at everything in the database, once it runs.
    ///
    /// # Errors
    /// It does not run yet.
    pub fn database_url(&self) -> Result<DatabaseUrl> {
        let database = self.database.as_ref().context("the database does not run yet")?;
        Ok(database.url_of(DATABASE))
    }

    /// nginx's configuration as it is now.
    #[must_use]
    pub fn configuration(&self) -> PathBuf {
        self.run.path().join("nginx.conf")
    }

    /// Pulls a box's cable.
    ///
    /// # Errors
    /// There is no such box.
    pub fn cut_off(&self, machine: &str) -> Result<()> {
        self.network.link(machine, "down")
    }

    /// Plugs the cable in again.
    ///
    /// # Errors
    /// There is no such box.
    pub fn reconnect(&self, machine: &str) -> Result<()> {
        self.network.link(machine, "up")
    }

    /// Kills a unit at once, with what is under way.
    ///
    /// # Errors
    /// It does not run.
    pub fn kill(&mut self, name: &str) -> Result<()> {
        self.units
            .remove(name)
            .map(drop)
            .with_context(|| format!("{name} does not run"))
    }

    /// Sends a unit a signal.
    ///
    /// # Errors
    /// It does not run.
    pub fn signal(&mut self, name: &str, signal: Signal) -> Result<()> {
        self.units
            .get_mut(name)
            .with_context(|| format!("{name} does not run"))?
            .signal(signal)
    }

    /// Stops everything in good order.
    ///
    /// # Errors
    /// Something did not stop; it was killed, and so was the rest.
    pub async fn down(mut self) -> Result<()> {
        if let Some(front) = self.front.take() {
            front.stop().await.context("stopping nginx")?;
        }
        for (name, process) in std::mem::take(&mut self.units) {
            process.stop().await.with_context(|| format!("stopping {name}"))?;
        }
        match self.database.take() {
            Some(database) => database.stop().await.context("stopping PostgreSQL"),
            None => Ok(()),
        }
    }

    pub(crate) fn settle(&mut self, inventory: &Inventory) -> Result<Inventory> {
        let mut settled = inventory.clone();
        for machine in &mut settled.boxes {
            machine.address = self.network.plug_in(&machine.name, &self.guard)?;
        }
        settled.database.machine = None;
        settled.database.host = Some(self.network.ours().to_string());
        settled.database.port = 5432;
        settled.database.name = DATABASE.to_owned();
        settled.database.options = "sslmode=disable".to_owned();
        Ok(settled)
    }

    pub(crate) async fn database(&mut self, inventory: &Inventory) -> Result<()> {
        if self.database.is_none() {
            self.database = Some(self.start_database().await?);
        }
        let programs: Vec<Program> = inventory.copies.iter().map(|line| line.service).collect();
        let url = self.database_url()?;
        for owner in Owner::ALL {
            if !programs.iter().any(|program| program.owner() == owner) {
                continue;
            }
            let mut settings = DatabaseSettings::new(owner);
            settings.create = true;
            prepare(&url, &settings).await?;
        }
        Ok(())
    }

    async fn start_database(&self) -> Result<Embedded> {
        let rules = self.run.path().join("pg_hba.conf");
        let network = self.network.range();
        let text = format!("local all all scram-sha-256\nhost all all {network} scram-sha-256\n");
        fs::write(&rules, text).context("writing the database's rules")?;
        fs::set_permissions(&rules, fs::Permissions::from_mode(0o644))?;
        let (rules, address) = (rules.display().to_string(), self.network.ours().to_string());
        let parameters = [
            ("listen_addresses", address.as_str()),
            ("hba_file", &rules),
            ("max_connections", MAX_CONNECTIONS),
        ];
        Ok(Embedded::temporary_with(&parameters).await?)
    }

    pub(crate) async fn start(&mut self, unit: &Unit, environment: &BTreeMap<String, String>) -> Result<()> {
        self.binaries.ensure_built(&[unit.program].into())?;
        let mut variables: BTreeMap<String, String> = listening(unit);
        // We have brought the tables up to date.
        variables.insert("CONDUIT_DATABASE_MIGRATE".to_owned(), "false".to_owned());
        variables.extend(environment.clone());
        let program = self.binaries.path(unit.program.name());
        let start = Start {
            executable: "ip".into(),
            arguments: self.network.inside(&unit.machine, &program),
            environment: variables.into_iter().collect(),
            log: self.log(&unit.name),
            stop: Signal::SIGTERM,
        };
        let mut process = Process::start(&start, &self.guard)?;
        let ended = || {
            process
                .ended()
                .map(|status| format!("it ended ({status}):\n{}", tail_of(&start.log)))
        };
        stack::wait(&format!("http://{}", unit.operations()), ended).await?;
        self.units.insert(unit.name.clone(), process);
        Ok(())
    }

    pub(crate) async fn stop(&mut self, unit: &Unit) -> Result<()> {
        match self.units.remove(&unit.name) {
            Some(process) => process.stop().await.map(drop),
            None => Ok(()),
        }
    }

    pub(crate) async fn front(&mut self, inventory: &Inventory, mut site: Site) -> Result<()> {
        let program = nginx::installed().context("nginx is not installed")?;
        site.folder = self.run.path().join("nginx");
        site.error_log = self.log("nginx").display().to_string();
        site.account = nginx::worker_account();
        // Plenty for one machine, and the processors are the application's.
        site.workers = Some(1);
        let text = nginx::render(plan::topology(&site), &site, &RouteTable::built_in()?)?;
        let configuration = self.configuration();
        write_private(&configuration, text.trim_end())?;
        nginx::check(&program, &configuration, &site.folder)?;
        match &mut self.front {
            Some(front) => reload(front).await,
            None => self.start_front(inventory, &program, &site.folder).await,
        }
    }

    async fn start_front(&mut self, inventory: &Inventory, program: &Path, folder: &Path) -> Result<()> {
        let log = self.log("nginx");
        let machine = inventory.machine(&inventory.proxy.machine)?;
        let mut arguments = self.network.inside(&machine.name, program);
        arguments.extend(nginx::arguments(&self.configuration(), folder, &log));
        arguments.extend(["-g".to_owned(), "daemon off;".to_owned()]);
        let start = Start {
            executable: "ip".into(),
            arguments,
            environment: Vec::new(),
            log: log.clone(),
            // Answers what is under way.
            stop: Signal::SIGQUIT,
        };
        let mut process = Process::start(&start, &self.guard)?;
        let listen = inventory
            .proxy
            .listen
            .first()
            .context("nginx has no address to listen at")?;
        let port = listen.rsplit(':').next().unwrap_or(listen);
        let ended = || {
            process
                .ended()
                .map(|status| format!("it ended ({status}):\n{}", tail_of(&log)))
        };
        if inventory.proxy.tls.is_none() {
            stack::wait(&format!("http://{}:{port}", machine.address), ended).await?;
        }
        self.front = Some(process);
        Ok(())
    }
}

/// Where a unit listens that has its box's address to itself.
fn listening(unit: &Unit) -> BTreeMap<String, String> {
    let mut told: BTreeMap<String, String> = [
        ("CONDUIT_HTTP_LISTEN".to_owned(), unit.public()),
        ("CONDUIT_OPS_LISTEN".to_owned(), unit.operations()),
    ]
    .into();
    if unit.program.is_asked() {
        told.insert(
            "CONDUIT_INTERNAL_HTTP_LISTEN".to_owned(),
            unit.internal(Transport::Http),
        );
        told.insert(
            "CONDUIT_INTERNAL_GRPC_LISTEN".to_owned(),
            unit.internal(Transport::Grpc),
        );
    }
    told
}
