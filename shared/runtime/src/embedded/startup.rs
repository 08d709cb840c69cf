//! The first data, and the start of the server.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use postgresql_commands::CommandBuilder;
use postgresql_commands::initdb::InitDbBuilder;
use postgresql_commands::postgres::PostgresBuilder;
use secrecy::{ExposeSecret, SecretString};
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection};
use tokio::time::{Instant, sleep};

use super::account::{self, Account};
use super::folder::{self, Folder};
use super::guard::Guard;
use super::installation::Installation;
use super::server::Server;
use super::{EmbeddedError, EmbeddedSettings, SUPERUSER, orphan};

/// How often to look whether the server is ready.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// How long one attempt to connect may take; a server in recovery answers at once.
const ATTEMPT_WAIT: Duration = Duration::from_secs(2);

/// How much of a program's output an error shows.
const SHOWN_BYTES: u64 = 2000;

/// Byte order and UTF-8 on every machine. Only macOS has no such locale; there text sorts by bytes as well.
const LOCALE: &str = if cfg!(target_os = "macos") { "C" } else { "C.UTF-8" };

/// What PostgreSQL says while another server's last processes still hold its memory.
const STILL_HELD: [&str; 2] = ["is still in use", "lock file \"postmaster.pid\" already exists"];

/// Everything a start needs to know.
pub(super) struct Startup<'a> {
    pub(super) settings: &'a EmbeddedSettings,
    pub(super) folder: &'a Folder,
    pub(super) installation: &'a Installation,
    pub(super) account: Option<&'a Account>,
    pub(super) password: &'a SecretString,
    /// The folder to remove when this process is gone.
    pub(super) temporary: Option<&'a Path>,
}

