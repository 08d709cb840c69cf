//! What the two builds do differently: reading across owners.
//!
//! The monolith implements these by joins, each service by its own rows and what its peers answer. A [`Viewer::Acting`] asks for
//! an account that must exist: [`Error::CallerGone`](conduit_domain::Error::CallerGone) if it does not, but only when what was
//! asked for exists (contract 1.8: 404 comes first).

use async_trait::async_trait;
use conduit_domain::{
    AccountId, Article, ArticleFilter, ArticleId, ArticlePage, Comment, CommentTarget, NameKey, Page,
    Profile, Result, Viewer,
};

/// Accounts as others see them.
#[async_trait]
pub trait ProfileReads: Send + Sync {
    /// The account of that name.
    async fn by_username(&self, viewer: Viewer, name: &NameKey) -> Result<Option<Profile>>;
}

/// Articles with their authors and what the viewer has to do with both.
#[async_trait]
pub trait ArticleReads: Send + Sync {
    /// The article at that address.
    async fn by_slug(&self, viewer: Viewer, slug: &str) -> Result<Option<Article>>;

    /// The caller as an author sees themself (`following: false`).
    ///
    /// # Errors
    /// [`Error::CallerGone`](conduit_domain::Error::CallerGone).
    async fn author(&self, caller: AccountId) -> Result<Profile>;

    /// One page of all articles that match, newest first. An unknown name or tag matches nothing.
    async fn list(&self, viewer: Viewer, filter: &ArticleFilter, page: Page) -> Result<ArticlePage>;

    /// One page of the articles of everybody whom the caller follows, newest first.
    ///
    /// # Errors
    /// [`Error::CallerGone`](conduit_domain::Error::CallerGone).
    async fn feed(&self, caller: AccountId, page: Page) -> Result<ArticlePage>;
}

/// Comments with their authors, found through the article they belong to.
#[async_trait]
pub trait CommentReads: Send + Sync {
    /// The article at that address.
    async fn article_id(&self, slug: &str) -> Result<Option<ArticleId>>;

    /// The article at that address, and the caller as an author, looked up together.
    async fn target(&self, caller: AccountId, slug: &str) -> Result<Option<CommentTarget>>;

    /// One page of an article's comments, newest first; `None` if there is no such article.
    async fn list(&self, viewer: Viewer, slug: &str, page: Page) -> Result<Option<Vec<Comment>>>;
}

/// Whether requests can be served now.
#[async_trait]
pub trait Readiness: Send + Sync {
    /// True when everything that this process needs answers.
    async fn ready(&self) -> bool;
}
