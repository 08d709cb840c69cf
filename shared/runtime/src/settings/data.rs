//! The folder of a process that keeps its own data.

use std::path::{Path, PathBuf};
use std::{env, io};

use clap::Args;

use super::SettingsError;
use crate::database::Owner;
use crate::secrets;

/// Where root's data lie, one folder for each clone: accounts without rights, one of which PostgreSQL then runs
/// under, seldom can enter a clone of root's.
const ROOT_STATE: &str = "/var/lib/conduit";

/// Settings of an own database.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Own database (without DATABASE_URL)")]
pub struct DataArgs {
    /// Folder for the data [default: .conduit in the clone; for root a folder of the clone's in /var/lib/conduit]
    #[arg(long, env = "CONDUIT_DATA_DIR", value_name = "PATH")]
    data_dir: Option<PathBuf>,
    /// Let the own PostgreSQL also listen at 127.0.0.1 and this port, for tools without Unix sockets
    #[arg(long, env = "CONDUIT_DATA_PORT", value_name = "PORT")]
    pub data_port: Option<u16>,
}

/// The folder, and what lies where in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataFolder(PathBuf);

impl DataArgs {
    /// Settings for data in a folder of one's choice.
    #[must_use]
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self {
            data_dir: Some(folder.into()),
            data_port: None,
        }
    }

    /// The folder as set, else the one of this clone.
    ///
    /// # Errors
    /// [`SettingsError::Data`] where there is no working directory.
    pub fn folder(&self) -> Result<DataFolder, SettingsError> {
        let failed = |source: io::Error| SettingsError::Data {
            path: self.data_dir.clone().unwrap_or_else(|| ".".into()),
            source,
        };
        let here = env::current_dir().map_err(failed)?;
        Ok(DataFolder(
            match self
                .data_dir
                .as_deref()
                .filter(|path| !path.as_os_str().is_empty())
            {
                Some(chosen) => here.join(chosen),
                None => default_folder(&here, nix::unistd::geteuid().is_root()),
            },
        ))
    }
}

fn default_folder(here: &Path, as_root: bool) -> PathBuf {
    let clone = clone_of(here);
    if as_root {
        Path::new(ROOT_STATE).join(secrets::digest_of_path(clone))
    } else {
        clone.join(".conduit")
    }
}

/// The clone we are somewhere in: the same data whichever of its folders the command is typed in.
fn clone_of(here: &Path) -> &Path {
    here.ancestors()
        .find(|folder| folder.join("Cargo.lock").is_file())
        .unwrap_or(here)
}

impl DataFolder {
    /// The folder itself.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The folder of the own PostgreSQL.
    #[must_use]
    pub fn postgres(&self) -> PathBuf {
        self.0.join("postgres")
    }

    /// The file with the token secret for development.
    #[must_use]
    pub fn token_secret(&self) -> PathBuf {
        self.0.join("token-secret")
    }

    /// The file with the password of a role in the own PostgreSQL.
    #[must_use]
    pub fn password(&self, owner: Owner) -> PathBuf {
        self.0.join(format!("{}-password", owner.role()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_the_clones_wherever_in_it_we_are() {
        let clone = tempfile::tempdir().unwrap();
        let below = clone.path().join("a/b");
        std::fs::create_dir_all(&below).unwrap();
        std::fs::write(clone.path().join("Cargo.lock"), "").unwrap();
        assert_eq!(default_folder(&below, false), clone.path().join(".conduit"));
        assert_eq!(default_folder(&below, true), default_folder(clone.path(), true));
        assert_ne!(
            default_folder(&below, true),
            default_folder(Path::new("/elsewhere"), true)
        );
    }
}
