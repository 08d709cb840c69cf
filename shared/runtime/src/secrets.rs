//! Random secrets that are made once and kept in a file only we may read.

use std::fs::{self, OpenOptions};
use std::hash::Hasher;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use fnv::FnvHasher;
use secrecy::SecretString;

/// The secret in the file; a new random one (256 bits in hexadecimal, so 64 bytes of text) where there is no
/// file yet.
///
/// # Errors
/// What the file system says.
pub fn kept(path: &Path) -> io::Result<SecretString> {
    match fs::read_to_string(path) {
        Ok(text) if !text.trim().is_empty() => return Ok(text.trim().into()),
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(_) | Err(_) => {}
    }
    let secret = random();
    write_whole(path, &secret)?;
    Ok(secret.into())
}

/// 256 random bits in hexadecimal, so 64 bytes of text.
#[must_use]
pub fn random() -> String {
    rand::random::<[u8; 32]>()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Either the whole text is in the file or there is no file: a reader never finds half a secret.
fn write_whole(path: &Path, text: &str) -> io::Result<()> {
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
    file.sync_all()?;
    fs::rename(unfinished, path)
}

/// Sixteen hexadecimal digits that stand for a path, the same in every version of this program. Not a secret:
/// it only keeps the folders of different clones apart.
#[must_use]
pub fn digest_of_path(path: &Path) -> String {
    let mut hasher = FnvHasher::default();
    hasher.write(path.as_os_str().as_bytes());
    format!("{:016x}", hasher.finish())
}
