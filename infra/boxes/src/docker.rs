//! Boxes with Docker: their contexts, over SSH, and the files in `infra/compose`. Nothing of ours is installed on a box.
//!
//! A service's box gets `docker compose -f users.yml up -d` with an env file that is made here; nginx gets its configuration through
//! the standard input of `conduit-nginx reload`, which its image has.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use conduit_runtime::database::{DatabaseUrl, ROLES, SET_LOGIN};
use stack::nginx::{self, RouteTable, Site};
use stack::write_private;
use tokio::time::{Instant, sleep};

use crate::command::{Shell, Step};
use crate::inventory::Inventory;
use crate::plan::{self, Unit};
use crate::runner::set_logins;
use crate::secrets::{Logins, Secrets};

/// How often to look whether a container is healthy, or nginx's old processes have gone. Each look is a connection over SSH.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// A start includes downloading nothing: images are pulled before. The files give a process 60 s and PostgreSQL 120 s.
const START_WAIT: Duration = Duration::from_secs(180);

/// nginx gives requests under way `worker_shutdown_timeout` (60 s) when it reloads.
const DRAIN_WAIT: Duration = Duration::from_secs(90);

/// Where nginx listens and keeps its files in its image.
const NGINX: (&str, &str) = ("8080", "/tmp/nginx");

/// Who administers a database of our own (`infra/compose/common.yml`).
const ADMINISTRATOR: &str = "conduit";

/// Docker on the boxes.
#[derive(Debug)]
pub struct Docker {
    shell: Shell,
    compose: Compose,
    /// The folder with the compose files.
    files: PathBuf,
    /// Where env files are written.
    state: PathBuf,
    /// A login that may manage the roles of a database that is not ours.
    administrator: Option<DatabaseUrl>,
}

/// Which Compose there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Compose {
    /// `docker-compose` 1.29
    V1,
    /// `docker compose`
    V2,
}

impl Docker {
    /// `state`: where env files are written. With `dry`, nothing is done, and everything that would be is printed.
    #[must_use]
    pub fn new(compose: Compose, state: &Path, dry: bool, administrator: Option<DatabaseUrl>) -> Self {
        Self {
            shell: Shell::new(dry),
            compose,
            files: Path::new(env!("CARGO_MANIFEST_DIR")).join("../compose"),
            state: state.to_owned(),
            administrator,
        }
    }

    /// What was or would have been done so far.
    #[must_use]
    pub fn transcript(&self) -> &str {
        self.shell.transcript()
    }

    /// What is written down only shall suppose that nginx runs already.
    pub fn expect_front(&mut self) {
        self.shell.has_seen("nginx");
    }

    pub(crate) fn settle(&self, inventory: &Inventory) -> Result<Inventory> {
        for line in &inventory.copies {
            ensure!(
                line.port.is_none(),
                "{} on {} has a port of its own, which the compose files have not: use another box",
                line.service.name(),
                line.machine
            );
        }
        let proxy = &inventory.proxy;
        ensure!(
            proxy.tls.is_none() && proxy.static_folder.is_none(),
            "nginx's image has neither certificates nor a front end: speak TLS in front of it, or make an image of your own"
        );
        Ok(inventory.clone())
    }

    pub(crate) async fn database(&mut self, inventory: &Inventory, secrets: &Secrets) -> Result<()> {
        self.shell.hide(secrets);
        let Some(machine) = &inventory.database.machine else {
            return Ok(());
        };
        let told: BTreeMap<String, String> = [
            (
                "CONDUIT_PRIVATE_ADDRESS".to_owned(),
                inventory.machine(machine)?.address.to_string(),
            ),
            (
                "CONDUIT_POSTGRES_PASSWORD".to_owned(),
                secrets.administrator.clone(),
            ),
            (
                "CONDUIT_POSTGRES_CONNECTIONS".to_owned(),
                inventory.database.connections.to_string(),
            ),
        ]
        .into();
        let place = self.place(inventory, machine, "postgres", &told)?;
        self.shell.run(&place.compose(&["up", "-d"]))?;
        self.healthy(&place).await?;
        let identity = self.container(&place)?;
        self.sql(&place, &identity, ROLES)
    }

    pub(crate) async fn set_logins(&mut self, inventory: &Inventory, logins: &Logins) -> Result<()> {
        let Some(machine) = &inventory.database.machine else {
            // Somebody else's database: with a login that may, else its administrator has done it (`boxes logins`).
            return match &self.administrator {
                Some(administrator) if !self.shell.is_dry() => set_logins(administrator, logins).await,
                _ => Ok(()),
            };
        };
        let place = self.place(inventory, machine, "postgres", &BTreeMap::new())?;
        let identity = self.container(&place)?;
        self.sql(&place, &identity, &login_statements(logins))
    }

