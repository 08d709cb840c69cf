//! Who may depend on whom (ARCHITECTURE.md): the crates as cargo sees them, against a list.

#![allow(
    clippy::unwrap_used,
    reason = "a test has nothing better to do when its surroundings fail"
)]

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package};

/// Each crate of ours with those of ours that it may link. Tests may link more.
const ALLOWED: &[(&str, &[&str])] = &[
    ("conduit-domain", &[]),
    ("conduit-trace", &[]),
    ("conduit-store", &["conduit-domain"]),
    ("conduit-app", &["conduit-domain", "conduit-store"]),
    ("conduit-web", &["conduit-domain", "conduit-app", "conduit-trace"]),
    ("conduit-runtime", &["conduit-domain", "conduit-trace"]),
    ("conduit-rpc", &["conduit-domain", "conduit-trace"]),
    (
        "conduit-process",
        &[
            "conduit-domain",
            "conduit-store",
            "conduit-app",
            "conduit-web",
            "conduit-runtime",
        ],
    ),
    (
        "conduit-service",
        &[
            "conduit-domain",
            "conduit-store",
            "conduit-app",
            "conduit-web",
            "conduit-runtime",
            "conduit-process",
            "conduit-rpc",
        ],
    ),
    (
        "conduit-testkit",
        &["conduit-domain", "conduit-store", "conduit-runtime"],
    ),
    (
        "monolith",
        &[
            "conduit-domain",
            "conduit-store",
            "conduit-app",
            "conduit-web",
            "conduit-runtime",
            "conduit-process",
        ],
    ),
    ("conduit-users", SERVICE),
    ("conduit-profiles", SERVICE),
    ("conduit-articles", SERVICE),
    ("conduit-comments", SERVICE),
    ("conformance", &[]),
    ("stack", &["conduit-runtime", "conduit-web"]),
    (
        "bench",
        &["conduit-domain", "conduit-runtime", "conformance", "stack"],
    ),
    ("boxes", &["conduit-runtime", "stack"]),
];

/// No service links another one.
const SERVICE: &[&str] = &[
    "conduit-domain",
    "conduit-store",
    "conduit-app",
    "conduit-runtime",
    "conduit-process",
    "conduit-rpc",
    "conduit-service",
];

/// Libraries that stay where they belong.
const CONFINED: &[(&str, &[&str])] = &[
    (
        "sqlx",
        &[
            "conduit-store",
            "conduit-runtime",
            "conduit-testkit",
            "monolith",
            "bench",
        ],
    ),
    ("tonic", &["conduit-rpc"]),
    ("reqwest", &["conduit-rpc", "stack"]),
    ("argon2", &["conduit-app"]),
    ("jsonwebtoken", &["conduit-app", "conformance"]),
];

/// Only what this machine's builds need, so that nothing is downloaded for it.
fn metadata() -> Metadata {
    let rustc = std::process::Command::new("rustc").arg("-vV").output().unwrap();
    let versions = String::from_utf8(rustc.stdout).unwrap();
    let host = versions
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .unwrap();
    let options = ["--offline", "--filter-platform", host].map(str::to_owned);
    MetadataCommand::new().other_options(options).exec().unwrap()
}

fn links(package: &Package) -> impl Iterator<Item = &str> {
    package
        .dependencies
        .iter()
        .filter(|d| d.kind == DependencyKind::Normal)
        .map(|d| d.name.as_str())
}

#[test]
fn our_crates_link_only_what_they_may() {
    let metadata = metadata();
    let allowed: BTreeMap<&str, &[&str]> = ALLOWED.iter().copied().collect();
    let ours: BTreeSet<&str> = metadata
        .workspace_packages()
        .iter()
        .map(|p| p.name.as_str())
        .collect();
    for package in metadata.workspace_packages() {
        let may = allowed
            .get(package.name.as_str())
            .unwrap_or_else(|| panic!("{} is not in the list", package.name));
        for linked in links(package).filter(|name| ours.contains(name)) {
            assert!(may.contains(&linked), "{} must not link {linked}", package.name);
        }
    }
    for name in allowed.keys() {
        assert!(
            ours.contains(name),
            "{name} is in the list and is no crate of the workspace"
        );
    }
}

#[test]
fn libraries_stay_where_they_belong() {
    let metadata = metadata();
    for package in metadata.workspace_packages() {
        for (library, places) in CONFINED {
            let linked = links(package).any(|name| name == *library);
            assert!(
                !linked || places.contains(&package.name.as_str()),
                "{} must not link {library}",
                package.name
            );
        }
    }
}

#[test]
fn the_monolith_links_nothing_of_the_calls_between_services() {
    let metadata = metadata();
    let resolve = metadata.resolve.as_ref().unwrap();
    let nodes: BTreeMap<_, _> = resolve.nodes.iter().map(|node| (&node.id, node)).collect();
    let start = &metadata
        .workspace_packages()
        .into_iter()
        .find(|p| p.name.as_str() == "monolith")
        .unwrap()
        .id;
    let (mut seen, mut open) = (BTreeSet::new(), vec![start]);
    while let Some(id) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        let normal =
            |kinds: &[cargo_metadata::DepKindInfo]| kinds.iter().any(|k| k.kind == DependencyKind::Normal);
        open.extend(
            nodes[id]
                .deps
                .iter()
                .filter(|dep| normal(&dep.dep_kinds))
                .map(|dep| &dep.pkg),
        );
    }
    let names: BTreeSet<&str> = seen.iter().map(|id| metadata[*id].name.as_str()).collect();
    assert!(names.contains("conduit-store"), "the walk found nothing");
    for absent in ["conduit-rpc", "conduit-service", "tonic"] {
        assert!(!names.contains(absent), "the monolith links {absent}");
    }
}
