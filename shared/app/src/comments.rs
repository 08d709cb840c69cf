//! Comments on articles (contract 2.14 to 2.16).

use std::sync::Arc;

use conduit_domain::error::Resource;
use conduit_domain::{
    AccountId, Body, Clock, Comment, CommentTarget, Error, NewComment, Page, Result, Viewer, comment_id, slug,
};
use conduit_store::CommentStore;

use crate::reads::CommentReads;

const NO_ARTICLE: Error = Error::NotFound(Resource::Article);
const NO_COMMENT: Error = Error::NotFound(Resource::Comment);

/// The use cases.
#[derive(Clone)]
pub struct Comments {
    reads: Arc<dyn CommentReads>,
    store: CommentStore,
    clock: Arc<dyn Clock>,
}

impl Comments {
    /// Puts the parts together.
    pub fn new(reads: Arc<dyn CommentReads>, store: CommentStore, clock: Arc<dyn Clock>) -> Self {
        Self { reads, store, clock }
    }

    /// One page of an article's comments.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub async fn list(&self, viewer: Viewer, slug: &str, page: Page) -> Result<Vec<Comment>> {
        if !slug::is_slug(slug) {
            return Err(NO_ARTICLE);
        }
        self.reads.list(viewer, slug, page).await?.ok_or(NO_ARTICLE)
    }

    /// Comments on an article.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Invalid`], [`Error::CallerGone`], in that order.
    pub async fn add(&self, caller: AccountId, slug: &str, body: Body) -> Result<Comment> {
        if !slug::is_slug(slug) {
            return Err(NO_ARTICLE);
        }
        let CommentTarget { article, author } = self.reads.target(caller, slug).await?.ok_or(NO_ARTICLE)?;
        let comment = NewComment::parse(body)?;
        let author = author.ok_or(Error::CallerGone)?;
        let created_at = self.clock.now();
        let id = self.store.insert(article, caller, &comment, created_at).await?;
        Ok(Comment {
            id,
            created_at,
            body: comment.body,
            author,
        })
    }

    /// Deletes a comment of the caller's; nobody else's, not even under one's own article (contract 3.10).
    ///
    /// # Errors
    /// [`Error::NotFound`] for the article, then for the comment, then [`Error::Forbidden`].
    pub async fn delete(&self, caller: AccountId, slug: &str, id: &str) -> Result<()> {
        if !slug::is_slug(slug) {
            return Err(NO_ARTICLE);
        }
        let article = self.reads.article_id(slug).await?.ok_or(NO_ARTICLE)?;
        let id = comment_id(id).ok_or(NO_COMMENT)?;
        let comment = self
            .store
            .by_id(id)
            .await?
            .filter(|comment| comment.article == article)
            .ok_or(NO_COMMENT)?;
        if comment.author != caller {
            return Err(Error::Forbidden(Resource::Comment));
        }
        if self.store.delete(id).await? {
            Ok(())
        } else {
            Err(NO_COMMENT)
        }
    }
}
