//! What `deploy` would do on boxes with Docker, to the letter.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::disallowed_methods
)]

use std::collections::BTreeSet;
use std::path::Path;

use boxes::{Compose, Deployment, Docker, Inventory, Rotation, Runner, Secrets, plan};
use conduit_runtime::database::{ROLES, SET_LOGIN};
use stack::Program;
use stack::nginx::{self, RouteTable};

const ONE_SERVICE_PER_BOX: &str = include_str!("../one-service-per-box.toml");
const REBALANCED: &str = include_str!("../rebalanced.toml");

/// What is long and tried elsewhere is left out: nginx's configuration, `sql/roles.sql`.
fn written(deployment: &mut Deployment) -> String {
    let Runner::Docker(docker) = deployment.runner() else {
        panic!("no Docker")
    };
    let files = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../compose")
        .display()
        .to_string();
    docker
        .transcript()
        .replace(&files, "infra/compose")
        .replace(ROLES.trim_end(), "(sql/roles.sql)")
        .replace(SET_LOGIN.trim(), "(set login)")
}

fn configuration(inventory: &Inventory, down: &[&str]) -> String {
    let units = plan::units(inventory).unwrap();
    let down: BTreeSet<String> = down.iter().map(|name| (*name).to_owned()).collect();
    let mut site = plan::site(inventory, &units, &down, Path::new("/tmp/nginx"));
    site.listen = vec!["8080".to_owned()];
    nginx::render(plan::topology(&site), &site, &RouteTable::built_in().unwrap()).unwrap()
}

fn dry(compose: Compose) -> Deployment {
    let docker = Docker::new(compose, Path::new(".boxes"), true, None);
    Deployment::new(Runner::Docker(docker), Secrets::new())
}

/// The configuration stands in a shell's single quotes the first time, and as it is later.
fn without(text: &str, configuration: &str, word: &str) -> String {
    let configuration = configuration.trim_end();
    text.replace(&configuration.replace('\'', r"'\''"), word)
        .replace(configuration, word)
}

fn compare(came: &str, expected: &str) {
    let first = came
        .lines()
        .zip(expected.lines())
        .position(|(came, expected)| came != expected);
    assert!(
        came == expected,
        "line {:?} differs; this came:\n{came}",
        first.map(|line| line + 1)
    );
}

#[tokio::test]
async fn a_first_deployment_and_a_copy_more() {
    let mut inventory = Inventory::parse(ONE_SERVICE_PER_BOX).unwrap();
    let mut deployment = dry(Compose::V2);
    deployment.deploy(&inventory).await.unwrap();
    let first = configuration(&inventory, &[]);
    let more = r#"{ service = "articles", box = "four" }"#;
    let text = ONE_SERVICE_PER_BOX.replace(
        "    { service = \"comments\"",
        &format!("    {more},\n    {{ service = \"comments\""),
    );
    inventory = Inventory::parse(&text).unwrap();
    deployment.deploy(&inventory).await.unwrap();
    let second = configuration(&inventory, &[]);
    let came = without(&written(&mut deployment), &first, "(nginx: one copy each)");
    let came = without(&came, &second, "(nginx: two of articles)");
    compare(&came, include_str!("dry_run/deploy.txt"));
}

#[tokio::test]
async fn a_rolling_restart_with_the_older_compose() {
    let inventory = Inventory::parse(REBALANCED).unwrap();
    let mut deployment = dry(Compose::V1);
    deployment.deploy(&inventory).await.unwrap();
    let before = written(&mut deployment);
    deployment
        .rolling_restart(Program::Articles, false)
        .await
        .unwrap();
    let all = written(&mut deployment);
    let mut came = all.strip_prefix(&before).unwrap().to_owned();
    for down in [&["articles@two"][..], &["articles@three"], &[]] {
        came = without(
            &came,
            &configuration(&inventory, down),
            &format!("(nginx, down: {})", down.join(" ")),
        );
    }
    compare(&came, include_str!("dry_run/rolling_restart.txt"));
}

#[tokio::test]
async fn no_secret_is_written_down() {
    let inventory = Inventory::parse(REBALANCED).unwrap();
    let mut deployment = dry(Compose::V2);
    deployment.deploy(&inventory).await.unwrap();
    for rotation in [Rotation::Token, Rotation::Internal, Rotation::Database] {
        deployment.rotate(&inventory, rotation, |_| Ok(())).await.unwrap();
    }
    let came = written(&mut deployment);
    let long = |word: &&str| word.len() >= 32 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let shown: Vec<&str> = came
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(long)
        .collect();
    assert!(shown.is_empty(), "{} secrets in {came}", shown.len());
    assert!(
        came.contains("<token>") && came.contains("<password of conduit_users_2>"),
        "{came}"
    );
}

#[tokio::test]
async fn what_the_compose_files_cannot_do_is_refused() {
    let refused = async |text: String| {
        let inventory = Inventory::parse(&text).unwrap();
        format!("{:#}", dry(Compose::V2).deploy(&inventory).await.unwrap_err())
    };
    let port = REBALANCED.replace(r#"box = "one" }"#, r#"box = "one", port = 4000 }"#);
    let port = port.replacen("port = 4000", "port = 5000", 1);
    assert!(refused(port).await.contains("a port of its own"));
    let lost = format!("{REBALANCED}\n[variables]\nCONDUIT_UNHEARD_OF = \"1\"\n");
    assert!(refused(lost).await.contains("CONDUIT_UNHEARD_OF"));
}
