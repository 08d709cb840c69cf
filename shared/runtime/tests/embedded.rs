//! The embedded PostgreSQL as its user meets it: started, stopped, killed, started again, in the way of another.

#![cfg(feature = "embedded")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    missing_docs
)]

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use conduit_runtime::embedded::{Embedded, EmbeddedError, EmbeddedSettings};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use sqlx::{ConnectOptions, Executor, PgConnection, Row};
use tempfile::TempDir;

/// The variable that makes [`keeper`] a process of its own.
const KEEPER: &str = "EMBEDDED_TEST_FOLDER";

/// A folder that the server's account can reach, with the settings for a cluster in it.
fn place() -> (TempDir, EmbeddedSettings) {
    let home = tempfile::tempdir().unwrap();
    fs::set_permissions(home.path(), Permissions::from_mode(0o711)).unwrap();
    let settings = EmbeddedSettings::new(home.path().join("clone/.conduit/postgres"));
    (home, settings)
}

async fn connect(embedded: &Embedded) -> PgConnection {
    embedded.url().options().unwrap().connect().await.unwrap()
}

async fn setting(connection: &mut PgConnection, name: &str) -> String {
    sqlx::query("select current_setting($1)")
        .bind(name)
        .fetch_one(connection)
        .await
        .unwrap()
        .get(0)
}

/// Not a test of its own: the process that other tests start, kill and get in the way of. It keeps a cluster
/// until its input ends.
#[test]
fn keeper() {
    let Ok(folder) = std::env::var(KEEPER) else { return };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let embedded = runtime
        .block_on(Embedded::start(&EmbeddedSettings::new(folder)))
        .unwrap();
    println!("\nserver {}", embedded.process_id());
    std::io::stdin().lines().for_each(drop);
    runtime.block_on(embedded.stop()).unwrap();
}

/// Starts [`keeper`] in the working directory given; answers with it and the server's process id.
fn start_keeper(settings: &EmbeddedSettings, working_directory: &Path) -> (Child, Pid) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "keeper", "--nocapture"])
        .env(KEEPER, &settings.folder)
        .current_dir(working_directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map_while(Result::ok);
    let server = lines
        .find_map(|line| line.strip_prefix("server ")?.parse().ok())
        .unwrap();
    // The test harness in there fails if nobody reads what it says at its end.
    std::thread::spawn(move || lines.for_each(drop));
    (child, Pid::from_raw(server))
}

fn killed(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

async fn started(settings: &EmbeddedSettings) -> Embedded {
    Embedded::start(settings).await.unwrap()
}

#[tokio::test]
async fn data_survive_a_restart() {
    let (_home, settings) = place();
    let embedded = started(&settings).await;
    let mut connection = connect(&embedded).await;
    connection
        .execute("create table kept (value text); insert into kept values ('ä')")
        .await
        .unwrap();
    let server = Pid::from_raw(i32::try_from(embedded.process_id()).unwrap());
    embedded.stop().await.unwrap();
    assert!(kill(server, None).is_err(), "the server still runs");

    let embedded = started(&settings).await;
    let value: String = sqlx::query("select value from kept")
        .fetch_one(&mut connect(&embedded).await)
        .await
        .unwrap()
        .get(0);
    assert_eq!(value, "ä");
    embedded.stop().await.unwrap();
}

#[tokio::test]
async fn peoples_data_are_synced_and_closed_to_others() {
    let (_home, settings) = place();
    let embedded = started(&settings).await;
    let mut connection = connect(&embedded).await;
    assert_eq!(setting(&mut connection, "fsync").await, "on");
    assert_eq!(setting(&mut connection, "listen_addresses").await, "");
    assert_eq!(setting(&mut connection, "server_encoding").await, "UTF8");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(embedded.socket_folder()), 0o700);
    assert_eq!(mode(&settings.folder.join("superuser-password")), 0o600);
    assert_eq!(mode(&settings.folder.join("postgres.log")), 0o600);
    assert_eq!(mode(&settings.folder.join("data")), 0o700);
    let wrong = embedded.url().with_login("postgres", "wrong").unwrap();
    let refused = wrong.options().unwrap().connect().await.unwrap_err();
    assert!(
        refused.to_string().contains("password authentication failed"),
        "{refused}"
    );
}

#[tokio::test]
async fn recovers_after_its_process_was_killed() {
    let (_home, settings) = place();
    let (child, server) = start_keeper(&settings, Path::new("/"));
    killed(child);
    let embedded = started(&settings).await;
    assert_ne!(i32::try_from(embedded.process_id()).unwrap(), server.as_raw());
    connect(&embedded).await.execute("select 1").await.unwrap();
    embedded.stop().await.unwrap();
}

