//! What a request costs must not grow with what it does not return (performance page, "Growth"). Counted are the pages of tables
//! and indexes that the server's own statistics show for one call of a port, the statements already prepared.

use std::collections::BTreeMap;

use conduit_app::reads::{ArticleReads, CommentReads, ProfileReads};
use conduit_domain::{AccountId, ArticleFilter, NameKey, Page, Viewer};
use conduit_store::db::{Db, DbSettings};
use conduit_testkit::TestDatabase;
use monolith::reads::Joined;
use sqlx::{AssertSqlSafe, Executor};

const SMALL: usize = 2_400;
const LARGE: usize = 24_000;

/// Account 1 writes 40 articles, account 2 has 50 favorites, account 3 has every second article as a favorite and follows 10
/// accounts, whatever the size; all others grow with it. Tag `few` is on 60 articles, tag `many` on every fourth.
const FILL: &str = "
    -- The vacuum below marks as visible to all only what is known to be on disk and what nobody else looks at; all else makes scans
    -- of an index read the table too.
    set synchronous_commit = on;
    do $$
    declare
      filled text;
    begin
      for filled in
        select format('%I.%I', schemaname, tablename)
        from pg_tables
        where schemaname in ('users', 'profiles', 'articles', 'comments')
      loop
        execute format('alter table %s set (autovacuum_enabled = false)', filled);
      end loop;
    end
    $$;
    insert into users.accounts (id, username, username_key, email, email_key, password_hash, created_at, updated_at)
    overriding system value
    select n, 'User' || n, 'user' || n, n || '@x', n || '@x', '', now(), now()
    from generate_series(1, {size} / 5) n;
    insert into articles.articles
      (id, author_id, slug, slug_base, slug_number, title, description, body, tag_list, created_at, updated_at)
    overriding system value
    select
      n,
      case when n % ({size} / 40) = 0 then 1 else 4 + n % ({size} / 5 - 4) end,
      'article-' || n, 'article-' || n, 1, 'Article ' || n, 'Description', repeat('Text. ', 100),
      array_remove(array[case when n % ({size} / 60) = 0 then 'few' end, case when n % 4 = 1 then 'many' end, 'all'], null),
      '2026-01-01T00:00:00Z'::timestamptz + n * interval '1 second', now()
    from generate_series(1, {size}) n;
    insert into articles.article_tags (article_id, tag, author_id, created_at)
    select a.id, tag, a.author_id, a.created_at
    from articles.articles a
    cross join unnest(a.tag_list) tag;
    insert into articles.favorites (account_id, article_id, author_id, created_at)
    select fan, a.id, a.author_id, a.created_at
    from articles.articles a
    cross join lateral (
      select 2 as fan where a.id % ({size} / 50) = 0
      union all select 3 where a.id % 2 = 0
      union all select generate_series(4 + a.id % 50, 6 + a.id % 50)
    ) fans;
    insert into articles.tag_totals select tag, count(*) from articles.article_tags group by tag;
    insert into articles.author_totals select author_id, count(*) from articles.articles group by author_id;
    update articles.article_total set articles = {size};
    insert into profiles.follows select 3, n from generate_series(4, 13) n;
    insert into profiles.follows select n, n - 1 from generate_series(20, {size} / 5) n;
    insert into comments.comments (article_id, author_id, body, created_at)
    select a.id, 4 + (a.id + n) % 100, 'Comment', a.created_at
    from articles.articles a
    cross join generate_series(1, 3) n;
";

const PAGES: &str = "
    select (
      (select sum(heap_blks_read + heap_blks_hit + coalesce(toast_blks_read + toast_blks_hit, 0))
       from pg_statio_user_tables)
      + (select sum(idx_blks_read + idx_blks_hit) from pg_statio_user_indexes)
    )::bigint";

struct Scene {
    database: TestDatabase,
    db: Db,
    reads: Joined,
}

impl Scene {
    async fn of(size: usize) -> Self {
        let database = TestDatabase::new().await;
        let mut admin = database.admin().await;
        let fill = FILL.replace("{size}", &size.to_string());
        admin.execute(sqlx::raw_sql(AssertSqlSafe(fill))).await.unwrap();
        admin.execute("vacuum analyze").await.unwrap();
        // One connection, whose statistics are all there are.
        let db = Db::new(DbSettings {
            connections: 1,
            ..database.settings("monolith")
        });
        let reads = Joined::new(db.clone());
        Self { database, db, reads }
    }

