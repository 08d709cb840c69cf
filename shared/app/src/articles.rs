//! Articles, lists, favorites and tags (contract 2.8 to 2.13, 2.17 to 2.19).

use std::sync::Arc;

use conduit_domain::error::Resource;
use conduit_domain::{
    AccountId, Article, ArticleChanges, ArticleFilter, ArticleId, ArticlePage, ArticleSummary, Body, Clock,
    Error, NewArticle, Page, Result, Viewer, slug,
};
use conduit_store::ArticleStore;

use crate::reads::ArticleReads;

const NOT_FOUND: Error = Error::NotFound(Resource::Article);

/// What a list is asked for: the parameters as sent, decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListQuery {
    /// `tag`
    pub tag: Option<String>,
    /// `author`
    pub author: Option<String>,
    /// `favorited`
    pub favorited: Option<String>,
    /// `limit` and `offset`
    pub page: Page,
}

/// The use cases.
#[derive(Clone)]
pub struct Articles {
    reads: Arc<dyn ArticleReads>,
    store: ArticleStore,
    clock: Arc<dyn Clock>,
}

impl Articles {
    /// Puts the parts together.
    pub fn new(reads: Arc<dyn ArticleReads>, store: ArticleStore, clock: Arc<dyn Clock>) -> Self {
        Self { reads, store, clock }
    }

    /// One article.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub async fn show(&self, viewer: Viewer, slug: &str) -> Result<Article> {
        if !slug::is_slug(slug) {
            return Err(NOT_FOUND);
        }
        self.reads.by_slug(viewer, slug).await?.ok_or(NOT_FOUND)
    }

    /// One page of the articles that match.
    ///
    /// # Errors
    /// Only those of the store.
    pub async fn list(&self, viewer: Viewer, query: ListQuery) -> Result<ArticlePage> {
        let ListQuery {
            tag,
            author,
            favorited,
            page,
        } = query;
        match ArticleFilter::read(tag.as_deref(), author.as_deref(), favorited.as_deref()) {
            Some(filter) => self.reads.list(viewer, &filter, page).await,
            None => Ok(ArticlePage::default()),
        }
    }

    /// One page of the articles of those whom the caller follows.
    ///
    /// # Errors
    /// [`Error::CallerGone`].
    pub async fn feed(&self, caller: AccountId, page: Page) -> Result<ArticlePage> {
        self.reads.feed(caller, page).await
    }

    /// Publishes an article.
    ///
    /// # Errors
    /// [`Error::Invalid`], [`Error::CallerGone`], in that order.
    pub async fn create(&self, caller: AccountId, body: Body) -> Result<Article> {
        let article = NewArticle::parse(body)?;
        let author = self.reads.author(caller).await?;
        let record = self.store.insert(caller, &article, self.clock.now()).await?;
        Ok(record.by(author))
    }

    /// Changes an article of the caller's. Changing nothing is allowed (contract 3.2).
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Forbidden`], [`Error::Invalid`], in that order.
    pub async fn update(&self, caller: AccountId, slug: &str, body: Body) -> Result<Article> {
        let id = self.own(caller, slug).await?;
        let changes = ArticleChanges::parse(body)?;
        if changes.is_empty() {
            return self.show(Viewer::SignedIn(caller), slug).await;
        }
        let author = self.reads.author(caller).await?;
        let record = self
            .store
            .update(id, &changes, self.clock.now(), caller)
            .await?
            .ok_or(NOT_FOUND)?;
        Ok(record.by(author))
    }

    /// Deletes an article of the caller's.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Forbidden`], in that order.
    pub async fn delete(&self, caller: AccountId, slug: &str) -> Result<()> {
        let id = self.own(caller, slug).await?;
        if self.store.delete(id, self.clock.now()).await? {
            Ok(())
        } else {
            Err(NOT_FOUND)
        }
    }

    /// Makes an article a favorite of the caller's; repeatable.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::CallerGone`], in that order.
    pub async fn favorite(&self, caller: AccountId, slug: &str) -> Result<Article> {
        let article = self.show(Viewer::Acting(caller), slug).await?;
        let count = self
            .store
            .favorite(article.summary.id, caller)
            .await?
            .ok_or(NOT_FOUND)?;
        Ok(with_favorite(article, true, count))
    }

    /// Makes an article no favorite of the caller's; repeatable.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::CallerGone`], in that order.
    pub async fn unfavorite(&self, caller: AccountId, slug: &str) -> Result<Article> {
        let article = self.show(Viewer::Acting(caller), slug).await?;
        let count = self
            .store
            .unfavorite(article.summary.id, caller)
            .await?
            .ok_or(NOT_FOUND)?;
        Ok(with_favorite(article, false, count))
    }

    /// Every tag in use, most used first.
    ///
    /// # Errors
    /// Only those of the store.
    pub async fn tags(&self) -> Result<Vec<String>> {
        self.store.tags().await
    }

    /// The article at that address, if it is the caller's.
    async fn own(&self, caller: AccountId, slug: &str) -> Result<ArticleId> {
        if !slug::is_slug(slug) {
            return Err(NOT_FOUND);
        }
        let (id, author) = self.store.owner(slug).await?.ok_or(NOT_FOUND)?;
        if author == caller {
            Ok(id)
        } else {
            Err(Error::Forbidden(Resource::Article))
        }
    }
}

fn with_favorite(article: Article, favorited: bool, favorites_count: i64) -> Article {
    Article {
        summary: ArticleSummary {
            favorited,
            favorites_count,
            ..article.summary
        },
        ..article
    }
}
