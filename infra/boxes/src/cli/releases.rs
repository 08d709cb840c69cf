//! What was deployed, one file for each deployment, so that the one before can be deployed again.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use boxes::Inventory;
use stack::{make_folder, write_private};

/// The folder, and which of its releases is deployed: 0 is none.
#[derive(Debug)]
pub(super) struct Releases {
    folder: PathBuf,
    current: u32,
    dry: bool,
}

impl Releases {
    pub(super) fn open(state: &Path, dry: bool) -> Result<Self> {
        let folder = state.join("releases");
        let current = match fs::read_to_string(folder.join("current")) {
            Ok(text) => text.trim().parse().context("the number of the release")?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            Err(error) => return Err(error).context("reading the number of the release"),
        };
        Ok(Self { folder, current, dry })
    }

    pub(super) fn add(&mut self, inventory: &Inventory) -> Result<()> {
        if self.dry {
            return Ok(());
        }
        make_folder(&self.folder).context("making the folder of releases")?;
        let next = self.current + 1;
        write_private(&self.file(next), &serde_json::to_string_pretty(inventory)?)
            .context("writing the release")?;
        self.point_at(next)
    }

    /// What was deployed before.
    pub(super) fn previous(&self) -> Result<Inventory> {
        ensure!(self.current > 1, "there is no release before this one");
        let file = self.file(self.current - 1);
        let text = fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
        serde_json::from_str(&text).with_context(|| format!("reading {}", file.display()))
    }

    pub(super) fn step_back(&mut self) -> Result<()> {
        if self.dry {
            return Ok(());
        }
        self.point_at(self.current.saturating_sub(1))
    }

    fn point_at(&mut self, release: u32) -> Result<()> {
        write_private(&self.folder.join("current"), &release.to_string())
            .context("writing the number of the release")?;
        self.current = release;
        Ok(())
    }

    fn file(&self, release: u32) -> PathBuf {
        self.folder.join(format!("{release}.json"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tagged(tag: &str) -> Inventory {
        let text = include_str!("../../monolith-1.toml");
        Inventory::parse(&format!("tag = \"{tag}\"\n{text}")).unwrap()
    }

    #[test]
    fn the_release_before_is_known_after_a_rollback_too() {
        let folder = tempfile::tempdir().unwrap();
        let mut releases = Releases::open(folder.path(), false).unwrap();
        assert!(releases.previous().is_err());
        for tag in ["one", "two", "three"] {
            releases.add(&tagged(tag)).unwrap();
        }
        let mut releases = Releases::open(folder.path(), false).unwrap();
        assert_eq!(releases.previous().unwrap().tag, "two");
        releases.step_back().unwrap();
        assert_eq!(releases.previous().unwrap().tag, "one");
        releases.add(&tagged("four")).unwrap();
        assert_eq!(
            Releases::open(folder.path(), false)
                .unwrap()
                .previous()
                .unwrap()
                .tag,
            "two"
        );
    }
}