impl Startup<'_> {
    pub(super) fn port(&self) -> u16 {
        self.settings.port.unwrap_or(5432)
    }

    pub(super) async fn run(&self) -> Result<Server, EmbeddedError> {
        let deadline = Instant::now() + self.settings.start_wait;
        orphan::stop(&self.folder.data(), self.settings.stop_wait).await?;
        // A server that was killed leaves its socket's lock there, whose process number may be another
        // program's by now.
        self.folder
            .clear_sockets()
            .map_err(EmbeddedError::io("removing old sockets"))?;
        if !self.folder.data().exists() {
            self.make_data().await?;
        }
        loop {
            let mut server = self.spawn()?;
            match self.wait_until_ready(&mut server, deadline).await {
                // The server's processes notice late that their parent was killed.
                Err(EmbeddedError::Program { output, .. })
                    if Instant::now() < deadline && still_held(&output) =>
                {
                    sleep(LOOK_EVERY * 10).await;
                }
                Err(error) => return Err(error),
                Ok(()) => return Ok(server),
            }
        }
    }

    /// Runs `initdb` beside the data's place and moves the result there.
    async fn make_data(&self) -> Result<(), EmbeddedError> {
        let unfinished = self.folder.unfinished();
        let failed = || EmbeddedError::io(format!("making {}", unfinished.display()));
        folder::remove_if_there(&unfinished).map_err(failed())?;
        folder::make_private(&unfinished, self.account).map_err(failed())?;
        let password_file = self
            .folder
            .password_for_initdb(self.password.expose_secret(), self.account)
            .map_err(failed())?;
        let command = self.initdb(&unfinished, &password_file);
        let result = tokio::task::spawn_blocking(move || output_of(command, "initdb")).await;
        folder::remove_if_there(&password_file).map_err(failed())?;
        result.map_err(|error| failed()(std::io::Error::other(error)))??;
        fs::rename(&unfinished, self.folder.data()).map_err(failed())
    }

    fn initdb(&self, data: &Path, password_file: &Path) -> Command {
        let mut builder = InitDbBuilder::new()
            .program_dir(&self.installation.programs)
            .pgdata(data)
            .username(SUPERUSER)
            .auth("scram-sha-256")
            .pwfile(password_file)
            .encoding("UTF8")
            .locale(LOCALE)
            .text_search_config("simple")
            .no_instructions();
        if self.temporary.is_some() {
            builder = builder.no_sync();
        }
        self.prepared(builder.build(), data)
    }

    fn spawn(&self) -> Result<Server, EmbeddedError> {
        let failed = || EmbeddedError::io("starting PostgreSQL");
        let log = self.open_log().map_err(failed())?;
        let mut command = self.prepared(self.server_command(), &self.folder.data());
        command.stdout(log.try_clone().map_err(failed())?).stderr(log);
        // In the terminal's own group it would get the Ctrl-C that is meant for us, and end before our last
        // requests do.
        let child = command.process_group(0).spawn().map_err(failed())?;
        let mut server = Server::new(child, self.settings.stop_wait, self.temporary.is_some());
        let guard =
            Guard::over(server.id(), self.temporary).map_err(EmbeddedError::io("starting a shell"))?;
        server.set_guard(guard);
        Ok(server)
    }

    fn server_command(&self) -> Command {
        let listen = if self.settings.port.is_some() {
            "127.0.0.1"
        } else {
            ""
        };
        let mut builder = PostgresBuilder::new()
            .program_dir(&self.installation.programs)
            .data_dir(self.folder.data())
            .socket_location(self.folder.socket())
            .port(self.port())
            .runtime_param("listen_addresses", listen);
        for (name, value) in &self.settings.parameters {
            builder = builder.runtime_param(name.as_str(), value.as_str());
        }
        builder.build()
    }

    /// As the account, in a folder it may enter (ours may be closed to it), without the variables that are
    /// meant for clients.
    fn prepared(&self, mut command: Command, folder: &Path) -> Command {
        command.current_dir(folder).stdin(Stdio::null());
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("PG")) {
            command.env_remove(name);
        }
        account::run_as(&mut command, self.account);
        command
    }

    /// The log of the last run is kept beside the new one, so that neither grows for ever.
    fn open_log(&self) -> std::io::Result<File> {
        let path = self.folder.log();
        if path.exists() {
            fs::rename(&path, path.with_extension("previous.log"))?;
        }
        OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(path)
    }

    async fn wait_until_ready(&self, server: &mut Server, deadline: Instant) -> Result<(), EmbeddedError> {
        let options = self.options();
        let mut cause = "it never answered".to_owned();
        while Instant::now() < deadline {
            if server.has_ended() {
                return Err(EmbeddedError::Program {
                    program: "postgres",
                    output: tail_of(&self.folder.log()),
                });
            }
            match tokio::time::timeout(ATTEMPT_WAIT, options.connect()).await {
                Ok(Ok(connection)) => {
                    let _ = connection.close().await;
                    return Ok(());
                }
                Ok(Err(error)) => cause = error.to_string(),
                Err(_) => "it does not answer".clone_into(&mut cause),
            }
            sleep(LOOK_EVERY).await;
        }
        Err(EmbeddedError::NotReady {
            seconds: self.settings.start_wait.as_secs(),
            cause,
            log: self.folder.log(),
        })
    }

    fn options(&self) -> PgConnectOptions {
        PgConnectOptions::new_without_pgpass()
            .socket(self.folder.socket())
            .port(self.port())
            .username(SUPERUSER)
            .password(self.password.expose_secret())
            .database("postgres")
    }
}

fn still_held(output: &str) -> bool {
    STILL_HELD.iter().any(|words| output.contains(words))
}

fn output_of(mut command: Command, program: &'static str) -> Result<(), EmbeddedError> {
    let output = command
        .output()
        .map_err(EmbeddedError::io(format!("running {program}")))?;
    if output.status.success() {
        return Ok(());
    }
    Err(EmbeddedError::Program {
        program,
        output: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
    })
}

fn tail_of(log: &Path) -> String {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(log)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(SHOWN_BYTES)))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().map_or_else(
        |error| format!("its log cannot be read: {error}"),
        |bytes| String::from_utf8_lossy(&bytes).trim().to_owned(),
    )
}
