//! The account that the server runs under.

use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::unistd::{User, geteuid};

use super::EmbeddedError;

/// Accounts that PostgreSQL may run under where we are root, the best first.
const UNPRIVILEGED: [&str; 2] = ["postgres", "nobody"];

/// An account that is not ours.
#[derive(Clone, Debug)]
pub(super) struct Account {
    pub(super) name: String,
    pub(super) uid: u32,
    pub(super) gid: u32,
}

/// None where the server runs under our own account. PostgreSQL refuses root.
pub(super) fn of_server() -> Result<Option<Account>, EmbeddedError> {
    if !geteuid().is_root() {
        return Ok(None);
    }
    UNPRIVILEGED
        .iter()
        .find_map(|name| named(name))
        .map(Some)
        .ok_or(EmbeddedError::NoAccount)
}

fn named(name: &str) -> Option<Account> {
    let user = User::from_name(name).ok().flatten()?;
    Some(Account {
        name: user.name,
        uid: user.uid.as_raw(),
        gid: user.gid.as_raw(),
    })
}

/// Lets the command run under the account. Our supplementary groups are given up with the user id (the standard
/// library sees to it).
pub(super) fn run_as(command: &mut Command, account: Option<&Account>) {
    if let Some(account) = account {
        command.uid(account.uid).gid(account.gid);
    }
}
