//! What one service asks another, as plain traits with their messages. Answers are matched by id or name, never by position; what
//! is missing is absent. A viewer is an argument, never a token.
//!
//! Calls run one way: comments → articles → profiles → users; comments and articles may also ask users directly.

use std::sync::Arc;

use async_trait::async_trait;
use conduit_domain::{AccountId, ArticleId, NameKey};

use crate::error::CallError;

/// The owner of the accounts.
#[async_trait]
pub trait UsersApi: Send + Sync {
    /// Accounts by id and by name, any mix in one call. An account asked for by both may come once or twice.
    ///
    /// # Errors
    /// [`CallError`], the only one.
    async fn find(&self, wanted: FindUsers) -> Result<Vec<User>, CallError>;
}

/// The owner of the follows.
#[async_trait]
pub trait ProfilesApi: Send + Sync {
    /// Those of the pairs that hold.
    ///
    /// # Errors
    /// [`CallError`], the only one.
    async fn follows(&self, pairs: Vec<Follow>) -> Result<Vec<Follow>, CallError>;

    /// Every account that the viewer follows, ascending by id.
    ///
    /// # Errors
    /// [`CallError`], the only one.
    async fn followed_by(&self, viewer: AccountId) -> Result<Vec<AccountId>, CallError>;

    /// One page of [`Self::followed_by`], what the transports carry: ids above `after`, at most `limit` of them (1 to 1 000). A
    /// `Local` peer overrides this with a query of its own, else every page costs the whole list.
    ///
    /// # Errors
    /// [`CallError`], the only one.
    async fn followed_page(
        &self,
        viewer: AccountId,
        after: Option<AccountId>,
        limit: u32,
    ) -> Result<Vec<AccountId>, CallError> {
        let all = self.followed_by(viewer).await?;
        let above = all.into_iter().filter(|id| after.is_none_or(|after| *id > after));
        Ok(above.take(limit as usize).collect())
    }

    /// The first page of [`Self::followed_by`] for each of these viewers, at most `limit` ids (1 to 1 000); who follows nobody may be
    /// absent. A `Local` peer overrides this with one query.
    ///
    /// # Errors
    /// [`CallError`], the only one.
    async fn followed_by_each(
        &self,
        viewers: Vec<AccountId>,
        limit: u32,
    ) -> Result<Vec<(AccountId, Vec<AccountId>)>, CallError> {
        let mut each = Vec::with_capacity(viewers.len());
        for viewer in viewers {
            each.push((viewer, self.followed_page(viewer, None, limit).await?));
        }
        Ok(each)
    }
}

/// The owner of the articles.
#[async_trait]
pub trait ArticlesApi: Send + Sync {
    /// The ids behind slugs, each with its slug.
    ///
    /// # Errors
    /// [`CallError`], the only one.
    async fn ids_by_slugs(&self, slugs: Vec<String>) -> Result<Vec<(String, ArticleId)>, CallError>;

    /// Deletions after the cursor in the cursor's order, at most `limit` of them (1 to 1 000), and none by a transaction that an
    /// older one still running could slip under.
    ///
    /// # Errors
    /// [`CallError`], the only one.
    async fn deleted_since(&self, cursor: DeletionCursor, limit: u32) -> Result<Vec<Deletion>, CallError>;
}

/// Whom to find; both lists may have repetitions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FindUsers {
    /// By id.
    pub ids: Vec<AccountId>,
    /// By name; the answer is recognised by [`NameKey::of_valid`] of its username.
    pub names: Vec<NameKey>,
}

/// An account as other services see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// Permanent.
    pub id: AccountId,
    /// As typed.
    pub username: String,
    /// Free text.
    pub bio: Option<String>,
    /// Free text, usually an address.
    pub image: Option<String>,
}

/// One account follows another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Follow {
    /// Who follows.
    pub follower: AccountId,
    /// Whom.
    pub followee: AccountId,
}

/// Where a reader of deletions stands: everything up to here is done. The default is the beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeletionCursor {
    /// The deleting transaction (PostgreSQL's 64-bit `xid8`).
    pub transaction: u64,
    /// The article, to order the deletions of one transaction.
    pub article: ArticleId,
}

impl Default for DeletionCursor {
    fn default() -> Self {
        Self {
            transaction: 0,
            article: ArticleId(0),
        }
    }
}

/// One deleted article.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deletion {
    /// The article; its id is never used again.
    pub article: ArticleId,
    /// Where to go on after this one.
    pub cursor: DeletionCursor,
}

#[async_trait]
impl<A: UsersApi + ?Sized> UsersApi for Arc<A> {
    async fn find(&self, wanted: FindUsers) -> Result<Vec<User>, CallError> {
        (**self).find(wanted).await
    }
}

#[async_trait]
impl<A: ProfilesApi + ?Sized> ProfilesApi for Arc<A> {
    async fn follows(&self, pairs: Vec<Follow>) -> Result<Vec<Follow>, CallError> {
        (**self).follows(pairs).await
    }

    async fn followed_by(&self, viewer: AccountId) -> Result<Vec<AccountId>, CallError> {
        (**self).followed_by(viewer).await
    }

    async fn followed_page(
        &self,
        viewer: AccountId,
        after: Option<AccountId>,
        limit: u32,
    ) -> Result<Vec<AccountId>, CallError> {
        (**self).followed_page(viewer, after, limit).await
    }

    async fn followed_by_each(
        &self,
        viewers: Vec<AccountId>,
        limit: u32,
    ) -> Result<Vec<(AccountId, Vec<AccountId>)>, CallError> {
        (**self).followed_by_each(viewers, limit).await
    }
}

#[async_trait]
impl<A: ArticlesApi + ?Sized> ArticlesApi for Arc<A> {
    async fn ids_by_slugs(&self, slugs: Vec<String>) -> Result<Vec<(String, ArticleId)>, CallError> {
        (**self).ids_by_slugs(slugs).await
    }

    async fn deleted_since(&self, cursor: DeletionCursor, limit: u32) -> Result<Vec<Deletion>, CallError> {
        (**self).deleted_since(cursor, limit).await
    }
}
