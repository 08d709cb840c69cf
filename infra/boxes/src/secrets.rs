//! The secrets of a deployment, in one file that only we may read.
//!
//! Of the secrets that processes show each other there may be two, so that a rotation has a moment in which everybody knows both
//! ([`Pair`]). A database role has one password; there a second login takes the second secret's place ([`Login`]).

use std::collections::BTreeMap;
use std::path::Path;
use std::{fmt, fs, io};

use anyhow::{Context, Result};
use conduit_runtime::database::Owner;
use conduit_runtime::secrets::random;
use serde::{Deserialize, Serialize};
use stack::{Program, make_folder, write_private};

/// All secrets of a deployment.
#[derive(Clone, PartialEq, Eq)]
pub struct Secrets {
    /// Signs tokens.
    pub token: Pair,
    /// Shared by the services.
    pub internal: Pair,
    /// The administrator's password, where the database is ours.
    pub administrator: String,
    /// How each program logs in to the database.
    pub logins: Logins,
}

/// A login for each owner of tables, and for the monolith.
pub type Logins = BTreeMap<Owner, Login>;

/// A secret that is used, and one more that is accepted; empty where there is none.
#[derive(Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct Pair {
    /// Is used, and accepted.
    pub first: String,
    /// Is accepted only.
    #[serde(default)]
    pub second: String,
}

/// A login to the database.
#[derive(Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct Login {
    /// The owner's role itself, or the second login that may act as it.
    pub role: String,
    /// Its password; empty where it shall open no door.
    pub password: String,
}

/// As the file has them.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct File {
    token: Pair,
    internal: Pair,
    administrator: String,
    logins: BTreeMap<String, Login>,
}

impl Secrets {
    /// Random ones.
    #[must_use]
    pub fn new() -> Self {
        let login = |program: Program| {
            let owner = program.owner();
            let login = Login {
                role: owner.role().to_owned(),
                password: random(),
            };
            (owner, login)
        };
        Self {
            token: Pair::new(),
            internal: Pair::new(),
            administrator: random(),
            logins: Program::ALL.into_iter().map(login).collect(),
        }
    }

    /// Those in the file; random ones, kept in it, where there is none yet.
    ///
    /// # Errors
    /// The file cannot be read or written, or holds something else.
    pub fn open(path: &Path) -> Result<Self> {
        match fs::read_to_string(path) {
            Ok(text) => Self::parse(&text).with_context(|| format!("the secrets in {}", path.display())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let secrets = Self::new();
                secrets.save(path)?;
                Ok(secrets)
            }
            Err(error) => Err(error).with_context(|| format!("reading {}", path.display())),
        }
    }

    fn parse(text: &str) -> Result<Self> {
        let mut file: File = serde_json::from_str(text)?;
        let login = |owner: Owner| -> Result<(Owner, Login)> {
            let login = file.logins.remove(owner.schema());
            Ok((
                owner,
                login.with_context(|| format!("there is no login of {}", owner.schema()))?,
            ))
        };
        let logins = Owner::ALL.into_iter().map(login).collect::<Result<_>>()?;
        Ok(Self {
            token: file.token,
            internal: file.internal,
            administrator: file.administrator,
            logins,
        })
    }

    /// Writes them to the file. Whoever reads it finds the old ones or the new ones.
    ///
    /// # Errors
    /// What the file system says.
    pub fn save(&self, path: &Path) -> Result<()> {
        let logins = self
            .logins
            .iter()
            .map(|(owner, login)| (owner.schema().to_owned(), login.clone()));
        let file = File {
            token: self.token.clone(),
            internal: self.internal.clone(),
            administrator: self.administrator.clone(),
            logins: logins.collect(),
        };
        if let Some(folder) = path.parent() {
            make_folder(folder).with_context(|| format!("making {}", folder.display()))?;
        }
        write_private(path, &serde_json::to_string_pretty(&file)?)
            .with_context(|| format!("writing {}", path.display()))
    }

    /// All of them with the word that stands for each where they must not be seen.
    pub(crate) fn words(&self) -> Vec<(&str, String)> {
        let pairs = [
            (&self.token.first, "token".to_owned()),
            (&self.token.second, "token, second".to_owned()),
            (&self.internal.first, "internal".to_owned()),
            (&self.internal.second, "internal, second".to_owned()),
            (&self.administrator, "password of the administrator".to_owned()),
        ];
        let logins = self
            .logins
            .values()
            .map(|login| (&login.password, format!("password of {}", login.role)));
        let all = pairs.into_iter().chain(logins);
        all.filter(|(secret, _)| !secret.is_empty())
            .map(|(secret, word)| (secret.as_str(), format!("<{word}>")))
            .collect()
    }
}

impl Default for Secrets {
    fn default() -> Self {
        Self::new()
    }
}

impl Pair {
    fn new() -> Self {
        Self {
            first: random(),
            second: String::new(),
        }
    }

    /// Step one of a rotation: everybody learns the new secret before anybody uses it.
    pub(crate) fn announce(&mut self) {
        self.second = random();
    }

    /// Step two: the new secret is used, the old one is still accepted.
    pub(crate) fn change(&mut self) {
        std::mem::swap(&mut self.first, &mut self.second);
    }

    /// Step three: the old secret opens nothing any more.
    pub(crate) fn forget(&mut self) {
        self.second.clear();
    }
}

impl Login {
    /// The owner's other login, with a new password: the role itself and a second one take turns.
    pub(crate) fn other(&self, owner: Owner) -> Self {
        let own = owner.role();
        let role = if self.role == own {
            format!("{own}_2")
        } else {
            own.to_owned()
        };
        Self {
            role,
            password: random(),
        }
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (token, internal) = (&self.token, &self.internal);
        write!(
            f,
            "Secrets(token {token:?}, internal {internal:?}, {:?})",
            self.logins
        )
    }
}

impl fmt::Debug for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = 1 + usize::from(!self.second.is_empty());
        write!(f, "Pair({count} of 2)")
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Login({})", self.role)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_made_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state/secrets.json");
        let made = Secrets::open(&path).unwrap();
        assert_eq!(Secrets::open(&path).unwrap(), made);
        assert_ne!(made.token, made.internal);
        let shown = format!("{made:?}");
        assert!(
            made.words().iter().all(|(secret, _)| !shown.contains(secret)),
            "{shown}"
        );
    }

    #[test]
    fn a_rotation_is_never_without_a_secret_that_all_know() {
        let mut pair = Pair::new();
        let old = pair.first.clone();
        pair.announce();
        assert_eq!(pair.first, old);
        let new = pair.second.clone();
        pair.change();
        assert_eq!((&pair.first, &pair.second), (&new, &old));
        pair.forget();
        assert_eq!((&pair.first, pair.second.as_str()), (&new, ""));
    }

    #[test]
    fn two_logins_take_turns() {
        let first = Login {
            role: "conduit_users".to_owned(),
            password: "p".to_owned(),
        };
        let second = first.other(Owner::Users);
        assert_eq!(second.role, "conduit_users_2");
        assert_eq!(second.other(Owner::Users).role, "conduit_users");
        assert_ne!(second.password, first.password);
    }
}
