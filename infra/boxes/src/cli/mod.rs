//! The command line.

mod releases;
mod trial;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command as Program, Stdio};

use anyhow::{Context, Result, ensure};
use boxes::docker::login_statements;
use boxes::{Compose, Deployment, Docker, Inventory, Rotation, Runner, Secrets};
use clap::{Args, Parser, Subcommand};
use releases::Releases;

/// Deploys Conduit over several machines, by an inventory: Docker contexts over SSH, one compose file per service, nginx in front.
#[derive(Debug, Parser)]
#[command(name = "boxes", version)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    means: Means,
}

#[derive(Args, Debug)]
struct Means {
    /// Folder for the secrets, the env files and the releases [default: .boxes beside the inventory]
    #[arg(long, global = true, value_name = "PATH")]
    state: Option<PathBuf>,
    /// Which Compose to call [default: `docker compose` where it is installed]
    #[arg(long, global = true, value_enum)]
    compose: Option<Compose>,
    /// Do nothing, and print every command that would be run and every file that would be written
    #[arg(long, global = true)]
    dry_run: bool,
    /// File with the URL of a login that may manage roles, for a database that is not on one of the boxes
    #[arg(long, global = true, value_name = "PATH")]
    administrator_url_file: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Make the boxes what the inventory says; what is right already is left alone
    Deploy {
        /// The inventory
        inventory: PathBuf,
        /// Leave running what has no line any more; the next deployment stops it
        #[arg(long)]
        keep_leftovers: bool,
    },
    /// Restart all copies of a service, one after the other, without a failed request
    RollingRestart {
        /// The inventory
        inventory: PathBuf,
        /// `monolith`, `users`, `profiles`, `articles` or `comments`
        service: String,
        /// Restart a single copy, too, though requests fail meanwhile
        #[arg(long)]
        allow_outage: bool,
    },
    /// Show what is deployed, and whether it is healthy
    Status {
        /// The inventory
        inventory: PathBuf,
    },
    /// Deploy what was deployed before the last deployment
    Rollback {
        /// The inventory; what is deployed is its predecessor as it was then
        inventory: PathBuf,
    },
    /// Change a secret without a failed request
    Rotate {
        /// The inventory
        inventory: PathBuf,
        /// Which one
        what: Rotation,
    },
    /// Print the statements that an administrator runs for a database that is not on one of the boxes
    Logins {
        /// The inventory
        inventory: PathBuf,
    },
    /// Start the inventory on this machine, in network namespaces that stand for the boxes; Ctrl-C stops it
    Try {
        /// The inventory
        inventory: PathBuf,
        /// Take the programs as they are; build only what is missing
        #[arg(long)]
        no_build: bool,
    },
}

impl Cli {
    pub(crate) async fn run(self) -> Result<()> {
        let means = self.means;
        match self.command {
            Command::Deploy {
                inventory,
                keep_leftovers,
            } => {
                let wanted = Inventory::read(&inventory)?;
                let mut work = Work::open(&means, &inventory, &wanted)?;
                work.deployment.keep_leftovers(keep_leftovers);
                work.deploy(&wanted).await?;
                work.releases.add(&wanted)?;
                work.tell(&format!("deployed; it serves at {}", work.deployment.address()?))
            }
            Command::RollingRestart {
                inventory,
                service,
                allow_outage,
            } => {
                let service = program(&service)?;
                let mut work = Work::open(&means, &inventory, &Inventory::read(&inventory)?)?;
                let restarted = work.deployment.rolling_restart(service, allow_outage).await;
                work.tell_if(restarted, "restarted")
            }
            Command::Status { inventory } => status(&means, &inventory).await,
            Command::Rollback { inventory } => {
                let mut work = Work::open(&means, &inventory, &Inventory::read(&inventory)?)?;
                let wanted = work.releases.previous()?;
                work.deploy(&wanted).await?;
                work.releases.step_back()?;
                work.tell(
                    "rolled back; the inventory's file is as it was, and a deployment would bring it back",
                )
            }
            Command::Rotate { inventory, what } => {
                let wanted = Inventory::read(&inventory)?;
                let mut work = Work::open(&means, &inventory, &wanted)?;
                let (file, dry) = (work.secrets.clone(), means.dry_run);
                let keep = |secrets: &Secrets| if dry { Ok(()) } else { secrets.save(&file) };
                let rotated = work.deployment.rotate(&wanted, what, keep).await;
                work.tell_if(rotated, "changed")
            }
            Command::Logins { inventory } => {
                let secrets = Secrets::open(&means.state(&inventory).join("secrets.json"))?;
                let mut out = std::io::stdout();
                write!(
                    out,
                    "{}\n{}",
                    conduit_runtime::database::ROLES,
                    login_statements(&secrets.logins)
                )?;
                Ok(())
            }
            Command::Try { inventory, no_build } => {
                trial::run(&Inventory::read(&inventory)?, !no_build).await
            }
        }
    }
}

