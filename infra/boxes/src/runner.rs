//! The two ways to run a deployment. Everything above this line is the same for both.

use std::collections::BTreeMap;

use anyhow::Result;
use conduit_runtime::database::{DatabaseUrl, set_login};
use secrecy::SecretString;
use stack::nginx::Site;

use crate::docker::Docker;
use crate::inventory::Inventory;
use crate::namespaces::Namespaces;
use crate::plan::Unit;
use crate::secrets::{Logins, Secrets};

/// Where and how processes are started.
#[derive(Debug)]
pub enum Runner {
    /// On the boxes, through their Docker contexts.
    Docker(Docker),
    /// On this machine, in network namespaces that stand for the boxes.
    Namespaces(Box<Namespaces>),
}

impl Runner {
    /// Makes what the boxes of the inventory need, and says at which addresses they really are.
    pub(crate) fn settle(&mut self, inventory: &Inventory) -> Result<Inventory> {
        match self {
            Self::Docker(docker) => docker.settle(inventory),
            Self::Namespaces(namespaces) => namespaces.settle(inventory),
        }
    }

    /// Starts the database, if it is ours, and waits for it.
    pub(crate) async fn database(&mut self, inventory: &Inventory, secrets: &Secrets) -> Result<()> {
        match self {
            Self::Docker(docker) => docker.database(inventory, secrets).await,
            Self::Namespaces(namespaces) => namespaces.database(inventory).await,
        }
    }

    /// Gives the database's logins their passwords.
    pub(crate) async fn set_logins(&mut self, inventory: &Inventory, logins: &Logins) -> Result<()> {
        match self {
            Self::Docker(docker) => docker.set_logins(inventory, logins).await,
            Self::Namespaces(namespaces) => set_logins(&namespaces.database_url()?, logins).await,
        }
    }

    /// Starts the unit, or starts it anew, and waits until it is ready.
    pub(crate) async fn start(
        &mut self,
        inventory: &Inventory,
        unit: &Unit,
        environment: &BTreeMap<String, String>,
    ) -> Result<()> {
        match self {
            Self::Docker(docker) => docker.start(inventory, unit, environment).await,
            Self::Namespaces(namespaces) => namespaces.start(unit, environment).await,
        }
    }

    /// Stops the unit in good order.
    pub(crate) async fn stop(&mut self, inventory: &Inventory, unit: &Unit) -> Result<()> {
        match self {
            Self::Docker(docker) => docker.stop(inventory, unit),
            Self::Namespaces(namespaces) => namespaces.stop(unit).await,
        }
    }

    /// Gives nginx its configuration, lets it judge it, and starts nginx or lets it reload. Returns when nothing goes on under the
    /// configuration before: what a unit that is `down` now was asked, it has answered.
    pub(crate) async fn front(&mut self, inventory: &Inventory, site: Site) -> Result<()> {
        match self {
            Self::Docker(docker) => docker.front(inventory, site).await,
            Self::Namespaces(namespaces) => namespaces.front(inventory, site).await,
        }
    }

    /// What the unit says against being ready, if it says anything.
    pub(crate) async fn complaint(&mut self, inventory: &Inventory, unit: &Unit) -> Option<String> {
        match self {
            Self::Docker(docker) => docker.complaint(inventory, unit),
            Self::Namespaces(_) => stack::complaint(&format!("http://{}", unit.operations())).await,
        }
    }
}

/// With an administrator's login.
pub(crate) async fn set_logins(administrator: &DatabaseUrl, logins: &Logins) -> Result<()> {
    for (owner, login) in logins {
        let password =
            Some(SecretString::from(login.password.as_str())).filter(|_| !login.password.is_empty());
        set_login(administrator, *owner, &login.role, password.as_ref()).await?;
    }
    Ok(())
}
