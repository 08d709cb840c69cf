//! Password hashes: argon2id, off the worker threads, as many at once as there are processors (performance page, rule 17).

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use argon2::password_hash::phc::{Output, ParamsString, PasswordHash, Salt};
use argon2::{Algorithm, Argon2, Block, Params, Version};
use conduit_domain::{Error, Result};
use tokio::sync::Semaphore;

/// What a hash costs, how many at once, and how long one may wait for its turn.
#[derive(Clone, Copy, Debug)]
pub struct PasswordSettings {
    /// Memory of one hash in KiB, 8 or more. OWASP's second choice for argon2id is 19 456 with two passes.
    pub memory_kib: u32,
    /// Passes over that memory, 1 or more.
    pub passes: u32,
    /// Hashes at the same time, 1 or more. Each takes one processor for some 25 ms; its memory is kept for the next.
    pub at_once: usize,
    /// How long a hash waits for its turn before the request is turned away.
    pub longest_wait: Duration,
}

/// How busy the hashing is; for metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PasswordStatus {
    /// Hashes that may run at the same time.
    pub at_once: usize,
    /// Turns that are free now.
    pub free: usize,
    /// Requests that wait for a turn.
    pub waiting: usize,
    /// Passwords hashed since the start, to be kept or compared.
    pub hashed: u64,
}

/// Makes and checks hashes. One for the whole process: the bound is the machine's, not a worker's.
#[derive(Clone)]
pub struct Passwords(Arc<Shared>);

struct Shared {
    turns: Arc<Semaphore>,
    at_once: usize,
    waiting: AtomicUsize,
    hashed: AtomicU64,
    longest_wait: Duration,
    /// Working memory of finished hashes; fresh pages would cost as much as a third of the hash.
    memory: Mutex<Vec<Vec<Block>>>,
    params: Params,
    /// What a password is checked against when there is no account, so that both take the same time (contract 2.2).
    nobody: PasswordHash,
}

impl Passwords {
    /// Makes the hash that stands in for a missing account, so this takes as long as one hash.
    ///
    /// # Errors
    /// [`Error::Internal`] for a cost outside what argon2 allows.
    pub fn new(settings: PasswordSettings) -> Result<Self> {
        let PasswordSettings {
            memory_kib,
            passes,
            at_once,
            longest_wait,
        } = settings;
        let params =
            Params::new(memory_kib, passes, 1, Some(Params::DEFAULT_OUTPUT_LEN)).map_err(internal)?;
        let at_once = at_once.max(1);
        // Its memory goes back to the system: a copy that nobody logs in at does without (19 of some 30 MiB).
        let nobody = hashed(&params, b"nobody's password", &mut Vec::new())?;
        Ok(Self(Arc::new(Shared {
            turns: Arc::new(Semaphore::new(at_once)),
            at_once,
            waiting: AtomicUsize::new(0),
            hashed: AtomicU64::new(0),
            longest_wait,
            memory: Mutex::default(),
            params,
            nobody,
        })))
    }

    /// The PHC string of a password.
    ///
    /// # Errors
    /// [`Error::Overloaded`] when no turn came in time, [`Error::Internal`] if hashing fails.
    pub async fn hash(&self, password: String) -> Result<String> {
        let hash = self
            .in_turn(move |shared, memory| hashed(&shared.params, password.as_bytes(), memory))
            .await?;
        Ok(hash.to_string())
    }

    /// Whether the password is the one of this hash. Without a hash it takes as long and is false.
    ///
    /// # Errors
    /// [`Error::Overloaded`] when no turn came in time, [`Error::Internal`] for a stored text that is no such hash.
    pub async fn verify(&self, password: String, hash: Option<String>) -> Result<bool> {
        self.in_turn(move |shared, memory| match hash {
            Some(text) => matches(
                &PasswordHash::new(&text).map_err(internal)?,
                password.as_bytes(),
                memory,
            ),
            None => matches(&shared.nobody, password.as_bytes(), memory).map(|_| false),
        })
        .await
    }

    /// How busy the hashing is.
    pub fn status(&self) -> PasswordStatus {
        let Shared {
            turns,
            at_once,
            waiting,
            hashed,
            ..
        } = &*self.0;
        PasswordStatus {
            at_once: *at_once,
            free: turns.available_permits(),
            waiting: waiting.load(Ordering::Relaxed),
            hashed: hashed.load(Ordering::Relaxed),
        }
    }

    /// Runs on a blocking thread when a turn is free. The turn is held until the work ends, even if the caller has left.
    async fn in_turn<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shared, &mut Vec<Block>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let in_line = InLine::join(&self.0.waiting);
        let turn = tokio::time::timeout(self.0.longest_wait, Arc::clone(&self.0.turns).acquire_owned()).await;
        drop(in_line);
        let turn = turn
            .map_err(|_| Error::Overloaded("password hashing"))?
            .map_err(internal)?;
        let shared = Arc::clone(&self.0);
        let hashing = tokio::task::spawn_blocking(move || {
            shared.hashed.fetch_add(1, Ordering::Relaxed);
            let mut memory = shared.take_memory();
            let result = work(&shared, &mut memory);
            shared.keep_memory(memory);
            drop(turn);
            result
        });
        hashing.await.map_err(internal)?
    }
}

