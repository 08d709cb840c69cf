//! Publishing.

use conduit_domain::{AccountId, ArticleId, NewArticle, Result, SlugBase, Timestamp};

use super::slugs::{self, Slug};
use super::{ArticleRecord, ArticleStore, totals};
use crate::db::Transaction;
use crate::time::to_column;

impl ArticleStore {
    /// Publishes an article under the next free slug of its title.
    ///
    /// # Errors
    /// [`Error::CallerGone`](conduit_domain::Error::CallerGone) where the database knows the accounts and this author is none.
    pub async fn insert(
        &self,
        author: AccountId,
        article: &NewArticle,
        now: Timestamp,
    ) -> Result<ArticleRecord> {
        slugs::attempt(|| self.try_insert(author, article, now)).await
    }

    async fn try_insert(
        &self,
        author: AccountId,
        article: &NewArticle,
        now: Timestamp,
    ) -> Result<ArticleRecord> {
        let mut transaction = self.db.begin().await?;
        let slug = slugs::free(&mut transaction, &SlugBase::of(&article.title), None).await?;
        let id = insert_article(&mut transaction, author, article, &slug, now).await?;
        totals::count_published(&mut transaction, author, &article.tag_list).await?;
        transaction.commit().await?;
        Ok(ArticleRecord {
            id,
            author,
            slug: slug.text,
            title: article.title.clone(),
            description: article.description.clone(),
            body: article.body.clone(),
            tag_list: article.tag_list.clone(),
            created_at: now,
            updated_at: now,
            favorited: false,
            favorites_count: 0,
        })
    }
}

async fn insert_article(
    transaction: &mut Transaction,
    author: AccountId,
    article: &NewArticle,
    slug: &Slug,
    now: Timestamp,
) -> Result<ArticleId> {
    let insert = sqlx::query!(
        "with article as (
          insert into articles.articles
            (author_id, slug, slug_base, slug_number, title, description, body, tag_list, created_at, updated_at)
          values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)
          returning id
        ), tags as (
          insert into articles.article_tags (article_id, tag, author_id, created_at)
          select article.id, tag, $1, $9
          from article
          cross join unnest($8::text[]) as tag
        )
        select id
        from article",
        author.0,
        slug.text,
        slug.base,
        slug.number,
        article.title,
        article.description,
        article.body,
        &article.tag_list,
        to_column(now),
    );
    transaction.one(insert.map(|row| ArticleId(row.id))).await
}
