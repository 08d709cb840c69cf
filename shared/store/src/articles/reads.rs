//! Reading articles: one, a page of a list, a page of a feed. What belongs to their authors is somebody else's.
//!
//! As in the monolith nothing is left to the planner's guess: a page of ids comes from one index in order, and what belongs to an
//! id comes by its key from a lateral sub-select with a limit of one.

use conduit_domain::{AccountId, ArticleId, ArticleSummary, Page, Profile, Result, Timestamp};
use sqlx::postgres::PgRow;
use sqlx::{Postgres, QueryBuilder, Row};

use super::selection::{Conditions, Selection, Sizes};
use super::{ArticleRecord, ArticleStore};
use crate::db::Statement;
use crate::time::from_column;

/// The columns of an article called `written`; the viewer's flag and one that differs come after.
const ARTICLE: &str = "
    select
      written.id, written.author_id, written.slug, written.title, written.description, written.tag_list,
      written.created_at, written.updated_at, written.favorites_count";
const FAVORITED: usize = 9;
/// The body of one article, the total of a page.
const EXTRA: usize = 10;

/// An article as lists show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArticleRow {
    /// Permanent.
    pub id: ArticleId,
    /// Never changes.
    pub author: AccountId,
    /// Changes with the title (contract 3.1).
    pub slug: String,
    /// As typed, trimmed.
    pub title: String,
    /// As typed, trimmed.
    pub description: String,
    /// In ascending order of code points.
    pub tag_list: Vec<String>,
    /// Never changes.
    pub created_at: Timestamp,
    /// Grows with every change (contract 3.2).
    pub updated_at: Timestamp,
    /// Whether the viewer has it as a favorite.
    pub favorited: bool,
    /// How many accounts have.
    pub favorites_count: i64,
}

impl ArticleRow {
    /// The article as lists show it, with its author as the viewer sees them.
    pub fn by(self, author: Profile) -> ArticleSummary {
        ArticleSummary {
            id: self.id,
            slug: self.slug,
            title: self.title,
            description: self.description,
            tag_list: self.tag_list,
            created_at: self.created_at,
            updated_at: self.updated_at,
            favorited: self.favorited,
            favorites_count: self.favorites_count,
            author,
        }
    }
}

/// One page of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordPage {
    /// The page, newest first.
    pub rows: Vec<ArticleRow>,
    /// All matches, before limit and offset.
    pub total: i64,
}

impl ArticleStore {
    /// The article at that address; nobody has favorites.
    ///
    /// # Errors
    /// Only those of the [`Db`](crate::db::Db).
    pub async fn by_slug(&self, slug: &str, viewer: Option<AccountId>) -> Result<Option<ArticleRecord>> {
        let statement = by_slug(slug, viewer);
        self.db
            .optional(|| statement.query().try_map(|row| record(&row)))
            .await
    }

    /// Prepares a list; `None` if no article can match. Asks the database only for several conditions at once.
    ///
    /// # Errors
    /// Only those of the [`Db`](crate::db::Db).
    pub async fn select<'f>(
        &self,
        conditions: Conditions<'f, AccountId>,
    ) -> Result<Option<Selection<'f, AccountId>>> {
        match Selection::only(conditions) {
            Some(selection) => Ok(Some(selection)),
            None => Ok(Selection::narrowest(conditions, self.sizes(conditions).await?)),
        }
    }

    /// One page of a list, newest first, ties by id; nobody has favorites.
    ///
    /// # Errors
    /// Only those of the [`Db`](crate::db::Db).
    pub async fn page(
        &self,
        selection: &Selection<'_, AccountId>,
        viewer: Option<AccountId>,
        page: Page,
    ) -> Result<RecordPage> {
        self.rows(&list(selection, viewer, page)).await
    }

    /// One page of the articles of these authors, each named once, in the order of [`Self::page`].
    ///
    /// # Errors
    /// Only those of the [`Db`](crate::db::Db).
    pub async fn feed(&self, authors: &[AccountId], viewer: AccountId, page: Page) -> Result<RecordPage> {
        if authors.is_empty() {
            return Ok(RecordPage::default());
        }
        self.rows(&feed(authors, viewer, page)).await
    }

    /// Runs a statement whose page hangs on one row, so that an empty page has its total too.
    async fn rows(&self, statement: &Statement) -> Result<RecordPage> {
        let rows = self
            .db
            .all(|| {
                statement
                    .query()
                    .try_map(|row| Ok((listed(&row)?, row.try_get(EXTRA)?)))
            })
            .await?;
        Ok(RecordPage {
            total: rows.first().map_or(0, |(_, total)| *total),
            rows: rows.into_iter().filter_map(|(row, _)| row).collect(),
        })
    }

    async fn sizes(&self, conditions: Conditions<'_, AccountId>) -> Result<Sizes> {
        self.db
            .one(|| {
                sqlx::query_as!(
                    Sizes,
                    r#"
                    select
                      coalesce(known.tagged, 0) as "tagged!",
                      coalesce(known.written, 0) as "written!",
                      (
                        select count(*)
                        from (
                          select
                          from articles.favorites f
                          where f.account_id = $3
                          limit coalesce(least(known.tagged, known.written), 0) * $4
                        ) counted
                      ) as "favorites!"
                    from (
                      select
                        (select t.articles from articles.tag_totals t where t.tag = $1) as tagged,
                        (select t.articles from articles.author_totals t where t.author_id = $2) as written
                    ) known
                    "#,
                    conditions.tag,
                    conditions.author.map(|author| author.0),
                    conditions.fan.map(|fan| fan.0),
                    conditions.favorites_per_entry(),
                )
            })
            .await
    }
}