fn program(name: &str) -> Result<stack::Program> {
    let known = stack::Program::ALL
        .into_iter()
        .find(|program| program.name() == name);
    known.with_context(|| format!("there is no service {name:?}"))
}

async fn status(means: &Means, inventory: &Path) -> Result<()> {
    let mut work = Work::open(means, inventory, &Inventory::read(inventory)?)?;
    let mut out = std::io::stdout();
    let told = work.deployment.status().await?;
    if told.is_empty() {
        writeln!(out, "nothing is deployed")?;
    }
    for (name, complaint) in told {
        writeln!(out, "{name:<24} {}", complaint.as_deref().unwrap_or("healthy"))?;
    }
    Ok(())
}

/// What every command about boxes begins with.
struct Work {
    deployment: Deployment,
    releases: Releases,
    secrets: PathBuf,
}

impl Work {
    fn open(means: &Means, path: &Path, inventory: &Inventory) -> Result<Self> {
        let state = means.state(path);
        let secrets = state.join("secrets.json");
        let known = if means.dry_run && !secrets.exists() {
            Secrets::new()
        } else {
            Secrets::open(&secrets)?
        };
        let mut docker = Docker::new(means.compose()?, &state, means.dry_run, means.administrator()?);
        let record = state.join("running.json");
        if record.exists() {
            docker.expect_front();
        }
        let runner = Runner::Docker(docker);
        let deployment = Deployment::resume(runner, known, record, !means.dry_run, inventory)?;
        Ok(Self {
            deployment,
            releases: Releases::open(&state, means.dry_run)?,
            secrets,
        })
    }

    async fn deploy(&mut self, wanted: &Inventory) -> Result<()> {
        let deployed = self.deployment.deploy(wanted).await;
        if deployed.is_err() {
            self.tell("what was done before it failed:")?;
        }
        deployed
    }

    fn tell_if(&mut self, done: Result<()>, word: &str) -> Result<()> {
        self.tell(if done.is_ok() {
            word
        } else {
            "what was done before it failed:"
        })?;
        done
    }

    /// What was done, and a word at its end.
    fn tell(&mut self, word: &str) -> Result<()> {
        let mut out = std::io::stdout();
        if let Runner::Docker(docker) = self.deployment.runner() {
            write!(out, "{}", docker.transcript())?;
        }
        writeln!(out, "{word}")?;
        Ok(())
    }
}

impl Means {
    fn state(&self, inventory: &Path) -> PathBuf {
        let beside = || inventory.parent().unwrap_or(Path::new("")).join(".boxes");
        self.state.clone().unwrap_or_else(beside)
    }

    fn compose(&self) -> Result<Compose> {
        if let Some(compose) = self.compose {
            return Ok(compose);
        }
        let silent = |program: &mut Program| {
            let run = program
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            run.status().is_ok_and(|status| status.success())
        };
        if silent(Program::new("docker").args(["compose", "version"])) {
            return Ok(Compose::V2);
        }
        let old = silent(Program::new("docker-compose").arg("version"));
        ensure!(
            old || self.dry_run,
            "neither `docker compose` nor docker-compose is installed"
        );
        Ok(if old { Compose::V1 } else { Compose::V2 })
    }

    fn administrator(&self) -> Result<Option<conduit_runtime::database::DatabaseUrl>> {
        let Some(file) = &self.administrator_url_file else {
            return Ok(None);
        };
        let text = fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
        Ok(Some(text.trim().parse()?))
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        super::Cli::command().debug_assert();
    }
}