    pub(crate) async fn start(
        &mut self,
        inventory: &Inventory,
        unit: &Unit,
        environment: &BTreeMap<String, String>,
    ) -> Result<()> {
        self.check_handed_on(inventory)?;
        let mut told = environment.clone();
        if let Some(url) = told.remove("DATABASE_URL") {
            told.insert("CONDUIT_DATABASE_URL".to_owned(), url);
        }
        told.insert("CONDUIT_PRIVATE_ADDRESS".to_owned(), unit.address.to_string());
        told.insert("CONDUIT_VERSION".to_owned(), inventory.tag.clone());
        let place = self.place(inventory, &unit.machine, unit.program.name(), &told)?;
        self.shell.run(&place.compose(&["up", "-d", "--no-build"]))?;
        self.healthy(&place).await
    }

    pub(crate) fn stop(&mut self, inventory: &Inventory, unit: &Unit) -> Result<()> {
        // What runs may be of a release that had more boxes.
        let place = self.place(inventory, &unit.machine, unit.program.name(), &BTreeMap::new())?;
        self.shell.run(&place.compose(&["stop"])).map(drop)
    }

    pub(crate) async fn front(&mut self, inventory: &Inventory, mut site: Site) -> Result<()> {
        let machine = &inventory.proxy.machine;
        let listen = inventory
            .proxy
            .listen
            .first()
            .context("nginx has no address to listen at")?;
        let (address, port) = listen.rsplit_once(':').unwrap_or(("0.0.0.0", listen));
        site.listen = vec![NGINX.0.to_owned()];
        site.folder = NGINX.1.into();
        let text = nginx::render(plan::topology(&site), &site, &RouteTable::built_in()?)?;
        let told: BTreeMap<String, String> = [
            ("CONDUIT_PUBLIC_ADDRESS".to_owned(), address.to_owned()),
            ("CONDUIT_PUBLIC_PORT".to_owned(), port.to_owned()),
            ("CONDUIT_VERSION".to_owned(), inventory.tag.clone()),
        ]
        .into();
        let place = self.place(inventory, machine, "nginx", &told)?;
        let running = self
            .shell
            .ask(&place.docker(&["ps", "--quiet"]).filtered(&place))?;
        if running.trim().is_empty() && !(self.shell.is_dry() && self.shell.has_seen("nginx")) {
            let first = place
                .compose(&["up", "-d", "--no-build"])
                .with("CONDUIT_NGINX_CONFIGURATION", &text);
            self.shell.run(&first)?;
            return self.healthy(&place).await;
        }
        self.reload(&place, &text).await
    }

    /// Lets nginx take up the configuration, and waits until the processes that work by the one before have answered and gone.
    async fn reload(&mut self, place: &Place, text: &str) -> Result<()> {
        let identity = self.container(place)?;
        let top = place.docker(&["top", &identity, "-eo", "pid,args"]);
        let before = workers(&self.shell.ask(&top)?);
        self.shell.run(
            &place
                .docker(&["exec", "-i", &identity, "conduit-nginx", "reload"])
                .reading(text),
        )?;
        let deadline = Instant::now() + DRAIN_WAIT;
        while !workers(&self.shell.ask(&top)?).is_disjoint(&before) {
            ensure!(Instant::now() < deadline, "requests under way do not end");
            sleep(LOOK_EVERY).await;
        }
        Ok(())
    }

    pub(crate) fn complaint(&mut self, inventory: &Inventory, unit: &Unit) -> Option<String> {
        let asked = self
            .place(inventory, &unit.machine, unit.program.name(), &BTreeMap::new())
            .and_then(|place| {
                let step = place
                    .docker(&["ps", "--all", "--format", "{{.Status}}"])
                    .filtered(&place);
                self.shell.ask(&step)
            });
        match asked {
            Ok(status) if status.contains("(healthy)") => None,
            Ok(status) if status.trim().is_empty() => Some("is not there".to_owned()),
            Ok(status) => Some(status.trim().to_owned()),
            Err(error) => Some(format!("{error:#}")),
        }
    }

    async fn healthy(&mut self, place: &Place) -> Result<()> {
        let step = place
            .docker(&["ps", "--quiet", "--filter", "health=healthy"])
            .filtered(place);
        let deadline = Instant::now() + START_WAIT;
        while self.shell.ask(&step)?.trim().is_empty() && !self.shell.is_dry() {
            if Instant::now() >= deadline {
                let logs = self
                    .shell
                    .ask(&place.compose(&["logs", "--tail=20"]))
                    .unwrap_or_default();
                bail!(
                    "{} is not healthy after {} s:\n{logs}",
                    place.name,
                    START_WAIT.as_secs()
                );
            }
            sleep(LOOK_EVERY).await;
        }
        Ok(())
    }

    fn container(&mut self, place: &Place) -> Result<String> {
        let step = place.docker(&["ps", "--quiet"]).filtered(place);
        let found = self.shell.ask(&step)?;
        if self.shell.is_dry() {
            return Ok(format!("<container of {}>", place.name));
        }
        let first = found.lines().next();
        Ok(first
            .with_context(|| format!("{} does not run", place.name))?
            .to_owned())
    }

    fn sql(&mut self, place: &Place, container: &str, statements: &str) -> Result<()> {
        let psql = [
            "exec",
            "-i",
            container,
            "psql",
            "-XqAt",
            "-v",
            "ON_ERROR_STOP=1",
            "-U",
            ADMINISTRATOR,
            "-d",
            "conduit",
        ];
        self.shell.run(&place.docker(&psql).reading(statements)).map(drop)
    }

