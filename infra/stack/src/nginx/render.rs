//! From variables to a configuration.

use anyhow::{Context, Result, bail, ensure};
use minijinja::value::Serde;
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior, context};

use super::{RouteTable, Site, Topology};

/// The templates, compiled in so that the program needs no clone.
const TEMPLATES: [(&str, &str); 6] = [
    ("parts.conf.j2", include_str!("../../../nginx/parts.conf.j2")),
    ("base.conf.j2", include_str!("../../../nginx/base.conf.j2")),
    ("single.conf.j2", include_str!("../../../nginx/single.conf.j2")),
    (
        "replicas.conf.j2",
        include_str!("../../../nginx/replicas.conf.j2"),
    ),
    ("split.conf.j2", include_str!("../../../nginx/split.conf.j2")),
    (
        "rebalanced.conf.j2",
        include_str!("../../../nginx/rebalanced.conf.j2"),
    ),
];

/// The whole configuration of an nginx in front of `topology`.
///
/// # Errors
/// Services that the topology does not have or that are missing, a value that no configuration can hold.
pub fn render(topology: Topology, site: &Site, table: &RouteTable) -> Result<String> {
    check(topology, site, table)?;
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.add_filter("quoted", quoted);
    for (name, text) in TEMPLATES {
        environment.add_template(name, text)?;
    }
    let template = environment.get_template(&format!("{}.conf.j2", topology.name()))?;
    let variables = context! {
        topology => topology.name(),
        site => Serde(site),
        routes => Serde(table.expressions()?),
    };
    let text = template.render(variables).context("the nginx configuration")?;
    Ok(format!("{}\n", text.trim()))
}

fn check(topology: Topology, site: &Site, table: &RouteTable) -> Result<()> {
    let name = topology.name();
    let services = match topology {
        Topology::Single | Topology::Replicas => ["monolith"].into(),
        Topology::Split | Topology::Rebalanced => table.services(),
    };
    ensure!(!site.listen.is_empty(), "nginx has no address to listen at");
    if let Some(other) = site
        .services
        .keys()
        .find(|service| !services.contains(service.as_str()))
    {
        bail!("the topology {name} has no service {other}");
    }
    for service in services {
        let copies = site.services.get(service).map_or(&[][..], Vec::as_slice);
        let single = matches!(topology, Topology::Single | Topology::Split);
        ensure!(
            !copies.is_empty(),
            "the topology {name} needs an address of {service}"
        );
        ensure!(
            !single || copies.len() == 1,
            "the topology {name} has one copy of {service}"
        );
        ensure!(
            copies.iter().all(|copy| copy.weight > 0),
            "a copy of {service} has no weight; set it down instead"
        );
    }
    Ok(())
}

/// A value as nginx reads it, between double quotes. What could end the string or mean something in it is refused.
fn quoted(value: &str) -> Result<String, Error> {
    let unfit = |character: char| character.is_control() || matches!(character, '"' | '\\' | '$');
    if value.is_empty() || value.contains(unfit) {
        let told = format!("{value:?} cannot stand in an nginx configuration");
        return Err(Error::new(ErrorKind::InvalidOperation, told));
    }
    Ok(format!("\"{value}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_cannot_leave_its_string() {
        assert_eq!(quoted("/a b;{}").unwrap(), "\"/a b;{}\"");
        for value in ["", "a\"; user root; #", "$host", "a\\", "a\nb"] {
            assert!(quoted(value).is_err(), "{value:?}");
        }
    }
}
