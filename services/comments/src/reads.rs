//! Comments with their authors, from four owners: articles knows the slug, this service the comments, users and profiles the
//! authors.

use std::sync::Arc;

use async_trait::async_trait;
use conduit_app::reads::CommentReads;
use conduit_domain::{AccountId, ArticleId, Comment, CommentTarget, Page, Result, Viewer};
use conduit_rpc::{ArticlesApi, CallError, FindUsers, ProfilesApi, UsersApi};
use conduit_service::{authors, profile};
use conduit_store::CommentStore;
use futures_util::future::try_join;

/// The read port over three peers and the own comments.
#[derive(Clone)]
pub struct Composed {
    users: Arc<dyn UsersApi>,
    profiles: Arc<dyn ProfilesApi>,
    articles: Arc<dyn ArticlesApi>,
    comments: CommentStore,
}

impl Composed {
    /// Asks these peers, and reads these comments.
    pub fn new(
        users: Arc<dyn UsersApi>,
        profiles: Arc<dyn ProfilesApi>,
        articles: Arc<dyn ArticlesApi>,
        comments: CommentStore,
    ) -> Self {
        Self {
            users,
            profiles,
            articles,
            comments,
        }
    }

    async fn id_of(&self, slug: &str) -> Result<Option<ArticleId>, CallError> {
        let found = self.articles.ids_by_slugs(vec![slug.to_owned()]).await?;
        Ok(found
            .into_iter()
            .find(|(known, _)| known == slug)
            .map(|(_, id)| id))
    }
}

#[async_trait]
impl CommentReads for Composed {
    async fn article_id(&self, slug: &str) -> Result<Option<ArticleId>> {
        Ok(self.id_of(slug).await?)
    }

    async fn target(&self, caller: AccountId, slug: &str) -> Result<Option<CommentTarget>> {
        let wanted = FindUsers {
            ids: vec![caller],
            names: Vec::new(),
        };
        let (article, found) = try_join(self.id_of(slug), self.users.find(wanted)).await?;
        let author = found.into_iter().find(|user| user.id == caller);
        Ok(article.map(|article| CommentTarget {
            article,
            author: author.map(|user| profile(user, false)),
        }))
    }

    async fn list(&self, viewer: Viewer, slug: &str, page: Page) -> Result<Option<Vec<Comment>>> {
        let Some(article) = self.id_of(slug).await? else {
            return Ok(None);
        };
        let rows = self.comments.list(article, page).await?;
        let ids = rows.iter().map(|row| row.author).collect();
        let authors = authors(&*self.users, &*self.profiles, viewer, ids).await?;
        // Who is unknown to users was removed by hand; where one database holds all, the comments went along.
        let comments = rows.into_iter().filter_map(|row| {
            let author = authors.get(&row.author)?.clone();
            Some(Comment {
                id: row.id,
                created_at: row.created_at,
                body: row.body,
                author,
            })
        });
        Ok(Some(comments.collect()))
    }
}
