//! Deployments in namespaces, and conformance as whoever asks them.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::ops::{Deref, DerefMut};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use boxes::{Deployment, Inventory, Namespaces, Runner, Secrets, Transport};
use conduit_testkit::skip;
use conformance::checks::{self, Check};
use conformance::ctx::{Ctx, Run};
use conformance::forge::Secret;
use conformance::http::Request;
use conformance::log::Certainty;
use conformance::report::{self, Tally};
use conformance::runner;
use conformance::session::Session;
use conformance::target::{RouteTable, Target};
use serde_json::Value;
use stack::Binaries;
use tokio::sync::{Mutex, MutexGuard};

/// Against tests that hang: an exchange takes milliseconds.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) const MONOLITH_1: &str = include_str!("../../monolith-1.toml");
pub(crate) const MONOLITH_X4: &str = include_str!("../../monolith-x4.toml");
pub(crate) const ONE_SERVICE_PER_BOX: &str = include_str!("../../one-service-per-box.toml");
pub(crate) const REBALANCED: &str = include_str!("../../rebalanced.toml");

/// The inventory, with the patience of a machine that does ten other things with unoptimised programs.
pub(crate) fn inventory(text: &str) -> Inventory {
    let mut inventory = Inventory::parse(text).unwrap();
    let patient = [
        ("CONDUIT_REQUEST_DEADLINE", "5s"),
        ("CONDUIT_DATABASE_WAIT", "5s"),
        ("CONDUIT_RPC_TIMEOUT", "5s"),
        ("CONDUIT_RPC_CONNECT_TIMEOUT", "5s"),
        // A connection is a process of PostgreSQL's: as many as are needed, and no more.
        ("CONDUIT_DATABASE_POOL_SIZE", "4"),
        ("RUST_LOG", "warn"),
    ];
    inventory.variables = patient
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
    inventory
}

pub(crate) fn over(transport: Transport, text: &str) -> Inventory {
    Inventory {
        transport,
        ..inventory(text)
    }
}

/// The monoliths on the boxes one and two.
pub(crate) fn two_monoliths() -> Inventory {
    let mut inventory = inventory(MONOLITH_X4);
    inventory.copies.truncate(2);
    inventory
}

/// Nothing deployed yet; none where we may not make namespaces.
fn empty() -> Option<Deployment> {
    if let Some(missing) = Namespaces::missing() {
        skip(&format!("{missing}; so nothing is tried over several boxes"));
        return None;
    }
    let binaries = Binaries::beside_this_program(false, false).unwrap();
    let namespaces = Namespaces::new(binaries).unwrap_or_else(|error| panic!("{error:#}"));
    Some(Deployment::new(
        Runner::Namespaces(Box::new(namespaces)),
        Secrets::new(),
    ))
}

/// One deployment at a time: the processors of a small machine are one deployment's worth.
static TURN: Mutex<()> = Mutex::const_new(());

/// What is deployed, while it is its turn.
pub(crate) struct Up {
    deployment: Deployment,
    _turn: MutexGuard<'static, ()>,
}

impl Deref for Up {
    type Target = Deployment;

    fn deref(&self) -> &Deployment {
        &self.deployment
    }
}

impl DerefMut for Up {
    fn deref_mut(&mut self) -> &mut Deployment {
        &mut self.deployment
    }
}

pub(crate) async fn up(inventory: &Inventory) -> Option<Up> {
    let turn = TURN.lock().await;
    let mut deployment = empty()?;
    deploy(&mut deployment, inventory).await;
    Some(Up {
        deployment,
        _turn: turn,
    })
}

pub(crate) async fn deploy(deployment: &mut Deployment, inventory: &Inventory) {
    let deployed = deployment.deploy(inventory).await;
    deployed.unwrap_or_else(|error| panic!("{error:#}\n{}", logged(deployment)));
}

pub(crate) fn namespaces(deployment: &mut Deployment) -> &mut Namespaces {
    match deployment.runner() {
        Runner::Namespaces(namespaces) => namespaces,
        Runner::Docker(_) => panic!("no namespaces"),
    }
}

pub(crate) async fn down(up: Up) {
    match up.deployment.into_runner() {
        Runner::Namespaces(namespaces) => namespaces.down().await.unwrap(),
        Runner::Docker(_) => panic!("no namespaces"),
    }
}

