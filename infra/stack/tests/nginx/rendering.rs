//! Every topology, with and without what is optional.

use std::collections::BTreeMap;
use std::fs;

use stack::nginx::{self, Copy, LoginLimit, RouteTable, Site, Tls, Topology};

use crate::support::{SERVICES, certificate, folder, monoliths, program};

fn services(topology: Topology) -> BTreeMap<String, Vec<Copy>> {
    let one = |name: &str, port: u16| (name.to_owned(), vec![Copy::new(format!("127.0.0.1:{port}"))]);
    let mut split: BTreeMap<_, _> = SERVICES
        .iter()
        .zip(3010..)
        .map(|(name, port)| one(name, port))
        .collect();
    match topology {
        Topology::Single => monoliths(&["127.0.0.1:3000"]),
        Topology::Replicas => monoliths(&["10.0.0.1:3000", "10.0.0.2:3000", "unix:/run/conduit/3.sock"]),
        Topology::Split => split,
        Topology::Rebalanced => {
            let articles = split.get_mut("articles").unwrap();
            articles[0].weight = 3;
            articles.push(Copy {
                down: true,
                ..Copy::new("10.0.0.9:3030")
            });
            split
        }
    }
}

const ALL: [Topology; 4] = [
    Topology::Single,
    Topology::Replicas,
    Topology::Split,
    Topology::Rebalanced,
];

fn render(topology: Topology, site: &Site) -> anyhow::Result<String> {
    nginx::render(topology, site, &RouteTable::built_in().unwrap())
}

fn site(topology: Topology) -> Site {
    Site::new("127.0.0.1:3000", "/run/conduit", services(topology))
}

#[test]
fn nginx_accepts_every_rendering() {
    let Some(program) = program() else { return };
    let folder = folder();
    let (certificate, key) = certificate(folder.path());
    for topology in ALL {
        for options in 0..16_u8 {
            let mut site = site(topology);
            site.folder = folder.path().to_owned();
            site.account = nginx::worker_account();
            site.tls = (options & 1 > 0).then(|| Tls {
                certificate: certificate.clone(),
                key: key.clone(),
            });
            site.login_limit = (options & 2 > 0).then_some(LoginLimit {
                per_minute: 10,
                burst: 5,
            });
            site.static_folder = (options & 4 > 0).then(|| folder.path().to_owned());
            site.access_log =
                (options & 8 > 0).then(|| folder.path().join("access.log").display().to_string());
            site.workers = (options & 1 > 0).then_some(2);
            site.listen.push("[::1]:3000".to_owned());
            let configuration = folder.path().join("nginx.conf");
            fs::write(&configuration, render(topology, &site).unwrap()).unwrap();
            nginx::check(&program, &configuration, folder.path())
                .unwrap_or_else(|error| panic!("{topology:?} with options {options:04b}: {error:#}"));
        }
    }
}

#[test]
fn a_rendering_needs_every_service_and_no_other() {
    for topology in ALL {
        let mut wrong = site(topology);
        wrong
            .services
            .insert("search".to_owned(), vec![Copy::new("127.0.0.1:1")]);
        assert!(
            render(topology, &wrong)
                .unwrap_err()
                .to_string()
                .contains("search")
        );
        let mut missing = site(topology);
        let name = missing.services.keys().next().unwrap().clone();
        missing.services.remove(&name);
        assert!(
            render(topology, &missing)
                .unwrap_err()
                .to_string()
                .contains(&name)
        );
    }
    let mut several = site(Topology::Split);
    several
        .services
        .get_mut("users")
        .unwrap()
        .push(Copy::new("127.0.0.1:1"));
    assert!(render(Topology::Split, &several).is_err());
}

#[test]
fn a_value_cannot_add_directives() {
    let mut wrong = site(Topology::Single);
    wrong.services = monoliths(&["127.0.0.1:1\"; } daemon on; #"]);
    let told = format!("{:#}", render(Topology::Single, &wrong).unwrap_err());
    assert!(told.contains("cannot stand in an nginx configuration"), "{told}");
}

#[test]
fn shares_and_copies_taken_out_are_written() {
    let text = render(Topology::Rebalanced, &site(Topology::Rebalanced)).unwrap();
    assert!(
        text.contains(r#"server "127.0.0.1:3012" weight=3 max_fails=1 fail_timeout=5s;"#),
        "{text}"
    );
    assert!(
        text.contains(r#"server "10.0.0.9:3030" weight=1 max_fails=1 fail_timeout=5s down;"#),
        "{text}"
    );
}

#[test]
fn variables_can_come_from_a_file() {
    let text = r#"
        listen = ["80"]
        folder = "/run/nginx"
        login_limit = { per_minute = 10, burst = 5 }
        [services]
        monolith = [{ address = "10.0.0.1:3000" }, { address = "10.0.0.2:3000", down = true }]
    "#;
    let site: Site = toml::from_str(text).unwrap();
    let text = render(Topology::Replicas, &site).unwrap();
    assert!(
        text.contains("rate=10r/m") && text.contains("10.0.0.2:3000\" max_fails=1 fail_timeout=5s down;"),
        "{text}"
    );
    assert!(toml::from_str::<Site>("listen = []\nfolder = \"\"\nservices = {}\nlogin_limits = 3").is_err());
}
