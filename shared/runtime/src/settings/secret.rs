//! Reading a secret from its variable or its file, and judging it.

use std::fs;
use std::path::Path;

use secrecy::{ExposeSecret, SecretString};

use super::SettingsError;

/// The shortest token secret, in bytes: as many as HS256's hash has.
const LEAST_BYTES: usize = 32;

/// With fewer different characters, a secret is a pattern.
const LEAST_DIFFERENT: usize = 8;

/// What values in examples are made of. A random secret contains none of them.
const SAMPLES: [&str; 10] = [
    "changeme",
    "change-me",
    "change_me",
    "change this",
    "example",
    "placeholder",
    "supersecret",
    "super-secret",
    "your-secret",
    "your-256-bit-secret",
];

/// What clap reads a secret with; it accepts everything, because clap repeats a wrong value in its message.
///
/// # Errors
/// Never.
#[allow(clippy::unnecessary_wraps, reason = "clap's parsers may fail")]
pub fn secret_text(text: &str) -> Result<SecretString, std::convert::Infallible> {
    Ok(text.into())
}

/// A secret from its variable or its file, refused where it can be guessed; none where neither is set.
///
/// # Errors
/// [`SettingsError`] where both are set, the file cannot be read, or the secret is weak.
pub fn strong_secret(
    name: &'static str,
    value: Option<&SecretString>,
    file: Option<&Path>,
) -> Result<Option<SecretString>, SettingsError> {
    let given = read(name, value, file)?;
    given.map(|secret| judge(name, secret)).transpose()
}

/// From the variable or from the file. An empty value counts as none: container platforms set empty variables
/// for absent ones.
pub(super) fn read(
    name: &'static str,
    value: Option<&SecretString>,
    file: Option<&Path>,
) -> Result<Option<SecretString>, SettingsError> {
    let value = value.filter(|value| !value.expose_secret().trim().is_empty());
    let file = file.filter(|path| !path.as_os_str().is_empty());
    match (value, file) {
        (Some(_), Some(_)) => Err(SettingsError::Both { name }),
        (Some(value), None) => Ok(Some(value.clone())),
        (None, None) => Ok(None),
        (None, Some(path)) => {
            let read = fs::read_to_string(path);
            let text = read.map_err(|source| SettingsError::File {
                name,
                path: path.to_owned(),
                source,
            })?;
            // Editors and `echo` end a file with a line's end that is not part of the secret.
            let text = text.trim_end_matches(['\r', '\n']);
            Ok((!text.trim().is_empty()).then(|| text.into()))
        }
    }
}

/// Refuses what can be guessed (fault B072).
pub(super) fn judge(name: &'static str, secret: SecretString) -> Result<SecretString, SettingsError> {
    let text = secret.expose_secret();
    let lower = text.to_lowercase();
    let different = text.chars().collect::<std::collections::BTreeSet<_>>().len();
    let reason = match () {
        () if text.len() < LEAST_BYTES => "is shorter than 32 bytes",
        () if SAMPLES.iter().any(|sample| lower.contains(sample)) => "is a value from an example",
        () if different < LEAST_DIFFERENT => "repeats a few characters",
        () => return Ok(secret),
    };
    Err(SettingsError::Weak { name, reason })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> Option<&'static str> {
        match judge("S", text.into()) {
            Err(SettingsError::Weak { reason, .. }) => Some(reason),
            _ => None,
        }
    }

    #[test]
    fn secrets_that_can_be_guessed_are_refused() {
        assert_eq!(refused("secret"), Some("is shorter than 32 bytes"));
        assert_eq!(refused(&"ab".repeat(20)), Some("repeats a few characters"));
        assert_eq!(
            refused("Please-ChangeMe-0123456789-abcdefghij"),
            Some("is a value from an example")
        );
        assert_eq!(refused("3f1c9a7be05d4826a1f0c3d2b4e59687"), None);
    }

    #[test]
    fn a_file_is_read_without_its_last_line_end() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "two words\r\n").unwrap();
        let secret = read("S", None, Some(file.path())).unwrap().unwrap();
        assert_eq!(secret.expose_secret(), "two words");
    }

    #[test]
    fn nothing_and_blanks_are_none_and_both_are_one_too_many() {
        let blank = SecretString::from("  ");
        assert!(read("S", Some(&blank), Some(Path::new(""))).unwrap().is_none());
        let both = read("S", Some(&"x".into()), Some(Path::new("/y")));
        assert!(matches!(both, Err(SettingsError::Both { name: "S" })));
    }
}
