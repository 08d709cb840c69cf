//! From the inventory to units: what runs where, what it is told, what nginx is told.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use stack::Program;
use stack::nginx::{Copy, Site, Topology};

use crate::inventory::{Inventory, Line, Transport};
use crate::secrets::Secrets;

/// One process: a copy of a service on a box.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Unit {
    /// `articles@two`; with `:port` where that is not the usual one. It stays the same while other lines come and go.
    pub name: String,
    /// What runs.
    pub program: Program,
    /// On which box.
    pub machine: String,
    /// The box's address.
    pub address: Ipv4Addr,
    /// The first of its ports.
    pub port: u16,
    /// Its share.
    pub weight: u32,
}

impl Unit {
    /// Where it serves the public API.
    #[must_use]
    pub fn public(&self) -> String {
        format!("{}:{}", self.address, self.port)
    }

    /// Where probes and metrics are.
    #[must_use]
    pub fn operations(&self) -> String {
        format!("{}:{}", self.address, self.port + 1)
    }

    /// Where peers ask over this transport.
    #[must_use]
    pub fn internal(&self, transport: Transport) -> String {
        let offset = match transport {
            Transport::Http => 2,
            Transport::Grpc => 3,
        };
        format!("{}:{}", self.address, self.port + offset)
    }
}

/// All processes of the inventory, those that are asked before those that ask.
///
/// # Errors
/// A line names a box that is not there.
pub fn units(inventory: &Inventory) -> Result<Vec<Unit>> {
    let unit = |line: &Line| -> Result<Unit> {
        let service = line.service.name();
        let usual = line.port.is_none();
        let tail = if usual {
            String::new()
        } else {
            format!(":{}", line.port())
        };
        Ok(Unit {
            name: format!("{service}@{}{tail}", line.machine),
            program: line.service,
            machine: line.machine.clone(),
            address: inventory.machine(&line.machine)?.address,
            port: line.port(),
            weight: line.weight,
        })
    };
    let mut units = inventory.copies.iter().map(unit).collect::<Result<Vec<_>>>()?;
    sort(&mut units);
    Ok(units)
}

/// Those that are asked before those that ask, and copies in an order that does not depend on where their lines stand.
pub(crate) fn sort(units: &mut [Unit]) {
    units.sort_by(|one, other| (one.program, &one.name).cmp(&(other.program, &other.name)));
}

/// Which template of nginx fits.
#[must_use]
pub fn topology(site: &Site) -> Topology {
    let several = site.services.values().any(|copies| copies.len() > 1);
    match (site.services.contains_key(Program::Monolith.name()), several) {
        (true, false) => Topology::Single,
        (true, true) => Topology::Replicas,
        (false, false) => Topology::Split,
        (false, true) => Topology::Rebalanced,
    }
}

/// What nginx is told. `down`: the units that get no requests. `folder`: where it keeps its files.
#[must_use]
pub fn site(inventory: &Inventory, units: &[Unit], down: &BTreeSet<String>, folder: &Path) -> Site {
    let mut services: BTreeMap<String, Vec<Copy>> = BTreeMap::new();
    for unit in units {
        let copy = Copy {
            weight: unit.weight,
            down: down.contains(&unit.name),
            ..Copy::new(unit.public())
        };
        services
            .entry(unit.program.name().to_owned())
            .or_default()
            .push(copy);
    }
    let proxy = &inventory.proxy;
    let mut site = Site::new("", folder, services);
    site.listen.clone_from(&proxy.listen);
    site.tls.clone_from(&proxy.tls);
    site.login_limit = proxy.login_limit;
    site.static_folder.clone_from(&proxy.static_folder);
    site.idle_milliseconds = proxy.idle_milliseconds.unwrap_or(site.idle_milliseconds);
    site
}

/// What a unit is told, apart from where it listens: that is the runner's, since a container does not see its box's address.
///
/// # Errors
/// The database's box is not there.
pub fn environment(
    inventory: &Inventory,
    units: &[Unit],
    unit: &Unit,
    secrets: &Secrets,
) -> Result<BTreeMap<String, String>> {
    let mut told: BTreeMap<String, String> = BTreeMap::new();
    let mut tell = |name: &str, value: String| drop(told.insert(name.to_owned(), value));
    tell("DATABASE_URL", database_url(inventory, unit.program, secrets)?);
    tell("CONDUIT_TOKEN_SECRET", secrets.token.first.clone());
    tell("CONDUIT_TOKEN_SECRET_PREVIOUS", secrets.token.second.clone());
    if unit.program != Program::Monolith {
        tell("CONDUIT_INTERNAL_SECRET", secrets.internal.first.clone());
        tell(
            "CONDUIT_INTERNAL_SECRET_PREVIOUS",
            secrets.internal.second.clone(),
        );
        tell("CONDUIT_RPC_TRANSPORT", inventory.transport.name().to_owned());
        for &asked in callees(unit.program) {
            let name = asked.name().to_uppercase();
            tell(
                &format!("CONDUIT_RPC_{name}_HTTP"),
                peers(units, asked, Transport::Http),
            );
            tell(
                &format!("CONDUIT_RPC_{name}_GRPC"),
                peers(units, asked, Transport::Grpc),
            );
        }
    }
    told.extend(inventory.variables.clone());
    Ok(told)
}

