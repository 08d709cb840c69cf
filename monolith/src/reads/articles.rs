//! Articles with their authors and what the viewer has to do with both: one, a list, a feed.

use async_trait::async_trait;
use conduit_app::reads::ArticleReads;
use conduit_domain::{
    AccountId, Article, ArticleFilter, ArticleId, ArticlePage, ArticleSummary, Error, Page, Profile, Result,
    Viewer,
};
use conduit_store::articles::selection::Selection;
use conduit_store::db::Statement;
use conduit_store::time::from_column;
use sqlx::postgres::PgRow;
use sqlx::{Postgres, QueryBuilder, Row};

use super::selection::Account;
use super::{AUTHOR, JOIN_AUTHOR, Joined, flag, if_present, profile, push_following, push_present};

/// The columns of an article called `written`; the flag that follows them, the author's columns and one that differs come after.
const ARTICLE: &str = "
    select
      written.id, written.slug, written.title, written.description, written.tag_list,
      written.created_at, written.updated_at, written.favorites_count";
const FAVORITED: usize = 8;
const FIRST_OF_AUTHOR: usize = 9;
/// The body of one article, the total of a page.
const EXTRA: usize = 14;
const PRESENT: usize = 15;

/// From a page of ids in order to the articles and their authors.
const JOIN_ARTICLE: &str = "
    left join lateral (
      select
        a.id, a.author_id, a.slug, a.title, a.description, a.tag_list, a.created_at, a.updated_at, a.favorites_count
      from articles.articles a
      where a.id = page.id
      limit 1
    ) written on true";

#[async_trait]
impl ArticleReads for Joined {
    async fn by_slug(&self, viewer: Viewer, slug: &str) -> Result<Option<Article>> {
        let statement = by_slug(viewer, slug);
        let found = self
            .db
            .optional(|| statement.query().try_map(|row| article(&row)))
            .await?;
        if_present(found)
    }

    async fn author(&self, caller: AccountId) -> Result<Profile> {
        let found = self
            .db
            .optional(|| {
                sqlx::query!(
                    "select username, bio, image
                    from users.accounts
                    where id = $1",
                    caller.0
                )
                .map(|row| Profile {
                    id: caller,
                    username: row.username,
                    bio: row.bio,
                    image: row.image,
                    following: false,
                })
            })
            .await?;
        found.ok_or(Error::CallerGone)
    }

    async fn list(&self, viewer: Viewer, filter: &ArticleFilter, page: Page) -> Result<ArticlePage> {
        let Some(selection) = self.select(filter).await? else {
            return Ok(ArticlePage::default());
        };
        let found = self.page(&list(viewer, &selection, page)).await?;
        Ok(found.unwrap_or_default())
    }

    async fn feed(&self, caller: AccountId, page: Page) -> Result<ArticlePage> {
        let found = self.page(&feed(caller, page)).await?;
        found.ok_or(Error::CallerGone)
    }
}

impl Joined {
    /// Runs a statement whose page hangs on one row: `None` if there is none, an empty page is that row alone.
    async fn page(&self, statement: &Statement) -> Result<Option<ArticlePage>> {
        let rows = self
            .db
            .all(|| {
                statement
                    .query()
                    .try_map(|row| Ok((listed(&row)?, row.try_get(EXTRA)?)))
            })
            .await?;
        let total = rows.first().map(|(_, total)| *total);
        let articles = rows.into_iter().filter_map(|(article, _)| article).collect();
        Ok(total.map(|total| ArticlePage { articles, total }))
    }
}

fn by_slug(viewer: Viewer, slug: &str) -> Statement {
    let mut statement = start(viewer.id());
    push_following(&mut statement, viewer.id());
    statement.push(", written.body");
    push_present(&mut statement, viewer);
    statement
        .push(
            "
    from articles.articles written",
        )
        .push(JOIN_AUTHOR)
        .push(
            "
    where written.slug = ",
        )
        .push_bind(slug);
    statement.into()
}