#[tokio::test]
async fn recovers_after_process_and_server_were_killed() {
    let (_home, settings) = place();
    let (child, server) = start_keeper(&settings, Path::new("/"));
    kill(server, Signal::SIGKILL).unwrap();
    killed(child);
    assert!(settings.folder.join("data/postmaster.pid").exists());
    let embedded = started(&settings).await;
    connect(&embedded).await.execute("select 1").await.unwrap();
}

#[tokio::test]
async fn a_record_with_another_programs_number_is_forgotten() {
    let (_home, settings) = place();
    started(&settings).await.stop().await.unwrap();
    let record = settings.folder.join("data/postmaster.pid");
    fs::write(
        &record,
        format!(
            "{}\n{}\n",
            std::process::id(),
            settings.folder.join("data").display()
        ),
    )
    .unwrap();
    let embedded = started(&settings).await;
    connect(&embedded).await.execute("select 1").await.unwrap();
}

#[tokio::test]
async fn half_made_data_are_made_again() {
    let (_home, settings) = place();
    fs::create_dir_all(settings.folder.join("data.unfinished/base")).unwrap();
    let made_by_test = [
        settings.folder.as_path(),
        settings.folder.parent().unwrap(),
        settings.folder.ancestors().nth(2).unwrap(),
    ];
    for folder in made_by_test {
        fs::set_permissions(folder, Permissions::from_mode(0o711)).unwrap();
    }
    let embedded = started(&settings).await;
    connect(&embedded).await.execute("select 1").await.unwrap();
    assert!(!settings.folder.join("data.unfinished").exists());
    assert!(!settings.folder.join("initdb-password").exists());
}

#[tokio::test]
async fn a_second_process_on_the_same_data_is_refused() {
    let (_home, settings) = place();
    let (mut child, _) = start_keeper(&settings, Path::new("/"));
    let refused = Embedded::start(&settings).await.unwrap_err();
    assert!(
        matches!(&refused, EmbeddedError::InUse { holder: Some(pid), .. } if *pid == child.id()),
        "{refused:?}"
    );
    let text = refused.to_string();
    assert!(
        text.contains(&child.id().to_string()) && text.contains("CONDUIT_DATA_DIR"),
        "{text}"
    );
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    started(&settings).await.stop().await.unwrap();
}

#[tokio::test]
async fn data_of_another_major_version_are_one_clear_error() {
    let (_home, settings) = place();
    fs::create_dir_all(settings.folder.join("data")).unwrap();
    fs::write(settings.folder.join("data/PG_VERSION"), "9\n").unwrap();
    let text = Embedded::start(&settings).await.unwrap_err().to_string();
    assert!(
        text.contains("made by PostgreSQL 9") && text.contains("Install PostgreSQL 9"),
        "{text}"
    );
}

#[tokio::test]
async fn data_without_their_password_are_one_clear_error() {
    let (_home, settings) = place();
    started(&settings).await.stop().await.unwrap();
    fs::remove_file(settings.folder.join("superuser-password")).unwrap();
    let refused = Embedded::start(&settings).await.unwrap_err();
    assert!(
        matches!(refused, EmbeddedError::PasswordLost { .. }),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_clone_that_the_account_cannot_enter_does_not_matter() {
    let (_home, settings) = place();
    let closed = tempfile::tempdir().unwrap();
    fs::set_permissions(closed.path(), Permissions::from_mode(0o700)).unwrap();
    let (mut child, _) = start_keeper(&settings, closed.path());
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}

#[tokio::test]
async fn a_data_folder_that_the_account_cannot_enter_is_one_clear_error() {
    let closed = tempfile::tempdir().unwrap();
    fs::set_permissions(closed.path(), Permissions::from_mode(0o700)).unwrap();
    let started = Embedded::start(&EmbeddedSettings::new(closed.path().join("postgres"))).await;
    match nix::unistd::geteuid().is_root() {
        true => assert!(
            matches!(started, Err(EmbeddedError::OutOfReach { .. })),
            "{started:?}"
        ),
        false => assert!(started.is_ok(), "{started:?}"),
    }
}

#[tokio::test]
async fn a_long_path_gets_its_socket_elsewhere() {
    let (home, _) = place();
    let mut settings = EmbeddedSettings::new(home.path().join("x".repeat(120)));
    settings.parameters.push(("fsync".into(), "off".into()));
    let embedded = started(&settings).await;
    let socket = embedded.socket_folder().to_owned();
    connect(&embedded).await.execute("select 1").await.unwrap();
    embedded.stop().await.unwrap();
    fs::remove_dir(socket).unwrap();
}

#[tokio::test]
async fn temporary_data_vanish() {
    let embedded = Embedded::temporary_with(&[("max_connections", "37")])
        .await
        .unwrap();
    let mut connection = connect(&embedded).await;
    assert_eq!(setting(&mut connection, "fsync").await, "off");
    assert_eq!(setting(&mut connection, "max_connections").await, "37");
    let folder = embedded.folder().to_owned();
    assert!(folder.exists());
    drop(embedded);
    assert!(!folder.exists());
}