/// Whom the program asks (ARCHITECTURE.md, who calls whom).
fn callees(program: Program) -> &'static [Program] {
    match program {
        Program::Monolith | Program::Users => &[],
        Program::Profiles => &[Program::Users],
        Program::Articles => &[Program::Users, Program::Profiles],
        Program::Comments => &[Program::Users, Program::Profiles, Program::Articles],
    }
}

/// The copies of a peer as `CONDUIT_RPC_…` has them, each with its share where there are several.
fn peers(units: &[Unit], program: Program, transport: Transport) -> String {
    let copies: Vec<&Unit> = units.iter().filter(|unit| unit.program == program).collect();
    let several = copies.len() > 1;
    let written = copies.iter().map(|copy| {
        let address = copy.internal(transport);
        let share = if several {
            format!("*{}", copy.weight)
        } else {
            String::new()
        };
        format!("http://{address}{share}")
    });
    written.collect::<Vec<_>>().join(",")
}

fn database_url(inventory: &Inventory, program: Program, secrets: &Secrets) -> Result<String> {
    let database = &inventory.database;
    let host = match (&database.host, &database.machine) {
        (Some(host), _) => host.clone(),
        (None, Some(machine)) => inventory.machine(machine)?.address.to_string(),
        (None, None) => anyhow::bail!("the database has neither a box nor a host"),
    };
    let login = secrets
        .logins
        .get(&program.owner())
        .with_context(|| format!("{} has no login to the database", program.name()))?;
    let options = if database.options.is_empty() {
        String::new()
    } else {
        format!("?{}", database.options)
    };
    let (name, password) = (&login.role, &login.password);
    Ok(format!(
        "postgres://{name}:{password}@{host}:{}/{}{options}",
        database.port, database.name
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shipped(text: &str) -> (Inventory, Vec<Unit>) {
        let inventory = Inventory::parse(text).unwrap();
        let units = units(&inventory).unwrap();
        (inventory, units)
    }

    #[test]
    fn the_shipped_inventories_are_the_four_layouts() {
        let layouts = [
            (include_str!("../monolith-1.toml"), Topology::Single, 1),
            (include_str!("../monolith-x4.toml"), Topology::Replicas, 4),
            (include_str!("../one-service-per-box.toml"), Topology::Split, 4),
            (include_str!("../rebalanced.toml"), Topology::Rebalanced, 5),
        ];
        for (text, expected, count) in layouts {
            let (inventory, units) = shipped(text);
            let site = site(&inventory, &units, &BTreeSet::new(), Path::new("/run/nginx"));
            assert_eq!((topology(&site), units.len()), (expected, count));
        }
    }

    #[test]
    fn peers_are_told_of_every_copy_with_its_share() {
        let (_, units) = shipped(include_str!("../rebalanced.toml"));
        assert_eq!(
            peers(&units, Program::Articles, Transport::Grpc),
            "http://10.0.0.13:3033*1,http://10.0.0.12:3033*3"
        );
        assert_eq!(
            peers(&units, Program::Users, Transport::Http),
            "http://10.0.0.11:3012"
        );
    }

    #[test]
    fn whoever_is_asked_comes_first() {
        let (_, units) = shipped(include_str!("../rebalanced.toml"));
        let names: Vec<&str> = units.iter().map(|unit| unit.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "users@one",
                "profiles@one",
                "articles@three",
                "articles@two",
                "comments@three"
            ]
        );
    }

    #[test]
    fn a_unit_that_is_down_gets_no_requests_and_is_known_all_the_same() {
        let (inventory, units) = shipped(include_str!("../rebalanced.toml"));
        let site = site(
            &inventory,
            &units,
            &["articles@three".to_owned()].into(),
            Path::new("/run/nginx"),
        );
        let articles: Vec<_> = site.services["articles"]
            .iter()
            .map(|copy| (copy.weight, copy.down))
            .collect();
        assert_eq!(articles, [(1, true), (3, false)]);
    }
}
