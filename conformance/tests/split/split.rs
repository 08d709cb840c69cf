//! A split in this process, each service in a thread of its own.

use std::collections::BTreeMap;
use std::sync::Arc;

use clap::Parser as _;
use conduit_rpc::Counts;
use conduit_service::Addresses;
use conduit_testkit::{Running, TestDatabase};
use conformance::ctx::Run;
use conformance::target::{RouteTable, Target};

use super::deployment::{SECRET, replaced, run};
use super::gate::{Gate, Way};

/// In the order of their starts, so that everybody's peers have their addresses before.
pub(crate) const SERVICES: [&str; 4] = ["users", "profiles", "articles", "comments"];

/// What clients' requests make services ask each other; the purge of deleted articles asks besides.
const METHODS: [(&str, &str); 5] = [
    ("users", "find"),
    ("profiles", "follows"),
    ("profiles", "followed_by"),
    ("profiles", "followed_by_each"),
    ("articles", "ids_by_slugs"),
];

/// How each service asks its peers.
#[derive(Clone, Copy)]
pub(crate) enum Transports {
    Http,
    Grpc,
    /// Articles over HTTP, the others over gRPC.
    Mixed,
}

impl Transports {
    fn of(self, service: &str) -> &'static str {
        match (self, service) {
            (Self::Http, _) | (Self::Mixed, "articles") => "http",
            (Self::Grpc | Self::Mixed, _) => "grpc",
        }
    }
}

#[derive(Clone)]
struct Started {
    addresses: Addresses,
    counts: Arc<Counts>,
}

/// What a service is told beside what every service of these tests is.
type Also = Vec<String>;

/// Four running services; they stop when the value goes.
pub(crate) struct Split {
    pub(crate) database: Arc<TestDatabase>,
    transports: Transports,
    also: Also,
    // The ways to each service's listeners for its peers, HTTP and gRPC, where they can be blocked.
    gates: Option<BTreeMap<&'static str, [Gate; 2]>>,
    // Those who ask come first, so that nobody is asked by a service that outlives it.
    services: Vec<(&'static str, Running<Started>)>,
}

impl Split {
    /// On an empty database of its own, without the monolith's keys.
    pub(crate) async fn start(transports: Transports) -> Self {
        Self::on(Arc::new(TestDatabase::without_shared_keys().await), transports)
    }

    pub(crate) fn on(database: Arc<TestDatabase>, transports: Transports) -> Self {
        Self::told(database, transports, &[])
    }

    /// With these settings.
    pub(crate) fn told(database: Arc<TestDatabase>, transports: Transports, also: &[&str]) -> Self {
        Self::planned(database, transports, also).started_all()
    }

    /// With these settings, and a gate before each service's listeners for its peers.
    pub(crate) fn with_gates(database: Arc<TestDatabase>, transports: Transports, also: &[&str]) -> Self {
        let planned = Self::planned(database, transports, also);
        let gates = Some(BTreeMap::new());
        Self { gates, ..planned }.started_all()
    }

    fn planned(database: Arc<TestDatabase>, transports: Transports, also: &[&str]) -> Self {
        Self {
            database,
            transports,
            also: also.iter().map(|&argument| argument.to_owned()).collect(),
            gates: None,
            services: Vec::new(),
        }
    }

    fn started_all(mut self) -> Self {
        for name in SERVICES {
            let service = start(name, self.arguments(name, None));
            if let (
                Some(gates),
                Addresses {
                    internal_http: Some(http),
                    internal_grpc: Some(grpc),
                    ..
                },
            ) = (&mut self.gates, &service.started.addresses)
            {
                gates.insert(name, [Gate::to(http), Gate::to(grpc)]);
            }
            self.services.insert(0, (name, service));
        }
        self
    }

    /// What becomes of the calls to the service from now on.
    pub(crate) fn block(&mut self, name: &str, way: &Way) {
        for gate in self.gates_to(name) {
            gate.set(way.clone());
        }
    }

    pub(crate) fn gates_to(&mut self, name: &str) -> &mut [Gate; 2] {
        self.gates.as_mut().unwrap().get_mut(name).unwrap()
    }

    /// The deployment as conformance addresses it.
    pub(crate) fn run(&self, seed: u64) -> Run {
        let parts: Vec<String> = SERVICES
            .iter()
            .map(|name| format!("{name}={}", self.started(name).addresses.public))
            .collect();
        let target = Target::parse(&parts.join(","), &RouteTable::built_in().unwrap()).unwrap();
        Run {
            target,
            ..run("127.0.0.1:1", seed)
        }
    }