fn by_slug(slug: &str, viewer: Option<AccountId>) -> Statement {
    let mut statement = start(viewer);
    statement
        .push(
            ", written.body
    from articles.articles written
    where written.slug = ",
        )
        .push_bind(slug);
    statement.into()
}

fn list(selection: &Selection<'_, AccountId>, viewer: Option<AccountId>, page: Page) -> Statement {
    let mut statement = start(viewer);
    statement.push(",\n      ");
    selection.push_total(&mut statement);
    push_from_page(&mut statement);
    selection.push_newest(&mut statement, page);
    finish(statement)
}

/// Each author's newest articles, as many as the page could need of one author, merged.
fn feed(authors: &[AccountId], viewer: AccountId, page: Page) -> Statement {
    let authors: Vec<i64> = authors.iter().map(|author| author.0).collect();
    let mut statement = start(Some(viewer));
    statement
        .push(
            ",
      (
        select coalesce(sum((
          select t.articles
          from articles.author_totals t
          where t.author_id = followed.author_id
          limit 1
        )), 0)::bigint
        from unnest(",
        )
        .push_bind(authors.clone())
        .push(
            "::bigint[]) followed (author_id)
      )",
        );
    push_from_page(&mut statement);
    statement
        .push(
            "
        select of_author.id, of_author.created_at
        from unnest(",
        )
        .push_bind(authors)
        .push(
            "::bigint[]) followed (author_id)
        cross join lateral (
          select a.id, a.created_at
          from articles.articles a
          where a.author_id = followed.author_id
          order by a.created_at desc, a.id desc
          limit ",
        )
        .push_bind(page.offset.saturating_add(page.limit))
        .push(
            "
        ) of_author
        order by of_author.created_at desc, of_author.id desc
        limit ",
        )
        .push_bind(page.limit)
        .push(" offset ")
        .push_bind(page.offset);
    finish(statement)
}

/// The columns up to the one that differs.
fn start(viewer: Option<AccountId>) -> QueryBuilder<Postgres> {
    let mut statement = QueryBuilder::new(ARTICLE);
    let Some(viewer) = viewer else {
        statement.push(", false");
        return statement;
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
    statement
}

/// A page of ids comes next; an empty one is a row without an article.
fn push_from_page(statement: &mut QueryBuilder<Postgres>) {
    statement.push(
        "
    from (
      select newest.id, newest.created_at
      from (select) request
      left join (",
    );
}

fn finish(mut statement: QueryBuilder<Postgres>) -> Statement {
    statement.push(
        "
      ) newest on true
      order by newest.created_at desc, newest.id desc
    ) page
    left join lateral (
      select
        a.id, a.author_id, a.slug, a.title, a.description, a.tag_list, a.created_at, a.updated_at, a.favorites_count
      from articles.articles a
      where a.id = page.id
      limit 1
    ) written on true
    order by page.created_at desc, page.id desc",
    );
    statement.into()
}

fn record(row: &PgRow) -> sqlx::Result<ArticleRecord> {
    let ArticleRow {
        id,
        author,
        slug,
        title,
        description,
        tag_list,
        created_at,
        updated_at,
        ..
    } = article(row, row.try_get(0)?)?;
    Ok(ArticleRecord {
        id,
        author,
        slug,
        title,
        description,
        body: row.try_get(EXTRA)?,
        tag_list,
        created_at,
        updated_at,
        favorited: favorited(row)?,
        favorites_count: row.try_get(8)?,
    })
}

fn listed(row: &PgRow) -> sqlx::Result<Option<ArticleRow>> {
    row.try_get::<Option<i64>, _>(0)?
        .map(|id| article(row, id))
        .transpose()
}

fn article(row: &PgRow, id: i64) -> sqlx::Result<ArticleRow> {
    Ok(ArticleRow {
        id: ArticleId(id),
        author: AccountId(row.try_get(1)?),
        slug: row.try_get(2)?,
        title: row.try_get(3)?,
        description: row.try_get(4)?,
        tag_list: row.try_get(5)?,
        created_at: from_column(row.try_get(6)?),
        updated_at: from_column(row.try_get(7)?),
        favorited: favorited(row)?,
        favorites_count: row.try_get(8)?,
    })
}

/// A sub-select, which gives no row for "no".
fn favorited(row: &PgRow) -> sqlx::Result<bool> {
    Ok(row.try_get::<Option<bool>, _>(FAVORITED)?.unwrap_or(false))
}
