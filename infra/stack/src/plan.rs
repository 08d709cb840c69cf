//! Which process listens where and is told what.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;

use anyhow::Result;
use nix::sys::signal::Signal;

use crate::address::{Place, Reserved};
use crate::guard::Guard;
use crate::layout::{Instance, Layout, Program};
use crate::network::Network;
use crate::nginx::Copy;
use crate::options::Options;
use crate::process::Start;
use crate::state::State;
use crate::summary::ServiceInfo;

/// Ports in a box, which are the process's alone: for clients, for peers over HTTP and over gRPC, for operations.
const PUBLIC: u16 = 3000;
const INTERNAL_HTTP: u16 = 3001;
const INTERNAL_GRPC: u16 = 3002;
const OPERATIONS: u16 = 3003;

/// A process with its places.
#[derive(Clone, Debug)]
pub(crate) struct Planned {
    pub(crate) instance: Instance,
    pub(crate) public: Place,
    pub(crate) operations: Place,
    pub(crate) internal_http: Option<Place>,
    pub(crate) internal_grpc: Option<Place>,
    /// What `ip` is called with to start its program, if it has a box.
    inside: Option<Vec<String>>,
}

/// A box for each process.
pub(crate) fn boxed(
    layout: Layout,
    options: &Options,
    network: &mut Network,
    guard: &Guard,
) -> Result<Vec<Planned>> {
    let plan = |instance: Instance| {
        let address = network.plug_in(&instance.name, guard)?;
        let place = |port| Place::Tcp(SocketAddr::from((address, port)));
        let asked = instance.program.is_asked();
        let program = options.binaries.path(instance.program.name());
        Ok(Planned {
            public: place(PUBLIC),
            operations: place(OPERATIONS),
            internal_http: asked.then(|| place(INTERNAL_HTTP)),
            internal_grpc: asked.then(|| place(INTERNAL_GRPC)),
            inside: Some(network.inside(&instance.name, &program)),
            instance,
        })
    };
    layout.instances().into_iter().map(plan).collect()
}

/// Chooses the places. `proxied`: the public address is the proxy's, else the monolith's. `run`: the folder for sockets.
pub(crate) fn places(
    layout: Layout,
    options: &Options,
    proxied: bool,
    run: &Path,
    reserved: &mut Reserved,
) -> Result<Vec<Planned>> {
    let mut planned = Vec::new();
    for instance in layout.instances() {
        let mut inside = |kind: &str| match options.unix_sockets {
            true => Reserved::socket(run, &format!("{}.{kind}", instance.name)),
            false => reserved.any_port(),
        };
        let asked = instance.program.is_asked();
        let internal_http = asked.then(|| inside("http")).transpose()?;
        let internal_grpc = asked.then(|| inside("grpc")).transpose()?;
        let public = match (proxied, instance.program, options.port) {
            (true, ..) => inside("public")?,
            (false, Program::Monolith, Some(port)) => reserved.port(port)?,
            (false, ..) => reserved.any_port()?,
        };
        let operations = reserved.any_port()?;
        planned.push(Planned {
            instance,
            public,
            operations,
            internal_http,
            internal_grpc,
            inside: None,
        });
    }
    Ok(planned)
}

/// How each process is started.
pub(crate) fn start(
    planned: &Planned,
    all: &[Planned],
    layout: Layout,
    options: &Options,
    state: &State,
) -> Start {
    let program = planned.instance.program;
    let off = || "off".to_owned();
    let file = |path: std::path::PathBuf| path.display().to_string();
    let mut variables = vec![
        ("CONDUIT_HTTP_LISTEN", planned.public.listen()),
        ("CONDUIT_OPS_LISTEN", planned.operations.listen()),
        ("CONDUIT_TOKEN_SECRET_FILE", file(state.token_secret())),
        (
            "DATABASE_URL_FILE",
            file(state.database_url(Some(program.owner()))),
        ),
        // We did, with a login that may.
        ("CONDUIT_DATABASE_MIGRATE", "false".to_owned()),
    ];
    if let Some(workers) = options.workers {
        variables.push(("CONDUIT_HTTP_WORKERS", workers.to_string()));
    }
    if program != Program::Monolith {
        variables.extend([
            (
                "CONDUIT_INTERNAL_HTTP_LISTEN",
                planned.internal_http.as_ref().map_or_else(off, Place::listen),
            ),
            (
                "CONDUIT_INTERNAL_GRPC_LISTEN",
                planned.internal_grpc.as_ref().map_or_else(off, Place::listen),
            ),
            ("CONDUIT_INTERNAL_SECRET_FILE", file(state.internal_secret())),
            ("CONDUIT_RPC_TRANSPORT", layout.transport(program).to_owned()),
            ("CONDUIT_RPC_BATCHING", options.batching.to_string()),
            (
                "CONDUIT_RPC_USERS_HTTP",
                peers(all, Program::Users, |one| one.internal_http.as_ref()),
            ),
            (
                "CONDUIT_RPC_USERS_GRPC",
                peers(all, Program::Users, |one| one.internal_grpc.as_ref()),
            ),
            (
                "CONDUIT_RPC_PROFILES_HTTP",
                peers(all, Program::Profiles, |one| one.internal_http.as_ref()),
            ),
            (
                "CONDUIT_RPC_PROFILES_GRPC",
                peers(all, Program::Profiles, |one| one.internal_grpc.as_ref()),
            ),
            (
                "CONDUIT_RPC_ARTICLES_HTTP",
                peers(all, Program::Articles, |one| one.internal_http.as_ref()),
            ),
            (
                "CONDUIT_RPC_ARTICLES_GRPC",
                peers(all, Program::Articles, |one| one.internal_grpc.as_ref()),
            ),
        ]);
    }
    let own = variables
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value));
    let (executable, arguments) = match &planned.inside {
        Some(inside) => ("ip".into(), inside.clone()),
        None => (options.binaries.path(program.name()), Vec::new()),
    };
    Start {
        executable,
        arguments,
        environment: own.chain(options.environment.iter().cloned()).collect(),
        log: state.log(&planned.instance.name),
        stop: Signal::SIGTERM,
    }
}