/// A request that waits; counted until dropped, also when its client goes away.
struct InLine<'a>(&'a AtomicUsize);

impl<'a> InLine<'a> {
    fn join(waiting: &'a AtomicUsize) -> Self {
        waiting.fetch_add(1, Ordering::Relaxed);
        Self(waiting)
    }
}

impl Drop for InLine<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Shared {
    fn take_memory(&self) -> Vec<Block> {
        self.memory
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop()
            .unwrap_or_default()
    }

    fn keep_memory(&self, memory: Vec<Block>) {
        self.memory
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(memory);
    }
}

fn hashed(params: &Params, password: &[u8], memory: &mut Vec<Block>) -> Result<PasswordHash> {
    let salt = Salt::generate();
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params.clone());
    let mut output = [0; Params::DEFAULT_OUTPUT_LEN];
    memory.resize(params.block_count().max(memory.len()), Block::default());
    argon2
        .hash_password_into_with_memory(password, &salt, &mut output, memory)
        .map_err(internal)?;
    Ok(PasswordHash {
        algorithm: Algorithm::Argon2id.ident(),
        version: Some(Version::V0x13.into()),
        params: ParamsString::try_from(params).map_err(internal)?,
        salt: Some(salt),
        hash: Some(Output::new(&output).map_err(internal)?),
    })
}

/// Hashes with the parameters that stand in the hash, so that they can be raised later without locking anybody out.
fn matches(hash: &PasswordHash, password: &[u8], memory: &mut Vec<Block>) -> Result<bool> {
    let (Some(salt), Some(expected)) = (&hash.salt, &hash.hash) else {
        return Err(Error::Internal(
            "a stored password hash has no salt or no output".into(),
        ));
    };
    let params = Params::try_from(hash).map_err(internal)?;
    let algorithm = Algorithm::try_from(hash.algorithm.as_str()).map_err(internal)?;
    let version = hash
        .version
        .map_or(Ok(Version::V0x13), Version::try_from)
        .map_err(internal)?;
    memory.resize(params.block_count().max(memory.len()), Block::default());
    let argon2 = Argon2::new(algorithm, version, params);
    let mut output = vec![0; expected.len()];
    argon2
        .hash_password_into_with_memory(password, salt, &mut output, memory)
        .map_err(internal)?;
    // `Output` compares in constant time.
    Ok(Output::new(&output).map_err(internal)? == *expected)
}

fn internal(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::Internal(Box::new(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passwords(longest_wait: Duration) -> Passwords {
        Passwords::new(PasswordSettings {
            memory_kib: 19_456,
            passes: 2,
            at_once: 1,
            longest_wait,
        })
        .unwrap()
    }

    #[tokio::test]
    async fn memory_is_held_from_the_first_hash_on_and_used_again() {
        let passwords = passwords(Duration::from_secs(60));
        let held = || passwords.0.memory.lock().unwrap().len();
        assert_eq!(held(), 0, "a copy that nobody logs in at holds none");
        for _ in 0..2 {
            passwords.hash("correct horse".to_owned()).await.unwrap();
            assert_eq!(held(), 1);
        }
    }

    #[tokio::test]
    async fn a_hash_accepts_its_own_password_only() {
        let passwords = passwords(Duration::from_secs(60));
        let hash = passwords.hash("correct horse".to_owned()).await.unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
        assert!(
            passwords
                .verify("correct horse".to_owned(), Some(hash.clone()))
                .await
                .unwrap()
        );
        assert!(
            !passwords
                .verify("correct horse ".to_owned(), Some(hash))
                .await
                .unwrap()
        );
        assert!(
            !passwords
                .verify("nobody's password".to_owned(), None)
                .await
                .unwrap()
        );
    }

    #[tokio::test]
    async fn hashes_with_other_parameters_are_still_checked() {
        // Made by the reference implementation: argon2id, 256 KiB, two passes, "password", "somesalt".
        let hash = "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4";
        let passwords = passwords(Duration::from_secs(60));
        assert!(
            passwords
                .verify("password".to_owned(), Some(hash.to_owned()))
                .await
                .unwrap()
        );
        assert!(
            !passwords
                .verify("differentpassword".to_owned(), Some(hash.to_owned()))
                .await
                .unwrap()
        );
    }

    #[tokio::test]
    async fn without_a_turn_in_time_the_request_is_turned_away() {
        let passwords = passwords(Duration::ZERO);
        let turn = Arc::clone(&passwords.0.turns).acquire_owned().await.unwrap();
        assert_eq!(
            passwords.status(),
            PasswordStatus {
                at_once: 1,
                free: 0,
                waiting: 0,
                hashed: 0
            }
        );
        let refused = passwords.hash("correct horse".to_owned()).await;
        assert!(matches!(refused, Err(Error::Overloaded(_))));
        assert_eq!(passwords.status().waiting, 0);
        drop(turn);
        assert!(passwords.hash("correct horse".to_owned()).await.is_ok());
        assert_eq!(passwords.status().hashed, 1);
    }

    #[tokio::test]
    async fn a_stored_text_that_is_no_hash_is_an_internal_error() {
        let read = passwords(Duration::from_secs(60))
            .verify("x".to_owned(), Some("plain".to_owned()))
            .await;
        assert!(matches!(read, Err(Error::Internal(_))));
    }
}
