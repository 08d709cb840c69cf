//! Accounts, in the schema `users`.

use conduit_domain::account::{Account, AccountUpdate, NameKey, NewAccount};
use conduit_domain::error::{Error, Result, Taken};
use conduit_domain::ids::AccountId;

use crate::db::Db;
use crate::time::to_column;

/// The accounts.
#[derive(Clone)]
pub struct UserStore {
    db: Db,
}

struct AccountRow {
    id: i64,
    username: String,
    email: String,
    bio: Option<String>,
    image: Option<String>,
}

impl From<AccountRow> for Account {
    fn from(row: AccountRow) -> Self {
        Self {
            id: AccountId(row.id),
            username: row.username,
            email: row.email,
            bio: row.bio,
            image: row.image,
        }
    }
}

/// An account as others see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserRecord {
    /// Permanent.
    pub id: AccountId,
    /// As typed.
    pub username: String,
    /// Free text.
    pub bio: Option<String>,
    /// Free text, usually an address.
    pub image: Option<String>,
}

struct UserRow {
    id: i64,
    username: String,
    bio: Option<String>,
    image: Option<String>,
}

impl From<UserRow> for UserRecord {
    fn from(row: UserRow) -> Self {
        Self {
            id: AccountId(row.id),
            username: row.username,
            bio: row.bio,
            image: row.image,
        }
    }
}

impl UserStore {
    /// The accounts of this database.
    pub fn new(db: Db) -> Self {
        Self { db }
    }

