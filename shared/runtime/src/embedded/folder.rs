//! The folder of an embedded cluster: what lies where, who may read it, and who has it now.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

use nix::unistd::geteuid;
use secrecy::SecretString;
use tempfile::TempDir;

use super::EmbeddedError;
use super::account::Account;
use crate::secrets;

/// A socket's path has 108 bytes on Linux and 104 elsewhere, with the zero at its end.
const SOCKET_PATH_BYTES: usize = 103;

/// The file that PostgreSQL makes in the socket's folder.
const SOCKET_FILE: &str = ".s.PGSQL.65535";

/// The folder, held by this process while the value lives.
#[derive(Debug)]
pub(super) struct Folder {
    root: PathBuf,
    socket: PathBuf,
    lock: File,
}

impl Folder {
    /// Makes what is missing and takes the lock.
    pub(super) fn open(root: &Path, account: Option<&Account>) -> Result<Self, EmbeddedError> {
        let failed = |path: &Path| EmbeddedError::io(format!("making {}", path.display()));
        make_with_parents(root, account).map_err(failed(root))?;
        let root = root.canonicalize().map_err(failed(root))?;
        let lock = locked(&root)?;
        let socket = socket_folder(&root);
        make_private(&socket, account).map_err(failed(&socket))?;
        Ok(Self { root, socket, lock })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// PostgreSQL's own folder.
    pub(super) fn data(&self) -> PathBuf {
        self.root.join("data")
    }

    /// Where data are made before they are moved to their place, so that half-made ones are never taken for whole.
    pub(super) fn unfinished(&self) -> PathBuf {
        self.root.join("data.unfinished")
    }

    pub(super) fn socket(&self) -> &Path {
        &self.socket
    }

    /// Removes what servers that have ended left in the socket's folder.
    pub(super) fn clear_sockets(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.socket)? {
            remove_if_there(&entry?.path())?;
        }
        Ok(())
    }

    /// The log of this run; that of the run before is kept beside it.
    pub(super) fn log(&self) -> PathBuf {
        self.root.join("postgres.log")
    }

    /// The version that made the data, as their file says; none where there are no data yet.
    pub(super) fn data_version(&self) -> Result<Option<(PathBuf, String)>, EmbeddedError> {
        let file = self.data().join("PG_VERSION");
        match fs::read_to_string(&file) {
            Ok(text) => Ok(Some((self.data(), text.trim().to_owned()))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(EmbeddedError::io(format!("reading {}", file.display()))(error)),
        }
    }

    /// The superuser's password: made once, before the data are.
    pub(super) fn superuser_password(&self) -> Result<SecretString, EmbeddedError> {
        let file = self.root.join("superuser-password");
        if self.data().exists() && !file.exists() {
            return Err(EmbeddedError::PasswordLost {
                folder: self.data(),
                file,
            });
        }
        secrets::kept(&file).map_err(EmbeddedError::io(format!(
            "keeping a password in {}",
            file.display()
        )))
    }

    /// A file for `initdb` alone, which runs under the account and so cannot read ours.
    pub(super) fn password_for_initdb(
        &self,
        password: &str,
        account: Option<&Account>,
    ) -> io::Result<PathBuf> {
        let path = self.root.join("initdb-password");
        remove_if_there(&path)?;
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        file.write_all(password.as_bytes())?;
        give(&path, account)?;
        Ok(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A child that another thread has just started holds our files until it runs its own program, and with them the lock.
        let _ = self.lock.unlock();
    }
}

fn locked(root: &Path) -> Result<File, EmbeddedError> {
    let path = root.join("lock");
    let failed = || EmbeddedError::io(format!("locking {}", path.display()));
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&path)
        .map_err(failed())?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(in_use(root, &mut file)),
        Err(TryLockError::Error(error)) => return Err(failed()(error)),
    }
    record_holder(&mut file).map_err(failed())?;
    Ok(file)
}

fn in_use(root: &Path, file: &mut File) -> EmbeddedError {
    let mut text = String::new();
    let holder = file
        .read_to_string(&mut text)
        .ok()
        .and_then(|_| text.trim().parse().ok());
    EmbeddedError::InUse {
        folder: root.to_owned(),
        holder,
    }
}

fn record_holder(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())
}

/// Beside the data where the path is short enough, else in the system's folder for temporary files, under a
/// name made of the path.
fn socket_folder(root: &Path) -> PathBuf {
    let beside = root.join("run");
    if beside.join(SOCKET_FILE).as_os_str().len() <= SOCKET_PATH_BYTES {
        return beside;
    }
    let name = format!("conduit-{}-{}", geteuid(), secrets::digest_of_path(root));
    let shared = std::env::temp_dir().join(&name);
    if shared.join(SOCKET_FILE).as_os_str().len() <= SOCKET_PATH_BYTES {
        return shared;
    }
    Path::new("/tmp").join(name)
}

/// A folder of the account's own. A folder of somebody else under this name is refused: others may write where
/// it lies.
pub(super) fn make_private(path: &Path, account: Option<&Account>) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => return give(path, account),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    let found = fs::symlink_metadata(path)?;
    let expected = [Some(geteuid().as_raw()), account.map(|account| account.uid)];
    if !found.is_dir() || !expected.contains(&Some(found.uid())) {
        return Err(io::Error::other("it belongs to somebody else"));
    }
    fs::set_permissions(path, Permissions::from_mode(0o700))?;
    give(path, account)
}

/// The folder and all above it that are missing. The account must be able to walk through those that we make,
/// not to list them.
fn make_with_parents(path: &Path, account: Option<&Account>) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        make_with_parents(parent, account)?;
    }
    let mode = if account.is_some() { 0o711 } else { 0o700 };
    match DirBuilder::new().mode(mode).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
        // The process's umask took bits away.
        Ok(()) => fs::set_permissions(path, Permissions::from_mode(mode)),
    }
}

/// A folder that vanishes; the account may walk through it.
pub(super) fn temporary() -> Result<TempDir, EmbeddedError> {
    let failed = || EmbeddedError::io("making a temporary folder");
    let folder = tempfile::Builder::new()
        .prefix("conduit-")
        .tempdir()
        .map_err(failed())?;
    fs::set_permissions(folder.path(), Permissions::from_mode(0o711)).map_err(failed())?;
    Ok(folder)
}

fn give(path: &Path, account: Option<&Account>) -> io::Result<()> {
    match account {
        Some(account) => chown(path, Some(account.uid), Some(account.gid)),
        None => Ok(()),
    }
}

pub(super) fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_goes_with_the_value_even_where_a_child_still_has_the_file() {
        let home = tempfile::tempdir().unwrap();
        let folder = Folder::open(home.path(), None).unwrap();
        let refused = Folder::open(home.path(), None).unwrap_err();
        assert!(matches!(refused, EmbeddedError::InUse { .. }), "{refused}");
        // As a child has it between fork and exec.
        let inherited = folder.lock.try_clone().unwrap();
        drop(folder);
        Folder::open(home.path(), None).unwrap();
        drop(inherited);
    }
}