/// The copies of a peer as its `CONDUIT_RPC_…` has them, each with its share where there are several.
fn peers(all: &[Planned], program: Program, place: impl Fn(&Planned) -> Option<&Place>) -> String {
    let copies: Vec<&Planned> = all.iter().filter(|one| one.instance.program == program).collect();
    let several = copies.len() > 1;
    let written = copies.iter().filter_map(|copy| {
        let url = place(copy)?.url();
        Some(if several {
            format!("{url}*{}", copy.instance.weight)
        } else {
            url
        })
    });
    written.collect::<Vec<_>>().join(",")
}

/// The copies of each service as nginx has them.
pub(crate) fn copies(all: &[Planned]) -> BTreeMap<String, Vec<Copy>> {
    let mut services: BTreeMap<String, Vec<Copy>> = BTreeMap::new();
    for planned in all {
        let copy = Copy {
            weight: planned.instance.weight,
            ..Copy::new(planned.public.listen())
        };
        services
            .entry(planned.instance.program.name().to_owned())
            .or_default()
            .push(copy);
    }
    services
}

/// The public address without a proxy: the monolith's, or each service's.
pub(crate) fn address(all: &[Planned]) -> String {
    let one = |planned: &Planned| match planned.instance.program {
        Program::Monolith => planned.public.url(),
        program => format!("{}={}", program.name(), planned.public.url()),
    };
    all.iter().map(one).collect::<Vec<_>>().join(",")
}

impl Planned {
    pub(crate) fn info(&self, pid: Option<u32>) -> ServiceInfo {
        ServiceInfo {
            name: self.instance.name.clone(),
            pid,
            public: self.public.url(),
            operations: self.operations.url(),
            internal_http: self.internal_http.as_ref().map(Place::url),
            internal_grpc: self.internal_grpc.as_ref().map(Place::url),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Binaries;

    fn planned(layout: Layout, unix_sockets: bool) -> Vec<Planned> {
        let mut options = Options::new(
            "/s",
            Binaries {
                folder: "/b".into(),
                build: false,
            },
        );
        options.unix_sockets = unix_sockets;
        places(layout, &options, true, Path::new("/r"), &mut Reserved::default()).unwrap()
    }

    #[test]
    fn copies_of_a_peer_are_asked_by_their_shares() {
        let all = planned(Layout::SplitRebalancedGrpc, true);
        let asked = peers(&all, Program::Articles, |one| one.internal_grpc.as_ref());
        assert_eq!(asked, "unix:/r/articles.grpc*3,unix:/r/articles-2.grpc*1");
        let asked = peers(&all, Program::Users, |one| one.internal_http.as_ref());
        assert_eq!(asked, "unix:/r/users.http");
    }

    #[test]
    fn nobody_may_ask_the_comments() {
        let all = planned(Layout::SplitHttp, false);
        let comments = all.iter().find(|one| one.instance.name == "comments").unwrap();
        assert_eq!((&comments.internal_http, &comments.internal_grpc), (&None, &None));
    }

    #[test]
    fn nginx_gets_every_copy() {
        let copies = copies(&planned(Layout::SplitRebalancedHttp, true));
        let articles: Vec<_> = copies["articles"]
            .iter()
            .map(|copy| (copy.address.as_str(), copy.weight))
            .collect();
        assert_eq!(
            articles,
            [("unix:/r/articles.public", 3), ("unix:/r/articles-2.public", 1)]
        );
        assert_eq!(copies.len(), 4);
    }

    #[test]
    fn without_a_proxy_each_service_is_named() {
        let address = address(&planned(Layout::SplitMixed, false));
        let table = conformance::target::RouteTable::built_in().unwrap();
        conformance::target::Target::parse(&address, &table).unwrap();
        assert!(address.starts_with("users=http://127.0.0.1:"), "{address}");
    }
}
