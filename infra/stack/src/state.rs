//! The folder that a stack keeps its things in, held by one stack at a time.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use conduit_runtime::database::Owner;

use crate::files::{make_folder, write_private};
use crate::summary::Summary;

/// The folder, held by this process while the value lives.
#[derive(Debug)]
pub(crate) struct State {
    root: PathBuf,
    lock: File,
}

impl State {
    /// Makes what is missing and takes the lock.
    pub(crate) fn open(root: &Path) -> Result<Self> {
        make_folder(root).with_context(|| format!("making {}", root.display()))?;
        let root = root
            .canonicalize()
            .with_context(|| format!("finding {}", root.display()))?;
        let mut lock = lock_file(&root)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => bail!(
                "a stack{} already runs in {}: stop it with `stack down`, or choose another folder with --state",
                pid_in(&mut lock)
                    .map(|pid| format!(" (process {pid})"))
                    .unwrap_or_default(),
                root.display()
            ),
            Err(TryLockError::Error(error)) => return Err(error).context("locking the state folder"),
        }
        lock.set_len(0)?;
        lock.rewind()?;
        writeln!(lock, "{}", std::process::id())?;
        let state = Self { root, lock };
        state.forget()?;
        make_folder(&logs_in(&state.root))?;
        for entry in fs::read_dir(logs_in(&state.root))? {
            fs::remove_file(entry?.path())?;
        }
        Ok(state)
    }

    pub(crate) fn postgres(&self) -> PathBuf {
        self.root.join("postgres")
    }

    pub(crate) fn token_secret(&self) -> PathBuf {
        self.root.join("token-secret")
    }

    pub(crate) fn internal_secret(&self) -> PathBuf {
        self.root.join("internal-secret")
    }

    pub(crate) fn password(&self, owner: Owner) -> PathBuf {
        self.root.join(format!("{}-password", owner.role()))
    }

    /// The file with the URL that a process of the owner connects with; with the administrator's where there is no owner.
    pub(crate) fn database_url(&self, owner: Option<Owner>) -> PathBuf {
        let whose = owner.map_or("database-url".to_owned(), |owner| {
            format!("database-url-{}", owner.schema())
        });
        self.root.join(whose)
    }

    pub(crate) fn nginx(&self) -> PathBuf {
        self.root.join("nginx.conf")
    }

    pub(crate) fn logs(&self) -> PathBuf {
        logs_in(&self.root)
    }

    pub(crate) fn log(&self, name: &str) -> PathBuf {
        logs_in(&self.root).join(format!("{name}.log"))
    }

    /// From now on others can see what runs here.
    pub(crate) fn remember(&self, summary: &Summary) -> Result<()> {
        let text = serde_json::to_string_pretty(summary)?;
        write_private(&summary_in(&self.root), &text).context("writing the summary")
    }

    pub(crate) fn forget(&self) -> Result<()> {
        match fs::remove_file(summary_in(&self.root)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(error).context("removing the summary")
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

impl Drop for State {
    /// Closing the file is not enough: a child that another thread is just starting may hold it, too, for a moment.
    fn drop(&mut self) {
        let _ = self.lock.unlock();
    }
}

/// The process whose stack runs in the folder, if one does.
///
/// # Errors
/// The folder's lock cannot be looked at.
pub fn holder(root: &Path) -> Result<Option<u32>> {
    if !root.join("lock").exists() {
        return Ok(None);
    }
    let mut lock = lock_file(root)?;
    match lock.try_lock() {
        Ok(()) => Ok(None),
        Err(TryLockError::WouldBlock) => Ok(pid_in(&mut lock)),
        Err(TryLockError::Error(error)) => Err(error).context("looking at the state folder's lock"),
    }
}

/// What runs in the folder, once it is up.
///
/// # Errors
/// The summary is there and cannot be read.
pub fn summary(root: &Path) -> Result<Option<Summary>> {
    match fs::read_to_string(summary_in(root)) {
        Ok(text) => serde_json::from_str(&text)
            .context("reading the summary")
            .map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).context("reading the summary"),
    }
}

/// The folder of the logs, one file for each process.
#[must_use]
pub fn logs_in(root: &Path) -> PathBuf {
    root.join("logs")
}

fn summary_in(root: &Path) -> PathBuf {
    root.join("stack.json")
}

fn lock_file(root: &Path) -> Result<File> {
    let path = root.join("lock");
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .with_context(|| format!("opening {}", path.display()))
}

fn pid_in(lock: &mut File) -> Option<u32> {
    let mut text = String::new();
    lock.read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_one_stack_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(holder(folder.path()).unwrap(), None);
        let state = State::open(folder.path()).unwrap();
        assert_eq!(holder(folder.path()).unwrap(), Some(std::process::id()));
        let told = State::open(folder.path()).unwrap_err().to_string();
        assert!(told.contains(&std::process::id().to_string()), "{told}");
        drop(state);
        assert_eq!(holder(folder.path()).unwrap(), None);
        State::open(folder.path()).unwrap();
    }
}
