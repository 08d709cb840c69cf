//! The nginx of this machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use nix::unistd::{Gid, Group, User, geteuid};

use super::Account;

/// Where it is, beside the folders that commands are looked for in: users' often lack the system's own.
const FOLDERS: [&str; 3] = ["/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin"];

/// Accounts that its worker processes may run under where we are root, the best first.
const UNPRIVILEGED: [&str; 3] = ["www-data", "nginx", "nobody"];

/// The program, where it is installed.
#[must_use]
#[allow(
    clippy::disallowed_methods,
    reason = "where programs are is no setting of ours"
)]
pub fn installed() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(FOLDERS.map(PathBuf::from));
    folders
        .map(|folder| folder.join("nginx"))
        .find(|program| program.is_file())
}

/// An account without rights for the worker processes; none where we have none to give away, since they then run as we do.
#[must_use]
pub fn worker_account() -> Option<Account> {
    if !geteuid().is_root() {
        return None;
    }
    let user = UNPRIVILEGED
        .iter()
        .find_map(|name| User::from_name(name).ok().flatten())?;
    let group = Group::from_gid(Gid::from_raw(user.gid.as_raw())).ok().flatten()?;
    Some(Account {
        user: user.name,
        group: group.name,
    })
}

/// What to call the program with, so that it keeps to `folder` and the configuration and writes first complaints to `log`.
#[must_use]
pub fn arguments(configuration: &Path, folder: &Path, log: &Path) -> Vec<String> {
    let pairs = [("-p", folder), ("-c", configuration), ("-e", log)];
    pairs
        .iter()
        .flat_map(|(flag, path)| [(*flag).to_owned(), path.display().to_string()])
        .collect()
}

/// Lets nginx judge the configuration (`nginx -t`).
///
/// # Errors
/// What nginx says, if it says more than that all is well.
pub fn check(program: &Path, configuration: &Path, folder: &Path) -> Result<()> {
    let log = folder.join("check.log");
    let mut command = Command::new(program);
    command.arg("-t").args(arguments(configuration, folder, &log));
    let output = command
        .output()
        .with_context(|| format!("running {}", program.display()))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let complaints = said
        .lines()
        .filter(|line| !line.contains("syntax is ok") && !line.contains("is successful"));
    let complaints: Vec<_> = complaints.collect();
    ensure!(
        output.status.success() && complaints.is_empty(),
        "nginx refuses {}: {}",
        configuration.display(),
        complaints.join("; ")
    );
    let _ = fs::remove_file(log);
    Ok(())
}
