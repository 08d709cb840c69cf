//! Accounts of their own owners: register, log in, read, change (contract 2.1 to 2.4).

use std::sync::Arc;

use conduit_domain::account::{AccountUpdate, NewAccount};
use conduit_domain::{
    Account, AccountChanges, AccountId, Body, Clock, Error, LogIn, NameKey, Registration, Result,
};
use conduit_store::UserStore;

use crate::passwords::Passwords;
use crate::tokens::Tokens;

/// An account with a token just issued: what a client gets whenever it gets its own account.
#[derive(Clone, Debug)]
pub struct Session {
    /// The account.
    pub account: Account,
    /// A JWT (contract 1.2).
    pub token: String,
}

/// The use cases.
#[derive(Clone)]
pub struct Users {
    store: UserStore,
    passwords: Passwords,
    tokens: Tokens,
    clock: Arc<dyn Clock>,
}

impl Users {
    /// Puts the parts together.
    pub fn new(store: UserStore, passwords: Passwords, tokens: Tokens, clock: Arc<dyn Clock>) -> Self {
        Self {
            store,
            passwords,
            tokens,
            clock,
        }
    }

    /// Registers an account.
    ///
    /// # Errors
    /// [`Error::Invalid`], [`Error::Taken`].
    pub async fn register(&self, body: Body) -> Result<Session> {
        let Registration {
            username,
            email,
            password,
        } = Registration::parse(body)?;
        self.refuse_taken(Some(&username), Some(&email), None).await?;
        let password_hash = self.passwords.hash(password).await?;
        let created_at = self.clock.now();
        let account = self
            .store
            .insert(&NewAccount {
                username,
                email,
                password_hash,
                created_at,
            })
            .await?;
        self.session(account)
    }

    /// Logs in; unknown address and wrong password look the same and take as long. A password that is too long for any account
    /// is refused whatever the address, before anything is looked up or hashed.
    ///
    /// # Errors
    /// [`Error::Invalid`], [`Error::CredentialsInvalid`].
    pub async fn log_in(&self, body: Body) -> Result<Session> {
        let LogIn { email, password } = LogIn::parse(body)?;
        let password = password.ok_or(Error::CredentialsInvalid)?;
        let found = match &email {
            Some(email) => self.store.credentials(email).await?,
            None => None,
        };
        let (account, hash) = found.unzip();
        if !self.passwords.verify(password, hash).await? {
            return Err(Error::CredentialsInvalid);
        }
        self.session(account.ok_or(Error::CredentialsInvalid)?)
    }

    /// The caller's own account.
    ///
    /// # Errors
    /// [`Error::CallerGone`].
    pub async fn current(&self, caller: AccountId) -> Result<Session> {
        let account = self.store.by_id(caller).await?.ok_or(Error::CallerGone)?;
        self.session(account)
    }

    /// Changes the caller's own account, all fields or none.
    ///
    /// # Errors
    /// [`Error::Invalid`], [`Error::CallerGone`], [`Error::Taken`], in that order.
    pub async fn update(&self, caller: AccountId, body: Body) -> Result<Session> {
        let AccountChanges {
            username,
            email,
            password,
            bio,
            image,
        } = AccountChanges::parse(body)?;
        if username.is_some() || email.is_some() || password.is_some() {
            // A caller who is gone must not learn which names are taken, nor cost a hash.
            self.store.by_id(caller).await?.ok_or(Error::CallerGone)?;
            self.refuse_taken(username.as_deref(), email.as_deref(), Some(caller))
                .await?;
        }
        let password_hash = match password {
            Some(password) => Some(self.passwords.hash(password).await?),
            None => None,
        };
        let updated_at = self.clock.now();
        let update = AccountUpdate {
            username,
            email,
            password_hash,
            bio,
            image,
            updated_at,
        };
        let account = self
            .store
            .update(caller, &update)
            .await?
            .ok_or(Error::CallerGone)?;
        self.session(account)
    }

    /// Looks before the hash is paid for; the store's own constraints decide the race.
    async fn refuse_taken(
        &self,
        username: Option<&str>,
        email: Option<&str>,
        except: Option<AccountId>,
    ) -> Result<()> {
        let username = username.map(NameKey::of_valid);
        let email = email.map(NameKey::of_valid);
        if username.is_none() && email.is_none() {
            return Ok(());
        }
        let taken = self
            .store
            .taken(username.as_ref(), email.as_ref(), except)
            .await?;
        if taken.any() {
            Err(Error::Taken(taken))
        } else {
            Ok(())
        }
    }

    fn session(&self, account: Account) -> Result<Session> {
        let token = self.tokens.issue(account.id, self.clock.now())?;
        Ok(Session { account, token })
    }
}
