//! A running deployment.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use conduit_runtime::database::DatabaseUrl;
use conduit_runtime::secrets;
use nix::sys::signal::Signal;
use tempfile::TempDir;

use crate::address::Reserved;
use crate::database::Database;
use crate::files::{temporary_folder, write_private};
use crate::guard::Guard;
use crate::layout::Layout;
use crate::network::Network;
use crate::nginx::{self, RouteTable, Site, Topology};
use crate::options::{DatabaseChoice, Options, ProxyChoice};
use crate::plan::{self, Planned};
use crate::process::{Process, Start, tail_of};
use crate::ready;
use crate::state::State;
use crate::summary::{ProxyInfo, ServiceInfo, Summary};

/// nginx's name among the processes.
pub(crate) const NGINX: &str = "nginx";

/// A running deployment. [`Stack::down`] stops it in good order; dropping it kills its processes, and so does the end of this
/// process, however it comes.
#[derive(Debug)]
pub struct Stack {
    // Fields are dropped in this order: who asks before who is asked.
    proxy: Option<Part>,
    services: Vec<Service>,
    database: Database,
    guard: Arc<Guard>,
    layout: Layout,
    address: String,
    run: TempDir,
    state: State,
}

#[derive(Debug)]
struct Service {
    planned: Planned,
    part: Part,
}

/// Something that can be started again.
#[derive(Debug)]
struct Part {
    name: String,
    start: Start,
    /// Where it says whether it is ready.
    address: String,
    process: Option<Process>,
}

impl Stack {
    /// Starts everything and waits until it is ready.
    ///
    /// # Errors
    /// One sentence for whoever started it; where a process did not come up, with the end of its log. What was started is stopped.
    pub async fn up(layout: Layout, options: &Options) -> Result<Self> {
        let program = match options.proxy {
            ProxyChoice::IfInstalled => nginx::installed(),
            ProxyChoice::Without => None,
        };
        ensure!(
            program.is_some() || matches!(layout.topology(), Topology::Single | Topology::Split),
            "{layout} needs nginx in front, to share requests out among the copies"
        );
        if options.boxes {
            boxable(options)?;
        }
        let state = State::open(&options.state)?;
        let instances = layout.instances();
        options
            .binaries
            .ensure_built(&instances.iter().map(|instance| instance.program).collect())?;
        let run = temporary_folder().context("making a temporary folder")?;
        let guard = Arc::new(Guard::start(run.path()).context("starting a shell")?);
        let mut reserved = Reserved::default();
        let planned = match options.boxes {
            true => plan::boxed(layout, options, &mut Network::new(&guard)?, &guard)?,
            false => plan::places(layout, options, program.is_some(), run.path(), &mut reserved)?,
        };
        let entrance = program.as_ref().map(|_| match options.port {
            Some(port) => reserved.port(port),
            None => reserved.any_port(),
        });
        let entrance = entrance.transpose()?;

        secrets::kept(&state.token_secret()).context("making a token secret")?;
        secrets::kept(&state.internal_secret()).context("making a secret for the services")?;
        let owners: BTreeSet<_> = planned.iter().map(|one| one.instance.program.owner()).collect();
        let database = Database::open(&options.database, &state, &owners, &options.postgres).await?;
        let services = planned.iter().map(|one| Service {
            planned: one.clone(),
            part: Part {
                name: one.instance.name.clone(),
                start: plan::start(one, &planned, layout, options, &state),
                address: one.operations.url(),
                process: None,
            },
        });
        let mut stack = Self {
            proxy: None,
            services: services.collect(),
            database,
            guard,
            layout,
            address: entrance
                .as_ref()
                .map_or_else(|| plan::address(&planned), crate::address::Place::url),
            run,
            state,
        };
        if let (Some(program), Some(entrance)) = (program, entrance) {
            stack.proxy = Some(stack.front(&program, &entrance.listen(), &planned)?);
        }
        drop(reserved);
        stack.start_all().await?;
        stack.state.remember(&stack.summary())?;
        Ok(stack)
    }

    /// nginx, configured and not started.
    fn front(&self, program: &Path, listen: &str, planned: &[Planned]) -> Result<Part> {
        let (configuration, log) = (self.state.nginx(), self.state.log(NGINX));
        let mut site = Site::new(listen, self.run.path(), plan::copies(planned));
        site.account = nginx::worker_account();
        site.error_log = log.display().to_string();
        // Plenty for one machine, and the processors are the application's.
        site.workers = Some(1);
        let text = nginx::render(self.layout.topology(), &site, &RouteTable::built_in()?)?;
        write_private(&configuration, text.trim_end())?;
        nginx::check(program, &configuration, self.run.path())?;
        let mut arguments = nginx::arguments(&configuration, self.run.path(), &log);
        arguments.extend(["-g".to_owned(), "daemon off;".to_owned()]);
        let start = Start {
            executable: program.to_owned(),
            arguments,
            environment: Vec::new(),
            log,
            // Answers what is under way.
            stop: Signal::SIGQUIT,
        };
        Ok(Part {
            name: NGINX.to_owned(),
            start,
            address: self.address.clone(),
            process: None,
        })
    }

    async fn start_all(&mut self) -> Result<()> {
        let guard = Arc::clone(&self.guard);
        for service in &mut self.services {
            service.part.start(&guard)?;
        }
        for service in &mut self.services {
            service.part.wait().await?;
        }
        if let Some(proxy) = &mut self.proxy {
            proxy.start(&guard)?;
            proxy.wait().await?;
        }
        Ok(())
    }

    /// The public address, `http://127.0.0.1:3000`; without a proxy in front of a split, each service's in the form that
    /// conformance takes.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The processes that answer, as they are now.
    #[must_use]
    pub fn services(&self) -> Vec<ServiceInfo> {
        let info = |service: &Service| service.planned.info(service.part.pid());
        self.services.iter().map(info).collect()
    }