    /// How often each method was called so far, by all services together.
    pub(crate) fn calls(&self) -> BTreeMap<String, u64> {
        let made = |peer, method| {
            let services = self.services.iter();
            services
                .map(|(_, service)| service.started.counts.calls(peer, method))
                .sum()
        };
        METHODS
            .into_iter()
            .map(|(peer, method)| (format!("{peer}.{method}"), made(peer, method)))
            .collect()
    }

    /// Where a service listens.
    #[allow(dead_code, reason = "not every test program looks at it")]
    pub(crate) fn addresses(&self, name: &str) -> &Addresses {
        &self.started(name).addresses
    }

    pub(crate) fn stop(&mut self, name: &str) {
        self.place(name).stop();
    }

    /// Starts a stopped service where it was.
    pub(crate) fn start_again(&mut self, name: &'static str) {
        let arguments = self.arguments(name, Some(&self.started(name).addresses));
        *self.place(name) = start(name, arguments);
    }

    fn started(&self, name: &str) -> &Started {
        let (_, service) = self.services.iter().find(|(known, _)| *known == name).unwrap();
        &service.started
    }

    fn place(&mut self, name: &str) -> &mut Running<Started> {
        let (_, service) = self
            .services
            .iter_mut()
            .find(|(known, _)| *known == name)
            .unwrap();
        service
    }

    fn arguments(&self, name: &'static str, at: Option<&Addresses>) -> Vec<String> {
        let place = |address: Option<&String>| {
            address.map_or("127.0.0.1:0".to_owned(), |a| a.replacen("http://", "", 1))
        };
        let mut arguments = vec![
            name.to_owned(),
            format!("--http-listen={}", place(at.map(|at| &at.public))),
            format!(
                "--internal-http-listen={}",
                place(at.and_then(|at| at.internal_http.as_ref()))
            ),
            format!(
                "--internal-grpc-listen={}",
                place(at.and_then(|at| at.internal_grpc.as_ref()))
            ),
            format!("--database-url={}", self.database.url(name).expose()),
            format!("--token-secret={SECRET}"),
            format!("--rpc-transport={}", self.transports.of(name)),
        ];
        arguments.extend(
            [
                "--internal-secret=what the services of these tests share",
                "--ops-listen=off",
                "--http-workers=2",
                "--database-migrate=false",
                "--request-deadline=5s",
                "--http-stop-wait=1s",
            ]
            .map(str::to_owned),
        );
        match name {
            // Hashing is not what is tested here, and it is most of what a check costs.
            "users" => arguments.extend(["--password-memory=64", "--password-passes=1"].map(str::to_owned)),
            "comments" => arguments.push("--comments-purge-interval=100ms".to_owned()),
            _ => {}
        }
        for peer in SERVICES.into_iter().take_while(|peer| *peer != name) {
            let [http, grpc] = self.way_to(peer);
            arguments.push(format!("--rpc-{peer}-http={http}"));
            arguments.push(format!("--rpc-{peer}-grpc={grpc}"));
        }
        replaced(arguments, &self.also)
    }

    fn way_to(&self, peer: &str) -> [String; 2] {
        if let Some(gates) = &self.gates {
            return [0, 1].map(|place| gates[peer][place].address.clone());
        }
        let addresses = &self.started(peer).addresses;
        [&addresses.internal_http, &addresses.internal_grpc].map(|address| address.clone().unwrap())
    }
}

fn start(name: &'static str, arguments: Vec<String>) -> Running<Started> {
    Running::start(move |terms| async move {
        let service = match name {
            "users" => conduit_users::build(conduit_users::Settings::parse_from(arguments)).await?,
            "profiles" => conduit_profiles::build(conduit_profiles::Settings::parse_from(arguments)).await?,
            "articles" => conduit_articles::build(conduit_articles::Settings::parse_from(arguments)).await?,
            _ => conduit_comments::build(conduit_comments::Settings::parse_from(arguments)).await?,
        };
        terms.started.send(Started {
            addresses: service.addresses().clone(),
            counts: Arc::clone(&service.parts().calls.counts),
        })?;
        let stop = async {
            let _ = terms.stop.await;
            "the test is over"
        };
        service.run(stop).await
    })
}
