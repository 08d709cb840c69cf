//! New secrets while requests go on.

use anyhow::Result;

use crate::deployment::Deployment;
use crate::inventory::Inventory;
use crate::secrets::{Pair, Secrets};

/// What can be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Rotation {
    /// What tokens are signed with: tokens signed with the old one stay good until `forget-token`
    Token,
    /// Accept no token any more that was signed with the old secret: when the last one has expired
    ForgetToken,
    /// What the services know each other by
    Internal,
    /// The passwords of all roles of the database
    Database,
}

impl Rotation {
    /// The steps, each a deployment of its own: at every moment, all processes accept what any of them shows.
    fn steps(self) -> &'static [fn(&mut Secrets)] {
        match self {
            Self::Token => &[|all| all.token.announce(), |all| all.token.change()],
            Self::ForgetToken => &[|all| all.token.forget()],
            Self::Internal => &[
                |all| all.internal.announce(),
                |all| all.internal.change(),
                |all| all.internal.forget(),
            ],
            Self::Database => &[],
        }
    }
}

impl Deployment {
    /// Changes a secret, with as many deployments of the inventory as that takes. `keep` is called with the secrets before they are
    /// deployed, so that they are not lost if this process is.
    ///
    /// # Errors
    /// A deployment failed: deploying again finishes the step, and the rotation can be begun anew. Or there is no way to set the
    /// database's passwords.
    pub async fn rotate(
        &mut self,
        inventory: &Inventory,
        rotation: Rotation,
        keep: impl Fn(&Secrets) -> Result<()>,
    ) -> Result<()> {
        for step in rotation.steps() {
            step(&mut self.secrets);
            keep(&self.secrets)?;
            self.deploy(inventory).await?;
        }
        if rotation == Rotation::Database {
            self.rotate_logins(inventory, keep).await?;
        }
        Ok(())
    }

    /// The other login of each role gets a password, all processes move over to it, and the one before is locked.
    async fn rotate_logins(
        &mut self,
        inventory: &Inventory,
        keep: impl Fn(&Secrets) -> Result<()>,
    ) -> Result<()> {
        let before = self.secrets.logins.clone();
        for (owner, login) in &before {
            self.secrets.logins.insert(*owner, login.other(*owner));
        }
        // A deployment sets the passwords before it starts anybody who needs them.
        keep(&self.secrets)?;
        self.deploy(inventory).await?;
        self.lock_logins(inventory, before).await
    }
}

impl Pair {
    /// Whether two secrets are accepted.
    #[must_use]
    pub fn is_changing(&self) -> bool {
        !self.second.is_empty()
    }
}