    /// Everything that runs, as it is now.
    #[must_use]
    pub fn summary(&self) -> Summary {
        Summary {
            layout: self.layout,
            address: self.address.clone(),
            services: self.services(),
            proxy: self.proxy.as_ref().map(|proxy| ProxyInfo {
                pid: proxy.pid(),
                configuration: self.state.nginx(),
            }),
            token_secret_file: self.state.token_secret(),
            database: self.database.admin().to_string(),
            database_url_file: self.state.database_url(None),
            logs: self.state.logs(),
        }
    }

    /// The file with the secret that signs tokens.
    #[must_use]
    pub fn token_secret_file(&self) -> PathBuf {
        self.state.token_secret()
    }

    /// A login that may look at everything in the database; the given one where a database was given.
    #[must_use]
    pub fn database_url(&self) -> &DatabaseUrl {
        self.database.admin()
    }

    /// The process id of PostgreSQL, unless the database was given. Its sessions are its children.
    #[must_use]
    pub fn database_pid(&self) -> Option<u32> {
        self.database.process_id()
    }

    /// The log of a process, `nginx` included.
    #[must_use]
    pub fn log(&self, name: &str) -> PathBuf {
        self.state.log(name)
    }

    /// Stops a process in good order, so that requests under way are answered.
    ///
    /// # Errors
    /// There is no such process, or it is stopped already.
    pub async fn stop_service(&mut self, name: &str) -> Result<()> {
        self.part(name)?.take()?.stop().await.map(drop)
    }

    /// Kills a process at once, with what is under way.
    ///
    /// # Errors
    /// As [`Stack::stop_service`].
    pub fn kill_service(&mut self, name: &str) -> Result<()> {
        self.part(name)?.take().map(drop)
    }

    /// Starts a stopped process again at the same addresses, and waits until it is ready.
    ///
    /// # Errors
    /// There is no such process, it runs, or it does not come up.
    pub async fn start_service(&mut self, name: &str) -> Result<()> {
        let guard = Arc::clone(&self.guard);
        let part = self.part(name)?;
        ensure!(part.process.is_none(), "{name} runs already");
        part.start(&guard)?;
        part.wait().await
    }

    /// Lets a process stand still: its connections stay, it answers nothing.
    ///
    /// # Errors
    /// As [`Stack::stop_service`].
    pub fn pause(&mut self, name: &str) -> Result<()> {
        self.signal(name, Signal::SIGSTOP)
    }

    /// Lets a paused process go on.
    ///
    /// # Errors
    /// As [`Stack::stop_service`].
    pub fn resume(&mut self, name: &str) -> Result<()> {
        self.signal(name, Signal::SIGCONT)
    }

    fn signal(&mut self, name: &str, signal: Signal) -> Result<()> {
        let part = self.part(name)?;
        let process = part
            .process
            .as_mut()
            .with_context(|| format!("{name} is stopped"))?;
        process.signal(signal)
    }

    fn part(&mut self, name: &str) -> Result<&mut Part> {
        let services = self.services.iter_mut().map(|service| &mut service.part);
        let mut parts = services.chain(self.proxy.as_mut());
        parts
            .find(|part| part.name == name)
            .with_context(|| format!("there is no {name} in this stack"))
    }

    /// Whoever ended since the last call without being told to, with how it ended and the end of its log.
    pub fn ended(&mut self) -> Vec<String> {
        let services = self.services.iter_mut().map(|service| &mut service.part);
        services
            .chain(self.proxy.as_mut())
            .filter_map(Part::ended)
            .collect()
    }

    /// Stops everything in good order: the proxy, the services, then the database.
    ///
    /// # Errors
    /// Something did not stop; it was killed, and so was the rest.
    pub async fn down(mut self) -> Result<()> {
        let services = self.services.iter_mut().map(|service| &mut service.part);
        for part in services.chain(self.proxy.as_mut()).rev() {
            if let Some(process) = part.process.take() {
                process
                    .stop()
                    .await
                    .with_context(|| format!("stopping {}", part.name))?;
            }
        }
        self.database.close().await?;
        self.state.forget()
    }
}

/// Whether the processes can be put into boxes.
fn boxable(options: &Options) -> Result<()> {
    if let Some(missing) = Network::missing() {
        bail!(missing);
    }
    ensure!(
        !options.unix_sockets,
        "boxes are told apart by their addresses: between them there are no Unix sockets"
    );
    if let DatabaseChoice::Given(url) = &options.database {
        let reached = url.options()?.get_socket().is_some();
        ensure!(
            reached,
            "a box reaches the database over a Unix socket only: give a URL with ?host=/folder, or none"
        );
    }
    Ok(())
}

impl Part {
    fn pid(&self) -> Option<u32> {
        self.process.as_ref().map(Process::id)
    }

    fn start(&mut self, guard: &Arc<Guard>) -> Result<()> {
        self.process = Some(Process::start(&self.start, guard)?);
        Ok(())
    }

    async fn wait(&mut self) -> Result<()> {
        let url = self.address.clone();
        ready::wait(&url, || self.ended())
            .await
            .with_context(|| format!("{} does not come up", self.name))
    }

    fn take(&mut self) -> Result<Process> {
        self.process
            .take()
            .with_context(|| format!("{} is stopped", self.name))
    }

    /// How the process ended, if it has; from then on it counts as stopped.
    fn ended(&mut self) -> Option<String> {
        let status = self.process.as_mut()?.ended()?;
        self.process = None;
        let log = &self.start.log;
        Some(format!(
            "{} ended ({status}); the end of its log, {}:\n{}",
            self.name,
            log.display(),
            tail_of(log)
        ))
    }
}
