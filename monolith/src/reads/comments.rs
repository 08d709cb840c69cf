//! Comments with their authors, from the article's slug on.

use async_trait::async_trait;
use conduit_app::reads::CommentReads;
use conduit_domain::{
    AccountId, ArticleId, Comment, CommentId, CommentTarget, Page, Profile, Result, Viewer,
};
use conduit_store::db::Statement;
use conduit_store::time::from_column;
use sqlx::postgres::PgRow;
use sqlx::{Postgres, QueryBuilder, Row};

use super::{AUTHOR, JOIN_AUTHOR, Joined, profile, push_following};

#[async_trait]
impl CommentReads for Joined {
    async fn article_id(&self, slug: &str) -> Result<Option<ArticleId>> {
        self.db
            .optional(|| {
                sqlx::query!(
                    "select id
                    from articles.articles
                    where slug = $1",
                    slug
                )
                .map(|row| ArticleId(row.id))
            })
            .await
    }

    async fn target(&self, caller: AccountId, slug: &str) -> Result<Option<CommentTarget>> {
        self.db
            .optional(|| {
                sqlx::query!(
                    r#"
                    select a.id, u.username as "username?", u.bio, u.image
                    from articles.articles a
                    left join users.accounts u on u.id = $2
                    where a.slug = $1
                    "#,
                    slug,
                    caller.0,
                )
                .map(|row| {
                    let (bio, image) = (row.bio, row.image);
                    let author = row.username.map(|username| Profile {
                        id: caller,
                        username,
                        bio,
                        image,
                        following: false,
                    });
                    CommentTarget {
                        article: ArticleId(row.id),
                        author,
                    }
                })
            })
            .await
    }

    async fn list(&self, viewer: Viewer, slug: &str, page: Page) -> Result<Option<Vec<Comment>>> {
        let statement = newest(viewer, slug, page);
        let rows = self
            .db
            .all(|| statement.query().try_map(|row| read(&row)))
            .await?;
        // An article without comments is one row without a comment.
        let known = !rows.is_empty();
        Ok(known.then(|| rows.into_iter().flatten().collect()))
    }
}

fn newest(viewer: Viewer, slug: &str, page: Page) -> Statement {
    let mut statement = QueryBuilder::<Postgres>::new("select page.id, page.created_at, written.body");
    statement.push(AUTHOR);
    push_following(&mut statement, viewer.id());
    statement
        .push(
            "
    from (
      select newest.id, newest.created_at
      from articles.articles a
      left join lateral (
        select c.id, c.created_at
        from comments.comments c
        where c.article_id = a.id
        order by c.created_at desc, c.id desc
        limit ",
        )
        .push_bind(page.limit)
        .push(" offset ")
        .push_bind(page.offset)
        .push(
            "
      ) newest on true
      where a.slug = ",
        )
        .push_bind(slug)
        .push(
            "
      order by newest.created_at desc, newest.id desc
    ) page
    left join lateral (
      select c.author_id, c.body
      from comments.comments c
      where c.id = page.id
      limit 1
    ) written on true",
        )
        .push(JOIN_AUTHOR)
        .push(
            "
    order by page.created_at desc, page.id desc",
        );
    statement.into()
}

fn read(row: &PgRow) -> sqlx::Result<Option<Comment>> {
    let Some(id) = row.try_get(0)? else {
        return Ok(None);
    };
    Ok(Some(Comment {
        id: CommentId(id),
        created_at: from_column(row.try_get(1)?),
        body: row.try_get(2)?,
        author: profile(row, 3)?,
    }))
}