/// What the processes had to say: they log warnings and errors only.
pub(crate) fn logged(deployment: &mut Deployment) -> String {
    let names: Vec<String> = deployment
        .running()
        .keys()
        .cloned()
        .chain(["nginx".to_owned()])
        .collect();
    let namespaces = namespaces(deployment);
    let read = |name: String| {
        let text = std::fs::read_to_string(namespaces.log(&name)).unwrap_or_default();
        format!("== {name}\n{text}")
    };
    names.into_iter().map(read).collect()
}

pub(crate) fn run_at(address: &str, deployment: &Deployment) -> Run {
    Run {
        target: Target::parse(address, &RouteTable::built_in().unwrap()).unwrap(),
        seed: 1,
        secret: Some(Secret::new(deployment.secrets().token.first.as_str())),
        patience: PATIENCE,
    }
}

/// Requests through nginx.
pub(crate) fn run(deployment: &Deployment) -> Run {
    run_at(&deployment.address().unwrap(), deployment)
}

pub(crate) fn client(deployment: &Deployment, name: &str) -> Ctx {
    Ctx::new(&run(deployment), name)
}

/// Status and body, on a connection of its own, whatever they are: conformance's own calls take no 5xx for an answer.
pub(crate) async fn ask(
    run: &Run,
    method: &str,
    target: &str,
    token: Option<&str>,
    body: Option<Value>,
) -> (u16, String) {
    let mut headers = vec![("Connection".to_owned(), "close".to_owned())];
    headers.extend(token.map(|token| ("Authorization".to_owned(), format!("Token {token}"))));
    let request = Request {
        method: method.to_owned(),
        target: target.to_owned(),
        headers,
        body: body.map(|body| body.to_string().into_bytes()),
    };
    let exchange = Session::new(run.target.clone(), run.patience)
        .exchange(request, Certainty::Certain)
        .await;
    let answer = exchange
        .outcome
        .unwrap_or_else(|trouble| panic!("{method} {target}: {trouble}"));
    (answer.status, answer.text())
}

/// What is said by the application and by nginx where something behind them does not answer.
pub(crate) fn unavailable() -> (u16, String) {
    (503, r#"{"errors":{"server":["is unavailable"]}}"#.to_owned())
}

/// Conformance through nginx; `seed` keeps the texts of several runs on the same data apart.
pub(crate) async fn conforms(deployment: &mut Deployment, seed: u64, which: fn(&Check) -> bool) -> usize {
    let run = Run {
        seed,
        ..run(deployment)
    };
    runner::probe(&run).await.unwrap();
    let mut checks = checks::all();
    checks.retain(which);
    let planned = checks.len();
    let verdicts = runner::run_all(&run, checks, 2, |_| {}).await;
    let expected = Tally {
        passed: planned,
        ..Tally::default()
    };
    let came = Tally::of(&verdicts, planned);
    assert_eq!(
        came,
        expected,
        "{}\n{}",
        report::failures(&verdicts),
        logged(deployment)
    );
    planned
}

/// The checks of what a proxy could spoil, and of what the services must agree on.
pub(crate) fn smoke(check: &Check) -> bool {
    matches!(check.area(), "http" | "split")
}

/// `psql` as the superuser, with a session that stays.
pub(crate) struct Psql {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Psql {
    pub(crate) fn open(deployment: &mut Deployment) -> Self {
        let url = namespaces(deployment).database_url().unwrap();
        let mut command = Command::new("psql");
        command.args(["-XqAt", "-v", "ON_ERROR_STOP=1", url.expose()]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("psql is not installed");
        let (input, output) = (
            child.stdin.take().unwrap(),
            BufReader::new(child.stdout.take().unwrap()),
        );
        Self { child, input, output }
    }

    /// The lines that the statements print.
    pub(crate) fn ask(&mut self, statements: &str) -> Vec<String> {
        writeln!(self.input, "{statements};\n\\echo --").unwrap();
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            assert!(
                self.output.read_line(&mut line).unwrap() > 0,
                "psql ended: {statements}"
            );
            match line.trim_end() {
                "--" => return lines,
                line => lines.push(line.to_owned()),
            }
        }
    }

    pub(crate) fn number(&mut self, statement: &str) -> i64 {
        self.ask(statement)[0].parse().unwrap()
    }
}

impl Drop for Psql {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Asks again and again until the answer is yes; gives up where a hung test would.
pub(crate) async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let looking = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let in_time = tokio::time::timeout(PATIENCE, looking).await;
    assert!(in_time.is_ok(), "{what}");
}

/// The variables of the inventory with these besides.
pub(crate) fn with(mut inventory: Inventory, variables: &[(&str, &str)]) -> Inventory {
    let further: BTreeMap<String, String> = variables
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    inventory.variables.extend(further);
    inventory
}