    async fn pages_so_far(&self) -> i64 {
        let flush = "select true from pg_stat_force_next_flush()";
        self.db.one(|| sqlx::query(flush).map(|_| ())).await.unwrap();
        sqlx::query_scalar(PAGES)
            .fetch_one(&mut self.database.admin().await)
            .await
            .unwrap()
    }

    /// The pages that the second call reads; the first prepares its statements.
    async fn pages<T>(&self, call: impl AsyncFn() -> T) -> i64 {
        call().await;
        let before = self.pages_so_far().await;
        call().await;
        self.pages_so_far().await - before
    }

    async fn list(&self, filter: &ArticleFilter, viewer: Viewer, offset: i64) -> i64 {
        let page = Page { limit: 20, offset };
        self.pages(async || {
            let page = ArticleReads::list(&self.reads, viewer, filter, page)
                .await
                .unwrap();
            assert!(!page.articles.is_empty());
        })
        .await
    }

    async fn all(&self) -> BTreeMap<String, i64> {
        let heavy = Viewer::SignedIn(AccountId(3));
        let mut pages = BTreeMap::new();
        for (name, filter) in filters() {
            pages.insert(
                format!("{name}, anonymous"),
                self.list(&filter, Viewer::Anonymous, 0).await,
            );
            pages.insert(
                format!("{name}, heavy viewer"),
                self.list(&filter, heavy, 0).await,
            );
        }
        pages.insert(
            "the newest, offset 1000".to_owned(),
            self.list(&ArticleFilter::default(), heavy, 1000).await,
        );
        let page = Page { limit: 20, offset: 0 };
        let feed = self.pages(async || {
            assert_eq!(
                self.reads.feed(AccountId(3), page).await.unwrap().articles.len(),
                20
            );
        });
        pages.insert("feed".to_owned(), feed.await);
        let article =
            self.pages(async || assert!(self.reads.by_slug(heavy, "article-7").await.unwrap().is_some()));
        pages.insert("article".to_owned(), article.await);
        let profile = NameKey::of("user5").unwrap();
        let profile =
            self.pages(async || assert!(self.reads.by_username(heavy, &profile).await.unwrap().is_some()));
        pages.insert("profile".to_owned(), profile.await);
        let comments = self.pages(async || {
            let page = Page {
                limit: 1000,
                offset: 0,
            };
            let comments = CommentReads::list(&self.reads, heavy, "article-7", page)
                .await
                .unwrap();
            assert_eq!(comments.unwrap().len(), 3);
        });
        pages.insert("comments".to_owned(), comments.await);
        pages
    }
}

fn filters() -> Vec<(&'static str, ArticleFilter)> {
    let none = ArticleFilter::default;
    let tag = |tag: &str| Some(tag.to_owned());
    vec![
        ("the newest", none()),
        (
            "by tag",
            ArticleFilter {
                tag: tag("many"),
                ..none()
            },
        ),
        (
            "by author",
            ArticleFilter {
                author: NameKey::of("user1"),
                ..none()
            },
        ),
        (
            "by fan",
            ArticleFilter {
                favorited: NameKey::of("user2"),
                ..none()
            },
        ),
        (
            "by tag and author",
            ArticleFilter {
                tag: tag("all"),
                author: NameKey::of("user1"),
                ..none()
            },
        ),
        (
            "by author and fan",
            ArticleFilter {
                author: NameKey::of("user1"),
                favorited: NameKey::of("user3"),
                ..none()
            },
        ),
        (
            "by tag and fan",
            ArticleFilter {
                tag: tag("all"),
                favorited: NameKey::of("user2"),
                ..none()
            },
        ),
        (
            "by rare tag and heavy fan",
            ArticleFilter {
                tag: tag("few"),
                favorited: NameKey::of("user3"),
                ..none()
            },
        ),
    ]
}

#[tokio::test]
async fn a_request_reads_as_many_pages_of_a_large_site_as_of_a_small_one() {
    let (small, large) = (
        Scene::of(SMALL).await.all().await,
        Scene::of(LARGE).await.all().await,
    );
    for (request, small) in &small {
        let large = large[request];
        println!("{request}: {small} pages of {SMALL} articles, {large} of {LARGE}");
    }
    for (request, small) in &small {
        // Each look-up may pass one more level of an index; a part that grew in proportion would grow tenfold.
        let large = large[request];
        assert!(
            (5..small + small / 2).contains(&large),
            "{request}: {small} pages grow to {large}"
        );
    }
}
