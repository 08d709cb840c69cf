//! What the other services ask of this one.

use std::sync::Arc;

use async_trait::async_trait;
use conduit_domain::ArticleId;
use conduit_rpc::{ArticlesApi, BatchedArticles, CallError, CallSettings, Deletion, DeletionCursor};
use conduit_store::ArticleStore;
use conduit_store::articles::DeletionRecord;

/// The articles of this process's own store.
#[derive(Clone)]
pub struct Local {
    articles: ArticleStore,
}

impl Local {
    /// Answers from these articles.
    pub fn new(articles: ArticleStore) -> Self {
        Self { articles }
    }
}

/// What a worker offers to its peers: [`Local`], whose look-ups leave together if the settings say so (performance page, rule 6).
pub fn api(articles: ArticleStore, calls: &CallSettings) -> Arc<dyn ArticlesApi> {
    let local = Arc::new(Local::new(articles));
    if calls.batching {
        Arc::new(BatchedArticles::new(local, Arc::clone(&calls.counts)))
    } else {
        local
    }
}

#[async_trait]
impl ArticlesApi for Local {
    async fn ids_by_slugs(&self, slugs: Vec<String>) -> Result<Vec<(String, ArticleId)>, CallError> {
        Ok(self.articles.ids_by_slugs(&slugs).await?)
    }

    async fn deleted_since(&self, cursor: DeletionCursor, limit: u32) -> Result<Vec<Deletion>, CallError> {
        let deleted = self
            .articles
            .deleted_since(cursor.transaction, cursor.article, limit.into())
            .await?;
        Ok(deleted.into_iter().map(deletion).collect())
    }
}

fn deletion(DeletionRecord { transaction, article }: DeletionRecord) -> Deletion {
    Deletion {
        article,
        cursor: DeletionCursor { transaction, article },
    }
}
