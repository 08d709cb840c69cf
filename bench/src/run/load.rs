//! One load on one deployment, with what it costs.

use anyhow::Result;

use super::Surroundings;
use super::database::Cluster;
use super::deployment::Deployment;
use super::observe::{Costs, Observer};
use crate::account::budget::{Bounds, Group as ControlGroup};
use crate::account::{Watched, Who};
use crate::load::{ARRIVAL, Event, Generators, Offered, Outcome, Profile, Spec};
use crate::plan::Plan;
use crate::results::{Load, ProcessKind};

/// How load is made on one deployment.
pub(super) struct Loading<'a> {
    pub(super) plan: &'a Plan,
    pub(super) deployment: &'a Deployment,
    /// PostgreSQL, if it is here.
    pub(super) cluster: Option<&'a Cluster>,
    pub(super) surroundings: &'a Surroundings,
    pub(super) profile: Profile,
    /// Sets what is drawn; different for each repetition, the same for each layout.
    pub(super) seed: u64,
}

/// What came of a load, and what it cost.
pub(super) struct Loaded {
    pub(super) seconds: f64,
    pub(super) outcome: Outcome,
    pub(super) costs: Costs,
}

impl Loading<'_> {
    /// Makes the load and waits for its end.
    pub(super) async fn run(&self, load: Load, seconds: f64) -> Result<Loaded> {
        let spec = self.spec(load, seconds);
        let generators = Generators::start(&self.commands(), &spec).await?;
        let _pinned = self.pin(&generators)?;
        let mut observer = Observer::new(self.deployment, self.cluster, self.watched(&generators));
        let outcome = generators
            .run(async |event| match event {
                Event::Counting => observer.begin().await,
                Event::Counted => observer.end().await,
            })
            .await?;
        Ok(Loaded {
            seconds,
            outcome,
            costs: observer.costs()?,
        })
    }

    fn spec(&self, load: Load, seconds: f64) -> Spec {
        let settings = &self.plan.load;
        let offered = match load {
            Load::Users(users) => Offered::Users {
                users,
                think: settings.think,
            },
            Load::PerSecond(per_second) => Offered::Rate {
                per_second,
                connections: settings.connections,
            },
            Load::Connections(connections) => Offered::Closed { connections },
        };
        Spec {
            target: self.deployment.target.clone(),
            profile: self.profile,
            offered,
            // Before all readers have asked, some have no connection yet.
            warm_up: match load {
                Load::Users(_) => settings.warm_up.max(settings.think * ARRIVAL),
                Load::PerSecond(_) | Load::Connections(_) => settings.warm_up,
            },
            seconds,
            timeout: settings.timeout,
            seed: self.seed,
            world: self.deployment.world.clone(),
        }
    }

    fn commands(&self) -> Vec<Vec<String>> {
        let here = (0..self.plan.load.generators).map(|_| self.surroundings.generator.clone());
        here.chain(self.plan.load.elsewhere.iter().cloned()).collect()
    }

    fn pin(&self, generators: &Generators) -> Result<Option<ControlGroup>> {
        let Some(cores) = &self.plan.load.generator_cores else {
            return Ok(None);
        };
        let bounds = Bounds {
            millicores: None,
            cores: Some(cores.clone()),
        };
        let name = format!("conduit-bench-{}-generators", std::process::id());
        let group = ControlGroup::make(&name, &bounds)?;
        for pid in generators.process_ids() {
            group.add(pid)?;
        }
        Ok(Some(group))
    }

    fn watched(&self, generators: &Generators) -> Vec<Watched> {
        let mut watched = self.deployment.watched();
        watched.extend(self.cluster.map(Cluster::watched));
        let generator = |(number, pid): (usize, u32)| Watched {
            name: format!("generator-{}", number + 1),
            service: None,
            kind: ProcessKind::Generator,
            who: Who::One(pid),
        };
        let local = generators.process_ids().into_iter().enumerate();
        // Those elsewhere are commands that wait here and do nothing.
        let here = usize::try_from(self.plan.load.generators).unwrap_or(usize::MAX);
        watched.extend(local.take(here).map(generator));
        watched
    }
}
