//! The configurations that compose's nginx starts with are renderings, and fresh ones.

use std::fs;
use std::path::Path;

use stack::nginx::{self, RouteTable, Site, Topology};

use crate::files::FOLDER;

#[test]
fn they_are_what_the_templates_give() {
    for topology in [Topology::Single, Topology::Split] {
        let name = topology.name();
        let file = |ending| Path::new(FOLDER).join(format!("nginx/{name}.{ending}"));
        let site: Site = toml::from_str(&fs::read_to_string(file("toml")).unwrap()).unwrap();
        let rendered = nginx::render(topology, &site, &RouteTable::built_in().unwrap()).unwrap();
        assert!(
            fs::read_to_string(file("conf")).unwrap() == rendered,
            "stale: cargo run -p stack -- render {name} infra/compose/nginx/{name}.toml >infra/compose/nginx/{name}.conf"
        );
    }
}