    /// A service on a box, with its env file.
    fn place(
        &mut self,
        inventory: &Inventory,
        machine: &str,
        service: &str,
        told: &BTreeMap<String, String>,
    ) -> Result<Place> {
        let file = self.state.join("units").join(format!("{service}@{machine}.env"));
        if !told.is_empty() {
            let text = env_file(told)?;
            match self.shell.is_dry() {
                true => self.shell.show_file(&file, &text),
                false => keep(&file, &text)?,
            }
        }
        let context = inventory
            .machine(machine)
            .ok()
            .and_then(|machine| machine.context.clone());
        Ok(Place {
            name: format!("{service}@{machine}"),
            service: service.to_owned(),
            context: context.unwrap_or_else(|| machine.to_owned()),
            compose: self.compose,
            yml: self.files.join(format!("{service}.yml")),
            env: file,
        })
    }

    /// A variable that the compose files do not hand on would be lost without a word.
    fn check_handed_on(&self, inventory: &Inventory) -> Result<()> {
        if inventory.variables.is_empty() {
            return Ok(());
        }
        let common = self.files.join("common.yml");
        let text =
            std::fs::read_to_string(&common).with_context(|| format!("reading {}", common.display()))?;
        let words: BTreeSet<&str> = text
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .collect();
        let lost = inventory
            .variables
            .keys()
            .find(|name| !words.contains(name.as_str()));
        ensure!(
            lost.is_none(),
            "the compose files do not hand on {}",
            lost.cloned().unwrap_or_default()
        );
        Ok(())
    }
}

/// A service on a box.
#[derive(Debug)]
struct Place {
    name: String,
    service: String,
    context: String,
    compose: Compose,
    yml: PathBuf,
    env: PathBuf,
}

impl Place {
    /// Its project: one for each service, so that several live on a box without knowing of each other.
    fn project(&self) -> String {
        format!("conduit-{}", self.service)
    }

    fn docker(&self, arguments: &[&str]) -> Step {
        Step::new("docker")
            .and(&["--context", &self.context])
            .and(arguments)
    }

    fn compose(&self, arguments: &[&str]) -> Step {
        let (env, yml) = (self.env.display().to_string(), self.yml.display().to_string());
        let step = match self.compose {
            Compose::V1 => Step::new("docker-compose").and(&["--context", &self.context]),
            Compose::V2 => self.docker(&["compose"]),
        };
        step.and(&[
            "--project-name",
            &self.project(),
            "--env-file",
            &env,
            "--file",
            &yml,
        ])
        .and(arguments)
    }
}

impl Step {
    /// Only the containers of the place.
    fn filtered(self, place: &Place) -> Self {
        let project = format!("label=com.docker.compose.project={}", place.project());
        let service = format!("label=com.docker.compose.service={}", place.service);
        self.and(&["--filter", &project, "--filter", &service])
    }
}

/// The process ids of nginx's workers, of the old ones too.
fn workers(top: &str) -> BTreeSet<String> {
    let lines = top.lines().filter(|line| line.contains("nginx: worker process"));
    lines
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

/// The statements that give the logins their passwords, for `psql` as the administrator.
#[must_use]
pub fn login_statements(logins: &Logins) -> String {
    let mut text = String::new();
    for (owner, login) in logins {
        for (name, value) in [
            ("owner", owner.role()),
            ("login", &login.role),
            ("password", &login.password),
        ] {
            let value = value.replace('\'', "''");
            let _ = writeln!(text, "set conduit.{name} = '{value}';");
        }
        let _ = writeln!(text, "{};", SET_LOGIN.trim());
    }
    text
}

/// As Compose reads it: one line each, taken as it is.
fn env_file(told: &BTreeMap<String, String>) -> Result<String> {
    let mut text = String::new();
    for (name, value) in told {
        ensure!(
            !value.contains(['\n', '\r', '\'', '"', '$', '#', ' ', '\\']),
            "the value of {name} cannot stand in an env file"
        );
        let _ = writeln!(text, "{name}={value}");
    }
    Ok(text)
}

fn keep(file: &Path, text: &str) -> Result<()> {
    if let Some(folder) = file.parent() {
        stack::make_folder(folder).with_context(|| format!("making {}", folder.display()))?;
    }
    write_private(file, text.trim_end()).with_context(|| format!("writing {}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_are_told_from_the_master() {
        let top = "PID COMMAND\n10 nginx: master process nginx -e stderr\n11 nginx: worker process\n9 nginx: worker process is shutting down\n";
        assert_eq!(workers(top), ["11".to_owned(), "9".to_owned()].into());
    }

    #[test]
    fn a_value_that_compose_would_change_is_refused() {
        let told = |value: &str| env_file(&[("A".to_owned(), value.to_owned())].into());
        assert_eq!(
            told("postgres://u:p@h:5432/d?a=b").unwrap(),
            "A=postgres://u:p@h:5432/d?a=b\n"
        );
        assert!(told("a$b").is_err() && told("a\nb").is_err());
    }
}
