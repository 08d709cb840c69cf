//! Changing (contract 3.1 to 3.3).

use conduit_domain::{AccountId, ArticleChanges, ArticleId, Result, SlugBase, Timestamp};

use super::slugs::{self, Slug};
use super::{ArticleRecord, ArticleStore, totals};
use crate::db::Transaction;
use crate::time::{from_column, to_column};

/// What a change depends on, as the lock found it.
struct Former {
    author: AccountId,
    title: String,
    slug_base: String,
    tag_list: Vec<String>,
    created_at: Timestamp,
    updated_at: Timestamp,
}

/// The tags that an article gains and loses; both in ascending order of code points.
struct TagChange {
    gained: Vec<String>,
    lost: Vec<String>,
}

impl ArticleStore {
    /// Changes an article; `viewer` is whom the record's flag is about. `None`: there is no such article, or no longer.
    ///
    /// # Errors
    /// Only those of the [`Db`](crate::db::Db).
    pub async fn update(
        &self,
        article: ArticleId,
        changes: &ArticleChanges,
        now: Timestamp,
        viewer: AccountId,
    ) -> Result<Option<ArticleRecord>> {
        slugs::attempt(|| self.try_update(article, changes, now, viewer)).await
    }

    async fn try_update(
        &self,
        article: ArticleId,
        changes: &ArticleChanges,
        now: Timestamp,
        viewer: AccountId,
    ) -> Result<Option<ArticleRecord>> {
        let mut transaction = self.db.begin().await?;
        let Some(former) = lock(&mut transaction, article).await? else {
            transaction.roll_back().await?;
            return Ok(None);
        };
        let slug = new_slug(&mut transaction, article, &former, changes).await?;
        let updated_at = now.strictly_after(former.updated_at);
        let record = update_article(
            &mut transaction,
            article,
            changes,
            slug.as_ref(),
            updated_at,
            viewer,
        )
        .await?;
        let tags = TagChange::between(&former.tag_list, changes.tag_list.as_deref());
        replace_tags(&mut transaction, article, &former, &tags).await?;
        totals::count_retagged(&mut transaction, &tags.gained, &tags.lost).await?;
        transaction.commit().await?;
        Ok(Some(record))
    }
}

impl TagChange {
    fn between(former: &[String], wanted: Option<&[String]>) -> Self {
        let wanted = wanted.unwrap_or(former);
        let missing = |from: &[String], tags: &[String]| {
            tags.iter()
                .filter(|tag| !from.contains(tag))
                .cloned()
                .collect::<Vec<_>>()
        };
        Self {
            gained: missing(former, wanted),
            lost: missing(wanted, former),
        }
    }
}

async fn lock(transaction: &mut Transaction, article: ArticleId) -> Result<Option<Former>> {
    let former = sqlx::query!(
        "select author_id, title, slug_base, tag_list, created_at, updated_at
        from articles.articles
        where id = $1
        for no key update",
        article.0,
    )
    .map(|row| Former {
        author: AccountId(row.author_id),
        title: row.title,
        slug_base: row.slug_base,
        tag_list: row.tag_list,
        created_at: from_column(row.created_at),
        updated_at: from_column(row.updated_at),
    });
    transaction.optional(former).await
}

/// The slug follows the title, unless only case or punctuation changes.
async fn new_slug(
    transaction: &mut Transaction,
    article: ArticleId,
    former: &Former,
    changes: &ArticleChanges,
) -> Result<Option<Slug>> {
    let Some(title) = changes.title.as_ref().filter(|title| **title != former.title) else {
        return Ok(None);
    };
    let base = SlugBase::of(title);
    if base.as_str() == former.slug_base {
        return Ok(None);
    }
    slugs::free(transaction, &base, Some(article)).await.map(Some)
}

async fn update_article(
    transaction: &mut Transaction,
    article: ArticleId,
    changes: &ArticleChanges,
    slug: Option<&Slug>,
    updated_at: Timestamp,
    viewer: AccountId,
) -> Result<ArticleRecord> {
    let update = sqlx::query!(
        "update articles.articles a
        set
          slug = coalesce($2, a.slug),
          slug_base = coalesce($3, a.slug_base),
          slug_number = coalesce($4, a.slug_number),
          title = coalesce($5, a.title),
          description = coalesce($6, a.description),
          body = coalesce($7, a.body),
          tag_list = coalesce($8, a.tag_list),
          updated_at = $9
        where a.id = $1
        returning
          a.author_id,
          a.slug,
          a.title,
          a.description,
          a.body,
          a.tag_list,
          a.favorites_count,
          a.created_at,
          (
            select true
            from articles.favorites f
            where f.account_id = $10
              and f.article_id = a.id
            limit 1
          ) as favorited",
        article.0,
        slug.map(|slug| slug.text.as_str()),
        slug.map(|slug| slug.base.as_str()),
        slug.map(|slug| slug.number),
        changes.title.as_deref(),
        changes.description.as_deref(),
        changes.body.as_deref(),
        changes.tag_list.as_deref(),
        to_column(updated_at),
        viewer.0,
    )
    .map(|row| ArticleRecord {
        id: article,
        author: AccountId(row.author_id),
        slug: row.slug,
        title: row.title,
        description: row.description,
        body: row.body,
        tag_list: row.tag_list,
        created_at: from_column(row.created_at),
        updated_at,
        favorited: row.favorited.is_some(),
        favorites_count: row.favorites_count,
    });
    transaction.one(update).await
}

async fn replace_tags(
    transaction: &mut Transaction,
    article: ArticleId,
    former: &Former,
    change: &TagChange,
) -> Result<()> {
    if change.gained.is_empty() && change.lost.is_empty() {
        return Ok(());
    }
    let replace = sqlx::query!(
        "with lost as (
          delete from articles.article_tags
          where article_id = $1
            and tag = any($2)
        )
        insert into articles.article_tags (article_id, tag, author_id, created_at)
        select $1, tag, $4, $5
        from unnest($3::text[]) as tag",
        article.0,
        &change.lost,
        &change.gained,
        former.author.0,
        to_column(former.created_at),
    );
    transaction.execute(replace).await.map(drop)
}
