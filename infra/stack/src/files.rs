//! Folders and files of a stack.

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use nix::unistd::geteuid;
use tempfile::TempDir;

/// Makes the folder and what is missing above it. Where we are root, the accounts that PostgreSQL and nginx run under may walk
/// through, but not list it.
///
/// # Errors
/// What the file system says.
pub fn make_folder(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(folder_mode()).create(path)
}

/// A folder for sockets and what nginx needs while it runs. It goes when the value goes.
///
/// # Errors
/// What the file system says.
pub fn temporary_folder() -> io::Result<TempDir> {
    let folder = tempfile::Builder::new().prefix("conduit-stack-").tempdir()?;
    fs::set_permissions(folder.path(), Permissions::from_mode(folder_mode()))?;
    Ok(folder)
}

fn folder_mode() -> u32 {
    if geteuid().is_root() { 0o711 } else { 0o700 }
}

/// Writes a file that only we may read. Whoever reads it finds all of it or none.
///
/// # Errors
/// What the file system says.
pub fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let unfinished = path.with_extension("unfinished");
    match fs::remove_file(&unfinished) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&unfinished)?;
    writeln!(file, "{text}")?;
    fs::rename(unfinished, path)
}
