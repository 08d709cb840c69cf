//! How a layout is started.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use conduit_runtime::database::DatabaseUrl;

/// How a layout is started. [`Options::new`] has the defaults.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where the data, the secrets and the logs are kept. One stack at a time.
    pub state: PathBuf,
    /// The port of the public address; any free one by default.
    pub port: Option<u16>,
    /// Worker threads of each process; the program's own default if not given.
    pub workers: Option<NonZeroUsize>,
    /// Unix sockets instead of ports, except for the public address and for operations.
    pub unix_sockets: bool,
    /// A box for each process: a network namespace of this machine with an address of its own. Needs root, and a database that is
    /// reached over a Unix socket, as an own one is.
    pub boxes: bool,
    /// Whether look-ups that queue behind a call leave together as one.
    pub batching: bool,
    /// Which PostgreSQL.
    pub database: DatabaseChoice,
    /// The programs.
    pub binaries: Binaries,
    /// Whether nginx stands in front.
    pub proxy: ProxyChoice,
    /// Further variables for every process. They win over what the stack sets.
    pub environment: Vec<(String, String)>,
    /// Further server parameters for an own PostgreSQL.
    pub postgres: Vec<(String, String)>,
}

/// Which PostgreSQL.
#[derive(Clone, Debug)]
pub enum DatabaseChoice {
    /// Our own, with data that are kept in the state folder.
    Kept,
    /// Our own, with data that go with the stack; nothing is synced to the disk. For tests.
    Temporary,
    /// A given database. Its login must be a superuser or have prepared roles (`sql/README.md`).
    Given(DatabaseUrl),
}

/// Whether nginx stands in front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxyChoice {
    /// Where it is installed.
    IfInstalled,
    /// No.
    Without,
}

/// Where the programs are.
#[derive(Clone, Debug)]
pub struct Binaries {
    /// The folder they are in: one of cargo's, as `target/debug`.
    pub folder: PathBuf,
    /// Let cargo bring them up to date first. Otherwise only what is missing is built.
    pub build: bool,
}

impl Options {
    /// The defaults: own database with data in `state`, nginx where it is installed, batching on, ports.
    #[must_use]
    pub fn new(state: impl Into<PathBuf>, binaries: Binaries) -> Self {
        Self {
            state: state.into(),
            port: None,
            workers: None,
            unix_sockets: false,
            boxes: false,
            batching: true,
            database: DatabaseChoice::Kept,
            binaries,
            proxy: ProxyChoice::IfInstalled,
            environment: Vec::new(),
            postgres: Vec::new(),
        }
    }
}

impl Binaries {
    /// The folder of the running program, be it the stack itself, a test or the measurement; or its sibling of the other profile.
    ///
    /// # Errors
    /// The system does not say where the running program is.
    pub fn beside_this_program(release: bool, build: bool) -> std::io::Result<Self> {
        let program = std::env::current_exe()?;
        let folder = program.parent().unwrap_or(Path::new("."));
        // Tests are one folder further down.
        let folder = if folder.ends_with("deps") {
            folder.parent().unwrap_or(folder)
        } else {
            folder
        };
        let folder = if release {
            folder.with_file_name("release")
        } else {
            folder.to_owned()
        };
        Ok(Self { folder, build })
    }

    /// The file of the program named.
    #[must_use]
    pub fn path(&self, program: &str) -> PathBuf {
        self.folder.join(program)
    }
}