fn list(viewer: Viewer, selection: &Selection<'_, Account<'_>>, page: Page) -> Statement {
    let mut statement = start(viewer.id());
    push_following(&mut statement, viewer.id());
    statement.push(",\n      ");
    selection.push_total(&mut statement);
    statement.push(
        "
    from (
      select newest.id, newest.created_at
      from (select) request
      left join (",
    );
    selection.push_newest(&mut statement, page);
    statement.push(
        "
      ) newest on true
      order by newest.created_at desc, newest.id desc
    ) page",
    );
    finish(statement)
}

/// Each followed author's newest articles, as many as the page could need of one author, merged.
fn feed(caller: AccountId, page: Page) -> Statement {
    let mut statement = start(Some(caller));
    statement.push(", true");
    push_feed_total(&mut statement, caller);
    statement
        .push(
            "
    from (
      select newest.id, newest.created_at
      from users.accounts caller
      left join (
        select of_author.id, of_author.created_at
        from profiles.follows w
        cross join lateral (
          select a.id, a.created_at
          from articles.articles a
          where a.author_id = w.followee_id
          order by a.created_at desc, a.id desc
          limit ",
        )
        .push_bind(page.offset.saturating_add(page.limit))
        .push(
            "
        ) of_author
        where w.follower_id = ",
        )
        .push_bind(caller.0)
        .push(
            "
        order by of_author.created_at desc, of_author.id desc
        limit ",
        )
        .push_bind(page.limit)
        .push(" offset ")
        .push_bind(page.offset)
        .push(
            "
      ) newest on true
      where caller.id = ",
        )
        .push_bind(caller.0)
        .push(
            "
      order by newest.created_at desc, newest.id desc
    ) page",
        );
    finish(statement)
}

fn push_feed_total(statement: &mut QueryBuilder<Postgres>, caller: AccountId) {
    statement
        .push(
            ",
      (
        select coalesce(sum((
          select t.articles
          from articles.author_totals t
          where t.author_id = w.followee_id
          limit 1
        )), 0)::bigint
        from profiles.follows w
        where w.follower_id = ",
        )
        .push_bind(caller.0)
        .push(
            "
      )",
        );
}

/// The columns up to the author's flag, which is not the same everywhere.
fn start(viewer: Option<AccountId>) -> QueryBuilder<Postgres> {
    let mut statement = QueryBuilder::new(ARTICLE);
    push_favorited(&mut statement, viewer);
    statement.push(AUTHOR);
    statement
}

fn finish(mut statement: QueryBuilder<Postgres>) -> Statement {
    statement.push(JOIN_ARTICLE).push(JOIN_AUTHOR).push(
        "
    order by page.created_at desc, page.id desc",
    );
    statement.into()
}

/// Whether the viewer has the article as a favorite.
fn push_favorited(statement: &mut QueryBuilder<Postgres>, viewer: Option<AccountId>) {
    let Some(viewer) = viewer else {
        statement.push(", false");
        return;
    };
    statement
        .push(
            ",
      (
        select true
        from articles.favorites f
        where f.account_id = ",
        )
        .push_bind(viewer.0)
        .push(
            "
          and f.article_id = written.id
        limit 1
      )",
        );
}

fn article(row: &PgRow) -> sqlx::Result<(Article, bool)> {
    let summary = summary(row, row.try_get(0)?)?;
    Ok((
        Article {
            summary,
            body: row.try_get(EXTRA)?,
        },
        flag(row, PRESENT)?,
    ))
}

fn listed(row: &PgRow) -> sqlx::Result<Option<ArticleSummary>> {
    row.try_get::<Option<i64>, _>(0)?
        .map(|id| summary(row, id))
        .transpose()
}

fn summary(row: &PgRow, id: i64) -> sqlx::Result<ArticleSummary> {
    Ok(ArticleSummary {
        id: ArticleId(id),
        slug: row.try_get(1)?,
        title: row.try_get(2)?,
        description: row.try_get(3)?,
        tag_list: row.try_get(4)?,
        created_at: from_column(row.try_get(5)?),
        updated_at: from_column(row.try_get(6)?),
        favorites_count: row.try_get(7)?,
        favorited: flag(row, FAVORITED)?,
        author: profile(row, FIRST_OF_AUTHOR)?,
    })
}
