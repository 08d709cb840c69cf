//! The secrets that sign tokens.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use secrecy::SecretString;

use super::secret::{judge, read, secret_text};
use super::{SettingsError, positive_duration};
use crate::secrets;

const SECRET: &str = "CONDUIT_TOKEN_SECRET";
const PREVIOUS: &str = "CONDUIT_TOKEN_SECRET_PREVIOUS";

/// Settings of tokens.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Tokens")]
pub struct TokenArgs {
    /// Secret that signs tokens, at least 32 bytes. Needed with DATABASE_URL; without it, a random one is made
    /// once and kept beside the data
    #[arg(long, env = SECRET, hide_env_values = true, value_name = "TEXT", value_parser = secret_text)]
    token_secret: Option<SecretString>,
    /// File that holds the secret instead
    #[arg(long, env = "CONDUIT_TOKEN_SECRET_FILE", value_name = "PATH")]
    token_secret_file: Option<PathBuf>,
    /// Secret of before a rotation: tokens signed with it are still accepted, until they expire
    #[arg(long, env = PREVIOUS, hide_env_values = true, value_name = "TEXT", value_parser = secret_text)]
    token_secret_previous: Option<SecretString>,
    /// File that holds the previous secret instead
    #[arg(long, env = "CONDUIT_TOKEN_SECRET_PREVIOUS_FILE", value_name = "PATH")]
    token_secret_previous_file: Option<PathBuf>,
    /// How long a token is valid
    #[arg(long, env = "CONDUIT_TOKEN_LIFETIME", value_name = "DURATION", default_value = "60days", value_parser = positive_duration)]
    pub token_lifetime: Duration,
}

/// The secrets that tokens are signed and checked with.
#[derive(Clone, Debug)]
pub struct TokenSecrets {
    /// Signs, and is accepted.
    pub current: SecretString,
    /// Is accepted only.
    pub previous: Option<SecretString>,
    /// The file that a development secret is kept in.
    pub kept_in: Option<PathBuf>,
}

impl TokenArgs {
    /// The secrets as given. With `development`, a missing one is kept in that file, made at random on the
    /// first start.
    ///
    /// # Errors
    /// [`SettingsError`] where a secret is missing or weak, or a file cannot be read.
    pub fn secrets(&self, development: Option<&Path>) -> Result<TokenSecrets, SettingsError> {
        let given = read(
            SECRET,
            self.token_secret.as_ref(),
            self.token_secret_file.as_deref(),
        )?;
        let previous = read(
            PREVIOUS,
            self.token_secret_previous.as_ref(),
            self.token_secret_previous_file.as_deref(),
        )?;
        let previous = previous.map(|secret| judge(PREVIOUS, secret)).transpose()?;
        if let Some(given) = given {
            return Ok(TokenSecrets {
                current: judge(SECRET, given)?,
                previous,
                kept_in: None,
            });
        }
        let path = development.ok_or(SettingsError::Missing { name: SECRET })?;
        let current = secrets::kept(path).map_err(|source| SettingsError::Data {
            path: path.to_owned(),
            source,
        })?;
        Ok(TokenSecrets {
            current: judge(SECRET, current)?,
            previous,
            kept_in: Some(path.to_owned()),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use secrecy::ExposeSecret;

    use super::*;

    fn args(secret: Option<&str>) -> TokenArgs {
        TokenArgs {
            token_secret: secret.map(SecretString::from),
            token_secret_file: None,
            token_secret_previous: None,
            token_secret_previous_file: None,
            token_lifetime: Duration::from_secs(1),
        }
    }

    #[test]
    fn a_missing_secret_is_refused_where_nothing_is_for_development() {
        let told = args(None).secrets(None).unwrap_err().to_string();
        assert!(told.contains("CONDUIT_TOKEN_SECRET is missing"), "{told}");
        assert!(args(Some("")).secrets(None).is_err());
    }

    #[test]
    fn a_development_secret_is_made_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token-secret");
        let first = args(None).secrets(Some(&path)).unwrap();
        let second = args(None).secrets(Some(&path)).unwrap();
        assert_eq!(first.current.expose_secret(), second.current.expose_secret());
        assert_eq!(first.kept_in.as_deref(), Some(path.as_path()));
        assert_eq!(
            std::fs::metadata(path).unwrap().permissions().mode() & 0o777,
            0o600
        );
    }

    #[test]
    fn a_weak_secret_is_refused_even_for_development_and_never_shown() {
        let mut args = args(Some("short secret"));
        let told = format!(
            "{} {args:?}",
            args.secrets(Some(Path::new("/nowhere"))).unwrap_err()
        );
        assert!(!told.contains("short secret"), "{told}");
        args.token_secret = Some("3f1c9a7be05d4826a1f0c3d2b4e59687".into());
        args.token_secret_previous = Some("short secret".into());
        assert!(args.secrets(None).is_err());
    }
}
