//! What can go wrong with the embedded PostgreSQL, in sentences for the person at the terminal.

use std::io;
use std::path::PathBuf;

/// Why the embedded PostgreSQL does not run.
#[derive(Debug, thiserror::Error)]
pub enum EmbeddedError {
    /// No programs on the machine, and none to be had from the network.
    #[error(
        "no PostgreSQL server was found on this machine, and none could be downloaded ({cause}). Install one (package \
         \"postgresql\" on Debian, Ubuntu and Alpine, \"postgresql-server\" on Fedora, Homebrew's \"postgresql@17\" on macOS), \
         or name a database with DATABASE_URL"
    )]
    NoServer {
        /// Why the download failed.
        cause: String,
    },
    /// The data were made by a major version that is not on the machine.
    #[error(
        "the data in {} were made by PostgreSQL {data}, but this machine has {}. Install PostgreSQL {data}, or choose another \
         folder with CONDUIT_DATA_DIR (or move this one away) to start empty", folder.display(), listed(found)
    )]
    OtherVersion {
        /// The folder of the data.
        folder: PathBuf,
        /// The version of the data, as its file says.
        data: String,
        /// The versions on the machine, newest first.
        found: Vec<u32>,
    },
    /// Another process holds the lock.
    #[error(
        "another process{} already runs the database in {}. Stop it, or choose another folder with CONDUIT_DATA_DIR, or another \
         database with DATABASE_URL", holder.map(|pid| format!(" ({pid})")).unwrap_or_default(), folder.display()
    )]
    InUse {
        /// The folder asked for.
        folder: PathBuf,
        /// The process id of the other process, where it can be told.
        holder: Option<u32>,
    },
    /// We are root, and there is no account to run the server under.
    #[error(
        "PostgreSQL refuses to run as root, and this machine has no account \"postgres\" or \"nobody\" to run it under. Create \
         one, run the command as another user, or name a database with DATABASE_URL"
    )]
    NoAccount,
    /// The server's account cannot enter its folder or reach its programs.
    #[error("the account \"{account}\", which PostgreSQL runs under, cannot reach {}. Choose another folder with CONDUIT_DATA_DIR", path.display())]
    OutOfReach {
        /// The account's name.
        account: String,
        /// What it cannot reach.
        path: PathBuf,
    },
    /// The data are there, their password is not.
    #[error(
        "the data in {} are there, but the file with their password, {}, is not. Restore it, or move the folder away to start empty",
        folder.display(), file.display()
    )]
    PasswordLost {
        /// The folder of the data.
        folder: PathBuf,
        /// The file that is missing.
        file: PathBuf,
    },
    /// A server left behind by an earlier process does not end.
    #[error("a PostgreSQL that an earlier process left behind (process {pid}) still runs on {} and does not stop", folder.display())]
    Orphan {
        /// Its process id.
        pid: u32,
        /// The folder of the data.
        folder: PathBuf,
    },
    /// One of PostgreSQL's programs failed.
    #[error("{program} failed: {output}")]
    Program {
        /// Which one.
        program: &'static str,
        /// The end of what it said.
        output: String,
    },
    /// The server is there but does not become ready.
    #[error("PostgreSQL did not become ready within {seconds} s ({cause}); its log is {}", log.display())]
    NotReady {
        /// How long was waited.
        seconds: u64,
        /// The last answer.
        cause: String,
        /// The server's log.
        log: PathBuf,
    },
    /// A file or a process could not be handled.
    #[error("{action}: {source}")]
    Io {
        /// What was tried.
        action: String,
        /// What the system said.
        source: io::Error,
    },
}

impl EmbeddedError {
    pub(super) fn io(action: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let action = action.into();
        move |source| Self::Io { action, source }
    }
}

fn listed(versions: &[u32]) -> String {
    match versions {
        [] => "none".to_owned(),
        _ => versions.iter().map(u32::to_string).collect::<Vec<_>>().join(", "),
    }
}