    /// Whether nobody has an account.
    ///
    /// # Errors
    /// Only those of the [`Db`].
    pub async fn is_empty(&self) -> Result<bool> {
        self.db
            .one(|| {
                sqlx::query_scalar!(
                    r#"select not exists (
                      select
                      from users.accounts
                    ) as "empty!""#
                )
            })
            .await
    }

    /// The account with this identifier.
    ///
    /// # Errors
    /// [`Error::Unavailable`], [`Error::Internal`].
    pub async fn by_id(&self, id: AccountId) -> Result<Option<Account>> {
        let query = || {
            sqlx::query_as!(
                AccountRow,
                "select
                   id,
                   username,
                   email,
                   bio,
                   image
                 from users.accounts
                 where id = $1",
                id.0
            )
            .map(Account::from)
        };
        self.db.optional(query).await
    }

    /// The accounts with these identifiers or names, each once, in no order. One identifier or one name alone takes the plain
    /// statement, which is cheaper (performance page, rule 6).
    ///
    /// # Errors
    /// [`Error::Unavailable`], [`Error::Internal`].
    pub async fn find(&self, ids: &[AccountId], names: &[NameKey]) -> Result<Vec<UserRecord>> {
        match (ids, names) {
            ([], []) => Ok(Vec::new()),
            ([id], []) => self.found_by_id(*id).await,
            ([], [name]) => self.found_by_name(name).await,
            (ids, []) => self.found_by_ids(ids).await,
            (ids, names) => self.found_by_any(ids, names).await,
        }
    }

    async fn found_by_id(&self, id: AccountId) -> Result<Vec<UserRecord>> {
        let query = || {
            sqlx::query_as!(
                UserRow,
                "select
                   id,
                   username,
                   bio,
                   image
                 from users.accounts
                 where id = $1",
                id.0
            )
            .map(UserRecord::from)
        };
        self.db.all(query).await
    }

    async fn found_by_name(&self, name: &NameKey) -> Result<Vec<UserRecord>> {
        let query = || {
            sqlx::query_as!(
                UserRow,
                "select
                   id,
                   username,
                   bio,
                   image
                 from users.accounts
                 where username_key = $1",
                name.as_str()
            )
            .map(UserRecord::from)
        };
        self.db.all(query).await
    }

    async fn found_by_ids(&self, ids: &[AccountId]) -> Result<Vec<UserRecord>> {
        let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
        let query = || {
            sqlx::query_as!(
                UserRow,
                "select
                   id,
                   username,
                   bio,
                   image
                 from users.accounts
                 where id = any ($1)",
                &ids
            )
            .map(UserRecord::from)
        };
        self.db.all(query).await
    }

    async fn found_by_any(&self, ids: &[AccountId], names: &[NameKey]) -> Result<Vec<UserRecord>> {
        let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
        let names: Vec<String> = names.iter().map(|name| name.as_str().to_owned()).collect();
        let query = || {
            sqlx::query_as!(
                UserRow,
                "select
                   id,
                   username,
                   bio,
                   image
                 from users.accounts
                 where id = any ($1)
                   or username_key = any ($2)",
                &ids,
                &names
            )
            .map(UserRecord::from)
        };
        self.db.all(query).await
    }

    /// The account with this e-mail, and the hash of its password.
    ///
    /// # Errors
    /// [`Error::Unavailable`], [`Error::Internal`].
    pub async fn credentials(&self, email: &NameKey) -> Result<Option<(Account, String)>> {
        let query = || {
            sqlx::query!(
                "select
                   id,
                   username,
                   email,
                   bio,
                   image,
                   password_hash
                 from users.accounts
                 where email_key = $1",
                email.as_str()
            )
            .map(|row| {
                let account = Account {
                    id: AccountId(row.id),
                    username: row.username,
                    email: row.email,
                    bio: row.bio,
                    image: row.image,
                };
                (account, row.password_hash)
            })
        };
        self.db.optional(query).await
    }

    /// Which of the two belong to an account other than `except`.
    ///
    /// # Errors
    /// [`Error::Unavailable`], [`Error::Internal`].
    pub async fn taken(
        &self,
        username: Option<&NameKey>,
        email: Option<&NameKey>,
        except: Option<AccountId>,
    ) -> Result<Taken> {
        let query = || {
            sqlx::query_as!(
                Taken,
                r#"select
                     (
                       select count(*)
                       from users.accounts
                       where username_key = $1
                         and id is distinct from $3
                     ) > 0 as "username!",
                     (
                       select count(*)
                       from users.accounts
                       where email_key = $2
                         and id is distinct from $3
                     ) > 0 as "email!""#,
                username.map(NameKey::as_str),
                email.map(NameKey::as_str),
                except.map(|id| id.0)
            )
        };
        self.db.one(query).await
    }

    /// Stores a new account.
    ///
    /// # Errors
    /// [`Error::Taken`] with every key at fault, also where another registration was a moment faster;
    /// [`Error::Unavailable`], [`Error::Internal`].
    pub async fn insert(&self, account: &NewAccount) -> Result<Account> {
        let username_key = NameKey::of_valid(&account.username);
        let email_key = NameKey::of_valid(&account.email);
        let query = sqlx::query!(
            "insert into users.accounts
               (username, username_key, email, email_key, password_hash, created_at, updated_at)
             values ($1, $2, $3, $4, $5, $6, $6)
             returning id",
            account.username,
            username_key.as_str(),
            account.email,
            email_key.as_str(),
            account.password_hash,
            to_column(account.created_at)
        )
        .map(|row| AccountId(row.id));
        match self.db.write_optional(query).await {
            Ok(id) => Ok(Account {
                id: crate::error::row(id)?,
                username: account.username.clone(),
                email: account.email.clone(),
                bio: None,
                image: None,
            }),
            Err(error) => Err(self
                .with_both_keys(error, Some(&username_key), Some(&email_key), None)
                .await),
        }
    }

    /// Changes an account, all that is given or nothing; `None` if it does not exist.
    ///
    /// # Errors
    /// [`Error::Taken`] with every key at fault, also where somebody else was a moment faster; [`Error::Unavailable`],
    /// [`Error::Internal`].
    pub async fn update(&self, id: AccountId, update: &AccountUpdate) -> Result<Option<Account>> {
        let username_key = update.username.as_deref().map(NameKey::of_valid);
        let email_key = update.email.as_deref().map(NameKey::of_valid);
        let query = sqlx::query_as!(
            AccountRow,
            "update users.accounts
             set
               username = coalesce($2, username),
               username_key = coalesce($3, username_key),
               email = coalesce($4, email),
               email_key = coalesce($5, email_key),
               password_hash = coalesce($6, password_hash),
               bio = case when $7 then $8 else bio end,
               image = case when $9 then $10 else image end,
               updated_at = $11
             where id = $1
             returning
               id,
               username,
               email,
               bio,
               image",
            id.0,
            update.username.as_deref(),
            username_key.as_ref().map(NameKey::as_str),
            update.email.as_deref(),
            email_key.as_ref().map(NameKey::as_str),
            update.password_hash.as_deref(),
            update.bio.is_some(),
            update.bio.as_ref().and_then(Option::as_deref),
            update.image.is_some(),
            update.image.as_ref().and_then(Option::as_deref),
            to_column(update.updated_at)
        );
        match self.db.write_optional(query.map(Account::from)).await {
            Ok(account) => Ok(account),
            Err(error) => Err(self
                .with_both_keys(error, username_key.as_ref(), email_key.as_ref(), Some(id))
                .await),
        }
    }

    /// The database names the first key that is broken; a client is told about both (contract 1.7).
    async fn with_both_keys(
        &self,
        error: Error,
        username: Option<&NameKey>,
        email: Option<&NameKey>,
        except: Option<AccountId>,
    ) -> Error {
        let Error::Taken(named) = error else { return error };
        match self.taken(username, email, except).await {
            Ok(found) => Error::Taken(Taken {
                username: named.username || found.username,
                email: named.email || found.email,
            }),
            Err(error) => error,
        }
    }
}
